"""
Collectives that users write themselves, in manual computations: what devices of a group send each other.

A group is named by the mesh axes along which its devices differ (`ReplicaGroupsAttr`) or by a dense list of devices.
Upstream has no pretty form for most of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, cast

import numpy as np
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    IntegerAttr,
    IntegerType,
    Signedness,
    TensorType,
    UnitAttr,
    i64,
)
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import AttrParser
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from shardwright.dialects.stablehlo.algebra.contractions import COMMUTATIVE_OPS, ReturnOp
from shardwright.dialects.stablehlo.parts import forms
from shardwright.dialects.stablehlo.parts.attributes import parse_integer
from shardwright.dialects.stablehlo.parts.constants import constant_value
from shardwright.dialects.text.data import Reader, TextAttr, Writer
from shardwright.dialects.text.literals import DenseAttr, parse_name
from shardwright.dialects.types import element_of, plain, shape_of, tensor, tensor_type
from shardwright.layout.axes import Axis, quoted, symbol

UI32 = IntegerType(32, Signedness.UNSIGNED)
"""The type of device numbers."""


def _parse_field(parser: AttrParser, name: str) -> None:
    parser.parse_keyword(name)
    parser.parse_punctuation("=")


def _parse_axis(parser: AttrParser) -> Axis:
    _parse_field(parser, "name")
    name = parse_name(parser, " naming a mesh axis")
    if parser.parse_optional_punctuation(",") is None:
        return Axis(name)
    _parse_field(parser, "sub_axis_info")
    with parser.in_parens():
        pre = parser.parse_integer(allow_boolean=False, allow_negative=False)
    return Axis(name, pre, parser.parse_integer(allow_boolean=False, allow_negative=False))


def _axis_text(axis: Axis) -> str:
    return f"name = {quoted(axis.name)}" + ("" if axis.whole else f", sub_axis_info = ({axis.pre}){axis.size}")


@irdl_attr_definition
class AxisRefAttr(TextAttr[Axis]):
    """A mesh axis or a part of one: `#stablehlo.axis_ref<name = "x", sub_axis_info = (1)2>`."""

    name = "stablehlo.axis_ref"
    READ: ClassVar[Reader] = staticmethod(_parse_axis)
    TEXT: ClassVar[Writer] = staticmethod(_axis_text)
    ANGLED: ClassVar[bool] = True


@dataclass(frozen=True)
class ReplicaGroups:
    """Groups of devices that differ along `axes` of a mesh, major to minor."""

    mesh: str
    axes: tuple[Axis, ...]

    def __str__(self) -> str:
        axes = ", ".join(f"#stablehlo.axis_ref<{_axis_text(axis)}>" for axis in self.axes)
        return f"mesh = {symbol(self.mesh)}, axes = [{axes}]"


def _parse_groups(parser: AttrParser) -> ReplicaGroups:
    _parse_field(parser, "mesh")
    mesh = parser.parse_symbol_name().data
    parser.parse_punctuation(",")
    _parse_field(parser, "axes")
    axes = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: _parse_axis_ref(parser))
    return ReplicaGroups(mesh, tuple(axes))


def _parse_axis_ref(parser: AttrParser) -> Axis:
    position = parser.pos
    attribute = parser.parse_attribute()
    if not isinstance(attribute, AxisRefAttr):
        parser.raise_error("expected #stablehlo.axis_ref<...>", position)
    return attribute.data


@irdl_attr_definition
class ReplicaGroupsAttr(TextAttr[ReplicaGroups]):
    """`#stablehlo.replica_group_mesh_axes<mesh = @m, axes = [#stablehlo.axis_ref<name = "x">]>`."""

    name = "stablehlo.replica_group_mesh_axes"
    READ: ClassVar[Reader] = staticmethod(_parse_groups)
    ANGLED: ClassVar[bool] = True


def _parse_channel(parser: AttrParser) -> tuple[int, int]:
    _parse_field(parser, "handle")
    handle = parse_integer(parser)
    parser.parse_punctuation(",")
    _parse_field(parser, "type")
    return handle, parse_integer(parser)


def _channel_text(channel: tuple[int, int]) -> str:
    return f"handle = {channel[0]}, type = {channel[1]}"


@irdl_attr_definition
class ChannelHandleAttr(TextAttr[tuple[int, int]]):
    """The channel that pairs up a collective's devices: `#stablehlo.channel_handle<handle = 1, type = 1>`."""

    name = "stablehlo.channel_handle"
    READ: ClassVar[Reader] = staticmethod(_parse_channel)
    TEXT: ClassVar[Writer] = staticmethod(_channel_text)
    ANGLED: ClassVar[bool] = True


