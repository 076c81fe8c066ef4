"""Training steps of optax: its optimisers, schedules, wrappers and losses around a small network."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import optax
import optax.contrib

from corpus.catalogue import Training
from corpus.steps import classes, floats, integers, training

Array = jax.Array


def _params() -> dict[str, Array]:
    shapes = {"first": (24, 64), "bias": (64,), "second": (64, 32), "third": (32, 8)}
    return {name: floats(*shape, seed=seed) * shape[0] ** -0.5 for seed, (name, shape) in enumerate(shapes.items())}


def _logits(params: Any, x: Array) -> Array:
    return jnp.tanh(jnp.tanh(x @ params["first"] + params["bias"]) @ params["second"]) @ params["third"]


def _loss(params: Any, batch: Any) -> Array:
    return optax.softmax_cross_entropy_with_integer_labels(_logits(params, batch["x"]), batch["y"]).mean()


def _training(optimizer: optax.GradientTransformation, **more: Any) -> Training:
    return training(_loss, _params(), {"x": floats(16, 24, seed=9), "y": classes(16, 8)}, optimizer, **more)


def adafactor() -> Training:
    return _training(optax.adafactor(1e-2, min_dim_size_to_factor=8))


def lamb() -> Training:
    return _training(optax.lamb(1e-2, eps=1e-2, weight_decay=1e-2))


def lion_with_schedule() -> Training:
    return _training(optax.lion(optax.cosine_decay_schedule(1e-2, 100)))


def momentum_clipped_by_elements() -> Training:
    return _training(optax.chain(optax.clip(1e-2), optax.add_decayed_weights(1e-3), optax.sgd(0.1, momentum=0.9)))


def muon() -> Training:
    return _training(optax.contrib.muon(1e-2, eps=1e-2))


def schedule_free() -> Training:
    return _training(optax.contrib.schedule_free_adamw(1e-2, warmup_steps=4))


def accumulated_over_steps() -> Training:
    return _training(optax.MultiSteps(optax.adam(1e-2, eps=1e-2), every_k_schedule=2))


def guarded_noise() -> Training:
    return _training(optax.apply_if_finite(optax.noisy_sgd(0.1, key=jax.random.key(0)), max_consecutive_errors=2))


def lookahead_with_averages() -> Training:
    optimizer = optax.lookahead(optax.chain(optax.sgd(0.1), optax.ema(0.9)), sync_period=2, slow_step_size=0.5)
    params = optax.LookaheadParams.init_synced(_params())

    def loss_of(params: Any, batch: Any) -> Array:
        return _loss(params.fast, batch)

    def step(state: Any, batch: Any) -> Any:
        params, moments = state
        loss, gradients = jax.value_and_grad(loss_of)(params, batch)
        updates, moments = optimizer.update(gradients.fast, moments, params)
        return (optax.apply_updates(params, updates), moments), loss, gradients

    return Training(step, (params, optimizer.init(params)), {"x": floats(16, 24, seed=9), "y": classes(16, 8)})


def lbfgs_with_line_search() -> Training:
    optimizer = optax.lbfgs(memory_size=4)

    def step(state: Any, batch: Any) -> Any:
        params, moments = state
        value_of = lambda params: _loss(params, batch)  # noqa: E731
        loss, gradients = optax.value_and_grad_from_state(value_of)(params, state=moments)
        updates, moments = optimizer.update(gradients, moments, params, value=loss, grad=gradients, value_fn=value_of)
        return (optax.apply_updates(params, updates), moments), loss, gradients

    params = _params()
    batch = {"x": floats(16, 24, seed=9), "y": classes(16, 8)}
    return Training(step, (params, optimizer.init(params)), batch, rounds=20)


def connectionist_loss() -> Training:
    def loss_of(params: Any, batch: Any) -> Array:
        logits = _logits(params, batch["x"])
        zeros = jnp.zeros(logits.shape[:2], logits.dtype)
        return optax.ctc_loss(logits, zeros, batch["y"], jnp.zeros(batch["y"].shape, logits.dtype)).mean()

    batch = {"x": floats(16, 10, 24, seed=9), "y": 1 + integers(7, 16, 4)}
    return training(loss_of, _params(), batch, optax.novograd(1e-2, eps=1e-2))
