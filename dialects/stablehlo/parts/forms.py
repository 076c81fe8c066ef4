"""
The pretty form of ops as data: what stands between an op's name and its types, in order.

`Form(OPERANDS, Field("permutation", DIMS, ", dims = "))` reads and writes
`stablehlo.transpose %x, dims = [1, 0] {...} : (tensor<4x8xf32>) -> tensor<8x4xf32>`.
"""

from __future__ import annotations

import re
from abc import ABC
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self, TypeAlias, cast

from xdsl.dialects.builtin import IntegerAttr, StringAttr, SymbolRefAttr, TensorType, i64
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import IRDLOperation, VariadicDef, result_def, traits_def
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.mlir_lexer import PunctuationSpelling

from shardwright.dialects.stablehlo.parts import syntax
from shardwright.dialects.stablehlo.parts.attributes import parse_dims, parse_integer
from shardwright.dialects.text.data import TextAttr
from shardwright.dialects.text.literals import parse_name
from shardwright.dialects.types import AnyTensor, integers, tensor_type

TypeLists: TypeAlias = tuple[Sequence[Attribute], Sequence[Attribute]]
"""The types of operands and of results."""


@dataclass(frozen=True)
class Spelling:
    """How a property is written where the op says what it is; an empty text is not written at all."""

    read: Callable[[Parser], Attribute]
    text: Callable[[Any], str]


DIMS = Spelling(lambda parser: integers(parse_dims(parser)), lambda dims: str(list(dims.get_values())))
NUMBER = Spelling(lambda parser: IntegerAttr(parse_integer(parser), i64), lambda number: str(number.value.data))
TEXT = Spelling(lambda parser: StringAttr(parse_name(parser)), str)
SYMBOL = Spelling(lambda parser: parser.parse_symbol_name(), lambda name: str(SymbolRefAttr(name)))
"""The name that a symbol defines."""


def one_of(attribute: type[EnumAttribute[Any]]) -> Spelling:
    """A word of an enumeration."""
    return Spelling(
        lambda parser: attribute(parser.parse_str_enum(attribute.enum_type)), lambda found: found.data.value
    )


def spelled(attribute: type[TextAttr[Any]]) -> Spelling:
    """The text of an attribute's data; an attribute that is written out, or an alias of one, is read as well."""

    def read(parser: Parser) -> Attribute:
        position = parser.pos
        written = parser.parse_optional_attribute() if parser.lexer.input.content.startswith("#", position) else None
        if written is None:
            return attribute(attribute.READ(parser))
        if not isinstance(written, attribute):
            parser.raise_error(f"expected an attribute like #{attribute.name}, not {written}", position)
        return written

    return Spelling(read, lambda found: attribute.TEXT(found.data))


class Field:
    """
    A property and the words before it.

    An optional one stands where its first word does; one `beside` another stands where that one does.
    """

    def __init__(
        self, name: str, spelling: Spelling, words: str = " ", *, optional: bool = False, beside: str = ""
    ) -> None:
        self.name = name
        self._spelling, self._words, self._optional, self._beside = spelling, words, optional, beside
        self._tokens = re.findall(r"\w+|[^\w\s]", words)

    def read(self, parser: Parser, found: dict[str, Attribute]) -> None:
        """Reads the words and the property, where they stand."""
        if self._beside and self._beside not in found:
            return
        for number, token in enumerate(self._tokens):
            optional = self._optional and not number
            if not _parse_token(parser, token, optional=optional):
                return
        found[self.name] = self._spelling.read(parser)

    def text(self, op: Operation) -> str:
        """What `read` reads; nothing where the op lacks the property."""
        attribute = op.properties.get(self.name)
        text = "" if attribute is None else self._spelling.text(attribute)
        return self._words + text if text else ""


def _parse_token(parser: Parser, token: str, *, optional: bool) -> bool:
    """Reads a word or a punctuation mark; whether it stands here, where it is optional."""
    if token.isidentifier():
        found = parser.parse_optional_keyword(token) if optional else parser.parse_keyword(token)
    else:
        mark = cast(PunctuationSpelling, token)
        found = parser.parse_optional_punctuation(mark) if optional else parser.parse_punctuation(mark)
    return found is not None


@dataclass(frozen=True)
class Operands:
    """Where the operands stand: ` %x, %y`, of an op that takes any number of them at least as many as `least`."""

    least: int = 0
    followed: bool = False
    """Whether a comma follows each of them, also the last one, and a field after it."""
    gap: bool = False
    """Whether one more comma may stand there."""
    parens: bool = False
    """Whether they stand in parentheses."""

    def read(self, parser: Parser, op: type[IRDLOperation]) -> list[UnresolvedOperand]:
        """Reads as many as the op takes."""
        if self.parens:
            return parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_unresolved_operand)
        kinds = op.get_irdl_definition().operands
        if self.followed:
            return self._parse_followed(parser)
        if not any(isinstance(kind, VariadicDef) for _, kind in kinds):
            return syntax.parse_operands(parser, len(kinds)) if kinds else []
        if self.least:
            return parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_unresolved_operand)
        found = parser.parse_optional_undelimited_comma_separated_list(
            parser.parse_optional_unresolved_operand, parser.parse_unresolved_operand
        )
        return found or []

    def write(self, printer: Printer, op: Operation) -> None:
        """Writes what `read` reads."""
        if self.parens:
            with printer.in_parens():
                printer.print_list(op.operands, printer.print_ssa_value)
            return
        syntax.print_operands(printer, op.operands)
        if self.followed:
            printer.print_string(",")

    def _parse_followed(self, parser: Parser) -> list[UnresolvedOperand]:
        operands = [parser.parse_unresolved_operand()]
        parser.parse_punctuation(",")
        while (operand := parser.parse_optional_unresolved_operand()) is not None:
            operands.append(operand)
            parser.parse_punctuation(",")
        if self.gap:
            parser.parse_optional_punctuation(",")
        return operands


