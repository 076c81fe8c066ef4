"""
Linear algebra: `shardwright.linalg`, the extension of the array API standard.

Matrices stand in the last two dims, all dims before are batch and may be split. Factors are those of LAPACK.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from xdsl.dialects.builtin import IntegerAttr
from xdsl.dialects.builtin import i8 as byte

from shardwright.compiler.tracing import emit
from shardwright.compiler.tracing.dims import dim_of, dims_of
from shardwright.compiler.tracing.dtypes import DEFAULT_INTEGER, DType, DTypeLike, brief, check_kind, kind_of
from shardwright.compiler.tracing.emit import Value
from shardwright.compiler.tracing.trace import Tracer
from shardwright.diagnostics.faults import type_error, value_error
from shardwright.dialects import chlo, stablehlo
from shardwright.dialects.types import dtype_element, tensor
from shardwright.frontends.arrays.elementwise.functions import multiply, subtract
from shardwright.frontends.arrays.reducing.contractions import matmul, tensordot, vecdot
from shardwright.frontends.arrays.reducing.reductions import accumulator, summed
from shardwright.frontends.arrays.reducing.reductions import max as largest
from shardwright.frontends.arrays.reducing.reductions import min as smallest
from shardwright.frontends.arrays.reducing.reductions import sum as total
from shardwright.frontends.arrays.shapes import matrix_transpose
from shardwright.frontends.functions.dispatch import array_function

__all__ = [
    "cholesky",
    "cross",
    "det",
    "diagonal",
    "eigh",
    "eigvalsh",
    "inv",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "tensordot",
    "trace",
    "vecdot",
    "vector_norm",
]

_LETTERS = {"float32": "s", "float64": "d", "complex64": "c", "complex128": "z"}
NUMERIC = ("integer", "float", "complex")


class EighResult(NamedTuple):
    """What `eigh` gives."""

    eigenvalues: Any
    eigenvectors: Any


class QRResult(NamedTuple):
    """What `qr` gives."""

    Q: Any
    R: Any


class SlogdetResult(NamedTuple):
    """What `slogdet` gives."""

    sign: Any
    logabsdet: Any


class SVDResult(NamedTuple):
    """What `svd` gives."""

    U: Any
    S: Any
    Vh: Any


def _matrices(x: Value, what: str, *, square: bool = False) -> Tracer:
    value = emit.as_tracer(x, what)
    if value.dtype.name not in _LETTERS:
        raise type_error("SW0506", f"{what} cannot work on {brief(value.dtype)}", help="convert it to 32 bits first")
    if value.ndim < 2 or (square and value.shape[-1] != value.shape[-2]):
        kind = "square matrices" if square else "matrices"
        raise value_error("SW0504", f"{what} needs {kind} in the last two dims, not {list(value.shape)}")
    return value


def _real_dtype(dtype: DType) -> DType:
    return emit.as_dtype("float32" if dtype.name in ("float32", "complex64") else "float64")


def _lapack(
    routine: str, operands: Sequence[Tracer], results: Sequence[tuple[Sequence[int], DType]], **options: str | bool
) -> list[Tracer]:
    """A call of a LAPACK routine, which its operands' type completes."""
    config: dict[str, Any] = {
        name: IntegerAttr(int(option), 1) if isinstance(option, bool) else IntegerAttr(ord(option), byte)
        for name, option in options.items()
    }
    types = [tensor(tuple(shape), dtype_element(dtype)) for shape, dtype in results]
    target = f"lapack_{_LETTERS[operands[0].dtype.name]}{routine}_ffi"
    op = stablehlo.CustomCallOp(target, [value.value for value in operands], types, config)
    trace = emit.trace_now()
    trace.emit(op)
    return [Tracer(trace, result) for result in op.results]


@array_function
def cholesky(x: Value, /, *, upper: bool = False) -> Any:
    """
    The triangular factor of positive definite matrices: `l @ l^H`, or `u^H @ u`; NaN where they are none.

    >>> import shardwright, numpy
    >>> shardwright.linalg.cholesky(numpy.array([[4.0, 2.0], [2.0, 2.0]]))
    array([[2., 0.],
           [1., 1.]])
    """
    value = _matrices(x, "cholesky", square=True)
    return emit.trace_now().emit(stablehlo.CholeskyOp(value.value, lower=not upper))


