"""`lower-relayouts`: each relayout becomes the cheapest sequence of collectives."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass

from shardwright.dialects import dtensor
from shardwright.dialects.text.locations import fault
from shardwright.dialects.types import shape_of
from shardwright.layout.mesh import Mesh
from shardwright.layout.planning import planner
from shardwright.passes.program import entry_function
from shardwright.passes.rewriter import insert_before, replace
from shardwright.passes.stages import require_stage, set_stage


@dataclass(frozen=True)
class LowerRelayoutsPass(ModulePass):
    """
    Replaces each `dtensor.relayout` by the planner's collectives, on global types still; the reason stays with them.

    Before:
        #x = #dtensor.layout<@mesh, [{"x"}]>
        #r = #dtensor.layout<@mesh, [{}]>
        dtensor.mesh @mesh = <["x"=2]>
        func.func public @main(%a: tensor<4xf32, #x>) -> tensor<4xf32, #r> {
          %0 = dtensor.relayout %a : tensor<4xf32, #x> -> tensor<4xf32, #r>
          func.return %0 : tensor<4xf32, #r>
        }
    After:
        #x = #dtensor.layout<@mesh, [{"x"}]>
        #r = #dtensor.layout<@mesh, [{}]>
        dtensor.mesh @mesh = <["x"=2]>
        func.func public @main(%a: tensor<4xf32, #x>) -> tensor<4xf32, #r> {
          %0 = dtensor.all_gather @mesh [{"x"}] %a : (tensor<4xf32, #x>) -> tensor<4xf32, #r>
          func.return %0 : tensor<4xf32, #r>
        }
    """

    name = "lower-relayouts"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        require_stage(op, self.name, "aligned")
        meshes = dtensor.meshes(op)
        for inner in list(entry_function(op).body.walk()):
            if isinstance(inner, dtensor.RelayoutOp | dtensor.ConstraintOp):
                _lower(inner, meshes)
        set_stage(op, "planned")


def _lower(op: dtensor.RelayoutOp | dtensor.ConstraintOp, meshes: dict[str, Mesh]) -> None:
    source, target = dtensor.layout_of(op.operand), dtensor.layout_of(op.result)
    assert source is not None
    assert target is not None
    try:
        plan = planner.plan(source, target, shape_of(op.operand), meshes[source.mesh])
    except ValueError as error:
        message, help_text = f"no relayout from {source} to {target}: {error}", "give the result another layout"
        raise fault("SW0406", message, op, help=help_text) from error
    reason = op.reason.data if op.reason is not None else None
    value: SSAValue = op.operand
    for step in plan.steps:
        collective = _collective(step, value, reason)
        insert_before(op, collective)
        value = collective.results[0]
    replace(op, [value])


def _collective(step: planner.Step, value: SSAValue, reason: str | None) -> Operation:
    mesh = step.source.mesh
    result: Attribute = dtensor.with_layout(value.type, step.result)
    match step.kind:
        case "all_reduce":
            return dtensor.AllReduceOp([value], [result], mesh, step.axes, step.source.kind, reason)
        case "reduce_scatter":
            return dtensor.ReduceScatterOp(value, result, mesh, step.dim_axes, step.source.kind, reason)
        case "all_gather":
            return dtensor.AllGatherOp(value, result, mesh, step.dim_axes, reason)
        case "unreduce":
            return dtensor.UnreduceOp([value], [result], mesh, step.axes, step.result.kind, reason)
        case "unscatter":
            return dtensor.UnscatterOp(value, result, mesh, step.dim_axes, step.result.kind, reason)
        case "all_slice":
            return dtensor.AllSliceOp(value, result, mesh, step.dim_axes, reason)
        case "all_to_all":
            return dtensor.AllToAllOp(value, result, mesh, step.axes, step.source_dim, step.target_dim, reason)
        case "collective_permute":
            return dtensor.CollectivePermuteOp(value, result, step.source, step.result, reason)
        case _:
            return dtensor.ExchangeOp(value, result, step.source, step.result, reason)


def reason_of(op: Operation) -> str:
    """Why a collective is there."""
    reason = op.properties.get("reason")
    return reason.data if isinstance(reason, StringAttr) else ""
