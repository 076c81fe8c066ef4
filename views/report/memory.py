"""What a device holds while its program runs, operation by operation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue

from shardwright.compiler.report import value_name
from shardwright.dialects.text.locations import where
from shardwright.dialects.types import element_dtype, shape_of

POINTS = 400
"""How many moments a chart shows; of more, the highest of each so many is taken."""

LARGEST = 8
"""How many of the values that are held at the highest moment are named."""

WIDTH, HEIGHT, LEFT, TOP, BASE = 720, 200, 8, 24, 176
"""The size of the chart, and where its line can be."""


@dataclass(frozen=True)
class Held:
    """A value that is held at the highest moment: its name or its op, its bytes, and where it was written."""

    name: str
    bytes: int
    place: str


@dataclass(frozen=True)
class Memory:
    """The bytes that a device holds after each operation has begun, and the largest values of the highest moment."""

    levels: tuple[int, ...]
    largest: tuple[Held, ...]

    @property
    def peak(self) -> int:
        """The most bytes held at once."""
        return max(self.levels, default=0)

    @property
    def points(self) -> str:
        """The corners of the line in a chart of `WIDTH` by `HEIGHT`."""
        shown = thinned(self.levels, POINTS)
        step = (WIDTH - 2 * LEFT) / max(len(shown) - 1, 1)
        scale = (BASE - TOP) / max(self.peak, 1)
        return " ".join(f"{LEFT + at * step:.1f},{BASE - level * scale:.1f}" for at, level in enumerate(shown))


def thinned(levels: Sequence[int], most: int) -> list[int]:
    """
    At most so many levels, each the highest of those for which it stands.

    >>> thinned([1, 5, 2, 3, 9], 3)
    [5, 3, 9]
    """
    size = max(math.ceil(len(levels) / most), 1)
    return [max(levels[start : start + size]) for start in range(0, len(levels), size)]


def memory_of(local: ModuleOp) -> Memory:
    """
    What each device holds while a local program runs, were every value to have memory of its own.

    Arguments are held from start to end, other values from where they are made to their last use.
    """
    function = next(op for op in local.ops if isinstance(op, FuncOp) and op.sym_name.data == "main" and op.body.blocks)
    block = function.body.block
    places = {op: at for at, op in enumerate(block.ops)}
    ends = {value: _end(value, block, places) for op in block.ops for value in op.results}
    kept = sum(map(_bytes, block.args))
    levels: list[int] = []
    alive: set[SSAValue] = set()
    highest: tuple[int, set[SSAValue]] = (-1, set())
    now = kept
    dying: dict[int, list[SSAValue]] = {}
    for at, op in enumerate(block.ops):
        for value in op.results:
            alive.add(value)
            now += _bytes(value)
            dying.setdefault(ends[value], []).append(value)
        levels.append(now + _inside(op))
        if levels[-1] > highest[0]:
            highest = (levels[-1], set(alive))
        for value in dying.pop(at, ()):
            alive.discard(value)
            now -= _bytes(value)
    held = sorted([*highest[1], *block.args], key=_bytes, reverse=True)[:LARGEST]
    return Memory(tuple(levels), tuple(map(_held, held)))


def _end(value: SSAValue, block: Block, places: dict[Operation, int]) -> int:
    """The last operation of the block that uses a value, be it in a loop or a branch."""
    last = places[value.owner] if isinstance(value.owner, Operation) else 0
    for use in value.uses:
        op: Operation | None = use.operation
        while op is not None and op.parent is not block:
            op = op.parent_op()
        if op is not None:
            last = max(last, places[op])
    return last


def _inside(op: Operation) -> int:
    """The most bytes of what one run of a region of a loop or a branch makes, all of it counted."""
    regions = [sum(_bytes(value) for inner in region.walk() for value in inner.results) for region in op.regions]
    return max(regions, default=0)


def _bytes(value: SSAValue) -> int:
    if not isinstance(value.type, TensorType):
        return 0
    return math.prod(shape_of(value)) * element_dtype(value.type).itemsize


def _held(value: SSAValue) -> Held:
    place = where(value)
    made = value.owner.name if isinstance(value.owner, Operation) else "argument"
    name = value_name(value) or made
    return Held(name if name == made else f"{name} ({made})", _bytes(value), str(place) if place else "")
