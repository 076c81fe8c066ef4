"""Training steps of flax.linen: its layers, its recurrences, its scan and remat over layers, with optax."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import optax
from flax import linen as nn

from corpus.catalogue import Training
from corpus.steps import classes, floats, in_float64, integers, training

Array = jax.Array


def _training(
    model: nn.Module,
    batch: dict[str, Array],
    loss: Callable[[Array, dict[str, Array]], Array],
    optimizer: optax.GradientTransformation,
) -> Training:
    """The step that flax's guides show, with the model's own variables."""
    params = in_float64(model.init(jax.random.key(0), batch["x"]))["params"]

    def loss_of(params: Any, batch: dict[str, Array]) -> Array:
        return loss(model.apply({"params": params}, batch["x"]), batch)

    return training(loss_of, params, batch, optimizer)


def _cross_entropy(logits: Array, batch: dict[str, Array]) -> Array:
    return optax.softmax_cross_entropy_with_integer_labels(logits, batch["y"]).mean()


def _squared(found: Array, batch: dict[str, Array]) -> Array:
    return jnp.mean((found - batch["y"]) ** 2)


class _Mlp(nn.Module):
    @nn.compact
    def __call__(self, x: Array) -> Array:
        x = nn.gelu(nn.Dense(64)(x))
        x = nn.LayerNorm()(nn.silu(nn.Dense(32)(x)))
        return nn.Dense(8)(x)


def mlp() -> Training:
    optimizer = optax.chain(optax.clip_by_global_norm(0.5), optax.adamw(1e-2))
    return _training(_Mlp(), {"x": floats(16, 24), "y": classes(16, 8)}, _cross_entropy, optimizer)


class _Cnn(nn.Module):
    @nn.compact
    def __call__(self, x: Array) -> Array:
        for features in (8, 16):
            x = nn.Conv(features, (3, 3), use_bias=False)(x)
            x = nn.relu(nn.BatchNorm(use_running_average=False, momentum=0.9)(x))
            x = nn.max_pool(x, (2, 2), strides=(2, 2))
        return nn.Dense(8)(x.mean((1, 2)))


def convolutions_with_batch_norm() -> Training:
    model, batch = _Cnn(), {"x": floats(16, 8, 8, 3), "y": classes(16, 8)}
    variables = in_float64(model.init(jax.random.key(0), batch["x"]))
    optimizer = optax.sgd(0.1, momentum=0.9, nesterov=True)

    def loss_of(params: Any, stats: Any, batch: dict[str, Array]) -> Any:
        logits, updated = model.apply({"params": params, "batch_stats": stats}, batch["x"], mutable=["batch_stats"])
        return _cross_entropy(logits, batch), updated["batch_stats"]

    def step(state: Any, batch: dict[str, Array]) -> Any:
        params, stats, moments = state
        (loss, stats), gradients = jax.value_and_grad(loss_of, has_aux=True)(params, stats, batch)
        updates, moments = optimizer.update(gradients, moments, params)
        return (optax.apply_updates(params, updates), stats, moments), loss, gradients

    params = variables["params"]
    return Training(step, (params, variables["batch_stats"], optimizer.init(params)), batch)


class _Block(nn.Module):
    causal: bool = False

    @nn.compact
    def __call__(self, x: Array) -> Array:
        mask = nn.make_causal_mask(x[..., 0]) if self.causal else None
        normed = nn.LayerNorm()(x)
        x = x + nn.MultiHeadDotProductAttention(num_heads=4)(normed, normed, mask=mask)
        return x + nn.Dense(32)(nn.gelu(nn.Dense(64)(nn.LayerNorm()(x))))


class _Encoder(nn.Module):
    @nn.compact
    def __call__(self, tokens: Array) -> Array:
        x = nn.Embed(48, 32)(tokens) + self.param("places", nn.initializers.normal(0.02), (8, 32))
        for _ in range(2):
            x = _Block()(x)
        return nn.Dense(48)(x)


def transformer_encoder() -> Training:
    schedule = optax.warmup_cosine_decay_schedule(1e-2, 2e-2, 10, 100)
    batch = {"x": integers(48, 16, 8), "y": integers(48, 16, 8)}
    return _training(_Encoder(), batch, _cross_entropy, optax.adamw(schedule, eps=1e-2))


class _Scanned(nn.Module):
    @nn.compact
    def __call__(self, tokens: Array) -> Array:
        embed = nn.Embed(48, 32)

        def body(block: nn.Module, x: Array, _: None) -> tuple[Array, None]:
            return block(x), None

        layers = nn.scan(nn.remat(body), variable_axes={"params": 0}, split_rngs={"params": True}, length=3)
        x, _ = layers(_Block(causal=True), embed(tokens), None)
        return embed.attend(nn.RMSNorm()(x))


def decoder_scanned_and_rematerialised() -> Training:
    batch = {"x": integers(48, 16, 8), "y": integers(48, 16, 8)}
    return _training(_Scanned(), batch, _cross_entropy, optax.adam(1e-2, eps=1e-2))


class _Recurrent(nn.Module):
    @nn.compact
    def __call__(self, x: Array) -> Array:
        x = nn.RNN(nn.OptimizedLSTMCell(32, param_dtype=jnp.float64))(x)
        x = nn.RNN(nn.GRUCell(32, param_dtype=jnp.float64))(x)
        return nn.Dense(48)(x)


def lstm_then_gru() -> Training:
    batch = {"x": floats(16, 6, 32), "y": integers(48, 16, 6)}
    return _training(_Recurrent(), batch, _cross_entropy, optax.rmsprop(1e-2, eps=1e-2))


class _BothWays(nn.Module):
    @nn.compact
    def __call__(self, x: Array) -> Array:
        x = nn.Bidirectional(
            nn.RNN(nn.OptimizedLSTMCell(16, param_dtype=jnp.float64)), nn.RNN(nn.GRUCell(16, param_dtype=jnp.float64))
        )(x)
        return nn.RNN(nn.SimpleCell(8, param_dtype=jnp.float64))(x).mean(1)


def recurrence_both_ways() -> Training:
    return _training(_BothWays(), {"x": floats(16, 5, 8), "y": classes(16, 8)}, _cross_entropy, optax.adagrad(0.1))


class _Dropping(nn.Module):
    @nn.compact
    def __call__(self, x: Array) -> Array:
        x = nn.Dropout(0.5, deterministic=False)(nn.relu(nn.Dense(64)(x)))
        return nn.Dense(8)(nn.Dropout(0.1, deterministic=False, broadcast_dims=(0,))(nn.Dense(32)(x)))


def dropout_with_keys() -> Training:
    model, batch = _Dropping(), {"x": floats(16, 24), "y": classes(16, 8)}
    params = in_float64(model.init({"params": jax.random.key(0), "dropout": jax.random.key(1)}, batch["x"]))["params"]
    optimizer = optax.adam(1e-2)

    def step(state: Any, batch: dict[str, Array]) -> Any:
        params, moments, data = state
        key, dropout = jax.random.split(jax.random.wrap_key_data(data))

        def loss_of(params: Any) -> Array:
            return _cross_entropy(model.apply({"params": params}, batch["x"], rngs={"dropout": dropout}), batch)

        loss, gradients = jax.value_and_grad(loss_of)(params)
        updates, moments = optimizer.update(gradients, moments, params)
        return (optax.apply_updates(params, updates), moments, jax.random.key_data(key)), loss, gradients

    return Training(step, (params, optimizer.init(params), jax.random.key_data(jax.random.key(2))), batch)


class _UNet(nn.Module):
    @nn.compact
    def __call__(self, x: Array) -> Array:
        first = nn.relu(nn.Conv(8, (3, 3))(x))
        second = nn.relu(nn.Conv(16, (3, 3), strides=(2, 2))(first))
        third = nn.GroupNorm(num_groups=4)(nn.relu(nn.Conv(32, (3, 3), strides=(2, 2))(second)))
        up = nn.ConvTranspose(16, (2, 2), strides=(2, 2))(third)
        up = nn.relu(nn.Conv(8, (3, 3))(jnp.concatenate([up, second], -1)))
        batch, height, width, features = up.shape
        up = jax.image.resize(up, (batch, 2 * height, 2 * width, features), "bilinear")
        return nn.Conv(3, (1, 1))(jnp.concatenate([up, first], -1))


def u_net() -> Training:
    batch = {"x": floats(16, 8, 8, 3), "y": floats(16, 8, 8, 3)}
    return _training(_UNet(), batch, _squared, optax.adamw(1e-2))


class _Vit(nn.Module):
    @nn.compact
    def __call__(self, x: Array) -> Array:
        x = nn.Conv(32, (4, 4), strides=(4, 4), padding="VALID")(x)
        x = x.reshape(x.shape[0], -1, x.shape[-1])
        first = self.param("class", nn.initializers.normal(1.0), (1, 1, 32))
        x = jnp.concatenate([jnp.tile(first, (x.shape[0], 1, 1)), x], 1)
        x = x + self.param("places", nn.initializers.normal(0.02), (1, x.shape[1], 32))
        return nn.Dense(8)(nn.LayerNorm()(_Block()(x))[:, 0])


def vision_transformer() -> Training:
    batch = {"x": floats(16, 16, 8, 3), "y": classes(16, 8)}
    return _training(_Vit(), batch, _cross_entropy, optax.nadamw(1e-2, eps=1e-2))
