"""Emitters of what manual computations leave in the local stage: fetches, and values that do not vary."""

from __future__ import annotations

from xdsl.ir import Operation

from shardwright.dialects.dtensor.manual import FetchOp, UnvaryingOp
from shardwright.runtime.ledger import Message
from shardwright.runtime.lowering.emitters import Lowering, emitter
from shardwright.runtime.program import Value


@emitter("dtensor.fetch")
def _fetch(lowering: Lowering, op: Operation, operands: list[Value]) -> list[Value]:
    """One `take` along the leading dims of the op's axes, which may lie apart in memory."""
    assert isinstance(op, FetchOp)
    builder, atoms, (value,) = lowering.builder, lowering.atoms, operands
    axes, sources = op.axes.data, op.sources
    positions = atoms.positions(axes)
    size = atoms.mesh.group_size(axes)
    builder.count(Message("collective_permute", axes, size, builder.lead, op.moved_share()), operands)
    varies = any(value.shape[position] > 1 for position in positions)
    if not varies and -1 not in sources:
        return [value]
    lead = tuple(
        atoms.sizes[position] if position in positions else extent
        for position, extent in enumerate(value.shape[: builder.lead])
    )
    shape = lead + builder.local(value)
    return [builder.call("fetch", [builder.broadcast(value, shape)], shape, value.dtype, positions, sources)]


@emitter("dtensor.unvarying")
def _unvarying(lowering: Lowering, op: Operation, operands: list[Value]) -> list[Value]:
    """The first device's value stands for all of its group."""
    assert isinstance(op, UnvaryingOp)
    positions, (value,) = lowering.atoms.positions(op.axes.data), operands
    ranges = [(0, 1 if place in positions else extent, 1) for place, extent in enumerate(value.shape)]
    return [lowering.builder.slice(value, ranges)]
