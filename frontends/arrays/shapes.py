"""The functions of the array API standard that move elements: reshape, transpose, join, index."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from shardwright.compiler.tracing import emit
from shardwright.compiler.tracing.array import Array, ArrayLike
from shardwright.compiler.tracing.settings import Dims, dim_of, dims_of, one_or_more
from shardwright.compiler.tracing.trace import Tracer
from shardwright.diagnostics.faults import type_error, value_error
from shardwright.dialects import stablehlo
from shardwright.frontends.arrays.indexing.picking import cut
from shardwright.frontends.arrays.indexing.subscripts import indexed
from shardwright.frontends.functions.dispatch import array_function

__all__ = [
    "broadcast_arrays",
    "broadcast_to",
    "concat",
    "expand_dims",
    "flip",
    "matrix_transpose",
    "moveaxis",
    "pad",
    "permute_dims",
    "reshape",
    "roll",
    "split",
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
    sizes = list(one_or_more(shape))
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
        [dim_of(dim, value.ndim, "moveaxis") for dim in one_or_more(given)] for given in (source, destination)
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
    rank = value.ndim + len(one_or_more(axis))
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


def _promoted(arrays: Any, what: str) -> list[Tracer]:
    if not isinstance(arrays, Sequence | Array | np.ndarray) or isinstance(arrays, str):
        raise type_error("SW0507", f"{what} takes arrays in a list, not {type(arrays).__name__}")
    if len(arrays) == 0:
        raise value_error("SW0504", f"{what} needs at least one array")
    dtype = emit.result_dtype(what, *arrays)
    return [emit.typed(array, dtype, what) for array in arrays]


@array_function
def unstack(x: ArrayLike, /, *, axis: int = 0) -> tuple[Array, ...]:
    """The slices along dim `axis`, as a tuple: the inverse of `stack`."""
    value = emit.as_tracer(x, "unstack")
    dim = dim_of(axis, value.ndim, "unstack")
    before: tuple[slice, ...] = (slice(None),) * dim
    return tuple(indexed(value, (*before, place)) for place in range(value.shape[dim]))


@array_function
def flip(x: ArrayLike, /, *, axis: Dims = None) -> Array:
    """The elements of the dims in `axis` back to front, or of all dims."""
    value = emit.as_tracer(x, "flip")
    return emit.reverse(value, dims_of(axis, value.ndim, "flip"))


@array_function
def roll(x: ArrayLike, /, shift: int | Sequence[int], *, axis: int | Sequence[int] | None = None) -> Array:
    """
    The elements moved by `shift` places along dim `axis`, around its end; without `axis` as if flattened.

    Of several dims each has its own shift, or all have one. Raises `ValueError` (SW0510) for other numbers of them.

    >>> import shardwright, numpy
    >>> shardwright.roll(numpy.array([[1, 2, 3], [4, 5, 6]]), (1, -1), axis=(0, 1))
    array([[5, 6, 4],
           [2, 3, 1]])
    """
    value = emit.as_tracer(x, "roll")
    if axis is None:
        flat = roll(emit.reshape(value, (value.size,)), shift, axis=0)
        return emit.reshape(emit.as_tracer(flat), value.shape)
    dims = [dim_of(one, value.ndim, "roll") for one in one_or_more(axis)]
    shifts = list(shift) if isinstance(shift, Sequence) else [shift] * len(dims)
    if len(shifts) != len(dims):
        raise value_error(
            "SW0510", f"roll: {len(shifts)} shifts for {len(dims)} dims", help="give one for each, or one for all"
        )
    for dim, by in zip(dims, shifts, strict=True):
        value = _rolled(value, by, dim)
    return value


def _rolled(value: Tracer, shift: int, dim: int) -> Tracer:
    size = value.shape[dim]
    if size == 0 or shift % size == 0:
        return value
    cut = size - shift % size
    before: tuple[slice, ...] = (slice(None),) * dim
    return emit.concatenate([indexed(value, (*before, part)) for part in (slice(cut, None), slice(None, cut))], dim)


PAD_MODES = ("constant", "edge", "reflect", "symmetric", "wrap")


@array_function
def pad(
    x: ArrayLike,
    pad_width: int | Sequence[int] | Sequence[Sequence[int]],
    /,
    mode: str = "constant",
    *,
    constant_values: ArrayLike = 0,
) -> Array:
    """
    More elements before and after those of each dim (as `numpy.pad`).

    `pad_width` is a number for all sides, a pair (before, after) for all dims, or a pair for each dim. With the mode
    "constant" they are `constant_values`, a number; with "edge" those at the ends, with "reflect" and "symmetric" the
    array mirrored at its last element or behind it, with "wrap" the array again. Raises `ValueError` (SW0510) for other
    modes and widths.

    >>> import shardwright, numpy
    >>> shardwright.pad(numpy.array([1, 2, 3]), (2, 1))
    array([0, 0, 1, 2, 3, 0])
    >>> shardwright.pad(numpy.array([1, 2, 3]), 2, "reflect")
    array([3, 2, 1, 2, 3, 2, 1])
    """
    value = emit.as_tracer(x, "pad")
    widths = _pad_widths(pad_width, value.ndim)
    if mode not in PAD_MODES:
        raise value_error("SW0510", f"pad: there is no mode {mode!r}", help=f"it is one of {', '.join(PAD_MODES)}")
    if mode == "constant":
        low, high = zip(*widths, strict=True) if widths else ((), ())
        filling = emit.fit(constant_values, value.dtype, ())
        none = (0,) * value.ndim
        return emit.trace_now().emit(stablehlo.PadOp(value.value, filling.value, low, high, none))
    for dim, (before, after) in enumerate(widths):
        if before or after:
            value = _continued(value, dim, before, after, mode)
    return value


def _pad_widths(given: Any, rank: int) -> list[tuple[int, int]]:
    try:
        widths = np.broadcast_to(np.asarray(given), (rank, 2))
    except ValueError:
        widths = np.full(1, -1)
    if (widths < 0).any():
        raise value_error(
            "SW0510",
            f"pad: {given!r} is no width for {rank} dims",
            help="give a number, a pair (before, after), or a pair for each dim; none may be negative",
        )
    return [(int(widths[dim, 0]), int(widths[dim, 1])) for dim in range(rank)]


def _continued(value: Tracer, dim: int, before: int, after: int, mode: str) -> Tracer:
    """A dim with what comes before and after it in a mode: runs of its elements, there and back."""
    size = value.shape[dim]
    if not size:
        raise value_error("SW0504", f"pad: dim {dim} has no elements to go on with in the mode {mode!r}")
    places: Any = np.pad(np.arange(size), (before, after), mode)  # pyright: ignore[reportCallIssue, reportArgumentType]
    parts: list[Tracer] = []
    for start, stop in pairwise(_runs(places.tolist())):
        first, last = int(places[start]), int(places[stop - 1])
        part = cut(value, dim, min(first, last), max(first, last) + 1)
        if first == last and stop - start > 1:
            part = emit.broadcast_in_dim(
                part, [stop - start if at == dim else extent for at, extent in enumerate(part.shape)], range(part.ndim)
            )
        parts.append(emit.reverse(part, (dim,)) if first > last else part)
    return emit.concatenate(parts, dim) if len(parts) > 1 else parts[0]


def _runs(places: list[int]) -> list[int]:
    """Where runs begin in which each place is one more, one less, or the same as the one before; and the end."""
    borders, step = [0], None
    for at in range(1, len(places)):
        now = places[at] - places[at - 1]
        if step is None and abs(now) <= 1:
            step = now
        elif now != step:
            borders.append(at)
            step = None
    return [*borders, len(places)]


@array_function
def split(x: ArrayLike, indices_or_sections: int | Sequence[int], /, *, axis: int = 0) -> list[Array]:
    """
    The array in parts along dim `axis` (as `numpy.split`).

    A number is how many parts there are, all of one size; numbers in a list are where parts after the first begin.
    Raises `ValueError` (SW0504) where parts would not have one size.

    >>> import shardwright, numpy
    >>> shardwright.split(numpy.arange(6), 3)
    [array([0, 1]), array([2, 3]), array([4, 5])]
    >>> shardwright.split(numpy.arange(6), [1, 4])
    [array([0]), array([1, 2, 3]), array([4, 5])]
    """
    value = emit.as_tracer(x, "split")
    dim = dim_of(axis, value.ndim, "split")
    size = value.shape[dim]
    if isinstance(indices_or_sections, int):
        count = indices_or_sections
        if count < 1 or size % count:
            raise value_error(
                "SW0504",
                f"split: dim {dim} of {list(value.shape)} cannot be split into {count} parts of one size",
                help="give the places where parts begin: split(x, [2, 5])",
            )
        borders = list(range(0, size + 1, size // count)) if size else [0] * (count + 1)
    else:
        borders = [0, *(slice(place).indices(size)[1] for place in indices_or_sections), size]
    return [cut(value, dim, start, max(start, stop)) for start, stop in pairwise(borders)]
