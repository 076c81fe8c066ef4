"""
Every private override of xDSL 0.74 and 0.75, in one place: a lexer, a parser and a printer that fix its faults.

Each override names the fault it covers; `tests/unit/dialects/test_xdsl_patches.py` fails when xDSL changes under it.
"""

from __future__ import annotations

import io
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, lru_cache
from operator import attrgetter
from types import FunctionType
from typing import Any, NoReturn, cast

from xdsl.context import Context
from xdsl.dialects import builtin
from xdsl.dialects.builtin import (
    ArrayAttr,
    CallSiteLoc,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    FileLineColLoc,
    FusedLoc,
    IntAttr,
    IntegerAttr,
    IntegerType,
    LocationAttr,
    ModuleOp,
    NameLoc,
    NoneAttr,
    StringAttr,
    SymbolRefAttr,
    TensorType,
    UnknownLoc,
)
from xdsl.ir import (
    Attribute,
    Block,
    BuiltinAttribute,
    Operation,
    OpResult,
    ParametrizedAttribute,
    Region,
    SSAValue,
    TypeAttribute,
)
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.parser.core import ForwardDeclaredValue
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, OpTrait
from xdsl.utils.exceptions import ParseError, VerifyException
from xdsl.utils.lexer import Input, Span, Token
from xdsl.utils.mlir_lexer import KIND_BY_PUNCTUATION_SPELLING, MLIRLexer, MLIRTokenKind

from shardwright.dialects.text import literals
from shardwright.dialects.types import LARGEST_EXTENT, AnyTensor, plain_tensor

IMPLIED_LOCATION = UnknownLoc()
"""The location, by identity, of ops that the text implies: they get that of the op that implies them."""

_TOKEN = re.compile(
    r"""(?:\s|//[^\n]*)*+
    (?:(?P<value>%(?:[0-9]+|[a-zA-Z$._-][a-zA-Z0-9$._-]*))
     |(?P<bare>[a-zA-Z_][a-zA-Z0-9_$.]*)
     |(?P<punctuation>->|\.\.\.|\{-\#|\#-\}|[:,(){}\[\]<>=+/*?|-])
     |(?P<integer>0x[0-9a-fA-F]+|[0-9]++(?!\.))
     |(?P<float>[0-9]+\.[0-9]*(?:[eE][+-]?[0-9]+)?)
     |(?P<string>"[^"\\\n\v\f]*")
     |(?P<symbol>@[a-zA-Z_][a-zA-Z0-9_$.]*)
     |(?P<hash>\#(?:[0-9]+|[a-zA-Z$._-][a-zA-Z0-9$._-]*))
     |(?P<exclamation>!(?:[0-9]+|[a-zA-Z$._-][a-zA-Z0-9$._-]*))
     |(?P<caret>\^(?:[0-9]+|[a-zA-Z$._-][a-zA-Z0-9$._-]*))
    )""",
    re.VERBOSE | re.ASCII,
)
SPACE = re.compile(r"(?:\s+|//[^\n]*)*", re.ASCII)
_STRING = re.compile(r'"(?:[^"\\\n\v\f]|\\(?:["nt\\]|[0-9A-Fa-f]{2}))*"')
_KIND_BY_GROUP = {
    "value": MLIRTokenKind.PERCENT_IDENT,
    "bare": MLIRTokenKind.BARE_IDENT,
    "integer": MLIRTokenKind.INTEGER_LIT,
    "float": MLIRTokenKind.FLOAT_LIT,
    "string": MLIRTokenKind.STRING_LIT,
    "symbol": MLIRTokenKind.AT_IDENT,
    "hash": MLIRTokenKind.HASH_IDENT,
    "exclamation": MLIRTokenKind.EXCLAMATION_IDENT,
    "caret": MLIRTokenKind.CARET_IDENT,
}


_SIGILS = frozenset("%#!^")


