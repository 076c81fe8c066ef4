"""
Kernels on whole vectors and matrices: Fourier transforms, Cholesky and LU factors, triangular systems.

The last dims are the vector or the matrix, all others are batch. Loops run over columns, never over elements or over
the batch.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from shardwright.runtime.kernels.elementwise import Array, narrow, widen

BLOCK = 32
"""Columns that are done one by one before the rest follows in one matrix product."""


def fft(xp: Any, array: Array, kind: str, length: tuple[int, ...]) -> Array:
    """
    A Fourier transform (`FFT`, `IFFT`, `RFFT` or `IRFFT`) of the last dims.

    >>> fft(np, np.ones((2, 4)), "RFFT", (4,)).tolist()
    [[(4+0j), 0j, 0j], [(4+0j), 0j, 0j]]
    """
    axes = tuple(range(-len(length), 0))
    return getattr(xp.fft, f"{kind.lower()}n")(array, s=length, axes=axes)


def adjoint(xp: Any, array: Array) -> Array:
    """The conjugate transpose of each matrix."""
    return xp.conjugate(xp.swapaxes(array, -1, -2))


def triangle(xp: Any, array: Array, *, lower: bool, unit: bool = False) -> Array:
    """One triangle of each matrix, zeros elsewhere; with `unit`, ones on the diagonal."""
    kept = (xp.tril if lower else xp.triu)(array, (-1 if lower else 1) if unit else 0)
    return kept + xp.eye(array.shape[-1], dtype=array.dtype) if unit else kept


def cholesky(xp: Any, array: Array, lower: bool) -> Array:
    """
    The triangular factor of each matrix, of which only that triangle is read; NaN where it is not positive definite.

    >>> cholesky(np, np.array([[4.0, 0.0], [2.0, 2.0]]), True).tolist()
    [[2.0, 0.0], [1.0, 1.0]]
    """
    factor, info = cholesky_info(xp, array, lower)
    failed = (info != 0)[..., None, None]
    return narrow(xp, triangle(xp, xp.where(failed, np.nan, factor), lower=lower), array.dtype)


def cholesky_info(xp: Any, array: Array, lower: bool) -> tuple[Array, Array]:
    """The factors in their working dtype, and for each the order of the first minor that is not positive, or 0."""
    wide = widen(xp, array)
    wide = wide if lower else adjoint(xp, wide)
    try:
        factor, info = xp.linalg.cholesky(wide), xp.zeros(wide.shape[:-2], np.int32)
    except np.linalg.LinAlgError:
        factor, info = _cholesky_by_columns(xp, wide)
    return (factor if lower else adjoint(xp, factor)), info


def _cholesky_by_columns(xp: Any, array: Array) -> tuple[Array, Array]:
    """The lower factors where some matrices have none: these turn to NaN from their first bad minor on."""
    factor = xp.zeros_like(array)
    info = xp.zeros(array.shape[:-2], np.int32)
    for j in range(array.shape[-1]):
        row = factor[..., j, :j]
        pivot = (array[..., j, j] - (row * xp.conjugate(row)).sum(-1)).real
        good = pivot > 0
        info = xp.where((info == 0) & ~good, j + 1, info).astype(np.int32)
        root = xp.sqrt(xp.where(good, pivot, np.nan))
        below = array[..., j + 1 :, j] - xp.matmul(factor[..., j + 1 :, :j], xp.conjugate(row)[..., None])[..., 0]
        factor[..., j, j] = root
        factor[..., j + 1 :, j] = below / root[..., None]
    return factor, info


def triangular_solve(xp: Any, a: Array, b: Array, left: bool, lower: bool, unit: bool, transpose: str) -> Array:
    """
    The solution of `op(a) @ x = b`, or of `x @ op(a) = b`, for triangular matrices; `op` is named by `transpose`.

    >>> a, b = np.array([[2.0, 9.0], [1.0, 4.0]]), np.array([[2.0], [9.0]])
    >>> triangular_solve(np, a, b, True, True, False, "NO_TRANSPOSE").tolist()
    [[1.0], [2.0]]
    """
    matrix, right = widen(xp, a), widen(xp, b)
    if transpose != "NO_TRANSPOSE":
        matrix, lower = xp.swapaxes(matrix, -1, -2), not lower
        matrix = xp.conjugate(matrix) if transpose == "ADJOINT" else matrix
    if not left:  # x @ m = b is m^T @ x^T = b^T
        matrix, right, lower = xp.swapaxes(matrix, -1, -2), xp.swapaxes(right, -1, -2), not lower
    if not lower:  # an upper triangle back to front is a lower one
        matrix, right = matrix[..., ::-1, ::-1], right[..., ::-1, :]
    solution = _solve_lower(xp, matrix, right, unit=unit)
    solution = solution if lower else solution[..., ::-1, :]
    return narrow(xp, solution if left else xp.swapaxes(solution, -1, -2), b.dtype)


def _solve_lower(xp: Any, matrix: Array, right: Array, *, unit: bool) -> Array:
    """The solution of `matrix @ x = right` for lower triangles: blocks of rows by substitution."""
    size = matrix.shape[-1]
    fronts = np.broadcast_shapes(matrix.shape[:-2], right.shape[:-2])
    solution = xp.array(xp.broadcast_to(right, (*fronts, *right.shape[-2:])))
    for start in range(0, size, BLOCK):
        stop = min(start + BLOCK, size)
        for row in range(start, stop):
            if row > start:
                known = matrix[..., row : row + 1, start:row]
                solution[..., row : row + 1, :] -= xp.matmul(known, solution[..., start:row, :])
            if not unit:
                solution[..., row, :] /= matrix[..., row, row, None]
        if stop < size:
            solution[..., stop:, :] -= xp.matmul(matrix[..., stop:, start:stop], solution[..., start:stop, :])
    return solution


def lu(xp: Any, array: Array) -> tuple[Array, Array, Array]:
    """
    LU factors with partial pivoting, as LAPACK's getrf gives them: both triangles, the pivots from one, and info.

    >>> factors, pivots, info = lu(np, np.array([[1.0, 2.0], [4.0, 4.0]]))
    >>> factors.tolist(), pivots.tolist(), info.tolist()
    ([[4.0, 4.0], [0.25, 1.0]], [2, 2], 0)
    """
    *fronts, rows, columns = array.shape
    work = xp.array(array).reshape((math.prod(fronts), rows, columns))
    count = min(rows, columns)
    pivots = xp.zeros((len(work), count), np.int32)
    info = xp.zeros(len(work), np.int32)
    for start in range(0, count, BLOCK):
        stop = min(start + BLOCK, count)
        _factor_panel(xp, work, pivots, info, start, stop)
        if stop < columns:
            top = _solve_lower(xp, work[:, start:stop, start:stop], work[:, start:stop, stop:], unit=True)
            work[:, start:stop, stop:] = top
            work[:, stop:, stop:] -= xp.matmul(work[:, stop:, start:stop], top)
    return work.reshape(array.shape), pivots.reshape((*fronts, count)), info.reshape(fronts)


def _factor_panel(xp: Any, work: Array, pivots: Array, info: Array, start: int, stop: int) -> None:
    """Factors columns `start:stop` in place; rows change places across the whole matrix."""
    every = xp.arange(len(work))
    for k in range(start, stop):
        column = work[:, k:, k]
        place = k + xp.argmax(abs(column.real) + abs(column.imag), axis=1)
        pivots[:, k] = place + 1
        taken = work[every, place]
        work[every, place] = work[:, k]
        work[:, k] = taken
        pivot = work[:, k, k]
        info[...] = xp.where((info == 0) & (pivot == 0), k + 1, info)
        work[:, k + 1 :, k] /= xp.where(pivot == 0, 1, pivot)[:, None]
        work[:, k + 1 :, k + 1 : stop] -= work[:, k + 1 :, k, None] * work[:, k, None, k + 1 : stop]
