"""The functions of the array API standard that move elements: reshape, transpose, join, index."""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import index as whole_number
from typing import Any

import numpy as np

from shardwright.compiler.tracing import emit
from shardwright.compiler.tracing.array import Array, ArrayLike
from shardwright.compiler.tracing.dims import Dims, dim_of, dims_of
from shardwright.compiler.tracing.dtypes import BOOLEAN, DEFAULT_INTEGER
from shardwright.compiler.tracing.trace import Tracer
from shardwright.diagnostics.faults import index_error, type_error, value_error
from shardwright.frontends.arrays.indexing.picking import picked_at, places_of
from shardwright.frontends.functions.dispatch import array_function

__all__ = [
    "broadcast_arrays",
    "broadcast_to",
    "concat",
    "expand_dims",
    "flip",
    "matrix_transpose",
    "moveaxis",
    "permute_dims",
    "reshape",
    "roll",
    "squeeze",
    "stack",
    "unstack",
]


@array_function
def reshape(x: ArrayLike, /, shape: Sequence[int] | int, *, copy: bool | None = None) -> Array:
    """
    The same elements, row-major, in another shape; one size may be -1 and is worked out.

    >>> import shardwright, numpy
    >>> shardwright.reshape(numpy.arange(6), (3, -1)).shape
    (3, 2)
    """
    value = emit.as_tracer(x, "reshape")
    sizes = [whole_number(shape)] if isinstance(shape, int) else [whole_number(size) for size in shape]
    target = _worked_out(sizes, value.size)
    if math.prod(target) != value.size or min(target, default=0) < 0:
        raise value_error(
            "SW0504",
            f"reshape: {list(value.shape)} has {value.size} elements and cannot be {list(sizes)}",
            help="the product of the sizes must stay the same",
        )
    return emit.reshape(value, target)


