"""Arguments and results of a compiled module: their layouts, and the form in which the engine takes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from shardwright.diagnostics import SourceLocation
from shardwright.layout.spec import LayoutSpec
from shardwright.runtime.atoms import Atoms
from shardwright.runtime.planning.strided import Strided
from shardwright.runtime.stacking import gather, local_shape, merge_atoms, merge_dims, scatter, split_atoms, split_dims


@dataclass(frozen=True)
class Port:
    """
    One argument or result: its global shape, dtype and layout, and the atoms of the mesh.

    The engine takes and returns its *base*: the global array, or the dense stacked array where the layout is partial
    (a global array has no room for partial results).
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    spec: LayoutSpec
    atoms: Atoms
    location: SourceLocation | None = None

    @property
    def stacked_shape(self) -> tuple[int, ...]:
        """The shape of the stacked array, a leading dim for each atom."""
        varying = self.atoms.positions(self.spec.axes())
        return self.atoms.lead(varying) + local_shape(self.shape, self.spec, self.atoms.mesh)

    @property
    def base_shape(self) -> tuple[int, ...]:
        """The shape of the base."""
        return self.stacked_shape if self.spec.partial else self.shape

    def window(self) -> Strided:
        """Where the stacked array's elements lie in the base."""
        if self.spec.partial:
            return Strided.dense(self.stacked_shape)
        count = self.atoms.count + len(self.shape)
        parts, _, order = self.atoms.splitting((*(1,) * self.atoms.count, *self.shape), self.atoms.dims(self.spec))
        split = Strided.dense(self.shape).reshape(parts)
        assert split is not None, "a dense window splits"
        return Strided(self.stacked_shape, split.transpose(order).strides[:count])

    def base_of(self, array: Any) -> np.ndarray[Any, Any]:
        """The base of a global array: row-major."""
        if self.spec.partial:
            return np.asarray(scatter(np.asarray(array), self.spec, self.atoms), order="C")
        return np.asarray(array, order="C")

    def global_of(self, base: Any) -> Any:
        """The global array of a base."""
        return gather(base, self.spec, self.atoms) if self.spec.partial else base

    def base_of_stacked(self, stacked: Any) -> np.ndarray[Any, Any]:
        """The base of a stacked form with a leading dim for each mesh axis."""
        cut = split_atoms(stacked, self.spec, self.atoms)
        if self.spec.partial:
            return np.asarray(np.broadcast_to(cut, self.stacked_shape), order="C")
        merged = merge_dims(cut, self.atoms.dims(self.spec), self.atoms)
        return np.asarray(merged.reshape(self.shape), order="C")

    def stacked_of(self, base: Any) -> Any:
        """The stacked form of a base, a leading dim for each mesh axis."""
        return merge_atoms(self.split(base), self.atoms)

    def split(self, base: Any) -> Any:
        """The stacked array of a base, a leading dim for each atom."""
        if self.spec.partial:
            return base
        return split_dims(base[(None,) * self.atoms.count], self.atoms.dims(self.spec), self.atoms)

    def merge(self, stacked: Any) -> Any:
        """The base of a stacked array with a leading dim for each atom."""
        if self.spec.partial:
            return stacked
        return merge_dims(stacked, self.atoms.dims(self.spec), self.atoms).reshape(self.shape)
