"""What a device holds at once while a block of a program runs, were every value to have memory of its own."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple, TypeAlias

from xdsl.dialects.builtin import IntegerAttr, ModuleOp, TensorType
from xdsl.ir import Block, Operation, SSAValue

from shardwright.dialects.dtensor import layout_of, meshes
from shardwright.dialects.stablehlo import (
    BroadcastInDimOp,
    CaseOp,
    IfOp,
    OptimizationBarrierOp,
    ReshapeOp,
    WhileOp,
    is_splat,
)
from shardwright.dialects.types import element_dtype, shape_of
from shardwright.layout.mesh import Mesh
from shardwright.passes.program import entry_function
from shardwright.passes.stages import MEMORY_LIMIT, require_stage

__all__ = ["Holding", "bytes_of", "is_seen", "part_of", "place_in", "takes_nothing"]

Size: TypeAlias = Callable[[SSAValue], int]
"""The bytes that a device holds of a value."""

_SEEN = frozenset({BroadcastInDimOp, OptimizationBarrierOp, ReshapeOp})
"""Ops whose results are their operands, one by one, seen in another shape, or after others."""


class Limited(NamedTuple):
    """What a device does, and how many bytes it may hold meanwhile."""

    block: Block
    mesh: Mesh
    limit: int


def limited(module: ModuleOp, name: str) -> Limited | None:
    """The program of a module with a memory limit, on which a pass of this name works; None without a limit."""
    limit = module.attributes.get(MEMORY_LIMIT)
    if not isinstance(limit, IntegerAttr):
        return None
    require_stage(module, name, "aligned")
    return Limited(entry_function(module).body.block, next(iter(meshes(module).values())), limit.value.data)


def is_seen(op: Operation) -> bool:
    """Whether what an op makes is what it takes, in another shape."""
    return type(op) in _SEEN


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
    """
    The bytes held after each op of a block has begun, and the values of the block that are there at the most.

    For each value of the block `last` is where it ends (`ends`).
    """

    levels: tuple[int, ...]
    highest: tuple[SSAValue, ...]
    last: dict[SSAValue, int]

    @classmethod
    def of(cls, block: Block, size: Size = bytes_of) -> Holding:
        """What is held in a block, its arguments from start to end, other values until their last use."""
        last = ends(block)
        levels = _levels(block, last, sum(map(size, block.args)), size)
        most = levels.index(max(levels)) if levels else -1
        made = (value for op in islice(block.ops, most + 1) for value in op.results)
        return cls(tuple(levels), tuple(value for value in made if last[value] >= most), last)


def _levels(block: Block, last: dict[SSAValue, int], now: int, size: Size) -> list[int]:
    levels: list[int] = []
    dying: dict[int, int] = {}
    for at, op in enumerate(block.ops):
        for value in op.results:
            held = size(value)
            now += held
            dying[last[value]] = dying.get(last[value], 0) + held
        levels.append(now + _inside(op, size))
        now -= dying.pop(at, 0)
    return levels


def ends(block: Block) -> dict[SSAValue, int]:
    """For each value that a block makes the number of the last op that uses it, or what is only seen of it."""
    places = {op: at for at, op in enumerate(block.ops)}
    found: dict[SSAValue, int] = {}
    for op, at in reversed(places.items()):
        for value in op.results:
            last = at
            for use in value.uses:
                user = use.operation
                place = places.get(user, -1)
                if place < 0:
                    place = place_in(user, block, places)
                elif is_seen(user):
                    place = found[user.results[use.index]]
                if place > last:
                    last = place
            found[value] = last
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
    blocks = (block for region in op.regions for block in region.blocks)
    return max((max(_levels(block, ends(block), 0, size), default=0) for block in blocks), default=0)
