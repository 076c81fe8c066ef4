"""Reading MLIR text: pretty or generic, as JAX prints it or as we do, into located IR."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import NoReturn

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import ParseError, VerifyException
from xdsl.utils.lexer import Span

from shardwright.diagnostics import Diagnostic, ShardwrightError, SourceLocation
from shardwright.diagnostics.suggestions import propose
from shardwright.dialects.collector import collector_paused
from shardwright.dialects.text.locations import label
from shardwright.dialects.text.wording import worded
from shardwright.dialects.text.xdsl_patches import LabelledParseError, LocatedParser

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


class _ModuleParser(LocatedParser):
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
