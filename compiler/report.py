"""What a planned program will send, and why: report data, read from the IR alone."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from shardwright.diagnostics import SourceLocation
from shardwright.dialects import dtensor
from shardwright.dialects.dtensor import CollectiveOp, layout_of
from shardwright.dialects.locations import where
from shardwright.dialects.types import element_dtype, element_of, shape_of
from shardwright.layout.cost import sent_share
from shardwright.layout.mesh import Mesh


@dataclass(frozen=True)
class CollectiveRow:
    """
    One collective of a planned program.

    `bytes_per_device` is what each device sends (on average), None where an exact count would take too long.
    `source` is the user's line that asked for it, `reason` what the partitioner recorded.
    """

    kind: str
    arguments: str
    axes: tuple[str, ...]
    tensors: tuple[str, ...]
    bytes_per_device: Fraction | None
    source: SourceLocation | None
    reason: str


def collective_rows(module: ModuleOp) -> list[CollectiveRow]:
    """Each collective of a planned module, in program order."""
    meshes = dtensor.meshes(module)
    return [_row(op, meshes[op.mesh_name]) for op in _collectives(module)]


def predicted_bytes(module: ModuleOp) -> Fraction | None:
    """The bytes that each device will send; None where one collective's exact figure is unknown."""
    total = Fraction()
    meshes = dtensor.meshes(module)
    for op in _collectives(module):
        sent = sent_by(op, meshes[op.mesh_name])
        if sent is None:
            return None
        total += sent
    return total


def sent_by(op: CollectiveOp, mesh: Mesh) -> Fraction | None:
    """The bytes that each device sends for one planned collective."""
    total = Fraction()
    for operand, result in zip(op.inputs, op.outputs, strict=True):
        before, after = layout_of(operand), layout_of(result)
        assert before is not None
        assert after is not None
        share = sent_share(_kind(op), before, after, mesh)
        if share is None:
            return None
        total += share * global_bytes(operand)
    return total


def global_bytes(value: SSAValue) -> int:
    """The bytes of the whole tensor."""
    return element_dtype(value.type).itemsize * math.prod(shape_of(value))


def _collectives(module: ModuleOp) -> Iterator[CollectiveOp]:
    return (op for op in module.walk() if isinstance(op, CollectiveOp))


def _kind(op: CollectiveOp) -> str:
    return op.name.partition(".")[2]


def _row(op: CollectiveOp, mesh: Mesh) -> CollectiveRow:
    return CollectiveRow(
        kind=_kind(op),
        arguments=op.arguments_text(),
        axes=_moved_axes(op),
        tensors=tuple(_brief(value) for value in op.inputs),
        bytes_per_device=sent_by(op, mesh),
        source=where(op),
        reason=op.reason.data if op.reason is not None else "",
    )


def _moved_axes(op: CollectiveOp) -> tuple[str, ...]:
    """The axes whose place in the layout changes, in the order of the layouts."""
    before, after = layout_of(op.inputs[0]), layout_of(op.outputs[0])
    assert before is not None
    assert after is not None
    places = [
        {axis: place for place, dim in enumerate((*spec.dims, spec.partial)) for axis in dim}
        for spec in (before, after)
    ]
    axes = dict.fromkeys([*before.axes(), *after.axes()])
    return tuple(axis.brief() for axis in axes if places[0].get(axis) != places[1].get(axis))


def _brief(value: SSAValue) -> str:
    spec = layout_of(value)
    assert spec is not None
    return spec.brief(shape_of(value), str(element_of(value)))
