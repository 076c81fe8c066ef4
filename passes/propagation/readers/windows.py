"""Windows of one value that several ops need alike: they are exchanged once, whatever padding each of them wants."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from functools import reduce

from xdsl.dialects.builtin import ModuleOp, i32
from xdsl.ir import Block, SSAValue

from shardwright.dialects import dtensor, stablehlo
from shardwright.dialects.building import Builder, blocks_in
from shardwright.dialects.text.locations import fuse
from shardwright.dialects.types import element_of, shape_of
from shardwright.layout.mesh import Mesh
from shardwright.layout.planning.window import Window
from shardwright.passes.program import entry_function
from shardwright.passes.rewriter import insert_before, replace
from shardwright.passes.stages import MEMORY_LIMIT
from shardwright.rules.expansion import Site


def share_windows(module: ModuleOp) -> None:
    """
    Lets ops that need the same window of a value read one, as a convolution and a pool, or two convolutions, do.

    A window that has another padding becomes a choice by position. Where memory is limited each stays alone: what is
    shared is held for longer.
    """
    if MEMORY_LIMIT not in module.attributes:
        _share(entry_function(module).body.block, {}, dtensor.meshes(module))


def _share(block: Block, known: dict[Hashable, dtensor.WindowOp], meshes: dict[str, Mesh]) -> None:
    seen = dict(known)
    for op in list(block.ops):
        for inner in blocks_in(op):
            _share(inner, seen, meshes)
        if isinstance(op, dtensor.WindowOp):
            first = seen.setdefault(_key(op), op)
            shared = None if first is op else _as_padded(first, op, meshes[op.mesh_name])
            if shared is not None:
                first.location = fuse([first.location, op.location])
                replace(op, [shared])


def _key(op: dtensor.WindowOp) -> Hashable:
    """All that two windows must have in common but their padding."""
    others = {name: each for name, each in op.properties.items() if name not in ("padding", "reason")}
    return op.operands[0], op.result_types, frozenset(others.items())


def _as_padded(first: dtensor.WindowOp, op: dtensor.WindowOp, mesh: Mesh) -> SSAValue | None:
    """The first window with the padding of the other one, put in front of that; None where it is not known where."""
    windows, spec, value = op.windows(mesh), dtensor.layout_of(op.results[0]), first.results[0]
    if first.padding == op.padding or not any(window.pads for window in windows):
        return value
    if spec is None or spec.partial or op.padding is None or any(window.dilation != 1 for window in windows):
        return None
    site = Site(mesh, (spec.dims,), (spec.dims,), {}, "", lambda new: insert_before(op, new))
    build, shape = site.building(spec.dims), shape_of(value)
    found = [
        build.broadcast(mask, shape, (dim,))
        for dim, window in enumerate(windows)
        for mask in _inside(site.building(spec.dims[dim : dim + 1]), window)
    ]
    padding = build.literal(stablehlo.constant_value(op.padding), element_of(value), shape)
    return build.select(reduce(build.both, found), value, padding)


def _inside(build: Builder, window: Window) -> Iterator[SSAValue]:
    """Where along a dim of a window its elements come from the operand, if not everywhere."""
    if not window.pads:
        return
    size = (window.result,)

    def number(value: int) -> SSAValue:
        return build.literal(value, i32, size)

    place = build.iota(0, size)
    step = window.stride
    if window.frame:
        frame = build.divide(place, number(window.frame))
        within = build.subtract(place, build.multiply(frame, number(window.frame)))
        place = build.add(build.multiply(frame, number(window.step)), build.multiply(within, number(step)))
    elif step != 1:
        place = build.multiply(place, number(step))
    place = build.add(place, number(window.start))
    yield build.compare(place, "GE", number(0))
    yield build.compare(place, "LT", number(window.operand))
