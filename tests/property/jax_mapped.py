"""Random programs of JAX with `shard_map` over some axes, what lies around it, and a simulation of each device."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from random import Random
from typing import Any, TypeAlias

import numpy as np

jax: Any = import_module("jax")
jnp, lax, P = jax.numpy, jax.lax, jax.sharding.PartitionSpec
Array: TypeAlias = np.ndarray[Any, Any]
Both: TypeAlias = tuple[Callable[[Any], Any], Callable[[Array], Array]]
"""A step as JAX does it, and as NumPy does."""

MESHES = ((4, 2), (2, 2, 2), (2, 4), (8,), (2, 2), (2, 1, 4), (3, 2))
ROWS = 24
COLUMNS = 24
Sizes: TypeAlias = dict[str, int]


@dataclass
class Body:
    """The inside of a `shard_map` over these axes: steps on one array, a block of rows and columns for each device."""

    random: Random
    sizes: Sizes
    axes: list[str]
    shape: tuple[int, int]
    steps: list[Both] = field(default_factory=list[Both])

    def some(self) -> tuple[str, ...]:
        """Some of the axes, in any order."""
        return tuple(self.random.sample(self.axes, self.random.randint(1, len(self.axes))))

    def draw(self) -> None:
        """One more step, if what was drawn fits."""
        self.random.choice((self.psum, self.pmax, self.gather, self.scatter, self.trade, self.permute, self.index))()

    def count(self, names: Sequence[str]) -> int:
        """The devices along some axes."""
        return math.prod(self.sizes[name] for name in names)

    def grouped(self, grid: Array, names: Sequence[str]) -> tuple[Array, Callable[[Array], Array]]:
        """The parts of a group along the first dim, other devices behind, then the block; and the way back."""
        places = [self.axes.index(name) for name in names]
        others = [place for place in range(len(self.axes)) if place not in places]
        order = [*places, *others]
        moved = grid.transpose(*order, -2, -1)
        cut = moved.shape[: len(order)]
        flat = moved.reshape(self.count(names), math.prod(cut[len(places) :]), *moved.shape[-2:])

        def back(found: Array) -> Array:
            return found.reshape(*cut, *found.shape[-2:]).transpose(*np.argsort(order), -2, -1)

        return flat, back

    def add(self, mapped: Callable[[Any], Any], names: Sequence[str], parts: Callable[[Array], Array]) -> None:
        """A step that is a collective over some axes; `parts` is what it makes of the parts of all groups."""

        def simulated(grid: Array) -> Array:
            flat, back = self.grouped(grid, names)
            return back(parts(flat))

        self.steps.append((mapped, simulated))

    def psum(self) -> None:
        names = self.some()
        self.add(
            lambda x: lax.psum(x, names),
            names,
            lambda flat: np.broadcast_to(flat.sum(0, keepdims=True, dtype=flat.dtype), flat.shape),
        )

    def pmax(self) -> None:
        names = self.some()
        self.add(
            lambda x: lax.pmax(x, names), names, lambda flat: np.broadcast_to(flat.max(0, keepdims=True), flat.shape)
        )

    def gather(self) -> None:
        names, dim = self.some(), self.random.randrange(2)
        if self.shape[dim] * self.count(names) > 96:
            return
        self._resize(dim, self.count(names), 1)
        self.add(
            lambda x: lax.all_gather(x, names, axis=dim, tiled=True),
            names,
            lambda flat: np.broadcast_to(joined := np.concatenate(list(flat), 1 + dim), (len(flat), *joined.shape)),
        )

    def scatter(self) -> None:
        names, dim = self.some(), self.random.randrange(2)
        count = self.count(names)
        if self.shape[dim] % count:
            return
        self._resize(dim, 1, count)
        self.add(
            lambda x: lax.psum_scatter(x, names, scatter_dimension=dim, tiled=True),
            names,
            lambda flat: np.stack(np.split(flat.sum(0, dtype=flat.dtype), count, 1 + dim)),
        )

    def trade(self) -> None:
        names, split = self.some(), self.random.randrange(2)
        concat, count = self.random.randrange(2), self.count(names)
        if self.shape[split] % count:
            return
        self._resize(split, 1, count)
        self._resize(concat, count, 1)
        self.add(
            lambda x: lax.all_to_all(x, names, split, concat, tiled=True),
            names,
            lambda flat: np.concatenate(np.split(np.stack(np.split(flat, count, 2 + split)), count, 1), 3 + concat)[
                :, 0
            ],
        )

    def permute(self) -> None:
        names = tuple(sorted(self.some()))  # whose order JAX does not heed here: it counts as the mesh does
        count = self.count(names)
        pairs = list(zip(self.random.sample(range(count), count), self.random.sample(range(count), count), strict=True))
        pairs = pairs[: self.random.randint(1, count)]
        sources = {target: source for source, target in pairs}

        def parts(flat: Array) -> Array:
            return np.stack([flat[sources[at]] if at in sources else 0 * flat[0] for at in range(count)])

        self.add(lambda x: lax.ppermute(x, names, pairs), names, parts)

    def index(self) -> None:
        names = self.some()
        self.add(
            lambda x: x * 2 + lax.axis_index(names).astype(x.dtype),
            names,
            lambda flat: flat * 2 + np.arange(len(flat), dtype=flat.dtype)[:, None, None, None],
        )

    def _resize(self, dim: int, times: int, parts: int) -> None:
        shape = list(self.shape)
        shape[dim] = shape[dim] * times // parts
        self.shape = (shape[0], shape[1])


def _mapped(random: Random, mesh: Any) -> Both:
    """A `shard_map` over some axes; blocks of rows, and maybe of columns, come in, and rows of all devices go out."""
    sizes = dict(mesh.shape)
    axes = random.sample(list(sizes), random.randint(1, len(sizes)))
    rows, columns = _split(random, sizes, axes)
    inner = ROWS // _product(sizes, rows), COLUMNS // _product(sizes, columns)
    body = Body(random, sizes, axes, inner)
    for _ in range(random.randint(1, 4)):
        body.draw()
    out = tuple(random.sample(axes, len(axes)))

    def inside(x: Any) -> Any:
        for mapped, _ in body.steps:
            x = mapped(x)
        return x

    function = jax.shard_map(
        inside, mesh=mesh, in_specs=P(rows or None, columns or None), out_specs=P(out), axis_names=set(axes),
        check_vma=False,
    )  # fmt: skip

    def simulated(x: Array) -> Array:
        blocks = x.reshape(*(sizes[name] for name in rows), inner[0], *(sizes[name] for name in columns), inner[1])
        split = [*rows, *columns]
        copied = [name for name in axes if name not in split]
        blocks = np.moveaxis(blocks, len(rows), -2).reshape(*(sizes[n] for n in split), *(1 for _ in copied), *inner)
        grid = blocks.transpose(*map([*split, *copied].index, axes), -2, -1)
        grid = np.broadcast_to(grid, (*(sizes[name] for name in axes), *inner))
        for _, step in body.steps:
            grid = step(grid)
        found = grid.transpose(*map(axes.index, out), -2, -1)
        return found.reshape(-1, found.shape[-1])

    return function, simulated


def _split(random: Random, sizes: Sizes, axes: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Axes that split rows, and others that split columns."""
    order = random.sample(list(axes), len(axes))
    first = random.randint(0, len(order))
    return tuple(order[:first]), tuple(order[first : random.randint(first, len(order))])


