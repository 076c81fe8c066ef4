"""Assignments of mesh axes to named dims, and the layouts that follow from them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from shardwright.layout.axes import Axis
from shardwright.layout.spec import LayoutSpec
from shardwright.passes.choosing.named_dims import Names, named_dims
from shardwright.passes.program import Axes, Dims, Program

__all__ = ["Assigner", "Assignment"]

Assignment: TypeAlias = tuple[tuple[int, ...], ...]
"""
For each axis of the mesh the named dims that it splits: of a value that has several of them, the first that divides.

So `heads, hidden` is tensor parallelism; with `sequence` behind them, what has neither is split by rows (sequence
parallelism); and `batch, embedding` splits what has a batch by that, and parameters, which have none, otherwise (ZeRO).
"""


class Assigner:
    """
    The layouts of a program under any assignment: worked out once for all values of a sort.

    What is split divides the value's dims in `shapes`, which are the program's own if none are given.
    """

    def __init__(self, program: Program, shapes: Sequence[tuple[int, ...]] | None = None):
        self.program = program
        shapes = program.shapes if shapes is None else shapes
        self.axes = [name for name, size in program.mesh.sizes.items() if size > 1]
        self._names = names = named_dims(program)
        self.names = sorted({name for each in names for name in each if name is not None})
        self._leads = _leads(program, names)
        sorts: dict[Hashable, int] = {}
        facts = zip(names, program.shapes, shapes, program.free, program.given, program.reserved, strict=True)
        self.sort = [sorts.setdefault(fact, len(sorts)) for fact in facts]
        """For each value a number that it has in common with all that are laid out alike."""
        first = [self.sort.index(number) for number in range(len(sorts))]
        self._sorts = [_Sort(program, value, names[value], shapes[value]) for value in first]
        self.sorts = np.array(self.sort, np.intp)

    def layouts(self, assignment: Assignment) -> list[Dims]:
        """The layout of each sort of values."""
        return [sort.dims(self.axes, assignment) for sort in self._sorts]

    def every(self) -> list[list[Dims]]:
        """For each sort of values the layouts that it has under some assignment."""
        return [sort.every(self.axes) for sort in self._sorts]

    def agree(self, one: int, other: int) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
        """Which layouts of two sorts, of those that `every` gives, some assignment may give them together."""
        rows, columns = (
            [sort.picks(self.axes, dims) for dims in sort.every(self.axes)]
            for sort in (self._sorts[one], self._sorts[other])
        )
        pairs = [[all(map(Pick.agrees, row, column)) for column in columns] for row in rows]
        return np.array(pairs, np.bool_).reshape(len(rows), len(columns))

    def lead_of(self, value: int, dim: int) -> tuple[int, int] | None:
        """The first argument, and its dim, that goes by the same name as a dim of a value; None where none does."""
        name = self._names[value][dim]
        return None if name is None else self._leads.get(name)

    def translated(self, assignment: Assignment, other: Assigner) -> Assignment:
        """The assignment of `other`, whose program has the same arguments, by the names that these dims have here."""

        def names(theirs: Iterable[int]) -> Iterator[int]:
            for place in filter(None, map(other._leads.get, theirs)):
                name = self._names[place[0]][place[1]]
                if name is not None:
                    yield name

        return tuple(tuple(dict.fromkeys(names(theirs))) for theirs in assignment)

    def of_values(self, layouts: Sequence[Dims]) -> list[Dims]:
        """The layout of each value, from those of the sorts."""
        return [layouts[sort] for sort in self.sort]

    def parts(self, layouts: Sequence[Dims]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        """In how many parts each value is split."""
        size = self.program.mesh.group_size
        return np.array([math.prod(map(size, dims)) for dims in layouts], np.float64)[self.sorts]


class Pick(NamedTuple):
    """Which named dim of a value an axis splits, if any, and which of them it could split."""

    name: int | None
    could: frozenset[int]

    def agrees(self, other: Pick) -> bool:
        """Whether one list of named dims may lead to both: it has what was picked, and that before all else there."""
        return self.name == other.name or not (self._is_before(other) and other._is_before(self))

    def _is_before(self, other: Pick) -> bool:
        """Whether the other would have picked what this has, were that in the list, and before what the other has."""
        return self.name is None or self.name in other.could


def _leads(program: Program, names: Sequence[Names]) -> dict[int, tuple[int, int]]:
    """For each named dim the first argument that has it, and as which of its dims."""
    found: dict[int, tuple[int, int]] = {}
    for argument in range(len(program.root.block.args)):
        for dim, name in enumerate(names[argument]):
            if name is not None:
                found.setdefault(name, (argument, dim))
    return found


class _Sort:
    """Values with the same named dims and shape, and the same layout that the user gave them."""

    def __init__(self, program: Program, value: int, names: Names, shape: tuple[int, ...]):
        spec = program.given[value]
        mesh = program.mesh
        self.sizes = mesh.sizes
        self.given: Dims = ((),) * len(names) if spec is None else spec.dims
        is_open = range(len(names)) if spec is None else spec.open_dims
        # Nothing splits what any device can make: whoever needs it makes it as it needs it.
        self.names = [name if dim in is_open and not program.free[value] else None for dim, name in enumerate(names)]
        self.taken = _taken(spec, program.reserved[value])
        pairs = zip(shape, self.given, strict=True)
        self.left = [size // mesh.group_size(axes) for size, axes in pairs]

    def dims(self, axes: Sequence[str], assignment: Assignment) -> Dims:
        """The layout under an assignment."""
        left, dims = list(self.left), list(self.given)
        for axis, wanted in zip(axes, assignment, strict=True):
            size = self.sizes[axis]
            for name in () if axis in self.taken else wanted:
                place = next((dim for dim, own in enumerate(self.names) if own == name and left[dim] % size == 0), None)
                if place is not None:
                    dims[place] = (*dims[place], Axis(axis))
                    left[place] //= size
                    break
        return tuple(dims)

    def picks(self, axes: Sequence[str], dims: Dims) -> tuple[Pick, ...]:
        """What the layout says of each axis, one after the other."""
        left, found = list(self.left), list[Pick]()
        for axis in axes:
            size, own = self.sizes[axis], Axis(axis)
            could = {
                name
                for name, extent in zip(self.names, left, strict=True)
                if name is not None and axis not in self.taken and extent % size == 0
            }
            place = None if axis in self.taken else next((dim for dim, each in enumerate(dims) if own in each), None)
            if place is not None:
                left[place] //= size
            found.append(Pick(None if place is None else self.names[place], frozenset(could)))
        return tuple(found)

    def every(self, axes: Sequence[str]) -> list[Dims]:
        """The layouts under all assignments."""
        named = [name for name in dict.fromkeys(self.names) if name is not None]
        picks = itertools.product([(), *((name,) for name in named)], repeat=len(axes))
        return list(dict.fromkeys(self.dims(axes, assignment) for assignment in picks))


def _taken(spec: LayoutSpec | None, reserved: Axes) -> frozenset[str]:
    """The axes that a layout may not take in."""
    used = (*spec.axes(), *spec.withheld) if spec is not None else ()
    return frozenset(axis.name for axis in (*used, *reserved))
