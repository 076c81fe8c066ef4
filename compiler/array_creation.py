"""
The functions of the array API standard that make arrays.

With `layout` (RFC: "Tensor Creation") the result is distributed at once, each device making its own part; without it, a
traced function leaves the layout to propagation, and elsewhere the result is a NumPy array.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from shardwright.compiler import emit
from shardwright.compiler.dims import shape_argument
from shardwright.compiler.dispatch import array_function
from shardwright.compiler.dtypes import (
    BOOLEAN,
    DEFAULT_FLOAT,
    DEFAULT_INTEGER,
    DTypeLike,
    as_dtype,
    check_kind,
    default_dtype,
    scalar_kind,
)
from shardwright.compiler.emit import Value
from shardwright.compiler.faults import value_error
from shardwright.compiler.trace import Tracer
from shardwright.dialects import stablehlo
from shardwright.layout import Layout


def _laid_out(value: Tracer, layout: Layout | None) -> Tracer:
    return value if layout is None else emit.constrain(value, layout)


@array_function
def full(
    shape: int | Sequence[int], fill_value: Value, *, dtype: DTypeLike | None = None, layout: Layout | None = None
) -> Any:
    """
    An array whose elements all equal `fill_value`.

    >>> import shardwright
    >>> shardwright.full((2, 2), 7)
    array([[7, 7],
           [7, 7]], dtype=int32)
    """
    target = as_dtype(dtype) if dtype is not None else emit.dtype_of(fill_value)
    return _laid_out(emit.fit(fill_value, target, shape_argument(shape, "full")), layout)


@array_function
def zeros(shape: int | Sequence[int], *, dtype: DTypeLike | None = None, layout: Layout | None = None) -> Any:
    """
    An array of zeros.

    >>> import shardwright
    >>> mesh = shardwright.Mesh(batch=2)
    >>> shardwright.zeros((4, 3), layout=shardwright.Layout(["batch"], mesh))
    DTensor(f32[4@batch, 3], Mesh(batch=2))
    """
    return _filled(0, shape, dtype, layout, "zeros")


@array_function
def ones(shape: int | Sequence[int], *, dtype: DTypeLike | None = None, layout: Layout | None = None) -> Any:
    """An array of ones."""
    return _filled(1, shape, dtype, layout, "ones")


@array_function
def empty(shape: int | Sequence[int], *, dtype: DTypeLike | None = None, layout: Layout | None = None) -> Any:
    """An array to be overwritten, which here is one of zeros."""
    return _filled(0, shape, dtype, layout, "empty")


def _filled(
    value: int, shape: int | Sequence[int], dtype: DTypeLike | None, layout: Layout | None, what: str
) -> Tracer:
    target = as_dtype(dtype) if dtype is not None else DEFAULT_FLOAT
    return _laid_out(emit.constant(value, target, shape_argument(shape, what)), layout)


@array_function
def full_like(x: Value, /, fill_value: Value, *, dtype: DTypeLike | None = None, layout: Layout | None = None) -> Any:
    """An array like `x`, whose elements all equal `fill_value`."""
    return _like(x, fill_value, dtype, layout)


@array_function
def zeros_like(x: Value, /, *, dtype: DTypeLike | None = None, layout: Layout | None = None) -> Any:
    """An array like `x`, of zeros."""
    return _like(x, 0, dtype, layout)


@array_function
def ones_like(x: Value, /, *, dtype: DTypeLike | None = None, layout: Layout | None = None) -> Any:
    """An array like `x`, of ones."""
    return _like(x, 1, dtype, layout)


@array_function
def empty_like(x: Value, /, *, dtype: DTypeLike | None = None, layout: Layout | None = None) -> Any:
    """An array like `x`, to be overwritten, which here is one of zeros."""
    return _like(x, 0, dtype, layout)


def _like(x: Value, fill_value: Value, dtype: DTypeLike | None, layout: Layout | None) -> Tracer:
    target = as_dtype(dtype) if dtype is not None else emit.dtype_of(x)
    given = layout if layout is not None else getattr(x, "layout", None)
    return _laid_out(emit.fit(fill_value, target, emit.shape_of(x)), given)


@array_function
def arange(
    start: float,
    /,
    stop: float | None = None,
    step: float = 1,
    *,
    dtype: DTypeLike | None = None,
    layout: Layout | None = None,
) -> Any:
    """
    Numbers from `start` up to `stop`, which is left out, by `step`.

    >>> import shardwright
    >>> shardwright.arange(2, 8, 3)
    array([2, 5], dtype=int32)
    """
    first, last = (0, start) if stop is None else (start, stop)
    if step == 0:
        raise value_error("SW0510", "arange: the step is zero")
    kinds = [scalar_kind(bound) for bound in (first, last, step)]
    target = as_dtype(dtype) if dtype is not None else default_dtype("float" if "float" in kinds else "integer")
    count = max(0, math.ceil((last - first) / step))
    return _laid_out(_spaced(first, step, count, np.dtype(target)), layout)


def _spaced(first: float, step: float, count: int, dtype: np.dtype[Any]) -> Tracer:
    value = emit.iota(dtype, (count,), 0)
    if step != 1:
        value = emit.binary(stablehlo.MultiplyOp, value, emit.constant(step, dtype, (count,)))
    return emit.binary(stablehlo.AddOp, value, emit.constant(first, dtype, (count,))) if first else value


@array_function
def linspace(
    start: float,
    stop: float,
    /,
    num: int,
    *,
    dtype: DTypeLike | None = None,
    endpoint: bool = True,
    layout: Layout | None = None,
) -> Any:
    """`num` evenly spaced numbers from `start` to `stop`."""
    target = as_dtype(dtype) if dtype is not None else DEFAULT_FLOAT
    check_kind(target, ("float",), "linspace")
    parts = num - 1 if endpoint else num
    return _laid_out(_spaced(start, (stop - start) / max(parts, 1), num, target), layout)


@array_function
def eye(
    n_rows: int,
    n_cols: int | None = None,
    /,
    *,
    k: int = 0,
    dtype: DTypeLike | None = None,
    layout: Layout | None = None,
) -> Any:
    """A matrix of zeros with ones on the diagonal `k`."""
    shape = (n_rows, n_rows if n_cols is None else n_cols)
    target = as_dtype(dtype) if dtype is not None else DEFAULT_FLOAT
    return _laid_out(emit.convert(_offset_compare("EQ", shape, k), target), layout)


@array_function
def tril(x: Value, /, *, k: int = 0) -> Any:
    """
    The matrices with zeros above diagonal `k`.

    >>> import shardwright, numpy
    >>> shardwright.tril(numpy.ones((2, 2)))
    array([[1., 0.],
           [1., 1.]])
    """
    return _triangle("LE", x, k, "tril")


@array_function
def triu(x: Value, /, *, k: int = 0) -> Any:
    """The matrices with zeros below diagonal `k`."""
    return _triangle("GE", x, k, "triu")


def _triangle(direction: str, x: Value, k: int, what: str) -> Tracer:
    value = emit.as_tracer(x, what)
    if value.ndim < 2:
        raise value_error("SW0510", f"{what} needs two dims, not {value.ndim}")
    kept = emit.broadcast(_offset_compare(direction, value.shape[-2:], k), value.shape)
    zero = False if value.dtype == BOOLEAN else 0
    return emit.select(kept, value, emit.constant(zero, value.dtype, value.shape))


def _offset_compare(direction: str, shape: Sequence[int], k: int) -> Tracer:
    """Where a column's index relates to its row's plus `k`."""
    rows = emit.iota(DEFAULT_INTEGER, shape, 0)
    columns = emit.iota(DEFAULT_INTEGER, shape, 1)
    if k:
        rows = emit.binary(stablehlo.AddOp, rows, emit.constant(k, DEFAULT_INTEGER, shape))
    return emit.compare(direction, columns, rows)


@array_function
def asarray(x: Value, /, *, dtype: DTypeLike | None = None, copy: bool | None = None) -> Any:
    """An array of `x`: a number, a nested list of numbers, or an array."""
    if isinstance(x, list | tuple):
        x = _plain_array(x)
    kind = scalar_kind(x)
    target = as_dtype(dtype) if dtype is not None else (default_dtype(kind) if kind else emit.dtype_of(x))
    return emit.fit(x, target, emit.shape_of(x))


def _plain_array(x: Any) -> np.ndarray[Any, Any]:
    array = np.asarray(x)
    kind = {"i": "integer", "f": "float", "c": "complex"}.get(array.dtype.kind)
    return array if kind is None else array.astype(default_dtype(kind))
