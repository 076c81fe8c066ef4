"""The planner's moves: a relayout as states of axis parts ("atoms", by number), and the collectives between them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import takewhile
from typing import NamedTuple, TypeVar

from shardwright.layout.axes import Axis, merge_adjacent
from shardwright.layout.mesh import Mesh
from shardwright.layout.planning.algebra import Digits, shards, spelled
from shardwright.layout.planning.cost import held_share
from shardwright.layout.spec import LayoutSpec

DimAtoms = tuple[tuple[int, ...], ...]
"""For each dim the atoms that split it, or that a collective adds to it or takes from it."""

REDUCTIONS = ("all_reduce", "reduce_scatter")

NOTHING = Fraction(0)

_T = TypeVar("_T")


class State(NamedTuple):
    """A layout in atoms: what splits each dim, and the partial atoms that the target does not keep."""

    dims: DimAtoms
    partial: tuple[int, ...]


class Move(NamedTuple):
    """
    A collective between two states and the share of the global tensor that a device sends.

    `atoms` are its arguments: for each dim, or as the only entry for an `all_reduce` or `all_to_all`.
    """

    kind: str
    source: State
    result: State
    share: Fraction
    atoms: DimAtoms = ()
    source_dim: int = -1
    target_dim: int = -1


class Problem:
    """One pair of layouts (canonical, on the same mesh, with nesting parts of axes), in atoms."""

    def __init__(
        self, source: LayoutSpec, target: LayoutSpec, shape: tuple[int, ...], mesh: Mesh, atoms: Sequence[Digits]
    ) -> None:
        self._source, self._shape, self._mesh, self._atoms = source, shape, mesh, atoms
        self._sizes = [stop // start for _, start, stop in atoms]
        self._kept = self._spelled(target.partial)
        partial = tuple(atom for atom in self._spelled(source.partial) if atom not in self._kept)
        self.start = State(tuple(map(self._spelled, source.dims)), partial)
        self.goal = State(tuple(map(self._spelled, target.dims)), ())
        self.placed = frozenset(atom for dim in self.goal.dims for atom in dim)
        self._least_shards = min(shards(source, mesh), shards(target, mesh))

    def _spelled(self, axes: Iterable[Axis]) -> tuple[int, ...]:
        return spelled(axes, self._atoms, self._mesh)

    def group(self, atoms: Iterable[int]) -> int:
        """The number of devices that differ only in `atoms`."""
        sizes = self._sizes
        return math.prod([sizes[atom] for atom in atoms])

    def shards(self, dims: DimAtoms) -> int:
        """The number of boxes into which a state cuts the tensor."""
        return math.prod(map(self.group, dims))

    def fits(self, dims: DimAtoms) -> bool:
        """Whether a state is no larger per device than both ends, and divides the shape."""
        parts = [self.group(dim) for dim in dims]
        even = not any(size % count for size, count in zip(self._shape, parts, strict=True))
        return even and math.prod(parts) >= self._least_shards

    def goal_without(self, partial: Sequence[int]) -> DimAtoms:
        """The target's dims without the atoms that are still partial."""
        if not partial:
            return self.goal.dims
        return tuple(tuple(atom for atom in dim if atom not in partial) for dim in self.goal.dims)

    def held(self, before: DimAtoms, after: DimAtoms) -> Fraction | None:
        """`cost.held_share` of two states."""
        atoms = self._atoms
        return held_share(
            [([atoms[i] for i in dim], [atoms[i] for i in to]) for dim, to in zip(before, after, strict=True)]
        )

    def axes(self, numbers: Iterable[int]) -> tuple[Axis, ...]:
        """Atoms as axes, neighbours joined."""
        return merge_adjacent((self._mesh.part(*self._atoms[number]) for number in numbers), self._mesh.sizes)

    def spec(self, state: State) -> LayoutSpec:
        """A state as a layout."""
        partial = self.axes(sorted([*self._kept, *state.partial]))
        dims = tuple(map(self.axes, state.dims))
        return LayoutSpec(self._source.mesh, dims, frozenset(), partial, self._source.kind if partial else "")


def slices(problem: Problem, state: State) -> Iterator[Move]:
    """Slices along replicated atoms as far as each dim follows the target, stopping or not at atoms still partial."""
    taken = {atom for dim in state.dims for atom in dim}.union(state.partial)
    for goal in _distinct(problem.goal.dims, problem.goal_without(state.partial)):
        added = _continuations(state.dims, goal, lambda atom: atom not in taken)
        dims = _joined(state.dims, added)
        if any(added) and problem.fits(dims):
            yield Move("all_slice", state, State(dims, state.partial), NOTHING, added)


def message_moves(problem: Problem, state: State) -> Iterator[Move]:
    """Every named collective that sends something and brings the state nearer to the goal."""
    if state.partial:
        yield from _reduce_scatters(problem, state)
        yield from _all_reduces(problem, state)
    yield from _all_gathers(problem, state)
    yield from _all_to_alls(problem, state)
    yield from _permutes(problem, state)


def exchanges(problem: Problem, state: State) -> Iterator[Move]:
    """The direct way to the goal, as far as no partial atom is in the way."""
    goal = problem.goal_without(state.partial)
    if not problem.fits(goal):
        return
    held = problem.held(state.dims, goal)
    if held is not None:
        yield Move("exchange", state, State(goal, state.partial), Fraction(1, problem.shards(goal)) - held)


