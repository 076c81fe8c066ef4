"""
What LAPACK's routines give, over batches of matrices: factors, reflectors, eigenvectors and info, signs included.

NumPy calls LAPACK for QR factors, eigenvectors and singular values, so these are LAPACK's own. Schur forms, which it
has not, are SciPy's, which is loaded on use.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from shardwright.runtime.kernels.elementwise import Array
from shardwright.runtime.kernels.linear_algebra import adjoint, cholesky_info, lu, triangular_solve

_TRANSPOSES = {"N": "NO_TRANSPOSE", "T": "TRANSPOSE", "C": "ADJOINT"}


def getrf(xp: Any, a: Array) -> tuple[Array, ...]:
    """LU factors in one matrix, pivots from one, and info."""
    return lu(xp, a)


def potrf(xp: Any, a: Array, uplo: str) -> tuple[Array, ...]:
    """The Cholesky factor in its triangle, the operand in the other one, and info."""
    lower = uplo == "L"
    factor, info = cholesky_info(xp, a, lower)
    mask = (xp.tril if lower else xp.triu)(xp.ones(a.shape[-2:], bool))
    return xp.where(mask, factor, a), info


def trsm(xp: Any, a: Array, b: Array, side: str, uplo: str, transpose: str, diag: str) -> Array:
    """The solution of a triangular system."""
    return triangular_solve(xp, a, b, side == "L", uplo == "L", diag == "U", _TRANSPOSES[transpose])


def geqrf(xp: Any, a: Array) -> tuple[Array, ...]:
    """The upper factor above the reflectors, and the reflectors' scales."""
    if not min(a.shape[-2:]):
        return a, xp.zeros((*a.shape[:-2], 0), a.dtype)
    factors, scales = xp.linalg.qr(a, mode="raw")
    return xp.swapaxes(factors, -1, -2), scales


def _reflectors(xp: Any, a: Array, scales: Array) -> tuple[Array, Array]:
    """`v` and `t` with `I - v @ t @ v^H` the product of all reflectors, first one leftmost."""
    count = scales.shape[-1]
    vectors = xp.tril(a[..., :count], -1) + xp.eye(a.shape[-2], count, dtype=a.dtype)
    inner = xp.matmul(adjoint(xp, vectors), vectors)
    fronts = np.broadcast_shapes(a.shape[:-2], scales.shape[:-1])
    combined = xp.zeros((*fronts, count, count), a.dtype)
    for i in range(count):
        scale = scales[..., i, None]
        combined[..., :i, i] = -scale * xp.matmul(combined[..., :i, :i], inner[..., :i, i, None])[..., 0]
        combined[..., i, i] = scales[..., i]
    return vectors, combined


def ormqr(xp: Any, a: Array, scales: Array, c: Array, left: bool, transpose: bool) -> Array:
    """`q @ c`, or `c @ q`, or the same with the adjoint of q, for the product q of reflectors."""
    vectors, combined = _reflectors(xp, a, scales)
    combined = adjoint(xp, combined) if transpose else combined
    if left:
        return c - xp.matmul(vectors, xp.matmul(combined, xp.matmul(adjoint(xp, vectors), c)))
    return c - xp.matmul(xp.matmul(xp.matmul(c, vectors), combined), adjoint(xp, vectors))


def orgqr(xp: Any, a: Array, scales: Array) -> Array:
    """The first columns of the product of reflectors."""
    return ormqr(xp, a, scales, xp.eye(*a.shape[-2:], dtype=a.dtype), True, False)


