"""
What a program of many processes needs of whatever connects them: to swap elements within a group.

All collectives across processes are made of one primitive, `swap`. An engine that has better reductions than the one
written here (of parts in the order of the group, summed as in one process) overrides `all_reduce`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from shardwright.layout.forms.clients import Clients
from shardwright.runtime.kernels.shape import reduce
from shardwright.runtime.processes.crossing import Exchange, Group, Piece, Reduction, place

Array = np.ndarray[Any, Any]


def nothing() -> None:
    """What is done meanwhile, if it is not said."""


class Communicator(ABC):
    """
    Connects the processes that run one program; every process calls the same methods in the same order.

    `sent_bytes` counts what this process handed over to go to others. Results are new arrays, or written to `out`.
    Arrays are those of the namespace `xp`: NumPy's, unless an engine has others.
    """

    def __init__(self, clients: Clients, xp: Any = np) -> None:
        self.clients = clients
        self.sent_bytes = 0
        self._xp = xp

    @abstractmethod
    def swap(
        self,
        group: Group,
        sends: Sequence[Piece],
        source: Array,
        receives: Sequence[Piece],
        target: Array,
        meanwhile: Callable[[], None] = nothing,
    ) -> None:
        """
        Sends pieces of an array to other members of the group, and writes into another what they send.

        `meanwhile` is called while others may not have come as far: it touches neither these pieces nor those places.
        """

    def running(self, program: str) -> AbstractContextManager[None]:
        """Around each run: whether all processes run the same program next, and how long a run may take."""
        return nullcontext()

    def exchange(self, plan: Exchange, array: Array, out: Array | None = None) -> Array:
        """The elements of all arrays that this process wants (see `Exchange`)."""
        found = out if out is not None and plan.is_direct else self._xp.empty(plan.shape, array.dtype)
        source, target = travelling(array, plan.order), travelling(found, plan.order)

        def keep() -> None:
            if plan.kept is not None:
                here, there = plan.kept
                target[self._selector(there)] = source[self._selector(here)]

        self.sent_bytes += plan.sent * array.itemsize
        self.swap(plan.group, plan.sends, source, plan.receives, target, keep)
        return _in(out, found if plan.is_direct else place(self._xp, found, plan))

    def post(self, plan: Exchange, array: Array, what: str) -> Array:
        """
        An exchange between programs, of which `what` says what it is for: who only sends need not wait for it.

        Others may run their programs meanwhile. Raises `ValueError` (SW0902) where who sends takes it for another one.
        """
        return self.exchange(plan, array)

    def reduce_scatter(self, plan: Reduction, array: Array, out: Array | None = None) -> Array:
        """Of arrays with one part along their first dim for each member, this member's part of all, combined."""
        order = (0, *(dim + 1 for dim in plan.order)) if plan.order else ()
        parts = self._xp.ascontiguousarray(travelling(array, order))
        mine = self._combined(plan, parts.reshape(-1)).reshape(parts.shape[1:])
        return _in(out, settled(mine, plan.order))

    def all_reduce(self, plan: Reduction, array: Array, out: Array | None = None) -> Array:
        """The arrays of all members combined, element by element."""
        given = self._xp.ascontiguousarray(travelling(array, plan.order))
        flat, group = given.reshape(-1), plan.group
        parts = _parts(group, flat.size)
        whole = self._xp.empty_like(flat)
        whole[parts.own.selector] = self._combined(plan, flat)
        self.sent_bytes += sum(piece.size for piece in parts.mine) * flat.itemsize
        self.swap(group, parts.mine, whole, parts.others, whole)
        return _in(out, settled(whole.reshape(given.shape), plan.order))

    def _combined(self, plan: Reduction, flat: Array) -> Array:
        """Each member has its part of an array; this member's part of all, combined in their order."""
        group = plan.group
        parts = _parts(group, flat.size)
        came = self._xp.empty((group.count, parts.own.size), flat.dtype)
        came[group.place] = flat[parts.own.selector]
        self.sent_bytes += sum(piece.size for piece in parts.others) * flat.itemsize
        self.swap(group, parts.others, flat, parts.rows, came)
        return reduce(self._xp, came, plan.kind, (0,))[0]

    def _selector(self, piece: Piece) -> tuple[Any, ...]:
        """The indices of a piece as arrays of the namespace take them."""
        return piece.selector


def all_reduce_elements(size: int, group: Group) -> int:
    """
    What a member gives away of so many elements at the bound: to those who combine a part, and its own part to all.

    >>> [all_reduce_elements(5, Group(0, (3,), (1,), place)) for place in range(3)]
    [6, 7, 7]
    """
    count = group.count
    own = size * (group.place + 1) // count - size * group.place // count
    return size - own + (count - 1) * own


def _in(out: Array | None, found: Array) -> Array:
    """What was found, in the array that was given for it."""
    if out is None or out is found:
        return found
    np.copyto(out, found)
    return out


def travelling(array: Array, order: Sequence[int]) -> Array:
    """An array with its dims in the order in which they travel."""
    return array.transpose(order) if order else array


def settled(array: Array, order: Sequence[int]) -> Array:
    """The inverse of that."""
    return array.transpose(np.argsort(order)) if order else array


@dataclass(frozen=True)
class _Parts:
    """
    Of a flat array, the part that each member of a group combines: this member's `own`, and those of the `others`.

    For each of the others there is its row of an array with a row for each member, and `mine`, which goes to it.
    """

    own: Piece
    others: tuple[Piece, ...]
    rows: tuple[Piece, ...]
    mine: tuple[Piece, ...]


@lru_cache(maxsize=256)
def _parts(group: Group, size: int) -> _Parts:
    """The parts of so many elements, which are kept: an engine knows a piece again."""

    def part(place: int) -> tuple[slice]:
        return (slice(size * place // group.count, size * (place + 1) // group.count),)

    own = Piece(group.place, part(group.place))
    places = [place for place in range(group.count) if place != group.place]
    return _Parts(
        own,
        _filled(Piece(place, part(place)) for place in places),
        _filled(Piece(place, (slice(place, place + 1), slice(0, own.size))) for place in places),
        _filled(Piece(place, own.index) for place in places),
    )


def _filled(pieces: Iterable[Piece]) -> tuple[Piece, ...]:
    """Those that have elements."""
    return tuple(piece for piece in pieces if piece.size)
