"""An array in another library's storage, read box by box into a layout."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from shardwright.frontends.functions.dtensor import DTensor
from shardwright.layout import Layout
from shardwright.layout.boxes import Box
from shardwright.runtime.codegen.arena import machine_bytes
from shardwright.saving.checkpoints.archive.chunks import box_size
from shardwright.saving.checkpoints.boxes import empty_stacked, holdings, stacked_shape
from shardwright.saving.faults import SavingError


@dataclass(frozen=True)
class Stored(ABC):
    """An array that is read when somebody wants it; `name` is what `load_variables` calls it."""

    name: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]

    @abstractmethod
    def part(self, box: Box) -> np.ndarray[Any, Any]:
        """The elements in a box. Raises `ValueError` (SW0896, SW0897) for storage that has become less."""

    def parts(self, boxes: Iterable[Box]) -> Iterator[np.ndarray[Any, Any]]:
        """The elements in each of some boxes, one at a time."""
        return map(self.part, boxes)

    def read(self, layout: Layout | None) -> Any:
        """
        The array in a layout, or as a NumPy array without one.

        Of several processes each reads its own boxes. Raises `ValueError`: SW0879 for a layout of partial results and
        for what no memory is large enough for, and what `part` raises.
        """
        if layout is None:
            self._check_memory(self.shape)
            return self.part(tuple((0, size) for size in self.shape))
        placed = layout.for_rank(len(self.shape))
        if placed.spec.partial:
            raise SavingError("SW0879", "nothing can be read into partial results", f"{self.name!r}: {layout}")
        placed.local_shape(self.shape)
        self._check_memory(stacked_shape(placed, self.shape))
        stacked = empty_stacked(self.name, placed, self.shape, self.dtype)
        wanted = [each for each in holdings(placed, self.shape) if each.here and box_size(each.box)]
        for holding, part in zip(wanted, self.parts([each.box for each in wanted]), strict=True):
            for place in holding.here:
                stacked[(*place, *map(slice, part.shape))] = part
        return DTensor(stacked, placed, self.shape)

    def _check_memory(self, shape: tuple[int, ...]) -> None:
        needed, have = math.prod(shape) * self.dtype.itemsize, machine_bytes()
        if needed > have:
            message = f"{self.name!r}, {self.dtype.name}{list(self.shape)}, takes {needed:,} bytes"
            help = "read it on a mesh of several processes, in a layout that splits it"
            raise SavingError("SW0879", message, f"this process may have {have:,}", help=help)
