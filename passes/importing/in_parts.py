"""What a manual computation takes, or gives, of which each device has a part of a sum: its border in whole values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xdsl.ir import Operation, SSAValue

from shardwright.dialects import stablehlo
from shardwright.dialects.dtensor import AxisIndexOp
from shardwright.dialects.dtensor.kinds import adds_nothing
from shardwright.dialects.dtensor.manual import FromManualOp
from shardwright.dialects.types import element_of, shape_of, tensor
from shardwright.layout.axes import Axis
from shardwright.layout.mesh import Mesh
from shardwright.layout.spec import LayoutSpec
from shardwright.passes.rewriter import insert_before

Axes = tuple[Axis, ...]
COMBINERS: dict[str, type[Operation]] = {
    "sum": stablehlo.AddOp,
    "max": stablehlo.MaximumOp,
    "min": stablehlo.MinimumOp,
}


def parted(spec: LayoutSpec, manual: Axes) -> Axes:
    """The manual axes over which there are parts."""
    names = {axis.name for axis in manual}
    return tuple(axis for axis in spec.partial if axis.name in names)


def finished(spec: LayoutSpec, parts: Axes) -> LayoutSpec:
    """The layout without parts over these axes."""
    partial = tuple(axis for axis in spec.partial if axis not in parts)
    return replace(spec, partial=partial, kind=spec.kind if partial else "")


def as_parts(value: SSAValue, parts: Axes, kind: str, mesh: Mesh, op: Operation) -> SSAValue:
    """Inside of the computation, a value that all devices have along some axes, as parts: the first has all of it."""
    index = insert_before(op, AxisIndexOp(mesh.name, parts)).results[0]
    zero = insert_before(op, stablehlo.make_constant(0, element_of(index), ())).results[0]
    first = insert_before(op, stablehlo.CompareOp(index, zero, "EQ")).results[0]
    nothing = stablehlo.make_constant(adds_nothing(kind, element_of(value)), element_of(value), shape_of(value))
    return insert_before(op, stablehlo.SelectOp(first, value, insert_before(op, nothing).results[0])).results[0]


def from_parts(
    value: SSAValue, dim_axes: Sequence[Axes], parts: Axes, spec: LayoutSpec, mesh: Mesh, manual: Axes, op: Operation
) -> SSAValue:
    """Outside of the computation, what the parts of all devices make: they are put side by side, and combined there."""
    row = stablehlo.ReshapeOp(value, tensor((1, *shape_of(value)), element_of(value)))
    cast = FromManualOp(insert_before(op, row).results[0], mesh, (parts, *dim_axes), manual)
    rows = insert_before(op, cast).results[0]
    start = stablehlo.make_constant(adds_nothing(spec.kind, element_of(value)), element_of(value), ())
    combined = stablehlo.ReduceOp([rows], [insert_before(op, start).results[0]], (0,), COMBINERS[spec.kind])
    return insert_before(op, combined).results[0]
