"""
NumPy's functions that are several of ours: each takes the package, then what NumPy's takes.

NotImplemented stands for arguments with which none of ours does the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from shardwright.compiler.tracing.trace import current_trace


def _transpose(sw: Any, a: Any, axes: Sequence[int] | None = None) -> Any:
    return sw.permute_dims(a, tuple(reversed(range(a.ndim))) if axes is None else axes)


def _swapaxes(sw: Any, a: Any, axis1: int, axis2: int) -> Any:
    dims = list(range(a.ndim))
    dims[axis1], dims[axis2] = dims[axis2], dims[axis1]
    return sw.permute_dims(a, tuple(dims))


def _ravel(sw: Any, a: Any) -> Any:
    return sw.reshape(a, (-1,))


def _tile(sw: Any, A: Any, reps: int | Sequence[int]) -> Any:
    return sw.tile(A, (reps,) if isinstance(reps, int) else reps)


def _along(name: str) -> Callable[..., Any]:
    """A function along one dim, which goes along all elements in a row where NumPy is given none."""

    def call(sw: Any, a: Any, *given: Any, axis: int | None = None, **options: Any) -> Any:
        return getattr(sw, name)(_ravel(sw, a) if axis is None else a, *given, axis=axis or 0, **options)

    return call


def _running(name: str) -> Callable[..., Any]:
    along = _along(name)

    def call(sw: Any, a: Any, axis: int | None = None, dtype: Any = None) -> Any:
        return along(sw, a, axis=axis, dtype=dtype)

    return call


def _take(sw: Any, a: Any, indices: Any, axis: int | None = None) -> Any:
    return _along("take")(sw, a, indices, axis=axis)


def _repeat(sw: Any, a: Any, repeats: Any, axis: int | None = None) -> Any:
    return _along("repeat")(sw, a, repeats, axis=axis)


def _ordered(name: str) -> Callable[..., Any]:
    along = _along(name)

    def call(sw: Any, a: Any, axis: int | None = -1, *, stable: bool | None = None) -> Any:
        return along(sw, a, axis=axis, stable=bool(stable))

    return call


def _spread(name: str) -> Callable[..., Any]:
    def call(
        sw: Any, a: Any, axis: Any = None, *, ddof: float = 0, correction: float = 0, keepdims: bool = False
    ) -> Any:
        return getattr(sw, name)(a, axis=axis, correction=correction or ddof, keepdims=keepdims)

    return call


def _dot(sw: Any, a: Any, b: Any) -> Any:
    if not (np.ndim(a) and np.ndim(b)):
        return sw.multiply(a, b)
    return sw.tensordot(a, b, axes=([np.ndim(a) - 1], [max(np.ndim(b) - 2, 0)]))


def _inner(sw: Any, a: Any, b: Any) -> Any:
    if not (np.ndim(a) and np.ndim(b)):
        return sw.multiply(a, b)
    return sw.tensordot(a, b, axes=([np.ndim(a) - 1], [np.ndim(b) - 1]))


def _vdot(sw: Any, a: Any, b: Any) -> Any:
    return sw.vecdot(_ravel(sw, a), _ravel(sw, b))


def _outer(sw: Any, a: Any, b: Any) -> Any:
    return sw.linalg.outer(_ravel(sw, a), _ravel(sw, b))


def _of_diagonals(name: str) -> Callable[..., Any]:
    def call(sw: Any, a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
        return getattr(sw.linalg, name)(sw.moveaxis(a, (axis1, axis2), (-2, -1)), offset=offset)

    return call


def _norm(sw: Any, x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    dims = (axis,) if isinstance(axis, int) else axis
    if dims is None and ord is not None:
        dims = tuple(range(x.ndim))
    if dims is None or len(dims) == 1:
        return sw.linalg.vector_norm(x, axis=dims, keepdims=keepdims, ord=2 if ord is None else ord)
    if len(dims) != 2 or [dim % x.ndim for dim in dims] != [x.ndim - 2, x.ndim - 1]:
        return NotImplemented
    return sw.linalg.matrix_norm(x, keepdims=keepdims, ord="fro" if ord is None else ord)


def _cond(sw: Any, x: Any, p: Any = None) -> Any:
    if p is None or p in (2, -2):
        values = sw.linalg.svdvals(x)
        first, last = values[..., 0], values[..., -1]
        return last / first if p == -2 else first / last
    return sw.linalg.matrix_norm(x, ord=p) * sw.linalg.matrix_norm(sw.linalg.inv(x), ord=p)


def _vstack(sw: Any, tup: Sequence[Any]) -> Any:
    return sw.concat([_at_least(sw, array, 2) for array in tup], axis=0)


def _hstack(sw: Any, tup: Sequence[Any]) -> Any:
    arrays = [_at_least(sw, array, 1) for array in tup]
    return sw.concat(arrays, axis=0 if arrays[0].ndim == 1 else 1)


def _at_least(sw: Any, array: Any, rank: int) -> Any:
    while array.ndim < rank:
        array = sw.expand_dims(array, axis=0)
    return array


def _atleast(rank: int) -> Callable[..., Any]:
    def call(sw: Any, *arys: Any) -> Any:
        made = tuple(_at_least(sw, array, rank) for array in arys)
        return made[0] if len(made) == 1 else made

    return call


def _append(sw: Any, arr: Any, values: Any, axis: int | None = None) -> Any:
    return sw.concat([arr, values], axis=axis)


def _ptp(sw: Any, a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    return sw.max(a, axis=axis, keepdims=keepdims) - sw.min(a, axis=axis, keepdims=keepdims)


def _array_equal(sw: Any, a1: Any, a2: Any) -> bool:
    one, other = _together(sw, a1, a2)
    return one.shape == other.shape and bool(_compiled(sw, _equal)(sw, one, other))


def _equal(sw: Any, one: Any, other: Any) -> Any:
    dtype = np.result_type(one.dtype, other.dtype)
    return sw.all(sw.equal(sw.astype(one, dtype), sw.astype(other, dtype)))


def _allclose(sw: Any, a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> bool:
    return bool(_compiled(sw, _all_close)(sw, *_together(sw, a, b), rtol, atol, equal_nan))


def _isclose(sw: Any, a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Any:
    return _compiled(sw, _close)(sw, *_together(sw, a, b), rtol, atol, equal_nan)


def _all_close(sw: Any, *given: Any) -> Any:
    return sw.all(_close(sw, *given))


def _close(sw: Any, one: Any, other: Any, rtol: Any, atol: Any, equal_nan: bool) -> Any:
    dtype = np.result_type(one.dtype, other.dtype, np.float32)
    one, other = sw.astype(one, dtype), sw.astype(other, dtype)
    near = sw.abs(one - other) <= sw.abs(other) * rtol + atol
    close = sw.isfinite(other) & near | sw.equal(one, other)
    return close | sw.isnan(one) & sw.isnan(other) if equal_nan else close


@cache
def _compiled(sw: Any, body: Callable[..., Any]) -> Callable[..., Any]:
    """One program, where the functions called one by one would be one each."""
    return sw.function(body)


def _together(sw: Any, one: Any, other: Any) -> list[Any]:
    """
    Two arrays, or lists of numbers, that are to be compared: where one is distributed, the other is brought to its
    layout, from another mesh or from an array of any size.
    """
    arrays = [_array(one, other), _array(other, one)]
    model = next((array for array in arrays if getattr(array, "layout", None) is not None), None)
    return arrays if model is None or current_trace() else [_beside(sw, array, model) for array in arrays]


def _array(value: Any, other: Any) -> Any:
    if isinstance(value, bool | int | float | complex) and hasattr(other, "dtype"):
        return np.asarray(value, np.result_type(other.dtype, value))
    return value if hasattr(value, "dtype") else np.asarray(value)


def _beside(sw: Any, array: Any, model: Any) -> Any:
    if array.shape != model.shape:
        return sw.relayout(array, sw.Layout.replicated(model.mesh, rank=array.ndim))
    return array if getattr(array, "layout", None) == model.layout else sw.relayout_like(array, model)


def _result_type(sw: Any, *arrays_and_dtypes: Any) -> Any:
    return np.result_type(
        *[each if isinstance(each, type) else getattr(each, "dtype", each) for each in arrays_and_dtypes]
    )


def _flipped(dim: int) -> Callable[..., Any]:
    def call(sw: Any, m: Any) -> Any:
        return sw.flip(m, axis=dim)

    return call


COMPOSED: dict[str, Callable[..., Any]] = {
    "allclose": _allclose,
    "append": _append,
    "argsort": _ordered("argsort"),
    "array_equal": _array_equal,
    "atleast_1d": _atleast(1),
    "atleast_2d": _atleast(2),
    "cumprod": _running("cumulative_prod"),
    "cumsum": _running("cumulative_sum"),
    "diagonal": _of_diagonals("diagonal"),
    "dot": _dot,
    "fliplr": _flipped(1),
    "flipud": _flipped(0),
    "hstack": _hstack,
    "inner": _inner,
    "isclose": _isclose,
    "linalg.cond": _cond,
    "linalg.norm": _norm,
    "outer": _outer,
    "ptp": _ptp,
    "ravel": _ravel,
    "repeat": _repeat,
    "result_type": _result_type,
    "sort": _ordered("sort"),
    "std": _spread("std"),
    "swapaxes": _swapaxes,
    "take": _take,
    "tile": _tile,
    "trace": _of_diagonals("trace"),
    "transpose": _transpose,
    "var": _spread("var"),
    "vdot": _vdot,
    "vstack": _vstack,
}
"""By the names that NumPy has for them."""
