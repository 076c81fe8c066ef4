"""Training steps of Keras on JAX: stateless calls of its layers, losses and optimisers, in float32."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import keras

from corpus.catalogue import Training
from corpus.steps import classes, floats, integers

Array = jax.Array
layers = keras.layers


def _training(build: Callable[[], Any], batch: dict[str, Array], loss: Any, optimizer: Callable[[], Any]) -> Training:
    """The step of Keras's guide to JAX: trainable, other and optimiser variables go in and come out."""
    # Keras computes in float32 on JAX: its own rule of types makes float32 of float64.
    batch = jax.tree.map(lambda leaf: leaf.astype("float32") if leaf.dtype == "float64" else leaf, batch)
    keras.utils.set_random_seed(0)
    model, rule = build(), optimizer()
    model(batch["x"])
    rule.build(model.trainable_variables)

    def loss_of(trainable: Any, other: Any, batch: dict[str, Array]) -> Any:
        found, other = model.stateless_call(trainable, other, batch["x"], training=True)
        return loss(batch["y"], found), other

    def step(state: Any, batch: dict[str, Array]) -> Any:
        trainable, other, moments = state
        (value, other), gradients = jax.value_and_grad(loss_of, has_aux=True)(trainable, other, batch)
        trainable, moments = rule.stateless_apply(moments, gradients, trainable)
        return (trainable, other, moments), value, gradients

    kinds = model.trainable_variables, model.non_trainable_variables, rule.variables
    state = tuple([variable.value for variable in kind] for kind in kinds)
    return Training(step, state, batch, dtype="float32")


def _classes_loss() -> Any:
    return keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def dense_network() -> Training:
    def build() -> Any:
        return keras.Sequential(
            [
                layers.Input((24,)),
                layers.Dense(64, activation="gelu", kernel_regularizer="l2"),
                layers.Dropout(0.3),
                layers.LayerNormalization(),
                layers.Dense(8),
            ]
        )

    batch = {"x": floats(16, 24), "y": classes(16, 8)}
    return _training(build, batch, _classes_loss(), lambda: keras.optimizers.AdamW(1e-2, epsilon=1e-2, clipnorm=1.0))


def convolutional_network() -> Training:
    def build() -> Any:
        return keras.Sequential(
            [
                layers.Input((8, 8, 3)),
                layers.Conv2D(8, 3, padding="same", use_bias=False),
                layers.BatchNormalization(),
                layers.Activation("relu"),
                layers.MaxPooling2D(2),
                layers.SeparableConv2D(16, 3, padding="same", activation="silu"),
                layers.SpatialDropout2D(0.2),
                layers.GlobalAveragePooling2D(),
                layers.Dense(8),
            ]
        )

    batch = {"x": floats(16, 8, 8, 3), "y": classes(16, 8)}
    return _training(build, batch, _classes_loss(), lambda: keras.optimizers.SGD(0.1, momentum=0.9, nesterov=True))


def bidirectional_lstm_then_gru() -> Training:
    def build() -> Any:
        return keras.Sequential(
            [
                layers.Input((6, 8)),
                layers.Bidirectional(layers.LSTM(16, return_sequences=True)),
                layers.GRU(16, recurrent_dropout=0.1),
                layers.Dense(8),
            ]
        )

    batch = {"x": floats(16, 6, 8), "y": classes(16, 8)}
    return _training(build, batch, _classes_loss(), lambda: keras.optimizers.RMSprop(1e-2, epsilon=1e-2))


def attention_over_embeddings() -> Training:
    def build() -> Any:
        tokens = layers.Input((8,), dtype="int32")
        x = layers.Embedding(48, 32)(tokens)
        x = layers.LayerNormalization()(x + layers.MultiHeadAttention(4, 8, dropout=0.1)(x, x, use_causal_mask=True))
        x = layers.LayerNormalization()(x + layers.Dense(32)(layers.Dense(64, activation="relu")(x)))
        return keras.Model(tokens, layers.Dense(48)(x))

    batch = {"x": integers(48, 16, 8), "y": integers(48, 16, 8)}
    optimizer = lambda: keras.optimizers.Adam(1e-2, epsilon=1e-2, global_clipnorm=1.0)  # noqa: E731
    return _training(build, batch, _classes_loss(), optimizer)


def u_net_with_upsampling() -> Training:
    def build() -> Any:
        image = layers.Input((8, 8, 3))
        first = layers.Conv2D(8, 3, padding="same", activation="elu")(image)
        second = layers.Conv2D(16, 3, strides=2, padding="same", activation="elu")(first)
        up = layers.UpSampling2D(2, interpolation="bilinear")(second)
        up = layers.Conv2DTranspose(8, 3, padding="same")(layers.Concatenate()([up, first]))
        return keras.Model(image, layers.Conv2D(3, 1)(layers.GroupNormalization(4)(up)))

    batch = {"x": floats(16, 8, 8, 3), "y": floats(16, 8, 8, 3, seed=1)}
    mean = keras.losses.Huber()
    return _training(build, batch, mean, lambda: keras.optimizers.Lion(1e-2))
