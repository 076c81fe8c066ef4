"""Operations that make and move elements, products, and boxes at computed places."""

from __future__ import annotations

import functools
import math
import string
from collections.abc import Sequence

import numpy as np
from xdsl.ir import Operation

from shardwright.dialects import stablehlo
from shardwright.dialects.dtensor.roll import RollOp
from shardwright.dialects.text.literals import is_splat
from shardwright.dialects.types import element_dtype, shape_of
from shardwright.frontends.tensorflow.exporting.emitter import HANDLERS, Emitter, Handler, handler
from shardwright.frontends.tensorflow.exporting.kernels import working
from shardwright.frontends.tensorflow.exporting.nodes import BOOL, INT32, INT64, DType, Refusal, Tensor
from shardwright.frontends.tensorflow.exporting.operations.pointwise import convert
from shardwright.runtime.kernels.elementwise import is_unsigned, working_dtype


@handler("stablehlo.constant")
def _constant(emitter: Emitter, op: stablehlo.ConstantOp, operands: list[Tensor]) -> list[Tensor]:
    dtype, shape = element_dtype(op.result.type), shape_of(op.result)
    if is_splat(op.value):
        return [emitter.splat(stablehlo.splat_value(op), dtype, shape)]
    return [emitter.literal(dtype, shape, op.value.data.data)]


@handler("stablehlo.iota")
def _iota(emitter: Emitter, op: stablehlo.IotaOp, operands: list[Tensor]) -> list[Tensor]:
    dtype, shape = element_dtype(op.result.type), shape_of(op.result)
    counted = emitter.counted(shape, op.dim, dtype if dtype.kind in "iu" else INT64)
    return [convert(emitter, counted, dtype)]


@handler("stablehlo.broadcast_in_dim")
def _broadcast_in_dim(emitter: Emitter, op: stablehlo.BroadcastInDimOp, operands: list[Tensor]) -> list[Tensor]:
    (x,), shape, dims = operands, shape_of(op.result), op.dims
    if x.is_splat:
        return [emitter.broadcast(x, shape)]
    order = sorted(range(len(dims)), key=lambda at: dims[at])
    ordered = emitter.transpose(x, order)
    placed = [1] * len(shape)
    for at, extent in zip(order, ordered.shape, strict=True):
        placed[dims[at]] = extent
    while placed and placed[0] == 1:
        placed.pop(0)
    return [emitter.broadcast(emitter.reshape(ordered, placed), shape)]


@handler("dtensor.roll")
def _roll(emitter: Emitter, op: RollOp, operands: list[Tensor]) -> list[Tensor]:
    """The end, then the beginning."""
    (x,), dim = operands, op.dim
    extent = x.shape[dim]
    at = extent - op.amount
    return [emitter.concatenate([emitter.cut(x, dim, at, extent), emitter.cut(x, dim, 0, at)], dim)]


def padded(
    e: Emitter, x: Tensor, padding: Tensor, low: Sequence[int], high: Sequence[int], interior: Sequence[int]
) -> Tensor:
    """The padding between elements, then around them; what is negative is cut afterwards."""
    for dim, holes in enumerate(interior):
        if holes and x.shape[dim] > 1:
            x = _spaced(e, x, padding, dim, holes)
    x = e.pad(x, padding, [max(0, amount) for amount in low], [max(0, amount) for amount in high])
    starts = [max(0, -amount) for amount in low]
    limits = [extent - max(0, -amount) for extent, amount in zip(x.shape, high, strict=True)]
    return e.slice(x, starts, limits, [1] * len(starts))


def _spaced(e: Emitter, x: Tensor, padding: Tensor, dim: int, holes: int) -> Tensor:
    """Elements of one dim with room between them: each gets a row of its own, which is padded."""
    before, extent, after = math.prod(x.shape[:dim]), x.shape[dim], math.prod(x.shape[dim + 1 :])
    apart = e.reshape(x, (before, extent, 1, after))
    rows = e.pad(apart, padding, (0, 0, 0, 0), (0, 0, holes, 0))
    joined = e.reshape(rows, (*x.shape[:dim], extent * (holes + 1), *x.shape[dim + 1 :]))
    return e.cut(joined, dim, 0, (extent - 1) * (holes + 1) + 1)


@handler("stablehlo.dot_general")
def _dot_general(emitter: Emitter, op: stablehlo.DotGeneralOp, operands: list[Tensor]) -> list[Tensor]:
    numbers, (lhs, rhs) = op.dims, operands
    dtype, shape = element_dtype(op.result.type), shape_of(op.result)
    if not math.prod(shape) or any(lhs.shape[dim] == 0 for dim in numbers.lhs_contracting):
        return [emitter.splat(0, dtype, shape)]
    pairs = (numbers.lhs_batching, numbers.rhs_batching, numbers.lhs_contracting, numbers.rhs_contracting)
    return [_product(emitter, lhs, rhs, pairs, dtype)]


Pairs = tuple[Sequence[int], Sequence[int], Sequence[int], Sequence[int]]
"""Batching dims of both operands, then contracting dims of both."""


def _product(e: Emitter, lhs: Tensor, rhs: Tensor, pairs: Pairs, dtype: DType) -> Tensor:
    """A product of two tensors: matrices where dims lie so, else by the letters of its dims."""
    if BOOL in (lhs.dtype, rhs.dtype):
        raise Refusal("products of truth values")
    wide = working("MatMul", common(lhs.dtype, rhs.dtype, dtype))
    left, right = (e.whole(e.cast(operand, wide)) for operand in (lhs, rhs))
    made = _matrices(e, left, right, pairs)
    return convert(e, _letters(e, left, right, pairs) if made is None else made, dtype)


