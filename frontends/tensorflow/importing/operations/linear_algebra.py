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
    if call.numbers(k, "diagonals") != [0]:
        raise call.fault("only the main diagonal is supported", "SW0885")
    return _with_diagonal(call, x, diagonal)


def _with_diagonal(call: Call, x: Any, diagonal: Any) -> Any:
    rows, columns = x.shape[-2:]
    count = min(rows, columns)
    if diagonal.shape != (*x.shape[:-2], count):
        raise call.fault(f"a diagonal of shape {list(diagonal.shape)} does not fit matrices of {list(x.shape)}")
    wide = arrays.expand_dims(diagonal, axis=-1 if rows <= columns else -2)
    return arrays.where(arrays.eye(rows, columns, dtype=bool), wide, x)


@row(*TRANSFORMS)
def _transformed(call: Call, x: Any, *lengths: Value) -> Any:
    """Those with real numbers on one side are told the lengths, too."""
    function, axes = TRANSFORMS[call.node.op]
    sizes = tuple(call.numbers(lengths[0], "lengths")) if lengths else None
    return function(x, s=sizes, axes=axes)


rows(
    {
        "Cholesky": lambda call, x: linalg.cholesky(x),
        "MatrixDeterminant": lambda call, x: linalg.det(x),
        "MatrixInverse": lambda call, x: linalg.inv(_turned(call, x)),
        "MatrixSetDiag": _with_diagonal,
        "MatrixSolve": lambda call, a, b: linalg.solve(_turned(call, a), b),
    }
)
