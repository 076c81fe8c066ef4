"""
Fourier transforms: `shardwright.fft`, the extension of the array API standard.

One dim is transformed at a time, so that all others may be split meanwhile.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

from shardwright.compiler.tracing import emit
from shardwright.compiler.tracing.dims import Dims, dim_of, dims_of
from shardwright.compiler.tracing.dtypes import DEFAULT_FLOAT, DTypeLike, as_dtype, check_kind, kind_of
from shardwright.compiler.tracing.emit import Value
from shardwright.compiler.tracing.trace import Tracer
from shardwright.diagnostics.faults import value_error
from shardwright.dialects import chlo, stablehlo
from shardwright.frontends.arrays.shapes import concat
from shardwright.frontends.arrays.types.inspection import check_device
from shardwright.frontends.functions.dispatch import array_function
from shardwright.layout import Layout

__all__ = [
    "fft",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "ifft",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfftn",
    "rfft",
    "rfftfreq",
    "rfftn",
]

Norm = Literal["backward", "ortho", "forward"]
_OTHER = {"backward": "forward", "ortho": "ortho", "forward": "backward"}
_NARROW = ("float16", "bfloat16")


@array_function
def fft(x: Value, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Any:
    """
    The Fourier transform along dim `axis`, cut or filled with zeros to `n` elements first.

    `norm` says which direction divides by the number of elements, or that both divide by its root (`ortho`).

    >>> import shardwright, numpy
    >>> shardwright.fft.fft(numpy.ones(4)).real
    array([4., 0., 0., 0.])
    """
    return _complex_transform(stablehlo.FftType.FFT, x, [(n, axis)], norm, "fft")


@array_function
def ifft(x: Value, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Any:
    """The inverse of `fft`."""
    return _complex_transform(stablehlo.FftType.IFFT, x, [(n, axis)], norm, "ifft")


@array_function
def fftn(
    x: Value, /, *, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: Norm = "backward"
) -> Any:
    """The Fourier transform along several dims, each cut or filled to its size in `s`."""
    return _complex_transform(stablehlo.FftType.FFT, x, _pairs(x, s, axes, "fftn"), norm, "fftn")


@array_function
def ifftn(
    x: Value, /, *, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: Norm = "backward"
) -> Any:
    """The inverse of `fftn`."""
    return _complex_transform(stablehlo.FftType.IFFT, x, _pairs(x, s, axes, "ifftn"), norm, "ifftn")


@array_function
def rfft(x: Value, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Any:
    """
    The first half of the Fourier transform of real numbers; the other half is its mirror image.

    >>> import shardwright, numpy
    >>> shardwright.fft.rfft(numpy.ones(4)).shape
    (3,)
    """
    return _real_transform(x, [(n, axis)], norm, "rfft")


@array_function
def rfftn(
    x: Value, /, *, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: Norm = "backward"
) -> Any:
    """`rfft` along the last of several dims, `fft` along the others."""
    return _real_transform(x, _pairs(x, s, axes, "rfftn"), norm, "rfftn")


@array_function
def irfft(x: Value, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Any:
    """The inverse of `rfft`; `n` is the number of real elements, an even one unless it is given."""
    return _to_real(_complex_operand(x, "irfft"), [(n, axis)], norm, "irfft")


@array_function
def irfftn(
    x: Value, /, *, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: Norm = "backward"
) -> Any:
    """The inverse of `rfftn`."""
    return _to_real(_complex_operand(x, "irfftn"), _pairs(x, s, axes, "irfftn", halved=True), norm, "irfftn")


@array_function
def hfft(x: Value, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Any:
    """The Fourier transform of numbers whose other half is their mirror image; it is real."""
    mirrored = emit.unary(chlo.ConjOp, _complex_operand(x, "hfft"))
    return _to_real(mirrored, [(n, axis)], _other(norm, "hfft"), "hfft")


@array_function
def ihfft(x: Value, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Any:
    """The inverse of `hfft`."""
    return emit.unary(chlo.ConjOp, _real_transform(x, [(n, axis)], _other(norm, "ihfft"), "ihfft"))


def _other(norm: str, what: str) -> Any:
    if norm not in _OTHER:
        raise value_error("SW0510", f"{what}: there is no norm {norm!r}", help="it is backward, ortho or forward")
    return _OTHER[norm]


def _pairs(
    x: Value, s: Sequence[int] | None, axes: Sequence[int] | None, what: str, *, halved: bool = False
) -> list[tuple[int | None, int]]:
    """The size that is asked for, or None, and the dim, for each dim that is transformed."""
    rank = len(emit.shape_of(x))
    if axes is None:
        axes = range(rank) if s is None else range(rank - len(s), rank)
    if s is not None and len(s) != len(axes):
        raise value_error("SW0510", f"{what}: {len(s)} sizes are given for {len(axes)} dims")
    if halved and not axes:
        raise value_error("SW0510", f"{what} needs a dim to transform")
    return list(zip(s if s is not None else [None] * len(axes), axes, strict=True))


def _wide(x: Value, what: str) -> Tracer:
    value = emit.as_tracer(x, what)
    check_kind(value.dtype, ("float", "complex"), what)
    return emit.convert(value, DEFAULT_FLOAT) if value.dtype.name in _NARROW else value


def _complex_operand(x: Value, what: str) -> Tracer:
    value = _wide(x, what)
    if kind_of(value.dtype) == "complex":
        return value
    return emit.binary(stablehlo.ComplexOp, value, emit.constant(0, value.dtype, value.shape))


def _complex_transform(
    kind: stablehlo.FftType, x: Value, pairs: Sequence[tuple[int | None, int]], norm: str, what: str
) -> Tracer:
    value = _complex_operand(x, what)
    for size, axis in pairs:
        value = _transformed(kind, value, dim_of(axis, value.ndim, what), size, norm, what)
    return value


def _real_transform(x: Value, pairs: Sequence[tuple[int | None, int]], norm: str, what: str) -> Tracer:
    value = _wide(x, what)
    check_kind(value.dtype, ("float",), what)
    if not pairs:
        raise value_error("SW0510", f"{what} needs a dim to transform")
    (size, axis), others = pairs[-1], pairs[:-1]
    value = _transformed(stablehlo.FftType.RFFT, value, dim_of(axis, value.ndim, what), size, norm, what)
    for size, axis in others:
        value = _transformed(stablehlo.FftType.FFT, value, dim_of(axis, value.ndim, what), size, norm, what)
    return value


def _to_real(value: Tracer, pairs: Sequence[tuple[int | None, int]], norm: str, what: str) -> Tracer:
    *others, (size, axis) = pairs
    for other, place in others:
        value = _transformed(stablehlo.FftType.IFFT, value, dim_of(place, value.ndim, what), other, norm, what)
    dim = dim_of(axis, value.ndim, what)
    count = 2 * (value.shape[dim] - 1) if size is None else size
    return _transformed(stablehlo.FftType.IRFFT, value, dim, count, norm, what)


def _transformed(kind: stablehlo.FftType, value: Tracer, dim: int, size: int | None, norm: str, what: str) -> Tracer:
    """One dim, as the last one, cut or filled, transformed and brought back."""
    count = value.shape[dim] if size is None else size
    if count < 1:
        raise value_error("SW0510", f"{what} of {count} elements", help="transform one element at least")
    order = [*(at for at in range(value.ndim) if at != dim), dim]
    back = [*range(dim), value.ndim - 1, *range(dim, value.ndim - 1)]
    given = count // 2 + 1 if kind is stablehlo.FftType.IRFFT else count
    fitted = _fitted(emit.transpose(value, order), given)
    result = emit.trace_now().emit(stablehlo.FftOp(fitted.value, kind, (count,)))
    scale = _scale(kind, count, norm, what)
    if scale != 1:
        result = emit.binary(stablehlo.MultiplyOp, result, emit.constant(scale, result.dtype, result.shape))
    return emit.transpose(result, back)


def _scale(kind: stablehlo.FftType, count: int, norm: str, what: str) -> float:
    """What the op's result, which follows "backward", has to be multiplied with."""
    inverse = kind in (stablehlo.FftType.IFFT, stablehlo.FftType.IRFFT)
    _other(norm, what)
    if norm == "ortho":
        return math.sqrt(count) if inverse else 1 / math.sqrt(count)
    if norm == "forward":
        return count if inverse else 1 / count
    return 1


