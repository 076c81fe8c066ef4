"""What the rooms below and beside this one ask about values of a program, whatever its stage."""

from __future__ import annotations

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Operation, SSAValue

from shardwright.dialects.dtensor import layout_of
from shardwright.dialects.types import plain
from shardwright.layout.spec import LayoutSpec
from shardwright.passes.rewriter import retype


def layout_at(value: SSAValue) -> LayoutSpec:
    """The layout of a value that is known to have one."""
    spec = layout_of(value)
    assert spec is not None
    return spec


def drop_layouts(op: Operation) -> None:
    """Takes the layouts out of the types of what an op makes, and of what its regions take."""
    arguments = [argument for region in op.regions for block in region.blocks for argument in block.args]
    for value in (*op.results, *arguments):
        if isinstance(value.type, TensorType):
            retype(value, plain(value.type))
