"""Resizing: what lies between the elements of a grid, by the nearest element or a weighted mean of those near by."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from shardwright.compiler.tracing import emit
from shardwright.compiler.tracing.array import Array, ArrayLike
from shardwright.frontends.arrays.creation import arange
from shardwright.frontends.arrays.elementwise.functions import abs as magnitude, astype, maximum, sin, where
from shardwright.frontends.arrays.indexing.functions import take
from shardwright.frontends.arrays.nn._parts import misfit, operand
from shardwright.frontends.arrays.reducing.contractions import tensordot
from shardwright.frontends.arrays.reducing.reductions import sum as summed
from shardwright.frontends.arrays.shapes import moveaxis
from shardwright.frontends.functions.dispatch import array_function

__all__ = ["resize"]

Kernel = Callable[[Array], Array]
"""The weight of an element by its distance, which is never negative."""


@array_function
def resize(x: ArrayLike, /, shape: Sequence[int], method: str = "linear", *, antialias: bool = True) -> Array:
    """
    `x` as a grid of another `shape`, of as many dims (as `jax.image.resize`); dims of the same size stay as they are.

    An element of either grid stands in the middle of its share of the dim ("half-pixel centers"). The `method` is
    "nearest", of any dtype; or, of floats, "linear", "cubic" (Keys 1981, a = -0.5), "lanczos3" or "lanczos5": a mean of
    the elements that are near in each dim, so "linear" of two dims is bilinear, with weights that sum to 1, also at the
    borders. Where a dim gets smaller, the weights are as much wider, so that each element counts; not if `antialias`
    is false. The result has the dtype of `x`. Raises `ValueError` (SW0541) for a shape or a method that does not fit,
    and `TypeError` (SW0506) for a weighted mean of what are no floats.

    >>> import shardwright, numpy
    >>> shardwright.nn.resize(numpy.array([0.0, 4.0]), (4,))
    array([0., 1., 3., 4.])
    >>> shardwright.nn.resize(numpy.array([[1, 2, 3, 4]]), (2, 2), "nearest")
    array([[2, 4],
           [2, 4]])
    """
    near = method == "nearest"
    if not near and method not in _KERNELS:
        known = ", ".join(("nearest", *_KERNELS))
        raise misfit("resize", f"there is no method {method!r}", f"it is one of {known}")
    value: Array = emit.as_tracer(x, "resize") if near else operand(x, "resize")
    sizes = _sizes(shape, value)
    for dim, (before, after) in enumerate(zip(value.shape, sizes, strict=True)):
        if before != after:
            value = _nearest(value, dim, after) if near else _mean(value, dim, after, method, antialias)
    return value


def _sizes(shape: Sequence[int], value: Array) -> list[int]:
    """What is asked for, if it is as many numbers as there are dims, and both have elements wherever they differ."""
    pairs = zip(value.shape, shape, strict=False)
    if len(shape) != value.ndim or any(before != after and min(before, after) < 1 for before, after in pairs):
        raise misfit(
            "resize",
            f"an array of shape {list(value.shape)} cannot become one of {shape}",
            "give a number for each dim, of at least 1",
        )
    return list(shape)


def _nearest(value: Array, dim: int, count: int) -> Array:
    """The element in whose share the middle of each new one lies; of two that are equally near, the later."""
    places = (2 * np.arange(count, dtype=np.int64) + 1) * value.shape[dim] // (2 * count)
    return take(value, places.astype(np.int32), axis=dim)


def _mean(value: Array, dim: int, count: int, method: str, antialias: bool) -> Array:
    """
    A product with a matrix of weights. They are computed, not written down: the program stays small, and each device
    makes those of its part.
    """
    size, dtype = value.shape[dim], np.float64 if value.dtype == np.float64 else np.float32
    wider = max(size / count, 1.0) if antialias else 1.0
    middles = (arange(count, dtype=dtype) + 0.5) * (size / count) - 0.5
    distances = magnitude(arange(size, dtype=dtype)[:, None] - middles) / wider
    weights = _KERNELS[method](distances)
    shares = astype(weights / summed(weights, axis=0, keepdims=True), value.dtype)
    return moveaxis(tensordot(value, shares, axes=((dim,), (0,))), -1, dim)


def _linear(distance: Array) -> Array:
    return maximum(1 - distance, 0)


def _cubic(distance: Array) -> Array:
    """Two cubics that meet smoothly, one for elements at a distance of at most 1 and one up to 2 (Keys 1981)."""
    inner = (1.5 * distance - 2.5) * distance * distance + 1
    outer = ((-0.5 * distance + 2.5) * distance - 4) * distance + 2
    return where(distance <= 1, inner, where(distance < 2, outer, 0.0))


def _lanczos(reach: int) -> Kernel:
    """The sinc function under the middle of a wider one, up to a distance of `reach`."""

    def kernel(distance: Array) -> Array:
        angle = math.pi * maximum(distance, 1e-3)
        wave = reach * sin(angle) * sin(angle / reach) / (angle * angle)
        return where(distance < reach, where(distance > 1e-3, wave, 1.0), 0.0)

    return kernel


_KERNELS: dict[str, Kernel] = {
    "linear": _linear,
    "cubic": _cubic,
    "lanczos3": _lanczos(3),
    "lanczos5": _lanczos(5),
}
