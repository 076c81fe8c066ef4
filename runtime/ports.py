"""Arguments and results of a compiled module: their layouts, and the form in which the engine takes them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from shardwright.diagnostics import SourceLocation
from shardwright.layout.spec import LayoutSpec
from shardwright.runtime.atoms import Atoms, DimAtoms
from shardwright.runtime.planning.strided import Strided
from shardwright.runtime.stacking import (
    atom_parts,
    axis_parts,
    gather,
    local_shape,
    merge_dims,
    padded,
    row_major,
    scatter,
)


@dataclass(frozen=True, slots=True)
class _Views:
    """How a stacked form becomes the base: it is reshaped, cut, filled up, and its dims are put into an order."""

    parts: tuple[int, ...]
    index: tuple[slice, ...]
    spread: tuple[int, ...]
    order: Sequence[int]


@dataclass(frozen=True)
class Port:
    """
    One argument or result: its shape, dtype and layout, and the atoms of the mesh.

    The shape divides as the layout splits it. Where that of the global array, `whole`, does not, the last parts have
    padding behind them, which no program looks at.

    The engine takes and returns its *base*: the global array (of several processes, each dim as far as this one holds
    it), or the dense stacked array where the layout is partial (a global array has no room for partial results).
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    spec: LayoutSpec
    atoms: Atoms
    location: SourceLocation | None = None
    unpadded: tuple[int, ...] | None = None
    """The shape of the global array, where it is another."""

    @property
    def whole(self) -> tuple[int, ...]:
        """The shape of the global array."""
        return self.shape if self.unpadded is None else self.unpadded

    @cached_property
    def positions(self) -> tuple[int, ...]:
        """The atoms along which devices differ."""
        return self.atoms.positions(self.spec.axes())

    @cached_property
    def stacked_shape(self) -> tuple[int, ...]:
        """The shape of the stacked array, a leading dim for each atom."""
        return self.atoms.lead(self.positions) + local_shape(self.shape, self.spec, self.atoms.mesh)

    @property
    def base_bytes(self) -> int:
        """The bytes of the base."""
        return math.prod(self.base_shape) * self.dtype.itemsize

    @cached_property
    def base_shape(self) -> tuple[int, ...]:
        """The shape of the base: of several processes', of what this one holds."""
        if self.spec.partial:
            return self.stacked_shape
        dims = self.atoms.dims(self.spec)
        shares = [self.atoms.group_size(self.atoms.across.intersection(positions)) for positions in dims]
        return tuple(extent // share for extent, share in zip(self.shape, shares, strict=True))

    @cached_property
    def _held(self) -> DimAtoms:
        """The atoms of this process that split each dim."""
        return self.atoms.held_dims(self.atoms.dims(self.spec))

    def window(self) -> Strided:
        """Where the stacked array's elements lie in the base."""
        if self.spec.partial:
            return Strided.dense(self.stacked_shape)
        parts, order = self._splitting
        split = Strided.dense(self.base_shape).reshape(parts)
        assert split is not None, "a dense window splits"
        return Strided(self.stacked_shape, split.transpose(order).strides[: self.atoms.count + len(self.shape)])

    def base_of(self, array: Any) -> np.ndarray[Any, Any]:
        """The base of a global array: row-major."""
        array = padded(np.asarray(array), self.shape)
        if self.spec.partial:
            return np.asarray(scatter(np.asarray(array), self.spec, self.atoms), order="C")
        return np.asarray(array, order="C")

    def global_of(self, base: Any) -> Any:
        """The global array of a base."""
        whole = gather(base, self.spec, self.atoms) if self.spec.partial else base
        return whole if self.unpadded is None else whole[tuple(map(slice, self.unpadded))]

    def base_of_stacked(self, stacked: Any) -> Any:
        """The base of a stacked form with a leading dim for each mesh axis."""
        views = self._views.get(stacked.shape)
        if views is None:
            views = self._views[stacked.shape] = self._views_of(stacked.shape)
        cut = stacked.reshape(views.parts)[views.index]
        spread = cut if cut.shape == views.spread else np.broadcast_to(cut, views.spread)
        return row_major(spread.transpose(views.order).reshape(self.base_shape))

    @cached_property
    def _views(self) -> dict[tuple[int, ...], _Views]:
        """For each shape of stacked forms that came, how they become the base."""
        return {}

    def _views_of(self, shape: tuple[int, ...]) -> _Views:
        parts, index = atom_parts(shape, self.spec, self.atoms)
        if self.spec.partial:
            return _Views(parts, index, self.stacked_shape, list(range(len(self.stacked_shape))))
        cut = tuple(len(range(extent)[at]) for extent, at in zip(parts, index, strict=False))
        spread, order, _ = self.atoms.merging((*cut, *parts[len(cut) :]), self._held)
        return _Views(parts, index, spread, order)

    def stacked_of(self, base: Any) -> Any:
        """The stacked form of a base, a leading dim for each mesh axis."""
        stacked = self.split(base)
        spread, merged = self._axis_parts
        return (stacked if stacked.shape == spread else np.broadcast_to(stacked, spread)).reshape(merged)

    @cached_property
    def _splitting(self) -> tuple[tuple[int, ...], list[int]]:
        """How the base becomes the stacked array: to what it is reshaped, and the order of its dims then."""
        parts, _, order = self.atoms.splitting((*(1,) * self.atoms.count, *self.base_shape), self._held)
        return parts, order

    @cached_property
    def _axis_parts(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        return axis_parts(self.stacked_shape, self.atoms)

    def split(self, base: Any) -> Any:
        """The stacked array of a base, a leading dim for each atom."""
        if self.spec.partial:
            return base
        parts, order = self._splitting
        moved = base.reshape(parts).transpose(order)
        return moved.reshape(moved.shape[: self.atoms.count + len(self.shape)])

    def merge(self, stacked: Any) -> Any:
        """The base of a stacked array with a leading dim for each atom."""
        if self.spec.partial:
            return stacked
        return merge_dims(stacked, self._held, self.atoms).reshape(self.base_shape)
