"""Running sums and products, and differences of neighbours."""

from __future__ import annotations

from typing import Any

from shardwright.compiler.tracing import emit
from shardwright.compiler.tracing.array import Array, ArrayLike
from shardwright.compiler.tracing.dtypes import DTypeLike, check_kind, default_dtype
from shardwright.compiler.tracing.settings import dim_of
from shardwright.compiler.tracing.trace import Tracer
from shardwright.diagnostics.faults import value_error
from shardwright.dialects import stablehlo
from shardwright.frontends.arrays.elementwise.functions import subtract
from shardwright.frontends.arrays.reducing.reductions import COUNTED, NARROW, NUMERIC, accumulator
from shardwright.frontends.arrays.shapes import concat
from shardwright.frontends.functions.dispatch import array_function
from shardwright.layout.planning.sweep import Sweep
from shardwright.rules.reductions import MONOIDS

__all__ = ["cumprod", "cumsum", "cumulative_prod", "cumulative_sum", "diff"]


@array_function
def cumulative_sum(
    x: ArrayLike, /, *, axis: int | None = None, dtype: DTypeLike | None = None, include_initial: bool = False
) -> Array:
    """
    The sums of all elements up to each one along dim `axis`; `include_initial` puts a zero in front.

    >>> import shardwright, numpy
    >>> shardwright.cumulative_sum(numpy.array([1.0, 2.0, 3.0]), include_initial=True)
    array([0., 1., 3., 6.])
    """
    return _standard(stablehlo.AddOp, x, axis, dtype, include_initial, "cumulative_sum")


@array_function
def cumulative_prod(
    x: ArrayLike, /, *, axis: int | None = None, dtype: DTypeLike | None = None, include_initial: bool = False
) -> Array:
    """The products of all elements up to each one along dim `axis`; `include_initial` puts a one in front."""
    return _standard(stablehlo.MultiplyOp, x, axis, dtype, include_initial, "cumulative_prod")


def _standard(
    operation: Any, x: ArrayLike, axis: int | None, dtype: DTypeLike | None, include_initial: bool, what: str
) -> Tracer:
    value = emit.as_tracer(x, what)
    check_kind(value.dtype, COUNTED if operation is stablehlo.AddOp else NUMERIC, what)
    if axis is None and value.ndim != 1:
        raise value_error("SW0510", f"{what} of {value.ndim} dims needs an axis")
    dim = dim_of(0 if axis is None else axis, value.ndim, what)
    wide = emit.convert(value, accumulator(value.dtype, dtype))
    done = _accumulated(operation, wide, dim, reverse=False)
    if not include_initial:
        return done
    edge = tuple(1 if at == dim else size for at, size in enumerate(value.shape))
    start = emit.constant(MONOIDS[operation].identity(done.dtype), done.dtype, edge)
    return emit.concatenate([start, done], dim)


def _accumulated(operation: Any, value: Tracer, dim: int, *, reverse: bool) -> Tracer:
    """One window for each element, over all up to it, or from it on; 16-bit floats are combined in 32 bits."""
    size = value.shape[dim]
    if size == 0:
        return value
    if value.dtype.name in NARROW:
        wide = emit.convert(value, default_dtype("float"))
        return emit.convert(_accumulated(operation, wide, dim, reverse=reverse), value.dtype)
    start = emit.constant(MONOIDS[operation].identity(value.dtype), value.dtype)
    window = Sweep(size, high=size - 1) if reverse else Sweep(size, low=size - 1)
    sweeps = [window if at == dim else Sweep(1) for at in range(value.ndim)]
    return emit.trace_now().emit(stablehlo.ReduceWindowOp([value.value], [start.value], sweeps, operation))


@array_function
def cumsum(x: ArrayLike, /, axis: int = 0, *, exclusive: bool = False, reverse: bool = False) -> Array:
    """
    Running sums along dim `axis`: up to each element or before it (`exclusive`), from the front or the end (`reverse`).

    >>> import shardwright, numpy
    >>> shardwright.cumsum(numpy.array([1, 2, 3]), exclusive=True)
    array([0, 1, 3])
    """
    return _running(stablehlo.AddOp, x, axis, exclusive, reverse, "cumsum")


@array_function
def cumprod(x: ArrayLike, /, axis: int = 0, *, exclusive: bool = False, reverse: bool = False) -> Array:
    """Running products, as `cumsum`."""
    return _running(stablehlo.MultiplyOp, x, axis, exclusive, reverse, "cumprod")


def _running(operation: Any, x: ArrayLike, axis: int, exclusive: bool, reverse: bool, what: str) -> Tracer:
    value = emit.as_tracer(x, what)
    check_kind(value.dtype, NUMERIC, what)
    dim = dim_of(axis, value.ndim, what)
    if exclusive and value.shape[dim]:
        start = emit.constant(MONOIDS[operation].identity(value.dtype), value.dtype)
        low, none = [0] * value.ndim, [0] * value.ndim
        low[dim] = -1 if reverse else 1
        high = [-edge for edge in low]
        value = emit.trace_now().emit(stablehlo.PadOp(value.value, start.value, low, high, none))
    return _accumulated(operation, value, dim, reverse=reverse)


@array_function
def diff(
    x: ArrayLike, /, *, axis: int = -1, n: int = 1, prepend: ArrayLike | None = None, append: ArrayLike | None = None
) -> Array:
    """
    Each element less the one before it along dim `axis`, `n` times over.

    >>> import shardwright, numpy
    >>> shardwright.diff(numpy.array([1.0, 4.0, 9.0]))
    array([3., 5.])
    """
    value = emit.as_tracer(x, "diff")
    dim = dim_of(axis, value.ndim, "diff")
    if n < 0:
        raise value_error("SW0510", f"diff cannot be taken {n} times")
    parts = [part for part in (prepend, value, append) if part is not None]
    whole: Any = concat(parts, axis=dim) if len(parts) > 1 else value
    before: tuple[slice, ...] = (slice(None),) * dim
    for _ in range(min(n, whole.shape[dim])):  # then nothing is left
        whole = subtract(whole[(*before, slice(1, None))], whole[(*before, slice(None, -1))])
    return whole
