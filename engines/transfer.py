"""Copies of distributed tensors between meshes, of the same devices or of others."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from shardwright.engines.dtensor_value import DTensorValue, scatter
from shardwright.engines.owned.owners import Absent
from shardwright.engines.owned.parts import Parts
from shardwright.engines.processes import communicator_of_all
from shardwright.layout import Layout
from shardwright.layout.planning.algebra import whole_shape
from shardwright.layout.planning.transfers import lacking_elements
from shardwright.runtime.atoms import Atoms
from shardwright.runtime.ledger import Ledger, Message
from shardwright.runtime.processes.crossing import Exchange, Side, plan_transfer
from shardwright.runtime.stacking import gather, merge_atoms, padded, split_atoms, split_dims


def count_transfer(source: DTensorValue, target: Layout, ledger: Ledger) -> None:
    """
    Enters in the ledger what each device of the target's mesh receives on average.

    A device that is part of both meshes keeps what it has; devices without names are numbered.
    """
    lacking = lacking_elements(source.layout, target, source.shape) * source.dtype.itemsize
    ledger.note(Message("transfer", (), target.mesh.size, 0, Fraction(1)), lacking)


def moved(source: DTensorValue, target: Layout) -> np.ndarray[Any, Any] | Parts:
    """
    The stacked form of a tensor's copy under a layout on another mesh, or what stands for it on other processes.

    Between processes each gets what it lacks, once, and whoever has no part in it goes on. A mesh of one process is
    there on every process by itself: all of it goes to each.
    """
    layout = target.for_rank(len(source.shape))
    if source.mesh.clients.everyone.count == 1 or source.layout.spec.partial:  # the latter is refused by numpy()
        return scatter(source.numpy(), layout)
    before, after, plan = _planned(source.layout, layout, source.shape)
    if not before.is_here and not after.is_here:
        return Absent(after.empty_shape, source.dtype, layout.mesh)
    what = f"a copy of {source.dtype.name}{list(source.shape)} from {source.layout} to {layout}"
    array = before.block(source.stacked) if before.is_here else np.empty((0,) * len(source.shape), source.dtype)
    found = communicator_of_all(source.mesh).post(plan, array, what)
    return after.stacked(after.padded(found)) if after.is_here else Absent(after.empty_shape, source.dtype, layout.mesh)


@lru_cache(maxsize=256)
def _planned(source: Layout, target: Layout, shape: tuple[int, ...]) -> tuple[_Held, _Held, Exchange]:
    """What this process has and is to have, and who sends what: the same for each tensor of this shape."""
    before, after = _Held(source, shape), _Held(target, shape)
    return before, after, plan_transfer(shape, before.side, after.side, (before.whole, after.whole))


class _Held:
    """Which elements of a tensor a process holds under a layout, as one block, and what pads it to equal parts."""

    def __init__(self, layout: Layout, shape: tuple[int, ...]) -> None:
        spec, mesh = layout.for_rank(len(shape)).spec, layout.mesh
        self._spec, self._shape = spec, shape
        self.whole = whole_shape(spec, shape, mesh)
        self._atoms = Atoms.cut(mesh, spec.axes(), mesh.clients)
        self._dims = self._atoms.dims(spec)
        self.empty_shape = (1,) * len(mesh.axis_names) + layout.local_shape(shape)

    @property
    def is_here(self) -> bool:
        """Whether this process holds any."""
        return self._atoms.clients.is_here

    @property
    def side(self) -> Side:
        """Who has what."""
        return Side.of_all(self._atoms, self._dims)

    def block(self, stacked: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """What this process holds of a tensor, without leading dims."""
        whole = gather(split_atoms(stacked, self._spec, self._atoms), self._spec, self._atoms)
        return np.require(whole, requirements="C")  # a number stays one

    def padded(self, block: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Such a block, of which the elements came in, with what nobody may look at behind them."""
        own = [self.side.own(dim, extent) for dim, extent in enumerate(self.whole)]
        there = [int(np.searchsorted(each, extent)) for each, extent in zip(own, self._shape, strict=True)]
        return padded(block[tuple(map(slice, there))], block.shape)

    def stacked(self, block: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """The stacked form of such a block."""
        atoms = self._atoms
        split = split_dims(block[(None,) * atoms.count], atoms.held_dims(self._dims), atoms)
        return merge_atoms(split, atoms)
