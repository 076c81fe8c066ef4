"""
Values that are not messages, from a chunk's bytes.

The RFC says that scalars are "serialized into bytes", not how. TensorFlow's merger reads numbers as decimal text, and
is the only program that reads them at all; this is accepted where it can mean one thing only.
"""

from __future__ import annotations

import codecs
import math
import re

from google.protobuf.descriptor import FieldDescriptor

F = FieldDescriptor
LONGEST = 64
INTEGER = re.compile(r"-?(?:0|[1-9]\d*)", re.ASCII)
DECIMAL = re.compile(r"-?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|inf|nan)", re.ASCII)
BITS = {
    **dict.fromkeys((F.CPPTYPE_INT32, F.CPPTYPE_UINT32), 32),
    **dict.fromkeys((F.CPPTYPE_INT64, F.CPPTYPE_UINT64), 64),
}
LARGEST_FLOAT = (2 - 2**-23) * 2.0**127
PIECE = 1 << 20


class NotAValue(ValueError):
    """Bytes that are no value of a field."""


def number_from_text(field: FieldDescriptor, text: bytes) -> int | float | bool:
    """
    The value of a number, bool or enum from text: decimal digits, `true` or `false`, the name of the value.

    Raises `NotAValue` for all else, also for numbers that are out of range or could be written shorter.

    >>> from shardwright.serialization.protos import graph_pb2
    >>> fields = graph_pb2.TensorProto.DESCRIPTOR.fields_by_name
    >>> number_from_text(fields["version_number"], b"-12"), number_from_text(fields["dtype"], b"DT_FLOAT")
    (-12, 1)
    """
    try:
        word = text.decode("ascii") if len(text) <= LONGEST else ""
    except UnicodeDecodeError:
        word = ""
    kind = field.cpp_type
    if field.enum_type is not None:
        if (value := field.enum_type.values_by_name.get(text[:1000].decode("utf-8", "replace"))) is not None:
            return value.number
    elif kind == F.CPPTYPE_BOOL:
        if word in ("true", "false"):
            return word == "true"
    elif kind in BITS:
        if INTEGER.fullmatch(word):
            return _in_range(field, int(word))
    elif DECIMAL.fullmatch(word):
        value = float(word)
        overflow = math.isinf(value) and "inf" not in word
        if not overflow and not (kind == F.CPPTYPE_FLOAT and math.isfinite(value) and abs(value) > LARGEST_FLOAT):
            return value
    raise NotAValue(f"{text[:20]!r} is not the text of a value of {field.full_name}")


def _in_range(field: FieldDescriptor, value: int) -> int:
    bits = BITS[field.cpp_type]
    signed = field.cpp_type in (F.CPPTYPE_INT32, F.CPPTYPE_INT64)
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    if not low <= value <= high:
        raise NotAValue(f"{value} is not between {low} and {high}")
    return value


def check_text(data: memoryview) -> None:
    """A string's bytes must be UTF-8; a `NotAValue` otherwise. Takes a megabyte at a time."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for begin in range(0, len(data), PIECE):
            decoder.decode(data[begin : begin + PIECE], final=begin + PIECE >= len(data))
    except UnicodeDecodeError as error:
        raise NotAValue(f"it is not UTF-8 ({error.reason})") from None
