"""
Groups of element-wise steps and row reductions that run together, block by block, while blocks stay in the cache.

A group has an iteration space; each member covers some of its dims. A group stays open while only members read what
members made, so that joining can never close a cycle; the first other reader closes it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from shardwright.runtime.planning.strided import Strided
from shardwright.runtime.program import Kind, Step, Value, root_of

Places = tuple[int | None, ...]
"""For each dim of a value its iteration dim; `None` for dims of size 1."""

Source = tuple[Value, Places]
"""What an operand shows, as `trace` finds it."""

_MINIMUM_ROWS = 4
"""A reduction joins a group only when at least so many of its results remain to be shared out."""


@dataclass(eq=False)
class Group:
    """Steps over one iteration space; `order` lists the space's dims, major to minor in memory."""

    extents: list[int] = field(default_factory=list[int])
    members: list[Step] = field(default_factory=list[Step])
    places: dict[Value, Places] = field(default_factory=dict[Value, Places])
    spaces: dict[Step, Places] = field(default_factory=dict[Step, Places])
    sources: dict[Step, list[Source]] = field(default_factory=dict[Step, list[Source]])
    """What each operand of a member shows."""
    reads: dict[tuple[Value, Places], None] = field(default_factory=dict[tuple[Value, Places], None])
    read_at: dict[Value, Places] = field(default_factory=dict[Value, Places])
    """The places of the first read of each value."""
    order: list[int] = field(default_factory=list[int])
    reduced: set[int] = field(default_factory=set[int])

    def add_read(self, value: Value, places: Places) -> None:
        """One more access to a value of memory, or to one that is read so already."""
        self.reads[value, places] = None
        self.read_at.setdefault(value, places)

    def add_dims(self, extents: Sequence[int]) -> list[int]:
        """New iteration dims, minor to all others."""
        start = len(self.extents)
        self.extents += extents
        added = list(range(start, len(self.extents)))
        self.order += added
        return added


def trace(value: Value) -> Source:
    """
    The value behind transposes, broadcasts and reshapes that only add or drop dims of size 1.

    With it comes, for each dim of `value`, the dim of the found value (`None` where repeated or of size 1).
    """
    places: Places = tuple([dim if extent > 1 else None for dim, extent in enumerate(value.shape)])
    while (step := value.producer) is not None and (behind := _behind(step)) is not None:
        places = _compose(places, behind)
        value = step.operands[0]
    return value, places


def _behind(step: Step) -> Sequence[int | None] | None:
    """
    The dim of a view's operand for each dim of its result; `None` where the step is no view dim by dim.

    Slices and reshapes that cut or merge dims end the trace: a block of their result is no block of their operand.
    """
    source, target = step.operands[0].shape if step.operands else (), step.results[0].shape
    if step.kind is Kind.TRANSPOSE:
        return step.static[0]
    if step.kind is Kind.BROADCAST:
        return [dim if extent > 1 else None for dim, extent in enumerate(source)]
    if step.kind is Kind.RESHAPE:
        return _behind_reshape(source, target)
    return None


def _behind_reshape(source: Sequence[int], target: Sequence[int]) -> Sequence[int | None] | None:
    """The same for a reshape that only adds and drops dims of one element; `None` for any other."""
    if [n for n in source if n != 1] != [n for n in target if n != 1]:
        return None
    kept = iter([dim for dim, extent in enumerate(source) if extent > 1])
    return [next(kept) if extent > 1 else None for extent in target]


