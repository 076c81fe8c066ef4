"""
What a program of many processes needs of whatever connects them: to swap elements within a group.

All collectives across processes are made of one primitive, `swap`. An engine that has better reductions than the one
written here (of parts in the order of the group, summed as in one process) overrides `all_reduce`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from shardwright.layout.forms.clients import Clients
from shardwright.runtime.kernels.shape import reduce
from shardwright.runtime.processes.crossing import Exchange, Group, Piece, Reduction, place

Array = np.ndarray[Any, Any]

Part = tuple[Piece, Array]
"""A piece of an array that goes to, or comes from, the process with the piece's place in the group."""


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
    def swap(self, group: Group, sends: Sequence[Part], receives: Sequence[Part]) -> None:
        """Sends pieces to other members of the group, and writes what they send."""

    def running(self, program: str) -> AbstractContextManager[None]:
        """Around each run: whether all processes run the same program next, and how long a run may take."""
        return nullcontext()

    def exchange(self, plan: Exchange, array: Array, out: Array | None = None) -> Array:
        """The elements of all arrays that this process wants (see `Exchange`)."""
        found = out if out is not None and plan.is_direct else self._xp.empty(plan.shape, array.dtype)
        if plan.kept is not None:
            here, there = plan.kept
            found[self._selector(there)] = array[self._selector(here)]
        self._swap_parts(plan.group, plan.sends, array, plan.receives, found)
        return _in(out, found if plan.is_direct else place(self._xp, found, plan))

    def reduce_scatter(self, plan: Reduction, array: Array, out: Array | None = None) -> Array:
        """Of arrays with one part along their first dim for each member, this member's part of all, combined."""
        parts = self._xp.ascontiguousarray(array)
        size = math.prod(parts.shape[1:])
        bounds = [size * at for at in range(len(parts) + 1)]
        return _in(out, self._combined(plan, parts.reshape(-1), bounds).reshape(parts.shape[1:]))

    def all_reduce(self, plan: Reduction, array: Array, out: Array | None = None) -> Array:
        """The arrays of all members combined, element by element."""
        flat, count = self._xp.ascontiguousarray(array).reshape(-1), len(plan.group.members)
        bounds = [flat.size * at // count for at in range(count + 1)]
        whole, place = self._xp.empty_like(flat), plan.group.place
        whole[bounds[place] : bounds[place + 1]] = self._combined(plan, flat, bounds)
        sends = [Piece(peer, _range(bounds, place)) for peer in _others(plan.group)]
        receives = [Piece(peer, _range(bounds, peer)) for peer in _others(plan.group)]
        self._swap_parts(plan.group, sends, whole, receives, whole)
        return _in(out, whole.reshape(array.shape))

    def _combined(self, plan: Reduction, flat: Array, bounds: Sequence[int]) -> Array:
        """Each member has the part between two of the bounds; this member's part of all, combined in their order."""
        place = plan.group.place
        mine = flat[bounds[place] : bounds[place + 1]]
        came = self._xp.empty((len(bounds) - 1, mine.size), flat.dtype)
        came[place] = mine
        sends = [Piece(peer, _range(bounds, peer)) for peer in _others(plan.group)]
        receives = [Piece(peer, (slice(peer, peer + 1), slice(0, mine.size))) for peer in _others(plan.group)]
        self._swap_parts(plan.group, sends, flat, receives, came)
        return reduce(self._xp, came, plan.kind, (0,))[0]

    def _selector(self, piece: Piece) -> tuple[Any, ...]:
        """The indices of a piece as arrays of the namespace take them."""
        return piece.selector

    def _swap_parts(
        self, group: Group, sends: Sequence[Piece], source: Array, receives: Sequence[Piece], target: Array
    ) -> None:
        """Pieces of one array for pieces of another, without those that are empty."""
        outgoing = [(piece, source) for piece in sends if 0 not in piece.shape]
        self.sent_bytes += sum(math.prod(piece.shape) for piece, _ in outgoing) * source.itemsize
        self.swap(group, outgoing, [(piece, target) for piece in receives if 0 not in piece.shape])


def _in(out: Array | None, found: Array) -> Array:
    """What was found, in the array that was given for it."""
    if out is None or out is found:
        return found
    np.copyto(out, found)
    return out


def _others(group: Group) -> list[int]:
    return [peer for peer in range(len(group.members)) if peer != group.place]


def _range(bounds: Sequence[int], at: int) -> tuple[slice, ...]:
    return (slice(bounds[at], bounds[at + 1]),)
