"""Training steps through optimistix: roots, fixed points, minima and fits, differentiated as implicit functions."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import lineax
import optax
import optimistix

from corpus.catalogue import Training
from corpus.steps import floats, training

Array = jax.Array


def _params() -> dict[str, Array]:
    return {"w": floats(8, 8, seed=0) * 0.1, "u": floats(8, 8, seed=1) * 0.5, "b": floats(8, seed=2) * 0.1}


def _batch() -> dict[str, Array]:
    return {"x": floats(16, 8, seed=3), "y": floats(16, 8, seed=4)}


def _layer(value: Array, arguments: Any) -> Array:
    params, x = arguments
    return jnp.tanh(value @ params["w"] + x @ params["u"] + params["b"])


def equilibrium_by_fixed_point() -> Training:
    solver = optimistix.FixedPointIteration(rtol=1e-10, atol=1e-10)

    def loss_of(params: Any, batch: Any) -> Array:
        zeros = jnp.zeros((16, 8), jnp.float64)
        found = optimistix.fixed_point(_layer, solver, zeros, (params, batch["x"]), throw=False)
        return jnp.mean((found.value - batch["y"]) ** 2)

    return training(loss_of, _params(), _batch(), optax.sgd(0.1), rounds=40)


def roots_by_newton() -> Training:
    solver = optimistix.Newton(rtol=1e-10, atol=1e-10, linear_solver=lineax.LU())

    def root(x: Array, params: Any) -> Array:
        excess = lambda value, arguments: value - _layer(value, arguments)  # noqa: E731
        return optimistix.root_find(excess, solver, jnp.zeros(8, jnp.float64), (params, x), throw=False).value

    def loss_of(params: Any, batch: Any) -> Array:
        found = jax.vmap(root, (0, None))(batch["x"], params)
        return jnp.mean((found - batch["y"]) ** 2)

    return training(loss_of, _params(), _batch(), optax.sgd(0.1), rounds=20)


def minimum_by_bfgs() -> Training:
    solver = optimistix.BFGS(rtol=1e-12, atol=1e-12)

    def energy(value: Array, arguments: Any) -> Array:
        params, x = arguments
        return jnp.sum(jnp.cosh(value - x @ params["u"])) + jnp.sum((value @ params["w"]) ** 2)

    def inner(x: Array, params: Any) -> Array:
        found = optimistix.minimise(energy, solver, jnp.zeros(8, jnp.float64), (params, x), throw=False, max_steps=64)
        return found.value

    def loss_of(params: Any, batch: Any) -> Array:
        return jnp.mean((jax.vmap(inner, (0, None))(batch["x"], params) - batch["y"]) ** 2)

    return training(loss_of, _params(), _batch(), optax.sgd(0.1), rounds=64, minimum=True)


def fit_by_levenberg_marquardt() -> Training:
    solver = optimistix.LevenbergMarquardt(rtol=1e-8, atol=1e-8)

    def residual(value: Array, arguments: Any) -> Array:
        params, x = arguments
        return jnp.tanh(value @ params["w"]) + value - x @ params["u"]

    def inner(x: Array, params: Any) -> Array:
        start = jnp.zeros(8, jnp.float64)
        return optimistix.least_squares(residual, solver, start, (params, x), throw=False, max_steps=64).value

    def loss_of(params: Any, batch: Any) -> Array:
        return jnp.mean((jax.vmap(inner, (0, None))(batch["x"], params) - batch["y"]) ** 2)

    return training(loss_of, _params(), _batch(), optax.sgd(0.1), rounds=64)
