"""Which file holds a message: `PREFIX.pb` if it is whole, `PREFIX.cpb` if it is in chunks, and never both."""

from __future__ import annotations

import os
from pathlib import Path

from shardwright.serialization.errors import MergeError
from shardwright.serialization.files.siblings import supersedes
from shardwright.serialization.riegeli.chunks.scan import FILE_SIGNATURE

WHOLE, CHUNKED = ".pb", ".cpb"


def find_file(prefix: str | os.PathLike[str]) -> Path:
    """
    The file that holds the message called `prefix`, which may also be the file's own name.

    A `.pb` whose removal was cut short, so that the `.cpb` beside it says that it supersedes it, does not count.
    Raises `MergeError`: SW0830 if there is none, SW0831 if there are both, SW0832 if it is of the other kind.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "graph.pb").write_bytes(b"")
    >>> find_file(folder / "graph").name
    'graph.pb'
    """
    path = Path(prefix)
    if not path.name:
        raise MergeError("SW0830", f"no file can have the name {os.fspath(prefix)!r}")
    given = path.suffix if path.suffix in (WHOLE, CHUNKED) else ""
    stem = path.with_suffix("") if given else path
    files = [stem.with_name(stem.name + suffix) for suffix in (WHOLE, CHUNKED)]
    found = _valid(*files)
    if found is None and not given and os.path.isfile(path):
        raise MergeError("SW0830", f"{path} ends in neither .pb nor .cpb", help="give a file that ends in one of them")
    if found is None or (given and found.suffix != given):
        names = str(path) if given else " or ".join(map(str, files))
        raise MergeError("SW0830", f"there is no file {names}")
    _check_kind(found)
    return found


def _valid(whole: Path, chunked: Path) -> Path | None:
    """The one of two files that is there and counts, if any."""
    there = [file for file in (whole, chunked) if os.path.isfile(file)]
    if len(there) < 2:
        return there[0] if there else None
    if supersedes(chunked, whole):
        return chunked
    raise MergeError("SW0831", f"{chunked.name} stands beside it: one of them is stale", file=str(whole))


def _check_kind(file: Path) -> None:
    """What the file's ending says, its first bytes must be."""
    try:
        with file.open("rb") as stream:
            front = stream.read(len(FILE_SIGNATURE))
    except OSError as error:
        raise MergeError("SW0830", f"it cannot be read ({error.strerror})", file=str(file)) from None
    chunked = front == FILE_SIGNATURE
    if chunked and file.suffix == WHOLE:
        raise MergeError("SW0832", "it has chunks, and its name says that it has none", file=str(file))
    if not chunked and file.suffix == CHUNKED:
        kind = "it is empty" if not front else "it does not begin as a file of chunks does"
        raise MergeError("SW0832", kind, file=str(file))
