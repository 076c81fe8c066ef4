"""Training steps of equinox: models as trees of arrays, vmapped over a batch, with optax."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import optax

from corpus.catalogue import Training
from corpus.steps import classes, floats, in_float64, integers, training

Array = jax.Array
KEY = jax.random.PRNGKey


def _training(
    model: eqx.Module,
    batch: dict[str, Array],
    loss: Callable[[Any, dict[str, Array]], Array],
    optimizer: optax.GradientTransformation,
) -> Training:
    """The step of equinox's guides: the model's arrays are its parameters."""
    params, static = eqx.partition(model, eqx.is_inexact_array)

    def loss_of(params: Any, batch: dict[str, Array]) -> Array:
        return loss(eqx.combine(params, static), batch)

    return training(loss_of, in_float64(params), batch, optimizer)


def _cross_entropy(model: Any, batch: dict[str, Array]) -> Array:
    logits = jax.vmap(model)(batch["x"])
    return optax.softmax_cross_entropy_with_integer_labels(logits, batch["y"]).mean()


def mlp() -> Training:
    model = eqx.nn.MLP(24, 8, 64, 2, activation=jax.nn.softplus, key=KEY(0))
    return _training(model, {"x": floats(16, 24), "y": classes(16, 8)}, _cross_entropy, optax.yogi(1e-2, eps=1e-2))


class _Cnn(eqx.Module):
    first: eqx.nn.Conv2d
    norm: eqx.nn.BatchNorm
    pool: eqx.nn.MaxPool2d
    second: eqx.nn.Conv2d
    last: eqx.nn.Linear

    def __init__(self) -> None:
        keys = jax.random.split(KEY(0), 3)
        self.first = eqx.nn.Conv2d(3, 8, 3, padding=1, key=keys[0])
        self.norm = eqx.nn.BatchNorm(8, "batch", mode="batch", dtype=jnp.float64)
        self.pool = eqx.nn.MaxPool2d(2, 2)
        self.second = eqx.nn.Conv2d(8, 16, 3, stride=2, groups=2, key=keys[1])
        self.last = eqx.nn.Linear(16, 8, key=keys[2])

    def __call__(self, x: Array, state: eqx.nn.State) -> tuple[Array, eqx.nn.State]:
        x, state = self.norm(self.first(x), state)
        return self.last(self.second(self.pool(jax.nn.relu(x))).reshape(-1)), state


def convolutions_with_batch_norm() -> Training:
    model, statistics = eqx.nn.make_with_state(_Cnn)()
    params, static = eqx.partition(model, eqx.is_inexact_array)
    params, optimizer = in_float64(params), optax.sgd(0.1, momentum=0.9)

    def loss_of(params: Any, statistics: Any, batch: dict[str, Array]) -> Any:
        run = jax.vmap(eqx.combine(params, static), axis_name="batch", in_axes=(0, None), out_axes=(0, None))
        logits, statistics = run(batch["x"], statistics)
        return optax.softmax_cross_entropy_with_integer_labels(logits, batch["y"]).mean(), statistics

    def step(state: Any, batch: dict[str, Array]) -> Any:
        params, moments, statistics = state
        (loss, statistics), gradients = jax.value_and_grad(loss_of, has_aux=True)(params, statistics, batch)
        updates, moments = optimizer.update(gradients, moments, params)
        return (eqx.apply_updates(params, updates), moments, statistics), loss, gradients

    batch = {"x": floats(16, 3, 8, 8), "y": classes(16, 8)}
    return Training(step, (params, optimizer.init(params), statistics), batch)


class _Recurrent(eqx.Module):
    lower: eqx.nn.LSTMCell
    upper: eqx.nn.GRUCell
    last: eqx.nn.Linear

    def __init__(self) -> None:
        keys = jax.random.split(KEY(0), 3)
        self.lower = eqx.nn.LSTMCell(8, 32, key=keys[0])
        self.upper = eqx.nn.GRUCell(32, 16, key=keys[1])
        self.last = eqx.nn.Linear(16, 8, key=keys[2])

    def __call__(self, x: Array) -> Array:
        def turn(carry: Any, value: Array) -> Any:
            lower, upper = carry
            lower = self.lower(value, lower)
            upper = self.upper(lower[0], upper)
            return (lower, upper), None

        zeros = jnp.zeros(32, x.dtype), jnp.zeros(32, x.dtype)
        (_, upper), _ = jax.lax.scan(turn, (zeros, jnp.zeros(16, x.dtype)), x)
        return self.last(upper)


def lstm_under_gru_in_one_scan() -> Training:
    return _training(_Recurrent(), {"x": floats(16, 6, 8), "y": classes(16, 8)}, _cross_entropy, optax.sgd(0.1))


class _Encoder(eqx.Module):
    embed: eqx.nn.Embedding
    rotary: eqx.nn.RotaryPositionalEmbedding
    attention: eqx.nn.MultiheadAttention
    norms: tuple[eqx.nn.LayerNorm, eqx.nn.RMSNorm]
    mlp: eqx.nn.MLP
    last: eqx.nn.Linear

    def __init__(self) -> None:
        keys = jax.random.split(KEY(0), 4)
        self.embed = eqx.nn.Embedding(48, 32, key=keys[0])
        self.rotary = eqx.nn.RotaryPositionalEmbedding(8, dtype=jnp.float64)
        self.attention = eqx.nn.MultiheadAttention(4, 32, use_key_bias=True, use_output_bias=True, key=keys[1])
        self.norms = eqx.nn.LayerNorm(32), eqx.nn.RMSNorm(32)
        self.mlp = eqx.nn.MLP(32, 32, 64, 1, jax.nn.gelu, key=keys[2])
        self.last = eqx.nn.Linear(32, 48, key=keys[3])

    def __call__(self, tokens: Array) -> Array:
        def turned(query: Array, key: Array, value: Array) -> tuple[Array, Array, Array]:
            return jax.vmap(self.rotary, 1, 1)(query), jax.vmap(self.rotary, 1, 1)(key), value

        x = jax.vmap(self.embed)(tokens)
        normed = jax.vmap(self.norms[0])(x)
        mask = jnp.tril(jnp.ones((x.shape[0], x.shape[0]), bool))
        x = x + self.attention(normed, normed, normed, mask, process_heads=turned)
        x = x + jax.vmap(self.mlp)(jax.vmap(self.norms[1])(x))
        return jax.vmap(self.last)(x)


def rotary_transformer() -> Training:
    batch = {"x": integers(48, 16, 8), "y": integers(48, 16, 8)}
    return _training(_Encoder(), batch, _cross_entropy, optax.adamw(1e-2, eps=1e-2))


class _Experts(eqx.Module):
    router: eqx.nn.Linear
    experts: eqx.nn.MLP

    def __init__(self) -> None:
        first, second = jax.random.split(KEY(0))
        self.router = eqx.nn.Linear(16, 8, key=first)
        make = eqx.filter_vmap(lambda key: eqx.nn.MLP(16, 16, 32, 1, jax.nn.silu, key=key))
        self.experts = make(jax.random.split(second, 8))

    def __call__(self, x: Array) -> Array:
        weights, chosen = jax.lax.top_k(jax.nn.softmax(self.router(x)), 2)
        outputs = eqx.filter_vmap(lambda expert: expert(x))(self.experts)
        return x + weights @ outputs[chosen]


def mixture_of_experts() -> Training:
    def loss(model: Any, batch: dict[str, Array]) -> Array:
        return jnp.mean((jax.vmap(model)(batch["x"]) - batch["y"]) ** 2)

    return _training(_Experts(), {"x": floats(16, 16), "y": floats(16, 16, seed=1)}, loss, optax.sgd(0.1))


class _Linear(eqx.Module):
    inner: eqx.nn.Linear
    outer: eqx.nn.Linear
    decay: Array
    phase: Array

    def __init__(self) -> None:
        first, second = jax.random.split(KEY(0))
        self.inner, self.outer = eqx.nn.Linear(8, 64, key=first), eqx.nn.Linear(64, 8, key=second)
        self.decay, self.phase = jnp.linspace(0.1, 1.0, 32), jnp.linspace(0.0, 3.0, 32)

    def __call__(self, x: Array) -> Array:
        driven = jax.vmap(self.inner)(x).reshape(-1, 2, 32)
        inputs = driven[:, 0] + 1j * driven[:, 1]
        factor = jnp.broadcast_to(jnp.exp(-jnp.exp(self.decay) + 1j * self.phase), inputs.shape)

        def joined(left: Any, right: Any) -> Any:
            return left[0] * right[0], right[0] * left[1] + right[1]

        _, states = jax.lax.associative_scan(joined, (factor, inputs))
        return self.outer(jnp.concatenate([states[-1].real, states[-1].imag]))


def linear_recurrent_unit() -> Training:
    return _training(_Linear(), {"x": floats(16, 8, 8), "y": classes(16, 8)}, _cross_entropy, optax.sgd(0.1))


class _Autoencoder(eqx.Module):
    down: eqx.nn.Sequential
    up: eqx.nn.Sequential

    def __init__(self) -> None:
        keys = jax.random.split(KEY(0), 4)
        self.down = eqx.nn.Sequential(
            [
                eqx.nn.Conv1d(4, 16, 3, 2, padding=1, key=keys[0]),
                eqx.nn.Lambda(eqx.nn.PReLU(0.1)),
                eqx.nn.AvgPool1d(2, 2),
                eqx.nn.GroupNorm(4, 16),
                eqx.nn.WeightNorm(eqx.nn.Conv1d(16, 8, 1, key=keys[1])),
            ]
        )
        self.up = eqx.nn.Sequential(
            [
                eqx.nn.ConvTranspose1d(8, 16, 2, 2, key=keys[2]),
                eqx.nn.Lambda(jax.nn.elu),
                eqx.nn.ConvTranspose1d(16, 4, 3, 2, padding=1, output_padding=1, key=keys[3]),
            ]
        )

    def __call__(self, x: Array) -> Array:
        return self.up(self.down(x))


def convolutional_autoencoder() -> Training:
    def loss(model: Any, batch: dict[str, Array]) -> Array:
        made = jax.vmap(jax.checkpoint(lambda x: model(x)))(batch["x"])
        return jnp.mean((made - batch["x"]) ** 2)

    return _training(_Autoencoder(), {"x": floats(16, 4, 16)}, loss, optax.radam(1e-2, eps=1e-2))


def checked_values() -> Training:
    def loss(model: Any, batch: dict[str, Array]) -> Array:
        x = eqx.error_if(batch["x"], jnp.any(batch["x"] > 1e6), "too large", on_error="raise")
        return jnp.mean(jax.vmap(model)(x) ** 2)

    model = eqx.nn.MLP(24, 8, 64, 1, key=KEY(0))
    # A check that raises is a callback into Python, which a program cannot take along.
    return replace(_training(model, {"x": floats(16, 24)}, loss, optax.sgd(0.1)), refused="SW0431")