class _FastToken(Token[MLIRTokenKind, str]):
    """A token that makes its span only when asked: most are never asked."""

    __slots__ = ("_input", "_text", "end", "start")

    def __init__(self, kind: MLIRTokenKind, start: int, end: int, text: str, source: Input[str]) -> None:
        self.kind = kind
        self.start = start
        self.end = end
        self._text = text
        self._input = source

    @property
    def span(self) -> Span[str]:  # pyright: ignore[reportIncompatibleVariableOverride]
        return Span(self.start, self.end, self._input)

    @property
    def text(self) -> str:
        return self._text


class _FastLexer(MLIRLexer):
    """One regular expression per token; the stock lexer's string pattern also backtracks exponentially."""

    def lex(self) -> Token[MLIRTokenKind, str]:
        content = self.input.content
        match = _TOKEN.match(content, self.pos)
        if match is None:
            return self._rare(content)
        group = cast(str, match.lastgroup)
        start, end = match.span(group)
        self.pos = end
        text = match.group(group)
        kind = KIND_BY_PUNCTUATION_SPELLING[text] if group == "punctuation" else _KIND_BY_GROUP[group]
        return _FastToken(kind, start, end, text, self.input)

    def _rare(self, content: str) -> Token[MLIRTokenKind, str]:
        """The end of the text, strings with escapes, and characters that start no token."""
        start = cast("re.Match[str]", SPACE.match(content, self.pos)).end()
        string = content[start : start + 2] in ('@"',) or content[start : start + 1] == '"'
        if string and _STRING.match(content, start + (content[start] == "@")) is None:
            raise ParseError(Span(start, start + 1, self.input), "the string is not closed on its line")
        if content[start : start + 1] in _SIGILS:
            found = content[start + 1 : start + 2]
            what = f"not {found!r}" if found.strip() else "but nothing does"
            message = f"a name of ASCII letters, digits and $._- must follow '{content[start]}', {what}"
            raise ParseError(Span(start, start + 1, self.input), message)
        self.pos = start
        return super().lex()


@irdl_attr_definition
class FileLineColRange(ParametrizedAttribute, BuiltinAttribute):
    """
    A range of the user's source: `loc("f.py":1:2 to 3:4)`.

    xDSL has none. It stands for its start wherever one place is needed.
    """

    name = "builtin.file_line_col_range"

    start: FileLineColLoc
    end_line: IntAttr
    end_column: IntAttr

    def print_builtin(self, printer: Printer) -> None:
        with printer.in_location():
            self.start.print_builtin(printer)
            same = self.end_line == self.start.line
            printer.print_string(f" to {'' if same else self.end_line.data}:{self.end_column.data}")


@lru_cache(maxsize=1 << 16)
def _int_attr(value: int) -> IntAttr:
    return IntAttr(value)


@lru_cache(maxsize=1024)
def _string_attr(value: str) -> StringAttr:
    return StringAttr(value)


def unchecked(attribute: type[ParametrizedAttribute], **fields: Attribute) -> Any:
    """An attribute built without xDSL's verification of its fields, which costs ten times the rest."""
    made = attribute.__new__(attribute)
    for name, value in fields.items():
        object.__setattr__(made, name, value)
    return made


def restore_name(named: SSAValue | Block, name: str) -> None:
    """Gives a value or block exactly this name: setting `name_hint` takes a number at its end for xDSL's own."""
    named._name = name  # pyright: ignore[reportPrivateUsage]


def file_location(file: str, line: int, column: int) -> FileLineColLoc:
    """`loc("file":line:column)`, cheaply."""
    return unchecked(FileLineColLoc, filename=_string_attr(file), line=_int_attr(line), column=_int_attr(column))


_PLAIN_TENSOR = re.compile(r"tensor<((?:[0-9]+x)*)([a-zA-Z][a-zA-Z0-9]*)>")
_NESTED = r"[^<>\"]|->|\"[^\"\n]*\""
_ANGLED = rf"<(?:{_NESTED}|<(?:{_NESTED}|<(?:{_NESTED})*>)*>)*>"
_ANY_TENSOR = re.compile(rf"tensor{_ANGLED}")
_DENSE_BODY = re.compile(r'<((?:[^>"\n]|\n|"[^"\n]*")*)>')
_ALIAS = re.compile(r"^[ \t]*([#!][a-zA-Z0-9$._-]+)[ \t]*=", re.MULTILINE)


