"""
Local hooks: what an op needs beyond new types when its result is split.

A hook sees the op with per-device types, the layout of its result and the mesh. It edits the op in place and gives
None, or puts ops in front of it and gives the values that take the place of its results; no decisions are left to it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from xdsl.dialects.builtin import i32
from xdsl.ir import Attribute, Operation, SSAValue

from shardwright.dialects import dtensor, stablehlo
from shardwright.dialects.building import Builder
from shardwright.dialects.types import element_of, is_integer, shape_of, tensor_type
from shardwright.layout.mesh import Mesh
from shardwright.layout.spec import LayoutSpec
from shardwright.rules.rule import Axes


@dataclass(frozen=True)
class Local(Builder):
    """Puts new ops in front of the hooked one, and knows the mesh and the layouts of the op's operands and results."""

    operands: tuple[LayoutSpec, ...]
    results: tuple[LayoutSpec, ...]
    mesh: Mesh

    @property
    def spec(self) -> LayoutSpec:
        """The layout of the first result."""
        return self.results[0]

    @property
    def split(self) -> bool:
        """Whether any dim of an operand or result is split: otherwise there is nothing to do."""
        return any(any(spec.dims) for spec in (*self.operands, *self.results))

    def index(self, axes: Axes, element: Attribute) -> SSAValue:
        """This device's place along some axes."""
        return self.cast(self.put(dtensor.AxisIndexOp(self.mesh.name, axes)), element)


Hook: TypeAlias = "Callable[[Any, Local], Sequence[SSAValue] | None]"


def run_hook(op: Operation, local: Local) -> None:
    """Runs the hook of an op, and puts the values that it gives in place of the op's results."""
    values = HOOKS[op.name](op, local)
    if values is None:
        return
    for result, value in zip(op.results, values, strict=True):
        result.replace_all_uses_with(value)
    assert op.parent is not None
    op.parent.erase_op(op)


def _constant(op: stablehlo.ConstantOp, local: Local) -> None:
    """A splat is a smaller splat; what has no elements has none on any device."""
    result = tensor_type(op.results[0])
    shape = shape_of(result)
    element = 0 if 0 in shape else stablehlo.splat_value(op)
    op.properties["value"] = stablehlo.make_dense(element, result.element_type, shape)


def _iota(op: stablehlo.IotaOp, local: Local) -> Sequence[SSAValue] | None:
    """
    Along a split dim a device counts from its own offset: local iota plus index times local size.

    It counts in integers and converts once, since a float would round both the offset and the sum.
    """
    axes = local.spec.dims[op.dim]
    if not axes:
        return None
    shape, wanted = shape_of(op.results[0]), element_of(op.results[0])
    element = wanted if is_integer(wanted) else i32
    offset = local.multiply(local.index(axes, element), local.literal(shape[op.dim], element))
    start = local.broadcast(offset, shape, ())
    return [local.cast(local.add(local.iota(op.dim, shape, element), start), wanted)]


HOOKS: dict[str, Hook] = {
    "stablehlo.constant": _constant,
    "stablehlo.iota": _iota,
}
"""The hooks, by op name."""
