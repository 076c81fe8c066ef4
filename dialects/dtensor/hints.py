"""Hints to propagation in the `dtensor` dialect: barriers, and groups of values with one layout."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr, StringAttr, TensorType, i64
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, prop_def, result_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from shardwright.dialects.types import plain

FORWARD = "forward"
BACKWARD = "backward"
NONE = "none"


@irdl_op_definition
class BarrierOp(IRDLOperation):
    """
    A value whose layout spreads through here in one direction, or in none: `dtensor.barrier forward %x : T -> T`.
    """

    name = "dtensor.barrier"
    operand = operand_def(TensorType)
    result = result_def(TensorType)
    direction = prop_def(StringAttr)
    traits = traits_def(Pure())

    def __init__(self, operand: SSAValue, direction: str):
        super().__init__(
            operands=[operand], result_types=[plain(operand.type)], properties={"direction": StringAttr(direction)}
        )

    @classmethod
    def parse(cls, parser: Parser) -> BarrierOp:
        direction = StringAttr(parser.parse_keyword_in((FORWARD, BACKWARD, NONE)))
        operand = parser.parse_unresolved_operand()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        source = parser.parse_type()
        parser.parse_punctuation("->")
        return cls.create(
            operands=[parser.resolve_operand(operand, source)],
            result_types=[parser.parse_type()],
            properties={"direction": direction},
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.direction.data} ")
        printer.print_ssa_value(self.operand)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.operand.type)
        printer.print_string(" -> ")
        printer.print_attribute(self.result.type)

    def verify_(self) -> None:
        if self.direction.data not in (FORWARD, BACKWARD, NONE):
            raise VerifyException(f"the direction must be forward, backward or none, not {self.direction.data}")
        if plain(self.operand.type) != plain(self.result.type):
            raise VerifyException(f"operand and result must be one tensor: {self.operand.type}, {self.result.type}")


@irdl_op_definition
class GroupOp(IRDLOperation):
    """Makes a value a member of a group whose members get one layout: `dtensor.group 1 %x : T`."""

    name = "dtensor.group"
    operand = operand_def(TensorType)
    group = prop_def(IntegerAttr)

    def __init__(self, operand: SSAValue, group: int):
        super().__init__(operands=[operand], properties={"group": IntegerAttr(group, i64)})

    @property
    def number(self) -> int:
        """The number of the group."""
        return self.group.value.data

    @classmethod
    def parse(cls, parser: Parser) -> GroupOp:
        group = IntegerAttr(parser.parse_integer(allow_boolean=False), i64)
        operand = parser.parse_unresolved_operand()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        source = parser.parse_type()
        return cls.create(
            operands=[parser.resolve_operand(operand, source)], properties={"group": group}, attributes=attributes
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.number} ")
        printer.print_ssa_value(self.operand)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.operand.type)


OPS: tuple[type[Operation], ...] = (BarrierOp, GroupOp)
