"""`inline`: every call is replaced by the body of its callee."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import CallSiteLoc, LocationAttr, ModuleOp, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass

from shardwright.dialects.building import body_of, returned
from shardwright.dialects.dtensor import with_layout
from shardwright.dialects.func import CallOp
from shardwright.dialects.text.locations import fault, label
from shardwright.passes.importing.calls import callees_first, calls_in, functions, is_private
from shardwright.passes.rewriter import erase, replace


@dataclass(frozen=True)
class InlinePass(ModulePass):
    """
    Inlines all calls, callees first, and erases the private functions.

    An inlined op is located at its own place *at* the call's.

    Before:
        func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
          %0 = func.call @double(%x) : (tensor<4xf32>) -> tensor<4xf32>
          func.return %0 : tensor<4xf32>
        }
        func.func private @double(%y: tensor<4xf32>) -> tensor<4xf32> {
          %0 = stablehlo.add %y, %y : tensor<4xf32>
          func.return %0 : tensor<4xf32>
        }
    After:
        func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
          %0 = stablehlo.add %x, %x : tensor<4xf32>
          func.return %0 : tensor<4xf32>
        }
    """

    name = "inline"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        table = functions(op)
        for function in callees_first(op):
            for call in calls_in(function):
                _inline_call(call, table[call.callee.string_value()])
            function.update_function_type()
        for function in table.values():
            if is_private(function):
                erase(function)


def _inline_call(call: CallOp, callee: FuncOp) -> None:
    _check_signature(call, callee)
    block = callee.body.block
    values: dict[SSAValue, SSAValue] = dict(zip(block.args, call.operands, strict=True))
    places: dict[LocationAttr, LocationAttr] = {}
    assert call.parent is not None
    for op in body_of(block):
        clone = op.clone(values)
        call.parent.insert_op_before(clone, call)
        _locate_at_call(clone, call.location, places)
    replace(call, [values.get(value, value) for value in returned(block)])


def _locate_at_call(op: Operation, caller: LocationAttr, places: dict[LocationAttr, LocationAttr]) -> None:
    for inner in op.walk() if op.regions else (op,):
        place = places.get(inner.location)
        if place is None:
            place = places[inner.location] = CallSiteLoc(inner.location, caller)
        inner.location = place


def _check_signature(call: CallOp, callee: FuncOp) -> None:
    expected = callee.function_type
    sides = (call.operand_types, expected.inputs.data), (call.result_types, expected.outputs.data)
    if all(given == wanted or _plain(given) == _plain(wanted) for given, wanted in sides):
        return
    raise fault(
        "SW0323",
        f"'func.call' op does not fit @{callee.sym_name.data}",
        call,
        labels=label(callee, f"@{callee.sym_name.data} has type {expected}"),
        word=f"@{callee.sym_name.data}",
        help="give the call the callee's operand and result types",
    )


def _plain(types: Sequence[Attribute]) -> list[Attribute]:
    """Types without their layouts: a constraint in one function does not reach the signatures of the others."""
    return [with_layout(type, None) if isinstance(type, TensorType) else type for type in types]
