"""
The hashes of chunks: BLAKE3, of which a chunk has the first 128 bits.

A chunk's own checksum moves with it, so it says nothing of a chunk that came from another checkpoint. The hashes of all
chunks lie in one file, array by array in the order of the manifest; the manifest has the hash of that file.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from shardwright.saving.checkpoints.archive.chunks import HASH_BYTES
from shardwright.saving.faults import MissingPackageError

HASHES = "hashes"
"""The file with the hashes of all chunks."""


def chunk_hash() -> Callable[[Any], bytes]:
    """
    The function that gives the hash of a chunk's bytes, without holding the interpreter's lock.

    Raises `ImportError` (SW0877) when blake3 is not installed.

    >>> chunk_hash()(b"").hex()
    'af1349b9f5f9a1a6a0404dea36dcc949'
    """
    blake3 = _library().blake3
    return lambda data: blake3(data).digest(HASH_BYTES)


def running_hash() -> Any:
    """A hash that is updated piece by piece, and whose `hexdigest` has all 256 bits."""
    return _library().blake3()


def table_hash(hashes: bytes) -> str:
    """
    The hash of the file of hashes.

    >>> table_hash(b"")[:16]
    'af1349b9f5f9a1a6'
    """
    return _library().blake3(hashes).hexdigest()


def _library() -> Any:
    try:
        return import_module("blake3")
    except ImportError:
        raise MissingPackageError("SW0877", "checkpoints need blake3") from None
