"""Selection: the largest elements along the last dim, and where they were."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr, TensorType, i32, i64
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, prop_def, result_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from shardwright.dialects.stablehlo.parts import syntax
from shardwright.dialects.types import AnyTensor, shape_of, tensor, tensor_type


@irdl_op_definition
class TopKOp(IRDLOperation):
    """
    The `k` largest elements of each row, in descending order, and their places in the row.

    `chlo.top_k(%x, k = 2) : tensor<4x8xf32> -> (tensor<4x2xf32>, tensor<4x2xi32>)`

    Floats are in their total order; of equal elements those at lower places come first.
    """

    name = "chlo.top_k"
    operand = operand_def(TensorType)
    k = prop_def(IntegerAttr)
    values = result_def(TensorType)
    indices = result_def(TensorType)
    traits = traits_def(Pure())

    def __init__(self, operand: SSAValue | Operation, k: int):
        value = SSAValue.get(operand)
        result = syntax.infer(self.name, lambda: _values_type(tensor_type(value), k))
        super().__init__(
            operands=[value],
            properties={"k": IntegerAttr(k, i64)},
            result_types=[result, tensor(shape_of(result), i32)],
        )

    @property
    def count(self) -> int:
        """How many elements of each row are taken."""
        return self.k.value.data

    @classmethod
    def parse(cls, parser: Parser) -> TopKOp:
        parser.parse_punctuation("(")
        operand = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        parser.parse_keyword("k")
        parser.parse_punctuation("=")
        k = IntegerAttr(parser.parse_integer(allow_boolean=False), i64)
        parser.parse_punctuation(")")
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        position = parser.pos
        source = parser.parse_type()
        parser.parse_punctuation("->")
        results = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
        return cls.create(
            operands=parser.resolve_operands([operand], [source], position),
            result_types=results,
            properties={"k": k},
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string("(")
        printer.print_ssa_value(self.operand)
        printer.print_string(f", k = {self.count})")
        syntax.print_attributes(printer, self)
        printer.print_string(" : ")
        printer.print_attribute(self.operand.type)
        printer.print_string(" -> (")
        printer.print_list(self.result_types, printer.print_attribute)
        printer.print_string(")")

    def verify_(self) -> None:
        expected = _values_type(tensor_type(self.operand), self.count)
        syntax.check_result(self, expected)
        syntax.check_result(self, tensor(shape_of(expected), i32), 1)


def _values_type(operand: AnyTensor, k: int) -> AnyTensor:
    shape = shape_of(operand)
    if not shape or not 0 <= k <= shape[-1]:
        raise VerifyException(f"k = {k} does not fit {operand}: its last dim must have that many elements")
    return tensor((*shape[:-1], k), operand.element_type)
