"""
CuPy with NumPy's manners, as the runtime's kernels call it: what CuPy lacks is made here of what it has.

CuPy's ufuncs reduce and accumulate only sums and products; with `at` floats are summed in any order, and not all types
are; `broadcast_to` takes no scalars. Everything else is CuPy's own.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

Array = Any


def library() -> Any:
    """CuPy, loaded by `device.library` before any program runs."""
    return sys.modules["cupy"]


def __getattr__(name: str) -> Any:
    if name.startswith("__"):  # Python itself asks, perhaps without CuPy
        raise AttributeError(name)
    return getattr(library(), name)


def broadcast_to(array: Any, shape: Sequence[int]) -> Array:
    """The array, or the scalar, repeated to a shape: a view."""
    return library().broadcast_to(library().asarray(array), tuple(shape))


class Ufunc:
    """
    A function of two elements that may be combined in any grouping, with NumPy's methods.

    All of them keep the elements' order and give the same bits each time, which CuPy's own `at` does not for floats.
    """

    def __init__(self, name: str, reduction: str | None = None, added: str | None = None) -> None:
        self._name, self._reduction, self._added = name, reduction, added or name

    def __call__(self, *operands: Any, **options: Any) -> Array:
        return getattr(library(), self._name)(*operands, **options)

    def reduce(self, array: Array, *, axis: Any, keepdims: bool = False, dtype: Any = None) -> Array:
        """The elements along one dim, or several, combined."""
        axes = axis if isinstance(axis, tuple) else (axis,)
        array = array if dtype is None else array.astype(dtype, copy=False)
        if self._reduction is not None and array.dtype.kind != "b":
            if self._name in ("add", "multiply"):
                return getattr(array, self._reduction)(axis=axes, keepdims=keepdims, dtype=array.dtype)
            return getattr(array, self._reduction)(axis=axes, keepdims=keepdims)
        return self._halved(array, axes, keepdims=keepdims)

    def accumulate(self, array: Array, *, axis: int, dtype: Any = None) -> Array:
        """For each element those up to it along a dim, combined: in as many steps as the extent has bits."""
        xp = library()
        array = array if dtype is None else array.astype(dtype, copy=False)
        rows = xp.moveaxis(array, axis, 0)
        shift = 1
        while shift < rows.shape[0]:
            rows = xp.concatenate([rows[:shift], self(rows[:-shift], rows[shift:])], axis=0)
            shift *= 2
        return xp.moveaxis(rows, 0, axis)

    def at(self, array: Array, targets: Array, new: Array) -> None:
        """
        Combines each element of `new` into the one of `array` (both flat) that it is for, in their order.

        Those for one target are first combined by doubling, so nobody depends on who writes first.
        """
        xp = library()
        if not targets.size:
            return
        order = xp.argsort(targets, kind="stable")
        keys, values = targets[order], new[order]
        starts = xp.concatenate([xp.ones(1, bool), keys[1:] != keys[:-1]])
        combine = getattr(xp, self._added)
        shift = 1
        while shift < keys.size:
            same = keys[shift:] == keys[:-shift]
            if not bool(same.any()):
                break
            joined = xp.where(same, combine(values[:-shift], values[shift:]), values[:-shift])
            values = xp.concatenate([joined, values[-shift:]])
            shift *= 2
        first = keys[starts]
        array[first] = self(array[first], values[starts])

    def _halved(self, array: Array, axes: Sequence[int], *, keepdims: bool) -> Array:
        """A reduction by neighbours, for what CuPy has no function for."""
        xp = library()
        for dim in sorted((axis % array.ndim for axis in axes), reverse=True):
            rows = xp.moveaxis(array, dim, 0)
            assert rows.shape[0], "reductions of nothing have a start value"
            while rows.shape[0] > 1:
                even = rows.shape[0] // 2 * 2
                rows = xp.concatenate([self(rows[0:even:2], rows[1:even:2]), rows[even:]], axis=0)
            array = xp.moveaxis(rows, 0, dim) if keepdims else rows[0]
        return array


add = Ufunc("add", "sum")
multiply = Ufunc("multiply", "prod")
maximum = Ufunc("maximum", "max")
minimum = Ufunc("minimum", "min")
bitwise_and = Ufunc("bitwise_and")
bitwise_or = Ufunc("bitwise_or")
bitwise_xor = Ufunc("bitwise_xor")
subtract = Ufunc("subtract", added="add")


def is_held(dtype: np.dtype[Any]) -> bool:
    """
    Whether CuPy has arrays of such elements: all of NumPy's, and bfloat16.

    >>> is_held(np.dtype(np.complex64)), is_held(np.dtype("O"))
    (True, False)
    """
    return dtype.name == "bfloat16" or (dtype.isbuiltin == 1 and dtype.kind in "biufc" and dtype.itemsize <= 16)
