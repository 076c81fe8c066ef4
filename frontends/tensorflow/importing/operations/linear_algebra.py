"""TensorFlow's operations on whole matrices, and Fourier transforms."""

from __future__ import annotations

from typing import Any

import numpy as np

from shardwright.compiler.tracing import emit
from shardwright.dialects import stablehlo
from shardwright.dialects.stablehlo.algebra.linear_algebra import Transpose
from shardwright.frontends import arrays
from shardwright.frontends.arrays import fft, linalg
from shardwright.frontends.tensorflow.importing.evaluate import Call, Value, rows
from shardwright.frontends.tensorflow.importing.table import row

TRANSFORMS = {
    f"{name.upper()}{suffix}": (function, tuple(range(-rank, 0)))
    for name, function in {"fft": fft.fftn, "ifft": fft.ifftn, "rfft": fft.rfftn, "irfft": fft.irfftn}.items()
    for rank, suffix in ((1, ""), (2, "2D"), (3, "3D"))
}
"""Fourier transforms over the last dims, and our functions that are the same."""


def _turned(call: Call, x: Any) -> Any:
    return arrays.conj(arrays.matrix_transpose(x)) if call["adjoint"] else x


@row("MatrixTriangularSolve")
def _triangular_solve(call: Call, a: Any, b: Any) -> Any:
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    left, right = (
        emit.as_tracer(arrays.broadcast_to(value, (*batch, *value.shape[-2:])), call.node.op) for value in (a, b)
    )
    turned = Transpose.ADJOINT if call["adjoint"] else Transpose.NO_TRANSPOSE
    op = stablehlo.TriangularSolveOp(left.value, right.value, lower=call["lower"], transpose_a=turned)
    return emit.trace_now().emit(op)


@row("MatrixSetDiagV2", "MatrixSetDiagV3")
def _set_diagonal_v3(call: Call, x: Any, diagonal: Any, k: Value) -> Any:
    return _with_diagonal(call, x, diagonal, _one_diagonal(call, k))


def _one_diagonal(call: Call, k: Value) -> int:
    """Which diagonal: how far above the main one."""
    found = set(call.numbers(k, "diagonals"))
    if len(found) != 1:
        raise call.fault("several diagonals at once are not supported", "SW0885")
    return found.pop()


def _with_diagonal(call: Call, x: Any, diagonal: Any, above: int = 0) -> Any:
    rows, columns = x.shape[-2:]
    down, right = max(-above, 0), max(above, 0)
    count = min(rows - down, columns - right)
    if diagonal.shape != (*x.shape[:-2], count) or count < 1:
        raise call.fault(f"a diagonal of shape {list(diagonal.shape)} does not fit matrices of {list(x.shape)}")
    edges = [(0, 0)] * (diagonal.ndim - 1)
    if rows - down <= columns - right:  # a number beside each row, else one above each column
        wide = arrays.expand_dims(arrays.pad(diagonal, [*edges, (down, rows - down - count)]), axis=-1)
    else:
        wide = arrays.expand_dims(arrays.pad(diagonal, [*edges, (right, columns - right - count)]), axis=-2)
    return arrays.where(arrays.eye(rows, columns, k=above, dtype=bool), wide, x)


@row("MatrixDiagV2", "MatrixDiagV3")
def _diagonal_matrix(call: Call, x: Any, k: Value, height: Value, width: Value, fill: Any) -> Any:
    above, size = _one_diagonal(call, k), x.shape[-1]
    rows, columns = call.number(height, "rows"), call.number(width, "columns")
    if rows == columns == -1:
        rows = columns = size + abs(above)
    rows, columns = (size + max(shift, 0) if said == -1 else said for said, shift in ((rows, -above), (columns, above)))
    return _with_diagonal(call, arrays.broadcast_to(fill, (*x.shape[:-1], rows, columns)), x, above)


@row("MatrixDiagPartV2", "MatrixDiagPartV3")
def _diagonal_part(call: Call, x: Any, k: Value, fill: Any) -> Any:
    return linalg.diagonal(x, offset=_one_diagonal(call, k))


@row("Qr")
def _qr(call: Call, x: Any) -> tuple[Any, ...]:
    return tuple(linalg.qr(x, mode="complete" if call["full_matrices"] else "reduced"))


@row("Svd")
def _svd(call: Call, x: Any) -> tuple[Any, ...]:
    """Singular values, and vectors as columns; those are unique up to their signs."""
    if not call["compute_uv"]:
        empty = np.zeros((0,), x.dtype)
        return linalg.svdvals(x), empty, empty
    left, values, right = linalg.svd(x, full_matrices=call["full_matrices"])
    return values, left, arrays.conj(arrays.matrix_transpose(right))


@row("SelfAdjointEigV2")
def _eigh(call: Call, x: Any) -> tuple[Any, ...]:
    if not call["compute_v"]:
        return linalg.eigvalsh(x), np.zeros((0,), x.dtype)
    return tuple(linalg.eigh(x))


@row(*TRANSFORMS)
def _transformed(call: Call, x: Any, *lengths: Value) -> Any:
    """Those with real numbers on one side are told the lengths, too."""
    function, axes = TRANSFORMS[call.node.op]
    sizes = tuple(call.numbers(lengths[0], "lengths")) if lengths else None
    return function(x, s=sizes, axes=axes)


rows(
    {
        "Cholesky": lambda call, x: linalg.cholesky(x),
        "LogMatrixDeterminant": lambda call, x: tuple(linalg.slogdet(x)),
        "MatrixDeterminant": lambda call, x: linalg.det(x),
        "MatrixInverse": lambda call, x: linalg.inv(_turned(call, x)),
        "MatrixSetDiag": _with_diagonal,
        "MatrixSolve": lambda call, a, b: linalg.solve(_turned(call, a), b),
    }
)
