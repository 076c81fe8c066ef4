"""
The functions of the array API standard and of the RFC ("Tensor Creation") that make arrays.

With `layout` the result is distributed at once, each device making its own part; without it, a traced function leaves
the layout to propagation, and elsewhere the result is a `Tensor`. `dtype`, `name` and `layout` may stand behind the
other arguments, in this order, as in TensorFlow; `name` is the value's name in the program's text. `device`, as in the
standard, can only be the one that there is, `"cpu"`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from operator import index
from typing import Any, SupportsIndex, TypeAlias

import numpy as np
from xdsl.ir import SSAValue

from shardwright.compiler.tracing import emit
from shardwright.compiler.tracing.array import Array, ArrayLike
from shardwright.compiler.tracing.dtypes import (
    BOOLEAN,
    DEFAULT_COMPLEX,
    DEFAULT_FLOAT,
    DEFAULT_INTEGER,
    WIDE,
    DType,
    DTypeLike,
    as_dtype,
    brief,
    check_integer,
    check_kind,
    default_dtype,
    kind_of,
    listed,
    scalar_kind,
)
from shardwright.compiler.tracing.settings import settled, shape_argument, size_argument
from shardwright.compiler.tracing.trace import Tracer, current_trace
from shardwright.diagnostics.faults import value_error
from shardwright.frontends.arrays.types.inspection import Device
from shardwright.frontends.functions.dispatch import array_function
from shardwright.frontends.functions.dtensor import is_ours, stacked, tensor_of
from shardwright.frontends.functions.relayouts import relayout
from shardwright.layout import Layout

__all__ = [
    "arange",
    "asarray",
    "empty",
    "empty_like",
    "eye",
    "fill",
    "full",
    "full_like",
    "linspace",
    "ones",
    "ones_like",
    "tril",
    "triu",
    "zeros",
    "zeros_like",
]


Shape = int | Sequence[int]
OptionalDType: TypeAlias = "DTypeLike | None"
Name = str | None


def _finished(value: Tracer, name: Name, layout: Layout | None, device: Device) -> Tracer:
    """The new value, distributed and named."""
    if device not in (None, "cpu"):
        raise value_error("SW0517", f"there is no device {device!r}", help="give layout= to distribute the array")
    finished = value if layout is None else emit.constrain(value, layout)
    if name:
        hint = re.sub(r"\W+", "_", name)
        finished.value.name_hint = hint if SSAValue.is_valid_name(hint) else None
    return finished


@array_function
def full(
    shape: Shape,
    fill_value: ArrayLike,
    dtype: OptionalDType = None,
    name: Name = None,
    layout: Layout | None = None,
    *,
    device: Device = None,
) -> Array:
    """
    An array whose elements all equal `fill_value`.

    >>> import shardwright
    >>> shardwright.full((2, 2), 7)
    array([[7, 7],
           [7, 7]], dtype=int32)
    """
    target = emit.dtype_of(fill_value) if dtype is None else as_dtype(dtype)
    return _finished(emit.fit(fill_value, target, shape_argument(shape, "full")), name, layout, device)


@array_function
def fill(dims: Shape, value: ArrayLike, name: Name = None, layout: Layout | None = None) -> Array:
    """
    An array of shape `dims` whose elements all equal `value` (RFC: `tf.fill`).

    >>> import shardwright
    >>> shardwright.fill([2, 3], 9)
    array([[9, 9, 9],
           [9, 9, 9]], dtype=int32)
    """
    return _finished(emit.fit(value, emit.dtype_of(value), shape_argument(dims, "fill")), name, layout, None)


@array_function
def zeros(
    shape: Shape, dtype: OptionalDType = None, name: Name = None, layout: Layout | None = None, *, device: Device = None
) -> Array:
    """
    An array of zeros.

    >>> import shardwright
    >>> mesh = shardwright.Mesh(batch=2)
    >>> shardwright.zeros((4, 3), layout=shardwright.Layout(["batch"], mesh))
    DTensor([[0., 0., 0.],
             [0., 0., 0.],
             [0., 0., 0.],
             [0., 0., 0.]], f32[4@batch, 3], Mesh(batch=2))
    """
    return _finished(_filled(0, shape, dtype, "zeros"), name, layout, device)


@array_function
def ones(
    shape: Shape, dtype: OptionalDType = None, name: Name = None, layout: Layout | None = None, *, device: Device = None
) -> Array:
    """An array of ones."""
    return _finished(_filled(1, shape, dtype, "ones"), name, layout, device)


@array_function
def empty(
    shape: Shape, dtype: OptionalDType = None, name: Name = None, layout: Layout | None = None, *, device: Device = None
) -> Array:
    """An array to be overwritten, which here is one of zeros."""
    return _finished(_filled(0, shape, dtype, "empty"), name, layout, device)


def _filled(value: int, shape: Shape, dtype: OptionalDType, what: str) -> Tracer:
    target = as_dtype(dtype) if dtype is not None else DEFAULT_FLOAT
    return emit.constant(value, target, shape_argument(shape, what))


@array_function
def full_like(
    x: ArrayLike,
    /,
    fill_value: ArrayLike,
    dtype: OptionalDType = None,
    name: Name = None,
    layout: Layout | None = None,
    *,
    device: Device = None,
) -> Array:
    """An array like `x`, whose elements all equal `fill_value`."""
    return _finished(_like(x, fill_value, dtype), name, _layout_like(x, layout), device)


@array_function
def zeros_like(
    x: ArrayLike,
    /,
    dtype: OptionalDType = None,
    name: Name = None,
    layout: Layout | None = None,
    *,
    device: Device = None,
) -> Array:
    """An array like `x`, of zeros."""
    return _finished(_like(x, 0, dtype), name, _layout_like(x, layout), device)


@array_function
def ones_like(
    x: ArrayLike,
    /,
    dtype: OptionalDType = None,
    name: Name = None,
    layout: Layout | None = None,
    *,
    device: Device = None,
) -> Array:
    """An array like `x`, of ones."""
    return _finished(_like(x, 1, dtype), name, _layout_like(x, layout), device)


@array_function
def empty_like(
    x: ArrayLike,
    /,
    dtype: OptionalDType = None,
    name: Name = None,
    layout: Layout | None = None,
    *,
    device: Device = None,
) -> Array:
    """An array like `x`, to be overwritten, which here is one of zeros."""
    return _finished(_like(x, 0, dtype), name, _layout_like(x, layout), device)


def _like(x: ArrayLike, fill_value: ArrayLike, dtype: OptionalDType) -> Tracer:
    target = as_dtype(dtype) if dtype is not None else emit.dtype_of(x)
    return emit.fit(fill_value, target, emit.shape_of(x))


def _layout_like(x: ArrayLike, layout: Layout | None) -> Layout | None:
    return layout if layout is not None else getattr(x, "layout", None)


@array_function
def arange(
    start: float,
    /,
    stop: float | None = None,
    step: float = 1,
    dtype: OptionalDType = None,
    name: Name = None,
    layout: Layout | None = None,
    *,
    device: Device = None,
) -> Array:
    """
    Numbers from `start` up to `stop`, which is left out, by `step`.

    Raises `ValueError` (SW0510) for steps that lead nowhere, (SW0506) where the last number does not fit the type.

    >>> import shardwright
    >>> shardwright.arange(2, 8, 3)
    array([2, 5], dtype=int32)
    """
    first, last = (0, start) if stop is None else (start, stop)
    _check_finite(first, last, step)
    if step == 0:
        raise value_error("SW0510", "arange: the step is zero")
    if not all(map(math.isfinite, (first, last, step))):
        raise value_error("SW0510", f"arange: there is no end from {first} to {last} by {step}")
    kind = "float" if float in map(type, (first, last, step)) else "integer"
    target = as_dtype(dtype) if dtype is not None else default_dtype(kind)
    count = size_argument(max(0, math.ceil((last - first) / step)), "arange")
    if count and kind_of(np.dtype(target)) == "integer":
        check_integer(int(first) + (count - 1) * int(step), np.dtype(target))
    return _finished(_spaced(first, step, count, np.dtype(target)), name, layout, device)


def _check_finite(*numbers: complex) -> None:
    """ValueError (SW0506) for a Python integer that no floating-point number comes near."""
    for number in numbers:
        if isinstance(number, int):
            check_integer(number, WIDE["float"])


def _spaced(first: complex, step: complex, count: int, dtype: np.dtype[Any]) -> Tracer:
    value = emit.iota(DEFAULT_INTEGER if kind_of(dtype) == "complex" else dtype, (count,), 0)
    value = emit.convert(value, dtype)
    if kind_of(dtype) == "integer":  # of an unsigned type, a step down is one around
        step = int(np.asarray(int(step.real) & (1 << 64) - 1, np.uint64).astype(dtype))
    if step != 1:
        value *= emit.constant(step, dtype, (count,))
    return value + emit.constant(first, dtype, (count,)) if first else value


@array_function
def linspace(
    start: complex,
    stop: complex,
    /,
    num: int,
    dtype: OptionalDType = None,
    name: Name = None,
    layout: Layout | None = None,
    *,
    endpoint: bool = True,
    device: Device = None,
) -> Array:
    """`num` evenly spaced numbers from `start` to `stop`, which is the last one unless `endpoint` is False."""
    _check_finite(start, stop)
    given = complex in (type(start), type(stop))
    target = as_dtype(dtype) if dtype is not None else DEFAULT_COMPLEX if given else DEFAULT_FLOAT
    check_kind(target, ("float", "complex"), "linspace")
    count = size_argument(num, "linspace")
    parts = count - 1 if endpoint else count
    value = _spaced(start, (stop - start) / max(parts, 1), count, target)
    if endpoint and count > 1:  # exact, whatever the steps add up to
        last = emit.iota(DEFAULT_INTEGER, (count,), 0) == count - 1
        value = emit.select(last, emit.constant(stop, target, (count,)), value)
    return _finished(value, name, layout, device)


@array_function
def eye(
    n_rows: int,
    n_cols: int | None = None,
    /,
    *,
    k: SupportsIndex = 0,
    dtype: OptionalDType = None,
    name: Name = None,
    layout: Layout | None = None,
    device: Device = None,
) -> Array:
    """A matrix of zeros with ones on the diagonal `k`."""
    shape = shape_argument((n_rows, n_rows if n_cols is None else n_cols), "eye")
    target = as_dtype(dtype) if dtype is not None else DEFAULT_FLOAT
    return _finished(emit.convert(_offset_compare("EQ", shape, k), target), name, layout, device)


@array_function
def tril(x: ArrayLike, /, *, k: SupportsIndex = 0) -> Array:
    """
    The matrices with zeros above diagonal `k`.

    >>> import shardwright, numpy
    >>> shardwright.tril(numpy.ones((2, 2)))
    array([[1., 0.],
           [1., 1.]])
    """
    return _triangle("LE", x, k, "tril")


@array_function
def triu(x: ArrayLike, /, *, k: SupportsIndex = 0) -> Array:
    """The matrices with zeros below diagonal `k`."""
    return _triangle("GE", x, k, "triu")


def _triangle(direction: str, x: ArrayLike, k: SupportsIndex, what: str) -> Tracer:
    value = emit.as_tracer(x, what)
    if value.ndim < 2:
        raise value_error("SW0510", f"{what} needs two dims, not {value.ndim}")
    kept = emit.broadcast(_offset_compare(direction, value.shape[-2:], k), value.shape)
    zero = False if value.dtype == BOOLEAN else 0
    return emit.select(kept, value, emit.constant(zero, value.dtype, value.shape))


def _offset_compare(direction: str, shape: Sequence[int], diagonal: SupportsIndex) -> Tracer:
    """Where a column's index relates to its row's plus the number of the diagonal."""
    rows = emit.iota(DEFAULT_INTEGER, shape, 0)
    columns = emit.iota(DEFAULT_INTEGER, shape, 1)
    k = min(max(index(diagonal), -shape[0]), shape[1])  # further off there is nothing but all or none
    if k:
        rows += emit.constant(k, DEFAULT_INTEGER, shape)
    return emit.compare(direction, columns, rows)


@settled
def asarray(
    x: ArrayLike,
    /,
    dtype: OptionalDType = None,
    name: Name = None,
    layout: Layout | None = None,
    *,
    copy: bool | None = None,
    device: Device = None,
) -> Array:
    """
    An array of `x`: a number, a nested list of numbers, or an array; with `layout`, distributed. A list of distributed
    or traced arrays is their stack.

    Outside of traced functions each device takes its own part of a NumPy array, whatever its size. Only with
    `copy=False` does the result share the memory of one; `ValueError` (SW0510) where it cannot.

    >>> import shardwright
    >>> shardwright.asarray([[1, 2], [3, 4]], layout=shardwright.Layout(["x"], shardwright.Mesh(x=2)))
    DTensor([[1, 2],
             [3, 4]], i32[2@x, 2], Mesh(x=2))
    """
    if copy is False and (isinstance(x, list | tuple) or scalar_kind(x) is not None):
        raise value_error("SW0510", "asarray: numbers are always copied", help="leave copy=False out")
    x = stacked(x)
    if isinstance(x, list | tuple):
        x = _plain_array(x, dtype)
    if current_trace() is None and layout is not None and not is_ours(x):
        emit.check_layout(layout, "asarray")
        target = _target(x, dtype)
        return relayout(np.asarray(x).astype(target, copy=False), layout)
    if copy is False and current_trace() is None and isinstance(x, np.ndarray):
        return _shared(x, dtype)
    return _asarray(x, dtype, name, layout, device)


def _shared(x: np.ndarray[Any, Any], dtype: OptionalDType) -> Any:
    if dtype is not None and as_dtype(dtype) != x.dtype:
        raise value_error(
            "SW0510",
            f"asarray: {brief(x.dtype)} elements cannot share memory as {brief(as_dtype(dtype))}",
            help="let it copy",
        )
    return tensor_of(emit.as_numpy(x, "asarray"), None)


@array_function
def _asarray(x: ArrayLike, dtype: OptionalDType, name: Name, layout: Layout | None, device: Device) -> Array:
    return _finished(emit.fit(x, _target(x, dtype), emit.shape_of(x)), name, layout, device)


def _target(x: ArrayLike, dtype: OptionalDType) -> DType:
    kind = scalar_kind(x)
    return as_dtype(dtype) if dtype is not None else default_dtype(kind) if kind else emit.dtype_of(x)


def _plain_array(x: Any, dtype: OptionalDType) -> np.ndarray[Any, Any]:
    """Numbers in the type that is asked for, else in their kind's default, or in 64 bits if these are needed."""
    if dtype is not None:
        return listed(x, as_dtype(dtype), "asarray")
    array = listed(x, None, "asarray")
    kind = {"i": "integer", "f": "float", "c": "complex"}.get(array.dtype.kind)
    first: Any = x
    while isinstance(first, list | tuple) and first:
        first = first[0]
    if kind is None or hasattr(first, "dtype"):
        return array
    if kind == "integer" and array.size and not -(2**31) <= array.min() <= array.max() < 2**31:
        return array
    return array.astype(default_dtype(kind))
