"""Fourier transforms of given dims: one dim is transformed at a time, so that all others may be split meanwhile."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

from shardwright.compiler.tracing import emit
from shardwright.compiler.tracing.array import Array, ArrayLike
from shardwright.compiler.tracing.dtypes import DEFAULT_FLOAT, check_kind, kind_of
from shardwright.compiler.tracing.settings import dim_of
from shardwright.compiler.tracing.trace import Tracer
from shardwright.diagnostics.faults import value_error
from shardwright.dialects import chlo, stablehlo
from shardwright.frontends.arrays.reducing.reductions import NARROW
from shardwright.frontends.functions.dispatch import array_function

__all__ = ["fft", "fftn", "hfft", "ifft", "ifftn", "ihfft", "irfft", "irfftn", "rfft", "rfftn"]

Norm = Literal["backward", "ortho", "forward"]
_OTHER = {"backward": "forward", "ortho": "ortho", "forward": "backward"}

Axes = Sequence[int] | None
Sized = tuple[int | None, int]
"""The size that is asked for, or None, and the dim to be transformed."""

Kind = stablehlo.FftType


@array_function
def fft(x: ArrayLike, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Array:
    """
    The Fourier transform along dim `axis`, cut or filled with zeros to `n` elements first.

    `norm` says which direction divides by the number of elements, or that both divide by its root (`ortho`).

    >>> import shardwright, numpy
    >>> shardwright.fft.fft(numpy.ones(4)).real
    array([4., 0., 0., 0.])
    """
    return _along(Kind.FFT, _complex(x, "fft"), [(n, axis)], norm, "fft")


@array_function
def ifft(x: ArrayLike, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Array:
    """The inverse of `fft`."""
    return _along(Kind.IFFT, _complex(x, "ifft"), [(n, axis)], norm, "ifft")


@array_function
def fftn(x: ArrayLike, /, *, s: Sequence[int] | None = None, axes: Axes = None, norm: Norm = "backward") -> Array:
    """The Fourier transform along several dims, each cut or filled to its size in `s`."""
    return _along(Kind.FFT, _complex(x, "fftn"), _pairs(x, s, axes, "fftn"), norm, "fftn")


@array_function
def ifftn(x: ArrayLike, /, *, s: Sequence[int] | None = None, axes: Axes = None, norm: Norm = "backward") -> Array:
    """The inverse of `fftn`."""
    return _along(Kind.IFFT, _complex(x, "ifftn"), _pairs(x, s, axes, "ifftn"), norm, "ifftn")


@array_function
def rfft(x: ArrayLike, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Array:
    """
    The first half of the Fourier transform of real numbers; the other half is its mirror image.

    >>> import shardwright, numpy
    >>> shardwright.fft.rfft(numpy.ones(4)).shape
    (3,)
    """
    return _from_real(x, [(n, axis)], norm, "rfft")


@array_function
def rfftn(x: ArrayLike, /, *, s: Sequence[int] | None = None, axes: Axes = None, norm: Norm = "backward") -> Array:
    """`rfft` along the last of several dims, `fft` along the others."""
    return _from_real(x, _pairs(x, s, axes, "rfftn"), norm, "rfftn")


@array_function
def irfft(x: ArrayLike, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Array:
    """The inverse of `rfft`; `n` is the number of real elements, an even one unless it is given."""
    return _to_real(_complex(x, "irfft"), [(n, axis)], norm, "irfft")


@array_function
def irfftn(x: ArrayLike, /, *, s: Sequence[int] | None = None, axes: Axes = None, norm: Norm = "backward") -> Array:
    """The inverse of `rfftn`."""
    return _to_real(_complex(x, "irfftn"), _pairs(x, s, axes, "irfftn"), norm, "irfftn")


@array_function
def hfft(x: ArrayLike, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Array:
    """The Fourier transform of numbers whose other half is their mirror image; it is real."""
    mirrored = emit.unary(chlo.ConjOp, _complex(x, "hfft"))
    return _to_real(mirrored, [(n, axis)], _other(norm, "hfft"), "hfft")


@array_function
def ihfft(x: ArrayLike, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Array:
    """The inverse of `hfft`."""
    return emit.unary(chlo.ConjOp, _from_real(x, [(n, axis)], _other(norm, "ihfft"), "ihfft"))


def _other(norm: str, what: str) -> Any:
    if norm not in _OTHER:
        raise value_error("SW0510", f"{what}: there is no norm {norm!r}", help="it is backward, ortho or forward")
    return _OTHER[norm]


def _pairs(x: ArrayLike, s: Sequence[int] | None, axes: Axes, what: str) -> list[Sized]:
    rank = len(emit.shape_of(x))
    if axes is None:
        if s is not None and len(s) > rank:
            raise value_error("SW0510", f"{what}: {len(s)} sizes are given for {rank} dims")
        axes = range(rank) if s is None else range(rank - len(s), rank)
    if s is not None and len(s) != len(axes):
        raise value_error("SW0510", f"{what}: {len(s)} sizes are given for {len(axes)} dims")
    return list(zip(s if s is not None else [None] * len(axes), axes, strict=True))


def _wide(x: ArrayLike, what: str) -> Tracer:
    value = emit.as_tracer(x, what)
    check_kind(value.dtype, ("float", "complex"), what)
    return emit.convert(value, DEFAULT_FLOAT) if value.dtype.name in NARROW else value


def _complex(x: ArrayLike, what: str) -> Tracer:
    value = _wide(x, what)
    if kind_of(value.dtype) == "complex":
        return value
    return emit.binary(stablehlo.ComplexOp, value, emit.constant(0, value.dtype, value.shape))


def _from_real(x: ArrayLike, pairs: Sequence[Sized], norm: str, what: str) -> Tracer:
    value = _wide(x, what)
    check_kind(value.dtype, ("float",), what)
    halved = _along(Kind.RFFT, value, _some(pairs, what)[-1:], norm, what)
    return _along(Kind.FFT, halved, pairs[:-1], norm, what)


def _to_real(value: Tracer, pairs: Sequence[Sized], norm: str, what: str) -> Tracer:
    *others, (size, axis) = _some(pairs, what)
    value = _along(Kind.IFFT, value, others, norm, what)
    count = 2 * (value.shape[dim_of(axis, value.ndim, what)] - 1) if size is None else size
    return _along(Kind.IRFFT, value, [(count, axis)], norm, what)


def _some(pairs: Sequence[Sized], what: str) -> Sequence[Sized]:
    if not pairs:
        raise value_error("SW0510", f"{what} needs a dim to transform")
    return pairs


def _along(kind: Kind, value: Tracer, pairs: Sequence[Sized], norm: str, what: str) -> Tracer:
    """Each dim in turn, as the last one, cut or filled, transformed and brought back."""
    for size, axis in pairs:
        dim = dim_of(axis, value.ndim, what)
        count = value.shape[dim] if size is None else size
        if count < 1:
            raise value_error("SW0510", f"{what} of {count} elements", help="transform one element at least")
        order = [*(at for at in range(value.ndim) if at != dim), dim]
        back = [*range(dim), value.ndim - 1, *range(dim, value.ndim - 1)]
        given = count // 2 + 1 if kind is Kind.IRFFT else count
        fitted = _fitted(emit.transpose(value, order), given)
        result = emit.trace_now().emit(stablehlo.FftOp(fitted.value, kind, (count,)))
        scale = _scale(kind, count, norm, what)
        value = emit.transpose(result if scale == 1 else result * scale, back)
    return value


def _scale(kind: Kind, count: int, norm: str, what: str) -> float:
    """What the op's result, which follows "backward", has to be multiplied with."""
    inverse = kind in (Kind.IFFT, Kind.IRFFT)
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
        return value[..., :size]
    return emit.concatenate([value, emit.constant(0, value.dtype, (*front, size - last))], value.ndim - 1)
