"""
What crosses processes: groups of them, and which elements each sends to which.

A program of many processes is the program of one, with its collectives cut in two: the part along atoms that a process
holds stays array code, and the part across is one of the steps described here, which a `Communicator` carries out. Who
has what is worked out by div and mod: along each dim a process has the elements whose digits are its coordinates.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, TypeAlias

import numpy as np

from shardwright.runtime.atoms import Atoms, DimAtoms

Index: TypeAlias = "slice | np.ndarray[Any, Any]"
"""The elements taken along one dim, in ascending order."""

Coordinates: TypeAlias = Mapping[int, int]


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
    atoms, own = wanted.atoms, wanted.atoms.coordinates
    members = Group.along(group, atoms)
    dims = range(len(wanted.extents))
    front = tuple(slice(0, extent) for extent in lead)

    def has(at: Coordinates) -> list[np.ndarray[Any, Any]]:
        crossing = {position: at[position] for position in group}
        return [digits(wanted.extents[dim], before[dim], atoms, crossing) for dim in dims]

    def needs(at: Coordinates) -> list[np.ndarray[Any, Any]]:
        return [wanted.elements(dim, at) for dim in dims]

    mine, due = has(own), needs(own)
    sends, receives = list[Piece](), list[Piece]()
    kept: tuple[Piece, Piece] | None = None
    for place, process in enumerate(members.members):
        there = atoms.coordinates_of(process)
        theirs, asked = has(there), needs(there)
        outgoing = _common(place, front, mine, asked)
        incoming = _common(place, front, due, theirs)
        if place == members.place:
            kept = None if incoming is None or outgoing is None else (outgoing, incoming)
            continue
        sends += [outgoing] if outgoing is not None else []
        receives += [incoming] if incoming is not None else []
    shape = (*lead, *(len(index) for index in due))
    places = tuple(_places(wanted.read(dim, own), due[dim]) for dim in dims)
    return Exchange(members, shape, kept, tuple(sends), tuple(receives), places, fill)


def _common(
    peer: int, front: tuple[slice, ...], array: Sequence[np.ndarray[Any, Any]], other: Sequence[np.ndarray[Any, Any]]
) -> Piece | None:
    """Where in an array with these elements along its dims those lie that the other has, too."""
    found = [
        np.flatnonzero(np.isin(mine, theirs, assume_unique=True)) for mine, theirs in zip(array, other, strict=True)
    ]
    if not all(index.size for index in found):
        return None
    return Piece(peer, (*front, *map(_tidy, found)))


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


def place(array: Any, exchange: Exchange) -> Any:
    """The result of an exchange made of what came in: the elements at their places, and the fill elsewhere."""
    lead = array.ndim - len(exchange.places)
    for dim, where in enumerate(exchange.places, lead):
        if where is None:
            continue
        missing = np.flatnonzero(where < 0)
        if array.shape[dim]:
            array = array.take(np.maximum(where, 0), axis=dim)
        else:
            array = np.empty((*array.shape[:dim], len(where), *array.shape[dim + 1 :]), array.dtype)
        if missing.size:
            array[(slice(None),) * dim + (missing,)] = exchange.fill
    return array


@dataclass(frozen=True)
class Reduction:
    """A reduction over a group: of what kind, such as `sum`."""

    group: Group
    kind: str

    def __repr__(self) -> str:
        return f"Reduction({self.kind} over {len(self.group.members)} processes)"
