"""What the attributes of a module are called in its message, and what of them is written: shared by both directions."""

from __future__ import annotations

import io
from typing import Any, cast

from xdsl.context import Context
from xdsl.dialects.builtin import (
    ArrayAttr,
    Builtin,
    BytesAttr,
    CallSiteLoc,
    DenseArrayBase,
    DictionaryAttr,
    FloatData,
    FusedLoc,
    IntAttr,
    LocationAttr,
    NameLoc,
    SignednessAttr,
    StridedLayoutAttr,
    StringAttr,
    UnregisteredAttr,
)
from xdsl.ir import Attribute, Data, ParametrizedAttribute, TypeAttribute

from shardwright.diagnostics import ShardwrightError
from shardwright.dialects.text.xdsl_patches import FileLineColRange, LocatedParser, MlirPrinter

VERSION = 1
"""The version of the schema that this code writes, and the only one that it reads."""

LARGEST_BLOB = (1 << 31) - (1 << 20)
"""Bytes of one piece of large data: a little less than protobuf can hold in one field."""

INLINE = 1024
"""Data of more bytes than this go into blobs."""

LARGEST_INTEGER = 1 << 10
"""Bytes of an integer: Python writes and reads none of more than 4300 digits, so that a larger one has no text."""

LOCATIONS = (*cast(Any, LocationAttr).__args__, FileLineColRange)
"""The classes of locations."""

_NESTING = (CallSiteLoc, NameLoc, FusedLoc, FileLineColRange)
_UNNAMED: dict[str, type[Attribute]] = {
    "#bytes": BytesAttr,
    "#dense_array": DenseArrayBase,
    "#strided": StridedLayoutAttr,
    **{f"#{kind.name}": kind for kind in _NESTING},
}
"""Classes that the builtin dialect leaves out, or names like another."""


def _sign(kind: type[Attribute]) -> str:
    return "!" if issubclass(kind, TypeAttribute) else "#"


BUILTIN = {f"{_sign(kind)}{kind.name}": kind for kind in Builtin.attributes} | _UNNAMED
"""The classes of the builtin dialect by what they are called here."""

_NAMES = {kind: name for name, kind in BUILTIN.items()}


def kind_name(attribute: Attribute) -> str:
    """
    What an attribute's class is called in a message.

    >>> from xdsl.dialects.builtin import i8
    >>> kind_name(StringAttr("x")), kind_name(DenseArrayBase.from_list(i8, [1]))
    ('#string', '#dense_array')
    """
    found = _NAMES.get(type(attribute))
    if found is None:
        found = f"{_sign(type(attribute))}{attribute.name}"
    return found


def kind_named(name: str, context: Context) -> type[Attribute] | None:
    """The class that is called so; None if no dialect of the context has it."""
    found = BUILTIN.get(name)
    if found is None and "." in name:
        look_up = context.get_optional_type if name[0] == "!" else context.get_optional_attr
        found = look_up(name[1:]) if name[0] in "!#" else None
        found = None if found is None or issubclass(found, UnregisteredAttr) else found
    return found


def parts_of(attribute: Attribute) -> tuple[Attribute, ...]:
    """The attributes that an attribute consists of."""
    if isinstance(attribute, ParametrizedAttribute):
        return attribute.parameters
    if isinstance(attribute, ArrayAttr):
        return cast("tuple[Attribute, ...]", attribute.data)
    return tuple(attribute.data.values()) if isinstance(attribute, DictionaryAttr) else ()


def has_text(kind: type[Attribute]) -> bool:
    """Whether attributes of a class are written as MLIR text: those over plain Python data, but for builtin ones."""
    return issubclass(kind, Data) and kind not in _PLAIN


_PLAIN = (StringAttr, BytesAttr, IntAttr, FloatData, SignednessAttr, ArrayAttr, DictionaryAttr)


def text_of(attribute: Attribute) -> str:
    """The MLIR text of an attribute."""
    stream = io.StringIO()
    MlirPrinter(stream, generic=False, debuginfo=False).print_attribute(attribute)
    return stream.getvalue()


def parse_text(text: str, kind: type[Attribute], context: Context) -> Attribute:
    """The attribute of a class that a text says; `ValueError` if it says something else."""
    try:
        parser = LocatedParser(context, text, "<attribute>")
        found = parser.parse_attribute()
        rest = parser.lexer.input.content[parser.pos :].strip()
    except ShardwrightError:
        raise
    except Exception as error:
        # xDSL answers malformed texts with whatever its parts raise.
        raise ValueError(f"its text cannot be read: {str(error) or type(error).__name__}") from error
    if rest or type(found) is not kind:
        raise ValueError("its text says something else")
    return found