@array_function
def cross(x1: Value, x2: Value, /, *, axis: int = -1) -> Any:
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
    a, b = ([_slice(value, dim, at, at + 1) for at in range(3)] for value in (left, right))
    parts = [subtract(multiply(a[i], b[j]), multiply(a[j], b[i])) for i, j in ((1, 2), (2, 0), (0, 1))]
    return emit.concatenate(parts, dim)


def _slice(value: Tracer, dim: int, start: int, limit: int) -> Tracer:
    starts = [start if at == dim else 0 for at in range(value.ndim)]
    limits = [limit if at == dim else size for at, size in enumerate(value.shape)]
    return emit.slice_(value, starts, limits, (1,) * value.ndim)


@array_function
def det(x: Value, /) -> Any:
    """
    The determinants, from LU factors.

    >>> import shardwright, numpy
    >>> float(shardwright.linalg.det(numpy.array([[2.0, 1.0], [1.0, 3.0]])))
    5.0
    """
    value = _matrices(x, "det", square=True)
    pivots, turns = _pivots(value)
    return multiply(turns, _product(pivots))


def _pivots(value: Tracer) -> tuple[Tracer, Tracer]:
    """The diagonal of the upper factor, and the sign of the rows' permutation."""
    *batch, size, _ = value.shape
    results = [(value.shape, value.dtype), ((*batch, size), DEFAULT_INTEGER), (batch, DEFAULT_INTEGER)]
    factors, places, _ = _lapack("getrf", [value], results)
    own = emit.binary(stablehlo.AddOp, emit.iota(DEFAULT_INTEGER, places.shape, len(batch)), _ones(places))
    moved = emit.convert(emit.compare("NE", places, own), value.dtype)
    one = _ones(moved)
    signs = emit.binary(stablehlo.SubtractOp, one, emit.binary(stablehlo.AddOp, moved, moved))
    return _diagonal(factors, 0), _product(signs)


def _ones(like: Tracer) -> Tracer:
    return emit.constant(1, like.dtype, like.shape)


def _product(value: Tracer) -> Tracer:
    return summed(value, stablehlo.MultiplyOp, (value.ndim - 1,), keepdims=False)


@array_function
def slogdet(x: Value, /) -> Any:
    """The signs of the determinants, and the logarithms of their absolute values."""
    value = _matrices(x, "slogdet", square=True)
    pivots, turns = _pivots(value)
    sizes = emit.unary(stablehlo.AbsOp, pivots)
    logarithm = summed(emit.unary(stablehlo.LogOp, sizes), stablehlo.AddOp, (sizes.ndim - 1,), keepdims=False)
    return SlogdetResult(multiply(turns, _product(emit.unary(stablehlo.SignOp, pivots))), logarithm)


@array_function
def diagonal(x: Value, /, *, offset: int = 0) -> Any:
    """
    The diagonals of matrices; those above for a positive `offset`.

    >>> import shardwright, numpy
    >>> shardwright.linalg.diagonal(numpy.array([[1, 2], [3, 4]]), offset=1)
    array([2])
    """
    value = emit.as_tracer(x, "diagonal")
    if value.ndim < 2:
        raise value_error("SW0504", f"diagonal needs two dims, not {value.ndim}")
    return _diagonal(value, offset)


def _diagonal(value: Tracer, offset: int) -> Tracer:
    """Of the square whose diagonal it is, row-major, every element that is one row and one column further."""
    *batch, rows, columns = value.shape
    down, right = max(-offset, 0), max(offset, 0)
    size = max(min(rows - down, columns - right), 0)
    if not size:
        return emit.constant(0 if kind_of(value.dtype) != "boolean" else False, value.dtype, (*batch, 0))
    square = _slice(_slice(value, len(batch), down, down + size), len(batch) + 1, right, right + size)
    row = emit.reshape(square, (*batch, size * size))
    return emit.slice_(row, (0,) * row.ndim, row.shape, (*(1,) * len(batch), size + 1))


@array_function
def trace(x: Value, /, *, offset: int = 0, dtype: DTypeLike | None = None) -> Any:
    """The sums of the diagonals."""
    value = emit.as_tracer(x, "trace")
    check_kind(value.dtype, NUMERIC, "trace")
    if value.ndim < 2:
        raise value_error("SW0504", f"trace needs two dims, not {value.ndim}")
    wide = emit.convert(_diagonal(value, offset), accumulator(value.dtype, dtype))
    return summed(wide, stablehlo.AddOp, (wide.ndim - 1,), keepdims=False)


