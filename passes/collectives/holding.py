"""What a device holds at once while a block of a program runs, were every value to have memory of its own."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Block, Operation, SSAValue

from shardwright.dialects.dtensor import layout_of
from shardwright.dialects.stablehlo import BroadcastInDimOp, CaseOp, IfOp, ReshapeOp, WhileOp, is_splat
from shardwright.dialects.types import element_dtype, shape_of
from shardwright.layout.mesh import Mesh

__all__ = ["Holding", "bytes_of", "ends", "is_seen", "part_of", "place_in", "takes_nothing"]

Size: TypeAlias = Callable[[SSAValue], int]
"""The bytes that a device holds of a value."""

_SEEN = (BroadcastInDimOp, ReshapeOp)
"""Ops whose result is their operand, seen in another shape."""


def is_seen(op: Operation) -> bool:
    """Whether what an op makes is what it takes, in another shape."""
    return isinstance(op, _SEEN)


def takes_nothing(op: Operation) -> bool:
    """Whether what an op makes takes no memory of its own: it is seen, or one number everywhere."""
    return is_seen(op) or is_splat(op)


def bytes_of(value: SSAValue) -> int:
    """The bytes of a value in memory of its own."""
    if not isinstance(value.type, TensorType) or (isinstance(value.owner, Operation) and takes_nothing(value.owner)):
        return 0
    return math.prod(shape_of(value)) * element_dtype(value.type).itemsize


def part_of(value: SSAValue, mesh: Mesh) -> int:
    """The bytes that a device holds of a value with a layout."""
    spec = layout_of(value)
    return bytes_of(value) // (1 if spec is None else math.prod(map(mesh.group_size, spec.dims)))


@dataclass(frozen=True)
class Holding:
    """The bytes held after each op of a block has begun, and the values of the block that are there at the most."""

    levels: tuple[int, ...]
    highest: tuple[SSAValue, ...]

    @classmethod
    def of(cls, block: Block, size: Size = bytes_of) -> Holding:
        """What is held in a block, its arguments from start to end, other values until their last use."""
        return cls(*_held(block, sum(map(size, block.args)), size))


def _held(block: Block, now: int, size: Size) -> tuple[tuple[int, ...], tuple[SSAValue, ...]]:
    last = ends(block)
    levels: list[int] = []
    alive: dict[SSAValue, None] = {}
    most, highest = -1, tuple[SSAValue, ...]()
    dying: dict[int, list[SSAValue]] = {}
    for at, op in enumerate(block.ops):
        for value in op.results:
            alive[value] = None
            now += size(value)
            dying.setdefault(last[value], []).append(value)
        levels.append(now + _inside(op, size))
        if levels[-1] > most:
            most, highest = levels[-1], tuple(alive)
        for value in dying.pop(at, ()):
            del alive[value]
            now -= size(value)
    return tuple(levels), highest


def ends(block: Block) -> dict[SSAValue, int]:
    """For each value that a block makes the number of the last op that uses it, or what is only seen of it."""
    places = {op: at for at, op in enumerate(block.ops)}
    found: dict[SSAValue, int] = {}
    for op in reversed(list(block.ops)):
        for value in op.results:
            users = [use.operation for use in value.uses]
            seen = (found[user.results[0]] for user in users if is_seen(user) and user in places)
            found[value] = max([places[op], *seen, *(place_in(user, block, places) for user in users)])
    return found


def place_in(op: Operation, block: Block, places: dict[Operation, int]) -> int:
    """The number of the op of a block that is, or holds, `op`."""
    outer: Operation | None = op
    while outer is not None and outer.parent is not block:
        outer = outer.parent_op()
    return -1 if outer is None else places[outer]


def _inside(op: Operation, size: Size) -> int:
    """The most bytes of what a region of a loop or a branch makes that are held at once."""
    if not isinstance(op, WhileOp | CaseOp | IfOp):
        return 0
    return max(
        (max(_held(block, 0, size)[0], default=0) for region in op.regions for block in region.blocks), default=0
    )
