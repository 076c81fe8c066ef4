"""TensorFlow's operations that choose elements by their places."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from shardwright.compiler.tracing import emit
from shardwright.compiler.tracing.trace import Tracer
from shardwright.dialects import stablehlo
from shardwright.frontends import arrays
from shardwright.frontends.tensorflow.importing.evaluate import Call, Value, rows
from shardwright.frontends.tensorflow.importing.table import row


@row("StridedSlice", folds=True)
def _strided_slice(call: Call, x: Any, begin: Value, end: Value, strides: Value) -> Any:
    """Each entry is a range, a place that drops its dim (shrink), a new dim, or all dims that no entry names."""
    steps = call.numbers(strides, "strides")
    masks = {name: call[f"{name}_mask"] for name in ("begin", "end", "ellipsis", "new_axis", "shrink_axis")}
    key: list[Any] = []
    for place, step in enumerate(steps):
        bit = 1 << place
        if masks["ellipsis"] & bit:
            key.append(Ellipsis)
        elif masks["new_axis"] & bit:
            key.append(None)
        elif masks["shrink_axis"] & bit:
            key.append(_place(call, begin, place))
        else:
            first, last = (
                None if masks[name] & bit else call.numbers(value, f"{name} of a range")[place]
                for name, value in (("begin", begin), ("end", end))
            )
            if step == 0:
                raise call.fault("a stride is zero")
            key.append(slice(first, last, step))
    return x[tuple(key)]


def _place(call: Call, begin: Any, place: int) -> Any:
    """A whole number where it is known, else a traced one."""
    if isinstance(begin, Tracer):
        return begin[place]
    return call.numbers(begin, "begin")[place]


@row("Slice", folds=True)
def _slice(call: Call, x: Any, begin: Any, size: Value) -> Any:
    sizes = call.numbers(size, "sizes")
    if isinstance(begin, Tracer):
        return _dynamic_slice(call, x, begin, sizes)
    starts = call.numbers(begin, "begin")
    if not len(starts) == len(sizes) == x.ndim:
        raise call.fault(f"begin {starts} and sizes {sizes} do not fit a value of shape {list(x.shape)}")
    ends = [whole if count == -1 else start + count for start, count, whole in zip(starts, sizes, x.shape, strict=True)]
    if any(not 0 <= start <= end <= whole for start, end, whole in zip(starts, ends, x.shape, strict=True)):
        raise call.fault(f"begin {starts} and sizes {sizes} leave a value of shape {list(x.shape)}")
    return x[tuple(slice(start, end) for start, end in zip(starts, ends, strict=True))]


def _dynamic_slice(call: Call, x: Any, begin: Tracer, sizes: list[int]) -> Any:
    value = emit.as_tracer(x, "Slice")
    if -1 in sizes or len(sizes) != value.ndim:
        raise call.fault("its sizes must be known before the program runs", "SW0890")
    starts = [begin[dim].value for dim in range(value.ndim)]
    return emit.trace_now().emit(stablehlo.DynamicSliceOp(value.value, starts, sizes))


@row("TensorStridedSliceUpdate")
def _strided_update(call: Call, x: Any, begin: Any, end: Value, strides: Value, update: Any) -> Any:
    """A box of the update's shape is replaced; where it begins may come from data, its dims and strides may not."""
    names = ("begin", "end", "ellipsis", "new_axis", "shrink_axis")
    if any(call[f"{name}_mask"] for name in names) or set(call.numbers(strides, "strides")) - {1}:
        raise call.fault("masks and strides are not supported", "SW0885")
    if update.ndim != x.ndim:
        raise call.fault(f"an update of shape {list(update.shape)} does not fit a value of shape {list(x.shape)}")
    places = emit.as_tracer(begin, call.node.op)
    starts = [places[dim].value for dim in range(x.ndim)]
    whole, part = (emit.as_tracer(value, call.node.op) for value in (x, update))
    return emit.trace_now().emit(stablehlo.DynamicUpdateSliceOp(whole.value, part.value, starts))


