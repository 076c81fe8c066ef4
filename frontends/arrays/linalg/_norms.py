"""Norms of vectors and matrices."""

from __future__ import annotations

import math
from collections.abc import Sequence

from shardwright.compiler.tracing import emit
from shardwright.compiler.tracing.array import Array, ArrayLike
from shardwright.compiler.tracing.dtypes import check_kind
from shardwright.compiler.tracing.settings import dims_of
from shardwright.compiler.tracing.trace import Tracer
from shardwright.diagnostics.faults import value_error
from shardwright.dialects import stablehlo
from shardwright.frontends.arrays.elementwise.functions import sqrt
from shardwright.frontends.arrays.linalg._factors import matrices, singular
from shardwright.frontends.arrays.reducing.reductions import max as largest, min as smallest, sum as total, widened
from shardwright.frontends.functions.dispatch import array_function

__all__ = ["matrix_norm", "vector_norm"]


@array_function
def matrix_norm(x: ArrayLike, /, *, keepdims: bool = False, ord: float | str | None = "fro") -> Array:
    """
    A norm of each matrix: `fro`, `nuc`, 1, 2, infinity, or -1, -2, -infinity for the least instead of the largest.

    >>> import shardwright, numpy
    >>> float(shardwright.linalg.matrix_norm(numpy.array([[3.0, 0.0], [0.0, 4.0]])))
    5.0
    """
    value = matrices(x, "matrix_norm")
    if ord is None or ord == "fro":
        norm = sqrt(total(_squares(value), axis=(-2, -1)))
    elif ord in (1, -1, math.inf, -math.inf):
        sums = total(abs(value), axis=-2 if abs(float(ord)) == 1 else -1)
        norm = _extreme(emit.as_tracer(sums), float(ord))
    elif ord == "nuc" or ord in (2, -2):
        values = singular(value, "N")[0]
        norm = total(values, axis=-1) if ord == "nuc" else _extreme(values, float(ord))
    else:
        raise value_error("SW0510", f"matrix_norm: there is no norm {ord!r}", help="it is fro, nuc, 1, 2, inf or minus")
    return emit.reshape(emit.as_tracer(norm), (*norm.shape, 1, 1)) if keepdims else norm


def _extreme(values: Tracer, order: float) -> Tracer:
    """The largest along the last dim, or the least for a negative order; zero of none."""
    if not values.shape[-1]:
        return emit.constant(0, values.dtype, values.shape[:-1])
    return emit.as_tracer(largest(values, axis=-1) if order > 0 else smallest(values, axis=-1))


def _squares(value: Tracer) -> Tracer:
    size = abs(value)
    return size * size


@array_function
def vector_norm(
    x: ArrayLike, /, *, axis: int | Sequence[int] | None = None, keepdims: bool = False, ord: float = 2
) -> Array:
    """
    The norm of order `ord` over the dims in `axis`, or over all: 0 counts elements, infinity takes the largest one.

    >>> import shardwright, numpy
    >>> float(shardwright.linalg.vector_norm(numpy.array([3.0, -4.0])))
    5.0
    """
    value = emit.as_tracer(x, "vector_norm")
    check_kind(value.dtype, ("float", "complex"), "vector_norm")
    dims = dims_of(axis, value.ndim, "vector_norm")
    wide = widened(value)  # the squares of 16-bit floats would overflow
    norm = emit.as_tracer(_vector_norm(wide, dims, keepdims, ord))
    return norm if wide is value else emit.convert(norm, value.dtype)


def _vector_norm(value: Tracer, dims: tuple[int, ...], keepdims: bool, ord: float) -> Array:
    sizes = abs(value)
    empty = any(value.shape[dim] == 0 for dim in dims)
    if math.isinf(ord) and not empty:
        return (largest if ord > 0 else smallest)(sizes, axis=dims, keepdims=keepdims)
    if ord == 1 or math.isinf(ord):
        return total(sizes, axis=dims, keepdims=keepdims)
    if ord == 0:
        return total(emit.convert(sizes != 0, sizes.dtype), axis=dims, keepdims=keepdims)
    if ord == 2:
        return sqrt(total(_squares(value), axis=dims, keepdims=keepdims))
    powers = emit.binary(stablehlo.PowerOp, sizes, emit.constant(ord, sizes.dtype, sizes.shape))
    sums = total(powers, axis=dims, keepdims=keepdims)
    return emit.binary(stablehlo.PowerOp, emit.as_tracer(sums), emit.constant(1 / ord, sums.dtype, sums.shape))
