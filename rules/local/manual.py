"""
Hooks of manual computations: casts disappear, and the user's collectives become ours.

Types are per device by now, so a collective sees what it would see in a program that was written for one device.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from shardwright.dialects import dtensor
from shardwright.dialects.dtensor.manual import FromManualOp, ToManualOp, UnvaryingOp
from shardwright.dialects.stablehlo import collectives
from shardwright.dialects.stablehlo.collectives import GroupedOp, ReplicaGroups
from shardwright.dialects.text.locations import fault, where
from shardwright.dialects.types import element_of, is_boolean, shape_of, tensor
from shardwright.layout.axes import Axis
from shardwright.rules.local.hooks import HOOKS, Local
from shardwright.rules.reductions import MONOIDS

COMBINERS = {combiner: monoid.kind for combiner, monoid in MONOIDS.items()}
"""How devices combine, by the op that the user's body applies."""


def combiner_kind(op: collectives.AllReduceOp | collectives.ReduceScatterOp) -> str:
    """How the devices of `op` combine; SW0461 for a body that is not one of these combiners."""
    kind = COMBINERS.get(op.combines or Operation)
    if kind in ("sum", "prod") and is_boolean(element_of(op.operands[0])):
        kind = "or" if kind == "sum" else "and"
    if kind is None:
        raise fault(
            "SW0461",
            f"'{op.name}' combines by a body that is not one op of its two arguments",
            op,
            help=f"use one of {', '.join(combiner.name for combiner in COMBINERS)}",
        )
    return kind


def groups_of(op: GroupedOp) -> ReplicaGroups:
    """The mesh axes of an explicit collective; SW0460 for groups that are still listed."""
    groups = op.groups
    if groups is None:
        raise fault(
            "SW0460", f"'{op.name}' lists its groups", op, help="run import-sdy first: it finds their mesh axes"
        )
    return groups


def reason_of(op: Operation) -> str:
    """Why the collective is there."""
    place = where(op)
    return f"{op.name} written by the user{f' at {place}' if place else ''}"


def _to_manual(op: ToManualOp, local: Local) -> Sequence[SSAValue]:
    """A device's part outside is all that it has inside."""
    return [op.operand]


def _from_manual(op: FromManualOp, local: Local) -> Sequence[SSAValue]:
    """The same outwards; along manual axes that split no dim the value must not vary."""
    alike = op.unnamed(local.mesh)
    return [local.put(UnvaryingOp(op.operand, local.mesh.name, alike)) if alike else op.operand]


def _all_reduce(op: collectives.AllReduceOp, local: Local) -> Sequence[SSAValue]:
    axes, kind = groups_of(op).axes, combiner_kind(op)
    types = [value.type for value in op.inputs]
    made = dtensor.AllReduceOp(list(op.inputs), types, local.mesh.name, axes, kind, reason_of(op))
    return local.insert(made).results


def _along(rank: int, dim: int, axes: tuple[Axis, ...]) -> tuple[tuple[Axis, ...], ...]:
    return tuple(axes if number == dim else () for number in range(rank))


def _all_gather(op: collectives.AllGatherOp, local: Local) -> Sequence[SSAValue]:
    axes, reason = groups_of(op).axes, reason_of(op)
    made = [
        dtensor.AllGatherOp(value, result.type, local.mesh.name, _along(len(shape_of(value)), op.dim, axes), reason)
        for value, result in zip(op.inputs, op.outputs, strict=True)
    ]
    return [local.put(each) for each in made]


def _reduce_scatter(op: collectives.ReduceScatterOp, local: Local) -> Sequence[SSAValue]:
    dim_axes = _along(len(shape_of(op.operand)), op.dim, groups_of(op).axes)
    made = dtensor.ReduceScatterOp(
        op.operand, op.result.type, local.mesh.name, dim_axes, combiner_kind(op), reason_of(op)
    )
    return [local.put(made)]


def _all_to_all(op: collectives.AllToAllOp, local: Local) -> Sequence[SSAValue]:
    """Along one dim: the parts get a dim of their own, so that one dim is cut and another joined."""
    axes, reason = groups_of(op).axes, reason_of(op)
    split, concat = op.dims
    made: list[SSAValue] = []
    for value, result in zip(op.inputs, op.outputs, strict=True):
        if split != concat:
            moved = dtensor.AllToAllOp(value, result.type, local.mesh.name, axes, concat, split, reason)
            made.append(local.put(moved))
            continue
        shape, count = shape_of(value), op.count
        parted = (*shape[:split], 1, count, shape[split] // count, *shape[split + 1 :])
        joined = (*shape[:split], count, 1, shape[split] // count, *shape[split + 1 :])
        parts, type_ = local.reshape(value, parted), tensor(joined, element_of(value))
        moved = dtensor.AllToAllOp(parts, type_, local.mesh.name, axes, split, split + 1, reason)
        made.append(local.reshape(local.put(moved), shape))
    return made


HOOKS["dtensor.to_manual"] = _to_manual
HOOKS["dtensor.from_manual"] = _from_manual
HOOKS["stablehlo.all_reduce"] = _all_reduce
HOOKS["stablehlo.all_gather"] = _all_gather
HOOKS["stablehlo.reduce_scatter"] = _reduce_scatter
HOOKS["stablehlo.all_to_all"] = _all_to_all

ALWAYS = frozenset(
    {"dtensor.to_manual", "dtensor.from_manual", "dtensor.roll"}
    | {op.name for op in collectives.COLLECTIVE_OPS if op.name in HOOKS}
)
"""Ops that are no ops of the local stage: their hooks run even where nothing is split."""
