"""
Updates at a known place: of what is written into a split dim a device receives what falls into its part.

A `dynamic_update_slice` whose dims are split needs its update whole along those that it writes in part, since anything
may be written anywhere. Where the starts are constants, the place of each element is known: an update that would be
gathered is moved to its place by a window instead, and chosen where it is.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce

from xdsl.dialects.builtin import ModuleOp, i32
from xdsl.ir import Operation, SSAValue

from shardwright.dialects import dtensor, stablehlo
from shardwright.dialects.building import Builder
from shardwright.dialects.types import element_of, shape_of
from shardwright.layout.mesh import Mesh
from shardwright.layout.planning.planner import cost_share
from shardwright.layout.planning.window import Window, missing_elements
from shardwright.layout.spec import LayoutSpec
from shardwright.passes.rewriter import erase, insert_before, replace, retype

__all__ = ["place_updates"]


def place_updates(module: ModuleOp) -> None:
    """Moves updates by windows where that sends less than to have them whole, in an aligned module."""
    meshes = dtensor.meshes(module)
    for op in list(module.walk()):
        if isinstance(op, stablehlo.DynamicUpdateSliceOp):
            _place(op, meshes)


def _place(op: stablehlo.DynamicUpdateSliceOp, meshes: Mapping[str, Mesh]) -> None:
    relayout, spec, windows = op.update.owner, dtensor.layout_of(op.result), _windows(op)
    if not isinstance(relayout, dtensor.RelayoutOp) or spec is None or windows is None:
        return
    source, whole = dtensor.layout_of(relayout.operand), dtensor.layout_of(op.update)
    assert source is not None
    assert whole is not None
    mesh, only = meshes[spec.mesh], len(list(relayout.result.uses)) == 1
    counts = [mesh.group_size(axes) for axes in spec.dims]
    fits = not any(size % count for size, count in zip(shape_of(op.update), counts, strict=True))
    if not only or not fits or spec.partial or source.partial:
        return
    if _price(source, spec, windows, mesh) < cost_share(source, whole, shape_of(op.update), mesh):
        _move(op, relayout, spec, windows)
        erase(relayout)


def _windows(op: stablehlo.DynamicUpdateSliceOp) -> list[Window] | None:
    """How each dim of the result shows the update; None where its place is not known."""
    found: list[Window] = []
    for start, size, total in zip(op.start_indices, shape_of(op.update), shape_of(op.result), strict=True):
        if not isinstance(start.owner, stablehlo.ConstantOp):
            return None
        first = min(max(int(stablehlo.splat_value(start.owner)), 0), total - size)
        found.append(Window(size, total, -first))
    return found


def _price(source: LayoutSpec, spec: LayoutSpec, windows: Sequence[Window], mesh: Mesh) -> float:
    """What a device sends, as a share of the update, to split it as the result and move it to its place."""
    shape = tuple(window.operand for window in windows)
    moves = [(window, mesh.group_size(axes)) for window, axes in zip(windows, spec.dims, strict=True) if window.moves]
    others = math.prod(
        mesh.group_size(axes) for window, axes in zip(windows, spec.dims, strict=True) if not window.moves
    )
    moved = float(missing_elements(moves)) / (others * math.prod(window.operand for window, _ in moves))
    return cost_share(source, spec, shape, mesh) + moved


def _move(
    op: stablehlo.DynamicUpdateSliceOp, relayout: dtensor.RelayoutOp, spec: LayoutSpec, windows: Sequence[Window]
) -> None:
    reason = None if relayout.reason is None else relayout.reason.data
    value = relayout.operand
    if dtensor.layout_of(value) != spec:
        value = insert_before(op, dtensor.RelayoutOp(value, spec, reason or "")).results[0]
    axes = [axes if window.moves else () for window, axes in zip(windows, spec.dims, strict=True)]
    padding = stablehlo.make_constant(0, element_of(op.result), ()).value
    placed = dtensor.WindowOp(value, op.result.type, spec.mesh, axes, windows, padding, reason)
    insert_before(op, placed)
    build = _builder(op, spec)
    written = reduce(build.both, list(_inside(build, windows)))
    replace(op, [build.select(written, placed.results[0], op.operand)])


def _inside(build: Builder, windows: Sequence[Window]) -> Iterator[SSAValue]:
    """Where along each dim that is written in part the update lies."""
    shape = [window.result for window in windows]
    for dim, window in enumerate(windows):
        for border, direction in ((-window.start, "GE"), (window.operand - window.start, "LT")):
            if 0 < border < window.result:
                yield build.compare(build.iota(dim, shape), direction, build.literal(border, i32, shape))


def _builder(op: Operation, spec: LayoutSpec) -> Builder:
    """Builds in front of an op, in one layout."""

    def insert(new: Operation) -> Operation:
        for result in new.results:
            retype(result, dtensor.with_layout(result.type, spec))
        return insert_before(op, new)

    return Builder(insert)
