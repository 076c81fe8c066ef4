"""
A `.pb` file beside a `.cpb` file: whether the one was superseded by the other, or one of them is stale.

Two files cannot change places in one step. `splitting/writing.py` has a `.cpb` file say which `.pb` file it
supersedes, so that a kill between two steps leaves no doubt.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from google.protobuf.message import DecodeError

from shardwright.serialization.hashing import HighwayHash64
from shardwright.serialization.protos import records_pb2
from shardwright.serialization.riegeli import RecordReader, RiegeliError

READ = 1 << 22


def sibling_of(pieces: Iterable[bytes | memoryview]) -> records_pb2.Sibling:
    """
    The size and hash of a file's bytes, by which another file knows it.

    >>> sibling_of([b"ab", b"c"]) == sibling_of([b"abc"])
    True
    """
    hasher, size = HighwayHash64(), 0
    for piece in pieces:
        hasher.update(piece)
        size += len(piece)
    return records_pb2.Sibling(size=size, hash=hasher.digest())


def sibling_file(file: Path) -> records_pb2.Sibling:
    """The size and hash of a file, read a few MiB at a time."""
    with file.open("rb") as source:
        return sibling_of(iter(lambda: source.read(READ), b""))


def supersedes(chunked: Path, whole: Path) -> bool:
    """Whether a `.cpb` file says that it takes the place of this very `.pb` file, byte by byte."""
    about = records_pb2.RecordsMetadata()
    try:
        with RecordReader(chunked) as reader:
            about.MergeFromString(reader.metadata or b"")
        stated = about.chunked_file.supersedes
        known = about.chunked_file.HasField("supersedes") and stated.size == whole.stat().st_size
        return known and stated == sibling_file(whole)
    except (RiegeliError, DecodeError, OSError):
        return False
