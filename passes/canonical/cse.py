"""`cse`: of equal ops, the first one stays."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from shardwright.dialects.building import blocks_in
from shardwright.dialects.purity import is_pure
from shardwright.passes.rewriter import replace


@dataclass(frozen=True)
class CsePass(ModulePass):
    """
    Merges pure ops with the same operands, attributes, regions and result types (layouts included).

    One forward walk with a table of what was seen; constants merge like everything else.

    Before:
        %0 = stablehlo.add %x, %x : tensor<4xf32>
        %1 = stablehlo.add %x, %x : tensor<4xf32>
        %2 = stablehlo.multiply %0, %1 : tensor<4xf32>
        return %2 : tensor<4xf32>
    After:
        %0 = stablehlo.add %x, %x : tensor<4xf32>
        %1 = stablehlo.multiply %0, %0 : tensor<4xf32>
        return %1 : tensor<4xf32>
    """

    name = "cse"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        _merge_in_regions(op)


def _merge_in_regions(op: Operation) -> None:
    for block in blocks_in(op):
        _merge_in_block(block)


def _merge_in_block(block: Block) -> None:
    # A table of its own for each block: equal ops of different blocks need not dominate each other.
    known: dict[Hashable, Operation] = {}
    for op in block.ops:
        if op.regions:
            _merge_in_regions(op)
        if not op.results or not is_pure(op):
            continue
        first = known.setdefault(_key(op, {}), op)
        if first is not op:
            replace(op, first.results)


def _key(op: Operation, local: dict[SSAValue, int]) -> Hashable:
    """What two ops have in common when they compute the same; `local` numbers the values of the region at hand."""
    return (
        type(op),
        tuple([local.get(operand, operand) for operand in op.operands]) if local else tuple(op.operands),
        _frozen(op.properties),
        _frozen(op.attributes),
        op.result_types,
        tuple([_region_key(region, local) for region in op.regions]) if op.regions else (),
    )


def _frozen(entries: dict[str, Attribute]) -> Hashable:
    return frozenset(entries.items()) if entries else None


def _region_key(region: Region, local: dict[SSAValue, int]) -> Hashable:
    numbers = dict(local)
    keys: list[Hashable] = []
    for block in region.blocks:
        for value in block.args:
            numbers[value] = len(numbers)
        keys.append(block.arg_types)
        for op in block.ops:
            keys.append(_key(op, numbers))
            for value in op.results:
                numbers[value] = len(numbers)
    return tuple(keys)
