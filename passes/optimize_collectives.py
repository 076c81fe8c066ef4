"""`optimize-collectives`: independent all-reduces over the same axes travel as one message."""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass

from shardwright.dialects import dtensor
from shardwright.dialects.locations import fuse
from shardwright.passes.lower_relayouts import reason_of
from shardwright.passes.program import entry_function
from shardwright.passes.rewriter import erase
from shardwright.passes.stages import require_stage, set_stage

Key = tuple[str, Attribute, Attribute]


@dataclass(frozen=True)
class OptimizeCollectivesPass(ModulePass):
    """
    Delays all-reduces to the first use of any of their results and merges those that wait for the same axes.

    Merged operands are independent by construction: one that depends on another's result comes after its use.

    Before:
        dtensor.mesh @mesh = <["x"=2]>
        func.func public @main(%a: tensor<4xf32, #dtensor.layout<@mesh, [{}], unreduced=sum{"x"}>>, %b: tensor<4xf32, #dtensor.layout<@mesh, [{}], unreduced=sum{"x"}>>) -> tensor<4xf32, #dtensor.layout<@mesh, [{}]>> {
          %0 = dtensor.all_reduce sum @mesh {"x"} %a : (tensor<4xf32, #dtensor.layout<@mesh, [{}], unreduced=sum{"x"}>>) -> tensor<4xf32, #dtensor.layout<@mesh, [{}]>>
          %1 = dtensor.all_reduce sum @mesh {"x"} %b : (tensor<4xf32, #dtensor.layout<@mesh, [{}], unreduced=sum{"x"}>>) -> tensor<4xf32, #dtensor.layout<@mesh, [{}]>>
          %2 = stablehlo.multiply %0, %1 : tensor<4xf32, #dtensor.layout<@mesh, [{}]>>
          func.return %2 : tensor<4xf32, #dtensor.layout<@mesh, [{}]>>
        }
    After:
        dtensor.mesh @mesh = <["x"=2]>
        func.func public @main(%a: tensor<4xf32, #dtensor.layout<@mesh, [{}], unreduced=sum{"x"}>>, %b: tensor<4xf32, #dtensor.layout<@mesh, [{}], unreduced=sum{"x"}>>) -> tensor<4xf32, #dtensor.layout<@mesh, [{}]>> {
          %0, %1 = dtensor.all_reduce sum @mesh {"x"} %a, %b : (tensor<4xf32, #dtensor.layout<@mesh, [{}], unreduced=sum{"x"}>>, tensor<4xf32, #dtensor.layout<@mesh, [{}], unreduced=sum{"x"}>>) -> (tensor<4xf32, #dtensor.layout<@mesh, [{}]>>, tensor<4xf32, #dtensor.layout<@mesh, [{}]>>)
          %2 = stablehlo.multiply %0, %1 : tensor<4xf32, #dtensor.layout<@mesh, [{}]>>
          func.return %2 : tensor<4xf32, #dtensor.layout<@mesh, [{}]>>
        }
    """

    name = "optimize-collectives"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Runs the pass on a module."""
        require_stage(op, self.name, "planned")
        waiting = _Waiting()
        for inner in list(entry_function(op).body.block.ops):
            waiting.visit(inner)
        set_stage(op, "planned")


@dataclass
class _Waiting:
    """All-reduces whose results nobody has used yet, by mesh, axes and kind."""

    groups: dict[Key, list[dtensor.AllReduceOp]] = field(default_factory=dict[Key, list[dtensor.AllReduceOp]])
    keys: dict[SSAValue, Key] = field(default_factory=dict[SSAValue, Key])

    def visit(self, op: Operation) -> None:
        """Merges what `op` uses in front of it, and lets it wait if it is an all-reduce."""
        if self.keys:
            for operand in op.operands:
                key = self.keys.get(operand)
                if key is not None:
                    self._merge(key, op)
        if isinstance(op, dtensor.AllReduceOp):
            key = (op.mesh_name, op.axes, op.kind)
            self.groups.setdefault(key, []).append(op)
            self.keys.update((result, key) for result in op.outputs)

    def _merge(self, key: Key, user: Operation) -> None:
        group = self.groups.pop(key)
        for op in group:
            for result in op.outputs:
                del self.keys[result]
        if len(group) > 1:
            merge_all_reduces(group, user)


def merge_all_reduces(group: list[dtensor.AllReduceOp], anchor: Operation) -> dtensor.AllReduceOp:
    """One all-reduce of all operands of `group`, right before `anchor`, in place of them."""
    operands = [operand for op in group for operand in op.inputs]
    results = [result for op in group for result in op.outputs]
    reasons = "; ".join(dict.fromkeys(filter(None, map(reason_of, group))))
    merged = dtensor.AllReduceOp(
        operands,
        [result.type for result in results],
        group[0].mesh_name,
        group[0].axes.data,
        group[0].kind.data,
        reasons or None,
    )
    merged.location = fuse([op.location for op in group], "all_reduce")
    assert anchor.parent is not None
    anchor.parent.insert_op_before(merged, anchor)
    for old, new in zip(results, merged.outputs, strict=True):
        new.name_hint = old.name_hint
        old.replace_all_uses_with(new)
    for op in group:
        erase(op)
    return merged
