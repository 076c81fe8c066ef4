"""Training steps of flax.nnx: modules as graphs of variables, which are split off as state around each step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import optax
from flax import nnx

from corpus.catalogue import Training
from corpus.steps import classes, floats, in_float64, integers

Array = jax.Array


def _training(
    model: nnx.Module,
    batch: dict[str, Array],
    loss: Callable[[Any, dict[str, Array]], Array],
    optimizer: optax.GradientTransformation,
) -> Training:
    """The functional step of nnx's guides: merge, differentiate, split again (statistics and keys too), and update."""
    graph, params, rest = nnx.split(model, nnx.Param, ...)
    params, rest = in_float64(params), in_float64(rest)

    def step(state: Any, batch: dict[str, Array]) -> Any:
        params, moments, rest = state
        merged = nnx.merge(graph, params, rest)
        value, gradients = nnx.value_and_grad(loss)(merged, batch)
        rest = nnx.split(merged, nnx.Param, ...)[2]
        updates, moments = optimizer.update(gradients, moments, params)
        return (optax.apply_updates(params, updates), moments, rest), value, gradients

    return Training(step, (params, optimizer.init(params), rest), batch)


def _cross_entropy(model: Any, batch: dict[str, Array]) -> Array:
    return optax.softmax_cross_entropy_with_integer_labels(model(batch["x"]), batch["y"]).mean()


class _Mlp(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.first = nnx.Linear(24, 64, rngs=rngs)
        self.norm = nnx.BatchNorm(64, rngs=rngs)
        self.dropout = nnx.Dropout(0.3, rngs=rngs)
        self.adapted = nnx.LoRALinear(64, 32, lora_rank=8, rngs=rngs)
        self.last = nnx.Linear(32, 8, rngs=rngs)

    def __call__(self, x: Array) -> Array:
        x = nnx.relu(self.norm(self.first(x)))
        return self.last(nnx.tanh(self.adapted(self.dropout(x))))


def mlp_with_statistics_and_keys() -> Training:
    batch = {"x": floats(16, 24), "y": classes(16, 8)}
    return _training(_Mlp(nnx.Rngs(0)), batch, _cross_entropy, optax.adamw(1e-2, eps=1e-2))


class _Block(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.attention = nnx.MultiHeadAttention(4, 32, decode=False, dropout_rate=0.1, deterministic=False, rngs=rngs)
        self.norms = nnx.List([nnx.LayerNorm(32, rngs=rngs) for _ in range(2)])
        self.up, self.down = nnx.Linear(32, 64, rngs=rngs), nnx.Linear(64, 32, rngs=rngs)

    def __call__(self, x: Array) -> Array:
        x = x + self.attention(self.norms[0](x), mask=nnx.make_causal_mask(x[..., 0]))
        return x + self.down(nnx.gelu(self.up(self.norms[1](x))))


class _Decoder(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.embed = nnx.Embed(48, 32, param_dtype=jnp.float64, rngs=rngs)
        self.blocks = nnx.List([_Block(rngs) for _ in range(2)])
        self.norm = nnx.RMSNorm(32, rngs=rngs)

    def __call__(self, tokens: Array) -> Array:
        x = self.embed(tokens)
        for block in self.blocks:
            x = block(x)
        return self.embed.attend(self.norm(x))


def decoder() -> Training:
    batch = {"x": integers(48, 16, 8), "y": integers(48, 16, 8)}
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(1e-2, eps=1e-2))
    return _training(_Decoder(nnx.Rngs(0)), batch, _cross_entropy, optimizer)


class _Recurrent(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.lower = nnx.RNN(nnx.OptimizedLSTMCell(8, 32, param_dtype=jnp.float64, rngs=rngs), rngs=rngs)
        self.upper = nnx.RNN(nnx.GRUCell(32, 32, param_dtype=jnp.float64, rngs=rngs), rngs=rngs)
        self.last = nnx.Linear(32, 8, rngs=rngs)

    def __call__(self, x: Array) -> Array:
        return self.last(self.upper(self.lower(x)))


def lstm_then_gru() -> Training:
    batch = {"x": floats(16, 6, 8), "y": integers(8, 16, 6)}
    return _training(_Recurrent(nnx.Rngs(0)), batch, _cross_entropy, optax.sgd(0.1))


class _Autoencoder(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.down = nnx.Conv(3, 16, (3, 3), strides=2, rngs=rngs)
        self.norm = nnx.GroupNorm(16, num_groups=4, rngs=rngs)
        self.mean, self.spread = nnx.Linear(256, 16, rngs=rngs), nnx.Linear(256, 16, rngs=rngs)
        self.out = nnx.Linear(16, 256, rngs=rngs)
        self.up = nnx.ConvTranspose(16, 3, (3, 3), strides=(2, 2), rngs=rngs)
        self.noise = rngs.noise

    def __call__(self, x: Array) -> tuple[Array, Array]:
        hidden = nnx.elu(self.norm(self.down(x))).reshape(x.shape[0], -1)
        mean, spread = self.mean(hidden), self.spread(hidden)
        drawn = mean + jnp.exp(spread) * jax.random.normal(self.noise(), mean.shape, mean.dtype)
        apart = jnp.mean(mean**2 + jnp.exp(2 * spread) - 1 - 2 * spread)
        return self.up(nnx.elu(self.out(drawn)).reshape(-1, 4, 4, 16)), apart


def variational_autoencoder() -> Training:
    def loss(model: Any, batch: dict[str, Array]) -> Array:
        made, apart = model(batch["x"])
        return jnp.mean((made - batch["x"]) ** 2) + 0.1 * apart

    return _training(_Autoencoder(nnx.Rngs(0, noise=1)), {"x": floats(16, 8, 8, 3)}, loss, optax.adamax(1e-2))