def _worked_out(sizes: list[int], total: int) -> list[int]:
    known = math.prod(size for size in sizes if size != -1)
    if sizes.count(-1) != 1 or known == 0 or total % known:
        return sizes
    return [total // known if size == -1 else size for size in sizes]


@array_function
def permute_dims(x: ArrayLike, /, axes: Sequence[int]) -> Array:
    """
    The dims in another order: dim `i` of the result is dim `axes[i]`.

    >>> import shardwright, numpy
    >>> shardwright.permute_dims(numpy.zeros((2, 3, 4)), (2, 0, 1)).shape
    (4, 2, 3)
    """
    value = emit.as_tracer(x, "permute_dims")
    order = tuple(dim_of(axis, value.ndim, "permute_dims") for axis in axes)
    if sorted(order) != list(range(value.ndim)):
        raise value_error("SW0510", f"permute_dims: {tuple(axes)} does not name each of {value.ndim} dims once")
    return emit.transpose(value, order)


@array_function
def matrix_transpose(x: ArrayLike, /) -> Array:
    """The last two dims swapped."""
    value = emit.as_tracer(x, "matrix_transpose")
    if value.ndim < 2:
        raise value_error("SW0510", f"matrix_transpose needs two dims, not {value.ndim}")
    return emit.transpose(value, (*range(value.ndim - 2), value.ndim - 1, value.ndim - 2))


@array_function
def moveaxis(x: ArrayLike, source: int | Sequence[int], destination: int | Sequence[int], /) -> Array:
    """The dims in `source` moved to `destination`, the others in their order."""
    value = emit.as_tracer(x, "moveaxis")
    moved, places = (
        [dim_of(dim, value.ndim, "moveaxis") for dim in ([given] if isinstance(given, int) else given)]
        for given in (source, destination)
    )
    if len(set(moved)) != len(moved) or len(set(places)) != len(moved) or len(places) != len(moved):
        raise value_error("SW0510", f"moveaxis: {source} and {destination} do not pair up dims")
    order = [dim for dim in range(value.ndim) if dim not in moved]
    for place, dim in sorted(zip(places, moved, strict=True)):
        order.insert(place, dim)
    return emit.transpose(value, order)


@array_function
def expand_dims(x: ArrayLike, /, axis: int | Sequence[int] = 0) -> Array:
    """
    New dims of size 1 at the places in `axis`.

    >>> import shardwright, numpy
    >>> shardwright.expand_dims(numpy.zeros((2, 3)), axis=1).shape
    (2, 1, 3)
    """
    value = emit.as_tracer(x, "expand_dims")
    count = 1 if isinstance(axis, int) else len(axis)
    rank = value.ndim + count
    places = dims_of(axis, rank, "expand_dims")
    sizes = iter(value.shape)
    return emit.reshape(value, [1 if dim in places else next(sizes) for dim in range(rank)])


@array_function
def squeeze(x: ArrayLike, /, axis: Dims = None) -> Array:
    """The dims in `axis`, which have size 1, dropped; without `axis` all that have."""
    value = emit.as_tracer(x, "squeeze")
    ones = tuple(dim for dim, size in enumerate(value.shape) if size == 1)
    dims = ones if axis is None else dims_of(axis, value.ndim, "squeeze")
    if not set(dims) <= set(ones):
        raise value_error("SW0504", f"squeeze: not all of dims {list(dims)} of {list(value.shape)} have size 1")
    return emit.reshape(value, [size for dim, size in enumerate(value.shape) if dim not in dims])


@array_function
def broadcast_to(x: ArrayLike, /, shape: Sequence[int]) -> Array:
    """The elements repeated up to `shape`, dims aligned at the last."""
    value = emit.as_tracer(x, "broadcast_to")
    if emit.broadcast_shape("broadcast_to", value.shape, shape) != tuple(shape):
        raise value_error("SW0504", f"broadcast_to: {list(value.shape)} does not broadcast to {list(shape)}")
    return emit.broadcast(value, shape)


@array_function
def broadcast_arrays(*arrays: ArrayLike) -> list[Array]:
    """The arrays repeated up to their common shape."""
    values = [emit.as_tracer(array, "broadcast_arrays") for array in arrays]
    shape = emit.broadcast_shape("broadcast_arrays", *[value.shape for value in values])
    return [emit.broadcast(value, shape) for value in values]


@array_function
def concat(arrays: Sequence[ArrayLike], /, *, axis: int | None = 0) -> Array:
    """
    Arrays end to end along dim `axis`; with None, flattened first.

    >>> import shardwright, numpy
    >>> shardwright.concat([numpy.arange(2), numpy.arange(3)])
    array([0, 1, 0, 1, 2])
    """
    values = _promoted(arrays, "concat")
    if axis is None:
        return emit.concatenate([emit.reshape(value, (value.size,)) for value in values], 0)
    dim = dim_of(axis, values[0].ndim, "concat")
    rests = {value.shape[:dim] + value.shape[dim + 1 :] for value in values}
    if len(rests) > 1 or any(value.ndim != values[0].ndim for value in values):
        shapes = " and ".join(str(list(value.shape)) for value in values)
        raise value_error("SW0504", f"concat: {shapes} differ in more than dim {dim}")
    return emit.concatenate(values, dim) if len(values) > 1 else values[0]


@array_function
def stack(arrays: Sequence[ArrayLike], /, *, axis: int = 0) -> Array:
    """Arrays of one shape along a new dim."""
    values = _promoted(arrays, "stack")
    if len({value.shape for value in values}) > 1:
        shapes = " and ".join(str(list(value.shape)) for value in values)
        raise value_error("SW0504", f"stack: the shapes {shapes} differ")
    dim = dim_of(axis, values[0].ndim + 1, "stack")
    shape = values[0].shape
    return emit.concatenate([emit.reshape(value, (*shape[:dim], 1, *shape[dim:])) for value in values], dim)


def _promoted(arrays: Sequence[ArrayLike], what: str) -> list[Tracer]:
    if len(arrays) == 0:
        raise value_error("SW0504", f"{what} needs at least one array")
    dtype = emit.result_dtype(what, *arrays)
    return [emit.convert(emit.as_tracer(array, what), dtype) for array in arrays]


@array_function
def unstack(x: ArrayLike, /, *, axis: int = 0) -> tuple[Array, ...]:
    """The slices along dim `axis`, as a tuple: the inverse of `stack`."""
    value = emit.as_tracer(x, "unstack")
    dim = dim_of(axis, value.ndim, "unstack")
    before: tuple[slice, ...] = (slice(None),) * dim
    return tuple(_indexed(value, (*before, place)) for place in range(value.shape[dim]))


@array_function
def flip(x: ArrayLike, /, *, axis: Dims = None) -> Array:
    """The elements of the dims in `axis` back to front, or of all dims."""
    value = emit.as_tracer(x, "flip")
    return emit.reverse(value, dims_of(axis, value.ndim, "flip"))


@array_function
def roll(x: ArrayLike, /, shift: int, *, axis: int | None = None) -> Array:
    """The elements moved by `shift` places along dim `axis`, around its end; without `axis` as if flattened."""
    value = emit.as_tracer(x, "roll")
    flat = emit.reshape(value, (value.size,)) if axis is None else value
    dim = 0 if axis is None else dim_of(axis, value.ndim, "roll")
    size = flat.shape[dim]
    if size == 0 or shift % size == 0:
        return value
    cut = size - shift % size
    before: tuple[slice, ...] = (slice(None),) * dim
    parts = [_indexed(flat, (*before, part)) for part in (slice(cut, None), slice(None, cut))]
    return emit.reshape(emit.concatenate(parts, dim), value.shape)


@array_function
def index(x: ArrayLike, key: Any, /) -> Array:
    """`x[key]`: whole numbers, slices, `...` and `None`, known while tracing, and arrays of whole numbers."""
    value, items = emit.as_tracer(x, "indexing"), key if isinstance(key, tuple) else (key,)
    return _chosen(value, items) if any(map(_is_positions, items)) else _indexed(value, items)


def _is_positions(item: Any) -> bool:
    """Whether an item of a key is an array of whole numbers, or one that is not known while tracing."""
    dtype = getattr(item, "dtype", None)
    if isinstance(item, list):
        return all(isinstance(one, int) and not isinstance(one, bool) for one in item)
    return dtype is not None and dtype.kind in "iu" and (isinstance(item, Tracer) or item.ndim > 0)


def _chosen(value: Tracer, key: tuple[Any, ...]) -> Tracer:
    """
    Arrays of positions, and what stands next to them: first what is known, then one gather.

    As in NumPy, the arrays broadcast; their dims stand where the arrays are, or first if these are apart.
    """
    items = _spelled_out(key, value)
    arrays = [item is not None and not isinstance(item, slice) for item in items]
    for item, array in zip(items, arrays, strict=True):
        if array and not _is_positions(item):
            _refuse_choice(item)
    plain = [slice(None) if array else item for item, array in zip(items, arrays, strict=True)]
    rest = _indexed(value, tuple(plain))
    dims = [at for at, array in enumerate(arrays) if array]
    places = [places_of(_array(items[dim]), rest.shape[dim], "indexing") for dim in dims]
    shape = emit.broadcast_shape("indexing", *[place.shape for place in places])
    wide = [emit.broadcast(emit.convert(place, DEFAULT_INTEGER), shape) for place in places]
    together = dims == list(range(dims[0], dims[0] + len(dims)))
    return picked_at(rest, wide, dims, dims[0] if together else 0)


def _array(item: Any) -> Any:
    return np.asarray(whole_number(item)) if isinstance(item, int) else item


def _indexed(value: Tracer, key: tuple[Any, ...]) -> Tracer:
    items = _spelled_out(key, value)
    ranges: list[range] = []
    shape: list[int] = []
    for item in items:
        if item is None:
            shape.append(1)
            continue
        size = value.shape[len(ranges)]
        chosen = _range(item, size, len(ranges))
        ranges.append(chosen)
        if isinstance(item, slice):
            shape.append(len(chosen))
    return emit.reshape(_boxed(value, ranges), shape)


def _spelled_out(key: tuple[Any, ...], value: Tracer) -> list[int | slice | None]:
    """One item for each dim, and a None for each new one."""
    items: list[Any] = list(key)
    dots = [place for place, item in enumerate(items) if item is Ellipsis]
    named = sum(item is not None for item in items) - len(dots)
    if named > value.ndim or len(dots) > 1:
        raise value_error("SW0514", f"{len(items)} indices do not fit a tensor of {value.ndim} dims")
    rest = [slice(None)] * (value.ndim - named)
    place = dots[0] if dots else len(items)
    return items[:place] + rest + items[place + 1 :]


def _range(item: Any, size: int, dim: int) -> range:
    if isinstance(item, slice):
        return range(*item.indices(size))
    _refuse_choice(item)
    try:
        place = whole_number(item)
    except TypeError as error:
        if isinstance(item, Tracer):
            raise
        raise type_error(
            "SW0514",
            f"{item!r} cannot index dim {dim}",
            help="use whole numbers, arrays of them, slices, ... and None; choose by values with shardwright.where",
        ) from error
    if not -size <= place < size:
        raise index_error("SW0514", f"index {place} is outside of dim {dim}, which has {size} elements")
    return range(place % size, place % size + 1)


def _refuse_choice(item: Any) -> None:
    """TypeError (SW0514) for masks and arrays that are no whole numbers."""
    mask = isinstance(item, bool | np.bool_) or getattr(item, "dtype", None) == BOOLEAN
    if mask:
        raise type_error(
            "SW0514",
            "a boolean mask cannot be an index",
            "the shape of the result would depend on data, and shapes are decided before a program runs",
            help="choose elements by their values with shardwright.where(mask, x, 0), which keeps the shape",
        )
    if getattr(item, "ndim", 0):
        raise type_error(
            "SW0514",
            f"an array of {getattr(item, 'dtype', None)} cannot be an index",
            help="use arrays of whole numbers; choose elements by their values with shardwright.where",
        )


def _boxed(value: Tracer, ranges: list[range]) -> Tracer:
    """The elements in the ranges; a range that runs backwards is taken forwards and turned."""
    turned = [dim for dim, chosen in enumerate(ranges) if chosen.step < 0 and len(chosen) > 1]
    forward = [chosen[::-1] if chosen.step < 0 else chosen for chosen in ranges]
    starts = [chosen.start if len(chosen) else 0 for chosen in forward]
    limits = [chosen[-1] + 1 if len(chosen) else 0 for chosen in forward]
    strides = [chosen.step if len(chosen) > 1 else 1 for chosen in forward]
    return emit.reverse(emit.slice_(value, starts, limits, strides), turned)
