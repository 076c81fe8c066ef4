"""Training steps through diffrax: differential equations with learned fields, and its adjoints."""

from __future__ import annotations

from typing import Any

import diffrax
import jax
import jax.numpy as jnp
import lineax
import optax

from corpus.catalogue import Training
from corpus.steps import floats, training

Array = jax.Array


def _params() -> dict[str, Array]:
    return {"in": floats(8, 32, seed=0) * 0.3, "out": floats(32, 8, seed=1) * 0.2, "bias": floats(32, seed=2) * 0.1}


def _field(time: Any, value: Array, params: Any) -> Array:
    return jnp.tanh(value @ params["in"] + params["bias"] * time) @ params["out"]


def _batch() -> dict[str, Array]:
    return {"x": floats(16, 8, seed=3), "y": floats(16, 8, seed=4)}


def _training(rounds: int, step: float = 0.1, **options: Any) -> Training:
    solver = options.pop("solver", diffrax.Tsit5())

    def loss_of(params: Any, batch: Any) -> Array:
        term = diffrax.ODETerm(_field)
        found = diffrax.diffeqsolve(term, solver, 0.0, 1.0, step, batch["x"], params, throw=False, **options)
        return jnp.mean((found.ys[-1] - batch["y"]) ** 2)

    return training(loss_of, _params(), _batch(), optax.sgd(0.1), rounds=rounds)


def fixed_steps_and_checkpoints() -> Training:
    return _training(rounds=20, max_steps=16)


def adaptive_steps_and_checkpoints() -> Training:
    controller = diffrax.PIDController(rtol=1e-4, atol=1e-6)
    return _training(rounds=20, max_steps=16, stepsize_controller=controller)


def adaptive_steps_differentiated_directly() -> Training:
    controller = diffrax.PIDController(rtol=1e-4, atol=1e-6)
    return _training(rounds=20, max_steps=16, stepsize_controller=controller, adjoint=diffrax.DirectAdjoint())


def backwards_in_time() -> Training:
    return _training(rounds=20, max_steps=16, solver=diffrax.Heun(), adjoint=diffrax.BacksolveAdjoint())


def implicit_steps() -> Training:
    solver = diffrax.ImplicitEuler(root_finder=diffrax.VeryChord(rtol=1e-8, atol=1e-8))
    return _training(rounds=10, step=0.25, max_steps=4, solver=solver)


def brownian_motion() -> Training:
    def noise(time: Any, value: Array, arguments: Any) -> Any:
        return lineax.DiagonalLinearOperator(0.1 * jnp.sin(value))

    def loss_of(params: Any, batch: Any) -> Array:
        path = diffrax.VirtualBrownianTree(0.0, 1.0, tol=1e-2, shape=(16, 8), key=jax.random.PRNGKey(0))
        terms = diffrax.MultiTerm(diffrax.ODETerm(_field), diffrax.ControlTerm(noise, path))
        options = {"throw": False, "max_steps": 16}
        found = diffrax.diffeqsolve(terms, diffrax.Euler(), 0.0, 1.0, 0.125, batch["x"], params, **options)
        return jnp.mean((found.ys[-1] - batch["y"]) ** 2)

    return training(loss_of, _params(), _batch(), optax.sgd(0.1), rounds=20)