def _where_it_converges(
    xp: Any, function: Callable[[Array], tuple[Array, ...]], a: Array
) -> tuple[tuple[Array, ...], Array]:
    """The results of a function, and info: 1, and NaN, for matrices on which it does not converge."""
    try:
        return function(a), xp.zeros(a.shape[:-2], np.int32)
    except np.linalg.LinAlgError:
        pass
    unit = xp.broadcast_to(xp.eye(*a.shape[-2:], dtype=a.dtype), a.shape)
    results = tuple(xp.full(one.shape, np.nan, one.dtype) for one in function(unit))
    info = xp.ones(a.shape[:-2], np.int32)
    for index in np.ndindex(a.shape[:-2]):  # one by one, to find those that fail
        try:
            found = function(a[index])
        except np.linalg.LinAlgError:
            continue
        info[index] = 0
        for result, one in zip(results, found, strict=True):
            result[index] = one
    return results, info


def syevd(xp: Any, a: Array, uplo: str, vectors: bool) -> tuple[Array, ...]:
    """Eigenvectors (or the operand, where these are not wanted), eigenvalues in ascending order, and info."""
    if vectors:
        (values, found), info = _where_it_converges(xp, lambda one: xp.linalg.eigh(one, uplo), a)
        return found, values, info
    (values,), info = _where_it_converges(xp, lambda one: (xp.linalg.eigvalsh(one, uplo),), a)
    return a, values, info


def gesdd(xp: Any, a: Array, wanted: bool, whole: bool) -> tuple[Array, ...]:
    """The operand, singular values, left and right vectors (all of them if `whole`; zeros unless wanted), and info."""
    if wanted:
        (left, values, right), info = _where_it_converges(xp, lambda one: xp.linalg.svd(one, whole), a)
        return a, values, left, right, info
    (values,), info = _where_it_converges(xp, lambda one: (xp.linalg.svd(one, compute_uv=False),), a)
    rows, columns = a.shape[-2:]
    shapes = (
        ((rows, rows), (columns, columns)) if whole else ((rows, min(rows, columns)), (min(rows, columns), columns))
    )
    left, right = (xp.zeros((*a.shape[:-2], *shape), a.dtype) for shape in shapes)
    return a, values, left, right, info


def geev(xp: Any, a: Array, vectors: bool) -> tuple[Array, ...]:
    """Eigenvalues (real and imaginary parts apart for real operands), left vectors as zeros, right ones, and info."""
    kind = np.result_type(a.dtype, np.complex64)
    if vectors:
        found, info = _where_it_converges(xp, lambda one: tuple(xp.linalg.eig(one)), a)
    else:
        found, info = _where_it_converges(xp, lambda one: (xp.linalg.eigvals(one),), a)
    values = found[0]
    parts = (values,) if a.dtype.kind == "c" else (values.real, values.imag)
    right = found[1].astype(kind) if vectors else xp.zeros(a.shape, kind)
    return *parts, xp.zeros(a.shape, kind), right, info


def gees(xp: Any, a: Array, vectors: bool) -> tuple[Array, ...]:
    """The Schur form, its vectors (zeros unless wanted), eigenvalues as `geev` has them, a count of zero, and info."""
    routines: Any = import_module("scipy.linalg.lapack")
    solve: Any = getattr(routines, f"{_SCHUR_LETTERS[a.dtype.name]}gees")
    parts = 1 if a.dtype.kind == "c" else 2
    form, found, info = xp.zeros(a.shape, a.dtype), xp.zeros(a.shape, a.dtype), xp.zeros(a.shape[:-2], np.int32)
    values = [xp.zeros(a.shape[:-1], a.dtype) for _ in range(parts)]
    for index in np.ndindex(a.shape[:-2] if a.shape[-1] else (0,)):
        form[index], _, *each, basis, _, info[index] = solve(_unsorted, a[index], compute_v=vectors)
        for one, value in zip(values, each, strict=True):
            one[index] = value
        if vectors:
            found[index] = basis
    return form, found, *values, xp.zeros(a.shape[:-2], np.int32), info


def _unsorted(*value: Any) -> bool:
    """Asks for no eigenvalue before the others."""
    return False


_SCHUR_LETTERS = {"float32": "s", "float64": "d", "complex64": "c", "complex128": "z"}
