"""What relayouts send, for very many pairs of layouts: shares of a tensor, remembered for all programs."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np

from shardwright.layout.mesh import Mesh
from shardwright.layout.planning import cost, planner
from shardwright.layout.spec import LayoutSpec
from shardwright.networks.network import Costs
from shardwright.passes.program import Dims
from shardwright.rules.rule import Axes

__all__ = ["finishing", "moving"]


def moving(sources: Sequence[Dims], targets: Sequence[Dims], shape: tuple[int, ...], mesh: Mesh) -> Costs:
    """The share of a tensor that each device sends from each of some layouts to each of others."""
    return _moving(tuple(sources), tuple(targets), _even(shape, mesh), mesh)


def finishing(made: Dims, partial: Axes, targets: Sequence[Dims], shape: tuple[int, ...], mesh: Mesh) -> Costs:
    """
    The same from a partial sum to each of some finished layouts.

    Its parts are scattered along some dims, and what remains of it is reduced everywhere; then the least moves that is
    missing. Slices that cost nothing come first. The planner knows the same ways, and some that send no less.
    """
    return _finishing(made, partial, tuple(targets), _even(shape, mesh), mesh)


def _even(shape: Sequence[int], mesh: Mesh) -> tuple[int, ...]:
    """What is asked of a shape: which numbers of parts divide each of its dims."""
    return tuple(math.gcd(size, mesh.size) for size in shape)


# Values of one shape have the same layouts to choose from: the tables of a program are few, and asked for often.
@lru_cache(maxsize=1 << 12)
def _moving(sources: tuple[Dims, ...], targets: tuple[Dims, ...], even: tuple[int, ...], mesh: Mesh) -> Costs:
    return _kept(np.array([[_moved(source, target, even, mesh) for target in targets] for source in sources]))


@lru_cache(maxsize=1 << 12)
def _finishing(made: Dims, partial: Axes, targets: tuple[Dims, ...], even: tuple[int, ...], mesh: Mesh) -> Costs:
    return _kept(np.array([_finished(made, partial, target, even, mesh) for target in targets]))


def _kept(table: Costs) -> Costs:
    table.setflags(write=False)
    return table


@lru_cache(maxsize=1 << 17)
def _moved(source: Dims, target: Dims, shape: tuple[int, ...], mesh: Mesh) -> float:
    if source == target:
        return 0.0
    # What is missing does not depend on which dim is which, nor on dims that are whole at both ends.
    pairs = tuple(sorted(pair for pair in zip(source, target, strict=True) if any(pair)))
    missing = _missing(pairs, mesh)
    if missing is None:
        return planner.cost_share(LayoutSpec(mesh.name, source), LayoutSpec(mesh.name, target), shape, mesh)
    return missing


@lru_cache(maxsize=1 << 16)
def _missing(pairs: tuple[tuple[Axes, Axes], ...], mesh: Mesh) -> float | None:
    source, target = (LayoutSpec(mesh.name, tuple(pair[end] for pair in pairs)) for end in (0, 1))
    missing = cost.missing_share(source, target, mesh)
    return None if missing is None else float(missing)


@lru_cache(maxsize=1 << 17)
def _finished(made: Dims, partial: Axes, target: Dims, shape: tuple[int, ...], mesh: Mesh) -> float:
    return min(
        share + _moved(dims, target, shape, mesh)
        for start in _sliced(made, partial, target, shape, mesh)
        for dims, share in _reduced(start, partial, shape, mesh)
    )


@lru_cache(maxsize=1 << 14)
def _reduced(made: Dims, partial: Axes, shape: tuple[int, ...], mesh: Mesh) -> tuple[tuple[Dims, float], ...]:
    """The layouts in which a sum can be finished at once, with what that sends."""
    before = _parts(made, mesh)
    group = mesh.group_size(partial)
    found = {made: 2 * (group - 1) / (group * before)}
    everywhere = itertools.product(range(-1, len(made)), repeat=len(partial))
    for axes, places in itertools.product(itertools.permutations(partial), everywhere):
        dims = _extended(made, axes, places)
        if dims != made and _divides(dims, shape, mesh):
            spread = _parts(dims, mesh) // before
            rest = group // spread
            share = (spread - 1) / (before * spread) + 2 * (rest - 1) / (rest * before * spread)
            found[dims] = min(share, found.get(dims, share))
    return tuple(found.items())


def _sliced(made: Dims, partial: Axes, target: Dims, shape: tuple[int, ...], mesh: Mesh) -> Iterator[Dims]:
    """The layout, and what it is after slices of axes with which the target goes on, past partial ones or not."""
    yield made
    summed = {axis.name for axis in partial}
    used = {axis.name for axes in made for axis in axes} | summed
    past = tuple(tuple(axis for axis in axes if axis.name not in summed) for axes in target)
    for goal in dict.fromkeys((target, past)):
        more: list[Axes] = []
        for axes, wanted in zip(made, goal, strict=True):
            rest = wanted[len(axes) :] if wanted[: len(axes)] == axes else ()
            more.append(tuple(itertools.takewhile(lambda axis: axis.name not in used, rest)))
        sliced = tuple(axes + added for axes, added in zip(made, more, strict=True))
        if any(more) and _divides(sliced, shape, mesh):
            yield sliced


def _extended(dims: Dims, axes: Axes, places: Sequence[int]) -> Dims:
    """Dims that go on with each of some axes at a place, or nowhere (-1)."""
    added = [tuple(axis for axis, place in zip(axes, places, strict=True) if place == dim) for dim in range(len(dims))]
    return tuple(have + more for have, more in zip(dims, added, strict=True))


def _divides(dims: Dims, shape: Sequence[int], mesh: Mesh) -> bool:
    return all(size % mesh.group_size(axes) == 0 for size, axes in zip(shape, dims, strict=True))


def _parts(dims: Dims, mesh: Mesh) -> int:
    return math.prod(mesh.group_size(axes) for axes in dims)
