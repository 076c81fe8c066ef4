"""
Factors of matrices, those of LAPACK.

What writes them (`dialects.factors`) is loaded where a factor is asked for.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from xdsl.ir import SSAValue

from shardwright.compiler.tracing import emit
from shardwright.compiler.tracing.array import Array, ArrayLike
from shardwright.compiler.tracing.dtypes import brief
from shardwright.compiler.tracing.trace import Tracer
from shardwright.diagnostics.faults import type_error, value_error
from shardwright.dialects import stablehlo
from shardwright.frontends.functions.dispatch import array_function

__all__ = ["cholesky", "eigh", "eigvalsh", "qr", "svd", "svdvals"]

_LAPACKS = ("float32", "float64", "complex64", "complex128")
"""The types that LAPACK has."""


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
    if value.dtype.name not in _LAPACKS:
        raise type_error("SW0506", f"{what} cannot work on {brief(value.dtype)}", help="convert it to 32 bits first")
    if value.ndim < 2 or (square and value.shape[-1] != value.shape[-2]):
        kind = "square matrices" if square else "matrices"
        raise value_error("SW0504", f"{what} needs {kind} in the last two dims, not {list(value.shape)}")
    return value


def traced(made: Iterable[SSAValue]) -> list[Tracer]:
    """What the builder of factors made, as values of the program."""
    trace = emit.trace_now()
    return [Tracer(trace, value) for value in made]


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
    from shardwright.dialects import factors

    vectors, values = traced(factors.symmetric(emit.builder(), _square(x, "eigh"), vectors=True))
    return EighResult(values, vectors)


@array_function
def eigvalsh(x: ArrayLike, /) -> Array:
    """The eigenvalues of Hermitian matrices, in ascending order."""
    from shardwright.dialects import factors

    return traced(factors.symmetric(emit.builder(), _square(x, "eigvalsh"), vectors=False))[0]


def _square(x: ArrayLike, what: str) -> SSAValue:
    return matrices(x, what, square=True).value


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
    from shardwright.dialects import factors

    value = matrices(x, "qr")
    count = value.shape[-2] if mode == "complete" else min(value.shape[-2:])
    return QRResult(*traced(factors.orthogonal(emit.builder(), value.value, count)))


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
    return singular(matrices(x, "svdvals"), "N")[0]


def singular(value: Tracer, mode: str) -> list[Tracer]:
    """Left vectors, singular values and right vectors: all (A) or as many as values (S); the values alone (N)."""
    from shardwright.dialects import factors

    return traced(factors.singular(emit.builder(), value.value, mode))
