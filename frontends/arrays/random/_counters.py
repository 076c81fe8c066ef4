"""
Random bits of positions: ThreeFry 2x32 with 20 rounds, as element-wise operations on each element's global position.

The bits of an element depend on the key, a stream and its position only, so a device makes its own part and nothing
else, under every layout; for stream 0 they are those of `jax.random.bits` with `jax_threefry_partitionable`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from shardwright.compiler.tracing import emit
from shardwright.compiler.tracing.array import ArrayLike
from shardwright.compiler.tracing.dtypes import DType
from shardwright.compiler.tracing.trace import Tracer
from shardwright.diagnostics.faults import type_error, value_error
from shardwright.dialects import stablehlo

WORD, LONG = np.dtype("uint32"), np.dtype("uint64")

Key = tuple[Tracer, Tracer]
"""Two words of 32 bits, scalars."""

_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = 0x1BD11BDA
_SPREAD = (0x9E3779B9, 0x85EBCA6B)
"""Odd numbers that spread the high words of 64-bit seeds."""


Seed: TypeAlias = "ArrayLike | Sequence[int]"
"""What says which numbers are drawn: two whole numbers, in an array, a list or a tuple."""


def seed_argument(seed: Seed, what: str) -> ArrayLike:
    """
    A seed as an array of two whole numbers, so that another seed is no other program.

    Raises `TypeError` or `ValueError` (SW0560) for anything but two whole numbers.
    """
    if isinstance(seed, Sequence):
        if not all(type(part) is int or isinstance(part, np.integer) for part in seed):
            raise type_error("SW0560", f"{what}: {seed!r} is no seed", help="give two whole numbers: seed=(1, 2)")
        seed = np.array([int(part) & (1 << 64) - 1 for part in seed], LONG)
    dtype, shape = emit.dtype_of(seed, what), emit.shape_of(seed)
    if shape != (2,):
        raise value_error(
            "SW0560", f"{what}: a seed has shape [2], not {list(shape)}", help="give two whole numbers: seed=(1, 2)"
        )
    if dtype.kind not in "iu" or dtype.itemsize < 4:
        raise type_error(
            "SW0560", f"{what}: a seed of type {dtype.name} has too few bits", help="its numbers have 32 or 64 bits"
        )
    return seed


def key_of(seed: ArrayLike) -> Key:
    """The key of a seed: its low words, into which the high words of 64-bit numbers are mixed."""
    value = emit.as_tracer(seed)
    wide = emit.convert(emit.convert(value, np.dtype("int64")) if value.dtype.kind == "i" else value, LONG)
    words: list[Tracer] = []
    highs: list[Tracer] = []
    for place in (0, 1):
        number = emit.reshape(emit.slice_(wide, (place,), (place + 1,), (1,)), ())
        words.append(emit.convert(_bits_and(number, 0xFFFFFFFF), WORD))
        high = emit.binary(stablehlo.ShiftRightLogicalOp, number, _like(32, number))
        highs.append(emit.convert(high, WORD))
    mixed = [_times(high, _like(spread, high)) for high, spread in zip(highs, _SPREAD, strict=True)]
    return _xor(words[0], mixed[1]), _xor(words[1], mixed[0])


def words(key: Key, shape: Sequence[int], stream: int | Tracer = 0) -> tuple[Tracer, Tracer]:
    """
    Two random words for each element of an array of this shape.

    `stream` numbers independent arrays of the same key: a number, or a scalar of 32 bits without sign.
    """
    high, low = _positions(shape)
    number = emit.constant(stream, WORD) if isinstance(stream, int) else stream
    return _threefry(key, _plus(high, emit.broadcast(_shifted(number), shape)), low)


def bits(key: Key, shape: Sequence[int], dtype: DType, stream: int | Tracer = 0) -> Tracer:
    """Random bits as integers of 8 to 64 bits without sign."""
    first, second = words(key, shape, stream)
    if dtype.itemsize == 8:
        return emit.binary(
            stablehlo.OrOp,
            emit.binary(stablehlo.ShiftLeftOp, emit.convert(first, LONG), _filled(32, LONG, shape)),
            emit.convert(second, LONG),
        )
    mixed = _xor(first, second)
    if dtype.itemsize == 4:
        return mixed
    top = emit.binary(stablehlo.ShiftRightLogicalOp, mixed, _like(32 - 8 * dtype.itemsize, mixed))
    return emit.convert(top, dtype)


def _positions(shape: Sequence[int]) -> tuple[Tracer, Tracer]:
    """The high and the low word of each element's row-major position."""
    whole = tuple(shape)
    dtype = WORD if math.prod(whole) <= 1 << 32 else LONG
    position = _filled(0, dtype, whole)
    for dim, size in enumerate(whole):
        if size > 1:
            stride = math.prod(whole[dim + 1 :])
            counted = emit.iota(dtype, whole, dim)
            position = _plus(position, _times(counted, _like(stride, counted)) if stride > 1 else counted)
    if dtype == WORD:
        return _filled(0, WORD, whole), position
    high = emit.binary(stablehlo.ShiftRightLogicalOp, position, _like(32, position))
    return emit.convert(high, WORD), emit.convert(_bits_and(position, 0xFFFFFFFF), WORD)


def _threefry(key: Key, x: Tracer, y: Tracer) -> tuple[Tracer, Tracer]:
    """Two random words for each counter of two words."""
    keys = [emit.broadcast(word, x.shape) for word in (*key, _xor(_xor(*key), _like(_PARITY, key[0])))]
    x, y = _plus(x, keys[0]), _plus(y, keys[1])
    for group in range(5):
        for rotation in _ROTATIONS[group % 2]:
            x = _plus(x, y)
            y = _xor(x, _rotated(y, rotation))
        x = _plus(x, keys[(group + 1) % 3])
        y = _plus(y, _plus(keys[(group + 2) % 3], _like(group + 1, y)))
    return x, y


def _rotated(value: Tracer, by: int) -> Tracer:
    left = emit.binary(stablehlo.ShiftLeftOp, value, _like(by, value))
    return emit.binary(stablehlo.OrOp, left, emit.binary(stablehlo.ShiftRightLogicalOp, value, _like(32 - by, value)))


def _shifted(stream: Tracer) -> Tracer:
    """A stream as it is added to the high word of positions, which never has so many bits."""
    return emit.binary(stablehlo.ShiftLeftOp, stream, _like(16, stream))


def _filled(value: int, dtype: DType, shape: Sequence[int]) -> Tracer:
    return emit.constant(value, dtype, shape)


def _like(value: int, other: Tracer) -> Tracer:
    return emit.constant(value, other.dtype, other.shape)


def _bits_and(value: Tracer, mask: int) -> Tracer:
    return emit.binary(stablehlo.AndOp, value, _like(mask, value))


def _plus(left: Tracer, right: Tracer) -> Tracer:
    return emit.binary(stablehlo.AddOp, left, right)


def _times(left: Tracer, right: Tracer) -> Tracer:
    return emit.binary(stablehlo.MultiplyOp, left, right)


def _xor(left: Tracer, right: Tracer) -> Tracer:
    return emit.binary(stablehlo.XorOp, left, right)
