"""Hints to propagation in the `dtensor` dialect: barriers, and groups of values with one layout."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import IntegerAttr, StringAttr, TensorType, i64
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, prop_def
from xdsl.utils.exceptions import VerifyException

from shardwright.dialects.stablehlo.parts import forms
from shardwright.dialects.types import plain

FORWARD = "forward"
BACKWARD = "backward"
NONE = "none"
_DIRECTION = forms.Spelling(
    lambda parser: StringAttr(parser.parse_keyword_in((FORWARD, BACKWARD, NONE))), lambda direction: direction.data
)


@irdl_op_definition
class BarrierOp(forms.WrittenOp, forms.TensorOp):
    """
    A value whose layout spreads through here in one direction, or in none: `dtensor.barrier forward %x : T -> T`.
    """

    name = "dtensor.barrier"
    operand = operand_def(TensorType)
    direction = prop_def(StringAttr)
    FORM: ClassVar[forms.Form] = forms.Form(forms.Field("direction", _DIRECTION), forms.OPERANDS, types=forms.ARROW)

    def __init__(self, operand: SSAValue, direction: str):
        super().__init__(
            operands=[operand], result_types=[plain(operand.type)], properties={"direction": StringAttr(direction)}
        )

    def verify_(self) -> None:
        if self.direction.data not in (FORWARD, BACKWARD, NONE):
            raise VerifyException(f"the direction must be forward, backward or none, not {self.direction.data}")
        if plain(self.operand.type) != plain(self.result.type):
            raise VerifyException(f"operand and result must be one tensor: {self.operand.type}, {self.result.type}")


@irdl_op_definition
class GroupOp(forms.WrittenOp):
    """Makes a value a member of a group whose members get one layout: `dtensor.group 1 %x : T`."""

    name = "dtensor.group"
    operand = operand_def(TensorType)
    group = prop_def(IntegerAttr)
    FORM: ClassVar[forms.Form] = forms.Form(forms.Field("group", forms.NUMBER), forms.OPERANDS, types=forms.ONE)

    def __init__(self, operand: SSAValue, group: int):
        super().__init__(operands=[operand], properties={"group": IntegerAttr(group, i64)})

    @property
    def number(self) -> int:
        """The number of the group."""
        return self.group.value.data


OPS: tuple[type[Operation], ...] = (BarrierOp, GroupOp)
