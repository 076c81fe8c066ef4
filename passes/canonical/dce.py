"""`dce`: ops whose results nobody uses are erased."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block
from xdsl.passes import ModulePass

from shardwright.dialects.building import blocks_in
from shardwright.passes.purity import is_pure
from shardwright.passes.rewriter import erase


@dataclass(frozen=True)
class DcePass(ModulePass):
    """
    Erases pure ops without uses, last op first, so that one walk takes whole dead chains.

    Before:
        %0 = stablehlo.add %x, %x : tensor<4xf32>
        %1 = stablehlo.multiply %0, %x : tensor<4xf32>
        %2 = stablehlo.negate %x : tensor<4xf32>
        return %2 : tensor<4xf32>
    After:
        %0 = stablehlo.negate %x : tensor<4xf32>
        return %0 : tensor<4xf32>
    """

    name = "dce"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for block in blocks_in(op):
            _sweep(block)


def _sweep(block: Block) -> None:
    op = block.last_op
    while op is not None:
        previous = op.prev_op
        if op.results and is_pure(op) and not any(result.uses for result in op.results):
            erase(op)
        else:
            for inner in blocks_in(op):
                _sweep(inner)
        op = previous
