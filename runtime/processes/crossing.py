"""
What crosses processes: groups of them, and which elements each sends to which.

A program of many processes is the program of one, with its collectives cut in two: the part along atoms that a process
holds stays array code, and the part across is one of the steps described here, which a `Communicator` carries out. Who
has what is worked out by div and mod: along each dim a process has the elements whose digits are its coordinates.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from typing import Any, TypeAlias

import numpy as np

from shardwright.layout.forms.clients import Clients
from shardwright.runtime.atoms import Atoms, DimAtoms

Index: TypeAlias = "slice | np.ndarray[Any, Any]"
"""The elements taken along one dim, in ascending order."""

Coordinates: TypeAlias = Mapping[int, int]

Elements: TypeAlias = "np.ndarray[Any, Any]"
"""The elements that a process has along a dim, in ascending order."""


@dataclass(frozen=True)
class Group:
    """
    The processes that differ only along some atoms, in the order of the atoms, major to minor: no list of them.

    `first` is the number of the one at place 0; along each atom there are so many (`sizes`), whose numbers lie `steps`
    apart. `place` is where this process stands among them.

    >>> group = Group(1, (2, 2), (4, 2), place=3)
    >>> group.count, [group.member(place) for place in range(4)]
    (4, [1, 3, 5, 7])
    """

    first: int
    sizes: tuple[int, ...]
    steps: tuple[int, ...]
    place: int

    @staticmethod
    def along(positions: Sequence[int], atoms: Atoms) -> Group:
        """The group of this process along these atoms across."""
        ordered = tuple(sorted(positions))
        sizes = tuple(atoms.sizes[position] for position in ordered)
        steps = tuple(
            math.prod(atoms.sizes[minor] for minor in atoms.across if minor > position) for position in ordered
        )
        own = [atoms.coordinates[position] for position in ordered]
        first = atoms.clients.place - sum(at * step for at, step in zip(own, steps, strict=True))
        return Group(first, sizes, steps, _joined(own, sizes))

    @staticmethod
    def of_all(clients: Clients) -> Group:
        """All processes."""
        return Group(0, (clients.count,), (1,), clients.place)

    @property
    def count(self) -> int:
        """How many processes there are."""
        return math.prod(self.sizes)

    def member(self, place: int) -> int:
        """The number of the process at a place."""
        number = self.first
        for size, step in zip(reversed(self.sizes), reversed(self.steps), strict=True):
            place, at = divmod(place, size)
            number += at * step
        return number


def _joined(at: Sequence[int], sizes: Sequence[int]) -> int:
    """The number with these digits, major to minor."""
    number = 0
    for digit, size in zip(at, sizes, strict=True):
        number = number * size + digit
    return number


@dataclass(frozen=True, eq=False)
class Piece:
    """What goes to, or comes from, one process of a group: the elements at these indices of each dim."""

    peer: int
    index: tuple[Index, ...]
    layouts: dict[Any, Any] = field(default_factory=dict[Any, Any], repr=False)
    """What an engine has found out about where it lies in arrays, by their strides."""

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """The number of elements along each dim."""
        return tuple(_length(index) for index in self.index)

    @cached_property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @cached_property
    def selector(self) -> tuple[Any, ...]:
        """The indices as NumPy takes them."""
        if all(isinstance(index, slice) for index in self.index):
            return self.index
        arrays = [np.arange(i.start, i.stop, i.step) if isinstance(i, slice) else i for i in self.index]
        return np.ix_(*arrays)

    def ordered(self, order: Sequence[int]) -> Piece:
        """The same of an array whose dims come in this order."""
        return Piece(self.peer, tuple(self.index[dim] for dim in order))


@dataclass(frozen=True, eq=False)
class Exchange:
    """
    Elements sent from those who have them to those who want them, each once.

    The result has this stacked `shape`; `kept` are the elements that stay, here and there. Where a result is not just
    what came in, `places` says for each local dim which of them lies where, -1 being `fill`; `None` is all, in order.

    `order` gives the dims, major to minor, in which elements travel, on all processes alike; the pieces are those of
    arrays with their dims in this order. Empty is the order that they have.
    """

    group: Group
    shape: tuple[int, ...]
    kept: tuple[Piece, Piece] | None
    sends: tuple[Piece, ...]
    receives: tuple[Piece, ...]
    places: tuple[np.ndarray[Any, Any] | None, ...] = ()
    fill: Any = 0
    order: tuple[int, ...] = ()

    def __repr__(self) -> str:
        peers = {piece.peer for piece in (*self.sends, *self.receives)}
        return f"Exchange(with {len(peers)} of {self.group.count} processes, to {list(self.result_shape)})"

    @cached_property
    def sent(self) -> int:
        """How many elements go to others."""
        return sum(piece.size for piece in self.sends)

    @cached_property
    def is_direct(self) -> bool:
        """Whether what comes in is the result."""
        return all(where is None for where in self.places)

    @property
    def result_shape(self) -> tuple[int, ...]:
        """The shape when all is in its place."""
        lead = len(self.shape) - len(self.places)
        local = zip(self.shape[lead:], self.places, strict=True)
        return (*self.shape[:lead], *(extent if where is None else len(where) for extent, where in local))

    def ordered(self, order: Sequence[int]) -> Exchange:
        """The same with elements that travel in this order of the dims: that in which the result lies in memory."""
        # Of the processes that swap elements some may have to put them in their place, and others not.
        if tuple(order) == tuple(range(len(self.shape))):
            return self
        kept = None if self.kept is None else (self.kept[0].ordered(order), self.kept[1].ordered(order))
        sends, receives = ([piece.ordered(order) for piece in side] for side in (self.sends, self.receives))
        return replace(self, kept=kept, sends=tuple(sends), receives=tuple(receives), order=tuple(order))


class Wanted:
    """
    Which global elements along each dim a process wants, by its coordinates.

    `reads[dim]` gives for each place of the result along this dim, all processes together, the element that is read
    there, or -1 for none; where it is `None` places are elements.
    """

    def __init__(
        self,
        extents: Sequence[int],
        after: DimAtoms,
        atoms: Atoms,
        reads: Sequence[np.ndarray[Any, Any] | None] = (),
    ) -> None:
        self.extents, self.after, self.atoms = tuple(extents), after, atoms
        self.reads = tuple(reads) or (None,) * len(self.extents)

    def read(self, dim: int, at: Coordinates) -> Elements:
        """What each place of a process's result shows along a dim."""
        reads = self.reads[dim]
        if reads is None:
            return digits(self.extents[dim], self.after[dim], self.atoms, at)
        return reads[digits(len(reads), self.after[dim], self.atoms, at)]

    def elements(self, dim: int, at: Coordinates) -> np.ndarray[Any, Any]:
        """The elements that a process needs along a dim, each once, in order."""
        read = self.read(dim, at)
        return read if self.reads[dim] is None else np.unique(read[read >= 0])

    def showing(
        self, dim: int, elements: np.ndarray[Any, Any]
    ) -> tuple[int, np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """How many places all results have along a dim, which of them show these elements, and which one each shows."""
        reads = self.reads[dim]
        if reads is None:
            return self.extents[dim], elements, np.arange(len(elements))
        places = np.flatnonzero(np.isin(reads, elements))
        return len(reads), places, np.searchsorted(elements, reads[places])


def digits(extent: int, positions: Sequence[int], atoms: Atoms, at: Coordinates) -> np.ndarray[Any, Any]:
    """
    The indices along a dim that a process has, where the atoms at `positions` split it: those with its coordinates.

    >>> from shardwright.layout.forms.clients import Clients
    >>> from shardwright.layout.mesh import Mesh
    >>> atoms = Atoms.cut(Mesh(x=2, y=2), [], Clients(2, 0))
    >>> digits(8, (1, 0), atoms, {0: 1}).tolist()
    [2, 3, 6, 7]
    """
    found, below = np.zeros(1, np.intp), extent
    for position in positions:
        below //= atoms.sizes[position]
        steps = np.arange(atoms.sizes[position]) if position not in at else np.array([at[position]])
        found = np.add.outer(found, steps * below).reshape(-1)
    return np.add.outer(found, np.arange(below)).reshape(-1)


@dataclass(frozen=True)
class Side:
    """
    Which process has which elements of a tensor, or is to have them: found for some elements, not for all processes.

    `dims` are the atoms that split each dim. Processes differ along the atoms in `weights`: a step along one adds so
    much to a process's place. Along the atoms in `fixed` all of them are where this one is.
    """

    atoms: Atoms
    dims: DimAtoms
    weights: Mapping[int, int]
    fixed: Coordinates

    @staticmethod
    def of_all(atoms: Atoms, dims: DimAtoms) -> Side:
        """All processes, which have what their coordinates say."""
        return Side(atoms, dims, _weights(sorted(atoms.across), atoms), {})

    @staticmethod
    def along(group: Sequence[int], atoms: Atoms, dims: DimAtoms) -> Side:
        """The processes that differ along these atoms alone."""
        weights = _weights(sorted(group), atoms)
        return Side(atoms, dims, weights, {at: own for at, own in atoms.coordinates.items() if at not in weights})

    def own(self, dim: int, extent: int) -> np.ndarray[Any, Any]:
        """The elements along a dim that this process has."""
        at = {position: self.atoms.coordinates[position] for position in (*self.weights, *self.fixed)}
        return digits(extent, self.dims[dim], self.atoms, at)

    def shares(
        self, dim: int, extent: int, places: np.ndarray[Any, Any], which: np.ndarray[Any, Any]
    ) -> dict[int, Index]:
        """By what its coordinates along a dim add to a process's place: `which` it has, by the places of them there."""
        keys, below, here = np.zeros_like(places), extent, np.ones(len(places), np.bool_)
        if not places.size:
            return {}
        for position in self.dims[dim]:
            size = self.atoms.sizes[position]
            below //= size
            at = places // below % size
            if position in self.weights:
                keys += at * self.weights[position]
            elif position in self.fixed:
                here &= at == self.fixed[position]
        return _grouped(keys[here], which[here])

    @cached_property
    def spare(self) -> list[int]:
        """What is added to the places of processes with the same elements: one number for each of them, ascending."""
        used = {position for positions in self.dims for position in positions}
        found = [0]
        for position in sorted(self.weights):
            if position not in used:
                steps = range(self.atoms.sizes[position])
                found = [base + step * self.weights[position] for base in found for step in steps]
        return found

    def base(self, place: int) -> int:
        """A process's place without what is spare."""
        used = {position for positions in self.dims for position in positions}
        at = self.atoms.coordinates_of(place)
        return sum(at[position] * weight for position, weight in self.weights.items() if position in used)

    def base_in(self, place: int) -> int:
        """A place in the group of processes that the weights number, without what is spare."""
        used = {position for positions in self.dims for position in positions}
        steps = ((weight, self.atoms.sizes[position]) for position, weight in self.weights.items() if position in used)
        return sum(place // weight % size * weight for weight, size in steps)

    def source_in(self, place: int, base: int) -> int:
        """
        Which place of a group gives the one at `place` what those at `base` have: the nearest to it, or its own.

        That stands where `place` does along all atoms that split nothing: nothing crosses an axis that it need not.
        """
        return base + place - self.base_in(place)

    def numbers(self, base: int, job: Clients) -> Iterable[int]:
        """Which processes of the job stand at a place without what is spare: of a mesh of no job, each by itself."""
        clients = self.atoms.clients
        if clients.everyone.count == 1:
            return range(job.count)
        return [clients.first + base + other for other in self.spare]

    def source_for(self, number: int, base: int) -> int:
        """Which of the processes at such a place gives one of the job what they have: itself, else the nearest."""
        clients = self.atoms.clients
        place = clients.place_of(number)
        if place is not None and self.base(place) == base:
            return number
        other = self.spare[number % len(self.spare)] if place is None else place - self.base(place)
        return clients.first + base + other


def _weights(positions: Sequence[int], atoms: Atoms) -> dict[int, int]:
    """What a step along each of these atoms adds to the number that they make together."""
    found, weight = dict[int, int](), 1
    for position in reversed(positions):
        found[position] = weight
        weight *= atoms.sizes[position]
    return found


def _grouped(keys: np.ndarray[Any, Any], which: np.ndarray[Any, Any]) -> dict[int, Index]:
    """By key, what belongs to it: each once, ascending."""
    if not keys.size:
        return {}
    order = np.argsort(keys, kind="stable")
    cuts = np.flatnonzero(np.diff(keys[order])) + 1
    runs = zip((0, *cuts), (*cuts, len(keys)), strict=True)
    return {int(keys[order[start]]): _tidy(np.unique(which[order[start:stop]])) for start, stop in runs}


def _pieces(
    lead: Sequence[int], shares: Sequence[Mapping[int, Index]], spare: Iterable[int] = (0,)
) -> Iterator[tuple[int, Piece]]:
    """For each process that has some of every dim its part, with its place without what is spare; no others."""
    front = tuple(slice(0, extent) for extent in lead)
    for combination in product(*(share.items() for share in shares)):
        base = sum(part for part, _ in combination)
        index = (*front, *(found for _, found in combination))
        yield from ((base, Piece(base + other, index)) for other in spare)


def plan_exchange(
    lead: Sequence[int], before: DimAtoms, group: Sequence[int], wanted: Wanted, fill: Any = 0
) -> Exchange:
    """
    Who sends what to whom in the group along these atoms, so that each process gets what it wants.

    `before` are the atoms that split each dim; of those in the group a process has its own part, of others all.
    `lead` are the extents of the leading dims, which go along whole.
    """
    atoms, dims = wanted.atoms, range(len(wanted.extents))
    giving = Side(atoms, before, _weights(sorted(group), atoms), {})
    taking = Side.along(group, atoms, wanted.after)
    due = [wanted.elements(dim, atoms.coordinates) for dim in dims]
    sends = [taking.shares(dim, *wanted.showing(dim, giving.own(dim, wanted.extents[dim]))) for dim in dims]
    receives = [giving.shares(dim, wanted.extents[dim], due[dim], np.arange(len(due[dim]))) for dim in dims]
    outgoing = [piece for _, piece in _pieces(lead, sends, taking.spare)]
    plan = _exchange(Group.along(group, atoms), lead, due, outgoing, [piece for _, piece in _pieces(lead, receives)])
    places = tuple(_places(wanted.read(dim, atoms.coordinates), due[dim]) for dim in dims)
    return replace(plan, places=places, fill=fill)


def plan_recut(lead: Sequence[int], extents: Sequence[int], before: Side, after: Side, group: Group) -> Exchange:
    """
    The same between sides of a group that may cut its axes otherwise: of those who have an element, one gives it.

    `lead` are the extents of the leading dims, which go along whole, `extents` those of the dims, all parts together.
    """
    dims = range(len(extents))
    mine, due = ([side.own(dim, extents[dim]) for dim in dims] for side in (before, after))
    wanted = [after.shares(dim, extents[dim], mine[dim], np.arange(len(mine[dim]))) for dim in dims]
    had = [before.shares(dim, extents[dim], due[dim], np.arange(len(due[dim]))) for dim in dims]
    here, giver = before.base_in(group.place), before.source_in
    outgoing = [piece for _, piece in _pieces(lead, wanted, after.spare) if giver(piece.peer, here) == group.place]
    incoming = [Piece(giver(group.place, base), piece.index) for base, piece in _pieces(lead, had)]
    return _exchange(group, lead, due, outgoing, incoming)


def plan_transfer(
    shape: Sequence[int], before: Side, after: Side, padded: tuple[Sequence[int], Sequence[int]] | None = None
) -> Exchange:
    """
    The same for a tensor of which several processes may have the same elements: each gets what it lacks from one.

    Each side is of all processes of the job, of a part of them, or of each by itself. Who has what is wanted takes it;
    of those who do not, each asks another. `padded` is the shape of each side with the padding that makes its parts
    equal, where it differs: what lies there is not sent, and stands at the end of what a process has.
    """
    dims, job = range(len(shape)), before.atoms.clients.everyone
    there, here = padded or (shape, shape)
    due = [after.own(dim, here[dim]) if after.atoms.clients.is_here else np.arange(0) for dim in dims]
    outgoing, incoming = list[Piece](), list[Piece]()
    if before.atoms.clients.is_here:
        mine = [_within(before.own(dim, there[dim]), shape[dim]) for dim in dims]
        wanted = [after.shares(dim, here[dim], mine[dim], np.arange(len(mine[dim]))) for dim in dims]
        base = before.base(before.atoms.clients.place)
        targets = [Piece(to, piece.index) for at, piece in _pieces((), wanted) for to in after.numbers(at, job)]
        outgoing = [piece for piece in targets if before.source_for(piece.peer, base) == job.place]
    if after.atoms.clients.is_here:
        lacked = [_within(due[dim], shape[dim]) for dim in dims]
        had = [before.shares(dim, there[dim], lacked[dim], np.arange(len(lacked[dim]))) for dim in dims]
        incoming = [Piece(before.source_for(job.place, at), piece.index) for at, piece in _pieces((), had)]
    return _exchange(Group.of_all(job), (), due, outgoing, incoming)


def _within(elements: Elements, extent: int) -> Elements:
    """Those of ascending elements that a dim has: what comes after them is padding."""
    return elements[: int(np.searchsorted(elements, extent))]


def _exchange(
    group: Group, lead: Sequence[int], due: Sequence[Elements], outgoing: Iterable[Piece], incoming: Iterable[Piece]
) -> Exchange:
    """What goes where, of which what goes from this process to itself is kept."""
    sends, receives = (
        {piece.peer: piece for piece in sorted(side, key=_peer) if piece.size} for side in (outgoing, incoming)
    )
    here, there = sends.pop(group.place, None), receives.pop(group.place, None)
    return Exchange(
        group,
        (*lead, *(len(index) for index in due)),
        None if here is None or there is None else (here, there),
        tuple(sends.values()),
        tuple(receives.values()),
        (None,) * len(due),
    )


def _peer(piece: Piece) -> int:
    return piece.peer


def _tidy(index: np.ndarray[Any, Any]) -> Index:
    """The indices as a slice where they follow each other."""
    first, last = int(index[0]), int(index[-1])
    return slice(first, last + 1) if last - first + 1 == len(index) else index


def _places(read: np.ndarray[Any, Any], elements: np.ndarray[Any, Any]) -> np.ndarray[Any, Any] | None:
    if len(read) == len(elements) and bool((read == elements).all()):
        return None
    return np.where(read < 0, -1, np.searchsorted(elements, read))


def _length(index: Index) -> int:
    return len(range(index.start, index.stop)) if isinstance(index, slice) else len(index)


def place(xp: Any, array: Any, exchange: Exchange) -> Any:
    """The result of an exchange made of what came in: the elements at their places, and the fill elsewhere."""
    lead = array.ndim - len(exchange.places)
    for dim, where in enumerate(exchange.places, lead):
        if where is None:
            continue
        missing = np.flatnonzero(where < 0)
        if array.shape[dim]:
            array = array.take(xp.asarray(np.maximum(where, 0)), axis=dim)
        else:
            array = xp.empty((*array.shape[:dim], len(where), *array.shape[dim + 1 :]), array.dtype)
        if missing.size:
            array[(slice(None),) * dim + (xp.asarray(missing),)] = exchange.fill
    return array


@dataclass(frozen=True)
class Reduction:
    """
    A reduction over a group: of what kind, such as `sum`.

    `order` gives the dims of the result, major to minor, in which elements travel, on all processes alike.
    """

    group: Group
    kind: str
    order: tuple[int, ...] = ()

    def __repr__(self) -> str:
        return f"Reduction({self.kind} over {self.group.count} processes)"

    def ordered(self, order: Sequence[int]) -> Reduction:
        """The same with elements that travel in this order of the dims: that in which the result lies in memory."""
        return self if tuple(order) == tuple(range(len(order))) else replace(self, order=tuple(order))
