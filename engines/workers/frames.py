"""
What travels between controller and workers: frames of a header and arrays, nothing that could run.

A frame is a mark, two lengths, a header (JSON), and the bytes of the arrays which the header describes. Nothing is
believed: lengths, types and shapes have to fit each other, and the memory of the machine, before any is taken.
"""

from __future__ import annotations

import json
import math
import os
import struct
from collections.abc import Sequence
from functools import cache
from typing import Any, Protocol, TypeAlias, cast

import numpy as np

from shardwright.dialects.types import element_dtype, element_type_named

Array: TypeAlias = "np.ndarray[Any, Any]"

Header: TypeAlias = "dict[str, Any]"

Buffer: TypeAlias = "bytes | memoryview[Any]"

PREFIX = struct.Struct("!4sIQ")
"""The mark, the length of the header and that of all arrays, in bytes."""

MARK = b"SWF1"

LONGEST_HEADER = 1 << 26

LARGEST_DIMS = 64
"""How many dims an array has at most: NumPy's limit."""


_text_of = json.JSONEncoder(separators=(",", ":")).encode


class Readable(Protocol):
    """What frames are read from: both methods give less than is asked for only at the end."""

    def read(self, size: int, /) -> bytes:
        """So many bytes."""
        ...

    def readinto(self, buffer: Any, /) -> int:
        """Fills a buffer; how many bytes there were."""
        ...


class FrameError(Exception):
    """What came is no frame."""


def frame(header: Header, arrays: Sequence[Array] = ()) -> list[Buffer]:
    """
    The buffers that make up a frame; they share the memory of contiguous arrays.

    >>> len(frame({"do": "put"}, [np.zeros(3)]))
    2
    """
    described = [[array.dtype.name, list(array.shape)] for array in arrays]
    text = _text_of({**header, "arrays": described} if described else header).encode()
    prefix = PREFIX.pack(MARK, len(text), sum(array.nbytes for array in arrays))
    return [prefix + text, *(bytes_of(array) for array in arrays if array.nbytes)]


def bytes_of(array: Array) -> memoryview[Any]:
    """The bytes of an array, which may be of a type that NumPy does not know."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data


def read_frame(stream: Readable) -> tuple[Header, list[Array]] | None:
    """
    The next frame of a stream, or nothing at its end.

    Raises `FrameError` for anything else.

    >>> import io
    >>> read_frame(io.BytesIO(b"".join(frame({"do": "put"}, [np.arange(3)]))))
    ({'do': 'put'}, [array([0, 1, 2])])
    """
    prefix = stream.read(PREFIX.size)
    if not prefix:
        return None
    if len(prefix) < PREFIX.size:
        raise FrameError("it ends within a frame")
    mark, header_length, length = PREFIX.unpack(prefix)
    if mark != MARK:
        raise FrameError(f"a frame begins with {mark!r}")
    if header_length > LONGEST_HEADER:
        raise FrameError(f"a header of {header_length:,} bytes is too long")
    text = stream.read(header_length)
    if len(text) < header_length:
        raise FrameError("it ends within a header")
    header = _header(text)
    kinds = [_kind(described) for described in _described(header.pop("arrays", []))]
    needed = sum(math.prod(shape) * dtype.itemsize for shape, dtype in kinds)
    if needed != length or needed > _memory():
        raise FrameError(f"arrays of {needed:,} bytes do not fit {length:,} bytes, or this machine")
    return header, [_array(stream, *kind) for kind in kinds]


def _header(text: bytes) -> Header:
    try:
        header: object = json.loads(text.decode())
    except (ValueError, RecursionError) as error:
        raise FrameError(f"a header is no JSON: {type(error).__name__}") from error
    if not isinstance(header, dict):
        raise FrameError("a header is no object")
    return cast(Header, header)


def _described(arrays: object) -> list[object]:
    if not isinstance(arrays, list):
        raise FrameError("a header does not list arrays")
    return cast("list[object]", arrays)


def _kind(described: object) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """The shape and type of an array."""
    match described:
        case [str(name), [*extents]] if len(extents) <= LARGEST_DIMS and all(map(_is_extent, extents)):
            try:
                return tuple(cast("list[int]", extents)), element_dtype(element_type_named(name))
            except TypeError as error:
                raise FrameError(str(error)) from error
        case _:
            raise FrameError("a header describes no array")


def _is_extent(value: object) -> bool:
    return type(value) is int and value >= 0


def _array(stream: Readable, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    array = np.empty(shape, dtype)
    if array.nbytes:
        target = array.reshape(-1).view(np.uint8).data
        if stream.readinto(target) != array.nbytes:
            raise FrameError("it ends within an array")
    return array


@cache
def _memory() -> int:
    """The bytes that this machine has."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