@array_function
def eigh(x: Value, /) -> Any:
    """
    The eigenvalues of Hermitian matrices in ascending order, and their eigenvectors as columns.

    >>> import shardwright, numpy
    >>> shardwright.linalg.eigh(numpy.array([[2.0, 0.0], [0.0, 1.0]])).eigenvalues
    array([1., 2.])
    """
    vectors, values = _symmetric(x, "eigh", "V")
    return EighResult(values, vectors)


@array_function
def eigvalsh(x: Value, /) -> Any:
    """The eigenvalues of Hermitian matrices, in ascending order."""
    return _symmetric(x, "eigvalsh", "N")[1]


def _symmetric(x: Value, what: str, mode: str) -> tuple[Tracer, Tracer]:
    value = _matrices(x, what, square=True)
    *batch, size, _ = value.shape
    routine = "heevd" if kind_of(value.dtype) == "complex" else "syevd"
    results = [(value.shape, value.dtype), ((*batch, size), _real_dtype(value.dtype)), (batch, DEFAULT_INTEGER)]
    vectors, values, _ = _lapack(routine, [value], results, mode=mode, uplo="L")
    return vectors, values


@array_function
def qr(x: Value, /, *, mode: str = "reduced") -> Any:
    """
    Orthonormal columns and upper triangles whose products are the matrices; all columns for `mode="complete"`.

    >>> import shardwright, numpy
    >>> q, r = shardwright.linalg.qr(numpy.eye(2))
    >>> numpy.allclose(q @ r, numpy.eye(2))
    True
    """
    if mode not in ("reduced", "complete"):
        raise value_error("SW0510", f"qr: there is no mode {mode!r}", help="it is reduced or complete")
    value = _matrices(x, "qr")
    return QRResult(*_factored(value, value.shape[-2] if mode == "complete" else min(value.shape[-2:])))


def _factored(value: Tracer, count: int) -> tuple[Tracer, Tracer]:
    """`count` orthonormal columns, and as many rows of the upper triangle."""
    *batch, rows, columns = value.shape
    least = min(rows, columns)
    factors, scales = _lapack("geqrf", [value], [(value.shape, value.dtype), ((*batch, least), value.dtype)])
    last = value.ndim - 1
    kept = _slice(factors, last, 0, least)
    if count > least:
        kept = emit.concatenate([kept, emit.constant(0, value.dtype, (*batch, rows, count - least))], last)
    routine = "ungqr" if kind_of(value.dtype) == "complex" else "orgqr"
    (basis,) = _lapack(routine, [kept, scales], [(kept.shape, value.dtype)])
    return basis, _triangle(_slice(factors, last - 1, 0, count), "LE")


def _triangle(value: Tracer, direction: str) -> Tracer:
    """Elements whose row relates to their column so, zeros elsewhere."""
    rows, columns = (emit.iota(DEFAULT_INTEGER, value.shape, value.ndim - back) for back in (2, 1))
    return emit.select(emit.compare(direction, rows, columns), value, emit.constant(0, value.dtype, value.shape))


@array_function
def solve(x1: Value, x2: Value, /) -> Any:
    """
    The solutions of `x1 @ x = x2`, where `x2` is one vector or has matrices; not finite for a singular matrix.

    By orthogonal factors: these need no exchange of rows.

    >>> import shardwright, numpy
    >>> x = shardwright.linalg.solve(numpy.array([[2.0, 0.0], [0.0, 4.0]]), numpy.array([2.0, 2.0]))
    >>> numpy.allclose(x, [1, 0.5])
    True
    """
    dtype = emit.result_dtype("solve", x1, x2)
    matrix = _matrices(emit.convert(emit.as_tracer(x1, "solve"), dtype), "solve", square=True)
    given = emit.convert(emit.as_tracer(x2, "solve"), dtype)
    vector = given.ndim == 1
    right = emit.reshape(given, (*given.shape, 1)) if vector else given
    if right.ndim < 2 or right.shape[-2] != matrix.shape[-1]:
        raise value_error("SW0504", f"solve does not fit shapes {list(matrix.shape)} and {list(given.shape)}")
    solution = _solved(matrix, right)
    return emit.reshape(solution, solution.shape[:-1]) if vector else solution


