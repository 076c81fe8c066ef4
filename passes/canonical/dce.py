"""`dce`: ops whose results nobody uses are erased."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, BlockArgument, Operation
from xdsl.passes import ModulePass

from shardwright.dialects.building import blocks_in, body_of
from shardwright.dialects.purity import is_pure
from shardwright.dialects.stablehlo import CaseOp, CustomCallOp, IfOp, OptimizationBarrierOp, WhileOp
from shardwright.passes.rewriter import erase, narrowed_barrier, narrowed_branches, narrowed_loop, return_only


@dataclass(frozen=True)
class DcePass(ModulePass):
    """
    Erases pure ops without uses, last op first, so that one walk takes whole dead chains; also results of branches
    and barriers that nobody uses, and what a loop carries for nothing but itself: it would be sent in every round.

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
        if (
            (op.results or op.regions or isinstance(op, CustomCallOp))
            and is_pure(op)
            and not any(result.uses for result in op.results)
        ):
            erase(op)
        else:
            for inner in blocks_in(_narrowed(op)):
                _sweep(inner)
        op = previous


def _narrowed(op: Operation) -> Operation:
    """The op, or what takes its place, without results that nobody uses."""
    if not op.regions and op.name != OptimizationBarrierOp.name:
        return op
    if isinstance(op, WhileOp):
        return _carrying_less(op)
    if isinstance(op, CaseOp | IfOp | OptimizationBarrierOp):
        used = [place for place, result in enumerate(op.results) if result.uses]
        narrowed = narrowed_barrier if isinstance(op, OptimizationBarrierOp) else narrowed_branches
        return op if len(used) == len(op.results) else narrowed(op, used)
    return op


def _carrying_less(loop: WhileOp) -> WhileOp:
    _sweep(loop.condition.block)
    live = sorted(_live(loop))
    if len(live) == len(loop.inputs):
        return loop
    return_only(loop.body.block, live)
    _sweep(loop.body.block)
    return narrowed_loop(loop, live)


def _live(loop: WhileOp) -> set[int]:
    """The carried values that somebody uses after the loop, that end it, or that these need in some round."""
    body, following = loop.body.block, loop.next_values
    live = {place for place, value in enumerate(loop.outputs) if value.uses or loop.condition.block.args[place].uses}
    waiting = [following[place] for place in live]
    waiting += [value for op in body_of(body) if not is_pure(op) for inner in op.walk() for value in inner.operands]
    seen = set[Operation]()
    while waiting:
        value = waiting.pop()
        owner = value.owner
        if isinstance(value, BlockArgument) and owner is body and value.index not in live:
            live.add(value.index)
            waiting.append(following[value.index])
        elif isinstance(owner, Operation) and owner.parent is body and owner not in seen:
            seen.add(owner)
            waiting += [operand for inner in owner.walk() for operand in inner.operands]
    return live
