"""The functions of the array API standard that sort and search, `top_k`, and what is refused by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from shardwright.compiler.control import regions
from shardwright.compiler.tracing import emit
from shardwright.compiler.tracing.array import Array, ArrayLike
from shardwright.compiler.tracing.dtypes import DEFAULT_INTEGER, check_kind, kind_of
from shardwright.compiler.tracing.settings import Dims, dim_of, dims_of, size_argument
from shardwright.compiler.tracing.trace import Tracer
from shardwright.diagnostics.faults import type_error, value_error
from shardwright.dialects import chlo, stablehlo
from shardwright.frontends.arrays.indexing.picking import counted, picked, places_of, sorted_together
from shardwright.frontends.arrays.reducing.reductions import summed
from shardwright.frontends.functions.dispatch import array_function, named

__all__ = [
    "argsort",
    "count_nonzero",
    "isin",
    "nonzero",
    "searchsorted",
    "sort",
    "top_k",
    "unique_all",
    "unique_counts",
    "unique_inverse",
    "unique_values",
]

ORDERED = ("boolean", "integer", "float")


@array_function
def sort(x: ArrayLike, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    """
    The elements along dim `axis` in order; NaNs count as the largest. The order is always stable.

    >>> import shardwright, numpy
    >>> shardwright.sort(numpy.array([3, 1, 2]), descending=True)
    array([3, 2, 1])
    """
    value = _ordered(x, "sort")
    return sorted_together([value], dim_of(axis, value.ndim, "sort"), descending=descending)[0]


@array_function
def argsort(x: ArrayLike, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    """The places from which `sort` takes the elements."""
    value = _ordered(x, "argsort")
    dim = dim_of(axis, value.ndim, "argsort")
    places = emit.iota(DEFAULT_INTEGER, value.shape, dim)
    return sorted_together([value, places], dim, descending=descending)[1]


def _ordered(x: ArrayLike, what: str) -> Tracer:
    value = emit.as_tracer(x, what)
    check_kind(value.dtype, ORDERED, what)
    return value


@array_function
def top_k(x: ArrayLike, /, k: int = 1, *, axis: int = -1) -> tuple[Array, Array]:
    """
    The `k` largest elements along dim `axis`, in descending order, and their places: a pair.

    Of equal elements those at lower places come first. Raises `ValueError` (SW0510) for more than there are.

    >>> import shardwright, numpy
    >>> shardwright.top_k(numpy.array([3.0, 1.0, 2.0]), 2)
    (array([3., 2.]), array([0, 2], dtype=int32))
    """
    value = emit.as_tracer(x, "top_k")
    check_kind(value.dtype, ("integer", "float"), "top_k")
    dim = dim_of(axis, value.ndim, "top_k")
    if size_argument(k, "top_k") > value.shape[dim]:
        raise value_error("SW0510", f"top_k: dim {dim} has {value.shape[dim]} elements, not {k}")
    last = value.ndim - 1
    order = [*(at for at in range(value.ndim) if at != dim), dim]
    op = chlo.TopKOp(emit.transpose(value, order).value, k)
    trace = emit.trace_now()
    trace.emit(op)
    back = [*range(dim), last, *range(dim, last)]
    largest, places = (emit.transpose(Tracer(trace, result), back) for result in op.results)
    return largest, places


@array_function
def searchsorted(x1: ArrayLike, x2: ArrayLike, /, *, side: str = "left", sorter: ArrayLike | None = None) -> Array:
    """
    Where the elements of `x2` belong in the ascending row `x1`: before equal ones, or after them (`side="right"`).

    >>> import shardwright, numpy
    >>> shardwright.searchsorted(numpy.array([1.0, 2.0, 4.0]), numpy.array([2.0, 3.0]))
    array([1, 2], dtype=int32)
    """
    if side not in ("left", "right"):
        raise value_error("SW0510", f"searchsorted: there is no side {side!r}", help="it is 'left' or 'right'")
    dtype = emit.result_dtype("searchsorted", x1, x2)
    row, values = (emit.typed(x, dtype, "searchsorted") for x in (x1, x2))
    check_kind(dtype, ORDERED, "searchsorted")
    if row.ndim != 1:
        raise value_error("SW0510", f"searchsorted needs a row of one dim, not {row.ndim}")
    if sorter is not None:
        row = picked(row, places_of(sorter, row.size, "searchsorted"), 0)
    return _bisected(row, values, side)


def _bisected(row: Tracer, values: Tracer, side: str) -> Tracer:
    """The number of elements before each value, by halving the row as often as it takes."""
    start = [emit.constant(number, DEFAULT_INTEGER, values.shape) for number in (0, row.size)]
    if not row.size:
        return start[1]
    rounds = emit.constant(row.size.bit_length(), DEFAULT_INTEGER)

    def going(state: list[Tracer]) -> list[Tracer]:
        return [emit.compare("LT", state[0], rounds)]

    def halved(state: list[Tracer]) -> list[Tracer]:
        done, low, high = state
        half = emit.binary(stablehlo.DivideOp, high - low, emit.constant(2, DEFAULT_INTEGER, values.shape))
        middle = low + half
        beyond = _stands_before(picked(row, middle, 0), values, side)
        return [done + 1, emit.select(beyond, middle, low), emit.select(beyond, high, middle)]

    return regions.loop([emit.constant(0, DEFAULT_INTEGER), *start], going, halved)[2]


def _stands_before(element: Tracer, value: Tracer, side: str) -> Tracer:
    """Whether a row's element stands before a value; NaN stands behind all numbers, as where things are sorted."""
    before = emit.compare("LT" if side == "left" else "LE", element, value)
    if kind_of(value.dtype) != "float":
        return before
    last = emit.compare("NE", value, value)
    if side == "left":
        last = emit.binary(stablehlo.AndOp, last, emit.compare("EQ", element, element))
    return emit.binary(stablehlo.OrOp, before, last)


