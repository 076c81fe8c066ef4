"""Gathers and slices whose sizes are operands, and the index_select of PyTorch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.ir import Operation, SSAValue

from shardwright.diagnostics import Diagnostic
from shardwright.dialects import stablehlo
from shardwright.dialects.text.locations import where
from shardwright.dialects.types import shape_of
from shardwright.passes.decomposing.parts import Decomposition, Site


def _dynamic_gather(op: stablehlo.DynamicGatherOp, site: Site) -> Sequence[SSAValue]:
    """A gather of slices as large as the result has them."""
    return [site.put(stablehlo.GatherOp(op.operand, op.start_indices, op.numbers, op.sizes))]


def _index_select(op: stablehlo.TorchIndexSelectOp, site: Site) -> Sequence[SSAValue]:
    """A gather along one dim."""
    return [site.put(stablehlo.GatherOp(op.operand, op.index, op.numbers, op.sizes))]


def _real_dynamic_slice(op: stablehlo.RealDynamicSliceOp, site: Site) -> Sequence[SSAValue]:
    """A slice where starts are constants, a dynamic slice where only they are computed."""
    sizes, starts, strides = shape_of(op.result), _constant(op.start_indices), _constant(op.strides)
    if strides is not None and starts is not None:
        ends = [
            start + (size - 1) * stride + 1 if size else start
            for start, size, stride in zip(starts, sizes, strides, strict=True)
        ]
        return [site.slice(op.operand, starts, ends, strides)]
    parts = [site.slice(op.start_indices, [dim], [dim + 1]) for dim in range(len(sizes))]
    return [site.window(op.operand, [site.reshape(part, ()) for part in parts], sizes)]


def refuse_slice(op: Operation) -> Diagnostic | None:
    """What is wrong with a slice whose strides are computed, or other than one from computed starts."""
    assert isinstance(op, stablehlo.RealDynamicSliceOp)
    strides = _constant(op.strides)
    if strides is not None and (not set(strides) - {1} or _constant(op.start_indices) is not None):
        return None
    message = "stablehlo.real_dynamic_slice has computed strides, or strides between computed bounds"
    return Diagnostic("SW0432", message, where(op), help="export the program for fixed sizes")


def _constant(value: SSAValue) -> list[int] | None:
    owner = value.owner
    return stablehlo.constant_value(owner).tolist() if isinstance(owner, stablehlo.ConstantOp) else None


INDEXING: Mapping[type[Operation], Decomposition] = {
    stablehlo.DynamicGatherOp: _dynamic_gather,
    stablehlo.RealDynamicSliceOp: _real_dynamic_slice,
    stablehlo.TorchIndexSelectOp: _index_select,
}
