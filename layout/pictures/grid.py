"""What a picture of a layout shows, as plain data of bounded size: boxes of the tensor, and who holds them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise, product

from shardwright.layout.axes import Axis, span
from shardwright.layout.spec import LayoutSpec

SHOWN_PARTS = 8
"""How many parts of a dim are drawn at most; of more, the first ones and the last."""

SHOWN_SLICES = 4
"""How many slices of a tensor of more than two split dims are drawn at most."""

NAMED = 4
"""How many devices of a box are named at most."""


@dataclass(frozen=True)
class Part:
    """One of the `of` parts of a dim; `start` and `stop` are its indices where the tensor's shape is known."""

    number: int
    of: int
    start: int | None = None
    stop: int | None = None

    def __str__(self) -> str:
        if self.start is None:
            return f"{self.number + 1} of {self.of}" if self.of > 1 else "all"
        if self.start == self.stop:
            return "nothing"
        return f"{self.start}:{self.stop}" if self.stop != self.start + 1 else str(self.start)


@dataclass(frozen=True)
class Box:
    """A box of the tensor: its number, row-major, how many devices hold it, and the first of them."""

    number: int
    devices: tuple[int, ...]
    count: int

    def __str__(self) -> str:
        if len(self.devices) == self.count:
            return " ".join(map(str, self.devices))
        return f"{' '.join(map(str, self.devices[:2]))} … ({self.count:,})"


Row = tuple[Box | None, ...]
"""The boxes from left to right; None stands for those that are left out."""


@dataclass(frozen=True)
class Slice:
    """Two dims of the tensor at one part of all others, which `heading` names."""

    heading: str
    rows: tuple[Row | None, ...]


@dataclass(frozen=True)
class Grid:
    """
    The boxes of a tensor: `slices` of two dims, `down` and `across`, whose parts are `rows` and `columns`.

    None among parts, rows and boxes stands for those that are left out. Of `slice_count` slices the first are here.
    """

    down: int | None
    across: int | None
    rows: tuple[Part | None, ...]
    columns: tuple[Part | None, ...]
    slices: tuple[Slice, ...]
    slice_count: int


def grid(
    spec: LayoutSpec, sizes: Mapping[str, int], shape: Sequence[int] | None = None, names: Sequence[str] | None = None
) -> Grid:
    """
    The boxes of a tensor of `shape`, or of any, on a mesh whose axes have these sizes.

    Headings call dims by `names` or by their numbers. Of a dim that does not divide the last parts have less, or
    nothing. However many devices there are, the answer is small.

    >>> found = grid(LayoutSpec("mesh", ((Axis("x"),), ())), {"x": 2, "y": 2}, (4, 3))
    >>> [str(row[0]) for row in found.slices[0].rows], [str(part) for part in found.rows]
    (['0 1', '2 3'], ['0:2', '2:4'])
    """
    counts = [math.prod(axis.size or sizes[axis.name] for axis in axes) for axes in spec.dims]
    down, across = _drawn(counts)
    others = [dim for dim in range(len(counts)) if dim not in (down, across)]
    rows, columns = (_parts(dim, counts, shape) for dim in (down, across))
    slices: list[Slice] = []
    for outer in islice(product(*(range(counts[dim]) for dim in others)), SHOWN_SLICES):
        at = dict(zip(others, outer, strict=True))
        drawn = tuple(
            None if row is None else tuple(_box(spec, sizes, counts, at, down, row, across, part) for part in columns)
            for row in rows
        )
        named = {names[dim] if names else f"dim {dim}": _part(place, dim, counts, shape) for dim, place in at.items()}
        slices.append(Slice(", ".join(f"{name}: {part}" for name, part in named.items() if part.of > 1), drawn))
    return Grid(down, across, rows, columns, tuple(slices), math.prod(counts[dim] for dim in others))


def _drawn(counts: Sequence[int]) -> tuple[int | None, int | None]:
    """The dims that are drawn down and across: the last two that are split, or else the last ones."""
    split = [dim for dim, count in enumerate(counts) if count > 1]
    rest = [dim for dim in range(len(counts)) if dim not in split]
    chosen = split[-2:]
    while rest and len(chosen) < 2:
        chosen.append(rest.pop())
    chosen.sort()
    if len(chosen) == 2:
        return chosen[0], chosen[1]
    return None, chosen[0] if chosen else None


def _parts(dim: int | None, counts: Sequence[int], shape: Sequence[int] | None) -> tuple[Part | None, ...]:
    if dim is None:
        return (Part(0, 1),)
    return tuple(None if at is None else _part(at, dim, counts, shape) for at in shown(counts[dim], SHOWN_PARTS))


def _part(at: int, dim: int, counts: Sequence[int], shape: Sequence[int] | None) -> Part:
    if shape is None:
        return Part(at, counts[dim])
    size = -(-shape[dim] // counts[dim])
    return Part(at, counts[dim], *(min(edge * size, shape[dim]) for edge in (at, at + 1)))


def shown(count: int, most: int) -> list[int | None]:
    """
    The numbers below `count` of which `most` are shown; None stands for those that are left out.

    >>> shown(3, 4), shown(1000, 4)
    ([0, 1, 2], [0, 1, None, 999])
    """
    return list(range(count)) if count <= most else [*range(most - 2), None, count - 1]


def _box(
    spec: LayoutSpec,
    sizes: Mapping[str, int],
    counts: Sequence[int],
    others: Mapping[int, int],
    down: int | None,
    row: Part,
    across: int | None,
    column: Part | None,
) -> Box | None:
    if column is None:
        return None
    places = {**others, **{dim: part.number for dim, part in ((down, row), (across, column)) if dim is not None}}
    number = 0
    for dim, count in enumerate(counts):
        number = number * count + places[dim]
    first = tuple(islice(holders(spec, sizes, [places[dim] for dim in range(len(counts))]), NAMED))
    return Box(number, first, math.prod(sizes.values()) // math.prod(counts))


def holders(spec: LayoutSpec, sizes: Mapping[str, int], places: Sequence[int]) -> Iterator[int]:
    """
    The devices, from the lowest, that hold the box at these parts of the dims; none is looked at but those.

    >>> list(holders(LayoutSpec("mesh", ((Axis("y"),),)), {"x": 2, "y": 3}, [1]))
    [1, 4]
    """
    fixed: dict[tuple[str, int], int] = {}
    for axes, place in zip(spec.dims, places, strict=True):
        for axis in reversed(axes):
            start, stop = span(axis, sizes[axis.name])
            place, fixed[axis.name, start] = divmod(place, stop // start)
    steps: list[Sequence[int]] = []
    stride = math.prod(sizes.values())
    for name, full in sizes.items():
        for start, stop in pairwise(_marks(name, full, spec.dims)):
            stride //= stop // start
            at = fixed.get((name, start))
            steps.append(range(0, stride * (stop // start), stride) if at is None else [at * stride])
    return _sums(steps)


def _sums(steps: Sequence[Sequence[int]]) -> Iterator[int]:
    """The sums of one number of each, in order; `itertools.product` would first make lists of all of them."""
    if not steps:
        yield 0
        return
    for step in steps[0]:
        for rest in _sums(steps[1:]):
            yield step + rest


def _marks(name: str, full: int, dims: Sequence[Sequence[Axis]]) -> list[int]:
    """Where the parts of an axis that split dims start and end, with its own start and end."""
    found = {mark for axes in dims for axis in axes if axis.name == name for mark in span(axis, full)}
    return sorted({1, full, *found})
