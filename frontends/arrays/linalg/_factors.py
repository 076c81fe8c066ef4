"""Factors of matrices, those of LAPACK, and what they are made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from xdsl.dialects.builtin import IntegerAttr, IntegerType, Signedness
from xdsl.ir import Attribute

from shardwright.compiler.tracing import emit
from shardwright.compiler.tracing.array import Array, ArrayLike
from shardwright.compiler.tracing.dtypes import DEFAULT_INTEGER, DType, brief, kind_of
from shardwright.compiler.tracing.trace import Tracer
from shardwright.diagnostics.faults import type_error, value_error
from shardwright.dialects import stablehlo
from shardwright.dialects.types import dtype_element, tensor
from shardwright.frontends.arrays.elementwise.functions import where
from shardwright.frontends.functions.dispatch import array_function

__all__ = ["cholesky", "eigh", "eigvalsh", "qr", "svd", "svdvals"]

BYTE = IntegerType(8, Signedness.UNSIGNED)
"""The type of LAPACK's options, which are letters."""

_LETTERS = {"float32": "s", "float64": "d", "complex64": "c", "complex128": "z"}


class EighResult(NamedTuple):
    eigenvalues: Array
    eigenvectors: Array


class QRResult(NamedTuple):
    Q: Array
    R: Array


class SVDResult(NamedTuple):
    U: Array
    S: Array
    Vh: Array


def matrices(x: ArrayLike, what: str, *, square: bool = False) -> Tracer:
    """Traced matrices of a type that LAPACK has."""
    value = emit.as_tracer(x, what)
    if value.dtype.name not in _LETTERS:
        raise type_error("SW0506", f"{what} cannot work on {brief(value.dtype)}", help="convert it to 32 bits first")
    if value.ndim < 2 or (square and value.shape[-1] != value.shape[-2]):
        kind = "square matrices" if square else "matrices"
        raise value_error("SW0504", f"{what} needs {kind} in the last two dims, not {list(value.shape)}")
    return value


def _real_dtype(dtype: DType) -> DType:
    return emit.as_dtype("float32" if dtype.name in ("float32", "complex64") else "float64")


def lapack(
    routine: str, operands: Sequence[Tracer], results: Sequence[tuple[Sequence[int], DType]], **options: str
) -> list[Tracer]:
    """A call of a LAPACK routine, which its operands' type completes."""
    config: dict[str, Attribute] = {name: IntegerAttr(ord(option), BYTE) for name, option in options.items()}
    types = [tensor(tuple(shape), dtype_element(dtype)) for shape, dtype in results]
    target = f"lapack_{_LETTERS[operands[0].dtype.name]}{routine}_ffi"
    op = stablehlo.CustomCallOp(target, [value.value for value in operands], types, config)
    trace = emit.trace_now()
    trace.emit(op)
    return [Tracer(trace, result) for result in op.results]


@array_function
def cholesky(x: ArrayLike, /, *, upper: bool = False) -> Array:
    """
    The triangular factor of positive definite matrices: `l @ l^H`, or `u^H @ u`; NaN where they are none.

    >>> import shardwright, numpy
    >>> shardwright.linalg.cholesky(numpy.array([[4.0, 2.0], [2.0, 2.0]]))
    array([[2., 0.],
           [1., 1.]])
    """
    value = matrices(x, "cholesky", square=True)
    return emit.trace_now().emit(stablehlo.CholeskyOp(value.value, lower=not upper))


@array_function
def eigh(x: ArrayLike, /) -> EighResult:
    """
    The eigenvalues of Hermitian matrices in ascending order, and their eigenvectors as columns.

    >>> import shardwright, numpy
    >>> shardwright.linalg.eigh(numpy.array([[2.0, 0.0], [0.0, 1.0]])).eigenvalues
    array([1., 2.])
    """
    vectors, values = _symmetric(x, "eigh", "V")
    return EighResult(values, vectors)