class LabelledParseError(ParseError):
    """An error that is about a value as well, of which `text` is to be said."""

    def __init__(self, span: Span[str], message: str, value: SSAValue, text: str) -> None:
        super().__init__(span, message)
        self.value, self.text = value, text


def _most(found: TensorType[Attribute]) -> str:
    """What the bounds of a type say of its dynamic dims."""
    bounds: Any = found.encoding
    if bounds.name != "stablehlo.bounds" or len(bounds.data) != found.get_num_dims():
        return ""
    whole = "x".join(
        str(size if bound is None else bound) for size, bound in zip(found.get_shape(), bounds.data, strict=True)
    )
    return f", whose bounds say tensor<{whole}x{found.element_type}> at most"


class LocatedParser(Parser):
    """
    xDSL's parser without its faults; what each method covers:

    - `dense<0xFF800000>` is minus infinity, i1 is true or false, splats keep one element (`literals`);
    - every op and block argument gets its place in the text; ranges, fused locations and late aliases are read;
    - regions do not copy the table of values, types are read once, literals cost no constraint;
    - a value that is never defined is an error at its first use, within its function.
    """

    def __init__(self, ctx: Context, text: str, name: str = "<text>", line_offset: int = 0) -> None:
        self._types: dict[str, TypeAttribute] = {}
        self._literals: dict[tuple[str, Attribute], Any] = {}
        self._aliases: dict[str, int] | None = None
        self._resolving: set[str] = set()
        self._first_uses: dict[str, Span[str]] = {}
        self._scope: list[str] = []
        self._op_classes: dict[tuple[str, str], type[Operation]] = {}
        self._explicit: LocationAttr | None = None
        self._last_op: Operation | None = None
        self.line_offset = line_offset
        self._line_starts = [0, *(match.end() for match in re.finditer("\n", text))]
        super().__init__(ctx, "", name)
        lexer = _FastLexer(Input(text, name))
        self._parser_state.lexer = lexer
        self._parser_state.current_token = lexer.lex()

    # Places

    def place(self, position: int) -> tuple[int, int]:
        """The line and column of a position in the text, both from 1."""
        line = bisect_right(self._line_starts, position)
        return line + self.line_offset, position - self._line_starts[line - 1] + 1

    def location_at(self, position: int) -> FileLineColLoc:
        """The location of a position in the text."""
        return file_location(self.lexer.input.name, *self.place(position))

    def parse_optional_location(self) -> LocationAttr | None:
        # The stock parser reads no ranges, no metadata of fused locations and no aliases that are defined later.
        self._explicit = None
        if self._current_token.text == "loc":
            self._consume_token()
            with self.in_parens():
                self._explicit = self._parse_location()
        return self._explicit

    def _parse_location(self) -> LocationAttr:
        token = self._current_token
        if token.kind is MLIRTokenKind.HASH_IDENT:
            attribute = self.parse_attribute()
            if not isinstance(attribute, LocationAttr | FileLineColRange):
                self.raise_error(f"{token.text} is no location", token.span)
            return cast(LocationAttr, attribute)
        if token.kind in (MLIRTokenKind.STRING_LIT, MLIRTokenKind.BYTES_LIT):
            return self._parse_named_location()
        match self.parse_optional_keyword_in(("unknown", "callsite", "fused")):
            case "unknown":
                return UnknownLoc()
            case "callsite":
                return self._parse_call_location()
            case "fused":
                return self._parse_fused_location()
            case _:
                self.raise_error('expected a location: "file":line:column, "name"(...), unknown, callsite or fused')

    def _parse_call_location(self) -> LocationAttr:
        with self.in_parens():
            callee = self._parse_location()
            self.parse_keyword("at")
            return unchecked(CallSiteLoc, callee=callee, caller=self._parse_location())

    def _parse_fused_location(self) -> LocationAttr:
        metadata: Attribute = NoneAttr()
        if self.parse_optional_punctuation("<") is not None:
            metadata = self.parse_attribute()
            self.parse_punctuation(">")
        parts = self.parse_comma_separated_list(self.Delimiter.SQUARE, self._parse_location)
        return unchecked(FusedLoc, locations=ArrayAttr(parts), metadata=metadata)

    def _parse_any_string(self) -> str:
        """A string; MLIR writes what is no ASCII as the bytes of UTF-8, which the stock parser keeps apart."""
        encoded = self.parse_optional_bytes_literal()
        return self.parse_str_literal() if encoded is None else encoded.decode("utf-8", "replace")

    def _parse_named_location(self) -> LocationAttr:
        name = self._parse_any_string()
        if self.parse_optional_punctuation(":") is None:
            inner: Attribute = NoneAttr()
            if self.parse_optional_punctuation("(") is not None:
                inner = self._parse_location()
                self.parse_punctuation(")")
            return unchecked(NameLoc, desc=_string_attr(name), location=inner)
        line = self.parse_integer(False, False)
        self.parse_punctuation(":")
        start = file_location(name, line, self.parse_integer(False, False))
        if self.parse_optional_keyword("to") is None:
            return start
        end_line = self.parse_optional_integer(False, False)
        self.parse_punctuation(":")
        end = _int_attr(self.parse_integer(False, False))
        last = _int_attr(line if end_line is None else end_line)
        return unchecked(FileLineColRange, start=start, end_line=last, end_column=end)

    # Aliases

    def _parse_extended_type_or_attribute(self, attr_or_dialect_name: str, is_type: bool) -> Any:
        # MLIR prints location aliases at the end of the file, after their uses.
        alias = ("!" if is_type else "#") + attr_or_dialect_name
        if "." not in attr_or_dialect_name and self._current_token.kind is not MLIRTokenKind.LESS:
            return self._alias(alias)
        return super()._parse_extended_type_or_attribute(attr_or_dialect_name, cast(Any, is_type))

    def _alias(self, alias: str) -> Attribute:
        found = self.attribute_aliases.get(alias)
        if found is not None:
            return found
        if self._aliases is None:
            self._aliases = {match[1]: match.end() for match in _ALIAS.finditer(self.lexer.input.content)}
        position = self._aliases.get(alias)
        if position is None or alias in self._resolving:
            fault = "is defined by itself" if position is not None else "is not defined"
            start = self.lexer.input.content.rfind(alias, 0, self.pos)
            self.raise_error(f"the alias {alias} {fault}", start, start + len(alias))
        self._resolving.add(alias)
        resume = self._current_token.span.start
        self._resume_from(position)
        found = self.parse_attribute()
        self.attribute_aliases[alias] = found
        self._resume_from(resume)
        self._resolving.discard(alias)
        return found

    def _parse_alias_def(self) -> None:
        token = self._current_token
        defined = self.attribute_aliases.pop(token.text, None)
        if defined is not None and (self._aliases is None or self._aliases.get(token.text) is None):
            self.raise_error(f"the alias {token.text} is defined twice", token.span)
        if self._aliases is not None:
            self._aliases.pop(token.text, None)
        super()._parse_alias_def()

    # Types and literals

    def _parse_optional_builtin_type(self) -> TypeAttribute | None:
        token = self._current_token
        if token.kind is not MLIRTokenKind.BARE_IDENT or token.text != "tensor":
            return super()._parse_optional_builtin_type()
        content, start = self.lexer.input.content, cast(_FastToken, token).start
        if (match := _PLAIN_TENSOR.match(content, start)) is not None:
            plain = plain_tensor(match[1], match[2])
            if plain is not None:
                self._resume_from(match.end())
                return plain
        return self._parse_other_tensor(content, start)

    def _parse_other_tensor(self, content: str, start: int) -> TypeAttribute | None:
        match = _ANY_TENSOR.match(content, start)
        if match is not None and (known := self._types.get(match.group())) is not None:
            self._resume_from(match.end())
            return known
        found = super()._parse_optional_builtin_type()
        if isinstance(found, TensorType) and any(extent > LARGEST_EXTENT for extent in found.get_shape()):
            self.raise_error("the dim is larger than 64 bits can count", start)
        if isinstance(found, TensorType) and any(extent < 0 for extent in found.get_shape()):
            self.raise_error(f"{found} has a dynamic dim{_most(found)}", start)
        if isinstance(found, builtin.UnrankedTensorType):
            self.raise_error(f"{found} has no rank", start)
        if match is not None and found is not None:
            self._types[match.group()] = found
        return found

    def _parse_builtin_dense_attr(self) -> DenseIntOrFPElementsAttr[Any]:
        # The stock parser reads hexadecimal floats as integers, expands splats and rebuilds a constraint each time.
        start = self._current_token.span.start
        match = _DENSE_BODY.match(self.lexer.input.content, start)
        if match is None:
            self.raise_error("the dense literal is not closed by '>'")
        self._resume_from(match.end())
        self.parse_punctuation(":", " after a dense literal")
        position = self.pos
        found = self.parse_type()
        if not isinstance(found, TensorType):
            self.raise_error("a dense literal must be a tensor of static shape", position)
        key = (match[1], found)
        known = self._literals.get(key) if len(match[1]) < 64 else None
        if known is None:
            try:
                known = literals.parse_dense(match[1], cast(AnyTensor, found))
            except VerifyException as error:
                self.raise_error(str(error), start)
            self._literals[key] = known
        return known

    # Values

    def resolve_operand(self, operand: UnresolvedOperand, type: Any) -> Any:
        name = operand.operand_name
        values = self.ssa_values.get(name)
        if values is None:
            self._first_uses.setdefault(name, operand.span)
        elif operand.index < len(values):
            value = values[operand.index]
            if value.type is type or value.type == type:
                return value
            message = f"%{name} is used as {type}, but is defined as {value.type}"
            raise LabelledParseError(operand.span, message, value, f"defined as {value.type}")
        return super().resolve_operand(operand, type)

    def _register_ssa_definition(self, name: str, values: Sequence[SSAValue], span: Span) -> None:
        if name in self.ssa_values:
            raise LabelledParseError(span, f"%{name} is defined twice", self.ssa_values[name][0], "first defined here")
        self._scope.append(name)
        if name in self.forward_ssa_references or not name[0].isdigit():
            super()._register_ssa_definition(name, values, span)
        else:
            self.ssa_values[name] = tuple(values)

    def check_defined(self) -> None:
        """Raises an error at the first use of a value that nothing defines."""
        if self.forward_ssa_references:
            uses = [self._first_uses[name] for name in self.forward_ssa_references]
            first = min(uses, key=lambda span: span.start)
            self.raise_error(f"{first.text} is used, but never defined", first)

    # Regions

    def parse_optional_region(self, arguments: Iterable[Parser.Argument] | None = None) -> Region | None:
        # The stock parser copies all values at each region, which is quadratic in the number of reductions.
        if self.parse_optional_punctuation("{") is None:
            return None
        region, outer = Region(), self._scope
        blocks, forward_blocks = self.blocks, self.forward_block_references
        self._scope, self.blocks, self.forward_block_references = [], {}, defaultdict(list)
        # What stands in a region is not defined around it: an op may take a value of that name, and is not made yet.
        waiting, self.forward_ssa_references = self.forward_ssa_references, {}
        first_uses, self._first_uses = self._first_uses, {}
        entry = self._entry_block(arguments)
        if entry is not None:
            self._parse_block_body(entry)
            region.add_block(entry)
        while self.parse_optional_punctuation("}") is None:
            region.add_block(self._parse_block())
        for name, spans in self.forward_block_references.items():
            self.raise_error(f"the block ^{name} is used, but never defined", spans[0])
        for name in self._scope:
            del self.ssa_values[name]
        self._scope, self.blocks, self.forward_block_references = outer, blocks, forward_blocks
        inside, self.forward_ssa_references = self.forward_ssa_references, waiting
        uses, self._first_uses = self._first_uses, first_uses
        for name, references in inside.items():
            self._wait_for(name, references, uses[name])
        return region

    def _wait_for(self, name: str, references: Mapping[int, ForwardDeclaredValue[Any]], span: Span) -> None:
        """Takes uses in a region of what it does not define for uses of what comes around it."""
        self._first_uses.setdefault(name, span)
        waiting = self.forward_ssa_references.setdefault(name, {})
        for index, value in references.items():
            known = waiting.setdefault(index, value)
            if known.type != value.type:
                self.raise_error(f"%{name} is used as {value.type}, and as {known.type} before", span)
            if known is not value:
                value.replace_all_uses_with(known)

    def _entry_block(self, arguments: Iterable[Parser.Argument] | None) -> Block | None:
        """The block that has no label: it takes the named arguments, or stands where no label does."""
        labelled = self._current_token.kind is MLIRTokenKind.CARET_IDENT
        if arguments is None:
            return None if labelled or self._current_token.kind is MLIRTokenKind.R_BRACE else Block()
        if labelled:
            self.raise_error("a region with named arguments starts without a label")
        given = list(arguments)
        block = Block(arg_types=[argument.type for argument in given])
        for value, argument in zip(block.args, given, strict=True):
            self._register_ssa_definition(argument.name.text[1:], (value,), argument.name)
            value.location = argument.location or self.location_at(argument.name.start)
        return block

    def _parse_optional_block_arg_list(self, block: Block) -> Block | None:
        places: list[int] = []
        found = None
        if self._current_token.kind is MLIRTokenKind.L_PAREN:
            register = self._register_ssa_definition

            def record(name: str, values: Sequence[SSAValue], span: Span) -> None:
                places.append(span.start)
                register(name, values, span)

            self._register_ssa_definition = record
            try:
                found = super()._parse_optional_block_arg_list(block)
            finally:
                self._register_ssa_definition = register
        for argument, position in zip(block.args, places, strict=True):
            if isinstance(argument.location, UnknownLoc):
                argument.location = self.location_at(position)
        return found

    # Operations

    def parse_module(self, allow_implicit_module: bool = True) -> ModuleOp:
        module = super().parse_module(allow_implicit_module)
        if module is not self._last_op:
            module.location = self.location_at(0)
        return module

    def parse_operation(self) -> Operation:
        results = self._parse_op_result_list()
        token = self._current_token
        if token.kind not in (MLIRTokenKind.BARE_IDENT, MLIRTokenKind.STRING_LIT):
            self.raise_error("expected an operation")
        op_class = self._op_class(token)
        self._consume_token()
        stack = self._parser_state.dialect_stack
        stack.append(op_class.dialect_name())
        if token.kind is MLIRTokenKind.BARE_IDENT:
            op = op_class.parse(self)
            self.parse_optional_location()
        else:
            op = self._parse_generic_operation(op_class)
        stack.pop()
        op.location = self._explicit or self.location_at(cast(_FastToken, token).start)
        self._explicit = None
        _locate_implied(op)
        self._last_op = op
        self._bind(results, op, token)
        if op.regions and op.has_trait(IsolatedFromAbove):
            self.check_defined()
        return op

    def _op_class(self, token: Token[MLIRTokenKind, str]) -> type[Operation]:
        key = (token.text, self._parser_state.dialect_stack[-1])
        found = self._op_classes.get(key)
        if found is None:
            name = token.text if token.kind is MLIRTokenKind.BARE_IDENT else token.text[1:-1]
            found = self.ctx.get_optional_op(name, dialect_stack=self._parser_state.dialect_stack)
            if found is None:
                self.unknown_operation(name, token.span)
            self._op_classes[key] = found
        return found

    def unknown_operation(self, name: str, span: Span[str]) -> NoReturn:
        """Raises the error for an op that no dialect has; `parsing` lists all of them instead."""
        self.raise_error(f"unknown operation '{name}'", span)

    def _bind(self, results: list[tuple[Span, int]], op: Operation, token: Token[MLIRTokenKind, str]) -> None:
        if not results:
            return
        bound = sum(count for _, count in results)
        if bound != len(op.results):
            self.raise_error(f"'{op.name}' has {len(op.results)} results, but {bound} names", token.span)
        first = 0
        for span, count in results:
            self._register_ssa_definition(span.text[1:], op.results[first : first + count], span)
            first += count


