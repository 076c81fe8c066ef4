"""What the rooms below and beside this one ask about values of a program, whatever its stage."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import repeat

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue

from shardwright.dialects.building import returned
from shardwright.dialects.dtensor import layout_of
from shardwright.dialects.types import plain, shape_of
from shardwright.layout import Layout, Mesh
from shardwright.layout.planning.algebra import whole_shape
from shardwright.layout.spec import LayoutSpec
from shardwright.passes.rewriter import retype
from shardwright.passes.stages import GLOBAL_TYPE_ARGUMENT


def layout_at(value: SSAValue) -> LayoutSpec:
    """The layout of a value that is known to have one."""
    spec = layout_of(value)
    assert spec is not None
    return spec


def border_layouts(function: FuncOp, known: Mapping[str, Mesh]) -> tuple[list[Layout | None], list[Layout | None]]:
    """The layouts of the arguments and of the results of an entry function, uneven where these have padding."""
    sides = (function.args, function.arg_attrs), (returned(function.body.block), function.res_attrs)
    arguments, results = ([layout_for(*pair, known) for pair in _with_attributes(*side)] for side in sides)
    return arguments, results


def _with_attributes(
    values: Sequence[SSAValue], attributes: ArrayAttr[DictionaryAttr] | None
) -> Iterator[tuple[SSAValue, Mapping[str, Attribute]]]:
    return zip(values, [entry.data for entry in attributes] if attributes is not None else repeat({}), strict=False)


def layout_for(value: SSAValue, entry: Mapping[str, Attribute], known: Mapping[str, Mesh]) -> Layout | None:
    """The layout of an argument or a result, of which a function says this."""
    spec = layout_of(value)
    if spec is None:
        return None
    mesh = known[spec.mesh]
    shape = shape_of(entry.get(GLOBAL_TYPE_ARGUMENT, value.type))
    return Layout.from_spec(spec, mesh, uneven=whole_shape(spec, shape, mesh) != shape)


def drop_layouts(op: Operation) -> None:
    """Takes the layouts out of the types of what an op makes, and of what its regions take."""
    arguments = [argument for region in op.regions for block in region.blocks for argument in block.args]
    for value in (*op.results, *arguments):
        if isinstance(value.type, TensorType):
            retype(value, plain(value.type))
