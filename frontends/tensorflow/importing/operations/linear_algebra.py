"""TensorFlow's operations on whole matrices, and Fourier transforms."""

from __future__ import annotations

from typing import Any

import numpy as np

from shardwright.compiler.tracing import emit
from shardwright.dialects import stablehlo
from shardwright.dialects.stablehlo.algebra.linear_algebra import Transpose
from shardwright.frontends import arrays
from shardwright.frontends.arrays import fft, linalg
from shardwright.frontends.tensorflow.importing.evaluate import Call, Value
from shardwright.frontends.tensorflow.importing.table import add, row

FAMILY = "linear_algebra"


@row("Cholesky")
def _cholesky(call: Call, x: Value) -> Any:
    return linalg.cholesky(x)


@row("MatrixInverse")
def _inverse(call: Call, x: Value) -> Any:
    return linalg.inv(_adjoint(x) if call["adjoint"] else x)


@row("MatrixDeterminant")
def _determinant(call: Call, x: Value) -> Any:
    return linalg.det(x)


@row("MatrixSolve")
def _solve(call: Call, a: Value, b: Value) -> Any:
    return linalg.solve(_adjoint(a) if call["adjoint"] else a, b)


def _adjoint(x: Value) -> Any:
    return arrays.conj(arrays.matrix_transpose(x))


@row("MatrixTriangularSolve")
def _triangular_solve(call: Call, a: Any, b: Any) -> Any:
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    left, right = (
        emit.as_tracer(arrays.broadcast_to(value, (*batch, *value.shape[-2:])), call.node.op) for value in (a, b)
    )
    turned = Transpose.ADJOINT if call["adjoint"] else Transpose.NO_TRANSPOSE
    op = stablehlo.TriangularSolveOp(left.value, right.value, lower=call["lower"], transpose_a=turned)
    return emit.trace_now().emit(op)


@row("MatrixSetDiag")
def _set_diagonal(call: Call, x: Any, diagonal: Any) -> Any:
    return _with_diagonal(call, x, diagonal)


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


def _transform(function: str, rank: int) -> Any:
    def evaluate(call: Call, x: Value) -> Any:
        return getattr(fft, function)(x, axes=tuple(range(-rank, 0)))

    return evaluate


def _real_transform(function: str, rank: int) -> Any:
    def evaluate(call: Call, x: Value, length: Value) -> Any:
        sizes = call.numbers(length, "lengths")
        return getattr(fft, function)(x, s=tuple(sizes), axes=tuple(range(-rank, 0)))

    return evaluate


for _rank, _suffix in ((1, ""), (2, "2D"), (3, "3D")):
    add(f"FFT{_suffix}", _transform("fftn", _rank), FAMILY)
    add(f"IFFT{_suffix}", _transform("ifftn", _rank), FAMILY)
    add(f"RFFT{_suffix}", _real_transform("rfftn", _rank), FAMILY)
    add(f"IRFFT{_suffix}", _real_transform("irfftn", _rank), FAMILY)
