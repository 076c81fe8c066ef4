"""Emitters of Fourier transforms, Cholesky factors and triangular systems: one kernel call each."""

from __future__ import annotations

from typing import Any

import numpy as np
from xdsl.ir import Operation

from shardwright.runtime.lowering.emitters import Lowering, emitter, integers, result_dtype, result_shape
from shardwright.runtime.program import Value


def _name(op: Operation, name: str) -> str:
    attribute: Any = op.properties[name]
    return str(attribute.data)


def _flag(op: Operation, name: str) -> bool:
    attribute: Any = op.properties.get(name)
    return attribute is not None and bool(attribute.value.data)


def lead_shape(lowering: Lowering, operands: list[Value]) -> tuple[int, ...]:
    """The leading dims of a result that depends on all operands."""
    return np.broadcast_shapes(*(operand.shape[: lowering.builder.lead] for operand in operands))


@emitter("stablehlo.fft")
def _fft(lowering: Lowering, op: Operation, operands: list[Value]) -> list[Value]:
    builder, value, dtype = lowering.builder, operands[0], result_dtype(op)
    shape = lead_shape(lowering, operands) + result_shape(op)
    if not value.size:
        return [builder.splat(0, shape, dtype)]
    return [builder.call("fft", operands, shape, dtype, _name(op, "fft_type"), integers(op, "fft_length"))]


@emitter("stablehlo.cholesky")
def _cholesky(lowering: Lowering, op: Operation, operands: list[Value]) -> list[Value]:
    shape = lead_shape(lowering, operands) + result_shape(op)
    return [lowering.builder.call("cholesky", operands, shape, result_dtype(op), _flag(op, "lower"))]


@emitter("stablehlo.triangular_solve")
def _triangular_solve(lowering: Lowering, op: Operation, operands: list[Value]) -> list[Value]:
    shape, dtype = lead_shape(lowering, operands) + result_shape(op), result_dtype(op)
    flags = [_flag(op, name) for name in ("left_side", "lower", "unit_diagonal")]
    return [lowering.builder.call("triangular_solve", operands, shape, dtype, *flags, _name(op, "transpose_a"))]
