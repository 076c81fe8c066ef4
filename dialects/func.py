"""The `func` dialect, with calls that look through layouts: those of arguments are each function's own."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects.builtin import FlatSymbolRefAttrConstr, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Dialect, Operation
from xdsl.irdl import IRDLOperation, irdl_op_definition, prop_def, traits_def, var_operand_def, var_result_def
from xdsl.traits import SymbolTable, SymbolUserOpInterface
from xdsl.utils.exceptions import VerifyException

from shardwright.dialects.types import plain


class _CalleeUse(SymbolUserOpInterface):
    """The callee exists and has the call's types, whatever their layouts."""

    def verify(self, op: Operation) -> None:
        """Checks one call."""
        assert isinstance(op, CallOp)
        callee = SymbolTable.lookup_symbol(op, op.callee)
        if not isinstance(callee, FuncOp):
            raise VerifyException(f"calls {op.callee}, which is no function of this module")
        for side, found, expected in (
            ("operand", op.operand_types, callee.function_type.inputs),
            ("result", op.result_types, callee.function_type.outputs),
        ):
            if _plain(found) != _plain(expected):
                listed = ", ".join(map(str, expected))
                raise VerifyException(f"{side} types do not fit {op.callee}, which has ({listed})")


def _plain(types: Iterable[Attribute]) -> list[Attribute]:
    return [plain(type_) if isinstance(type_, TensorType) else type_ for type_ in types]


@irdl_op_definition
class CallOp(IRDLOperation):
    """Calls a function of this module: `call @f(%x) : (tensor<4xf32>) -> tensor<4xf32>`."""

    name = "func.call"
    arguments = var_operand_def()
    callee = prop_def(FlatSymbolRefAttrConstr)
    res = var_result_def()
    traits = traits_def(_CalleeUse())
    assembly_format = "$callee `(` $arguments `)` attr-dict `:` functional-type($arguments, $res)"


Func = Dialect("func", [FuncOp, CallOp, ReturnOp])

__all__ = ["CallOp", "Func", "FuncOp", "ReturnOp"]
