"""What a manifest says of one array."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from shardwright.dialects.types import element_dtype, element_type_named
from shardwright.saving.checkpoints.archive.chunks import Grid


@dataclass(frozen=True, slots=True)
class ArrayEntry:
    """One array: its name, its number in the order of the manifest, its type, and how it is cut."""

    name: str
    number: int
    dtype: str
    grid: Grid

    @property
    def shape(self) -> tuple[int, ...]:
        return self.grid.shape

    @property
    def nbytes(self) -> int:
        """The bytes of its elements."""
        return self.grid.nbytes

    @property
    def element(self) -> np.dtype[Any]:
        """The element type, as NumPy and ml_dtypes have it."""
        return dtype_named(self.dtype)


@cache
def dtype_named(name: str) -> np.dtype[Any]:
    """
    The element type of a name; `TypeError` for what is none.

    >>> dtype_named("float32")
    dtype('float32')
    """
    return element_dtype(element_type_named(name))
