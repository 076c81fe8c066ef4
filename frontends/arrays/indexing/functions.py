"""Elements by computed indices: `gather`, `take`, `one_hot`, sums of segments, scatter updates; repetitions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from xdsl.ir import Operation

from shardwright.compiler.tracing import emit
from shardwright.compiler.tracing.array import Array, ArrayLike, Positions
from shardwright.compiler.tracing.dtypes import DEFAULT_FLOAT, DTypeLike, as_dtype, brief, kind_of
from shardwright.compiler.tracing.settings import dim_of, setting, shape_argument, size_argument
from shardwright.compiler.tracing.trace import Tracer
from shardwright.diagnostics.faults import type_error, value_error
from shardwright.dialects import stablehlo
from shardwright.frontends.arrays.indexing.picking import (
    beside,
    counting,
    picked,
    picked_along,
    placed,
    places_of,
    row_numbers,
)
from shardwright.frontends.functions.dispatch import array_function
from shardwright.rules.reductions import MONOIDS

__all__ = [
    "gather",
    "meshgrid",
    "one_hot",
    "repeat",
    "scatter_add",
    "scatter_max",
    "scatter_min",
    "scatter_update",
    "segment_max",
    "segment_min",
    "segment_sum",
    "take",
    "take_along_axis",
    "tile",
]

Repeats: TypeAlias = "np.ndarray[Any, Any] | int | Sequence[int]"


@array_function
def gather(params: ArrayLike, indices: Positions, /, *, axis: int = 0, batch_dims: int = 0) -> Array:
    """
    Slices of `params` along dim `axis` at whole numbers of any shape (RFC: `tf.gather`).

    The dims of `indices` stand in the result in place of `axis`; the first `batch_dims` dims of both go together. An
    index outside counts as the nearest one inside, negative ones count from the end. The arguments may also come as
    `gather(indices, params)`, as the RFC writes it, where just one of them holds whole numbers; of two arrays of whole
    numbers the first one is `params`. Indices on another mesh follow `params` to theirs.

    >>> import shardwright, numpy
    >>> shardwright.gather(numpy.array([10.0, 20.0, 30.0]), numpy.array([2, 0]))
    array([30., 10.])
    """
    swapped = kind_of(emit.dtype_of(indices, "gather")) != "integer" and kind_of(emit.dtype_of(params)) == "integer"
    given, indices = (indices, params) if swapped else (params, indices)
    value = emit.as_tracer(given, "gather")
    dim = dim_of(axis, value.ndim, "gather")
    places = places_of(beside(indices, value), value.shape[dim], "gather")
    if not 0 <= batch_dims <= min(dim, places.ndim) or value.shape[:batch_dims] != places.shape[:batch_dims]:
        raise value_error(
            "SW0504",
            f"gather: {list(value.shape)} and {list(places.shape)} do not share {batch_dims} dims before dim {dim}",
            help="batch dims come first in both, with equal sizes",
        )
    return picked(value, places, dim, batch_dims)


@array_function
def take(x: ArrayLike, indices: Positions, /, *, axis: int | None = None) -> Array:
    """
    Slices along dim `axis` at whole numbers; negative ones count from the end.

    >>> import shardwright, numpy
    >>> shardwright.take(numpy.array([10.0, 20.0, 30.0]), numpy.array([2, -1]))
    array([30., 30.])
    """
    value = emit.as_tracer(x, "take")
    if axis is None and value.ndim != 1:
        raise value_error("SW0510", f"take from {value.ndim} dims needs an axis")
    dim = dim_of(0 if axis is None else axis, value.ndim, "take")
    return picked(value, places_of(indices, value.shape[dim], "take"), dim)


@array_function
def take_along_axis(x: ArrayLike, indices: Positions, /, *, axis: int = -1) -> Array:
    """
    For each index the element there along dim `axis`; the other dims of both broadcast.

    >>> import shardwright, numpy
    >>> shardwright.take_along_axis(numpy.array([[1.0, 2.0], [3.0, 4.0]]), numpy.array([[1], [0]]))
    array([[2.],
           [3.]])
    """
    value = emit.as_tracer(x, "take_along_axis")
    dim = dim_of(axis, value.ndim, "take_along_axis")
    places = places_of(indices, value.shape[dim], "take_along_axis")
    if places.ndim != value.ndim:
        raise value_error(
            "SW0504", f"take_along_axis: {list(value.shape)} and {list(places.shape)} differ in their number of dims"
        )
    sizes = [tuple(1 if at == dim else size for at, size in enumerate(one.shape)) for one in (value, places)]
    shape = emit.broadcast_shape("take_along_axis", *sizes)
    wide = [
        emit.broadcast(one, [one.shape[dim] if at == dim else size for at, size in enumerate(shape)])
        for one in (value, places)
    ]
    return picked_along(wide[0], wide[1], dim)


@array_function
def one_hot(
    indices: Positions,
    depth: int,
    /,
    on_value: ArrayLike = 1,
    off_value: ArrayLike = 0,
    *,
    axis: int = -1,
    dtype: DTypeLike | None = None,
) -> Array:
    """
    A new dim of `depth` elements at `axis`: `on_value` at each index, `off_value` elsewhere.

    An index outside of it gives `off_value` only.

    >>> import shardwright, numpy
    >>> shardwright.one_hot(numpy.array([1, 0]), 3)
    array([[0., 1., 0.],
           [1., 0., 0.]], dtype=float32)
    """
    places = emit.as_tracer(indices, "one_hot")
    if kind_of(places.dtype) != "integer":
        raise type_error("SW0514", f"one_hot: indices are whole numbers, not {brief(places.dtype)}")
    dim = dim_of(axis, places.ndim + 1, "one_hot")
    shape = (*places.shape[:dim], size_argument(depth, "one_hot"), *places.shape[dim:])
    others = [at for at in range(len(shape)) if at != dim]
    wide = emit.convert(places, counting(places.dtype, depth - 1))
    hit = emit.compare("EQ", emit.broadcast_in_dim(wide, shape, others), emit.iota(wide.dtype, shape, dim))
    target = as_dtype(dtype) if dtype is not None else _chosen_dtype(on_value, off_value)
    return emit.select(hit, emit.fit(on_value, target, shape), emit.fit(off_value, target, shape))


def _chosen_dtype(on_value: ArrayLike, off_value: ArrayLike) -> Any:
    if type(on_value) is int and type(off_value) is int:
        return DEFAULT_FLOAT
    return emit.result_dtype("one_hot", on_value, off_value)


@array_function
def segment_sum(data: ArrayLike, segment_ids: ArrayLike, /, num_segments: int) -> Array:
    """
    The sums of the rows of `data` that have the same number in `segment_ids`; numbers outside are left out.

    >>> import shardwright, numpy
    >>> shardwright.segment_sum(numpy.array([1.0, 2.0, 4.0]), numpy.array([0, 1, 0]), 2)
    array([5., 2.])
    """
    return _segments(stablehlo.AddOp, data, segment_ids, num_segments, "segment_sum")


@array_function
def segment_max(data: ArrayLike, segment_ids: ArrayLike, /, num_segments: int) -> Array:
    """The largest elements of rows with the same number; the lowest number where there is no row."""
    return _segments(stablehlo.MaximumOp, data, segment_ids, num_segments, "segment_max")


@array_function
def segment_min(data: ArrayLike, segment_ids: ArrayLike, /, num_segments: int) -> Array:
    """The smallest elements of rows with the same number; the highest number where there is no row."""
    return _segments(stablehlo.MinimumOp, data, segment_ids, num_segments, "segment_min")


def _segments(operation: type[Operation], data: ArrayLike, segment_ids: ArrayLike, count: int, what: str) -> Tracer:
    value = emit.as_tracer(data, what)
    places = row_numbers(segment_ids, what)
    if value.shape[: places.ndim] != places.shape:
        raise value_error(
            "SW0504", f"{what}: there must be a number for each row: {list(value.shape)}, not {list(places.shape)}"
        )
    rest = value.shape[places.ndim :]
    start = emit.constant(MONOIDS[operation].identity(value.dtype), value.dtype, (size_argument(count, what), *rest))
    return placed(operation, start, places, value, 0)


@array_function
def scatter_update(x: ArrayLike, indices: Positions, updates: ArrayLike, /, *, axis: int = 0) -> Array:
    """
    `x` with slices along dim `axis` replaced; of several for one place the last one stays.

    The dims of `indices` stand in `updates` in place of `axis`, and `updates` broadcasts to that. An index outside is
    left out.

    >>> import shardwright, numpy
    >>> shardwright.scatter_update(numpy.zeros(3), numpy.array([2, 0]), numpy.array([5.0, 7.0]))
    array([7., 0., 5.])
    """
    return _scattered(None, x, indices, updates, axis, "scatter_update")


@array_function
def scatter_add(x: ArrayLike, indices: Positions, updates: ArrayLike, /, *, axis: int = 0) -> Array:
    """
    `x` with `updates` added to slices along dim `axis`, to each as often as it is named.

    >>> import shardwright, numpy
    >>> shardwright.scatter_add(numpy.zeros(3), numpy.array([2, 2]), numpy.array([5.0, 7.0]))
    array([ 0.,  0., 12.])
    """
    return _scattered(stablehlo.AddOp, x, indices, updates, axis, "scatter_add")


@array_function
def scatter_max(x: ArrayLike, indices: Positions, updates: ArrayLike, /, *, axis: int = 0) -> Array:
    """`x` with slices along dim `axis` raised to `updates` where these are larger."""
    return _scattered(stablehlo.MaximumOp, x, indices, updates, axis, "scatter_max")


@array_function
def scatter_min(x: ArrayLike, indices: Positions, updates: ArrayLike, /, *, axis: int = 0) -> Array:
    """`x` with slices along dim `axis` lowered to `updates` where these are smaller."""
    return _scattered(stablehlo.MinimumOp, x, indices, updates, axis, "scatter_min")


def _scattered(
    operation: type[Operation] | None, x: ArrayLike, indices: Positions, updates: ArrayLike, axis: int, what: str
) -> Tracer:
    value = emit.as_tracer(x, what)
    dim = dim_of(axis, value.ndim, what)
    places = places_of(indices, value.shape[dim], what)
    shape = (*value.shape[:dim], *places.shape, *value.shape[dim + 1 :])
    return placed(operation, value, places, emit.fit(updates, value.dtype, shape), dim)


@array_function
def repeat(x: ArrayLike, repeats: Repeats, /, *, axis: int | None = None) -> Array:
    """
    Each element several times along dim `axis`, or flattened; `repeats` is one number, or known numbers for each.

    >>> import shardwright, numpy
    >>> shardwright.repeat(numpy.array([1, 2]), 2)
    array([1, 1, 2, 2])
    """
    value = emit.as_tracer(x, "repeat")
    flat = emit.reshape(value, (value.size,)) if axis is None else value
    dim = 0 if axis is None else dim_of(axis, flat.ndim, "repeat")
    if isinstance(repeats, Array):
        raise type_error(
            "SW0540",
            "repeat has a result whose shape depends on data when the repeats are a tensor",
            help="give the repeats as a number, or a NumPy array that is known while tracing",
        )
    counts = setting("repeat", "repeats", int | Sequence[int])(repeats)
    if isinstance(counts, int):
        return _repeated(flat, dim, size_argument(counts, "repeat"), after=True)
    if len(counts) not in (1, flat.shape[dim]):
        raise value_error(
            "SW0504", f"repeat: {len(counts)} numbers for {flat.shape[dim]} elements", help="give one for each, or one"
        )
    places = np.repeat(np.arange(flat.shape[dim], dtype="int32"), shape_argument(counts, "repeat"))
    return picked(flat, emit.as_tracer(places), dim)


def _repeated(value: Tracer, dim: int, count: int, *, after: bool) -> Tracer:
    """Each element `count` times along a dim, or the whole dim that often."""
    shape = value.shape
    place = dim + 1 if after else dim
    wide = (*shape[:place], count, *shape[place:])
    spread = emit.broadcast_in_dim(value, wide, [at for at in range(len(wide)) if at != place])
    return emit.reshape(spread, (*shape[:dim], shape[dim] * count, *shape[dim + 1 :]))


@array_function
def tile(x: ArrayLike, repetitions: Sequence[int], /) -> Array:
    """
    The whole array several times along each dim.

    >>> import shardwright, numpy
    >>> shardwright.tile(numpy.array([1, 2]), (2,))
    array([1, 2, 1, 2])
    """
    value = emit.as_tracer(x, "tile")
    counts = shape_argument(repetitions, "tile")
    rank = max(value.ndim, len(counts))
    value = emit.reshape(value, (*(1,) * (rank - value.ndim), *value.shape))
    for dim, count in enumerate((*(1,) * (rank - len(counts)), *counts)):
        value = value if count == 1 else _repeated(value, dim, count, after=False)
    return value


@array_function
def meshgrid(*arrays: ArrayLike, indexing: str = "xy") -> list[Array]:
    """
    Rows of coordinates as arrays over their whole grid, one for each row.

    >>> import shardwright, numpy
    >>> [part.shape for part in shardwright.meshgrid(numpy.arange(2), numpy.arange(3))]
    [(3, 2), (3, 2)]
    """
    values = [emit.as_tracer(array, "meshgrid") for array in arrays]
    if indexing not in ("xy", "ij"):
        raise value_error("SW0510", f"meshgrid: there is no indexing {indexing!r}", help="it is 'xy' or 'ij'")
    if any(value.ndim > 1 for value in values) or len({value.dtype for value in values}) > 1:
        raise value_error("SW0504", "meshgrid takes rows of one dim and one type")
    order = list(range(len(values)))
    if indexing == "xy" and len(values) > 1:
        order[:2] = [1, 0]
    sizes = [math.prod(value.shape) for value in values]
    shape = [sizes[at] for at in order]
    rows = [emit.reshape(value, (value.size,)) for value in values]
    return [emit.broadcast_in_dim(row, shape, [order.index(at)]) for at, row in enumerate(rows)]
