"""The frequencies that transforms give, and their order."""

from __future__ import annotations

from shardwright.compiler.tracing import emit
from shardwright.compiler.tracing.array import Array, ArrayLike
from shardwright.compiler.tracing.dtypes import DEFAULT_FLOAT, DTypeLike, as_dtype, check_kind
from shardwright.compiler.tracing.settings import Dims, dims_of
from shardwright.compiler.tracing.trace import Tracer
from shardwright.diagnostics.faults import value_error
from shardwright.frontends.arrays.indexing.picking import cut
from shardwright.frontends.arrays.shapes import concat
from shardwright.frontends.arrays.types.inspection import Device, check_device
from shardwright.frontends.functions.dispatch import array_function
from shardwright.layout import Layout

__all__ = ["fftfreq", "fftshift", "ifftshift", "rfftfreq"]


@array_function
def fftfreq(
    n: int, /, *, d: float = 1.0, dtype: DTypeLike | None = None, device: Device = None, layout: Layout | None = None
) -> Array:
    """
    The frequencies of the elements that `fft` gives, for samples that are `d` apart.

    >>> import shardwright
    >>> shardwright.fft.fftfreq(4)
    array([ 0.  ,  0.25, -0.5 , -0.25], dtype=float32)
    """
    check_device(device)
    _check_count(n, "fftfreq")
    middle = (n + 1) // 2
    parts = [_frequencies(start, stop, n * d, dtype) for start, stop in ((0, middle), (middle - n, 0))]
    value = concat(parts)
    return value if layout is None else emit.constrain(emit.as_tracer(value), layout)


@array_function
def rfftfreq(
    n: int, /, *, d: float = 1.0, dtype: DTypeLike | None = None, device: Device = None, layout: Layout | None = None
) -> Array:
    """The frequencies of the elements that `rfft` gives."""
    check_device(device)
    _check_count(n, "rfftfreq")
    value = _frequencies(0, n // 2 + 1, n * d, dtype)
    return value if layout is None else emit.constrain(value, layout)


def _check_count(count: int, what: str) -> None:
    if count < 1:
        raise value_error("SW0510", f"{what} of {count} elements", help="give one element at least")


def _frequencies(start: int, stop: int, divisor: float, dtype: DTypeLike | None) -> Tracer:
    target = as_dtype(dtype) if dtype is not None else DEFAULT_FLOAT
    check_kind(target, ("float",), "frequencies")
    shape = (stop - start,)
    whole = emit.iota(target, shape, 0) + emit.constant(start, target, shape)
    return whole / emit.constant(divisor, target, shape)


@array_function
def fftshift(x: ArrayLike, /, *, axes: Dims = None) -> Array:
    """
    The elements with frequency zero moved to the middle of the dims in `axes`, or of all.

    >>> import shardwright, numpy
    >>> shardwright.fft.fftshift(numpy.arange(5))
    array([3, 4, 0, 1, 2])
    """
    return _shifted(x, axes, 1, "fftshift")


@array_function
def ifftshift(x: ArrayLike, /, *, axes: Dims = None) -> Array:
    """The inverse of `fftshift`."""
    return _shifted(x, axes, -1, "ifftshift")


def _shifted(x: ArrayLike, axes: Dims, direction: int, what: str) -> Tracer:
    value = emit.as_tracer(x, what)
    for dim in dims_of(axes, value.ndim, what):
        size = value.shape[dim]
        first = (size - direction * (size // 2)) % size if size else 0
        if first:
            edges = [(first, size), (0, first)]
            value = emit.concatenate([cut(value, dim, *edge) for edge in edges], dim)
    return value
