"""Equations, determinants, inverses and ranks, by the factors of matrices."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shardwright.compiler.tracing import emit
from shardwright.compiler.tracing.array import Array, ArrayLike
from shardwright.compiler.tracing.dtypes import DEFAULT_INTEGER
from shardwright.compiler.tracing.trace import Tracer
from shardwright.diagnostics.faults import value_error
from shardwright.dialects import stablehlo
from shardwright.frontends.arrays.linalg._factors import matrices, singular, traced
from shardwright.frontends.arrays.reducing.contractions import matmul
from shardwright.frontends.arrays.reducing.reductions import max as largest, summed
from shardwright.frontends.functions.dispatch import array_function

__all__ = ["det", "inv", "matrix_power", "matrix_rank", "pinv", "slogdet", "solve"]


class SlogdetResult(NamedTuple):
    sign: Array
    logabsdet: Array


@array_function
def det(x: ArrayLike, /) -> Array:
    """
    The determinants, from LU factors.

    >>> import shardwright, numpy
    >>> float(shardwright.linalg.det(numpy.array([[2.0, 1.0], [1.0, 3.0]])))
    5.0
    """
    from shardwright.dialects import factors

    value = matrices(x, "det", square=True)
    return traced([factors.determinant(emit.builder(), value.value)])[0]


@array_function
def slogdet(x: ArrayLike, /) -> SlogdetResult:
    """The signs of the determinants, and the logarithms of their absolute values."""
    from shardwright.dialects import factors

    value = matrices(x, "slogdet", square=True)
    return SlogdetResult(*traced(factors.log_determinant(emit.builder(), value.value)))


@array_function
def solve(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """
    The solutions of `x1 @ x = x2`, where `x2` is one vector or has matrices.

    By orthogonal factors: these need no exchange of rows. Of a singular matrix they are not finite, or as large as
    rounding makes them.

    >>> import shardwright, numpy
    >>> x = shardwright.linalg.solve(numpy.array([[2.0, 0.0], [0.0, 4.0]]), numpy.array([2.0, 2.0]))
    >>> numpy.allclose(x, [1, 0.5])
    True
    """
    from shardwright.dialects import factors

    dtype = emit.result_dtype("solve", x1, x2)
    matrix = matrices(emit.typed(x1, dtype, "solve"), "solve", square=True)
    given = emit.typed(x2, dtype, "solve")
    vector = given.ndim == 1
    right = emit.reshape(given, (*given.shape, 1)) if vector else given
    if right.ndim < 2 or right.shape[-2] != matrix.shape[-1]:
        raise value_error("SW0504", f"solve does not fit shapes {list(matrix.shape)} and {list(given.shape)}")
    batch = emit.broadcast_shape("solve", matrix.shape[:-2], right.shape[:-2])
    wide = emit.broadcast(right, (*batch, *right.shape[-2:]))
    (solution,) = traced([factors.solved(emit.builder(), matrix.value, wide.value)])
    return emit.reshape(solution, solution.shape[:-1]) if vector else solution


@array_function
def inv(x: ArrayLike, /) -> Array:
    """
    The inverses of square matrices.

    >>> import shardwright, numpy
    >>> numpy.allclose(shardwright.linalg.inv(numpy.array([[2.0, 0.0], [0.0, 4.0]])), [[0.5, 0], [0, 0.25]])
    True
    """
    from shardwright.dialects import factors

    value = matrices(x, "inv", square=True)
    return traced([factors.inverse(emit.builder(), value.value)])[0]


def _identity(like: Tracer) -> Tracer:
    rows, columns = (emit.iota(DEFAULT_INTEGER, like.shape, like.ndim - back) for back in (2, 1))
    return emit.convert(rows == columns, like.dtype)


@array_function
def matrix_power(x: ArrayLike, n: int, /) -> Array:
    """
    The products of `n` factors that are all the same square matrix; of its inverse for a negative `n`.

    >>> import shardwright, numpy
    >>> shardwright.linalg.matrix_power(numpy.array([[1.0, 1.0], [0.0, 1.0]]), 3)
    array([[1., 3.],
           [0., 1.]])
    """
    value = emit.as_tracer(x, "matrix_power")
    if value.ndim < 2 or value.shape[-1] != value.shape[-2]:
        raise value_error("SW0504", f"matrix_power needs square matrices, not {list(value.shape)}")
    if n < 0:
        value, n = inv(value), -n
    if n == 0:
        return _identity(emit.as_tracer(value))
    result: Any = None
    while n:
        if n & 1:
            result = value if result is None else matmul(result, value)
        n >>= 1
        value = matmul(value, value) if n else value
    return result


@array_function
def pinv(x: ArrayLike, /, *, rtol: ArrayLike | None = None) -> Array:
    """The pseudoinverses: singular values up to `rtol` times the largest one count as zero."""
    from shardwright.dialects import factors

    value = matrices(x, "pinv")
    left, values, right = singular(value, "S")
    zero, one = (emit.constant(number, values.dtype, values.shape) for number in (0, 1))
    kept = values > _limit(value, values, rtol)
    inverse = emit.select(kept, one / emit.select(kept, values, one), zero)
    build = emit.builder()
    columns, rows = (factors.adjoint(build, part.value) for part in (right, left))
    scales = factors.along_columns(build, inverse.value, columns)
    found = factors.product(build, build.multiply(columns, scales), rows)
    return traced(factors.known(build, "pinv", [found], [value.value]))[0]


def _limit(value: Tracer, values: Tracer, rtol: ArrayLike | None) -> Tracer:
    """What the largest singular value, times the tolerance, sets as a limit."""
    if not values.shape[-1]:
        return values
    if rtol is None:
        rtol = max(value.shape[-2:]) * float(np.finfo(values.dtype).eps)
    batch = values.shape[:-1]
    limit = emit.fit(rtol, values.dtype, batch) * largest(values, axis=-1)
    return emit.broadcast(emit.reshape(limit, (*batch, 1)), values.shape)


@array_function
def matrix_rank(x: ArrayLike, /, *, rtol: ArrayLike | None = None) -> Array:
    """
    The numbers of singular values above `rtol` times the largest one.

    >>> import shardwright, numpy
    >>> int(shardwright.linalg.matrix_rank(numpy.ones((3, 3))))
    1
    """
    value = matrices(x, "matrix_rank")
    values = singular(value, "N")[0]
    above = values > _limit(value, values, rtol)
    return summed(emit.convert(above, DEFAULT_INTEGER), stablehlo.AddOp, (values.ndim - 1,), keepdims=False)
