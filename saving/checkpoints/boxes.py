"""Which devices hold which box of a tensor, and where the box lies in the tensor's stacked form."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np

from shardwright.layout import Layout, Mesh
from shardwright.layout.boxes import Box, box
from shardwright.saving.faults import SavingError

Place = tuple[int, ...]

NOWHERE = Layout([], Mesh())
"""The layout of an array that is not distributed."""


@dataclass(frozen=True)
class Holding:
    """
    A box, and where it lies in the stacked form of the whole mesh.

    That has one place for all devices that never differ.
    """

    box: Box
    mesh: Mesh
    same: tuple[str, ...]
    """The mesh axes along which the stacked form has size 1."""
    places: list[Place] = field(default_factory=list[Place])

    @property
    def device_count(self) -> int:
        """The number of devices that hold the box."""
        return len(self.places) * math.prod(self.mesh.dim_size(name) for name in self.same)

    @property
    def here(self) -> list[Place]:
        """Where the box lies in the stacked form of this process, once for each of its devices that differ."""
        if not self.mesh.clients.is_here:
            return []
        if self.mesh.num_clients == 1:
            return self.places
        block, mesh = self.mesh.client_shape, self.mesh
        axes = list(zip(_first(mesh), block, mesh.axis_names, strict=True))
        found: list[Place] = []
        for place in self.places:
            held = [0 if name in self.same else at - start for at, (start, _, name) in zip(place, axes, strict=True)]
            if all(0 <= at < size for at, size in zip(held, block, strict=True)):
                found.append(tuple(held))
        return found

    def process(self, device: int) -> int:
        """The number of a device's process in the job: each has as many, one after the other."""
        clients = self.mesh.clients
        return clients.first + device * clients.count // self.mesh.size

    def owner(self, turn: int) -> int:
        """
        The device, as a place in its mesh, whose turn it is to write: the holders of a box take turns.

        >>> [Holding(((0, 4),), Mesh(x=2, y=2), ("y",), [(1, 0)]).owner(turn) for turn in range(3)]
        [2, 3, 2]
        """
        turn, nth = divmod(turn % self.device_count, len(self.places))
        coordinates = list(self.places[nth])
        device = 0
        for dim, (name, size) in enumerate(self.mesh.sizes.items()):
            if name in self.same:
                turn, coordinates[dim] = divmod(turn, size)
            device = device * size + coordinates[dim]
        return device


def stacked_shape(layout: Layout, shape: tuple[int, ...]) -> tuple[int, ...]:
    """
    The stacked form's shape: the size of each mesh axis that the layout names, else 1, then a device's shape.

    Of a mesh over several processes it is that of the block of this process.

    >>> stacked_shape(Layout(["y"], Mesh(x=2, y=4)), (8, 3))
    (1, 4, 2, 3)
    """
    same = _same(layout)
    held = zip(layout.mesh.axis_names, layout.mesh.client_shape, strict=True)
    lead = tuple(1 if name in same else size for name, size in held)
    return lead + layout.local_shape(shape)


def empty_stacked(name: str, layout: Layout, shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """
    Memory for what this process holds of an array, zeros where parts are padded.

    Raises `ValueError` (SW0879) where there is too little.
    """
    here = shape if layout is NOWHERE else stacked_shape(layout, shape)
    make = np.zeros if layout.splits_unevenly(shape) else np.empty
    try:
        return make(here, dtype)
    except MemoryError as error:
        raise SavingError("SW0879", f"{name!r}: there is no memory for {list(here)}") from error


@lru_cache(1 << 10)
def holdings(layout: Layout, shape: tuple[int, ...]) -> Sequence[Holding]:
    """
    The boxes into which a layout cuts a tensor, each once, with its holders.

    >>> [(part.box, part.places) for part in holdings(Layout(["x"], Mesh(x=2, y=4)), (8,))]
    [(((0, 4),), [(0, 0)]), (((4, 8),), [(1, 0)])]
    """
    mesh, spec, same = layout.mesh, layout.for_rank(len(shape)).spec, _same(layout)
    found: dict[Box, Holding] = {}
    for place in product(*[range(1 if name in same else size) for name, size in mesh.sizes.items()]):
        part = box(spec, shape, mesh, dict(zip(mesh.axis_names, place, strict=True)))
        found.setdefault(part, Holding(part, mesh, same)).places.append(place)
    return tuple(found.values())


def _first(mesh: Mesh) -> Place:
    """The coordinates of the first device of this process."""
    device, found = mesh.size // mesh.num_clients * mesh.clients.place, list[int]()
    for size in reversed(mesh.shape):
        device, at = divmod(device, size)
        found.append(at)
    return tuple(reversed(found))


def _same(layout: Layout) -> tuple[str, ...]:
    used = {axis.name for axis in layout.spec.axes()}
    return tuple(name for name in layout.mesh.axis_names if name not in used)
