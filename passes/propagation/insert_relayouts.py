"""`insert-relayouts`: each op gets its operands in the layouts that its rule needs; partial results become explicit."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from shardwright.passes.propagation.alignment import align
from shardwright.passes.propagation.numbering import build_program
from shardwright.passes.propagation.readers.windows import share_windows
from shardwright.passes.propagation.strategy import Strategist
from shardwright.passes.stages import require_stage, set_stage


@dataclass(frozen=True)
class InsertRelayoutsPass(ModulePass):
    """
    Picks each op's cheapest strategy and inserts `dtensor.relayout` where an operand is not as the strategy needs it.

    Constraints become relayouts, constants and iotas are made in the layouts that are asked of them. What several ops
    need of their neighbours alike is exchanged once.

    Before:
        dtensor.mesh @mesh = <["x"=2]>
        func.func public @main(%a: tensor<4xf32, #dtensor.layout<@mesh, [{"x"}]>>)
            -> tensor<4xf32, #dtensor.layout<@mesh, [{}]>> {
          %0 = stablehlo.negate %a : (tensor<4xf32, #dtensor.layout<@mesh, [{"x"}]>>)
              -> tensor<4xf32, #dtensor.layout<@mesh, [{}]>>
          func.return %0 : tensor<4xf32, #dtensor.layout<@mesh, [{}]>>
        }
    After:
        dtensor.mesh @mesh = <["x"=2]>
        func.func public @main(%a: tensor<4xf32, #dtensor.layout<@mesh, [{"x"}]>>)
            -> tensor<4xf32, #dtensor.layout<@mesh, [{}]>> {
          %0 = stablehlo.negate %a : tensor<4xf32, #dtensor.layout<@mesh, [{"x"}]>>
          %1 = dtensor.relayout %0 {reason = "result 0 of the function"}
              : tensor<4xf32, #dtensor.layout<@mesh, [{"x"}]>> -> tensor<4xf32, #dtensor.layout<@mesh, [{}]>>
          func.return %1 : tensor<4xf32, #dtensor.layout<@mesh, [{}]>>
        }
    """

    name = "insert-relayouts"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        require_stage(op, self.name, "propagated")
        program = build_program(op)
        align(program, Strategist(program, program.message_bytes), [spec.dims for spec in program.layouts()])
        share_windows(op)
        set_stage(op, "aligned")