def _product(sizes: Sizes, names: Sequence[str]) -> int:
    return math.prod(sizes[name] for name in names)


def _fitted(x: Any, xp: Any) -> Any:
    """Any matrix made as large as programs begin with, all of its elements used."""
    flat = xp.reshape(x, (-1,))
    turns = -(-flat.shape[0] // (ROWS * COLUMNS))
    flat = xp.concatenate([flat, xp.arange(turns * ROWS * COLUMNS - flat.shape[0], dtype=flat.dtype)])
    weights = xp.arange(1, turns + 1, dtype=flat.dtype)[:, None, None]
    return xp.sum(xp.reshape(flat, (turns, ROWS, COLUMNS)) * weights, axis=0, dtype=flat.dtype)


def _constrained(random: Random, mesh: Any) -> Both:
    rows, columns = _split(random, dict(mesh.shape), list(mesh.axis_names))
    open_dim = random.choice([None, None, P.UNCONSTRAINED])
    sharding = jax.sharding.NamedSharding(mesh, P(rows or open_dim, columns or None))
    return partial(lax.with_sharding_constraint, shardings=sharding), lambda x: x


def _plain(random: Random, mesh: Any) -> Both:
    """What lies between: each is written once, for JAX and NumPy."""
    shift, dim = random.randrange(1, 9), random.randrange(2)

    def step(x: Any, xp: Any) -> Any:
        return {
            0: lambda: x.T,
            1: lambda: xp.roll(x, shift, dim),
            2: lambda: x + xp.sum(x, axis=dim, keepdims=True, dtype=x.dtype),
            3: lambda: x @ (x.T % 5),
            4: lambda: xp.reshape(x, (ROWS // 4, 4, COLUMNS)).swapaxes(0, 1).reshape(ROWS, COLUMNS),
            5: lambda: xp.flip(x, dim) - x,
            6: lambda: xp.concatenate([x[shift:], x[:shift]], axis=0) * 3,
            7: lambda: xp.cumsum(x, axis=dim, dtype=x.dtype),
        }[shift - 1]()

    return lambda x: step(x, jnp), lambda x: step(x, np)


def _looped(random: Random, mesh: Any) -> Both:
    """A loop over a mapped step."""
    (mapped, simulated), turns = _mapped(random, mesh), random.randint(1, 3)

    def round_(x: Any, _: Any) -> Any:
        following = _fitted(mapped(x), jnp) + x
        return following, jnp.sum(following, axis=0)

    def loop(x: Any) -> Any:
        last, rows = lax.scan(round_, x, None, length=turns)
        return jnp.concatenate([last, rows], axis=0)

    def plain(x: Array) -> Array:
        rows: list[Array] = []
        for _ in range(turns):
            x = _fitted(simulated(x), np) + x
            rows.append(x.sum(0, dtype=x.dtype))
        return np.concatenate([x, np.stack(rows)])

    return loop, plain


@dataclass(frozen=True)
class MappedProgram:
    """A function of one matrix with its sharding, and what NumPy says of it."""

    function: Callable[[Any], Any]
    argument: Array
    sharding: Any
    expected: tuple[Array, ...]

    @classmethod
    def of(cls, seed: int) -> MappedProgram:
        """The program of a seed."""
        random = Random(seed)
        shape = random.choice(MESHES)
        mesh = jax.sharding.Mesh(np.array(jax.devices()[: math.prod(shape)]).reshape(shape), tuple("abc"[: len(shape)]))
        kinds = (_mapped, _mapped, _constrained, _plain, _looped)
        steps = [random.choice(kinds)(random, mesh) for _ in range(random.randint(1, 5))]
        argument = np.random.default_rng(seed).integers(-9, 10, (ROWS, COLUMNS)).astype(np.int32)
        rows, columns = _split(random, dict(mesh.shape), list(mesh.axis_names))

        def function(x: Any) -> Any:
            kept: list[Any] = []
            for mapped, _ in steps:
                kept.append(mapped(x))
                x = _fitted(kept[-1], jnp)
            return tuple(kept[-2:])

        made, x = list[Array](), argument
        for _, simulated in steps:
            made.append(simulated(x))
            x = _fitted(made[-1], np)
        sharding = jax.sharding.NamedSharding(mesh, P(rows or None, columns or None))
        return cls(function, argument, sharding, tuple(made[-2:]))
