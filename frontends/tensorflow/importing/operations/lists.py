"""TensorFlow's lists of tensors, which recurrent layers fill in loops: here one array with a row for each element."""

from __future__ import annotations

from typing import Any

import numpy as np

from shardwright.compiler.tracing import emit
from shardwright.compiler.tracing.trace import Tracer
from shardwright.dialects import stablehlo
from shardwright.frontends import arrays
from shardwright.frontends.tensorflow.importing.evaluate import Call, Rows, Value
from shardwright.frontends.tensorflow.importing.table import row

INT32 = np.dtype("int32")


@row("TensorListReserve")
def _reserve(call: Call, element_shape: Any, count: Value) -> Rows:
    size = call.number(count, "number of elements")
    if size < 0:
        raise call.fault(f"a list has no {size} elements")
    return Rows(call.dtype("element_dtype"), size, _zeros(call, size, element_shape))


def _zeros(call: Call, count: int, element_shape: Any) -> Any:
    """The rows of a new list; None where the shape of its elements is not known yet."""
    shape = call.numbers(element_shape, "shape of elements")
    if element_shape.ndim != 1 or min(shape, default=0) < 0:
        return None
    return arrays.zeros((count, *shape), dtype=call.dtype("element_dtype"))


@row("TensorListFromTensor")
def _from_tensor(call: Call, tensor: Any, element_shape: Value) -> Rows:
    return Rows(tensor.dtype, tensor.shape[0], tensor)


@row("TensorListGetItem")
def _get_item(call: Call, rows: Rows, index: Any, element_shape: Value) -> Any:
    stack = _stack(call, rows, element_shape)
    shape = stack.shape[1:]
    return arrays.reshape(
        emit.trace_now().emit(stablehlo.DynamicSliceOp(stack.value, _starts(call, rows, stack, index), (1, *shape))),
        shape,
    )


@row("TensorListSetItem")
def _set_item(call: Call, rows: Rows, index: Any, item: Any) -> Rows:
    array = rows.array if rows.array is not None else arrays.zeros((rows.count, *item.shape), dtype=item.dtype)
    if array.shape[1:] != item.shape or array.dtype != item.dtype:
        raise call.fault(f"an element of shape {list(item.shape)} in a list of {list(array.shape[1:])}")
    stack = emit.as_tracer(array, call.node.op)
    update = emit.as_tracer(arrays.reshape(item, (1, *item.shape)), call.node.op)
    op = stablehlo.DynamicUpdateSliceOp(stack.value, update.value, _starts(call, rows, stack, index))
    return Rows(rows.dtype, rows.count, emit.trace_now().emit(op))


@row("TensorListLength")
def _length(call: Call, rows: Rows) -> Value:
    return np.array(rows.count, INT32)


@row("TensorListStack")
def _stack(call: Call, rows: Rows, element_shape: Value) -> Tracer:
    array = rows.array if rows.array is not None else _zeros(call, rows.count, element_shape)
    if array is None:
        raise call.fault("the elements of its list have no known shape", "SW0890")
    return emit.as_tracer(array, call.node.op)


def _starts(call: Call, rows: Rows, stack: Tracer, index: Any) -> list[Any]:
    if isinstance(index, np.ndarray) and not 0 <= call.number(index, "index") < rows.count:
        raise call.fault(f"a list of {rows.count} elements has none at {int(index)}")
    zeros = [emit.constant(0, INT32).value for _ in stack.shape[1:]]
    return [emit.as_tracer(index, call.node.op).value, *zeros]
