"""What regions take from outside of them without its being handed over."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.ir import Block, Operation, SSAValue

from shardwright.dialects.building import blocks_in

__all__ = ["captured_by", "free_values"]


def free_values(inside: Operation | Block) -> list[SSAValue]:
    """The values from outside that an op or a block, at any depth, uses, in order and as often as it does."""
    if isinstance(inside, Operation) and not inside.regions:
        return list(inside.operands)
    used: list[SSAValue] = []
    made: set[SSAValue] = set(inside.args) if isinstance(inside, Block) else set()
    for op in inside.walk():
        used += op.operands
        made.update(op.results, *(block.args for block in blocks_in(op)))
    return [value for value in used if value not in made]


def captured_by(blocks: Iterable[Block]) -> list[SSAValue]:
    """The values from outside that blocks, which are no part of each other, use, each once, in order of first use."""
    return list(dict.fromkeys(value for block in blocks for value in free_values(block)))
