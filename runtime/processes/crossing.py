"""
What crosses processes: groups of them, and which elements each sends to which.

A program of many processes is the program of one, with its collectives cut in two: the part along atoms that a process
holds stays array code, and the part across is one of the steps described here, which a `Communicator` carries out. Who
has what is worked out by div and mod: along each dim a process has the elements whose digits are its coordinates.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import product
from typing import Any, TypeAlias

import numpy as np

from shardwright.runtime.atoms import Atoms, DimAtoms

Index: TypeAlias = "slice | np.ndarray[Any, Any]"
"""The elements taken along one dim, in ascending order."""

Coordinates: TypeAlias = Mapping[int, int]

Elements: TypeAlias = "Sequence[np.ndarray[Any, Any]]"
"""The elements that a process has along each dim, in ascending order."""


@dataclass(frozen=True)
class Group:
    """
    The processes that differ only along some atoms: their numbers, in the order of the atoms, major to minor.

    `place` is where this process stands among them.
    """

    members: tuple[int, ...]
    place: int

    @staticmethod
    def along(positions: Sequence[int], atoms: Atoms) -> Group:
        """The group of this process along these atoms across."""
        own, ordered = atoms.coordinates, sorted(positions)
        ranges = product(*(range(atoms.sizes[position]) for position in ordered))
        members = [atoms.process_at({**own, **dict(zip(ordered, at, strict=True))}) for at in ranges]
        return Group(tuple(members), members.index(atoms.clients.place))


@dataclass(frozen=True, eq=False)
class Piece:
    """What goes to, or comes from, one process of a group: the elements at these indices of each dim."""

    peer: int
    index: tuple[Index, ...]

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """The number of elements along each dim."""
        return tuple(_length(index) for index in self.index)

    @cached_property
    def selector(self) -> tuple[Any, ...]:
        """The indices as NumPy takes them."""
        if all(isinstance(index, slice) for index in self.index):
            return self.index
        arrays = [np.arange(i.start, i.stop, i.step) if isinstance(i, slice) else i for i in self.index]
        return np.ix_(*arrays)


@dataclass(frozen=True, eq=False)
class Exchange:
    """
    Elements sent from those who have them to those who want them, each once.

    The result has this stacked `shape`; `kept` are the elements that stay, here and there. Where a result is not just
    what came in, `places` says for each local dim which of them lies where, -1 being `fill`; `None` is all, in order.
    """

    group: Group
    shape: tuple[int, ...]
    kept: tuple[Piece, Piece] | None
    sends: tuple[Piece, ...]
    receives: tuple[Piece, ...]
    places: tuple[np.ndarray[Any, Any] | None, ...] = ()
    fill: Any = 0

    def __repr__(self) -> str:
        peers = {piece.peer for piece in (*self.sends, *self.receives)}
        return f"Exchange(with {len(peers)} of {len(self.group.members)} processes, to {list(self.result_shape)})"

    @property
    def is_direct(self) -> bool:
        """Whether what comes in is the result."""
        return all(where is None for where in self.places)

    @property
    def result_shape(self) -> tuple[int, ...]:
        """The shape when all is in its place."""
        lead = len(self.shape) - len(self.places)
        local = zip(self.shape[lead:], self.places, strict=True)
        return (*self.shape[:lead], *(extent if where is None else len(where) for extent, where in local))


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

    def read(self, dim: int, at: Coordinates) -> np.ndarray[Any, Any]:
        """What each place of a process's result shows along a dim."""
        reads = self.reads[dim]
        if reads is None:
            return digits(self.extents[dim], self.after[dim], self.atoms, at)
        return reads[digits(len(reads), self.after[dim], self.atoms, at)]

    def elements(self, dim: int, at: Coordinates) -> np.ndarray[Any, Any]:
        """The elements that a process needs along a dim, each once, in order."""
        read = self.read(dim, at)
        return read if self.reads[dim] is None else np.unique(read[read >= 0])