def _solved(matrix: Tracer, right: Tracer) -> Tracer:
    basis, triangle = _factored(matrix, matrix.shape[-1])
    turned = matmul(_adjoint(basis), right)
    batch = turned.shape[:-2]
    wide = emit.broadcast(triangle, (*batch, *triangle.shape[-2:]))
    op = stablehlo.TriangularSolveOp(wide.value, turned.value, lower=False)
    return emit.trace_now().emit(op)


def _adjoint(value: Tracer) -> Tracer:
    order = (*range(value.ndim - 2), value.ndim - 1, value.ndim - 2)
    turned = emit.transpose(value, order)
    return emit.unary(chlo.ConjOp, turned) if kind_of(value.dtype) == "complex" else turned


@array_function
def inv(x: Value, /) -> Any:
    """
    The inverses of square matrices.

    >>> import shardwright, numpy
    >>> numpy.allclose(shardwright.linalg.inv(numpy.array([[2.0, 0.0], [0.0, 4.0]])), [[0.5, 0], [0, 0.25]])
    True
    """
    value = _matrices(x, "inv", square=True)
    return _solved(value, _identity(value))


def _identity(like: Tracer) -> Tracer:
    rows, columns = (emit.iota(DEFAULT_INTEGER, like.shape, like.ndim - back) for back in (2, 1))
    return emit.convert(emit.compare("EQ", rows, columns), like.dtype)


@array_function
def matrix_power(x: Value, n: int, /) -> Any:
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
        return _identity(value)
    result: Any = None
    while n:
        if n & 1:
            result = value if result is None else matmul(result, value)
        n >>= 1
        value = matmul(value, value) if n else value
    return result


@array_function
def svd(x: Value, /, *, full_matrices: bool = True) -> Any:
    """
    Singular values in descending order between left vectors, as columns, and right ones, as rows.

    >>> import shardwright, numpy
    >>> shardwright.linalg.svd(numpy.array([[0.0, 2.0], [1.0, 0.0]])).S
    array([2., 1.])
    """
    return SVDResult(*_singular(_matrices(x, "svd"), "A" if full_matrices else "S"))


@array_function
def svdvals(x: Value, /) -> Any:
    """The singular values of matrices, in descending order."""
    return _singular(_matrices(x, "svdvals"), "N")[1]


def _singular(value: Tracer, mode: str) -> tuple[Tracer, Tracer, Tracer]:
    *batch, rows, columns = value.shape
    least = min(rows, columns)
    some = mode == "S"
    left, right = (rows, least if some else rows), (least if some else columns, columns)
    shapes = [(rows, columns), (least,), left, right, ()]
    dtypes = [value.dtype, _real_dtype(value.dtype), value.dtype, value.dtype, DEFAULT_INTEGER]
    results = [((*batch, *shape), dtype) for shape, dtype in zip(shapes, dtypes, strict=True)]
    _, values, vectors, rows_, _ = _lapack("gesdd", [value], results, mode=mode)
    return vectors, values, rows_


@array_function
def pinv(x: Value, /, *, rtol: Value | None = None) -> Any:
    """The pseudoinverses: singular values up to `rtol` times the largest one count as zero."""
    value = _matrices(x, "pinv")
    left, values, right = _singular(value, "S")
    zero, one = emit.constant(0, values.dtype, values.shape), _ones(values)
    kept = emit.compare("GT", values, _limit(value, values, rtol))
    inverse = emit.select(kept, emit.binary(stablehlo.DivideOp, one, emit.select(kept, values, one)), zero)
    scaled = _scaled_columns(_adjoint(right), emit.convert(inverse, value.dtype))
    return matmul(scaled, _adjoint(left))


def _scaled_columns(matrix: Tracer, scales: Tracer) -> Tracer:
    row = emit.reshape(scales, (*scales.shape[:-1], 1, scales.shape[-1]))
    return emit.binary(stablehlo.MultiplyOp, matrix, emit.broadcast(row, matrix.shape))


def _limit(value: Tracer, values: Tracer, rtol: Value | None) -> Tracer:
    """What the largest singular value, times the tolerance, sets as a limit."""
    if not values.shape[-1]:
        return values
    if rtol is None:
        from shardwright.frontends.arrays.types.dtypes import finfo

        rtol = max(value.shape[-2:]) * float(finfo(values.dtype).eps)
    batch = values.shape[:-1]
    tolerance = emit.fit(rtol, values.dtype, batch)
    top = largest(values, axis=-1)
    limit = emit.binary(stablehlo.MultiplyOp, tolerance, top)
    return emit.broadcast(emit.reshape(limit, (*batch, 1)), values.shape)