@dataclass
class _Entry:
    """A step on its way into a group: what its operands show, and its dims' extents and iteration dims."""

    step: Step
    sources: list[Source]
    traced: list[Source]
    """Those of its operands that are arrays."""
    extents: Sequence[int]
    space: list[int | None]

    def dims_at(self, order: Sequence[int]) -> list[int]:
        """The step's dims at these iteration dims, as far as it has them."""
        found = {place: dim for dim, place in enumerate(self.space) if place is not None}
        return [found[place] for place in order if place in found]


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
        sources = [trace(operand) for operand in step.operands]
        traced = [source for source in sources if source[0].splat is None]
        # An operand that shows a member's result through a slice or a reshape: all of it has to be in memory first, or
        # there is nothing to make the window on ("has no storage yet").
        self.close_for([root for root, _ in traced if root not in self.open])
        extents = step.operands[0].shape if step.kind is Kind.REDUCE else step.results[0].shape
        if math.prod(extents) > 1:
            # With a member of one element no dim would be every member's: all would be one block, on one thread.
            self.close_for([root for root, _ in traced if root in self.open and not self.open[root].order])
        entry = _Entry(step, sources, traced, extents, [None] * len(extents))
        group = self._group_of(entry)
        if group is not None and not _all_agree(entry, group):
            # As in `y + transpose(y)`: a block of one operand would need other blocks of the other.
            self._close(group)
            return self.join(step)
        return self._enter(entry, group)

    def _group_of(self, entry: _Entry) -> Group | None:
        """The group that makes the operands, all groups that do in one; those that do not fit into it are closed."""
        joined: Group | None = None
        # The longest first, which takes in the others: to move it time and again would take quadratic time.
        for root, places in sorted(entry.traced, key=lambda each: -self._length(each[0])):
            group = self.open.get(root)
            if group is None or group is joined:
                continue
            found = _compose(places, group.places[root])
            if joined is None:
                joined, entry.space = group, list(found)
            elif not self._merge(joined, entry, group, found):
                self._close(group)
        return joined

    def _length(self, root: Value) -> int:
        """
        How long the open group is that makes a value, in powers of eight: of two about as long, the first operand's
        takes in the other.
        """
        group = self.open.get(root)
        return 0 if group is None else len(group.members).bit_length() // 3

    def _enter(self, entry: _Entry, group: Group | None) -> bool:
        step, space = entry.step, entry.space
        outside = [(root, places) for root, places in entry.traced if root not in self.open]
        ordered = self._memory_order(outside)
        missing = [dim for dim, extent in enumerate(entry.extents) if extent > 1 and space[dim] is None]
        if group is not None and missing and not _minor(missing, ordered, space):
            # New dims are minor to those that the group has; an operand in which they are major would be read in
            # steps of a whole row, one element from each cache line.
            self._close(group)
            return self.join(step)
        if step.kind is Kind.REDUCE and not self._may_reduce(entry, group, ordered):
            return False
        group = group or Group()
        _add_missing(entry, group, missing, ordered)
        self._record(entry, group, outside)
        return True

    def _record(self, entry: _Entry, group: Group, outside: Sequence[Source]) -> None:
        step, space = entry.step, entry.space
        for root, places in outside:
            group.add_read(root, inward(root, places, space))
        group.spaces[step], group.sources[step] = tuple(space), entry.sources
        if step.kind is Kind.REDUCE:
            dims = step.static[0]
            group.reduced.update(place for dim in dims if (place := space[dim]) is not None)
            space = [None if dim in dims else place for dim, place in enumerate(space)]
        group.members.append(step)
        group.places[step.results[0]] = tuple(space)
        self.open[step.results[0]] = group

    def _memory_order(self, outside: Sequence[Source]) -> list[int]:
        """The step's dims as they lie in memory in the widest operand from outside, major to minor."""
        orders: list[list[int]] = [[]]
        for root, places in outside:
            dims = {place: dim for dim, place in enumerate(places) if place is not None}
            orders.append([dims[place] for place in self.layout(root).order() if place in dims])
        return max(orders, key=len)

    def _may_reduce(self, entry: _Entry, group: Group | None, ordered: list[int]) -> bool:
        """Whether a reduction can be done row by row, in blocks of whole rows."""
        step, extents, space = entry.step, entry.extents, entry.space
        # Where the operand only repeats, its block has one element: NumPy would refuse to combine it into many rows.
        _, places = entry.sources[0]
        if any(place is None and extent > 1 for place, extent in zip(places, extents, strict=True)):
            return False
        # Blocks hold whole rows: of a single one there is nothing to cut, and NumPy's own reduction is as good.
        if math.prod(step.results[0].shape) < _MINIMUM_ROWS:
            return False
        # Where other dims are minor, a block of rows would hold all of the array, or little of each row.
        if group is not None:
            ordered = entry.dims_at(group.order) + [dim for dim in ordered if space[dim] is None]
        dims = [dim for dim in step.static[0] if extents[dim] > 1]
        return set(ordered[len(ordered) - len(dims) :]) == set(dims)

    def _merge(self, group: Group, entry: _Entry, other: Group, found: Places) -> bool:
        """Takes another group's members into this one, its dims identified through the step that reads both."""
        space = entry.space
        known = {
            there: here for there, here in zip(found, space, strict=True) if there is not None and here is not None
        }
        if not _nest_alike(group.order, other.order, known):
            return False
        if not _identify_rest(group, other, known, space):
            return False
        self._absorb(group, other, known)
        for dim, there in enumerate(found):
            if there is not None:
                space[dim] = known[there]
        return True

    def _absorb(self, group: Group, other: Group, known: Mapping[int, int]) -> None:
        for value, places in other.places.items():
            group.places[value] = _compose(places, known)
            self.open[value] = group
        for step, places in other.spaces.items():
            group.spaces[step] = _compose(places, known)
        for value, places in other.reads:
            group.add_read(value, _compose(places, known))
        group.sources |= other.sources
        group.members += other.members
        group.reduced.update(known[dim] for dim in other.reduced)


