"""The ports on which processes listen, as Linux says it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path

_LISTEN = "0A"


def listening(process_ids: Iterable[int]) -> list[str]:
    """Each address and port, as the kernel writes them, on which one of these processes takes connections over TCP."""
    inodes = {inode for process_id in process_ids for inode in _sockets(process_id)}
    rows = [line.split() for name in ("tcp", "tcp6") for line in Path(f"/proc/net/{name}").read_text().split("\n")[1:]]
    return [row[1] for row in rows if row and row[3] == _LISTEN and row[9] in inodes]


def _sockets(process_id: int) -> Iterable[str]:
    for file in Path(f"/proc/{process_id}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # closed meanwhile
            target = os.readlink(file)
            if target.startswith("socket:["):
                yield target[len("socket:[") : -1]
