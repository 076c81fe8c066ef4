"""TensorFlow's operations that choose elements by their places."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from shardwright.compiler.tracing import emit
from shardwright.compiler.tracing.trace import Tracer
from shardwright.dialects import stablehlo
from shardwright.frontends import arrays
from shardwright.frontends.arrays.indexing.picking import placed
from shardwright.frontends.tensorflow.importing.evaluate import Call, Value, rows
from shardwright.frontends.tensorflow.importing.table import row


@row("StridedSlice", folds=True)
def strided_slice(call: Call, x: Any, begin: Value, end: Value, strides: Value) -> Any:
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
    return scattered_nd(SCATTERS[call.node.op], x, indices, updates)


@row("ScatterNd")
def _scatter_nd(call: Call, indices: Any, updates: Any, shape: Value) -> Any:
    start = arrays.zeros(call.numbers(shape, "shape"), dtype=updates.dtype)
    return scattered_nd(arrays.scatter_add, start, indices, updates)


def scattered_nd(scatter: Any, x: Any, indices: Any, updates: Any) -> Any:
    """The dims that one index names are made one dim, in which it is one number."""
    depth = indices.shape[-1]
    outer, rest = x.shape[:depth], x.shape[depth:]
    flat = arrays.reshape(x, (math.prod(outer), *rest))
    steps = np.array([math.prod(outer[place + 1 :]) for place in range(depth)], indices.dtype)
    places = arrays.sum(arrays.multiply(indices, steps), axis=-1, dtype=indices.dtype)
    return arrays.reshape(scatter(flat, places, updates), x.shape)


@row("SparseToDense")
def _sparse_to_dense(call: Call, indices: Any, shape: Value, values: Any, default: Any) -> Any:
    """The elements that are given, at their places, and one number elsewhere."""
    sizes = call.numbers(shape, "shape")
    places = arrays.reshape(indices, (-1, len(sizes))) if indices.ndim < 2 else indices
    updates = arrays.broadcast_to(values, (places.shape[0],))
    return scattered_nd(arrays.scatter_update, arrays.broadcast_to(default, tuple(sizes)), places, updates)


@row("SparseTensorDenseMatMul")
def _sparse_matmul(call: Call, indices: Any, values: Any, shape: Value, b: Any) -> Any:
    """Each element that is given times a row, all of one row of the result added up."""
    turned = int(call["adjoint_a"])
    count = call.numbers(shape, "shape")[turned]
    right = arrays.conj(arrays.matrix_transpose(b)) if call["adjoint_b"] else b
    amounts = arrays.conj(values) if turned else values
    chosen = arrays.take(right, indices[:, 1 - turned], axis=0)
    return arrays.segment_sum(arrays.multiply(arrays.expand_dims(amounts, axis=1), chosen), indices[:, turned], count)


@row("OneHot")
def _one_hot(call: Call, indices: Any, depth: Value, on_value: Any, off_value: Any) -> Any:
    size = call.number(depth, "depth")
    return arrays.one_hot(indices, size, on_value, off_value, axis=call["axis"], dtype=call.dtype("T"))


def _bound(call: Call, lines: Any, values: Any, side: str) -> Any:
    if lines.shape[0] != 1:  # all pairs in each row: rows are short, or alone
        before = arrays.less if side == "left" else arrays.less_equal
        pairs = before(arrays.expand_dims(lines, axis=1), arrays.expand_dims(values, axis=2))
        return arrays.sum(arrays.astype(pairs, np.int32), axis=2)
    flat = arrays.searchsorted(arrays.reshape(lines, (lines.shape[1],)), values, side=side)
    return arrays.reshape(flat, values.shape)


def _segments(call: Call, count: Value) -> int:
    return call.number(count, "number of segments")


def _count_of(call: Call, ids: Value) -> int:
    """How many segments there are where their numbers ascend."""
    return int(call.known(ids, "number of segments").max(initial=-1)) + 1


def _sizes(ids: Any, count: int, like: Any) -> Any:
    """The rows of each segment, counted, beside what has a row for each."""
    ones = arrays.ones(ids.shape, dtype=like.dtype)
    return arrays.reshape(arrays.segment_sum(ones, ids, count), (count, *(1,) * (like.ndim - 1)))


def _by_sizes(total: Any, sizes: Any) -> Any:
    return arrays.divide(total, arrays.maximum(sizes, np.array(1).astype(total.dtype)))


def _segment_product(data: Any, ids: Any, count: int) -> Any:
    start = emit.as_tracer(arrays.ones((count, *data.shape[ids.ndim :]), dtype=data.dtype))
    places, values = (emit.as_tracer(value, "SegmentProd") for value in (ids, data))
    return placed(stablehlo.MultiplyOp, start, places, values, 0)


def _unsorted_extreme(call: Call, data: Any, ids: Any, count: Value) -> Any:
    """Where there is no row, TensorFlow has the lowest finite number, or the highest."""
    if call.node.op == "UnsortedSegmentMax":
        found, last, bound = arrays.segment_max(data, ids, _segments(call, count)), arrays.maximum, "min"
    else:
        found, last, bound = arrays.segment_min(data, ids, _segments(call, count)), arrays.minimum, "max"
    if data.dtype.kind in "iu":
        return found
    return last(found, np.array(getattr(arrays.finfo(data.dtype), bound)).astype(data.dtype))


SEGMENTS = {"SegmentMax": arrays.segment_max, "SegmentMin": arrays.segment_min}


@row(*SEGMENTS)
def _sorted_extreme(call: Call, data: Any, ids: Any) -> Any:
    """An empty segment is zero, which that of unsorted segments is not."""
    count = _count_of(call, ids)
    empty = arrays.equal(_sizes(ids, count, data), np.zeros((), data.dtype))
    return arrays.where(empty, np.zeros((), data.dtype), SEGMENTS[call.node.op](data, ids, count))


@row("SegmentSum", "SegmentMean", "SegmentProd")
def _sorted_segments(call: Call, data: Any, ids: Any) -> Any:
    count = _count_of(call, ids)
    if call.node.op == "SegmentProd":
        return _segment_product(data, ids, count)
    total = arrays.segment_sum(data, ids, count)
    return _by_sizes(total, _sizes(ids, count, data)) if call.node.op == "SegmentMean" else total


_WITH_COUNT = "WithNumSegments"


@row(*(f"SparseSegment{kind}{count}" for kind in ("Sum", "Mean", "SqrtN") for count in ("", _WITH_COUNT)))
def _sparse_segments(call: Call, data: Any, indices: Any, ids: Any, *given: Value) -> Any:
    """Rows are chosen first, then summed."""
    count = _segments(call, given[0]) if given else _count_of(call, ids)
    chosen = arrays.take(data, indices, axis=0)
    total, kind = arrays.segment_sum(chosen, ids, count), call.node.op.removesuffix(_WITH_COUNT)
    if kind == "SparseSegmentSum":
        return total
    sizes = _sizes(ids, count, chosen)
    return _by_sizes(total, arrays.sqrt(sizes) if kind == "SparseSegmentSqrtN" else sizes)


@row("DynamicStitch", "ParallelDynamicStitch", folds=True)
def _stitched(call: Call, *values: Any) -> Any:
    """Rows at the places that their numbers say; of several for one place the last one stays."""
    places = [call.known(value, "places of rows") for value in values[: len(values) // 2]]
    data = zip(places, values[len(places) :], strict=True)
    joined = call.xp.concat([call.xp.reshape(one, (at.size, *one.shape[at.ndim :])) for at, one in data], axis=0)
    flat = np.concatenate([at.reshape(-1) for at in places])
    source = np.full(int(flat.max(initial=-1)) + 1, -1)
    source[flat] = np.arange(flat.size)
    if (source < 0).any():
        raise call.fault(f"no row is given for place {int(np.flatnonzero(source < 0)[0])}")
    return np.take(joined, source, axis=0) if call.folding else arrays.take(joined, source.astype(np.int32), axis=0)


@row("Bucketize")
def _bucketized(call: Call, x: Any) -> Any:
    """How many boundaries are not above each element; of what is no number, all."""
    wide = arrays.astype(x, np.float64 if x.dtype == np.float64 else np.float32)
    bounds = np.array(call["boundaries"], np.float32).astype(wide.dtype)
    found = arrays.reshape(arrays.searchsorted(bounds, arrays.reshape(wide, (x.size,)), side="right"), x.shape)
    return arrays.where(arrays.isnan(wide), np.int32(bounds.size), found)


@row("Bincount", "DenseBincount")
def _counted(call: Call, x: Any, size: Value, weights: Any) -> Any:
    """How often each number occurs in each row, or the weights of where it does; those above are left out."""
    count, binary = call.number(size, "size"), call.has("binary_output") and call["binary_output"]
    lines = x.shape[0] if x.ndim == 2 else 1
    amounts = weights if weights.size and not binary else arrays.ones(x.shape, dtype=weights.dtype)
    flat = arrays.reshape(x, (lines, x.size // max(lines, 1)))
    starts = (np.arange(lines) * count).astype(x.dtype)[:, None]
    inside = arrays.less(flat, np.array(count).astype(x.dtype))
    ids = arrays.where(inside, arrays.add(flat, starts), np.array(-1).astype(x.dtype))
    total = arrays.segment_sum(arrays.reshape(amounts, (x.size,)), arrays.reshape(ids, (x.size,)), lines * count)
    found = arrays.minimum(total, np.array(1).astype(weights.dtype)) if binary else total
    return arrays.reshape(found, (lines, count) if x.ndim == 2 else (count,))


@row("InTopK", "InTopKV2")
def _in_top_k(call: Call, scores: Any, targets: Any, *given: Value) -> Any:
    """Whether fewer than `k` scores are above that of the target; never where one of them is no number."""
    k = call.number(given[0], "number of elements") if given else call["k"]
    zero, width = (np.array(number).astype(targets.dtype) for number in (0, scores.shape[1]))
    known = arrays.logical_and(arrays.greater_equal(targets, zero), arrays.less(targets, width))
    own = arrays.take_along_axis(scores, arrays.expand_dims(arrays.where(known, targets, zero), axis=1), axis=1)
    above = arrays.sum(arrays.astype(arrays.greater(scores, own), np.int32), axis=1)
    certain = arrays.all(arrays.isfinite(scores), axis=1)
    return arrays.logical_and(arrays.logical_and(known, certain), arrays.less(above, np.int32(k)))


rows(
    {
        "Gather": lambda call, params, indices: arrays.gather(params, indices),
        "GatherNd": lambda call, params, indices: _gathered_nd(params, indices),
        "LowerBound": lambda call, lines, values: _bound(call, lines, values, "left"),
        "ResourceGather": lambda call, resource, indices: arrays.gather(
            resource.variable.traced(), indices, batch_dims=call["batch_dims"]
        ),
        "ResourceGatherNd": lambda call, resource, indices: _gathered_nd(resource.variable.traced(), indices),
        "TensorScatterSub": lambda call, x, indices, updates: scattered_nd(
            arrays.scatter_add, x, indices, arrays.negative(updates)
        ),
        "TopKV2": lambda call, x, k: arrays.top_k(x, call.number(k, "number of elements")),
        "UnsortedSegmentMax": _unsorted_extreme,
        "UnsortedSegmentMin": _unsorted_extreme,
        "UnsortedSegmentProd": lambda call, x, at, count: _segment_product(x, at, _segments(call, count)),
        "UnsortedSegmentSum": lambda call, x, at, count: arrays.segment_sum(x, at, _segments(call, count)),
        "UpperBound": lambda call, lines, values: _bound(call, lines, values, "right"),
    }
)