def digits(extent: int, positions: Sequence[int], atoms: Atoms, at: Coordinates) -> np.ndarray[Any, Any]:
    """
    The indices along a dim that a process has, where the atoms at `positions` split it: those with its coordinates.

    >>> from shardwright.layout.forms.clients import Clients
    >>> from shardwright.layout.mesh import Mesh
    >>> atoms = Atoms.cut(Mesh(x=2, y=2), [], Clients(2, 0))
    >>> digits(8, (1, 0), atoms, {0: 1}).tolist()
    [2, 3, 6, 7]
    """
    sizes = [atoms.sizes[position] for position in positions]
    whole = np.arange(extent).reshape((*sizes, extent // math.prod(sizes)))
    return whole[tuple(at.get(position, slice(None)) for position in positions)].reshape(-1)


def plan_exchange(
    lead: Sequence[int], before: DimAtoms, group: Sequence[int], wanted: Wanted, fill: Any = 0
) -> Exchange:
    """
    Who sends what to whom in the group along these atoms, so that each process gets what it wants.

    `before` are the atoms that split each dim; of those in the group a process has its own part, of others all.
    `lead` are the extents of the leading dims, which go along whole.
    """
    atoms = wanted.atoms
    dims = range(len(wanted.extents))

    @cache
    def had(dim: int, at: tuple[tuple[int, int], ...]) -> np.ndarray[Any, Any]:
        return digits(wanted.extents[dim], before[dim], atoms, dict(at))

    @cache
    def needed(dim: int, at: tuple[tuple[int, int], ...]) -> np.ndarray[Any, Any]:
        return wanted.elements(dim, dict(at))

    def has(process: int) -> Elements:
        at = atoms.coordinates_of(process)
        return [had(dim, tuple((one, at[one]) for one in group if one in before[dim])) for dim in dims]

    def needs(process: int) -> Elements:
        at = atoms.coordinates_of(process)
        return [needed(dim, tuple((one, at[one]) for one in wanted.after[dim] if one in at)) for dim in dims]

    plan = plan_moves(Group.along(group, atoms), lead, has, needs)
    own = needs(atoms.clients.place)
    places = tuple(_places(wanted.read(dim, atoms.coordinates), own[dim]) for dim in dims)
    return replace(plan, places=places, fill=fill)


def plan_transfer(
    group: Group, lead: Sequence[int], has: Callable[[int], Elements], needs: Callable[[int], Elements]
) -> Exchange:
    """
    The same where several processes may have the same elements: each gets what it lacks from one of them.

    What a process has is what another has, or nothing of that.
    """
    holders: dict[tuple[bytes, ...], list[int]] = {}
    for process in group.members:
        holders.setdefault(_key(has(process)), []).append(process)

    def sends(source: int, target: int) -> bool:
        replicas = holders[_key(has(source))]
        return source == (target if target in replicas else replicas[target % len(replicas)])

    return plan_moves(group, lead, has, needs, sends)


def _key(elements: Elements) -> tuple[bytes, ...]:
    return tuple(index.tobytes() for index in elements)


def plan_moves(
    group: Group,
    lead: Sequence[int],
    has: Callable[[int], Elements],
    needs: Callable[[int], Elements],
    sends: Callable[[int, int], bool] = lambda source, target: True,
) -> Exchange:
    """Each process sends what it has and another needs, where `sends(source, target)` says that it is its task."""
    front = tuple(slice(0, extent) for extent in lead)
    own = group.members[group.place]
    mine, due = has(own), needs(own)
    common = _Common(front)
    outgoing = [
        common.piece(place, mine, needs(process)) if sends(own, process) else None
        for place, process in enumerate(group.members)
    ]
    incoming = [
        common.piece(place, due, has(process)) if sends(process, own) else None
        for place, process in enumerate(group.members)
    ]
    here, there = outgoing[group.place], incoming[group.place]
    others = [place for place in range(len(group.members)) if place != group.place]
    return Exchange(
        group,
        (*lead, *(len(index) for index in due)),
        None if here is None or there is None else (here, there),
        tuple(piece for place in others if (piece := outgoing[place]) is not None),
        tuple(piece for place in others if (piece := incoming[place]) is not None),
        (None,) * len(due),
    )


class _Common:
    """Where elements lie that another has, too; along each dim found once for all processes with the same ones."""

    def __init__(self, front: tuple[slice, ...]) -> None:
        self._front = front
        self._found: dict[tuple[int, int], tuple[Index | None, Elements]] = {}

    def piece(self, peer: int, array: Elements, other: Elements) -> Piece | None:
        """Where in an array with these elements along its dims those of the other lie."""
        found = [self._index(*pair) for pair in zip(array, other, strict=True)]
        kept = [index for index in found if index is not None]
        return Piece(peer, (*self._front, *kept)) if len(kept) == len(found) else None

    def _index(self, mine: np.ndarray[Any, Any], theirs: np.ndarray[Any, Any]) -> Index | None:
        key = id(mine), id(theirs)
        if key not in self._found:
            index = np.flatnonzero(np.isin(mine, theirs, assume_unique=True))
            self._found[key] = _tidy(index) if index.size else None, (mine, theirs)  # kept alive: ids stay theirs
        return self._found[key][0]


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
    """A reduction over a group: of what kind, such as `sum`."""

    group: Group
    kind: str

    def __repr__(self) -> str:
        return f"Reduction({self.kind} over {len(self.group.members)} processes)"
