"""Training steps of haiku: its networks, its recurrent cores, its attention, with optax."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import haiku as hk
import jax
import jax.numpy as jnp
import optax

from corpus.catalogue import Training
from corpus.steps import classes, floats, in_float64, integers

Array = jax.Array


def _training(
    loss: Callable[[dict[str, Array]], Array],
    batch: dict[str, Array],
    optimizer: optax.GradientTransformation,
) -> Training:
    """The step of haiku's examples: a transformed loss with its state and a key."""
    transformed = hk.transform_with_state(loss)
    params, statistics = in_float64(transformed.init(jax.random.PRNGKey(0), batch))

    def step(state: Any, batch: dict[str, Array]) -> Any:
        params, moments, statistics, key = state
        key, used = jax.random.split(key)
        graded = jax.value_and_grad(transformed.apply, has_aux=True)
        (value, statistics), gradients = graded(params, statistics, used, batch)
        updates, moments = optimizer.update(gradients, moments, params)
        return (optax.apply_updates(params, updates), moments, statistics, key), value, gradients

    state = params, optimizer.init(params), statistics, jax.random.PRNGKey(1)
    return Training(step, state, batch)


def _cross_entropy(logits: Array, batch: dict[str, Array]) -> Array:
    return optax.softmax_cross_entropy_with_integer_labels(logits, batch["y"]).mean()


def mlp_with_dropout() -> Training:
    def loss(batch: dict[str, Array]) -> Array:
        logits = hk.nets.MLP([64, 32, 8], activation=jax.nn.gelu)(batch["x"], 0.2, hk.next_rng_key())
        return _cross_entropy(logits, batch)

    return _training(loss, {"x": floats(16, 24), "y": classes(16, 8)}, optax.rmsprop(1e-2, momentum=0.9))


def residual_network() -> Training:
    def loss(batch: dict[str, Array]) -> Array:
        network = hk.nets.ResNet(
            (1, 1, 1, 1),
            8,
            bottleneck=False,
            channels_per_group=(8, 16, 16, 32),
            use_projection=(True, True, True, True),
            initial_conv_config={"kernel_shape": 3, "stride": 1},
        )
        return _cross_entropy(network(batch["x"], is_training=True), batch)

    return _training(loss, {"x": floats(16, 16, 16, 3), "y": classes(16, 8)}, optax.sgd(0.1, momentum=0.9))


def deep_recurrent_core() -> Training:
    def loss(batch: dict[str, Array]) -> Array:
        core = hk.DeepRNN([hk.LSTM(32), jax.nn.relu, hk.GRU(16), hk.Linear(8)])
        outputs, _ = hk.dynamic_unroll(core, batch["x"], core.initial_state(16), time_major=False)
        return _cross_entropy(outputs, batch)

    return _training(loss, {"x": floats(16, 6, 8), "y": integers(8, 16, 6)}, optax.sgd(0.1))


def _attend(x: Array, name: str) -> Array:
    initial = hk.initializers.VarianceScaling(1.0)
    normed = hk.LayerNorm(-1, True, True)(x)
    mask = jnp.tril(jnp.ones((1, 1, x.shape[1], x.shape[1])))
    x = x + hk.MultiHeadAttention(4, 8, w_init=initial, name=name)(normed, normed, normed, mask)
    return x + hk.Sequential([hk.Linear(64), jax.nn.gelu, hk.Linear(32)])(hk.LayerNorm(-1, True, True)(x))


def transformer_with_embeddings() -> Training:
    def loss(batch: dict[str, Array]) -> Array:
        x = hk.Embed(48, 32)(batch["x"]) + hk.get_parameter(
            "places", (8, 32), init=hk.initializers.TruncatedNormal(0.02)
        )
        x = _attend(_attend(x, "first"), "second")
        return _cross_entropy(hk.Linear(48)(hk.dropout(hk.next_rng_key(), 0.1, x)), batch)

    batch = {"x": integers(48, 16, 8), "y": integers(48, 16, 8)}
    return _training(loss, batch, optax.adam(1e-2, eps=1e-2))


def stacked_layers_in_a_scan() -> Training:
    def loss(batch: dict[str, Array]) -> Array:
        stack = hk.experimental.layer_stack(3)(lambda x: x + hk.Linear(32)(jnp.tanh(hk.Linear(64)(x))))
        return _cross_entropy(hk.Linear(8)(stack(hk.Linear(32)(batch["x"]))), batch)

    return _training(loss, {"x": floats(16, 24), "y": classes(16, 8)}, optax.adabelief(1e-2, eps=1e-2))


def quantized_autoencoder() -> Training:
    def loss(batch: dict[str, Array]) -> Array:
        hidden = hk.Linear(16)(jax.nn.relu(hk.Linear(64)(batch["x"])))
        quantizer = hk.nets.VectorQuantizerEMA(16, 32, commitment_cost=0.25, decay=0.9, dtype=jnp.float64)
        quantized = quantizer(hidden, is_training=True)
        made = hk.Linear(24)(jax.nn.relu(hk.Linear(64)(quantized["quantize"])))
        return jnp.mean((made - batch["x"]) ** 2) + quantized["loss"]

    return _training(loss, {"x": floats(64, 24)}, optax.adamw(1e-2, eps=1e-2))


def convolutional_recurrence() -> Training:
    def loss(batch: dict[str, Array]) -> Array:
        core = hk.Conv2DLSTM((6, 6), 8, 3)
        outputs, _ = hk.dynamic_unroll(core, batch["x"], core.initial_state(16), time_major=False)
        return jnp.mean((hk.Conv2D(3, 1)(outputs[:, -1]) - batch["y"]) ** 2)

    return _training(loss, {"x": floats(16, 4, 6, 6, 3), "y": floats(16, 6, 6, 3)}, optax.sgd(0.1))
