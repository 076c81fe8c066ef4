"""Random bits by counters, the same as `runtime.kernels_random` makes: ThreeFry 2x32 and Philox 4x32."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from shardwright.dialects import stablehlo
from shardwright.dialects.stablehlo import RngAlgorithm
from shardwright.dialects.types import element_dtype, shape_of
from shardwright.frontends.tensorflow.exporting.emitter import Emitter, handler
from shardwright.frontends.tensorflow.exporting.nodes import BOOL, Refusal, Tensor
from shardwright.frontends.tensorflow.exporting.operations.pointwise import bitcast
from shardwright.runtime.kernels.elementwise import is_integer
from shardwright.runtime.kernels.random import MULTIPLIERS, PARITY, ROTATIONS, WEYL, halves

WORD, LONG = np.dtype(np.uint32), np.dtype(np.uint64)


@handler("stablehlo.rng_bit_generator")
def _rng_bit_generator(emitter: Emitter, op: stablehlo.RngBitGeneratorOp, operands: list[Tensor]) -> list[Tensor]:
    dtype, shape = element_dtype(op.results[1].type), shape_of(op.results[1])
    if not is_integer(dtype):
        raise Refusal(f"random bits of {dtype.name}")
    state = bitcast(emitter, operands[0], LONG)
    parts = [emitter.reshape(emitter.cut(state, 0, at, at + 1), ()) for at in range(state.shape[0])]
    make = _threefry_bits if op.algorithm is RngAlgorithm.THREE_FRY else _philox_bits
    following, bits = make(emitter, parts, shape, wide=dtype.itemsize == 8)
    return [bitcast(emitter, emitter.pack(following), operands[0].dtype), emitter.cast(bits, dtype)]


def _word(e: Emitter, value: int) -> Tensor:
    return e.splat(value, WORD)


def _split(e: Emitter, value: Tensor) -> tuple[Tensor, Tensor]:
    """The low and the high half of 64-bit words."""
    high = e.call("RightShift", value, e.splat(32, LONG))
    return e.cast(e.call("BitwiseAnd", value, e.splat(0xFFFFFFFF, LONG)), WORD), e.cast(high, WORD)


def _join(e: Emitter, low: Tensor, high: Tensor) -> Tensor:
    return e.call("BitwiseOr", e.cast(low, LONG), e.call("LeftShift", e.cast(high, LONG), e.splat(32, LONG)))


def _rotated(e: Emitter, x: Tensor, by: int) -> Tensor:
    left, right = e.call("LeftShift", x, _word(e, by)), e.call("RightShift", x, _word(e, 32 - by))
    return e.call("BitwiseOr", left, right)


def _threefry(e: Emitter, key: Sequence[Tensor], counter: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
    """Two random words for each counter of two words."""
    parity = e.call("BitwiseXor", e.call("BitwiseXor", key[0], key[1]), _word(e, int(PARITY)))
    keys = [*key, parity]
    x, y = e.call("AddV2", counter[0], keys[0]), e.call("AddV2", counter[1], keys[1])
    for group in range(5):
        for rotation in ROTATIONS[group % 2]:
            x = e.call("AddV2", x, y)
            y = e.call("BitwiseXor", x, _rotated(e, y, rotation))
        x = e.call("AddV2", x, keys[(group + 1) % 3])
        y = e.call("AddV2", y, e.call("AddV2", keys[(group + 2) % 3], _word(e, group + 1)))
    return x, y


def _threefry_bits(
    e: Emitter, state: Sequence[Tensor], shape: tuple[int, ...], *, wide: bool
) -> tuple[list[Tensor], Tensor]:
    """The next state, and bits of a shape: two words of 32 bits, or one of 64, for each counter."""
    half, dim = (shape, 0) if wide else halves(shape)
    count = math.prod(half)
    counter = e.call("AddV2", state[1], e.iota(count, LONG))
    x, y = _threefry(e, _split(e, state[0]), _split(e, counter))
    following = [state[0], e.call("AddV2", state[1], e.splat(count, LONG))]
    if wide:
        return following, e.reshape(_join(e, x, y), shape)
    apart = (*half[: dim + 1], 1, *half[dim + 1 :])
    pairs = e.concatenate([e.reshape(each, apart) for each in (x, y)], dim + 1)
    merged = e.reshape(pairs, (*half[:dim], 2 * half[dim], *half[dim + 1 :]))
    return following, e.reshape(e.cut(merged, dim, 0, shape[dim] if shape else 1), shape)


def _philox(e: Emitter, key: tuple[Tensor, Tensor], counter: Sequence[Tensor]) -> list[Tensor]:
    """Four random words for each counter of four words."""
    a, b, c, d = counter
    low, high = key
    for _ in range(10):
        first, second = (
            _split(e, e.call("Mul", e.cast(word, LONG), e.splat(int(multiplier), LONG)))
            for word, multiplier in zip((a, c), MULTIPLIERS, strict=True)
        )
        a, c = (
            e.call("BitwiseXor", e.call("BitwiseXor", product[1], word), key_word)
            for product, word, key_word in ((second, b, low), (first, d, high))
        )
        b, d = second[0], first[0]
        low, high = (e.call("AddV2", each, _word(e, int(step))) for each, step in zip((low, high), WEYL, strict=True))
    return [a, b, c, d]


def _philox_bits(
    e: Emitter, state: Sequence[Tensor], shape: tuple[int, ...], *, wide: bool
) -> tuple[list[Tensor], Tensor]:
    """The next state, and bits of a shape: four words of 32 bits, or two of 64, for each counter of 128 bits."""
    low, high, total = state[1], state[2] if len(state) == 3 else state[0], math.prod(shape)
    count = -(-total * (2 if wide else 1) // 4)
    lows = e.call("AddV2", low, e.iota(count, LONG))
    highs = e.call("AddV2", high, e.cast(e.call("Less", lows, low, result=BOOL), LONG))
    words = _philox(e, _split(e, state[0]), (*_split(e, lows), *_split(e, highs)))
    made = [_join(e, *words[:2]), _join(e, *words[2:])] if wide else words
    rows = e.concatenate([e.reshape(e.broadcast(word, (count,)), (count, 1)) for word in made], 1)
    bits = e.cut(e.reshape(rows, (count * len(made),)), 0, 0, total)
    last = e.call("AddV2", low, e.splat(count, LONG))
    carried = e.call("AddV2", high, e.cast(e.call("Less", last, low, result=BOOL), LONG))
    return [state[0], last, carried][: len(state)], e.reshape(bits, shape)
