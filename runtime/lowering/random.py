"""The emitter of random bits."""

from __future__ import annotations

from typing import Any

from xdsl.ir import Operation

from shardwright.dialects.types import element_dtype, shape_of
from shardwright.runtime.lowering.emitters import Lowering, emitter
from shardwright.runtime.program import Value


@emitter("stablehlo.rng_bit_generator")
def _rng_bit_generator(lowering: Lowering, op: Operation, operands: list[Value]) -> list[Value]:
    builder, state, shape = lowering.builder, operands[0], shape_of(op.results[1])
    found: Any = op.properties["rng_algorithm"]
    algorithm = "THREE_FRY" if str(found.data) == "THREE_FRY" else "PHILOX"  # as DEFAULT is on XLA's CPU backend
    dtype = element_dtype(op.results[1].type)
    shapes = [state.shape, state.shape[: builder.lead] + shape]
    return builder.call_many("random_bits", operands, shapes, [state.dtype, dtype], algorithm, shape, dtype.name)
