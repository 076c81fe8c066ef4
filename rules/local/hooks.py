"""
Local hooks: what an op needs beyond new types when its result is split.

A hook sees the op with per-device types, the layout of its result and the mesh, and edits the op in place or puts ops
in front of it; no decisions are left to it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.dialects.builtin import i32
from xdsl.ir import Operation

from shardwright.dialects import dtensor, stablehlo
from shardwright.dialects.types import is_integer, shape_of, tensor, tensor_type
from shardwright.layout.mesh import Mesh
from shardwright.layout.spec import LayoutSpec


@dataclass(frozen=True)
class Local:
    """The layouts of the op's operands and results, the mesh, and how to put a new op in front of the hooked one."""

    operands: tuple[LayoutSpec, ...]
    results: tuple[LayoutSpec, ...]
    mesh: Mesh
    insert: Callable[[Operation], Operation]

    @property
    def spec(self) -> LayoutSpec:
        """The layout of the first result."""
        return self.results[0]

    @property
    def split(self) -> bool:
        """Whether any dim of an operand or result is split: otherwise there is nothing to do."""
        return any(any(spec.dims) for spec in (*self.operands, *self.results))


def _constant(op: Operation, local: Local) -> None:
    """A splat is a smaller splat."""
    assert isinstance(op, stablehlo.ConstantOp)
    result = tensor_type(op.results[0])
    op.properties["value"] = stablehlo.make_dense(stablehlo.splat_value(op), result.element_type, shape_of(result))


def _iota(op: Operation, local: Local) -> None:
    """
    Along a split dim a device counts from its own offset: local iota plus index times local size.

    It counts in integers and converts once, since a float would round both the offset and the sum.
    """
    assert isinstance(op, stablehlo.IotaOp)
    axes = local.spec.dims[op.dim]
    if not axes:
        return
    result = tensor_type(op.results[0])
    shape = shape_of(result)
    element = result.element_type if is_integer(result.element_type) else i32
    index = local.insert(dtensor.AxisIndexOp(local.spec.mesh, axes)).results[0]
    if element != i32:
        index = local.insert(stablehlo.ConvertOp(index, element)).results[0]
    size = local.insert(stablehlo.make_constant(shape[op.dim], element, ())).results[0]
    offset = local.insert(stablehlo.MultiplyOp(index, size)).results[0]
    start = local.insert(stablehlo.BroadcastInDimOp(offset, (), tensor(shape, element))).results[0]
    count = local.insert(stablehlo.IotaOp(op.dim, tensor(shape, element))).results[0]
    position: Operation = stablehlo.AddOp(count, start)
    if element != result.element_type:
        position = stablehlo.ConvertOp(local.insert(position).results[0], result.element_type)
    become(op, position, local)


def become(op: Operation, new: Operation, local: Local) -> None:
    """Puts a new op of one result in the place of the hooked one."""
    local.insert(new)
    op.results[0].replace_all_uses_with(new.results[0])
    new.results[0].name_hint = op.results[0].name_hint
    assert op.parent is not None
    op.parent.erase_op(op)


HOOKS: dict[str, Callable[[Operation, Local], None]] = {
    "stablehlo.constant": _constant,
    "stablehlo.iota": _iota,
}
"""The hooks, by op name."""
