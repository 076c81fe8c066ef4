"""Simple chunks: the sizes of the records, then the records, each part compressed by itself."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import accumulate

from shardwright.serialization.riegeli.chunks.chunks import Records
from shardwright.serialization.riegeli.chunks.codecs import NONE, Buffer, compress, decompress
from shardwright.serialization.riegeli.limits import DEFAULT_LIMITS
from shardwright.serialization.wire import WireFault, read_varint, varint

LONGEST_VARINT = 10
MOST_SIZES = 1 << 22
"""So many bytes of sizes are taken from any chunk; more only if they expand less than is limited for records."""


def encode_simple(
    sizes: Sequence[int], values: Sequence[Buffer], kind: int, level: int, window_log: int | None = None
) -> list[Buffer]:
    """
    The chunk's data, in parts, from the sizes of the records and their bytes; those are not copied.

    >>> b"".join(encode_simple([3, 3], [b"one", b"two"], 0, 0)).hex()
    '000203036f6e6574776f'
    """
    packed = compress(kind, [b"".join(map(varint, sizes))], level, window_log)
    head = bytes((kind,)) + varint(sum(map(len, packed)))
    return [head + b"".join(packed), *compress(kind, values, level, window_log)]


def uncompressed_head(size: int) -> bytes:
    """
    What stands before the bytes of the only record of a chunk that is not compressed.

    >>> uncompressed_head(300).hex()
    '0002ac02'
    """
    text = varint(size)
    return bytes((NONE, len(text))) + text


def decode_simple(data: memoryview, count: int, decoded_size: int, out: memoryview | None = None) -> Records:
    """
    The records of a chunk's data; `count` and `decoded_size` are those of its header. Compressed ones come out in
    `out`, if it is given: a buffer of `decoded_size` bytes.

    >>> bytes(decode_simple(memoryview(bytes.fromhex("000203036f6e6574776f")), 2, 6).view(1))
    b'two'
    """
    if not len(data):
        raise WireFault("the chunk has no data")
    kind = data[0]
    size, place = read_varint(data, 1)
    if size > len(data) - place:
        raise WireFault("the sizes of the records are longer than the chunk")
    # A stream does not tell how long it is, so that the count may be anything.
    most = min(LONGEST_VARINT * count, max(MOST_SIZES, DEFAULT_LIMITS.expansion * len(data)))
    sizes = decompress(kind, data[place : place + size], most)
    ends = record_ends(sizes, count)
    total = ends[-1] if ends else 0
    if total != decoded_size:
        raise WireFault(f"the records have {total} bytes and the header says {decoded_size}")
    values = decompress(kind, data[place + size :], decoded_size, out)
    if len(values) != decoded_size:
        raise WireFault(f"there are {len(values)} bytes of records and the header says {decoded_size}")
    return Records(values, ends)


def record_ends(sizes: memoryview, count: int) -> Sequence[int]:
    """Where each record ends, from the sizes as varints."""
    if len(sizes) == count and max(sizes, default=0) < 0x80:
        return array("Q", accumulate(sizes))
    ends, place, end = array("Q"), 0, 0
    for _ in range(count):
        size, place = read_varint(sizes, place)
        end += size
        if end >> 63:
            raise WireFault("the records are longer than any file")
        ends.append(end)
    if place != len(sizes):
        raise WireFault("there are more sizes than records")
    return ends
