"""
TensorFlow's lists of tensors.

A list of a certain length, which recurrent layers fill in loops, is one array with a row for each element. One that
grows is a row of values, as far as the program has been made: loops that make it grow are written round by round.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from shardwright.compiler.tracing import emit
from shardwright.compiler.tracing.trace import Tracer
from shardwright.dialects import stablehlo
from shardwright.frontends import arrays
from shardwright.frontends.tensorflow.importing.evaluate import Call, Items, Rows, Value
from shardwright.frontends.tensorflow.importing.table import row

INT32 = np.dtype("int32")

List = Rows | Items

LONGEST = 1 << 16
"""The most elements of a list that grows."""


@row("EmptyTensorList")
def _empty(call: Call, element_shape: Value, most: Value) -> Items:
    return Items(())


@row("TensorListReserve")
def _reserve(call: Call, element_shape: Any, count: Value) -> List:
    size = call.number(count, "number of elements")
    if size < 0:
        raise call.fault(f"a list has no {size} elements")
    if not size:
        return Items(())
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


@row("TensorListScatter", "TensorListScatterV2")
def _scattered(call: Call, tensor: Any, indices: Value, element_shape: Value, *count: Value) -> Rows:
    places = call.known(indices, "places of elements")
    size = max(call.number(count[0], "number of elements") if count else -1, int(places.max(initial=-1)) + 1)
    start = arrays.zeros((size, *tensor.shape[1:]), dtype=tensor.dtype)
    return Rows(tensor.dtype, size, arrays.scatter_update(start, places, tensor))


@row("TensorListScatterIntoExistingList")
def _scattered_into(call: Call, rows: List, tensor: Any, indices: Any) -> List:
    if isinstance(rows, Items):
        places = call.numbers(indices, "places of elements")
        found = list(_resized(call, rows, max(len(rows.items), max(places, default=-1) + 1)).items)
        for place, at in enumerate(places):
            found[at] = tensor[place]
        return replace(rows, items=tuple(found))
    array = rows.array if rows.array is not None else arrays.zeros((rows.count, *tensor.shape[1:]), dtype=tensor.dtype)
    return replace(rows, array=arrays.scatter_update(array, indices, tensor))


@row("TensorListSplit")
def _split(call: Call, tensor: Any, element_shape: Value, lengths: Value) -> Items:
    ends = np.cumsum(call.numbers(lengths, "lengths of elements")).tolist()
    return Items(tuple(tensor[start:end] for start, end in zip([0, *ends], ends, strict=False)))


@row("TensorListPushBack")
def _push(call: Call, rows: List, item: Value) -> Items:
    grown = _items(rows)
    if len(grown.items) >= LONGEST:
        raise call.fault(f"its list grows above {LONGEST} elements", "SW0890")
    return replace(grown, items=(*grown.items, item))


@row("TensorListPopBack")
def _pop(call: Call, rows: List, element_shape: Value) -> tuple[Items, Value]:
    grown = _items(rows)
    if not grown.items:
        raise call.fault("its list has no element to give")
    return replace(grown, items=grown.items[:-1]), _element(call, grown.items[-1], element_shape)


def _items(rows: List) -> Items:
    if isinstance(rows, Items):
        return rows
    return Items(tuple(None if rows.array is None else rows.array[place] for place in range(rows.count)))


def _element(call: Call, item: Value | None, element_shape: Any) -> Any:
    """An element; zeros where none was set, as in TensorFlow."""
    if item is not None:
        return item
    shape = call.numbers(element_shape, "shape of elements")
    if element_shape.ndim != 1 or min(shape, default=0) < 0:
        raise call.fault("the elements of its list have no known shape", "SW0890")
    return arrays.zeros(tuple(shape), dtype=call.dtype("element_dtype"))


def _resized(call: Call, rows: Items, size: int) -> Items:
    if not 0 <= size <= LONGEST:
        raise call.fault(f"a list cannot have {size} elements, at most {LONGEST}", "SW0890")
    return replace(rows, items=(*rows.items[:size], *(None,) * (size - len(rows.items))))


@row("TensorListResize")
def _with_size(call: Call, rows: List, size: Value) -> Items:
    return _resized(call, _items(rows), call.number(size, "number of elements"))


@row("TensorListGetItem")
def _get_item(call: Call, rows: List, index: Any, element_shape: Value) -> Any:
    if isinstance(rows, Items):
        return _element(call, rows.items[_place(call, rows, index)], element_shape)
    stack = _stack(call, rows, element_shape)
    shape = stack.shape[1:]
    return arrays.reshape(
        emit.trace_now().emit(stablehlo.DynamicSliceOp(stack.value, _starts(call, rows, stack, index), (1, *shape))),
        shape,
    )


def _place(call: Call, rows: Items, index: Any) -> int:
    place = call.number(index, "place in a list that grows")
    if not 0 <= place < len(rows.items):
        raise call.fault(f"a list of {len(rows.items)} elements has none at {place}")
    return place


@row("TensorListSetItem")
def _set_item(call: Call, rows: List, index: Any, item: Any) -> List:
    if isinstance(rows, Items) or (call["resize_if_index_out_of_bounds"] and isinstance(index, np.ndarray)):
        return _set_known(call, _items(rows), index, item)
    array = rows.array if rows.array is not None else arrays.zeros((rows.count, *item.shape), dtype=item.dtype)
    if array.shape[1:] != item.shape or array.dtype != item.dtype:
        raise call.fault(f"an element of shape {list(item.shape)} in a list of {list(array.shape[1:])}")
    stack = emit.as_tracer(array, call.node.op)
    update = emit.as_tracer(arrays.reshape(item, (1, *item.shape)), call.node.op)
    op = stablehlo.DynamicUpdateSliceOp(stack.value, update.value, _starts(call, rows, stack, index))
    return Rows(rows.dtype, rows.count, emit.trace_now().emit(op))


def _set_known(call: Call, rows: Items, index: Any, item: Any) -> Items:
    place = call.number(index, "place in a list that grows")
    if call["resize_if_index_out_of_bounds"] and place >= len(rows.items):
        rows = _resized(call, rows, place + 1)
    place = _place(call, rows, index)
    return replace(rows, items=(*rows.items[:place], item, *rows.items[place + 1 :]))


@row("TensorListLength")
def _length(call: Call, rows: List) -> Value:
    return np.array(len(rows.items) if isinstance(rows, Items) else rows.count, INT32)


@row("TensorListStack")
def _stack(call: Call, rows: List, element_shape: Value) -> Tracer:
    if isinstance(rows, Items):
        return emit.as_tracer(_stacked(call, rows, element_shape), call.node.op)
    array = rows.array if rows.array is not None else _zeros(call, rows.count, element_shape)
    if array is None:
        raise call.fault("the elements of its list have no known shape", "SW0890")
    return emit.as_tracer(array, call.node.op)


def _stacked(call: Call, rows: Items, element_shape: Any) -> Any:
    if rows.items:
        return arrays.stack(_filled(call, rows, element_shape), axis=0)
    empty = _zeros(call, 0, element_shape)
    if empty is None:
        raise call.fault("the elements of its list have no known shape", "SW0890")
    return empty


def _filled(call: Call, rows: Items, element_shape: Any) -> Sequence[Any]:
    """All elements; zeros like the others where none was set."""
    like = next((item for item in rows.items if isinstance(item, np.ndarray | Tracer)), None)
    zeros = _element(call, None, element_shape) if like is None else arrays.zeros(like.shape, dtype=like.dtype)
    return [zeros if item is None else item for item in rows.items]


@row("TensorListGather")
def _gathered(call: Call, rows: List, indices: Any, element_shape: Value) -> Any:
    return arrays.take(_stack(call, rows, element_shape), indices, axis=0)


@row("TensorListConcat", "TensorListConcatV2")
def _concatenated(call: Call, rows: List, *given: Any) -> tuple[Any, Value]:
    """All elements behind each other along their first dim, and how long each is there."""
    if isinstance(rows, Items):
        parts = [item for item in rows.items if isinstance(item, np.ndarray | Tracer)]
        if not parts or len(parts) != len(rows.items):
            raise call.fault("the elements of its list have no known shape", "SW0890")
        return arrays.concat(parts, axis=0), np.array([part.shape[0] for part in parts], np.int64)
    if rows.array is None or rows.array.ndim < 2:
        raise call.fault("the elements of its list have no dim along which they could be joined", "SW0890")
    count, size, *rest = rows.array.shape
    return arrays.reshape(rows.array, (count * size, *rest)), np.full(count, size, np.int64)


def _starts(call: Call, rows: Rows, stack: Tracer, index: Any) -> list[Any]:
    if isinstance(index, np.ndarray) and not 0 <= call.number(index, "index") < rows.count:
        raise call.fault(f"a list of {rows.count} elements has none at {int(index)}")
    zeros = [emit.constant(0, INT32).value for _ in stack.shape[1:]]
    return [emit.as_tracer(index, call.node.op).value, *zeros]
