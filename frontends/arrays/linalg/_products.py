"""Products of vectors and matrices, and what stands on diagonals."""

from __future__ import annotations

from operator import index
from typing import SupportsIndex

from shardwright.compiler.tracing import emit
from shardwright.compiler.tracing.array import Array, ArrayLike
from shardwright.compiler.tracing.dtypes import DTypeLike, check_kind, kind_of
from shardwright.compiler.tracing.settings import dim_of
from shardwright.compiler.tracing.trace import Tracer
from shardwright.diagnostics.faults import value_error
from shardwright.dialects import stablehlo
from shardwright.frontends.arrays.elementwise.functions import multiply
from shardwright.frontends.arrays.indexing.picking import cut
from shardwright.frontends.arrays.reducing.contractions import NUMERIC, matmul, tensordot, vecdot
from shardwright.frontends.arrays.reducing.reductions import accumulator, summed
from shardwright.frontends.arrays.shapes import matrix_transpose
from shardwright.frontends.functions.dispatch import array_function

__all__ = ["cross", "diagonal", "matmul", "matrix_transpose", "outer", "tensordot", "trace", "vecdot"]


@array_function
def cross(x1: ArrayLike, x2: ArrayLike, /, *, axis: int = -1) -> Array:
    """
    The cross product of vectors of three elements along dim `axis`; the other dims broadcast.

    >>> import shardwright, numpy
    >>> shardwright.linalg.cross(numpy.array([1, 0, 0]), numpy.array([0, 1, 0]))
    array([0, 0, 1])
    """
    shapes = [emit.shape_of(x) for x in (x1, x2)]
    if any(shape[dim_of(axis, len(shape), "cross")] != 3 for shape in shapes):
        raise value_error("SW0504", f"cross: dim {axis} of {shapes[0]} and {shapes[1]} must have 3 elements in both")
    left, right = emit.operands("cross", x1, x2)
    check_kind(left.dtype, NUMERIC, "cross")
    dim = dim_of(axis, left.ndim, "cross")
    a, b = ([cut(value, dim, at, at + 1) for at in range(3)] for value in (left, right))
    parts = [a[i] * b[j] - a[j] * b[i] for i, j in ((1, 2), (2, 0), (0, 1))]
    return emit.concatenate(parts, dim)


@array_function
def outer(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """
    The products of each element of one vector with each of another one.

    >>> import shardwright, numpy
    >>> shardwright.linalg.outer(numpy.array([1, 2]), numpy.array([3, 4]))
    array([[3, 4],
           [6, 8]])
    """
    left, right = (emit.as_tracer(x, "outer") for x in (x1, x2))
    if left.ndim != 1 or right.ndim != 1:
        raise value_error("SW0504", f"outer takes two vectors, not {list(left.shape)} and {list(right.shape)}")
    return multiply(emit.reshape(left, (left.size, 1)), right)


@array_function
def diagonal(x: ArrayLike, /, *, offset: SupportsIndex = 0) -> Array:
    """
    The diagonals of matrices; those above for a positive `offset`.

    >>> import shardwright, numpy
    >>> shardwright.linalg.diagonal(numpy.array([[1, 2], [3, 4]]), offset=1)
    array([2])
    """
    value = emit.as_tracer(x, "diagonal")
    if value.ndim < 2:
        raise value_error("SW0504", f"diagonal needs two dims, not {value.ndim}")
    return diagonals(value, index(offset))


def diagonals(value: Tracer, offset: int) -> Tracer:
    """Of the square whose diagonal it is, row-major, every element that is one row and one column further."""
    *batch, rows, columns = value.shape
    down, right = max(-offset, 0), max(offset, 0)
    size = max(min(rows - down, columns - right), 0)
    if not size:
        return emit.constant(0 if kind_of(value.dtype) != "boolean" else False, value.dtype, (*batch, 0))
    square = value[..., down : down + size, :][..., right : right + size]
    row = emit.reshape(square, (*batch, size * size))
    return emit.slice_(row, (0,) * row.ndim, row.shape, (*(1,) * len(batch), size + 1))


@array_function
def trace(x: ArrayLike, /, *, offset: SupportsIndex = 0, dtype: DTypeLike | None = None) -> Array:
    """The sums of the diagonals."""
    value = emit.as_tracer(x, "trace")
    check_kind(value.dtype, NUMERIC, "trace")
    if value.ndim < 2:
        raise value_error("SW0504", f"trace needs two dims, not {value.ndim}")
    wide = emit.convert(diagonals(value, index(offset)), accumulator(value.dtype, dtype))
    return summed(wide, stablehlo.AddOp, (wide.ndim - 1,), keepdims=False)
