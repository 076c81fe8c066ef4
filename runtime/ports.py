"""Arguments and results of a compiled module: their layouts, and the form in which the engine takes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from shardwright.diagnostics import SourceLocation
from shardwright.layout.spec import LayoutSpec
from shardwright.runtime.atoms import Atoms, DimAtoms
from shardwright.runtime.planning.strided import Strided
from shardwright.runtime.stacking import (
    gather,
    local_shape,
    merge_atoms,
    merge_dims,
    padded,
    row_major,
    scatter,
    split_atoms,
    split_dims,
)


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

    @property
    def positions(self) -> tuple[int, ...]:
        """The atoms along which devices differ."""
        return self.atoms.positions(self.spec.axes())

    @property
    def stacked_shape(self) -> tuple[int, ...]:
        """The shape of the stacked array, a leading dim for each atom."""
        return self.atoms.lead(self.positions) + local_shape(self.shape, self.spec, self.atoms.mesh)

    @property
    def base_shape(self) -> tuple[int, ...]:
        """The shape of the base: of several processes', of what this one holds."""
        if self.spec.partial:
            return self.stacked_shape
        dims = self.atoms.dims(self.spec)
        shares = [self.atoms.group_size(self.atoms.across.intersection(positions)) for positions in dims]
        return tuple(extent // share for extent, share in zip(self.shape, shares, strict=True))

    @property
    def _held(self) -> DimAtoms:
        """The atoms of this process that split each dim."""
        return self.atoms.held_dims(self.atoms.dims(self.spec))

    def window(self) -> Strided:
        """Where the stacked array's elements lie in the base."""
        if self.spec.partial:
            return Strided.dense(self.stacked_shape)
        count = self.atoms.count + len(self.shape)
        shape = self.base_shape
        parts, _, order = self.atoms.splitting((*(1,) * self.atoms.count, *shape), self._held)
        split = Strided.dense(shape).reshape(parts)
        assert split is not None, "a dense window splits"
        return Strided(self.stacked_shape, split.transpose(order).strides[:count])

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
        cut = split_atoms(stacked, self.spec, self.atoms)
        if self.spec.partial:
            return row_major(np.broadcast_to(cut, self.stacked_shape))
        merged = merge_dims(cut, self._held, self.atoms)
        return row_major(merged.reshape(self.base_shape))

    def stacked_of(self, base: Any) -> Any:
        """The stacked form of a base, a leading dim for each mesh axis."""
        return merge_atoms(self.split(base), self.atoms)

    def split(self, base: Any) -> Any:
        """The stacked array of a base, a leading dim for each atom."""
        if self.spec.partial:
            return base
        return split_dims(base[(None,) * self.atoms.count], self._held, self.atoms)

    def merge(self, stacked: Any) -> Any:
        """The base of a stacked array with a leading dim for each atom."""
        if self.spec.partial:
            return stacked
        return merge_dims(stacked, self._held, self.atoms).reshape(self.base_shape)
