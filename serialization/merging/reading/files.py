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
    there = [file for file in files if file.is_file()]
    if len(there) == 2 and supersedes(files[1], files[0]):
        there = files[1:]
    elif len(there) == 2:
        message = f"{there[1].name} stands beside it: one of them is stale"
        raise MergeError("SW0831", message, file=str(there[0]))
    if not there and not given and path.is_file():
        raise MergeError("SW0830", f"{path} ends in neither .pb nor .cpb", help="give a file that ends in one of them")
    if not there or (given and there[0].suffix != given):
        names = str(path) if given else " or ".join(map(str, files))
        raise MergeError("SW0830", f"there is no file {names}")
    _check_kind(there[0])
    return there[0]


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