def _reduce_scatters(problem: Problem, state: State) -> Iterator[Move]:
    """
    Scatters partial atoms where the target has them, in its order, or all of them along one dim, to be moved later.

    The latter pays where what comes after sends less of the small parts than of the whole sum.
    """
    partial = state.partial
    in_order = _continuations(state.dims, problem.goal.dims, lambda atom: atom in partial)
    every = tuple(tuple(atom for atom in dim if atom in partial) for dim in problem.goal.dims)
    along = [
        tuple(partial if dim == place else () for dim in range(len(state.dims))) for place in range(len(state.dims))
    ]
    before = problem.shards(state.dims)
    for added in _distinct(in_order, every, *along):
        dims = _joined(state.dims, added)
        if any(added) and problem.fits(dims):
            after = problem.shards(dims)
            left = tuple(atom for atom in partial if not any(atom in dim for dim in added))
            yield Move("reduce_scatter", state, State(dims, left), Fraction(after - before, after * before), added)


def _all_reduces(problem: Problem, state: State) -> Iterator[Move]:
    """Reduces the partial atoms that the target replicates, or all."""
    unplaced = tuple(atom for atom in state.partial if atom not in problem.placed)
    for reduced in _distinct(unplaced, state.partial):
        if reduced:
            left = tuple(atom for atom in state.partial if atom not in reduced)
            share = all_reduce_share(problem, state, reduced)
            yield Move("all_reduce", state, State(state.dims, left), share, (reduced,))


def all_reduce_share(problem: Problem, state: State, atoms: Sequence[int]) -> Fraction:
    """What an `all_reduce` of a state over `atoms` sends."""
    group = problem.group(atoms)
    return Fraction(2 * (group - 1), group * problem.shards(state.dims))


def _all_gathers(problem: Problem, state: State) -> Iterator[Move]:
    """Gathers minor atoms that keep dims from following the target."""
    before = problem.shards(state.dims)
    for lengths in _gather_cuts(problem, state):
        dims = tuple(dim[:length] for dim, length in zip(state.dims, lengths, strict=True))
        if dims != state.dims and problem.fits(dims):
            after = problem.shards(dims)
            removed = tuple(dim[length:] for dim, length in zip(state.dims, lengths, strict=True))
            share = Fraction(before - after, before * after)
            yield Move("all_gather", state, State(dims, state.partial), share, removed)


def _gather_cuts(problem: Problem, state: State) -> Iterable[tuple[int, ...]]:
    """How many atoms to keep in each dim: all dims down to what fits, only what nobody needs again, one dim alone."""
    full = [len(dim) for dim in state.dims]
    goal = problem.goal_without(state.partial)
    least = [_common(dim, wanted) for dim, wanted in zip(state.dims, goal, strict=True)]
    unneeded = [
        len(dim) - sum(1 for _ in takewhile(lambda atom: atom not in problem.placed, reversed(dim)))
        for dim in state.dims
    ]
    alone = [
        (*full[:dim], cut, *full[dim + 1 :]) for dim, length in enumerate(full) for cut in range(least[dim], length)
    ]
    return _distinct(tuple(least), tuple(unneeded), *alone)


def _all_to_alls(problem: Problem, state: State) -> Iterator[Move]:
    """Moves minor atoms from one dim to another that goes on with them in the target."""
    goal = problem.goal_without(state.partial)
    for target_dim, (dim, wanted) in enumerate(zip(state.dims, goal, strict=True)):
        if wanted[: len(dim)] == dim:
            rest = wanted[len(dim) :]
            for source_dim, other in enumerate(state.dims):
                for count in range(1, min(len(other), len(rest)) + 1):
                    if source_dim != target_dim and other[-count:] == rest[:count]:
                        yield from _all_to_all(problem, state, rest[:count], source_dim, target_dim)


def _all_to_all(
    problem: Problem, state: State, atoms: tuple[int, ...], source_dim: int, target_dim: int
) -> Iterator[Move]:
    dims = list(state.dims)
    dims[source_dim] = dims[source_dim][: -len(atoms)]
    dims[target_dim] = dims[target_dim] + atoms
    result = State(tuple(dims), state.partial)
    if problem.fits(result.dims):
        group = problem.group(atoms)
        share = Fraction(group - 1, group * problem.shards(state.dims))
        yield Move("all_to_all", state, result, share, (atoms,), source_dim, target_dim)


def _permutes(problem: Problem, state: State) -> Iterator[Move]:
    """Sends whole buffers around, where that gives the goal."""
    goal = problem.goal_without(state.partial)
    if any(problem.group(a) != problem.group(b) for a, b in zip(state.dims, goal, strict=True)):
        return
    held = problem.held(state.dims, goal)
    if held is not None:
        share = Fraction(1, problem.shards(goal)) - held
        yield Move("collective_permute", state, State(goal, state.partial), share)


def common_prefixes(problem: Problem) -> DimAtoms:
    """What splits each dim in the same way at both ends."""
    pairs = zip(problem.start.dims, problem.goal.dims, strict=True)
    return tuple(dim[: _common(dim, wanted)] for dim, wanted in pairs)


def _continuations(dims: DimAtoms, goal: DimAtoms, usable: Callable[[int], bool]) -> DimAtoms:
    """For each dim that follows the goal so far, the usable atoms with which the goal goes on."""
    return tuple(
        tuple(takewhile(usable, wanted[len(dim) :])) if wanted[: len(dim)] == dim else ()
        for dim, wanted in zip(dims, goal, strict=True)
    )


def _joined(dims: DimAtoms, added: DimAtoms) -> DimAtoms:
    return tuple(dim + more for dim, more in zip(dims, added, strict=True))


def _common(a: Sequence[int], b: Sequence[int]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(a, b, strict=False)))


def _distinct(*items: _T) -> Iterable[_T]:
    return dict.fromkeys(items)
