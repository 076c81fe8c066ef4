"""
The hashes of an array's chunks: made of what is written, compared with what is read.

A chunk's own checksum lies beside it and moves with it, so it says nothing of a chunk that came from another
checkpoint. An array's table has a hash of each chunk, in the order of the grid of chunks: whoever reads a box finds
those of its chunks there. The tables of all arrays lie one after the other in one file; the manifest has their hashes.
"""

from __future__ import annotations

import hashlib
from itertools import product
from typing import Any

import numpy as np

from shardwright.layout.boxes import Box
from shardwright.saving.checkpoints.chunks import HASH_BYTES, Grid

HASHES = "hashes"
"""The file with the tables of all arrays."""

Table = np.ndarray[Any, Any]
"""Hashes in the grid of chunks: its shape, and then the bytes of one hash."""


def empty_table(grid: Grid) -> Table:
    """The table of an array, to be filled."""
    return np.zeros((*grid.chunks, HASH_BYTES), np.uint8)


def chunk_hashes(part: np.ndarray[Any, Any], grid: Grid) -> Table:
    """
    The hashes of the chunks of a part of an array, which begins where a chunk does.

    Of SHA-256 the first 128 bits: nobody finds another chunk that has them. Chunks at the end of a dim are hashed as
    far as the array goes.

    >>> chunk_hashes(np.zeros((4, 6), "int8"), Grid((4, 6), (4, 8), (2, 4), 1)).shape
    (2, 2, 16)
    """
    cuts = [
        [slice(start, start + extent) for start in range(0, size, extent)]
        for size, extent in zip(part.shape, grid.chunk, strict=True)
    ]
    found = b"".join(hashlib.sha256(part[(*cut, ...)].tobytes()).digest()[:HASH_BYTES] for cut in product(*cuts))
    return np.frombuffer(found, np.uint8).reshape(*map(len, cuts), HASH_BYTES)


def wrong_chunks(part: np.ndarray[Any, Any], place: Box, grid: Grid, table: Table) -> int:
    """How many chunks of a part, which lies at a place that begins and ends where chunks do, have other hashes."""
    expected = table[grid.chunk_slices(place)]
    return int((chunk_hashes(part, grid) != expected).any(axis=-1).sum())


def table_hash(table: bytes) -> str:
    """The hash of a table that the manifest has."""
    return hashlib.sha256(table).hexdigest()