class GroupedOp(IRDLOperation):
    """A collective within groups of devices."""

    replica_groups = prop_def(Attribute)
    channel_handle = opt_prop_def(ChannelHandleAttr)
    traits = traits_def(Pure())

    @property
    def groups(self) -> ReplicaGroups | None:
        """The mesh axes along which the devices of a group differ; None where groups are listed."""
        found = self.replica_groups
        return found.data if isinstance(found, ReplicaGroupsAttr) else None

    @property
    def dense_groups(self) -> np.ndarray[tuple[int, int], np.dtype[np.int64]] | None:
        """The listed groups, a row for each; shorter ones are filled up with -1."""
        return None if self.groups is not None else dense_rows(self.replica_groups)

    @property
    def mesh_name(self) -> str:
        """The symbol of the mesh whose axes the groups name."""
        assert self.groups is not None, "import-sdy finds the axes of groups that are listed"
        return self.groups.mesh

    def arguments_text(self) -> str:
        """The axes along which the devices of a group differ."""
        axes = self.groups.axes if self.groups is not None else ()
        return "{" + ", ".join(map(str, axes)) + "}"

    def check_groups(self) -> None:
        """`VerifyException` unless the groups are axes or a list of groups."""
        if self.groups is None and dense_rows(self.replica_groups) is None:
            raise VerifyException("replica_groups must be mesh axes or a list of groups")


def dense_rows(attribute: Attribute) -> np.ndarray[tuple[int, int], np.dtype[np.int64]] | None:
    """
    The rows of a two-dimensional list of integers; None when `attribute` is no such list.

    >>> from xdsl.dialects.builtin import TensorType
    >>> from shardwright.dialects.stablehlo.parts.constants import make_dense
    >>> dense_rows(make_dense(np.array([[0, 1], [2, 3]]), i64, (2, 2))).tolist()
    [[0, 1], [2, 3]]
    """
    if not isinstance(attribute, DenseIntOrFPElementsAttr):
        return None
    found = cast(DenseAttr, attribute)
    if len(shape_of(found.type)) != 2 or found.get_element_type() != i64:
        return None
    return cast("np.ndarray[tuple[int, int], np.dtype[np.int64]]", constant_value(found))


class _ManyOp(GroupedOp, ABC):
    """A collective of several operands, each of which becomes a result."""

    inputs = var_operand_def(TensorType)
    outputs = var_result_def(TensorType)

    def verify_(self) -> None:
        self.check_groups()
        if not self.inputs or len(self.inputs) != len(self.outputs):
            raise VerifyException("needs as many results as operands, and at least one")
        for operand, result in zip(self.inputs, self.outputs, strict=True):
            self.check_pair(operand, result)

    @abstractmethod
    def check_pair(self, operand: SSAValue, result: SSAValue) -> None:
        """`VerifyException` unless the operand becomes this result."""


