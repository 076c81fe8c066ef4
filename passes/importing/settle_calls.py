"""`settle-calls`: custom calls that each device makes for itself, or one device alone, are not to be split."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from shardwright.dialects.sdy import ShardingPerValueAttr
from shardwright.dialects.sdy.meshes import MeshOp, SdyMesh
from shardwright.dialects.sdy.ops import ManualComputationOp
from shardwright.dialects.sdy.rules import SHARDY_RULE, OpShardingRuleAttr
from shardwright.dialects.stablehlo.calls.custom_calls import CustomCallOp, custom_calls
from shardwright.passes.decomposing.custom_calls import CALLS, PARTITIONING
from shardwright.passes.importing.calls import around, calls_in, functions, is_private
from shardwright.passes.importing.gspmd import SHARDING
from shardwright.rules.families.custom_calls import is_known, whole_rule


@dataclass(frozen=True)
class SettleCallsPass(ModulePass):
    """
    Custom calls without a rule get one by which nothing is split, where all axes of the mesh are manual.

    Each device has tensors of its own there: kernels (Pallas, FFI) in a `shard_map` are called with what it has, and
    nobody has to know what they compute. Calls of which the program says that one device makes them are not split
    either. Calls with side effects and calls back into Python stay without a rule, and so do all others outside, unless
    there is one device only.

    Before:
        sdy.mesh @mesh = <["x"=2]>
        func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
          %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>]
              manual_axes={"x"} (%y: tensor<2xf32>) {
            %1 = stablehlo.custom_call @kernel(%y) : (tensor<2xf32>) -> tensor<2xf32>
            sdy.return %1 : tensor<2xf32>
          } : (tensor<4xf32>) -> tensor<4xf32>
          return %0 : tensor<4xf32>
        }
    After:
        sdy.mesh @mesh = <["x"=2]>
        func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
          %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>]
              manual_axes={"x"} (%y: tensor<2xf32>) {
            %1 = stablehlo.custom_call @kernel(%y)
              {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([j]) {i=2, j=2} need_replication={i, j}, custom>}
              : (tensor<2xf32>) -> tensor<2xf32>
            sdy.return %1 : tensor<2xf32>
          } : (tensor<4xf32>) -> tensor<4xf32>
          return %0 : tensor<4xf32>
        }
    """

    name = "settle-calls"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        unknown = [call for call in custom_calls(op) if _is_unknown(call)]
        for call in {*local_calls(op, unknown), *_on_one_device(op, unknown)}:
            call.attributes[SHARDY_RULE] = OpShardingRuleAttr(whole_rule(call))


def _on_one_device(module: ModuleOp, calls: Sequence[CustomCallOp]) -> list[CustomCallOp]:
    """Those of the calls of which the program says that one device makes them, or gives one of their results."""
    if not calls:
        return []
    declared = {op.sym_name.data: op.mesh.data for op in module.ops if isinstance(op, MeshOp)}
    return [call for call in calls if any(map(_is_one_device, _said_meshes(call, declared)))]


def _said_meshes(call: CustomCallOp, declared: Mapping[str, SdyMesh]) -> Iterator[SdyMesh | None]:
    """The meshes of the shardings of a call's results."""
    said = call.attributes.get(SHARDING)
    for sharding in said.data if isinstance(said, ShardingPerValueAttr) else ():
        yield declared.get(sharding.mesh) if isinstance(sharding.mesh, str) else sharding.mesh


def _is_one_device(mesh: SdyMesh | None) -> bool:
    return mesh is not None and not mesh.axes and bool(mesh.device_ids)


def local_calls(module: ModuleOp, calls: Sequence[CustomCallOp]) -> list[CustomCallOp]:
    """Those of the calls that each device makes with tensors of its own, as where there is one device only."""
    if not calls:
        return []
    sizes = [axis for op in module.ops if isinstance(op, MeshOp) for axis in op.mesh.data.axes]
    axes = {name for name, size in sizes if size > 1}
    shared = _shared_functions(functions(module), axes) if axes or not sizes else set[str]()
    return [call for call in calls if _is_manual(call, axes) or _function_of(call) not in shared]


def _is_unknown(op: CustomCallOp) -> bool:
    told = op.target in CALLS or op.target in PARTITIONING or is_known(op)
    if told or op.effects or op.is_callback:  # what Python is called back with is known to one process alone
        return False
    return all(isinstance(value.type, TensorType) for value in (*op.operands, *op.results))


def _shared_functions(table: Mapping[str, FuncOp], axes: set[str]) -> set[str]:
    """The functions that are called from outside of manual computations over all axes."""
    waiting = [name for name, function in table.items() if not is_private(function)]
    found = set(waiting)
    while waiting:
        calls = [call for call in calls_in(table[waiting.pop()]) if not _is_manual(call, axes)]
        fresh = {call.callee.string_value() for call in calls} & table.keys() - found
        found |= fresh
        waiting += fresh
    return found


def _is_manual(op: Operation, axes: set[str]) -> bool:
    """Whether the manual computations around an op leave no axis to anybody else."""
    manual = [outer for outer in around(op) if isinstance(outer, ManualComputationOp)]
    return bool(manual) and axes <= {name for outer in manual for name in outer.manual_axes.data}


def _function_of(op: Operation) -> str:
    return next(outer.sym_name.data for outer in around(op) if isinstance(outer, FuncOp))
