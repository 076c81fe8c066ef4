"""What a device holds while its program runs, operation by operation."""

from __future__ import annotations

import math
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue

from shardwright.compiler.report import value_name
from shardwright.dialects.stablehlo import CaseOp, IfOp, WhileOp
from shardwright.dialects.text.locations import where
from shardwright.dialects.types import element_dtype, shape_of
from shardwright.passes.choosing.lifetimes import is_seen, takes_nothing

LARGEST = 8
"""How many of the values that are held at the highest moment are named."""


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


def memory_of(local: ModuleOp) -> Memory:
    """
    What each device holds while a local program runs, were every value to have memory of its own.

    Arguments are held from start to end, other values from where they are made to their last use. What is one number
    everywhere takes no memory, and a value that is another in a new shape none but the other's.
    """
    function = next(op for op in local.ops if isinstance(op, FuncOp) and op.sym_name.data == "main" and op.body.blocks)
    levels, alive = _levels(function.body.block, sum(map(_bytes, function.args)))
    held = sorted([*alive, *function.args], key=_bytes, reverse=True)[:LARGEST]
    return Memory(tuple(levels), tuple(map(_held, held)))


def _levels(block: Block, kept: int) -> tuple[list[int], set[SSAValue]]:
    """The bytes held after each op of a block has begun, `kept` from its start on, and its own values at the most."""
    ends = _ends(block)
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
    return levels, highest[1]


def _ends(block: Block) -> dict[SSAValue, int]:
    """For each value that a block makes the last op that uses it, or what is only seen differently of it."""
    places = {op: at for at, op in enumerate(block.ops)}
    ends: dict[SSAValue, int] = {}
    for op in reversed(list(block.ops)):
        for value in op.results:
            uses = (_place(use.operation, block, places) for use in value.uses)
            seen = (
                ends[use.operation.results[0]]
                for use in value.uses
                if is_seen(use.operation) and use.operation in places
            )
            ends[value] = max([places[op], *uses, *seen])
    return ends


def _place(op: Operation, block: Block, places: dict[Operation, int]) -> int:
    """The number of the op of a block that is, or holds, `op`."""
    outer: Operation | None = op
    while outer is not None and outer.parent is not block:
        outer = outer.parent_op()
    return -1 if outer is None else places[outer]


def _inside(op: Operation) -> int:
    """The most bytes of what a region of a loop or a branch makes that are held at once."""
    blocks = (block for region in op.regions for block in region.blocks if isinstance(op, WhileOp | CaseOp | IfOp))
    return max((max(_levels(block, 0)[0], default=0) for block in blocks), default=0)


def _bytes(value: SSAValue) -> int:
    if not isinstance(value.type, TensorType) or (isinstance(value.owner, Operation) and takes_nothing(value.owner)):
        return 0
    return math.prod(shape_of(value)) * element_dtype(value.type).itemsize


def _held(value: SSAValue) -> Held:
    place = where(value)
    made = value.owner.name if isinstance(value.owner, Operation) else "argument"
    name = value_name(value) or made
    return Held(name if name == made else f"{name} ({made})", _bytes(value), str(place) if place else "")
