"""What the programs of the corpus share: seeded arrays, parameters in float64, and the step around a loss."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

from corpus.catalogue import Training


def floats(*shape: int, seed: int = 0) -> jax.Array:
    """Normal numbers in float64."""
    return jnp.asarray(np.random.default_rng(seed).standard_normal(shape), jnp.float64)


def integers(below: int, *shape: int, seed: int = 0) -> jax.Array:
    """Whole numbers from zero to below a bound: tokens."""
    return jnp.asarray(np.random.default_rng(seed).integers(0, below, shape), jnp.int32)


def classes(count: int, below: int) -> jax.Array:
    """A class for each example."""
    return integers(below, count, seed=1)


def in_float64(tree: Any) -> Any:
    """The floating arrays of a tree in float64: libraries initialise in float32, whatever the precision of JAX."""
    return jax.tree.map(
        lambda leaf: leaf.astype(jnp.float64) if jnp.issubdtype(leaf.dtype, jnp.floating) else leaf, tree
    )


def training(
    loss_of: Callable[[Any, Any], jax.Array],
    params: Any,
    batch: Any,
    optimizer: optax.GradientTransformation,
    **exactness: Any,
) -> Training:
    """The step of optax's guides: loss and gradients, updates of the optimiser, and both states."""

    def step(state: Any, batch: Any) -> Any:
        params, moments = state
        loss, gradients = jax.value_and_grad(loss_of)(params, batch)
        updates, moments = optimizer.update(gradients, moments, params)
        return (optax.apply_updates(params, updates), moments), loss, gradients

    return Training(step, (params, optimizer.init(params)), batch, **exactness)
