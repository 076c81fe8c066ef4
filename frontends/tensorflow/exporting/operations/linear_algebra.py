"""Whole vectors and matrices: Fourier transforms, Cholesky factors, triangular systems."""

from __future__ import annotations

import numpy as np

from shardwright.dialects import stablehlo
from shardwright.dialects.types import element_dtype, shape_of
from shardwright.frontends.tensorflow.exporting.emitter import HANDLERS, Emitter, handler
from shardwright.frontends.tensorflow.exporting.nodes import INT32, Refusal, Tensor
from shardwright.frontends.tensorflow.exporting.operations.pointwise import conj
from shardwright.runtime.kernels.elementwise import working_dtype


@handler("stablehlo.fft")
def _fft(emitter: Emitter, op: stablehlo.FftOp, operands: list[Tensor]) -> list[Tensor]:
    kind, length = str(op.kind), tuple(op.length)
    shape, dtype = shape_of(op.results[0]), element_dtype(op.results[0].type)
    name = kind if len(length) == 1 else f"{kind}{len(length)}D"
    inputs = [emitter.whole(operands[0])]
    if "R" in kind:
        inputs.append(emitter.constant(np.array(length, INT32)))
    return [emitter.node(name, inputs, shape, dtype)]


def cholesky_factor(e: Emitter, x: Tensor, *, lower: bool) -> Tensor:
    """The triangular factor of each matrix, zeros in the other triangle; the upper one is that of the adjoint."""
    wide = e.cast(x, working_dtype(x.dtype))
    wide = wide if lower else adjoint(e, wide)
    factor = e.node("Cholesky", (e.whole(wide),), wide.shape, wide.dtype)
    return e.cast(factor if lower else adjoint(e, factor), x.dtype)


HANDLERS["stablehlo.cholesky"] = lambda e, op, operands: [cholesky_factor(e, operands[0], lower=op.is_lower)]


def _turned(e: Emitter, x: Tensor) -> Tensor:
    rank = len(x.shape)
    return e.transpose(x, [*range(rank - 2), rank - 1, rank - 2])


def adjoint(e: Emitter, x: Tensor) -> Tensor:
    """The conjugate transpose of each matrix."""
    return conj(e, _turned(e, x))


@handler("stablehlo.triangular_solve")
def _triangular_solve(emitter: Emitter, op: stablehlo.TriangularSolveOp, operands: list[Tensor]) -> list[Tensor]:
    lower, unit = bool(op.lower.value.data), bool(op.unit_diagonal.value.data)
    return [solved(emitter, operands[0], operands[1], op.is_left, lower, unit, str(op.transpose_a.data))]


def solved(e: Emitter, a: Tensor, b: Tensor, left: bool, lower: bool, unit: bool, transpose: str) -> Tensor:
    """The solution of triangular systems; see `runtime.kernels_linear_algebra.triangular_solve`."""
    dtype = b.dtype
    a, b = (e.cast(operand, working_dtype(dtype)) for operand in (a, b))
    if unit:
        a = _with_unit_diagonal(e, a)
    if transpose != "NO_TRANSPOSE":
        a, lower = _turned(e, a), not lower
        a = conj(e, a) if transpose == "ADJOINT" else a
    if not left:
        a, b, lower = _turned(e, a), _turned(e, b), not lower
    inputs = (e.whole(a), e.whole(b))
    made = e.node("MatrixTriangularSolve", inputs, b.shape, b.dtype, lower=lower, adjoint=False)
    return e.cast(made if left else _turned(e, made), dtype)


def _with_unit_diagonal(e: Emitter, a: Tensor) -> Tensor:
    if a.dtype.name not in ("float32", "float64", "complex64", "complex128"):
        raise Refusal(f"triangular systems of {a.dtype.name}")
    ones = e.whole(e.splat(1, a.dtype, a.shape[:-1]))
    inputs = (e.whole(a), ones, e.constant(0, INT32))
    return e.node("MatrixSetDiagV3", inputs, a.shape, a.dtype, align="RIGHT_LEFT")