@array_function
def eigvalsh(x: ArrayLike, /) -> Array:
    """The eigenvalues of Hermitian matrices, in ascending order."""
    return _symmetric(x, "eigvalsh", "N")[1]


def _symmetric(x: ArrayLike, what: str, mode: str) -> tuple[Tracer, Tracer]:
    value = matrices(x, what, square=True)
    *batch, size, _ = value.shape
    routine = "heevd" if kind_of(value.dtype) == "complex" else "syevd"
    results = [(value.shape, value.dtype), ((*batch, size), _real_dtype(value.dtype)), (batch, DEFAULT_INTEGER)]
    vectors, values, _ = lapack(routine, [value], results, mode=mode, uplo="L")
    return vectors, values


@array_function
def qr(x: ArrayLike, /, *, mode: str = "reduced") -> QRResult:
    """
    Orthonormal columns and upper triangles whose products are the matrices; all columns for `mode="complete"`.

    >>> import shardwright, numpy
    >>> q, r = shardwright.linalg.qr(numpy.eye(2))
    >>> numpy.allclose(q @ r, numpy.eye(2))
    True
    """
    if mode not in ("reduced", "complete"):
        raise value_error("SW0510", f"qr: there is no mode {mode!r}", help="it is reduced or complete")
    value = matrices(x, "qr")
    return QRResult(*factored(value, value.shape[-2] if mode == "complete" else min(value.shape[-2:])))


def factored(value: Tracer, count: int) -> tuple[Tracer, Tracer]:
    """`count` orthonormal columns, and as many rows of the upper triangle."""
    *batch, rows, columns = value.shape
    least = min(rows, columns)
    factors, scales = lapack("geqrf", [value], [(value.shape, value.dtype), ((*batch, least), value.dtype)])
    kept = factors[..., :least]
    if count > least:
        kept = emit.concatenate([kept, emit.constant(0, value.dtype, (*batch, rows, count - least))], len(batch) + 1)
    routine = "ungqr" if kind_of(value.dtype) == "complex" else "orgqr"
    (basis,) = lapack(routine, [kept, scales], [(kept.shape, value.dtype)])
    return basis, _upper(factors[..., :count, :])


def _upper(value: Tracer) -> Tracer:
    """The elements on the diagonal and above it, zeros elsewhere."""
    rows, columns = (emit.iota(DEFAULT_INTEGER, value.shape, value.ndim - back) for back in (2, 1))
    return emit.as_tracer(where(rows <= columns, value, 0))


@array_function
def svd(x: ArrayLike, /, *, full_matrices: bool = True) -> SVDResult:
    """
    Singular values in descending order between left vectors, as columns, and right ones, as rows.

    >>> import shardwright, numpy
    >>> shardwright.linalg.svd(numpy.array([[0.0, 2.0], [1.0, 0.0]])).S
    array([2., 1.])
    """
    return SVDResult(*singular(matrices(x, "svd"), "A" if full_matrices else "S"))


@array_function
def svdvals(x: ArrayLike, /) -> Array:
    """The singular values of matrices, in descending order."""
    return singular(matrices(x, "svdvals"), "N")[1]


def singular(value: Tracer, mode: str) -> tuple[Tracer, Tracer, Tracer]:
    """Left vectors, singular values and right vectors: all of them, some (as many as values) or none (A, S, N)."""
    *batch, rows, columns = value.shape
    least = min(rows, columns)
    some = mode == "S"
    left, right = (rows, least if some else rows), (least if some else columns, columns)
    shapes = [(rows, columns), (least,), left, right, ()]
    dtypes = [value.dtype, _real_dtype(value.dtype), value.dtype, value.dtype, DEFAULT_INTEGER]
    results = [((*batch, *shape), dtype) for shape, dtype in zip(shapes, dtypes, strict=True)]
    _, values, vectors, rows_, _ = lapack("gesdd", [value], results, mode=mode)
    return vectors, values, rows_
