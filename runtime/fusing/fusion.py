"""
Groups of element-wise steps and row reductions that run together, block by block, while blocks stay in the cache.

A group has an iteration space; each member covers some of its dims. A group stays open while only members read what
members made, so that joining can never close a cycle; the first other reader closes it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from shardwright.runtime.planning.strided import Strided
from shardwright.runtime.program import Kind, Step, Value, root_of

Places = tuple[int | None, ...]
"""For each dim of a value its iteration dim; `None` for dims of size 1."""

MINIMUM_ROWS = 4
"""A reduction joins a group only when at least so many of its results remain to be shared out."""


@dataclass(eq=False)
class Group:
    """Steps over one iteration space; `order` lists the space's dims, major to minor in memory."""

    extents: list[int] = field(default_factory=list[int])
    members: list[Step] = field(default_factory=list[Step])
    places: dict[Value, Places] = field(default_factory=dict[Value, Places])
    spaces: dict[Step, Places] = field(default_factory=dict[Step, Places])
    reads: dict[tuple[Value, Places], None] = field(default_factory=dict[tuple[Value, Places], None])
    order: list[int] = field(default_factory=list[int])
    reduced: set[int] = field(default_factory=set[int])

    def add_dims(self, extents: Sequence[int]) -> list[int]:
        """New iteration dims, minor to all others."""
        start = len(self.extents)
        self.extents += extents
        added = list(range(start, len(self.extents)))
        self.order += added
        return added


def trace(value: Value) -> tuple[Value, Places]:
    """
    The value behind transposes, broadcasts and reshapes that only add or drop dims of size 1.

    With it comes, for each dim of `value`, the dim of the found value (`None` where repeated or of size 1).
    """
    places: list[int | None] = [dim if extent > 1 else None for dim, extent in enumerate(value.shape)]
    while (step := value.producer) is not None:
        source = step.operands[0] if step.operands else value
        if step.kind is Kind.TRANSPOSE:
            inward: list[int | None] = list(step.static[0])
        elif step.kind is Kind.BROADCAST:
            inward = [dim if extent > 1 else None for dim, extent in enumerate(source.shape)]
        elif step.kind is Kind.RESHAPE and _only_units(source.shape, value.shape):
            kept = iter([dim for dim, extent in enumerate(source.shape) if extent > 1])
            inward = [next(kept) if extent > 1 else None for extent in value.shape]
        else:
            break
        places = [None if dim is None else inward[dim] for dim in places]
        value = source
    return value, tuple(places)


def _only_units(source: Sequence[int], target: Sequence[int]) -> bool:
    return [n for n in source if n != 1] == [n for n in target if n != 1]


