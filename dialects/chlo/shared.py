"""What the pointwise functions of CHLO share: their syntax, and how they are built."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import Any, ClassVar

from xdsl.dialects.builtin import TensorType, i1
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import operand_def
from xdsl.parser import Parser
from xdsl.printer import Printer

from shardwright.dialects.stablehlo.elementwise import ElementwiseOp, pointwise
from shardwright.dialects.stablehlo.parts import syntax
from shardwright.dialects.types import tensor_type


class ChloOp(ElementwiseOp, ABC):
    """A pointwise function: `chlo.erf %x : tensor<4xf32> -> tensor<4xf32>`."""

    KINDS: ClassVar[str] = "fc"

    @classmethod
    def parse(cls, parser: Parser) -> ChloOp:
        operands = syntax.parse_operands(parser, len(cls.get_irdl_definition().operands))
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        position = parser.pos
        inputs = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        parser.parse_punctuation("->")
        result = parser.parse_type()
        values = parser.resolve_operands(operands, inputs, position)
        return cls.create(operands=values, result_types=[result], attributes=attributes)

    def print(self, printer: Printer) -> None:
        syntax.print_operands(printer, self.operands)
        syntax.print_attributes(printer, self)
        printer.print_string(" : ")
        printer.print_list(self.operand_types, printer.print_attribute)
        printer.print_string(" -> ")
        printer.print_attribute(self.result.type)

    def _build(self, operands: Sequence[SSAValue | Operation]) -> None:
        values = [SSAValue.get(operand) for operand in operands]
        result = syntax.infer(self.name, lambda: self.result_type([tensor_type(value) for value in values]))
        super().__init__(operands=values, result_types=[result])


class ChloUnaryOp(ChloOp, ABC):
    """A function of one operand."""

    operand = operand_def(TensorType)

    def __init__(self, operand: SSAValue | Operation):
        self._build([operand])


class ChloBinaryOp(ChloOp, ABC):
    """A function of two operands: `chlo.zeta %x, %q : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>`."""

    KINDS: ClassVar[str] = "f"
    lhs = operand_def(TensorType)
    rhs = operand_def(TensorType)

    def __init__(self, lhs: SSAValue | Operation, rhs: SSAValue | Operation):
        self._build([lhs, rhs])


class ChloPredicateOp(ChloUnaryOp, ABC):
    """A test of one operand: the result is i1."""

    KINDS: ClassVar[str] = "f"

    @classmethod
    def result_element(cls, element_type: Attribute) -> Attribute:
        return i1


def function(name: str, meaning: str, **more: Any) -> type[ChloUnaryOp]:
    """The class of a function of one operand; see `pointwise`."""
    return pointwise(ChloUnaryOp, name, meaning, **more)


def function_of_two(name: str, meaning: str, **more: Any) -> type[ChloBinaryOp]:
    """The class of a function of two operands; see `pointwise`."""
    return pointwise(ChloBinaryOp, name, meaning, **more)


def test(name: str, meaning: str, **more: Any) -> type[ChloPredicateOp]:
    """The class of a test of one operand; see `pointwise`."""
    return pointwise(ChloPredicateOp, name, meaning, **more)