def _locate_implied(op: Operation) -> None:
    for region in op.regions:
        block = region.blocks.first
        if block is not None and block.first_op is not None and block.first_op.location is IMPLIED_LOCATION:
            for inner in (*block.args, *block.ops):
                inner.location = op.location


def verify_op(op: Operation) -> None:
    """
    Verifies one op, without those nested in it.

    `Operation.verify` adds the text of the whole module to each fault. Whether blocks are closed is asked of blocks.
    """
    form = _form_of(op)
    forms = _RIGHT_FORMS[op.__class__]
    if form in forms:
        own, traits = _own_verifiers(op.__class__)
        for trait in traits:
            trait.verify(op)
        own(op)
    else:
        op.verify_()
        forms.add(form)


_RIGHT_FORMS: defaultdict[type[Operation], set[object]] = defaultdict(set)
"""
For each class of ops what its definition has allowed before: what xDSL looks up anew for each op, at most of the cost.

A definition of ours asks for classes of types and attributes and for numbers of them, and for nothing else.
"""


def _form_of(op: Operation) -> object:
    """All that a definition sees of an op."""
    properties = op.properties
    return (
        tuple(map(_class_of_type, op._operands)),  # pyright: ignore[reportPrivateUsage]
        tuple(map(_class_of_type, op.results)),
        tuple([len(region.blocks) for region in op.regions]) if op.regions else (),
        # Few properties are seen closer than by their class, and these are small.
        tuple(
            [
                (name, found if _seen_whole(found.__class__) or name == "sym_name" else found.__class__)
                for name, found in properties.items()
            ]
        )
        if properties
        else (),
        len(op._successors),  # pyright: ignore[reportPrivateUsage]
    )


