"""`dtensor.roll`: what slices and a concatenation of one tensor mean together, as one op that can be split."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from xdsl.dialects.builtin import IntegerAttr, TensorType, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, prop_def
from xdsl.utils.exceptions import VerifyException

from shardwright.dialects.stablehlo.parts import forms, syntax
from shardwright.dialects.stablehlo.structural import ConcatenateOp, SliceOp
from shardwright.dialects.types import plain, shape_of, tensor_type


@irdl_op_definition
class RollOp(forms.WrittenOp, forms.TensorOp):
    """
    Element `i` of a dim becomes element `i + amount`; those that leave at the end come in at the beginning.

    `%1 = dtensor.roll %0, dim = 0 by 3 : (tensor<8x4xf32>) -> tensor<8x4xf32>`
    """

    name = "dtensor.roll"
    operand = operand_def(TensorType)
    dimension = prop_def(IntegerAttr)
    by = prop_def(IntegerAttr)
    FORM: ClassVar[forms.Form] = forms.Form(
        forms.OPERANDS, forms.Field("dimension", forms.NUMBER, ", dim = "), forms.Field("by", forms.NUMBER, " by ")
    )

    def __init__(self, operand: SSAValue, dim: int, amount: int, result_type: Attribute | None = None):
        super().__init__(
            operands=[operand],
            properties={"dimension": IntegerAttr(dim, i64), "by": IntegerAttr(amount, i64)},
            result_types=[plain(operand.type) if result_type is None else result_type],
        )

    @property
    def dim(self) -> int:
        """The dim along which elements move."""
        return self.dimension.value.data

    @property
    def amount(self) -> int:
        """How many places they move: more than none, fewer than all."""
        return self.by.value.data

    def verify_(self) -> None:
        shape = shape_of(self.operand)
        syntax.check_result(self, tensor_type(self.operand))
        if not 0 <= self.dim < len(shape):
            raise VerifyException(f"dim {self.dim} is out of range for rank {len(shape)}")
        if not 0 < self.amount < shape[self.dim]:
            raise VerifyException(f"dim {self.dim} of {shape[self.dim]} elements cannot roll by {self.amount}")


def spell_out(op: RollOp, insert: Callable[[Operation], Operation]) -> SSAValue:
    """
    The end of the tensor, then its beginning: the same in StableHLO.

    `insert` puts each new op in place; only where the dim is whole.
    """
    shape = shape_of(op.operand)
    cut = shape[op.dim] - op.amount
    zeros, starts, limits = (0,) * len(shape), [0] * len(shape), list(shape)
    starts[op.dim] = limits[op.dim] = cut
    end = insert(SliceOp(op.operand, tuple(starts), shape)).results[0]
    beginning = insert(SliceOp(op.operand, zeros, tuple(limits))).results[0]
    return insert(ConcatenateOp([end, beginning], op.dim)).results[0]


OPS: tuple[type[Operation], ...] = (RollOp,)