@array_function
def isin(x1: ArrayLike, x2: ArrayLike, /, *, invert: bool = False) -> Array:
    """
    Whether each element of `x1` is among those of `x2`, or is not (`invert`).

    >>> import shardwright, numpy
    >>> shardwright.isin(numpy.array([1, 2, 3]), numpy.array([3, 1]))
    array([ True, False,  True])
    """
    dtype = emit.result_dtype("isin", x1, x2)
    check_kind(dtype, ORDERED, "isin")
    values, among = (emit.typed(x, dtype, "isin") for x in (x1, x2))
    if not among.size:
        return emit.constant(invert, emit.dtype_of(invert), values.shape)
    (row,) = sorted_together([emit.reshape(among, (among.size,))], 0)
    found = picked(row, _bisected(row, values, "left"), 0)
    return emit.compare("NE" if invert else "EQ", found, values)


@array_function
def count_nonzero(x: ArrayLike, /, *, axis: Dims = None, keepdims: bool = False) -> Array:
    """The number of elements over the dims in `axis` that are not zero."""
    value = emit.as_tracer(x, "count_nonzero")
    dims = dims_of(axis, value.ndim, "count_nonzero")
    return summed(counted(value), stablehlo.AddOp, dims, keepdims)


def _refused(name: str, way_out: str) -> Callable[[ArrayLike], NoReturn]:
    """A public function of the standard that there cannot be: it says so."""

    @named(name, f"Refused (SW0540): the shape of `{name}` is not known before the program runs.")
    def refused(x: ArrayLike, /) -> NoReturn:
        raise type_error(
            "SW0540",
            f"{name} has a result whose shape depends on data",
            "shapes are decided before a program runs",
            help=way_out,
        )

    return refused


_UNIQUE = "sort, and compare neighbours with shardwright.diff; or use numpy on the result, outside of traced functions"

nonzero = _refused("nonzero", "count them with count_nonzero, or choose by shardwright.where(x != 0, ...)")
unique_all = _refused("unique_all", _UNIQUE)
unique_counts = _refused("unique_counts", _UNIQUE)
unique_inverse = _refused("unique_inverse", _UNIQUE)
unique_values = _refused("unique_values", _UNIQUE)