@array_function
def matrix_rank(x: Value, /, *, rtol: Value | None = None) -> Any:
    """
    The numbers of singular values above `rtol` times the largest one.

    >>> import shardwright, numpy
    >>> int(shardwright.linalg.matrix_rank(numpy.ones((3, 3))))
    1
    """
    value = _matrices(x, "matrix_rank")
    values = _singular(value, "N")[1]
    above = emit.compare("GT", values, _limit(value, values, rtol))
    return summed(emit.convert(above, DEFAULT_INTEGER), stablehlo.AddOp, (values.ndim - 1,), keepdims=False)


@array_function
def outer(x1: Value, x2: Value, /) -> Any:
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
def matrix_norm(x: Value, /, *, keepdims: bool = False, ord: float | str | None = "fro") -> Any:
    """
    A norm of each matrix: `fro`, `nuc`, 1, 2, infinity, or -1, -2, -infinity for the least instead of the largest.

    >>> import shardwright, numpy
    >>> float(shardwright.linalg.matrix_norm(numpy.array([[3.0, 0.0], [0.0, 4.0]])))
    5.0
    """
    value = _matrices(x, "matrix_norm")
    if ord is None or ord == "fro":
        squares = _squares(value)
        norm = emit.unary(stablehlo.SqrtOp, total(squares, axis=(-2, -1)))
    elif ord in (1, -1, math.inf, -math.inf):
        sums = total(emit.unary(stablehlo.AbsOp, value), axis=-2 if abs(float(ord)) == 1 else -1)
        norm = _extreme(sums, float(ord))
    elif ord == "nuc" or ord in (2, -2):
        values = _singular(value, "N")[1]
        norm = total(values, axis=-1) if ord == "nuc" else _extreme(values, float(ord))
    else:
        raise value_error("SW0510", f"matrix_norm: there is no norm {ord!r}", help="it is fro, nuc, 1, 2, inf or minus")
    return emit.reshape(norm, (*norm.shape, 1, 1)) if keepdims else norm


def _extreme(values: Tracer, order: float) -> Tracer:
    """The largest along the last dim, or the least for a negative order; zero of none."""
    if not values.shape[-1]:
        return emit.constant(0, values.dtype, values.shape[:-1])
    return largest(values, axis=-1) if order > 0 else smallest(values, axis=-1)


def _squares(value: Tracer) -> Tracer:
    size = emit.unary(stablehlo.AbsOp, value)
    return emit.binary(stablehlo.MultiplyOp, size, size)


@array_function
def vector_norm(x: Value, /, *, axis: int | Sequence[int] | None = None, keepdims: bool = False, ord: float = 2) -> Any:
    """
    The norm of order `ord` over the dims in `axis`, or over all: 0 counts elements, infinity takes the largest one.

    >>> import shardwright, numpy
    >>> float(shardwright.linalg.vector_norm(numpy.array([3.0, -4.0])))
    5.0
    """
    value = emit.as_tracer(x, "vector_norm")
    check_kind(value.dtype, ("float", "complex"), "vector_norm")
    dims = dims_of(axis, value.ndim, "vector_norm")
    sizes = emit.unary(stablehlo.AbsOp, value)
    if math.isinf(ord):
        empty = any(value.shape[dim] == 0 for dim in dims)
        if empty:
            return total(sizes, axis=dims, keepdims=keepdims)
        return (largest if ord > 0 else smallest)(sizes, axis=dims, keepdims=keepdims)
    if ord == 0:
        nonzero = emit.compare("NE", sizes, emit.constant(0, sizes.dtype, sizes.shape))
        return total(emit.convert(nonzero, sizes.dtype), axis=dims, keepdims=keepdims)
    if ord == 1:
        return total(sizes, axis=dims, keepdims=keepdims)
    if ord == 2:
        return emit.unary(stablehlo.SqrtOp, total(_squares(value), axis=dims, keepdims=keepdims))
    powers = emit.binary(stablehlo.PowerOp, sizes, emit.constant(ord, sizes.dtype, sizes.shape))
    sums = total(powers, axis=dims, keepdims=keepdims)
    return emit.binary(stablehlo.PowerOp, sums, emit.constant(1 / ord, sums.dtype, sums.shape))
