"""Reading MLIR text: pretty or generic, as JAX prints it or as we do, into located IR."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NoReturn

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.exceptions import ParseError, VerifyException
from xdsl.utils.lexer import Span

from shardwright._collector import collector_paused
from shardwright.diagnostics import Diagnostic, ShardwrightError, SourceLocation
from shardwright.diagnostics.suggestions import propose
from shardwright.dialects.text.locations import label
from shardwright.dialects.text.wording import worded
from shardwright.dialects.text.xdsl_patches import SPACE, LabelledParseError, LocatedParser, operands_of, type_of

_OP_START = re.compile(
    r'^[ \t]*(?:%[^=\n"]*=[ \t]*)?(?:"(?P<generic>[A-Za-z_][\w$.]*)"[ \t]*\(|(?P<pretty>[A-Za-z_][\w$]*\.[\w$.]+)\b)',
    re.MULTILINE,
)


BYTE_ORDER_MARK = "\ufeff"
"""What some editors put in front of a file's text."""

LONGEST_WORD = 100
"""Characters of one word of the user's text that a message repeats."""

_NAMED = re.compile(r"'(?P<name>.+)' is not registered|Duplicate key '(?P<key>.+)' in .*")
_DEFINED = re.compile(r"(%[A-Za-z_$.-][\w$.-]*)(?=[ \t]*[=:])", re.ASCII)
_OVERLONG = re.compile(rf"\S{{{LONGEST_WORD},}}")


