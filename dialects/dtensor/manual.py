"""
Manual computations in the `dtensor` dialect: the casts into and out of them, and what their collectives become.

Inside a manual computation a value is what one device holds along the *manual* axes; layouts name the other axes only.
A manual computation has no region of its own: it is what stands between the casts.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar, TypeAlias, cast

from xdsl.dialects.builtin import DenseArrayBase, StringAttr, SymbolRefAttr, TensorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def, prop_def
from xdsl.utils.exceptions import VerifyException

from shardwright.dialects.dtensor import AxisIndexOp, CollectiveOp, DimAxes, layout_of, mesh_of
from shardwright.dialects.dtensor.attributes import AXES, DIM_AXES, MESH, AxesAttr, DimAxesAttr, mesh_symbol
from shardwright.dialects.dtensor.ops import check_axes, collective_form
from shardwright.dialects.stablehlo.collectives import GroupedOp
from shardwright.dialects.stablehlo.parts import forms
from shardwright.dialects.types import Integers, element_of, element_size, integers, shape_of, tensor
from shardwright.layout.axes import Axis, overlap, remaining
from shardwright.layout.mesh import Mesh
from shardwright.layout.planning.cost import sent_bytes
from shardwright.layout.spec import LayoutSpec

Axes = tuple[Axis, ...]


class CastOp(forms.WrittenOp, forms.TensorOp, ABC):
    """
    A value seen from the other side of a manual computation's border.

    `dim_axes` are the manual axes that split each dim outside; along the other `manual` axes the value is the same.
    """

    operand = operand_def(TensorType)
    mesh = prop_def(SymbolRefAttr)
    dim_axes = prop_def(DimAxesAttr)
    manual = prop_def(AxesAttr)
    reason = opt_prop_def(StringAttr)
    FORM: ClassVar[forms.Form] = forms.Form(
        MESH, DIM_AXES, forms.Field("manual", forms.spelled(AxesAttr), " manual "), forms.OPERANDS, types=forms.FUNCTION
    )

    def __init__(self, operand: SSAValue, mesh: Mesh, dim_axes: DimAxes, manual: Sequence[Axis]):
        properties: dict[str, Attribute] = {
            "mesh": mesh_symbol(mesh.name),
            "dim_axes": DimAxesAttr(tuple(tuple(dim) for dim in dim_axes)),
            "manual": AxesAttr(tuple(manual)),
        }
        shape = self.cast(shape_of(operand), tuple(mesh.group_size(axes) for axes in dim_axes))
        super().__init__(operands=[operand], result_types=[tensor(shape, element_of(operand))], properties=properties)

    @staticmethod
    @abstractmethod
    def cast(shape: tuple[int, ...], sizes: tuple[int, ...]) -> tuple[int, ...]:
        """The result's shape; `sizes` are the devices over which each dim is split outside."""

    def unnamed(self, mesh: Mesh) -> Axes:
        """The manual axes, or parts of them, along which the value is the same."""
        split = [axis for axes in self.dim_axes.data for axis in axes]
        return remaining(self.manual.data, split, mesh.sizes)

    def verify_(self) -> None:
        mesh = mesh_of(self, self.mesh.root_reference.data)
        named = [*self.manual.data, *(axis for axes in self.dim_axes.data for axis in axes)]
        check_axes(named, mesh)
        if not {axis.name for axis in named} <= {axis.name for axis in self.manual.data}:
            raise VerifyException("dim_axes may name manual axes, and parts of them, only")
        shape = shape_of(self.operand)
        if len(shape) != len(self.dim_axes.data):
            raise VerifyException(f"dim_axes has {len(self.dim_axes.data)} dims, but the tensor has {len(shape)}")
        sizes = tuple(mesh.group_size(axes) for axes in self.dim_axes.data)
        try:
            expected = tensor(self.cast(shape, sizes), element_of(self.operand))
        except ValueError as error:
            raise VerifyException(str(error)) from error
        if (shape_of(self.result), element_of(self.result)) != (shape_of(expected), element_of(expected)):
            raise VerifyException(f"the result must be {expected}, not {self.result.type}")