class _Combining(GroupedOp):
    """A collective that combines by a body of two scalars."""

    use_global_device_ids = opt_prop_def(UnitAttr)
    body = region_def("single_block")

    @property
    def combines(self) -> type[Operation] | None:
        """The one commutative op that the body applies to its two arguments, or None."""
        block = self.body.block
        first, last = block.first_op, block.last_op
        if first is None or not isinstance(last, ReturnOp) or first.next_op is not last:
            return None
        if set(first.operands) != set(block.args) or tuple(last.operands) != tuple(first.results):
            return None
        return type(first) if isinstance(first, COMMUTATIVE_OPS) else None

    def check_body(self, element_type: Attribute) -> None:
        """`VerifyException` unless the body takes two scalars of `element_type` and returns one."""
        scalar = tensor((), element_type)
        block = self.body.block
        last = block.last_op
        if [plain(arg.type) if isinstance(arg.type, TensorType) else arg.type for arg in block.args] != [scalar] * 2:
            raise VerifyException(f"the body must take two values of type {scalar}")
        if not isinstance(last, ReturnOp) or [value.type for value in last.operands] != [scalar]:
            raise VerifyException(f"the body must return one {scalar}")


@irdl_op_definition
class AllReduceOp(_Combining, _ManyOp):
    """Combines each operand over the devices of a group; all of them get the result."""

    name = "stablehlo.all_reduce"

    def __init__(self, inputs: Sequence[SSAValue], groups: Attribute, body: Region):
        types = [tensor_type(value) for value in inputs]
        super().__init__(operands=[inputs], result_types=[types], properties={"replica_groups": groups}, regions=[body])

    def check_pair(self, operand: SSAValue, result: SSAValue) -> None:
        _check_same(operand, result)
        self.check_body(element_of(operand))


@irdl_op_definition
class ReduceScatterOp(_Combining):
    """Combines the operand over the devices of a group; each keeps its part of one dim."""

    name = "stablehlo.reduce_scatter"
    operand = operand_def(TensorType)
    result = result_def(TensorType)
    scatter_dimension = prop_def(IntegerAttr)

    @property
    def dim(self) -> int:
        """The dim that is scattered."""
        return self.scatter_dimension.value.data

    def verify_(self) -> None:
        self.check_groups()
        _check_dims(self.operand, self.dim)
        self.check_body(element_of(self.operand))
        _check_scaled(self.result, self.operand, self.dim, group_size(self))


@irdl_op_definition
class AllGatherOp(_ManyOp):
    """Joins the operands of a group's devices along one dim, in the group's order; all of them get the result."""

    name = "stablehlo.all_gather"
    all_gather_dim = prop_def(IntegerAttr)
    use_global_device_ids = opt_prop_def(UnitAttr)

    @property
    def dim(self) -> int:
        """The dim along which parts are joined."""
        return self.all_gather_dim.value.data

    def check_pair(self, operand: SSAValue, result: SSAValue) -> None:
        _check_dims(operand, self.dim)
        _check_scaled(operand, result, self.dim, group_size(self))


@irdl_op_definition
class AllToAllOp(_ManyOp):
    """Each device sends part `i` of one dim to device `i` of its group, and joins what it receives along another."""

    name = "stablehlo.all_to_all"
    split_dimension = prop_def(IntegerAttr)
    concat_dimension = prop_def(IntegerAttr)
    split_count = prop_def(IntegerAttr)

    @property
    def dims(self) -> tuple[int, int]:
        """The dim that is cut into parts, and the dim along which parts are joined."""
        return self.split_dimension.value.data, self.concat_dimension.value.data

    @property
    def count(self) -> int:
        """The number of parts, which is that of a group's devices."""
        return self.split_count.value.data

    def check_groups(self) -> None:
        super().check_groups()
        rows = self.dense_groups
        if self.count < 1 or (rows is not None and rows.shape[1] != self.count):
            raise VerifyException(f"split_count = {self.count} is not the size of the groups")

    def check_pair(self, operand: SSAValue, result: SSAValue) -> None:
        split, concat = self.dims
        _check_dims(operand, split, concat)
        shape = list(shape_of(operand))
        if shape[split] % self.count:
            raise VerifyException(f"dim {split} of {operand.type} does not split into {self.count} parts")
        shape[split] //= self.count
        shape[concat] *= self.count
        expected = tensor(tuple(shape), element_of(operand))
        if plain(result.type) != expected:
            raise VerifyException(f"the result must be {expected}, not {result.type}")