def parse_module(
    text: str, file_name: str = "<text>", context: Context | None = None, line_offset: int = 0
) -> ModuleOp:
    """
    Reads a module of MLIR text.

    Every op and block argument gets a location: the one that the text states, else its place in the text (`file_name`,
    lines counted from `line_offset` + 1). Any fault is a `ShardwrightError` with its place.

    >>> module = parse_module("func.func @main() { return }", "f.mlir")
    >>> [op.name for op in module.body.block.ops]
    ['func.func']
    """
    text = text.removeprefix(BYTE_ORDER_MARK)
    if context is None:
        from shardwright.dialects import make_context

        context = make_context()
    parser: _ModuleParser | None = None
    try:
        with collector_paused():
            parser = _ModuleParser(context, text, file_name, line_offset)
            module = parser.parse_module()
            parser.check_defined()
        return module
    except ShardwrightError:
        raise
    except ParseError as error:
        raise _located(error, file_name, line_offset) from error
    except VerifyException as error:
        _fault(parser, worded(str(error)), file_name, error)
    except RecursionError as error:
        _fault(parser, "the text is nested too deeply", file_name, error)
    # xDSL answers some malformed texts with these; at this boundary they are the text's fault.
    except (AssertionError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        _fault(parser, "this cannot be read as MLIR", file_name, error)


_SSA_NAME = r"[0-9]+|[a-zA-Z$._-][a-zA-Z0-9$._-]*"
_LINE = re.compile(rf"%(?P<name>{_SSA_NAME})(?P<count>:[0-9]+)? = (?P<op>[^\n]*)", re.ASCII)
_LOCATION = re.compile(r" loc\(#[a-zA-Z0-9$._-]+\)$", re.ASCII)
_VALUE = re.compile(rf"%({_SSA_NAME})(?:#([0-9]+))?", re.ASCII)


Names = Sequence[tuple[str, str]]
"""Values as a line names them: the name, and the number behind its `#`, or nothing."""


@dataclass(frozen=True, slots=True)
class _Made:
    """What the ops of equal lines have in common."""

    op_class: type[Operation]
    operand_types: tuple[Attribute, ...]
    result_types: tuple[Attribute, ...]
    properties: Mapping[str, Attribute]
    attributes: Mapping[str, Attribute]


class _RepeatingParser(LocatedParser):
    """
    A parser that reads each line once: one that differs only in the names of values makes the same op with others.

    Models write few operations over and over: 336 lines, names aside, make up the 14,271 of a training step of GPT-2.
    This is for ops without regions that take up a line alone, but for an alias of their location. Where a value is not
    defined yet, or has another type than in the line before, the line is read as any other.
    """

    def __init__(self, ctx: Context, text: str, name: str = "<text>", line_offset: int = 0) -> None:
        self._lines: dict[tuple[str, str | None, str], _Made | None] = {}
        super().__init__(ctx, text, name, line_offset)

    def parse_operation(self) -> Operation:
        content, name = self.lexer.input.content, self._current_token
        line = _LINE.match(content, self.pos)
        if line is None or "//" in line["op"]:
            return super().parse_operation()
        location = _LOCATION.search(line["op"])
        text = line["op"] if location is None else line["op"][: location.start()]
        names: Names = _VALUE.findall(text)
        key = self._parser_state.dialect_stack[-1], line["count"], _VALUE.sub("%", text)
        made = self._lines.get(key)
        operands = None if made is None else self._operands(names, made.operand_types)
        if made is None or operands is None:
            op = super().parse_operation()
            if key not in self._lines:
                self._lines[key] = self._as_made(op, names, line.end())
            return op
        op = made.op_class.create(
            operands=operands,
            result_types=made.result_types,
            properties=made.properties,
            attributes=made.attributes,
            location=self.location_at(line.start("op")),
        )
        self._last_op = op
        self._register_ssa_definition(line["name"], op.results, name.span)
        self._resume_from(line.start("op") + len(text))
        op.location = self.parse_optional_location() or op.location
        self._explicit = None
        return op

    def _operands(self, names: Names, types: Sequence[Attribute]) -> list[SSAValue] | None:
        """The values of these names; None where one is not defined yet, or has another type."""
        found: list[SSAValue] = []
        for named, type_ in zip(names, types, strict=True):
            value = self._defined(*named)
            if value is None or type_of(value) is not type_:
                return None
            found.append(value)
        return found

    def _defined(self, name: str, number: str) -> SSAValue | None:
        values, place = self.ssa_values.get(name, ()), int(number or 0)
        return values[place] if place < len(values) else None

    def _as_made(self, op: Operation, names: Names, end: int) -> _Made | None:
        """What an op has in common with those of equal lines; None where more than the line decides what it is."""
        # The next word stands behind the line: the op has ended with it, and nothing else stands on it.
        alone = SPACE.match(self.lexer.input.content, end)
        operands = operands_of(op)
        if op.regions or op.successors or alone is None or alone.end() != self.pos:
            return None
        if len(names) != len(operands) or any(
            self._defined(*named) is not operand for named, operand in zip(names, operands, strict=True)
        ):
            return None
        types = tuple(map(type_of, operands)), tuple(map(type_of, op.results))
        return _Made(type(op), *types, dict(op.properties), dict(op.attributes))


class _ModuleParser(_RepeatingParser):
    """The parser that names every unknown op of the text at once, with its line."""

    def unknown_operation(self, name: str, span: Span[str]) -> NoReturn:
        places: dict[str, list[int]] = {name: [span.start]}
        for match in _OP_START.finditer(self.lexer.input.content):
            found = match["generic"] or match["pretty"]
            if self.ctx.get_optional_op(found) is None and match.start() != span.start:
                position = match.start("generic" if match["generic"] else "pretty")
                places.setdefault(found, []).append(position)
        lines = {_brief(op): sorted({self.place(position)[0] for position in found}) for op, found in places.items()}
        listed = [f"{op} at line {', '.join(map(str, found))}" for op, found in sorted(lines.items())]
        line, column = self.place(span.start)
        what = f"unknown operation '{_brief(name)}'" if len(places) == 1 else f"{len(places)} unknown operations"
        known = [op.name for op in self.ctx.loaded_ops]
        raise ShardwrightError(
            Diagnostic(
                "SW0203",
                what,
                SourceLocation(self.lexer.input.name, line, column),
                notes=tuple(listed) if len(listed) > 1 else (),
                help=propose(name, known, f"{len(known)} operations can be read, and this is none of them"),
            )
        )


def _located(error: ParseError, file_name: str, line_offset: int) -> ShardwrightError:
    span = _meant(error)
    place = span.get_location()
    message = _brief(worded(error.msg, str(error.span.text).split("\n", 1)[0]))
    labels = label(error.value, error.text) if isinstance(error, LabelledParseError) else ()
    return ShardwrightError(
        Diagnostic(
            _code(message),
            message,
            SourceLocation(file_name, place.line + line_offset, place.col, _length(span)),
            help=_defined(span) or _help(message, at_end=span.start >= len(span.input.content)),
            labels=labels,
        )
    )


def _meant(error: ParseError) -> Span[str] | Span[bytes]:
    """The word that an error is about, where xDSL has read on and points behind it."""
    named = _NAMED.fullmatch(error.msg)
    if named is None:
        return error.span
    name = named["name"] or named["key"]
    start = str(error.span.input.content).rfind(name, 0, error.span.start)
    return replace(error.span, start=start, end=start + len(name)) if start >= 0 else error.span


def _length(span: Span[str] | Span[bytes]) -> int:
    """The characters of a span, of those within its first line; 0 where it only says where it begins."""
    first = str(span.text).split("\n", 1)[0]
    return len(first) if len(first) > 1 else 0


def _defined(span: Span[str] | Span[bytes]) -> str | None:
    """What to write for a value that nothing defines, where a name of the text is spelled nearly like it."""
    word = str(span.text)
    if not word.startswith("%") or word[1:].isdecimal():
        return None
    names = _DEFINED.findall(str(span.input.content))
    return propose(word, [name for name in names if name != word], "") or None


def _brief(text: str) -> str:
    """`text` with overlong words cut short."""
    return _OVERLONG.sub(lambda word: word.group()[: LONGEST_WORD // 2] + "...", text)


def _fault(parser: LocatedParser | None, message: str, file_name: str, error: BaseException) -> NoReturn:
    line, column = parser.place(parser.pos) if parser is not None else (1, 1)
    raise ShardwrightError(
        Diagnostic("SW0201", _brief(message), SourceLocation(file_name, line, column), help="correct the text here")
    ) from error


def _code(message: str) -> str:
    return next((code for part, code in _CODES if part in message), "SW0201")


_CODES = (
    ("never defined", "SW0202"),
    ("not defined", "SW0202"),
    ("by itself", "SW0202"),
    ("has a dynamic dim", "SW0305"),
    ("has no rank", "SW0305"),
)


_HELPS = (
    ("never defined", "define the name before this use, or correct its spelling"),
    ("not defined", "define the alias in this file, or correct its spelling"),
    ("by itself", "define the alias without itself"),
    ("defined twice", "give each value its own name"),
    ("not registered", "correct the spelling: this is no type or attribute of a dialect that can be read"),
    ("is used as", "make the two types equal"),
    (
        "whose bounds say",
        "every shape is known before the run: export the program for that type, and mask what is beyond the true size",
    ),
    ("has a dynamic dim", "every shape is known before the run: export the program for the sizes it is to run with"),
    ("has no rank", "every shape is known before the run: write it out, as in tensor<4x8xf32>"),
    ("is written by its bits", "write the bits that the message gives in its place, as in dense<0x7FC00000>"),
    ("is no element of type", "write 1.0 or 1.0e-3 for floats, 1 for integers, true or false for i1"),
    ("is out of range for", "write a smaller number, or give the tensor a wider element type"),
    ("the name of a mesh axis", 'write the name with its quotes, as in {"x"}'),
    ("mesh axis", "give the axis a size of at least 1 that 64 bits can count"),
    ("expected a whole number", "write a whole number here"),
    ("a text in double quotes", "write a text in double quotes here"),
    ("expected a value like", "write a value, or leave out the attribute"),
    ("a type", "write a type like tensor<4x8xf32>"),
    ("element type", "write a type like tensor<4x8xf32>"),
    ("expected an operand", "write the name of a value that is defined before"),
    ("no operation begins here", "write operations like %0 = stablehlo.add %x, %y : tensor<4xf32>"),
    ("is given twice", "give each attribute once"),
    ("no program has the character", "leave the character out; texts stand in double quotes, comments behind //"),
    ("literal", "make the literal fit its type"),
    ("string is not closed", "close the string with a double quote"),
)


def _help(message: str, *, at_end: bool) -> str:
    for part, text in _HELPS:
        if part in message:
            return text
    return "the text ends too early: is the file complete?" if at_end else "correct the text here"