@irdl_op_definition
class ToManualOp(CastOp):
    """
    A tensor as one device sees it along the manual axes.

    `%1 = dtensor.to_manual @mesh [{"x"}, {}] manual {"x"} %0 : (tensor<8x4xf32>) -> tensor<2x4xf32>`
    """

    name = "dtensor.to_manual"

    @staticmethod
    def cast(shape: tuple[int, ...], sizes: tuple[int, ...]) -> tuple[int, ...]:
        for dim, (extent, size) in enumerate(zip(shape, sizes, strict=True)):
            if extent % size:
                raise ValueError(f"dim {dim} has {extent} elements and does not split evenly into {size} parts")
        return tuple(extent // size for extent, size in zip(shape, sizes, strict=True))


@irdl_op_definition
class FromManualOp(CastOp):
    """
    The tensor whose parts the devices hold along the manual axes.

    `%1 = dtensor.from_manual @mesh [{"x"}, {}] manual {"x"} %0 : (tensor<2x4xf32>) -> tensor<8x4xf32>`
    """

    name = "dtensor.from_manual"

    @staticmethod
    def cast(shape: tuple[int, ...], sizes: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(extent * size for extent, size in zip(shape, sizes, strict=True))


@irdl_op_definition
class FetchOp(CollectiveOp):
    """
    Each device receives the whole buffer of one device of its group: of number `sources[i]` where its own is `i`.

    Numbers count the devices over `axes`, major to minor; whose source is -1 receives nothing and has zeros. It says
    what users write as collective_permute and collective_broadcast.

    `%1 = dtensor.fetch @mesh {"x"} [3, 0, 1, 2] %0 : (T) -> T`
    """

    name = "dtensor.fetch"
    axes = prop_def(AxesAttr)
    source_devices = prop_def(DenseArrayBase)
    FORM: ClassVar[forms.Form] = collective_form(MESH, AXES, forms.Field("source_devices", forms.DIMS))

    def __init__(
        self, operand: SSAValue, mesh: str, axes: Sequence[Axis], sources: Sequence[int], reason: str | None = None
    ):
        properties = {"axes": AxesAttr(tuple(axes)), "source_devices": integers(tuple(sources))}
        self.make([operand], [operand.type], mesh, reason, properties)

    @property
    def sources(self) -> tuple[int, ...]:
        """For each device of a group the number of the one whose buffer it receives, or -1."""
        return tuple(cast(Integers, self.source_devices).get_values())

    def derive(self, spec: LayoutSpec, mesh: Mesh) -> LayoutSpec:
        for axis in self.axes.data:
            if any(overlap(axis, other, mesh.sizes[axis.name]) for other in spec.axes()):
                raise ValueError(f"the layout {spec.body()} uses the axis {axis} along which devices fetch")
        return spec

    def moved_share(self) -> Fraction:
        """The share of devices that receive the buffer of another one."""
        sources = self.sources
        moved = sum(source not in (-1, number) for number, source in enumerate(sources))
        return Fraction(moved, len(sources))

    def verify_(self) -> None:
        mesh = mesh_of(self, self.mesh_name)
        check_axes(self.axes.data, mesh)
        size = mesh.group_size(self.axes.data)
        if len(self.sources) != size or not all(-1 <= source < size for source in self.sources):
            raise VerifyException(f"needs one source from -1 to {size - 1} for each of the {size} devices of a group")
        super().verify_()


@irdl_op_definition
class UnvaryingOp(CollectiveOp):
    """
    A value that is the same on all devices along `axes`, as its manual computation promises: nothing moves.

    `%1 = dtensor.unvarying @mesh {"x"} %0 : (T) -> T`
    """

    name = "dtensor.unvarying"
    axes = prop_def(AxesAttr)
    FORM: ClassVar[forms.Form] = collective_form(MESH, AXES)

    def __init__(self, operand: SSAValue, mesh: str, axes: Sequence[Axis]):
        self.make([operand], [operand.type], mesh, None, {"axes": AxesAttr(tuple(axes))})


def manual_axes(op: Operation) -> Axes:
    """The mesh axes along which `op` handles devices itself, so that no layout at it may name them."""
    if isinstance(op, CastOp):
        return op.manual.data
    if isinstance(op, FetchOp | AxisIndexOp):
        return op.axes.data
    groups = op.groups if isinstance(op, GroupedOp) else None
    return groups.axes if groups is not None else ()


Explicit: TypeAlias = GroupedOp | FetchOp
"""Collectives that the user wrote."""


def explicit_bytes(op: Explicit, mesh: Mesh) -> Fraction:
    """The bytes that each device sends, on average, for a collective inside of a manual computation."""
    if isinstance(op, FetchOp):
        return op.moved_share() * _local_bytes(op.inputs[0], mesh)
    kind, size = op.name.partition(".")[2], mesh.group_size(manual_axes(op))
    buffers = op.results if kind == "all_gather" else op.operands
    return sum((sent_bytes(kind, _local_bytes(value, mesh), size) for value in buffers), Fraction())


def _local_bytes(value: SSAValue, mesh: Mesh) -> int:
    """The bytes that a device holds of a value whose layout names the axes that are not manual."""
    spec = layout_of(value)
    parts = math.prod(mesh.group_size(axes) for axes in spec.dims) if spec is not None else 1
    return math.prod(shape_of(value)) * element_size(element_of(value)) // parts


OPS: tuple[type[Operation], ...] = (ToManualOp, FromManualOp, FetchOp, UnvaryingOp)