@irdl_op_definition
class CollectivePermuteOp(forms.TensorOp):
    """Sends a whole buffer along each pair of a source and a target device; who receives nothing gets zeros."""

    name = "stablehlo.collective_permute"
    operand = operand_def(TensorType)
    source_target_pairs = prop_def(DenseIntOrFPElementsAttr)
    channel_handle = opt_prop_def(ChannelHandleAttr)

    @property
    def pairs(self) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
        """Source and target of each pair, a row for each."""
        rows = dense_rows(self.source_target_pairs)
        assert rows is not None
        return rows

    def verify_(self) -> None:
        _check_same(self.operand, self.result)
        rows = dense_rows(self.source_target_pairs)
        if rows is None or rows.shape[1] != 2:
            raise VerifyException("source_target_pairs must be a list of pairs")
        if rows.size and rows.min() < 0:
            raise VerifyException("source_target_pairs names a device below 0")
        for column, name in enumerate(("source", "target")):
            if len(np.unique(rows[:, column])) != len(rows):
                raise VerifyException(f"source_target_pairs names a {name} twice")


@irdl_op_definition
class CollectiveBroadcastOp(GroupedOp):
    """The first device of each group sends its buffer to the others."""

    name = "stablehlo.collective_broadcast"
    operand = operand_def(TensorType)
    result = result_def(TensorType)

    def verify_(self) -> None:
        self.check_groups()
        _check_same(self.operand, self.result)


class _DeviceNumberOp(forms.WrittenOp, forms.TensorOp):
    """A number that tells devices apart: `stablehlo.partition_id : tensor<ui32>`."""

    FORM: ClassVar[forms.Form] = forms.Form(types=forms.ONE)

    def verify_(self) -> None:
        found = plain(self.result.type)
        if shape_of(found) or found.element_type != UI32:
            raise VerifyException(f"the result must be tensor<ui32>, not {self.result.type}")


@irdl_op_definition
class PartitionIdOp(_DeviceNumberOp):
    """The device's number within the program's mesh, row-major."""

    name = "stablehlo.partition_id"


@irdl_op_definition
class ReplicaIdOp(_DeviceNumberOp):
    """The number of the device's replica: 0, since a program has one replica."""

    name = "stablehlo.replica_id"


def _check_same(operand: SSAValue, result: SSAValue) -> None:
    if plain(operand.type) != plain(result.type):
        raise VerifyException(f"operand and result must have one type: {operand.type} against {result.type}")


def _check_dims(value: SSAValue, *dims: int) -> None:
    for dim in dims:
        if not 0 <= dim < len(shape_of(value)):
            raise VerifyException(f"{value.type} has no dim {dim}")


def group_size(op: GroupedOp) -> int | None:
    """The number of devices of a group, where they are listed."""
    rows = op.dense_groups
    return None if rows is None or not rows.size else rows.shape[1]


def _check_scaled(small: SSAValue, large: SSAValue, dim: int, count: int | None) -> None:
    """`VerifyException` unless the types are alike but for one dim, `count` times as long in `large` (when known)."""
    before, after = shape_of(small), list(shape_of(large))
    if len(before) != len(after) or element_of(small) != element_of(large):
        raise VerifyException(f"{small.type} and {large.type} must be alike but for dim {dim}")
    times, rest = divmod(after[dim], before[dim]) if before[dim] else (count or 1, after[dim])
    after[dim] = before[dim]
    if tuple(after) != before or rest or (count is not None and times != count):
        raise VerifyException(
            f"{small.type} and {large.type} must be alike but for dim {dim}, by the size of the groups"
        )


COLLECTIVE_ATTRIBUTES: list[type[Attribute]] = [AxisRefAttr, ReplicaGroupsAttr, ChannelHandleAttr]
COLLECTIVE_OPS: tuple[type[Operation], ...] = (
    AllReduceOp,
    ReduceScatterOp,
    AllGatherOp,
    AllToAllOp,
    CollectivePermuteOp,
    CollectiveBroadcastOp,
    PartitionIdOp,
    ReplicaIdOp,
)