def _add_missing(entry: _Entry, group: Group, missing: Sequence[int], ordered: Sequence[int]) -> None:
    """Gives a step's dims that its group's members do not have a dim of the group: an unused one, or a new one."""
    # In the order in which the widest operand lies in memory, so that it is read from its first byte to its last.
    rank = {dim: at for at, dim in enumerate(ordered)}
    for dim in sorted(missing, key=lambda dim: rank.get(dim, len(rank) + dim)):
        unused = [p for p in group.order if group.extents[p] == entry.extents[dim] and p not in entry.space]
        entry.space[dim] = unused[0] if unused else group.add_dims([entry.extents[dim]])[0]


def _identify_rest(group: Group, other: Group, known: dict[int, int], space: Sequence[int | None]) -> bool:
    """Gives all dims of another group that are not known yet a dim of this one; `False` where their rows differ."""
    spare = [place for place in group.order if place not in known.values()]
    for dim in [dim for dim in other.order if dim not in known]:
        same = [place for place in spare if group.extents[place] == other.extents[dim] and place not in space]
        if spare and not same:
            return False  # one group loops over rows of this length, the other over rows of that
        known[dim] = same[0] if same else group.add_dims([other.extents[dim]])[0]
        if same:
            spare.remove(same[0])
    return True


def _compose(places: Sequence[int | None], inward: Sequence[int | None] | Mapping[int, int]) -> Places:
    return tuple([None if place is None else inward[place] for place in places])


def _nest_alike(order: Sequence[int], other: Sequence[int], known: Mapping[int, int]) -> bool:
    """
    Whether the dims that two groups share are the major ones of both, in one order.

    Else a block of one, which holds all of its minor dims, would need more than a block of the other.
    """
    shared = [known[dim] for dim in other[: len(known)] if dim in known]
    return shared == list(order[: len(known)]) and len(shared) == len(known)


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


def _all_agree(entry: _Entry, group: Group) -> bool:
    """
    Whether all operands fit one assignment of dims.

    Those from outside that the group reads already take the same place where they can: then a block is read once.
    """
    space, places = entry.space, group.places
    if not all(_agree(space, _compose(at, places[root])) for root, at in entry.traced if root in places):
        return False
    for root, at in entry.traced:
        seen = group.read_at.get(root)
        trial = list(space)
        if seen is not None and _agree(trial, _compose(at, seen)):
            space[:] = trial
    return True


def inward(root: Value, places: Places, space: Sequence[int | None]) -> Places:
    """The iteration dim of each dim of an operand's root, given those of the step's dims."""
    found: list[int | None] = [None] * len(root.shape)
    for dim, place in enumerate(places):
        if place is not None:
            found[place] = space[dim]
    return tuple(found)


def _minor(missing: Sequence[int], ordered: Sequence[int], space: Sequence[int | None]) -> bool:
    """Whether the dims that a group lacks are minor to those that it has, in the operand that brings them."""
    present = [at for at, dim in enumerate(ordered) if space[dim] is not None]
    fresh = [at for at, dim in enumerate(ordered) if dim in missing]
    return not present or not fresh or max(present) < min(fresh)