@row("GatherV2", folds=True)
def _gather_v2(call: Call, params: Any, indices: Any, axis: Value) -> Any:
    dim, batch = call.number(axis, "dim"), call["batch_dims"]
    if call.folding and batch == 0:
        return np.take(params, indices, axis=dim)
    return arrays.gather(params, indices, axis=dim, batch_dims=batch % (indices.ndim or 1) if batch < 0 else batch)


def _gathered_nd(params: Any, indices: Any) -> Any:
    depth = indices.shape[-1]
    if not depth:
        return arrays.broadcast_to(params, (*indices.shape[:-1], *params.shape))
    traced = emit.as_tracer(params, "GatherNd")
    return traced[tuple(indices[..., place] for place in range(depth))]


SCATTERS = {
    "TensorScatterAdd": arrays.scatter_add,
    "TensorScatterMax": arrays.scatter_max,
    "TensorScatterMin": arrays.scatter_min,
    "TensorScatterUpdate": arrays.scatter_update,
}


@row(*SCATTERS)
def _scattered(call: Call, x: Any, indices: Any, updates: Any) -> Any:
    return _scattered_nd(SCATTERS[call.node.op], x, indices, updates)


@row("ScatterNd")
def _scatter_nd(call: Call, indices: Any, updates: Any, shape: Value) -> Any:
    start = arrays.zeros(call.numbers(shape, "shape"), dtype=updates.dtype)
    return _scattered_nd(arrays.scatter_add, start, indices, updates)


def _scattered_nd(scatter: Any, x: Any, indices: Any, updates: Any) -> Any:
    """The dims that one index names are made one dim, in which it is one number."""
    depth = indices.shape[-1]
    outer, rest = x.shape[:depth], x.shape[depth:]
    flat = arrays.reshape(x, (math.prod(outer), *rest))
    steps = np.array([math.prod(outer[place + 1 :]) for place in range(depth)], indices.dtype)
    places = arrays.sum(arrays.multiply(indices, steps), axis=-1, dtype=indices.dtype)
    return arrays.reshape(scatter(flat, places, updates), x.shape)


@row("OneHot")
def _one_hot(call: Call, indices: Any, depth: Value, on_value: Any, off_value: Any) -> Any:
    size = call.number(depth, "depth")
    return arrays.one_hot(indices, size, on_value, off_value, axis=call["axis"], dtype=call.dtype("T"))


def _bound(call: Call, lines: Any, values: Any, side: str) -> Any:
    if lines.shape[0] != 1:
        raise call.fault("several sorted rows are not supported", "SW0885")
    flat = arrays.searchsorted(arrays.reshape(lines, (lines.shape[1],)), values, side=side)
    return arrays.reshape(flat, values.shape)


def _segments(call: Call, count: Value) -> int:
    return call.number(count, "number of segments")


rows(
    {
        "Gather": lambda call, params, indices: arrays.gather(params, indices),
        "GatherNd": lambda call, params, indices: _gathered_nd(params, indices),
        "LowerBound": lambda call, lines, values: _bound(call, lines, values, "left"),
        "ResourceGather": lambda call, resource, indices: arrays.gather(
            resource.variable.traced(), indices, batch_dims=call["batch_dims"]
        ),
        "ResourceGatherNd": lambda call, resource, indices: _gathered_nd(resource.variable.traced(), indices),
        "TensorScatterSub": lambda call, x, indices, updates: _scattered_nd(
            arrays.scatter_add, x, indices, arrays.negative(updates)
        ),
        "TopKV2": lambda call, x, k: arrays.top_k(x, call.number(k, "number of elements")),
        "UnsortedSegmentMax": lambda call, x, at, count: arrays.segment_max(x, at, _segments(call, count)),
        "UnsortedSegmentMin": lambda call, x, at, count: arrays.segment_min(x, at, _segments(call, count)),
        "UnsortedSegmentSum": lambda call, x, at, count: arrays.segment_sum(x, at, _segments(call, count)),
        "UpperBound": lambda call, lines, values: _bound(call, lines, values, "right"),
    }
)