def common(*dtypes: DType) -> DType:
    """The type in which numbers of these types are combined."""
    return functools.reduce(np.promote_types, map(working_dtype, dtypes))


def _matrices(e: Emitter, lhs: Tensor, rhs: Tensor, pairs: Pairs) -> Tensor | None:
    """Leading batching dims, then one row and one column dim; None where dims lie otherwise."""
    batch, other, contracted, against = (tuple(dims) for dims in pairs)
    lead = len(batch)
    ranks = len(lhs.shape) == len(rhs.shape) == lead + 2
    if not ranks or batch != other or batch != tuple(range(lead)) or len(contracted) != 1:
        return None
    turned, flipped = contracted[0] == lead, against[0] == lead + 1
    shape = (*lhs.shape[:lead], lhs.shape[lead + 1 if turned else lead], rhs.shape[lead if flipped else lead + 1])
    if not lead:
        return e.node("MatMul", (lhs, rhs), shape, lhs.dtype, transpose_a=turned, transpose_b=flipped)
    if lhs.dtype.kind == "c" and (turned or flipped):  # it would take the adjoint
        return None
    return e.node("BatchMatMulV2", (lhs, rhs), shape, lhs.dtype, adj_x=turned, adj_y=flipped)


def _letters(e: Emitter, lhs: Tensor, rhs: Tensor, pairs: Pairs) -> Tensor:
    batch, other, contracted, against = pairs
    free = iter(string.ascii_letters)
    left = [next(free) for _ in lhs.shape]
    right = [""] * len(rhs.shape)
    for mine, theirs in zip((*batch, *contracted), (*other, *against), strict=True):
        right[theirs] = left[mine]
    right = [letter or next(free) for letter in right]
    kept = [left[dim] for dim in batch]
    kept += [letter for dim, letter in enumerate(left) if dim not in (*batch, *contracted)]
    kept += [letter for dim, letter in enumerate(right) if dim not in (*other, *against)]
    sizes = dict(zip((*left, *right), (*lhs.shape, *rhs.shape), strict=True))
    equation = f"{''.join(left)},{''.join(right)}->{''.join(kept)}"
    return e.node("Einsum", (lhs, rhs), [sizes[letter] for letter in kept], lhs.dtype, equation=equation)


@handler("stablehlo.dynamic_slice")
def _dynamic_slice(emitter: Emitter, op: stablehlo.DynamicSliceOp, operands: list[Tensor]) -> list[Tensor]:
    x, *starts = operands
    shape = shape_of(op.results[0])
    if x.shape == shape:
        return [x]
    if x.is_splat or 0 in shape:
        return [emitter.splat(0, x.dtype, shape) if 0 in shape else emitter.broadcast(x, shape)]
    begin = _corner(emitter, x.shape, starts, shape)
    return [emitter.node("Slice", (emitter.whole(x), begin, _like(emitter, shape, begin)), shape, x.dtype)]


@handler("stablehlo.dynamic_update_slice")
def _dynamic_update_slice(emitter: Emitter, op: Operation, operands: list[Tensor]) -> list[Tensor]:
    x, update, *starts = operands
    if x.shape == update.shape:
        return [update]
    if 0 in update.shape:
        return [x]
    begin = _corner(emitter, x.shape, starts, update.shape)
    sizes = _like(emitter, update.shape, begin)
    ends, steps = emitter.call("AddV2", begin, sizes), _like(emitter, (1,) * len(x.shape), begin)
    inputs = (emitter.whole(x), begin, ends, steps, emitter.whole(update))
    return [emitter.node("TensorStridedSliceUpdate", inputs, x.shape, x.dtype)]


def _like(e: Emitter, values: Sequence[int], other: Tensor) -> Tensor:
    return e.constant(np.array(values, other.dtype))


def _corner(e: Emitter, shape: Sequence[int], starts: Sequence[Tensor], sizes: Sequence[int]) -> Tensor:
    """Where a box begins, moved so that it lies inside of a tensor."""
    dtype = INT32 if max(shape) < 2**31 else INT64
    places = [
        e.splat(0, dtype) if extent == size else clamped(e, start, extent - size, dtype)
        for start, extent, size in zip(starts, shape, sizes, strict=True)
    ]
    return e.pack(places)


def clamped(e: Emitter, index: Tensor, highest: int, dtype: DType) -> Tensor:
    """Indices moved into 0 ... `highest`; one that is read as unsigned is high, not negative."""
    own = index.dtype
    bound = min(highest, int(np.iinfo(own).max))
    index = e.call("Minimum", index, e.like(bound, index))
    if not is_unsigned(own):
        index = e.call("Maximum", index, e.like(0, index))
    return e.cast(index, dtype)


_SHORT: dict[str, Handler] = {
    "concatenate": lambda e, op, operands: [e.concatenate(operands, op.dim)],
    "pad": lambda e, op, operands: [padded(e, operands[0], operands[1], *op.amounts)],
    "reshape": lambda e, op, operands: [e.reshape(operands[0], shape_of(op.result))],
    "reverse": lambda e, op, operands: [e.reverse(operands[0], op.dims)],
    "slice": lambda e, op, operands: [e.slice(operands[0], *op.bounds)],
    "transpose": lambda e, op, operands: [e.transpose(operands[0], op.dims)],
}
HANDLERS.update((f"stablehlo.{name}", write) for name, write in _SHORT.items())
