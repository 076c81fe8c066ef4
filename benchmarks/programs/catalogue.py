"""
The catalogue of programs that `export_programs.py` can write: a name, a mesh, a function and its layouts.

A builder returns the function, its arguments and the layouts; it is called once, when its program is exported.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

BATCH_MODEL = (("batch", 4), ("model", 2))
MODEL_WIDE = (("batch", 2), ("model", 4))
ONE_AXIS = (("x", 8),)
CUBE = (("data", 2), ("fsdp", 2), ("model", 2))

Specs = Any
"""A tree of `PartitionSpec`s, or `None` where the partitioner is to choose, as `jax.jit` takes them."""


@dataclass(frozen=True)
class Traceable:
    """What is exported: a function of global arrays, its arguments, and the layouts on both sides."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    in_specs: Specs
    out_specs: Specs = None
    donated: tuple[int, ...] = ()


@dataclass(frozen=True)
class Program:
    """
    A named builder with its mesh, its tags and the tolerance that its arithmetic needs.

    `manual`: it names mesh axes, so that no single device can run it. `trips` are the turns of the loops whose
    length depends on data.
    """

    name: str
    axes: tuple[tuple[str, int], ...]
    tags: tuple[str, ...]
    build: Callable[[Context], Traceable]
    tolerance: tuple[float, float] = (1e-4, 1e-4)
    manual: bool = False
    trips: tuple[int, ...] = ()


@dataclass
class Context:
    """What a builder may use: seeded arrays, and constraints on intermediate values (without a mesh: none)."""

    mesh: Mesh | None
    random: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))

    def array(self, *shape: int, scale: float = 1.0, dtype: Any = jnp.float32) -> jax.Array:
        """Normal numbers of the given shape, times `scale`."""
        return jnp.asarray(self.random.standard_normal(shape) * scale, dtype)

    def weight(self, *shape: int, dtype: Any = jnp.float32) -> jax.Array:
        """A weight whose rows keep the size of what they multiply."""
        return self.array(*shape, scale=shape[0] ** -0.5, dtype=dtype)

    def integers(self, below: int, *shape: int) -> jax.Array:
        """Whole numbers from zero to below the bound."""
        return jnp.asarray(self.random.integers(0, below, shape), jnp.int32)

    def constrain(self, value: jax.Array, *spec: Any) -> jax.Array:
        """Ask for a layout in the middle of a program."""
        if self.mesh is None:
            return value
        return jax.lax.with_sharding_constraint(value, NamedSharding(self.mesh, P(*spec)))

    def manual(
        self,
        body: Callable[..., Any],
        in_specs: Specs,
        out_specs: Specs,
        *,
        axes: set[str] | None = None,
        check: bool = True,
    ) -> Callable[..., Any]:
        """A function of global arrays from one that each device runs; manual over all axes of the mesh or some."""
        names = frozenset(axes or ())
        return jax.shard_map(
            body, mesh=self.mesh, in_specs=in_specs, out_specs=out_specs, axis_names=names, check_vma=check
        )


PROGRAMS: dict[str, Program] = {}


def program(
    axes: tuple[tuple[str, int], ...], *tags: str, tolerance: tuple[float, float] = (1e-4, 1e-4)
) -> Callable[[Callable[[Context], Traceable]], Callable[[Context], Traceable]]:
    """Register a builder of a dense program under its own name."""
    return whole(axes, *tags, "dense", tolerance=tolerance)


def whole(
    axes: tuple[tuple[str, int], ...],
    *tags: str,
    tolerance: tuple[float, float] = (1e-4, 1e-4),
    manual: bool = False,
    trips: tuple[int, ...] = (),
) -> Callable[[Callable[[Context], Traceable]], Callable[[Context], Traceable]]:
    """Register a builder of any program under its own name."""

    def register(build: Callable[[Context], Traceable]) -> Callable[[Context], Traceable]:
        PROGRAMS[build.__name__] = Program(build.__name__, axes, tags, build, tolerance, manual, trips)
        return build

    return register


def sgd(parameters: Any, gradients: Any, rate: float = 0.5) -> Any:
    """One step of plain gradient descent, long enough for a wrong gradient to show."""
    return jax.tree.map(lambda value, gradient: (value - rate * gradient).astype(value.dtype), parameters, gradients)


def adam(parameters: Any, gradients: Any, first: Any, second: Any, step: jax.Array) -> tuple[Any, Any, Any]:
    """One step of Adam: new parameters and both moments."""
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, gradients)
    second = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, second, gradients)
    first_scale, second_scale = 1 / (1 - 0.9**step), 1 / (1 - 0.999**step)

    def update(value: jax.Array, m: jax.Array, v: jax.Array) -> jax.Array:
        return value - 1e-1 * (m * first_scale) / (jnp.sqrt(v * second_scale) + 1e-8)

    return jax.tree.map(update, parameters, first, second), first, second


def layer_norm(value: jax.Array, scale: jax.Array, bias: jax.Array) -> jax.Array:
    """Normalise the last dim to mean 0 and variance 1, then scale and shift it."""
    centred = value - value.mean(-1, keepdims=True)
    return centred * jax.lax.rsqrt((centred * centred).mean(-1, keepdims=True) + 1e-5) * scale + bias


def rms_norm(value: jax.Array, scale: jax.Array) -> jax.Array:
    """Divide the last dim by its root mean square."""
    return value * jax.lax.rsqrt((value * value).mean(-1, keepdims=True) + 1e-6) * scale
