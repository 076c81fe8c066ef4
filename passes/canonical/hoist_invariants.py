"""`hoist-invariants`: what a loop leaves alone is taken out of it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from shardwright.dialects.building import ops_in
from shardwright.dialects.dtensor import layout_of
from shardwright.dialects.dtensor.manual import CastOp
from shardwright.dialects.purity import is_pure
from shardwright.dialects.stablehlo import BroadcastInDimOp, ConvertOp, ReshapeOp, WhileOp
from shardwright.dialects.text.literals import element_size
from shardwright.dialects.types import element_of, shape_of
from shardwright.passes.importing.calls import functions
from shardwright.passes.rewriter import insert_before, narrowed_loop, return_only
from shardwright.passes.stages import require_stage, stage_of


@dataclass(frozen=True)
class HoistInvariantsPass(ModulePass):
    """
    Values that a loop carries around unchanged are used from outside instead, and ops on nothing but values from
    outside move in front of the loop, unless their results are larger than what they are made of.

    So what such values need (a relayout, say) is done once and not in every round. Nothing moves out of a branch.

    Before:
        func.func public @main(%p: tensor<i1>, %x: tensor<4xf32>, %w: tensor<4xf32>) -> tensor<4xf32> {
          %0:2 = stablehlo.while(%h = %x, %v = %w) : tensor<4xf32>, tensor<4xf32>
          cond {
            stablehlo.return %p : tensor<i1>
          } do {
            %1 = stablehlo.negate %v : tensor<4xf32>
            %2 = stablehlo.add %h, %1 : tensor<4xf32>
            stablehlo.return %2, %v : tensor<4xf32>, tensor<4xf32>
          }
          func.return %0#0 : tensor<4xf32>
        }
    After:
        func.func public @main(%p: tensor<i1>, %x: tensor<4xf32>, %w: tensor<4xf32>) -> tensor<4xf32> {
          %0 = stablehlo.negate %w : tensor<4xf32>
          %1 = stablehlo.while(%h = %x) : tensor<4xf32>
          cond {
            stablehlo.return %p : tensor<i1>
          } do {
            %2 = stablehlo.add %h, %0 : tensor<4xf32>
            stablehlo.return %2 : tensor<4xf32>
          }
          func.return %1 : tensor<4xf32>
        }
    """

    name = "hoist-invariants"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if stage_of(op) is not None:
            require_stage(op, self.name, "traced")
        for loop in _loops(op):
            narrowed = _carry_less(loop)
            for block in (narrowed.condition.block, narrowed.body.block):
                _hoist(block, narrowed)
        for function in functions(op).values():
            function.update_function_type()  # a result may now be an argument, which has its own layout


def _loops(op: Operation) -> Iterator[WhileOp]:
    """All loops, those inside others first; a list, since they are rewritten on the way."""
    found = [inner for inner in ops_in(op) if isinstance(inner, WhileOp)]
    yield from reversed(found)


def _carry_less(loop: WhileOp) -> WhileOp:
    """The loop without what it carries around unchanged."""
    arguments, following = loop.body.block.args, loop.next_values
    unchanged = {
        place
        for place, (argument, value) in enumerate(zip(arguments, following, strict=True))
        if value is argument and not any(map(layout_of, (argument, loop.outputs[place])))
    }
    if not unchanged:
        return loop
    blocks = (loop.condition.block, loop.body.block)
    for place in unchanged:
        for value in (*(block.args[place] for block in blocks), loop.outputs[place]):
            value.replace_all_uses_with(loop.inputs[place])
    kept = [place for place in range(len(loop.inputs)) if place not in unchanged]
    return_only(loop.body.block, kept)
    return narrowed_loop(loop, kept)


def _hoist(block: Block, loop: WhileOp) -> None:
    for op in list(block.ops):
        if op.operands and not op.regions and op.results and is_pure(op) and _may_leave(op, block):
            for place, value in enumerate(op.operands):
                if _is_inside(value, block):
                    op.operands[place] = _made_outside(value, loop)
            op.detach()
            insert_before(loop, op)


def _may_leave(op: Operation, block: Block) -> bool:
    if isinstance(op, CastOp):
        return False  # a manual computation stays in one piece
    if not all(not _is_inside(value, block) or _is_made_anew(value) for value in op.operands):
        return False
    outside = sum(_bytes(value) for value in op.operands if not _is_inside(value, block))
    return 0 < sum(map(_bytes, op.results)) <= outside


def _is_inside(value: SSAValue, block: Block) -> bool:
    """Whether the block itself defines the value: what blocks inside it define, its ops cannot use."""
    owner = value.owner
    return owner is block if isinstance(owner, Block) else owner.parent is block


def _is_made_anew(value: SSAValue) -> bool:
    """
    Constants and iotas, in another shape or type as well, stay in the loop, where they cost nothing; who leaves takes
    a copy along.
    """
    *_, first = _chain(value)
    return isinstance(first, Operation) and not first.operands and not first.regions and is_pure(first)


def _chain(value: SSAValue) -> Iterator[Operation | Block]:
    """What makes a value, then what makes that which it is in another shape or type, down to the first."""
    yield value.owner
    while isinstance(value.owner, BroadcastInDimOp | ConvertOp | ReshapeOp):
        value = value.owner.operands[0]
        yield value.owner


def _made_outside(value: SSAValue, loop: WhileOp) -> SSAValue:
    made: Sequence[SSAValue] = ()
    for owner in reversed(list(_chain(value))):
        assert isinstance(owner, Operation)
        copy = owner.clone(value_mapper=dict(zip(owner.operands, made, strict=False)))
        copy.location = owner.location
        made = insert_before(loop, copy).results
    assert isinstance(value.owner, Operation)
    return made[value.owner.results.index(value)]


def _bytes(value: SSAValue) -> int:
    return math.prod(shape_of(value)) * element_size(element_of(value))
