"""What the functions of neural networks share: operands, and how windows move over the dims of space."""

from __future__ import annotations

from collections.abc import Sequence

from shardwright.compiler.tracing import emit
from shardwright.compiler.tracing.array import ArrayLike
from shardwright.compiler.tracing.dtypes import check_kind
from shardwright.compiler.tracing.trace import Tracer
from shardwright.diagnostics.faults import value_error
from shardwright.layout.planning.sweep import Sweep

Format = str | None
Numbers = int | Sequence[int]
Padding = str | Sequence[Sequence[int]]
"""`"SAME"`, `"VALID"`, or how much before and after each spatial dim."""

SPACE = {1: "width", 2: "height, width", 3: "depth, height, width"}
"""The dims of space by their number, as docstrings name them."""

_FORMATS = {1: "NWC", 2: "NHWC", 3: "NDHWC"}


def operand(x: ArrayLike, what: str) -> Tracer:
    """A traced value of floats, with a type of its own: a Python number gets one."""
    value = emit.as_tracer(x, what)
    check_kind(value.dtype, ("float",), what)
    return value if value.scalar_kind is None else Tracer(value.trace, value.value)


def misfit(what: str, problem: str, help: str | None = None) -> Exception:
    """The error of a layer that does not fit its input (SW0541); raise it."""
    return value_error("SW0541", f"{what}: {problem}", help=help)


def spatial_dims(rank: int, ndim: int, data_format: Format, what: str) -> tuple[int, tuple[int, ...]]:
    """The dim of the features and those of space, of an input with `rank` spatial dims."""
    last = _FORMATS[rank]
    first = f"N{last[-1]}{last[1:-1]}"
    chosen = last if data_format is None else data_format
    if chosen not in (last, first):
        raise misfit(what, f"there is no data_format {chosen!r}", f"it is {last!r} or {first!r}")
    if ndim != rank + 2:
        raise misfit(what, f"the input has {ndim} dims, not {rank + 2}", f"they are {', '.join(chosen)}")
    space = range(1, rank + 1) if chosen == last else range(2, rank + 2)
    return (ndim - 1 if chosen == last else 1), tuple(space)


def numbers_for(given: Numbers, rank: int, what: str, name: str) -> tuple[int, ...]:
    """One number for each spatial dim, of at least 1."""
    found = (given,) * rank if isinstance(given, int) else tuple(given)
    if len(found) != rank or min(found) < 1:
        raise misfit(what, f"{name} {given} must be {rank} whole numbers from 1 on")
    return found


def swept(
    sizes: Sequence[int],
    windows: Sequence[int],
    strides: Sequence[int],
    padding: Padding,
    dilations: Sequence[int],
    what: str,
) -> list[Sweep]:
    """How a window moves along each spatial dim; SAME gives one result for each stride, VALID stays inside."""
    if min(windows, default=1) < 1:
        raise misfit(what, f"windows of {list(windows)} have no elements")
    edges = check_padding(padding, len(sizes), what)
    if isinstance(edges, str):
        edges = [_edges(*at, edges) for at in zip(sizes, windows, strides, dilations, strict=True)]
    found = [
        Sweep(window, stride, low, high, dilation=dilation)
        for window, stride, (low, high), dilation in zip(windows, strides, edges, dilations, strict=True)
    ]
    if any(sweep.result(size) < 1 for sweep, size in zip(found, sizes, strict=True)):
        raise misfit(what, f"windows of {list(windows)} do not fit {list(sizes)} elements")
    return found


def check_padding(padding: Padding, rank: int, what: str) -> Padding:
    """The padding with its word in capitals; the error of a layer for other words, and for what are no pairs."""
    if isinstance(padding, str):
        if padding.upper() not in ("SAME", "VALID"):
            raise misfit(what, f"there is no padding {padding!r}", "it is 'SAME', 'VALID' or pairs of numbers")
        return padding.upper()
    if len(padding) != rank or any(len(pair) != 2 for pair in padding):
        raise misfit(what, f"padding {padding} must be a pair of numbers for each of {rank} spatial dims")
    return padding


def _edges(size: int, window: int, stride: int, dilation: int, padding: str) -> tuple[int, int]:
    if padding == "VALID":
        return 0, 0
    missing = max((-(-size // stride) - 1) * stride + (window - 1) * dilation + 1 - size, 0)
    return missing // 2, missing - missing // 2
