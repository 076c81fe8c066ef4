"""JAX's arrays are split evenly, and empty ones not at all, where its programs take and give them."""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate, takewhile
from operator import mul

from xdsl.dialects.builtin import ModuleOp

from shardwright.compiler.stages import Traced
from shardwright.compiler.values import border_layouts
from shardwright.dialects.dtensor import ConstraintOp, layout_of, meshes, with_layout
from shardwright.dialects.types import shape_of
from shardwright.layout import Layout
from shardwright.layout.axes import Axis
from shardwright.layout.spec import LayoutSpec
from shardwright.passes.program import entry_function
from shardwright.passes.rewriter import insert_before, retype
from shardwright.passes.stages import uneven_values


def whole_where_empty(traced: Traced) -> Traced:
    """The program with whole results where they are empty and nobody said a layout: JAX gathers no such parts."""
    known = list(meshes(traced.module).values())
    if not known or not _free_and_empty(traced.module):
        return traced
    module = traced.module.clone()
    last = entry_function(module).get_return_op()
    assert last is not None
    for place in _free_and_empty(module):
        value = last.operands[place]
        spec = LayoutSpec(known[0].name, ((),) * len(shape_of(value)))
        constraint = ConstraintOp(value, spec, f"result {place}, which has no elements")
        last.operands[place] = insert_before(last, constraint).results[0]
    entry_function(module).update_function_type()
    return replace(traced, module=module)


def _free_and_empty(module: ModuleOp) -> list[int]:
    """The results without elements of which nobody said a layout."""
    last = entry_function(module).get_return_op()
    values = () if last is None else last.operands
    return [place for place, value in enumerate(values) if 0 in shape_of(value) and layout_of(value) is None]


def even_at_borders(traced: Traced, *, whole_axes: bool = False) -> Traced:
    """
    The program with even layouts for those of its arguments and results that propagation would split unevenly.

    With `whole_axes` none of them is split by a part of an axis either.
    """
    if not whole_axes and next(uneven_values(traced.module), None) is None:
        return traced
    decided = traced.propagate().module
    arguments, results = border_layouts(entry_function(decided), meshes(decided))
    module = traced.module.clone()
    function = entry_function(module)
    for argument, layout in zip(function.args, arguments, strict=True):
        if layout is not None and (spec := _even(layout, shape_of(argument), whole_axes)) != layout.spec:
            retype(argument, with_layout(argument.type, spec))
    last = function.get_return_op()
    assert last is not None
    for place, layout in enumerate(results):
        value = last.operands[place]
        if layout is not None and (spec := _even(layout, shape_of(value), whole_axes)) != layout.spec:
            constraint = ConstraintOp(value, spec, f"result {place}, which JAX takes in even parts of whole axes")
            last.operands[place] = insert_before(last, constraint).results[0]
    function.update_function_type()
    return replace(traced, module=module)


def _even(layout: Layout, shape: tuple[int, ...], whole_axes: bool) -> LayoutSpec:
    """The layout with as many of each dim's axes, from the major ones on, as divide it."""
    mesh, dims = layout.mesh, list[tuple[Axis, ...]]()
    for size, axes in zip(shape, layout.spec.dims, strict=True):
        usable = list(takewhile(lambda axis: axis.whole, axes)) if whole_axes else axes
        counts = accumulate(map(mesh.axis_size, usable), mul)
        dims.append(axes[: sum(size % count == 0 for count in counts)])
    return layout.spec.with_dims(tuple(dims))
