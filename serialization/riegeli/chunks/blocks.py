"""
Blocks: every 65536 bytes stands a header of 24 bytes, which says where the chunk around it begins and ends.

A *boundary* is a place where a chunk may begin: anywhere but inside or just after a block header.
"""

from __future__ import annotations

import struct

from shardwright.serialization.hashing import highwayhash64
from shardwright.serialization.hashing.highway import ENGINE, RIEGELI_KEY

BLOCK = 1 << 16
BLOCK_HEADER = 24
USABLE = BLOCK - BLOCK_HEADER
CHUNK_HEADER = 40


def remaining_in_block(position: int) -> int:
    """
    Bytes to the next block, 0 at the beginning of one.

    >>> remaining_in_block(65535), remaining_in_block(65536)
    (1, 0)
    """
    return -position % BLOCK


def is_boundary(position: int) -> bool:
    """
    Whether a chunk may begin here.

    >>> [is_boundary(place) for place in (0, 1, 24, 25)]
    [True, False, False, True]
    """
    return remaining_in_block(position) < USABLE


def round_up(position: int) -> int:
    """
    The nearest boundary at or after a place.

    >>> round_up(65536), round_up(65537)
    (65536, 65561)
    """
    return position + max(0, remaining_in_block(position) - (USABLE - 1))


def add_overhead(begin: int, size: int) -> int:
    """
    Where `size` bytes end that begin at a boundary, with the block headers among them.

    >>> add_overhead(0, 65512), add_overhead(0, 65513)
    (65536, 65561)
    """
    return begin + size + (size + (begin + USABLE - 1) % BLOCK) // USABLE * BLOCK_HEADER


def without_overhead(begin: int, position: int) -> int:
    """
    Bytes from a boundary to a place, without the block headers among them.

    >>> without_overhead(0, 65536), without_overhead(0, 65561)
    (65512, 65513)
    """
    headers = position // BLOCK - begin // BLOCK
    trimmed = [place - min(place % BLOCK, BLOCK_HEADER) for place in (begin, position)]
    return trimmed[1] - trimmed[0] - headers * BLOCK_HEADER


def chunk_end(begin: int, data_size: int, records: int) -> int:
    """
    Where a chunk ends: every record has a position of its own, so a chunk is at least as long as its records are many.

    >>> chunk_end(64, 0, 0), chunk_end(64, 3, 1000)
    (104, 1064)
    """
    return max(add_overhead(begin, CHUNK_HEADER + data_size), round_up(begin + records))


def padded_end(position: int, padding: int) -> int:
    """
    Where a padding chunk ends that takes `position` to a multiple of `padding`: `position` itself if it is one.

    >>> padded_end(64, 65536), padded_end(65536, 65536), padded_end(65530, 65536)
    (65536, 65536, 131072)
    """
    if padding <= 1 or position % padding == 0:
        return position
    length = padding - position % padding
    if length < CHUNK_HEADER:
        length += -(-(CHUNK_HEADER - length) // padding) * padding
    end = position + length
    while not is_boundary(end):
        end += padding
    return end


def block_headers(begin: int, end: int, first: int, count: int) -> bytes:
    """
    The headers of `count` blocks from the one at `first`, all within the chunk from `begin` to `end`.

    >>> block_headers(0, 64, 0, 1).hex()
    '83af70d10d884a3f00000000000000004000000000000000'
    """
    if ENGINE.compiled(0):
        return ENGINE.kernel.block_headers(ENGINE.fresh(RIEGELI_KEY), begin, end, first, count)
    blocks = range(first, first + count * BLOCK, BLOCK)
    places = [struct.pack("<QQ", block - begin, end - block) for block in blocks]
    return b"".join(struct.pack("<Q", highwayhash64(place)) + place for place in places)