@cache
def _seen_whole(kind: type[Attribute]) -> bool:
    """Whether a definition may ask for more of an attribute than its class."""
    return issubclass(kind, (DenseArrayBase, SymbolRefAttr, IntegerAttr, ArrayAttr))


@cache
def _own_verifiers(kind: type[Operation]) -> tuple[Callable[[Operation], None], tuple[OpTrait, ...]]:
    """What a class itself verifies, which xDSL wraps in a function that verifies the definition; and its traits."""
    function = cast("FunctionType", kind.verify_)
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    wrapped = dict(zip(function.__code__.co_freevars, cells, strict=True))
    own = wrapped.get("custom_verify", _nothing_more) if "op_def" in wrapped else kind.verify_
    # Whether what is used is visible is looked up for all ops in one walk, `IsolatedFromAbove` included.
    asking = (trait for trait in kind.traits if not isinstance(trait, IsolatedFromAbove))
    return own, tuple(trait for trait in asking if type(trait).verify is not OpTrait.verify)


def _nothing_more(op: Operation) -> None:
    """What a class verifies that has only its definition."""


@cache
def has_trait(kind: type[Operation], trait: type[OpTrait]) -> bool:
    """Whether a class of ops has a trait, which xDSL looks for anew each time."""
    return kind.has_trait(trait)


