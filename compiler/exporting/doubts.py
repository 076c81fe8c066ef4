"""What XLA's own partitioner is known to compute wrongly, from JAX's annotations as from ours."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from shardwright.diagnostics import Diagnostic
from shardwright.dialects.dtensor import layout_of
from shardwright.dialects.stablehlo import (
    ConstantOp,
    ConvolutionOp,
    DynamicSliceOp,
    PadOp,
    ReduceWindowOp,
    SelectAndScatterOp,
)
from shardwright.dialects.stablehlo.parts.constants import is_splat, splat_value
from shardwright.dialects.text.locations import label, where
from shardwright.dialects.types import shape_of

_WAY_OUT = "take the program of each device, in which XLA has nothing to partition: to_stablehlo(), --to stablehlo"


def doubts(module: ModuleOp) -> list[Diagnostic]:
    """
    Warnings (SW0735) about a propagated program, if XLA's own partitioner shall have it.

    The smallest programs of plain JAX that it gets wrong are in `tests/e2e/test_xla_doubts_peers.py`.
    """
    operations = list(module.walk())
    windows = [window for op in operations for window in _windows(op)]
    found = (_convolution(op) or _scatter(op) or _slice(op) for op in operations)
    return [*_mixed_paddings(windows), *(doubt for doubt in found if doubt is not None)]


class _Window(NamedTuple):
    """An op that reads beyond the parts of a value, and what lies around the whole of it."""

    op: Operation
    operand: SSAValue
    padding: object


def _windows(op: Operation) -> Iterator[_Window]:
    """The operands that an op has to fetch borders of, since it moves windows along dims that are split."""
    if isinstance(op, ReduceWindowOp):
        moved = [dim for dim, sweep in enumerate(op.sweeps) if sweep.size > 1]
        found = zip(op.inputs, op.init_values, strict=True)
        yield from (_Window(op, each, _known(around)) for each, around in found if _is_split(each, moved))
    elif isinstance(op, ConvolutionOp):
        places = op.numbers.input_spatial
        moved = [dim for dim, sweep in zip(places, op.sweeps, strict=True) if sweep.size > 1]
        if _is_split(op.lhs, moved):
            yield _Window(op, op.lhs, 0.0)
    elif isinstance(op, PadOp):
        edges = zip(op.edge_padding_low.get_values(), op.edge_padding_high.get_values(), strict=True)
        if _is_split(op.operand, [dim for dim, edge in enumerate(edges) if edge != (0, 0)]):
            yield _Window(op, op.operand, _known(op.padding_value))


def _known(value: SSAValue) -> object:
    """A number, where a value is one; else the value."""
    return splat_value(value.owner).item() if isinstance(value.owner, ConstantOp) and is_splat(value.owner) else value


def _is_split(value: SSAValue, dims: Iterable[int]) -> bool:
    spec = layout_of(value)
    return spec is not None and any(spec.dims[dim] for dim in dims)


def _mixed_paddings(windows: Iterable[_Window]) -> Iterator[Diagnostic]:
    """XLA fetches the borders of a value once, filled up for the first reader, and takes them for the others, too."""
    first: dict[SSAValue, _Window] = {}
    for window in windows:
        other = first.setdefault(window.operand, window)
        if other.padding != window.padding:
            names = f"{other.op.name} and {window.op.name}"
            yield _doubt(
                window.op,
                f"{names} move windows over the same split value with other padding, and XLA may give both the same",
                other.op,
            )


def _convolution(op: Operation) -> Diagnostic | None:
    """Of partial results XLA may add up more than one for each part, where other axes of the mesh hold copies."""
    if not isinstance(op, ConvolutionOp):
        return None
    numbers, taken, given = op.numbers, layout_of(op.lhs), layout_of(op.results[0])
    places = zip(numbers.input_spatial, numbers.output_spatial, strict=True)
    moves = taken and given and any(taken.dims[place] not in ((), given.dims[out]) for place, out in places)
    if not moves and not _is_split(op.rhs, numbers.kernel_spatial):
        return None
    return _doubt(op, "a convolution sums over a window that is split, and XLA may count its parts several times")


def _scatter(op: Operation) -> Diagnostic | None:
    """Where windows lie across two parts, XLA may give the slope of a maximum to an element that is none."""
    if not isinstance(op, SelectAndScatterOp):
        return None
    shared = [dim for dim, sweep in enumerate(op.sweeps) if sweep.size > sweep.stride]
    if not _is_split(op.operand, shared):
        return None
    return _doubt(op, "the slope of a pool whose windows overlap is split along them, and XLA may give it to others")


def _slice(op: Operation) -> Diagnostic | None:
    """XLA clamps the start of what each device takes, not that of the whole slice."""
    if not isinstance(op, DynamicSliceOp):
        return None
    sizes = zip(shape_of(op.operand), op.slice_sizes.get_values(), strict=True)
    moved = [dim for dim, (whole, part) in enumerate(sizes) if part < whole]
    if not _is_split(op.results[0], moved):
        return None
    return _doubt(op, "a slice of a computed start gives split parts, and XLA clamps the start of each part by itself")


def _doubt(op: Operation, message: str, other: Operation | None = None) -> Diagnostic:
    labels = () if other is None else label(other, "the other one")
    return Diagnostic("SW0735", message, where(op), help=_WAY_OUT, severity="warning", labels=labels)
