"""`x[key]`, and arrays with other elements at such places: what known keys choose is cut, the rest gathered."""

from __future__ import annotations

from operator import index as whole_number
from typing import Any

import numpy as np

from shardwright.compiler.tracing import emit
from shardwright.compiler.tracing.array import Array, ArrayLike
from shardwright.compiler.tracing.dtypes import BOOLEAN, DEFAULT_INTEGER, check_kind
from shardwright.compiler.tracing.trace import Tracer
from shardwright.diagnostics import ShardwrightError
from shardwright.diagnostics.faults import index_error, type_error, value_error
from shardwright.dialects import stablehlo
from shardwright.frontends.arrays.indexing.picking import picked_at, placed_at, places_of
from shardwright.frontends.functions.dispatch import array_function

__all__: list[str] = []
"""Nothing: users write `x[key]` and `x.at[key]`."""

_COMBINED: dict[str, type[stablehlo.BinaryOp]] = {
    "add": stablehlo.AddOp,
    "subtract": stablehlo.SubtractOp,
    "multiply": stablehlo.MultiplyOp,
    "max": stablehlo.MaximumOp,
    "min": stablehlo.MinimumOp,
}


@array_function
def index(x: ArrayLike, key: Any, /) -> Array:
    """`x[key]`: whole numbers, slices, `...` and `None`, known while tracing, and arrays of whole numbers."""
    value, items = emit.as_tracer(x, "indexing"), key if isinstance(key, tuple) else (key,)
    return _chosen(value, items) if any(map(_is_positions, items)) else indexed(value, items)


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
    plain, arrays = _apart(key, value)
    rest = indexed(value, plain)
    dims, wide = _positions(rest, arrays)
    return picked_at(rest, wide, dims, _target(dims))


def _apart(key: tuple[Any, ...], value: Tracer) -> tuple[tuple[Any, ...], dict[int, Any]]:
    """A key without its positions, where all is taken, and these by where they stand in it."""
    items = _spelled_out(key, value)
    arrays = {at: item for at, item in enumerate(items) if item is not None and not isinstance(item, slice)}
    for item in arrays.values():
        if not _is_positions(item):
            _refuse_choice(item)
    return tuple(slice(None) if at in arrays else item for at, item in enumerate(items)), arrays


def _positions(value: Tracer, arrays: dict[int, Any]) -> tuple[list[int], list[Tracer]]:
    """The dims that arrays of positions choose from, and the positions, broadcast."""
    places = [places_of(_array(item), value.shape[dim], "indexing") for dim, item in arrays.items()]
    shape = emit.broadcast_shape("indexing", *[place.shape for place in places])
    return list(arrays), [emit.broadcast(emit.convert(place, DEFAULT_INTEGER), shape) for place in places]


def _target(dims: list[int]) -> int:
    """Where the dims of positions stand in what they choose."""
    return dims[0] if dims == list(range(dims[0], dims[0] + len(dims))) else 0


def _array(item: Any) -> Any:
    return np.asarray(whole_number(item)) if isinstance(item, int) else item


def indexed(value: Tracer, key: tuple[Any, ...]) -> Tracer:
    """`value[key]` for whole numbers, slices, `...` and `None` that are known."""
    ranges, shape = _ranges(value, key)
    return emit.reshape(_boxed(value, ranges), shape)


def _ranges(value: Tracer, key: tuple[Any, ...]) -> tuple[list[range], list[int]]:
    """For each dim which elements a known key takes, and the shape of what it takes."""
    ranges: list[range] = []
    shape: list[int] = []
    for item in _spelled_out(key, value):
        if item is None:
            shape.append(1)
            continue
        chosen = _range(item, value.shape[len(ranges)], len(ranges))
        ranges.append(chosen)
        if isinstance(item, slice):
            shape.append(len(chosen))
    return ranges, shape


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
        return range(*_indices(item, size, dim))
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


def _indices(item: slice, size: int, dim: int) -> tuple[int, int, int]:
    try:
        return item.indices(size)
    except ShardwrightError:
        raise
    except (TypeError, ValueError) as error:
        help = "start, stop and step are whole numbers, and the step is not zero"
        raise type_error("SW0514", f"{item!r} cannot index dim {dim}", help=help) from error


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


