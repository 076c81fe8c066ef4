"""Ops along one dim: the largest elements, and functions that carry something from each element to the next."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import BoolAttr, IntegerAttr, TensorType, i32, i64
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    AttrSizedResultSegments,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure, RecursiveMemoryEffect
from xdsl.utils.exceptions import VerifyException

from shardwright.dialects.building import returned
from shardwright.dialects.stablehlo import ReturnOp
from shardwright.dialects.stablehlo.parts import syntax
from shardwright.dialects.stablehlo.parts.attributes import parse_integer
from shardwright.dialects.types import AnyTensor, element_of, shape_of, tensor, tensor_type


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


@irdl_op_definition
class ScanOp(IRDLOperation):
    """
    Applies a body to the elements along a dim in turn: it takes one of each input, and what it gave the last time.

    `%0:2 = chlo.scan(%x) inits(%c) dimension=0 attributes {is_reverse = true} { ^bb0(%a: t, %b: t): ... } : (...) -> t`

    The body takes the inputs without that dim and the carried values, and returns what becomes one element of each
    output and the next carried values. `is_associative` says that the order of its application does not matter.
    """

    name = "chlo.scan"
    inputs = var_operand_def(TensorType)
    inits = var_operand_def(TensorType)
    dimension = prop_def(IntegerAttr)
    is_reverse = opt_prop_def(BoolAttr)
    is_associative = opt_prop_def(BoolAttr)
    outputs = var_result_def(TensorType)
    carries = var_result_def(TensorType)
    body = region_def("single_block")
    irdl_options = (AttrSizedOperandSegments(as_property=True), AttrSizedResultSegments(as_property=True))
    traits = traits_def(Pure(), RecursiveMemoryEffect())

    def __init__(self, inputs: Sequence[SSAValue], inits: Sequence[SSAValue], dim: int, body: Region):
        extent = shape_of(inputs[0])[dim]
        made = returned(body.block)[: len(returned(body.block)) - len(inits)]
        super().__init__(
            operands=[list(inputs), list(inits)],
            properties={"dimension": IntegerAttr(dim, i64)},
            result_types=[[_with(value, dim, extent) for value in made], [init.type for init in inits]],
            regions=[body],
        )

    @property
    def dim(self) -> int:
        """The dim along which the body is applied."""
        return self.dimension.value.data

    @property
    def reverse(self) -> bool:
        """Whether the last element comes first."""
        return self.is_reverse is not None and bool(self.is_reverse.value.data)

    def verify_(self) -> None:
        inputs, inits = list(self.inputs), list(self.inits)
        if not inputs or any(len(shape_of(value)) <= self.dim for value in inputs):
            raise VerifyException(f"needs inputs that have dim {self.dim}")
        extent = shape_of(inputs[0])[self.dim]
        if any(shape_of(value)[self.dim] != extent for value in (*inputs, *self.outputs)):
            raise VerifyException(f"needs {extent} elements along dim {self.dim} of each input and output")
        takes = [*(_without(value, self.dim) for value in inputs), *(_type(value) for value in inits)]
        gives = [*(_without(value, self.dim) for value in self.outputs), *(_type(value) for value in inits)]
        if [_type(argument) for argument in self.body.block.args] != takes:
            raise VerifyException(f"the body must take {', '.join(map(str, takes))}")
        last = self.body.block.last_op
        if not isinstance(last, ReturnOp) or [_type(value) for value in last.operands] != gives:
            raise VerifyException(f"the body must return {', '.join(map(str, gives))}")

    @classmethod
    def parse(cls, parser: Parser) -> ScanOp:
        groups = [parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_unresolved_operand)]
        parser.parse_keyword("inits")
        groups.append(parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_unresolved_operand))
        parser.parse_keyword("dimension")
        parser.parse_punctuation("=")
        properties = {"dimension": IntegerAttr(parse_integer(parser), i64)}
        written = parser.parse_optional_attr_dict_with_keyword()
        attributes = {} if written is None else dict(written.data)
        flags = {name: attributes.pop(name) for name in ("is_reverse", "is_associative") if name in attributes}
        body = parser.parse_region()
        parser.parse_punctuation(":")
        position = parser.pos
        signature = parser.parse_function_type()
        operands = [operand for group in groups for operand in group]
        values = parser.resolve_operands(operands, list(signature.inputs), position)
        split = len(signature.outputs) - len(groups[1])
        op = cls.build(
            operands=[values[: len(groups[0])], values[len(groups[0]) :]],
            result_types=[list(signature.outputs)[:split], list(signature.outputs)[split:]],
            properties={**properties, **flags},
            regions=[body],
        )
        op.attributes = attributes
        return op

    def print(self, printer: Printer) -> None:
        for words, values in (("", self.inputs), (" inits", self.inits)):
            printer.print_string(words)
            with printer.in_parens():
                printer.print_list(values, printer.print_ssa_value)
        printer.print_string(f" dimension={self.dim}")
        names = ("is_associative", "is_reverse")
        flags = {name: self.properties[name] for name in names if name in self.properties}
        if flags or self.attributes:
            printer.print_string(" attributes")
            printer.print_op_attributes({**flags, **self.attributes})
        printer.print_string(" ")
        printer.print_region(self.body)
        printer.print_string(" : ")
        printer.print_function_type(self.operand_types, self.result_types)


def _type(value: SSAValue) -> AnyTensor:
    return tensor(shape_of(value), element_of(value))


def _without(value: SSAValue, dim: int) -> AnyTensor:
    shape = shape_of(value)
    return tensor((*shape[:dim], *shape[dim + 1 :]), element_of(value))


def _with(value: SSAValue, dim: int, extent: int) -> AnyTensor:
    shape = shape_of(value)
    return tensor((*shape[:dim], extent, *shape[dim:]), element_of(value))


def applied(op: ScanOp) -> Operation | None:
    """The one op of a body that combines an element with what is carried, and gives that on both sides."""
    block: Block = op.body.block
    first, last = block.first_op, block.last_op
    if first is None or last is None or first.next_op is not last or len(block.args) != 2 or len(first.results) != 1:
        return None
    both = list(last.operands) == [first.results[0]] * 2
    return first if both and set(first.operands) == set(block.args) else None
