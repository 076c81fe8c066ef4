"""CRC32C of bytes, by arrays: many pieces side by side, two bytes a step, then put together."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

POLYNOMIAL = 0x82F63B78
"""Castagnoli's polynomial, bits reversed."""

_DELTA = 0xA282EAD8
LANES = 8192
"""About how many pieces of a long input are worked on side by side."""
SHORTEST = 64
"""The fewest bytes of a piece; sizes of pieces are powers of two."""
SHORT = 4096
"""Up to how many bytes one byte after the other is as fast."""


def crc32c(data: bytes | memoryview | Array) -> int:
    """
    The checksum of the bytes.

    >>> hex(crc32c(b"123456789"))
    '0xe3069283'
    """
    given = np.frombuffer(data, np.uint8) if not isinstance(data, np.ndarray) else data.reshape(-1).view(np.uint8)
    state = 0xFFFFFFFF
    if len(given) > SHORT:
        step = max(1 << (len(given) // LANES).bit_length() - 1, SHORTEST) if len(given) >= LANES else SHORTEST
        whole = len(given) // step * step
        state = _joined(_side_by_side(given[:whole].reshape(-1, step), state), step)
        given = given[whole:]
    table = _bytewise()
    for byte in given.tolist():
        state = table[(state ^ byte) & 0xFF] ^ (state >> 8)
    return state ^ 0xFFFFFFFF


def masked(checksum: int) -> int:
    """
    A checksum as tables and checkpoints store it: turned and moved, so that it may itself be checksummed.

    >>> masked(0), unmasked(masked(12345))
    (2726488792, 12345)
    """
    return ((checksum >> 15 | checksum << 17) + _DELTA) & 0xFFFFFFFF


def unmasked(stored: int) -> int:
    """The checksum that was stored by `masked`."""
    turned = (stored - _DELTA) & 0xFFFFFFFF
    return (turned >> 17 | turned << 15) & 0xFFFFFFFF


@cache
def _bytewise() -> list[int]:
    return _table(8).tolist()


@cache
def _table(bits: int) -> Array:
    """What so many bits become when they are shifted out of the register."""
    values = np.arange(1 << bits, dtype=np.uint32)
    for _ in range(bits):
        values = np.where(values & 1, (values >> 1) ^ np.uint32(POLYNOMIAL), values >> 1)
    return values


def _side_by_side(pieces: Array, start: int) -> Array:
    """The register after each piece; it begins at zero, and before the first piece at `start`."""
    words = pieces.view("<u2")
    table = _table(16)
    state = np.zeros(len(pieces), np.uint32)
    state[0] = start
    place, low, out = np.empty_like(state), np.uint32(0xFFFF), np.empty_like(state)
    for first in range(0, words.shape[1], 64):
        for column in np.ascontiguousarray(words[:, first : first + 64].T):
            np.bitwise_xor(state, column, out=place)
            np.bitwise_and(place, low, out=place)
            np.take(table, place, out=out, mode="clip")
            np.right_shift(state, np.uint32(16), out=state)
            np.bitwise_xor(state, out, out=state)
    return state


def _joined(states: Array, step: int) -> int:
    """The register after all pieces, each of `step` bytes: pairs become one, the first moved over the second."""
    while len(states) > 1:
        even = states if len(states) % 2 == 0 else np.concatenate([np.zeros(1, np.uint32), states])
        bytes_of = np.ascontiguousarray(even[0::2]).view(np.uint8).reshape(-1, 4)
        moved = even[1::2].copy()
        for place, table in enumerate(_move(step.bit_length() - 1)):
            moved ^= table[bytes_of[:, place]]
        states, step = moved, 2 * step
    return int(states[0])


@cache
def _move(power: int) -> list[Array]:
    """What each byte of the register, the lowest first, becomes after 2 to the `power` bytes of zeros."""
    bits = np.arange(256, dtype=np.uint32)
    return [_applied(_matrix(power), bits << np.uint32(8 * place)) for place in range(4)]


@cache
def _matrix(power: int) -> Array:
    """What each bit of the register becomes after 2 to the `power` bytes of zeros."""
    if power:
        return _applied(_matrix(power - 1), _matrix(power - 1))
    one = np.array([1 << bit for bit in range(32)], np.uint32)
    return _table(8)[one & 0xFF] ^ (one >> 8)


def _applied(matrix: Array, values: Array) -> Array:
    found = np.zeros_like(values)
    for bit in range(32):
        found ^= np.where(values >> np.uint32(bit) & 1, matrix[bit], np.uint32(0))
    return found
