"""The records of riegeli files in tests, and the options of ArrayRecord that wrote those in `data/riegeli`."""

from __future__ import annotations

import lzma
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "data" / "riegeli"


def message(depth: int) -> bytes:
    """A protobuf message: varints of every width, fixed values, a group, a string, and itself inside to a depth."""
    fields = bytes.fromhex("08960110ffffffffffffffffff011a0774657374696e67250102030429010203040506070833083534")
    if not depth:
        return fields
    inner = message(depth - 1)
    return fields + b"\xfa\x07" + bytes((len(inner) & 0x7F | 0x80, len(inner) >> 7)) + inner


SMALL = [
    b"",
    b"x",
    b"not a message \xff",
    *(bytes([index % 251]) * (index * 7 % 300) for index in range(40)),
    *(bytes((8, index)) for index in range(130)),
    *(message(depth) for depth in (0, 1, 3, 5)),
    b"\x1a\x00" * 3,
] * 2

LARGE = [b"head", bytes(index * index % 251 for index in range(1000)) * 150, b"tail", bytes(70000)]


def number(value: int) -> bytes:
    """A varint."""
    return bytes((value,)) if value < 128 else bytes((value & 127 | 128,)) + number(value >> 7)


def wide(draw: int, depth: int = 2) -> bytes:
    """A message of many different fields, frequent and rare, within each other: a thousand states when transposed."""
    out = b""
    for turn in range(9):
        draw = draw * 48271 % 0x7FFFFFFF
        common, rare = draw % 7 + 1, draw % 150 + 10
        inner = wide(draw % 40 + 1, depth - 1) if depth and turn in (3, 6) else bytes((draw % 256,)) * (draw % 4)
        if turn == 6:
            out += number(common << 3 | 3) + inner * (depth > 0) + number(common << 3 | 4)
        elif turn in (3, 8):
            out += number(common << 3 | 2) + number(len(inner)) + inner
        elif turn % 2:
            out += number(common << 3) + number(draw % 6 if turn == 1 else draw)
        else:
            out += number(rare << 3 | 5) + draw.to_bytes(4, "little")
    return out


GENUINE: dict[str, tuple[str, list[bytes]]] = {
    f"{'transposed' if transpose else 'simple'}_{kind}": (f"group_size:16,{transpose}{kind.replace('_', ':')}", SMALL)
    for transpose in ("", "transpose,")
    for kind in ("uncompressed", "brotli_6", "zstd_3", "snappy")
} | {
    "large_uncompressed": ("group_size:4,uncompressed", LARGE),
    "large_transposed": ("group_size:4,transpose,uncompressed", LARGE),
    "wide_transposed": ("group_size:400,transpose,uncompressed", [wide(index) for index in range(1, 201)]),
    "large_zstd": ("group_size:1,zstd:19", LARGE),
    "one_record_each": ("group_size:1,uncompressed,pad_to_block_boundary:true", SMALL[:20]),
}


def genuine(name: str) -> bytes:
    """A file that C++ wrote."""
    return lzma.decompress((FOLDER / f"{name}.xz").read_bytes())
