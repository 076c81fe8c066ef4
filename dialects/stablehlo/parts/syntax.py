"""What the pretty syntax of StableHLO's ops shares: operands, attributes, and types that are written once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar, cast

from xdsl.dialects.builtin import ComplexType, Float32Type, Float64Type, IntegerAttr, f32, f64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import IRDLOperation
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from shardwright.diagnostics import Diagnostic, ShardwrightValueError
from shardwright.dialects.types import AnyTensor

OpT = TypeVar("OpT", bound=IRDLOperation)


def infer(name: str, rule: Callable[[], AnyTensor]) -> AnyTensor:
    """The result type by an op's rule; what does not fit is the caller's mistake (SW0301)."""
    try:
        return rule()
    except VerifyException as error:
        raise ShardwrightValueError(
            Diagnostic("SW0301", f"'{name}': {error}", help="make shapes and element types fit the op")
        ) from error


def parse_operands(parser: Parser, count: int) -> list[UnresolvedOperand]:
    """Reads `%a, %b` of exactly `count` operands."""
    operands = [parser.parse_unresolved_operand()]
    for _ in range(count - 1):
        parser.parse_punctuation(",")
        operands.append(parser.parse_unresolved_operand())
    return operands


def truth(attribute: Attribute | None) -> bool:
    """A boolean attribute's value; False when it is absent."""
    return isinstance(attribute, IntegerAttr) and bool(cast("IntegerAttr[Any]", attribute).value.data)


def complex_of(element_type: Attribute) -> Attribute:
    """Complex numbers whose parts are these floats; `VerifyException` when there are none such."""
    if element_type not in (f32, f64):
        raise VerifyException(f"there are no complex numbers with parts of type {element_type}")
    return ComplexType(cast("Float32Type | Float64Type", element_type))


def parse_signature(parser: Parser) -> tuple[list[Attribute], list[Attribute]]:
    """Reads `(t, t) -> t` or `(t, t) -> (t, t)`."""
    inputs = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
    parser.parse_punctuation("->")
    outputs = parser.parse_optional_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
    found = [parser.parse_type()] if outputs is None else outputs
    return list[Attribute](inputs), list[Attribute](found)


def parse_rest(
    parser: Parser,
    op: type[OpT],
    operands: Sequence[UnresolvedOperand],
    properties: Mapping[str, Attribute],
    *,
    short: Callable[[Attribute], tuple[Sequence[Attribute], Sequence[Attribute]]] | None = None,
) -> OpT:
    """
    Reads attributes and types, and builds the op.

    The types are a signature; where the op has a `short` form, one type may stand for operand and result types.
    """
    return parse_end(parser, op, operands, properties, lambda: parse_types(parser, short))


def parse_end(
    parser: Parser,
    op: type[OpT],
    operands: Sequence[UnresolvedOperand],
    properties: Mapping[str, Attribute],
    types: Callable[[], tuple[Sequence[Attribute], Sequence[Attribute]]] | None,
) -> OpT:
    """Reads attributes, and the types where the op has any, and builds the op."""
    attributes = parser.parse_optional_attr_dict()
    found = dict(properties)
    if attributes:
        found |= take_properties(op, attributes)
    if types is None:
        return op.create(properties=found, attributes=attributes)
    parser.parse_punctuation(":")
    position = parser.pos
    inputs, outputs = types()
    return op.create(
        operands=parser.resolve_operands(operands, inputs, position),
        result_types=outputs,
        properties=found,
        attributes=attributes,
    )


def parse_types(
    parser: Parser, short: Callable[[Attribute], tuple[Sequence[Attribute], Sequence[Attribute]]] | None
) -> tuple[Sequence[Attribute], Sequence[Attribute]]:
    """Reads a signature, or the one type of the short form."""
    if short is not None and (only := parse_tensor(parser)) is not None:
        return short(only)
    return parse_signature(parser)


def parse_tensor(parser: Parser) -> Attribute | None:
    """Reads a type, unless a signature's parenthesis stands here."""
    content = parser.lexer.input.content
    return None if content.startswith("(", parser.pos) else parser.parse_type()


def parse_argument(parser: Parser) -> Parser.Argument:
    """Reads `%a: t loc(...)`."""
    argument = parser.parse_argument()
    argument.location = parser.parse_optional_location()
    return argument


def take_properties(op: type[IRDLOperation], attributes: dict[str, Attribute]) -> dict[str, Attribute]:
    """Moves an op's own properties out of the attribute dictionary, where the pretty form writes some of them."""
    names = op.get_irdl_definition().properties
    return {name: attributes.pop(name) for name in list(attributes) if name in names}


def print_operands(printer: Printer, values: Sequence[SSAValue]) -> None:
    """Prints ` %a, %b`."""
    separator = " "
    for value in values:
        printer.print_string(separator)
        printer.print_ssa_value(value)
        separator = ", "


def print_attributes(printer: Printer, op: Operation, *shown: str) -> None:
    """Prints the attribute dictionary, with the properties named `shown` where the op has them."""
    extra = {name: op.properties[name] for name in shown if name in op.properties}
    printer.print_op_attributes(op.attributes | extra if extra else op.attributes)


def print_signature(printer: Printer, op: Operation) -> None:
    """Prints ` : (t, t) -> t`."""
    printer.print_string(" : ")
    printer.print_function_type(op.operand_types, op.result_types)


def print_type_or_signature(printer: Printer, op: Operation) -> None:
    """Prints ` : t` when all types are equal, layouts included, else the signature."""
    only = op.results[0].type
    if any(value.type != only for value in op.operands):
        print_signature(printer, op)
        return
    printer.print_string(" : ")
    printer.print_attribute(only)


def check_result(op: Operation, expected: AnyTensor, index: int = 0) -> None:
    """Checks a result's shape and element type, layouts aside."""
    found = cast(AnyTensor, op.results[index].type)
    if found is expected:
        return
    if found.shape != expected.shape or found.element_type != expected.element_type:
        raise VerifyException(f"the result must be {expected}, not {found}")