def operands_of(op: Operation) -> tuple[SSAValue, ...]:
    """The operands of an op as they are kept: xDSL gives a view that asks the op for each."""
    return op._operands  # pyright: ignore[reportPrivateUsage]


type_of: Callable[[SSAValue], Attribute] = attrgetter("_type")
"""The type of a value, for `map`."""
_class_of_type: Callable[[SSAValue], type[Attribute]] = attrgetter("_type.__class__")


def _default_hint(value: SSAValue) -> str | None:
    """MLIR calls a constant `cst`, or `c` when it holds integers."""
    if not isinstance(value, OpResult) or value.op.name != "stablehlo.constant":
        return None
    found = value.type
    return "c" if isinstance(found, TensorType) and isinstance(found.element_type, IntegerType) else "cst"


def share_name(printer: Printer, named: SSAValue, other: SSAValue) -> None:
    """Prints `other` under the name that `named` has: a loop's condition and body name what they carry once."""
    names = printer._ssa_values  # pyright: ignore[reportPrivateUsage]
    names[other] = names[named]


class MlirPrinter(Printer):
    """
    xDSL's printer, writing what MLIR writes; what each method covers:

    - `%0:2 = ...` and `%0#1` for several results, and `%cst`, `%c`, `%cst_0`, `%c_1` for equal names;
    - `module`, and `return` and `call` in a function, as the default dialects allow;
    - literals exactly as MLIR spells them, plain texts not byte by byte, and each attribute rendered once.
    """

    def __init__(self, stream: io.StringIO, *, generic: bool, debuginfo: bool) -> None:
        super().__init__(stream=stream, print_generic_format=generic, print_debuginfo=debuginfo)
        self._emit = stream.write
        self._texts: dict[int, tuple[Attribute, str]] = {}
        self._conflicts = [0]

    def print_string(self, text: str, *, indent: int | None = None) -> None:
        if "\n" in text:
            super().print_string(text, indent=indent)
        else:
            self._emit(text)

    def print_string_literal(self, string: str) -> None:
        plain = string.isascii() and string.isprintable() and '"' not in string and "\\" not in string
        self._emit(f'"{string}"') if plain else super().print_string_literal(string)

    def print_attribute(self, attribute: Attribute) -> None:
        if self.printing_location:
            # Inside of another location a location has no `loc(...)` around it.
            super().print_attribute(attribute)
            return
        known = self._texts.get(id(attribute))
        if known is None:
            known = (attribute, self._render(attribute))
            self._texts[id(attribute)] = known
        self._emit(known[1])

    def _render(self, attribute: Attribute) -> str:
        outer, text = self._emit, io.StringIO()
        stream, self.stream, self._emit = self.stream, text, text.write
        if isinstance(attribute, DenseIntOrFPElementsAttr):
            self._emit(f"dense<{literals.dense_body(cast(Any, attribute))}> : ")
            self.print_attribute(cast(Attribute, attribute.type))
        else:
            super().print_attribute(attribute)
        self.stream, self._emit = stream, outer
        return text.getvalue()

    def print_ssa_value(self, value: SSAValue) -> str:
        name = self._ssa_values.get(value)
        if name is None:
            name = self._ssa_values[value] = self._new_name(value.name_hint or _default_hint(value))
        self._emit(f"%{name}")
        return name

    def _new_name(self, hint: str | None) -> str:
        if hint is None:
            return self._get_new_valid_name_id()
        name, used = hint, self.ssa_names
        while name in used:
            name = f"{hint}_{self._conflicts[-1]}"
            self._conflicts[-1] += 1
        used[name] = 1
        return name

    def enter_scope(self) -> None:
        super().enter_scope()
        self._conflicts.append(self._conflicts[-1])

    def exit_scope(self) -> None:
        super().exit_scope()
        self._conflicts.pop()

    def _print_results(self, op: Operation) -> None:
        count = len(op.results)
        if count > 1:
            base = self._new_name(op.results[0].name_hint)
            for index, result in enumerate(op.results):
                self._ssa_values[result] = f"{base}#{index}"
            self._emit(f"%{base}:{count} = ")
        elif count:
            self.print_ssa_value(op.results[0])
            self._emit(" = ")

    def print_op(self, op: Operation) -> None:
        name = None if self.print_generic_format else self._short_name(op)
        if name is None:
            super().print_op(op)
            return
        self._print_results(op)
        self._emit(name)
        scope = op.has_trait(IsolatedFromAbove)
        if scope:
            self.enter_scope()
        op.print(self)
        if self.print_debuginfo:
            self._emit(" ")
            self.print_attribute(op.location)
        if scope:
            self.exit_scope()

    def _short_name(self, op: Operation) -> str | None:
        """The name without its dialect, where the dialect is the default one."""
        if op.name == "builtin.module":
            return "module"
        if op.name not in ("func.return", "func.call"):
            return None
        parent = op.parent_op()
        return op.name.removeprefix("func.") if parent is not None and parent.name == "func.func" else None
