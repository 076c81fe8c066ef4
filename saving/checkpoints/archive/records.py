"""
The records of a zip file whose members are stored as they are.

Places are always written in the 64-bit form, so that a record's size follows from its name alone. Format: PKWARE's
APPNOTE.TXT, 4.3.7 (local headers), 4.3.12 (central directory), 4.3.14 to 4.3.16 (its end), 4.5.3 (64-bit places).
"""

from __future__ import annotations

import struct

_LOCAL = struct.Struct("<4sHHHHHIIIHH")
_CENTRAL = struct.Struct("<4sHHHHHHIIIHHHHHIIHHQ")
_END = struct.Struct("<4sQHHIIQQQQ4sIQI4sHHHHIIH")

_VERSION, _UNIX, _UTF8 = 45, 3 << 8, 1 << 11
_DATE = (1 << 5) + 1
"""The first day of 1980: equal arrays make equal files."""

_NONE16, _NONE32 = 0xFFFF, 0xFFFFFFFF
_WIDE = 1
"""The kind of an extra field that has 64-bit places."""

_PADDING = 0xD935
"""The kind of an extra field that only takes room, as Android's tools write it."""

_EXTRA = struct.Struct("<HH")
_FILE_MODE = 0o100644 << 16

_CHECKSUM = slice(14, 18)
"""Where the checksum is in a header."""


def least_padded(name_bytes: int) -> int:
    """The bytes from which on a header can be made longer; tensorstore has no extra fields that are empty."""
    return _LOCAL.size + name_bytes + _EXTRA.size + 1


def header(name: bytes, checksum: int, size: int, length: int | None = None) -> bytes:
    """What stands before a member of `size` bytes: as short as may be, or `length` bytes, which have room for more."""
    extra = 0 if length is None else length - _LOCAL.size - len(name)
    start = _LOCAL.pack(b"PK\3\4", _VERSION, _UTF8, 0, 0, _DATE, checksum, size, size, len(name), extra) + name
    padding = extra - _EXTRA.size
    return start + _EXTRA.pack(_PADDING, padding) + bytes(padding) if extra else start


def checksum(header: bytes) -> int:
    """The checksum in a header; nothing if it is too short."""
    return int.from_bytes(header[_CHECKSUM], "little")


def listing(name: bytes, checksum: int, size: int, at: int) -> bytes:
    """A member's record in the directory; its header is `at` that byte."""
    fixed = _CENTRAL.pack(
        *(b"PK\1\2", _VERSION | _UNIX, _VERSION, _UTF8, 0, 0, _DATE, checksum, size, size),
        *(len(name), _EXTRA.size + 8, 0, 0, 0, _FILE_MODE, _NONE32, _WIDE, 8, at),
    )
    return fixed[: -_EXTRA.size - 8] + name + fixed[-_EXTRA.size - 8 :]


def end(count: int, size: int, at: int) -> bytes:
    """The end of a file: how many members its directory lists, its bytes, and where it begins."""
    wide = (b"PK\6\6", 44, _VERSION | _UNIX, _VERSION, 0, 0, count, count, size, at)
    return _END.pack(*wide, *(b"PK\6\7", 0, at + size, 1), *(b"PK\5\6", 0, 0, _NONE16, _NONE16, _NONE32, _NONE32, 0))