@array_function
def updated(x: ArrayLike, key: Any, values: ArrayLike, how: str, /) -> Array:
    """`x` with elements at `x[key]` set to values, or combined with them: what `x.at[key]` calls."""
    value = emit.as_tracer(x, "at")
    if how == "subtract":
        check_kind(value.dtype, ("integer", "float", "complex"), how)
    items = key if isinstance(key, tuple) else (key,)
    if len(items) == 1 and getattr(items[0], "dtype", None) == BOOLEAN and np.ndim(items[0]):
        return _masked(value, items[0], values, how)
    if not any(map(_is_positions, items)):
        ranges, shape = _ranges(value, items)
        return _put(value, ranges, _combined(indexed(value, items), emit.fit(values, value.dtype, shape), how))
    plain, arrays = _apart(items, value)
    ranges, _ = _ranges(value, plain)
    rest = indexed(value, plain)
    dims, places = _positions(rest, arrays)
    target, inner = _target(dims), places[0].shape
    kept = [size for dim, size in enumerate(rest.shape) if dim not in dims]
    new = emit.fit(values, value.dtype, (*kept[:target], *inner, *kept[target:]))
    if how == "subtract":  # sums of several for one place can be split over devices
        how, new = "add", emit.unary(stablehlo.NegateOp, new)
    return _put(value, ranges, placed_at(_COMBINED.get(how), rest, places, new, dims, target))


def _masked(value: Tracer, mask: Any, values: ArrayLike, how: str) -> Tracer:
    """New elements where a mask over the first dims says so."""
    chosen = emit.as_tracer(mask, "at")
    if chosen.shape != value.shape[: chosen.ndim]:
        raise value_error("SW0504", f"at: a mask of {list(chosen.shape)} does not fit {list(value.shape)}")
    wide = emit.broadcast_in_dim(chosen, value.shape, range(chosen.ndim))
    return emit.select(wide, _combined(value, emit.fit(values, value.dtype, value.shape), how), value)


def _combined(old: Tracer, new: Tracer, how: str) -> Tracer:
    return emit.binary(_COMBINED[how], old, new) if how in _COMBINED else new


def _put(value: Tracer, ranges: list[range], new: Tracer) -> Tracer:
    """The value with new elements in the ranges; the others keep every bit that they have."""
    whole = [chosen == range(size) for chosen, size in zip(ranges, value.shape, strict=True)]
    box = emit.reshape(new, [len(chosen) for chosen in ranges])
    if not all(ranges):
        return value
    forward = [chosen[::-1] if chosen.step < 0 else chosen for chosen in ranges]
    box = emit.reverse(box, [dim for dim, chosen in enumerate(ranges) if chosen.step < 0 and len(chosen) > 1])
    if all(whole):
        return box
    low = [chosen[0] for chosen in forward]
    high = [size - chosen[-1] - 1 for chosen, size in zip(forward, value.shape, strict=True)]
    between = [chosen.step - 1 if len(chosen) > 1 else 0 for chosen in forward]
    filling = emit.constant(0, value.dtype)
    spread = emit.trace_now().emit(stablehlo.PadOp(box.value, filling.value, low, high, between))
    inside = _inside(value.shape, {dim: chosen for dim, chosen in enumerate(forward) if not whole[dim]})
    return emit.select(inside, spread, value)


def _inside(shape: tuple[int, ...], ranges: dict[int, range]) -> Tracer:
    """Whether an element is in the ranges, computed on each device of where it stands."""
    found: Tracer | None = None
    for dim, chosen in ranges.items():
        for test in _tests(emit.iota(DEFAULT_INTEGER, shape, dim), chosen):
            found = test if found is None else emit.binary(stablehlo.AndOp, found, test)
    assert found is not None
    return found


def _tests(place: Tracer, chosen: range) -> list[Tracer]:
    """What must hold for places to be in a range."""

    def against(direction: str, left: Tracer, number: int) -> Tracer:
        return emit.compare(direction, left, emit.constant(number, DEFAULT_INTEGER, place.shape))

    if len(chosen) == 1:
        return [against("EQ", place, chosen[0])]
    tests = [against("GE", place, chosen[0]), against("LE", place, chosen[-1])]
    if chosen.step > 1:
        step = emit.constant(chosen.step, DEFAULT_INTEGER, place.shape)
        tests.append(against("EQ", emit.binary(stablehlo.RemainderOp, place, step), chosen[0] % chosen.step))
    return tests
