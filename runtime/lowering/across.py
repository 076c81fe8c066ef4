"""
The part of collectives that crosses processes: each is one step for the program's communicator.

Along atoms across processes a value has size 1 here, whether it differs there or not; `Value.across` says which. What a
program sends is the plan's to say, and what MPI is handed is what the plan said: a collective along such atoms sends
whether they differ there or not.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from shardwright.layout.spec import LayoutSpec
from shardwright.runtime.atoms import Atoms, DimAtoms
from shardwright.runtime.lowering.emitters import Lowering
from shardwright.runtime.processes.crossing import Group, Reduction, Side, Wanted, plan_exchange, plan_recut
from shardwright.runtime.program import Value


def crossed(lowering: Lowering, positions: Iterable[int]) -> tuple[int, ...]:
    """Those of these atoms that lie across processes."""
    return tuple(position for position in positions if position in lowering.atoms.across)


def all_reduce(lowering: Lowering, value: Value, kind: str, crossing: Sequence[int]) -> Value:
    """The value combined over processes that differ along these atoms."""
    if not crossing:
        return value
    plan = Reduction(Group.along(crossing, lowering.atoms), kind)
    return lowering.builder.send("all_reduce", value, plan, value.shape, value.across.difference(crossing))


def reduce_scatter(lowering: Lowering, value: Value, kind: str, dims: DimAtoms, crossing: Sequence[int]) -> Value:
    """
    The value combined over processes that differ along `crossing`; each keeps the parts of the dims with its digits.

    Of dims that atoms of this process split, too, the parts of these stay side by side.
    """
    if not crossing:
        return value
    builder, atoms, count = lowering.builder, lowering.atoms, lowering.builder.lead
    parts, places, _ = atoms.splitting(value.shape, dims)
    ordered = sorted(crossing)
    digits = [places[position] for position in ordered]
    rest = [at for at in range(len(parts)) if at not in digits]
    split = builder.transpose(builder.reshape(value, parts), [*digits, *rest])
    kept = tuple(parts[at] for at in rest)
    rows = builder.reshape(split, (math.prod(parts[at] for at in digits), *kept))
    plan = Reduction(Group.along(ordered, atoms), kind)
    part = builder.send("reduce_scatter", rows, plan, kept, value.across)
    local = [
        extent // atoms.group_size([position for position in positions if position in crossing])
        for extent, positions in zip(builder.local(value), dims, strict=True)
    ]
    return builder.reshape(part, (*value.shape[:count], *local))


def exchange(
    lowering: Lowering,
    value: Value,
    before: DimAtoms,
    after: DimAtoms,
    reads: Sequence[np.ndarray[Any, Any] | None] = (),
    fill: Any = 0,
) -> Value:
    """
    The value whose dims `before` split, as a process wants it: the elements with its digits along `after`'s atoms.

    Of dims that atoms of this process split, too, the parts of these lie side by side. `reads` says what is read at
    each place of a dim, where that is not simply the element there.
    """
    builder, atoms, count = lowering.builder, lowering.atoms, lowering.builder.lead
    crossing = crossed(lowering, [position for positions in before for position in positions])
    here = tuple(tuple(at for at in positions if at not in crossing) for positions in before)
    full, order, shape = atoms.merging(value.shape, here)
    merged = builder.reshape(builder.transpose(builder.broadcast(value, full), order), shape)
    there = tuple(tuple(at for at in positions if at in crossing) for positions in before)
    extents = [
        extent * atoms.group_size(positions) for extent, positions in zip(merged.shape[count:], there, strict=True)
    ]
    shown = tuple(None if read is None else read.tobytes() for read in reads)
    key = atoms.axes, merged.shape, before, crossing, tuple(extents), after, shown, np.asarray(fill).tobytes()
    if key not in lowering.plans:
        wanted = Wanted(extents, after, atoms, reads)
        lowering.plans[key] = plan_exchange(merged.shape[:count], before, crossing, wanted, fill)
    plan = lowering.plans[key]
    differs = value.across.difference(crossing).union(at for each in after for at in each if at in atoms.across)
    return builder.send("exchange", merged, plan, plan.result_shape, differs)


def recut(before: Lowering, after: Lowering, value: Value, source: LayoutSpec, target: LayoutSpec) -> Value:
    """
    The same from the atoms of `before` to those of `after`, which cut axes in ways that cross: what `target` wants.

    The value differs along the axes of `source` alone. Of those who have an element, one gives it.
    """
    builder, count, dims = before.builder, before.builder.lead, before.atoms.dims(source)
    names = {axis.name for spec in (source, target) for axes in spec.dims for axis in axes}
    ends = [_moving(names, each.atoms, spec) for each, spec in ((before, source), (after, target))]
    full, order, shape = before.atoms.merging(value.shape, before.atoms.held_dims(dims))
    merged = builder.reshape(builder.transpose(builder.broadcast(value, full), order), shape)
    if ends[0]:
        there = [before.atoms.group_size(at for at in positions if at in ends[0]) for positions in dims]
        extents = [extent * parts for extent, parts in zip(merged.shape[count:], there, strict=True)]
        sides = (
            Side.along(ends[0], before.atoms, dims),
            Side.along(ends[1], after.atoms, after.atoms.dims(target)),
        )
        plan = plan_recut(merged.shape[:count], extents, *sides, Group.along(ends[0], before.atoms))
        merged = builder.send("exchange", merged, plan, plan.result_shape, value.across.difference(ends[0]))
    fitted = before.refitted(merged, before.atoms, after.atoms)
    differs = fitted.across.union(after.atoms.across.intersection(after.atoms.positions(target.axes())))
    return fitted if differs == fitted.across else builder.differing(fitted, differs)


def _moving(names: Collection[str], atoms: Atoms, spec: LayoutSpec) -> tuple[int, ...]:
    """The atoms across processes of some axes, along which partial results do not differ."""
    partial = atoms.positions(spec.partial)
    return tuple(at for at in sorted(atoms.across) if atoms.axes[at].name in names and at not in partial)


def own_part(lowering: Lowering, value: Value, places: Mapping[int, int]) -> Value:
    """Of dims that are the digits of atoms across processes (by atom, where they lie) this process's part."""
    atoms = lowering.atoms
    own = {place: atoms.coordinates[position] for position, place in places.items() if position in atoms.across}
    if not own:
        return value
    ranges = [(own.get(at, 0), own[at] + 1 if at in own else extent, 1) for at, extent in enumerate(value.shape)]
    part = lowering.builder.slice(value, ranges)
    if part is not value and part.splat is None:
        part.across = value.across.union(position for position in places if position in atoms.across)
    return part
