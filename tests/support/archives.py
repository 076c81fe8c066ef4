"""What lies where in a checkpoint's archive, as Python's `zipfile` finds it."""

from __future__ import annotations

import os
import struct
import zipfile
from pathlib import Path

ARCHIVE = "arrays.zarr.zip"


def span(checkpoint: Path, member: str) -> tuple[int, int]:
    """Where a member's bytes begin and end, behind a header of 30 bytes, its name and its extra field."""
    with zipfile.ZipFile(checkpoint / ARCHIVE) as archive, (checkpoint / ARCHIVE).open("rb") as file:
        info = archive.getinfo(member)
        file.seek(info.header_offset)
        name, extra = struct.unpack("<26xHH", file.read(30))
    start = info.header_offset + 30 + name + extra
    return start, start + info.file_size


def put(checkpoint: Path, at: int, data: bytes) -> None:
    """Changes bytes of the archive."""
    descriptor = os.open(checkpoint / ARCHIVE, os.O_RDWR)
    try:
        assert os.pwrite(descriptor, data, at) == len(data)
    finally:
        os.close(descriptor)


def flip(checkpoint: Path, member: str, at: int = 0) -> None:
    """Changes a bit of a member."""
    place = span(checkpoint, member)[0] + at
    put(checkpoint, place, bytes([(checkpoint / ARCHIVE).read_bytes()[place] ^ 0x80]))


def copy_chunk(source: Path, target: Path, member: str) -> None:
    """Puts a member of one archive in the place of the same one of another, which has that size."""
    start, stop = span(source, member)
    there, end = span(target, member)
    assert stop - start == end - there
    put(target, there, (source / ARCHIVE).read_bytes()[start:stop])
