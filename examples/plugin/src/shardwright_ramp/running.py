"""How `ramp.multiply` runs, and the function for it."""

from typing import Any

import numpy as np
from xdsl.ir import Operation

import shardwright as sw
from shardwright.compiler.tracing.emit import as_tracer, trace_now
from shardwright.frontends.functions.dispatch import array_function
from shardwright.runtime.kernels.table import add_kernel
from shardwright.runtime.lowering.emitters import Lowering, emitter, result_dtype, result_shape
from shardwright.runtime.program import Value
from shardwright_ramp.op import MultiplyOp


def multiply(xp: Any, array: Any, start: Any, dim: int, rank: int) -> Any:
    """Multiplies along `dim` of the last `rank` dims by `start`, `start + 1`, ...; the dims before are the mesh's."""
    shape = [-1 if at == dim else 1 for at in range(rank)]
    steps = start.reshape(start.shape + (1,) * rank) + xp.arange(array.shape[dim - rank]).reshape(shape)
    return array * steps.astype(array.dtype)


add_kernel("ramp_multiply", multiply)


@emitter("ramp.multiply")
def emit_multiply(lowering: Lowering, op: Operation, operands: list[Value]) -> list[Value]:
    """A call of the kernel, once for all devices."""
    assert isinstance(op, MultiplyOp)
    rank = len(result_shape(op))
    lead = np.broadcast_shapes(*(operand.shape[: lowering.builder.lead] for operand in operands))
    static = (op.dim.value.data, rank)
    return [lowering.builder.call("ramp_multiply", operands, lead + result_shape(op), result_dtype(op), *static)]


@array_function
def ramp(x: sw.ArrayLike, start: sw.ArrayLike = 0, *, dim: int = -1) -> sw.Array:
    """Multiplies the elements along `dim` by `start`, `start + 1`, ..."""
    x, start = as_tracer(x), as_tracer(start)
    return trace_now().emit(MultiplyOp(x.value, start.value, dim % x.ndim))