OPERANDS = Operands()


@dataclass(frozen=True)
class Types:
    """How the types at the end are written."""

    read: Callable[[Parser, type[IRDLOperation]], TypeLists]
    write: Callable[[Printer, Operation], None]


def _read_function(parser: Parser, op: type[IRDLOperation]) -> TypeLists:
    signature = parser.parse_function_type()
    return list(signature.inputs), list(signature.outputs)


def _read_one(parser: Parser, op: type[IRDLOperation]) -> TypeLists:
    return _same(op, parser.parse_type())


def _same(op: type[IRDLOperation], only: Attribute) -> TypeLists:
    definition = op.get_irdl_definition()
    return [only] * len(definition.operands), [only] * len(definition.results)


def _print_one(printer: Printer, op: Operation) -> None:
    printer.print_string(" : ")
    printer.print_attribute((*op.operand_types, *op.result_types)[0])


def _read_arrow(parser: Parser, op: type[IRDLOperation]) -> TypeLists:
    source = parser.parse_type()
    parser.parse_punctuation("->")
    return [source], [parser.parse_type()]


def _print_arrow(printer: Printer, op: Operation) -> None:
    _print_one(printer, op)
    printer.print_string(" -> ")
    printer.print_attribute(op.results[0].type)


SIGNATURE = Types(lambda parser, op: syntax.parse_signature(parser), syntax.print_signature)
"""`: (t, t) -> t`."""
FUNCTION = Types(_read_function, syntax.print_signature)
"""The same, read as one type."""
ONE = Types(_read_one, _print_one)
"""`: t`, the type of all operands and results."""
ONE_OR_SIGNATURE = Types(
    lambda parser, op: syntax.parse_types(parser, lambda only: _same(op, only)), syntax.print_type_or_signature
)
"""`: t` where all have it, else a signature."""
ARROW = Types(_read_arrow, _print_arrow)
"""`: t -> t`, of one operand and one result."""


class Form:
    """
    The parts of an op's text in order, and its types.

    `implied` properties follow from others and are not written; all others stand in the attribute dictionary, sorted.
    """

    def __init__(self, *parts: Field | Operands, types: Types | None = SIGNATURE, implied: Sequence[str] = ()) -> None:
        self.parts = parts
        self._types = types
        self._named = {*implied, *(part.name for part in parts if isinstance(part, Field))}

    def read(self, parser: Parser, op: type[syntax.OpT]) -> syntax.OpT:
        """Reads what stands behind the op's name."""
        operands, found = self.read_parts(parser, op)
        types = self._types
        return syntax.parse_end(parser, op, operands, found, None if types is None else lambda: types.read(parser, op))

    def read_parts(
        self, parser: Parser, op: type[IRDLOperation]
    ) -> tuple[list[UnresolvedOperand], dict[str, Attribute]]:
        """Reads the parts alone: operands and properties."""
        operands: list[UnresolvedOperand] = []
        found: dict[str, Attribute] = {}
        for part in self.parts:
            if isinstance(part, Field):
                part.read(parser, found)
            else:
                operands = part.read(parser, op)
        return operands, found

    def write(self, printer: Printer, op: Operation) -> None:
        """Writes what `read` reads."""
        self.write_parts(printer, op)
        syntax.print_attributes(printer, op, *sorted(op.properties.keys() - self._named))
        if self._types is not None:
            self._types.write(printer, op)

    def write_parts(self, printer: Printer, op: Operation) -> None:
        """Writes what `read_parts` reads."""
        for part in self.parts:
            if isinstance(part, Field):
                printer.print_string(part.text(op))
            else:
                part.write(printer, op)

    def arguments_text(self, op: Operation) -> str:
        """What stands there of the op's properties."""
        return "".join(part.text(op) for part in self.parts if isinstance(part, Field)).strip()


class WrittenOp(IRDLOperation, ABC):
    """An op whose text its form describes."""

    FORM: ClassVar[Form]

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        return cls.FORM.read(parser, cls)

    def print(self, printer: Printer) -> None:
        self.FORM.write(printer, self)


class TensorOp(IRDLOperation, ABC):
    """An op without effects whose one result is a tensor."""

    result = result_def(TensorType)
    traits = traits_def(Pure())


TypeRule: TypeAlias = Callable[..., AnyTensor]


class ShapedOp(TensorOp, ABC):
    """
    An op of one result, whose type a rule makes of the operands' types and the properties.

    The rule is called with the types in order, and with the properties by name; `VerifyException` says what is wrong.
    """

    RULE: ClassVar[TypeRule]

    def make(self, operands: Sequence[SSAValue | Operation], properties: Mapping[str, Attribute]) -> None:
        """Makes the op, with the type by the rule; what does not fit is the caller's mistake (SW0301)."""
        values = [SSAValue.get(operand) for operand in operands]
        result = syntax.infer(self.name, lambda: self.RULE(*map(tensor_type, values), **properties))
        # Flat operands, as `create` takes them: there is nothing to sort into the op's own fields.
        Operation.__init__(self, operands=values, properties=properties, result_types=[result])

    def verify_(self) -> None:
        syntax.check_result(self, self.RULE(*map(tensor_type, self.operands), **self.properties))
