"""Canonical forms of ops that move windows: padding is part of the window, and what a stride skips is never padded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from xdsl.ir import Attribute, Operation, SSAValue

from shardwright.dialects import stablehlo
from shardwright.dialects.building import only_op
from shardwright.dialects.dtensor.kinds import highest, lowest
from shardwright.dialects.stablehlo.windows import sweep_properties, window_properties
from shardwright.dialects.types import shape_of
from shardwright.layout.planning.sweep import Sweep
from shardwright.passes.canonical.constants import is_bare, splat_bytes, splat_value
from shardwright.passes.rewriter import Rule, insert_before
from shardwright.rules.reductions import is_zero


@dataclass(frozen=True)
class _Edges:
    """What an op puts around a tensor, or cuts off it: `value` is what it puts there, None when it only cuts."""

    operand: SSAValue
    value: SSAValue | None
    amounts: tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]


def _edges_of(value: SSAValue) -> _Edges | None:
    """The pad, or the slice of neighbours, that makes `value`, unless the user fixed the layout in between."""
    owner = value.owner
    if not is_bare(value):
        return None
    if isinstance(owner, stablehlo.PadOp):
        return _Edges(owner.operand, owner.padding_value, owner.amounts)
    if isinstance(owner, stablehlo.SliceOp) and set(owner.bounds[2]) == {1}:
        starts, limits, _ = owner.bounds
        low = tuple(-start for start in starts)
        whole = shape_of(owner.operand)
        high = tuple(limit - size for limit, size in zip(limits, whole, strict=True))
        if any(-before - after > max(2, n // 4) for before, after, n in zip(low, high, whole, strict=True)):
            return None  # a window over much more than it needs
        return _Edges(owner.operand, None, (low, high, (0,) * len(low)))
    return None


def _pad_of(value: SSAValue) -> stablehlo.PadOp | None:
    """The pad that makes `value`, unless the user fixed the layout in between."""
    owner = value.owner
    free = is_bare(value)
    return owner if isinstance(owner, stablehlo.PadOp) and free else None


def _widened(sweep: Sweep, low: int, high: int, interior: int) -> Sweep | None:
    """The window over an operand that is not padded yet; None when the pad cuts what the window then pads."""
    if sweep.base != 1 or (low < 0 < sweep.low) or (high < 0 < sweep.high):
        return None
    return replace(sweep, low=sweep.low + low, high=sweep.high + high, base=interior + 1)


def _all_widened(sweeps: Sequence[Sweep], edges: _Edges, dims: Sequence[int]) -> list[Sweep] | None:
    amounts = list(zip(*edges.amounts, strict=True))
    found = [_widened(sweep, *amounts[dim]) for sweep, dim in zip(sweeps, dims, strict=True)]
    return [sweep for sweep in found if sweep is not None] if None not in found else None


def _pad_into_convolution(op: stablehlo.ConvolutionOp) -> Operation | None:
    """A convolution of what is padded with zeros, or cut, pads or cuts it itself."""
    edges = _edges_of(op.lhs)
    if edges is None or not (edges.value is None or is_zero(edges.value)):
        return None
    spatial = op.numbers.input_spatial
    if any(any(each) for dim, each in enumerate(zip(*edges.amounts, strict=True)) if dim not in spatial):
        return None
    sweeps = _all_widened(op.sweeps, edges, spatial)
    if sweeps is None:
        return None
    return _over(op, edges.operand, sweep_properties(sweeps))


def _pad_into_window(op: stablehlo.ReduceWindowOp) -> Operation | None:
    """A reduction over windows of what is padded with its initial value, or cut, pads or cuts it itself."""
    edges, start = _edges_of(op.inputs[0]), splat_bytes(op.init_values[0])
    if len(op.results) != 1 or edges is None:
        return None
    if edges.value is not None and (start is None or splat_bytes(edges.value) != start):
        return None
    sweeps = _all_widened(op.sweeps, edges, range(len(op.sweeps)))
    if sweeps is None:
        return None
    return _over(op, edges.operand, window_properties(sweeps))


def _over(op: Operation, operand: SSAValue, properties: Mapping[str, Attribute]) -> Operation:
    """The same op over another first operand, with other windows."""
    new = op.clone()
    new.operands[0] = operand
    new.properties.update(properties)
    return new


def steps_over_pad(op: stablehlo.SliceOp) -> Operation | None:
    """
    A slice by steps of a pad is a pad of a slice by steps, which splits as evenly as the operand does.

    ```
    %0 = stablehlo.pad %x, %v, low = [2], high = [-3], interior = [0] : ... tensor<64> -> tensor<63>
    %1 = stablehlo.slice %0 [0:63:2]
    becomes
    %0 = stablehlo.slice %x [0:64:2]
    %1 = stablehlo.pad %0, %v, low = [1], high = [-1], interior = [0]
    ```
    """
    pad, (starts, _, strides) = _pad_of(op.operand), op.bounds
    if pad is None or any(pad.amounts[2]) or all(stride == 1 for stride in strides):
        return None
    source, result = shape_of(pad.operand), shape_of(op.results[0])
    places = [start - low for start, low in zip(starts, pad.amounts[0], strict=True)]
    phases = [place % stride for place, stride in zip(places, strides, strict=True)]
    low = [-(place // stride) for place, stride in zip(places, strides, strict=True)]
    sizes = [max(0, -(-(n - r) // k)) for n, r, k in zip(source, phases, strides, strict=True)]
    high = [total - before - size for total, before, size in zip(result, low, sizes, strict=True)]
    if any(phase > size for phase, size in zip(phases, source, strict=True)):
        return None
    if any(-edge > size for edges in (low, high) for edge, size in zip(edges, sizes, strict=True)):
        return None
    picked = insert_before(op, stablehlo.SliceOp(pad.operand, phases, source, strides))
    return stablehlo.PadOp(picked, pad.padding_value, low, high)


def cut_selection(op: stablehlo.SliceOp) -> Operation | None:
    """
    Max-pool's gradient as JAX writes it for the CPU: padded with what is never selected, and what fell there cut off.

    The selection pads it itself, as JAX has it on other devices: padding is not selected where a window holds nothing
    but the smallest number, or NaN, either.
    """
    inner = op.operand.owner
    if not isinstance(inner, stablehlo.SelectAndScatterOp) or not is_bare(op.operand):
        return None
    pad, (starts, limits, strides) = _pad_of(inner.operand), op.bounds
    if pad is None or any(stride != 1 for stride in strides) or not _is_never_selected(inner, pad.padding_value):
        return None
    low, high, interior = pad.amounts
    source = shape_of(pad.operand)
    inside = all(stop - start == size for start, stop, size in zip(starts, limits, source, strict=True))
    if starts != low or not inside or any(interior):
        return None
    edges = zip(inner.sweeps, low, high, strict=True)
    sweeps = [replace(sweep, low=sweep.low + before, high=sweep.high + after) for sweep, before, after in edges]
    return stablehlo.SelectAndScatterOp(
        pad.operand, inner.source, inner.init_value, sweeps, inner.select.clone(), inner.scatter.clone()
    )


def _is_never_selected(op: stablehlo.SelectAndScatterOp, value: SSAValue) -> bool:
    """Whether a value is the smallest where the larger of two is selected, or the largest where the smaller is."""
    only, found = only_op(op.select.block), splat_value(value)
    if not isinstance(only, stablehlo.CompareOp) or found is None or tuple(only.operands) != op.select.block.args:
        return False
    extreme = {"GE": lowest, "GT": lowest, "LE": highest, "LT": highest}.get(only.direction)
    return extreme is not None and bool(found == extreme(found.dtype))


WINDOW_RULES: Mapping[type[Operation], Rule] = {
    stablehlo.ConvolutionOp: _pad_into_convolution,
    stablehlo.ReduceWindowOp: _pad_into_window,
}
