"""
LAPACK's routines that NumPy does not call: QR with pivoting, Hessenberg and tridiagonal forms, tridiagonal systems.

Loops run over columns; every batch is done at once.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from shardwright.runtime.kernels.elementwise import Array


def _reflector(xp: Any, column: Array) -> tuple[Array, Array, Array]:
    """
    What LAPACK's larfg gives for each column: what is left of it, the scale, and the vector, whose first element is 1.

    >>> [one.tolist() for one in _reflector(np, np.array([3.0, 4.0]))]
    [-5.0, 1.6, [1.0, 0.5]]
    """
    first, rest = column[..., 0], column[..., 1:]
    tail = (abs(rest) ** 2).sum(-1)
    length = xp.sqrt(abs(first) ** 2 + tail)
    beta = xp.where(first.real >= 0, -length, length)
    nothing = (tail == 0) & (first.imag == 0)
    scale = xp.where(nothing, 0, (beta - first) / xp.where(nothing, 1, beta))
    divisor = xp.where(nothing, 1, first - beta)
    vector = xp.concatenate([xp.ones_like(first)[..., None], rest / divisor[..., None]], -1)
    left = xp.where(nothing, first.real, beta).astype(column.real.dtype)
    return left, scale.astype(column.dtype), vector


def _from_left(xp: Any, work: Array, vector: Array, scale: Array) -> None:
    """Multiplies by `I - scale * v @ v^H` from the left, in place."""
    product = xp.matmul(xp.conjugate(vector)[..., None, :], work)
    work -= scale[..., None, None] * vector[..., :, None] * product


def _from_right(xp: Any, work: Array, vector: Array, scale: Array) -> None:
    """Multiplies by `I - scale * v @ v^H` from the right, in place."""
    product = xp.matmul(work, vector[..., None])
    work -= scale[..., None, None] * product * xp.conjugate(vector)[..., None, :]


def geqp3(xp: Any, a: Array, fixed: Array) -> tuple[Array, ...]:
    """QR factors of columns by falling length, the columns' numbers from one, and the reflectors' scales."""
    *fronts, rows, columns = a.shape
    work = xp.array(a).reshape((math.prod(fronts), rows, columns))
    every = xp.arange(len(work))
    numbers = xp.broadcast_to(xp.arange(1, columns + 1, dtype=np.int32), (len(work), columns)).copy()
    scales = xp.zeros((len(work), min(rows, columns)), a.dtype)
    for k in range(min(rows, columns)):
        place = k + xp.argmax((abs(work[:, k:, k:]) ** 2).sum(1), axis=1)
        for array in (work.swapaxes(1, 2), numbers):
            taken = array[every, place].copy()
            array[every, place] = array[:, k]
            array[:, k] = taken
        beta, scale, vector = _reflector(xp, work[:, k:, k])
        _from_left(xp, work[:, k:, k + 1 :], vector, xp.conjugate(scale))
        work[:, k, k], work[:, k + 1 :, k], scales[:, k] = beta, vector[:, 1:], scale
    return work.reshape(a.shape), numbers.reshape((*fronts, columns)), scales.reshape((*fronts, min(rows, columns)))


def gehrd(xp: Any, a: Array, low: int, high: int) -> tuple[Array, ...]:
    """The Hessenberg form above its reflectors, their scales, and info."""
    work = xp.array(a)
    scales = xp.zeros((*a.shape[:-2], max(a.shape[-1] - 1, 0)), a.dtype)
    for i in range(low - 1, high - 1):
        beta, scale, vector = _reflector(xp, work[..., i + 1 : high, i])
        _from_right(xp, work[..., :high, i + 1 : high], vector, scale)
        _from_left(xp, work[..., i + 1 : high, i + 1 :], vector, xp.conjugate(scale))
        work[..., i + 1, i], work[..., i + 2 : high, i], scales[..., i] = beta, vector[..., 1:], scale
    return work, scales, xp.zeros(a.shape[:-2], np.int32)


def sytrd(xp: Any, a: Array) -> tuple[Array, ...]:
    """The tridiagonal form of the lower triangle with its reflectors below, diagonals, their scales, and info."""
    size = a.shape[-1]
    work = xp.array(a)
    full = xp.tril(a) + xp.conjugate(xp.swapaxes(xp.tril(a, -1), -1, -2))
    beside = xp.zeros((*a.shape[:-2], max(size - 1, 0)), a.real.dtype)
    scales = xp.zeros(beside.shape, a.dtype)
    for i in range(size - 1):
        beta, scale, vector = _reflector(xp, full[..., i + 1 :, i])
        _from_right(xp, full[..., i:, i + 1 :], vector, scale)
        _from_left(xp, full[..., i + 1 :, i:], vector, xp.conjugate(scale))
        work[..., i + 1, i], work[..., i + 2 :, i] = beta, vector[..., 1:]
        beside[..., i], scales[..., i] = beta, scale
    diagonal = xp.diagonal(full, 0, -2, -1).real
    places = xp.arange(size)
    work[..., places, places] = diagonal
    return work, diagonal, beside, scales, xp.zeros(a.shape[:-2], np.int32)


def gtsv(xp: Any, lower: Array, diagonal: Array, upper: Array, b: Array) -> tuple[Array, ...]:
    """
    The tridiagonal operands as they are, the solution of their systems, and info.

    Neighbouring rows are eliminated with pivoting, which fills in a second band above the diagonal.
    """
    size = diagonal.shape[-1]
    bands = xp.zeros((*b.shape[:-1], 3), b.dtype)
    bands[..., 0], bands[..., :-1, 1] = diagonal, upper[..., :-1]
    right = xp.array(b)
    info = xp.zeros(b.shape[:-2], np.int32)
    for i in range(size):
        if i + 1 < size:
            _eliminate(xp, bands[..., i : i + 2, :], right[..., i : i + 2, :], lower[..., i + 1])
        info = xp.where((info == 0) & (bands[..., i, 0] == 0), i + 1, info).astype(np.int32)
    for i in reversed(range(size)):
        for step in range(1, min(3, size - i)):
            right[..., i, :] -= bands[..., i, step, None] * right[..., i + step, :]
        right[..., i, :] /= bands[..., i, 0, None]
    return lower, diagonal, upper, right, info


def _eliminate(xp: Any, bands: Array, right: Array, below: Array) -> None:
    """Takes the element `below` the first of two rows' diagonals away, in place, the larger pivot first."""
    rows = xp.zeros((*bands.shape[:-2], 2, 3 + right.shape[-1]), bands.dtype)
    rows[..., 0, :3], rows[..., :, 3:] = bands[..., 0, :], right
    rows[..., 1, 0], rows[..., 1, 1:3] = below, bands[..., 1, :2]
    swap = (abs(rows[..., 1, 0]) > abs(rows[..., 0, 0]))[..., None, None]
    rows = xp.where(swap, rows[..., ::-1, :], rows)
    rows[..., 1, :] -= (rows[..., 1, 0] / rows[..., 0, 0])[..., None] * rows[..., 0, :]
    bands[..., 0, :], bands[..., 1, :2] = rows[..., 0, :3], rows[..., 1, 1:3]
    right[...] = rows[..., 3:]