def _fitted(value: Tracer, size: int) -> Tracer:
    """The last dim cut, or filled with zeros, to `size`."""
    *front, last = value.shape
    if size <= last:
        return emit.slice_(value, (0,) * value.ndim, (*front, size), (1,) * value.ndim)
    return emit.concatenate([value, emit.constant(0, value.dtype, (*front, size - last))], value.ndim - 1)


@array_function
def fftfreq(
    n: int,
    /,
    *,
    d: float = 1.0,
    dtype: DTypeLike | None = None,
    device: str | None = None,
    layout: Layout | None = None,
) -> Any:
    """
    The frequencies of the elements that `fft` gives, for samples that are `d` apart.

    >>> import shardwright
    >>> shardwright.fft.fftfreq(4)
    array([ 0.  ,  0.25, -0.5 , -0.25], dtype=float32)
    """
    check_device(device)
    middle = (n + 1) // 2
    parts = [_frequencies(start, stop, n * d, dtype) for start, stop in ((0, middle), (middle - n, 0))]
    value = concat(parts)
    return value if layout is None else emit.constrain(value, layout)


@array_function
def rfftfreq(
    n: int,
    /,
    *,
    d: float = 1.0,
    dtype: DTypeLike | None = None,
    device: str | None = None,
    layout: Layout | None = None,
) -> Any:
    """The frequencies of the elements that `rfft` gives."""
    check_device(device)
    value = _frequencies(0, n // 2 + 1, n * d, dtype)
    return value if layout is None else emit.constrain(value, layout)


def _frequencies(start: int, stop: int, divisor: float, dtype: DTypeLike | None) -> Tracer:
    target = as_dtype(dtype) if dtype is not None else DEFAULT_FLOAT
    check_kind(target, ("float",), "frequencies")
    shape = (stop - start,)
    places = emit.iota(target, shape, 0)
    whole = emit.binary(stablehlo.AddOp, places, emit.constant(start, target, shape))
    return emit.binary(stablehlo.DivideOp, whole, emit.constant(divisor, target, shape))


@array_function
def fftshift(x: Value, /, *, axes: Dims = None) -> Any:
    """
    The elements with frequency zero moved to the middle of the dims in `axes`, or of all.

    >>> import shardwright, numpy
    >>> shardwright.fft.fftshift(numpy.arange(5))
    array([3, 4, 0, 1, 2])
    """
    return _shifted(x, axes, 1, "fftshift")


@array_function
def ifftshift(x: Value, /, *, axes: Dims = None) -> Any:
    """The inverse of `fftshift`."""
    return _shifted(x, axes, -1, "ifftshift")


def _shifted(x: Value, axes: Dims, direction: int, what: str) -> Tracer:
    value = emit.as_tracer(x, what)
    for dim in dims_of(axes, value.ndim, what):
        size = value.shape[dim]
        cut = (size - direction * (size // 2)) % size if size else 0
        if cut:
            edges = [(cut, size), (0, cut)]
            value = emit.concatenate([_part(value, dim, *edge) for edge in edges], dim)
    return value


def _part(value: Tracer, dim: int, start: int, limit: int) -> Tracer:
    starts = [start if at == dim else 0 for at in range(value.ndim)]
    limits = [limit if at == dim else size for at, size in enumerate(value.shape)]
    return emit.slice_(value, starts, limits, (1,) * value.ndim)