@dataclass
class Fuser:
    """
    Decides which group each step joins.

    `emit` is called with each group when it closes; `layout` gives the window of a value that lies in memory.
    """

    emit: Callable[[Group], None]
    layout: Callable[[Value], Strided]
    open: dict[Value, Group] = field(default_factory=dict[Value, Group])

    def close_for(self, values: Sequence[Value]) -> None:
        """Closes the groups that make these values, which a step outside of them is about to read."""
        for value in values:
            root = root_of(value)
            if root in self.open:
                self._close(self.open[root])

    def close_all(self) -> None:
        """Closes every group, in the order in which they began."""
        for group in list(dict.fromkeys(self.open.values())):
            self._close(group)

    def _close(self, group: Group) -> None:
        for step in group.members:
            del self.open[step.results[0]]
        self.emit(group)

    def join(self, step: Step) -> bool:
        """Puts a step into a group, an old or a new one; `False` when it must stand alone."""
        traced = [trace(operand) for operand in step.operands if operand.splat is None]
        self.close_for([root for root, _ in traced if root not in self.open])
        extents = step.operands[0].shape if step.kind is Kind.REDUCE else step.results[0].shape
        joined: Group | None = None
        space: list[int | None] = [None] * len(extents)
        for root, places in traced:
            group = self.open.get(root)
            if group is None or group is joined:
                continue
            found = _compose(places, group.places[root])
            if joined is None:
                joined, space = group, list(found)
            elif not self._merge(joined, space, group, found):
                self._close(group)
        if joined is not None and not _all_agree(space, traced, joined):
            self._close(joined)
            return self.join(step)
        return self._enter(step, joined, space, traced, extents)

    def _enter(
        self,
        step: Step,
        group: Group | None,
        space: list[int | None],
        traced: Sequence[tuple[Value, Places]],
        extents: Sequence[int],
    ) -> bool:
        outside = [(root, places) for root, places in traced if root not in self.open]
        ordered = self._memory_order(outside)
        missing = [dim for dim, extent in enumerate(extents) if extent > 1 and space[dim] is None]
        if group is not None and missing and not _minor(missing, ordered, space):
            self._close(group)
            return self.join(step)
        if step.kind is Kind.REDUCE and not self._may_reduce(step, group, space, ordered, extents):
            return False
        group = group or Group()
        rank = {dim: at for at, dim in enumerate(ordered)}
        missing.sort(key=lambda dim: rank.get(dim, len(rank) + dim))
        for dim in missing:
            unused = [p for p in group.order if group.extents[p] == extents[dim] and p not in space]
            space[dim] = unused[0] if unused else group.add_dims([extents[dim]])[0]
        self._record(step, group, space, outside)
        return True

    def _record(
        self, step: Step, group: Group, space: list[int | None], outside: Sequence[tuple[Value, Places]]
    ) -> None:
        for root, places in outside:
            group.reads[root, inward(root, places, space)] = None
        result = step.results[0]
        group.spaces[step] = tuple(space)
        if step.kind is Kind.REDUCE:
            dims = step.static[0]
            group.reduced.update(place for dim in dims if (place := space[dim]) is not None)
            space = [None if dim in dims else place for dim, place in enumerate(space)]
        group.members.append(step)
        group.places[result] = tuple(space)
        self.open[result] = group

    def _memory_order(self, outside: Sequence[tuple[Value, Places]]) -> list[int]:
        """The step's dims as they lie in memory in the widest operand from outside, major to minor."""
        best: list[int] = []
        for root, places in outside:
            inward = {place: dim for dim, place in enumerate(places) if place is not None}
            dims = [inward[place] for place in self.layout(root).order() if place in inward]
            best = dims if len(dims) > len(best) else best
        return best

    def _may_reduce(
        self,
        step: Step,
        group: Group | None,
        space: Sequence[int | None],
        ordered: Sequence[int],
        extents: Sequence[int],
    ) -> bool:
        """Whether the reduced dims are minor in memory, enough rows remain, and no dim is only repeated."""
        dims = [dim for dim in step.static[0] if extents[dim] > 1]
        _, places = trace(step.operands[0])
        if any(place is None and extent > 1 for place, extent in zip(places, extents, strict=True)):
            return False
        if math.prod(step.results[0].shape) < MINIMUM_ROWS:
            return False
        order: list[int | None] = list(ordered)
        if group is not None:
            places = {place: dim for dim, place in enumerate(space) if place is not None}
            order = [places.get(place) for place in group.order if place in places] + [
                dim for dim in ordered if space[dim] is None
            ]
        return set(order[len(order) - len(dims) :]) == set(dims)

    def _merge(self, group: Group, space: list[int | None], other: Group, found: Sequence[int | None]) -> bool:
        """Takes another group's members into this one, its dims identified through the step that reads both."""
        known = {there: space[dim] for dim, there in enumerate(found) if there is not None and space[dim] is not None}
        if len(set(known.values())) != len(known):
            return False
        fresh = [dim for dim in other.order if dim not in known]
        spare = [place for place in group.order if place not in known.values()]
        if [known[dim] for dim in other.order if dim in known] != [p for p in group.order if p in known.values()]:
            return False
        if not _is_prefix(other.order, set(known)) or not _is_prefix(group.order, set(known.values())):
            return False
        for dim in fresh:
            same = [place for place in spare if group.extents[place] == other.extents[dim] and place not in space]
            if spare and not same:
                return False
            known[dim] = same[0] if same else group.add_dims([other.extents[dim]])[0]
            if same:
                spare.remove(same[0])
        self._absorb(group, other, known)
        for dim, there in enumerate(found):
            if there is not None:
                space[dim] = known[there]
        return True

    def _absorb(self, group: Group, other: Group, known: dict[int, int | None]) -> None:
        for value, places in other.places.items():
            group.places[value] = _compose(places, known)
            self.open[value] = group
        for step, places in other.spaces.items():
            group.spaces[step] = _compose(places, known)
        for value, places in other.reads:
            group.reads[value, _compose(places, known)] = None
        group.members += other.members
        group.reduced.update(place for dim in other.reduced if (place := known[dim]) is not None)


def _compose(places: Sequence[int | None], inward: Sequence[int | None] | dict[int, int | None]) -> Places:
    return tuple(None if place is None else inward[place] for place in places)


def _agree(space: list[int | None], places: Sequence[int | None]) -> bool:
    """Whether an operand's dims lie where the step's do; fills in those that the step does not know yet."""
    for dim, place in enumerate(places):
        if place is None:
            continue
        if space[dim] is None and place not in space:
            space[dim] = place
        elif space[dim] != place:
            return False
    return True


def _all_agree(space: list[int | None], traced: Sequence[tuple[Value, Places]], group: Group) -> bool:
    """Whether all operands, those from outside that the group reads already too, fit one assignment of dims."""
    if not all(_agree(space, _compose(places, group.places[root])) for root, places in traced if root in group.places):
        return False
    known = dict(group.reads)
    for root, places in traced:
        for value, inward in known:
            if value is root:
                trial = list(space)
                if _agree(trial, _compose(places, inward)):
                    space[:] = trial
                break
    return True


def inward(root: Value, places: Places, space: Sequence[int | None]) -> Places:
    """The iteration dim of each dim of an operand's root, given those of the step's dims."""
    found: list[int | None] = [None] * len(root.shape)
    for dim, place in enumerate(places):
        if place is not None:
            found[place] = space[dim]
    return tuple(found)


def _is_prefix(order: Sequence[int], dims: set[int | None]) -> bool:
    return set(order[: len(dims)]) == dims


def _minor(missing: Sequence[int], ordered: Sequence[int], space: Sequence[int | None]) -> bool:
    """Whether the dims that a group lacks are minor to those that it has, in the operand that brings them."""
    present = [at for at, dim in enumerate(ordered) if space[dim] is not None]
    fresh = [at for at, dim in enumerate(ordered) if dim in missing]
    return not present or not fresh or max(present) < min(fresh)
