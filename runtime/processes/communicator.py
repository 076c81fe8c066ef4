"""
What a program of many processes needs of whatever connects them: to swap elements within a group.

All collectives across processes are made of one primitive, `swap`. An engine that has better reductions than the one
written here (of parts in the order of the group, summed as in one process) overrides `all_reduce`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from shardwright.layout.forms.clients import Clients
from shardwright.runtime.kernels.shape import reduce
from shardwright.runtime.processes.crossing import Exchange, Group, Piece, Reduction, place

Array = np.ndarray[Any, Any]


class Communicator(ABC):
    """
    Connects the processes that run one program; every process calls the same methods in the same order.

    `sent_bytes` counts what this process handed over to go to others. Results are new arrays, or written to `out`.
    """

    def __init__(self, clients: Clients) -> None:
        self.clients = clients
        self.sent_bytes = 0

    @abstractmethod
    def swap(
        self, group: Group, sends: Sequence[Piece], source: Array, receives: Sequence[Piece], target: Array
    ) -> None:
        """Sends pieces of an array to other members of the group, and writes into another what they send."""

    def running(self, program: str) -> AbstractContextManager[None]:
        """Around each run: whether all processes run the same program next, and how long a run may take."""
        return nullcontext()

    def exchange(self, plan: Exchange, array: Array, out: Array | None = None) -> Array:
        """The elements of all arrays that this process wants (see `Exchange`)."""
        found = out if out is not None and plan.is_direct else np.empty(plan.shape, array.dtype)
        source, target = travelling(array, plan.order), travelling(found, plan.order)
        if plan.kept is not None:
            here, there = plan.kept
            target[there.selector] = source[here.selector]
        self._swap(plan.group, plan.sends, source, plan.receives, target)
        return _in(out, found if plan.is_direct else place(found, plan))

    def reduce_scatter(self, plan: Reduction, array: Array, out: Array | None = None) -> Array:
        """Of arrays with one part along their first dim for each member, this member's part of all, combined."""
        order = (0, *(dim + 1 for dim in plan.order)) if plan.order else ()
        parts = np.ascontiguousarray(travelling(array, order))
        mine = self._combined(plan, parts.reshape(-1)).reshape(parts.shape[1:])
        return _in(out, settled(mine, plan.order))

    def all_reduce(self, plan: Reduction, array: Array, out: Array | None = None) -> Array:
        """The arrays of all members combined, element by element."""
        given = np.ascontiguousarray(travelling(array, plan.order))
        flat, group = given.reshape(-1), plan.group
        own, others = _own_and_others(group, flat.size)
        whole = np.empty_like(flat)
        whole[own.selector] = self._combined(plan, flat)
        self._swap(group, [Piece(piece.peer, own.index) for piece in others], whole, others, whole)
        return _in(out, settled(whole.reshape(given.shape), plan.order))

    def _combined(self, plan: Reduction, flat: Array) -> Array:
        """Each member has its part of an array; this member's part of all, combined in their order."""
        group = plan.group
        own, others = _own_and_others(group, flat.size)
        came = np.empty((group.count, own.size), flat.dtype)
        came[group.place] = flat[own.selector]
        receives = [Piece(piece.peer, (slice(piece.peer, piece.peer + 1), slice(0, own.size))) for piece in others]
        self._swap(group, others, flat, receives, came)
        return reduce(np, came, plan.kind, (0,))[0]

    def _swap(
        self, group: Group, sends: Sequence[Piece], source: Array, receives: Sequence[Piece], target: Array
    ) -> None:
        """Pieces of one array for pieces of another, without those that are empty."""
        outgoing = [piece for piece in sends if piece.size]
        self.sent_bytes += sum(piece.size for piece in outgoing) * source.itemsize
        self.swap(group, outgoing, source, [piece for piece in receives if piece.size], target)


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


@lru_cache(maxsize=256)
def _own_and_others(group: Group, size: int) -> tuple[Piece, tuple[Piece, ...]]:
    """The part of a flat array that each member of the group has to combine: this member's and those of the others."""
    bounds = [size * at // group.count for at in range(group.count + 1)]
    parts = [Piece(place, (slice(*pair),)) for place, pair in enumerate(pairwise(bounds))]
    return parts[group.place], tuple(parts[place] for place in group.others)
