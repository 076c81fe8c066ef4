"""Varints: seven bits a byte, the lowest first."""

from __future__ import annotations

from shardwright.serialization.riegeli.errors import malformed

Bytes = bytes | bytearray | memoryview


def varint(value: int) -> bytes:
    """
    A number as a varint.

    >>> varint(300).hex()
    'ac02'
    """
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def read_varint(data: Bytes, place: int, bits: int = 64) -> tuple[int, int]:
    """
    The varint at `place`, of at most `bits` bits, and the place after it; a longer form than needed is accepted.

    >>> read_varint(bytes.fromhex("ac02"), 0)
    (300, 2)
    """
    value = shift = 0
    size = len(data)
    while place < size:
        byte = data[place]
        place += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            if value >> bits:
                raise malformed(f"a number does not fit into {bits} bits")
            return value, place
        shift += 7
        if shift >= bits:
            raise malformed(f"a number does not fit into {bits} bits")
    raise malformed("the data ends inside a number")
