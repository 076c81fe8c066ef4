"""Where this user's machine remembers what was worked out before."""

from __future__ import annotations

import os
from pathlib import Path

MEMORY = "SHARDWRIGHT_CACHE"
"""The environment variable that names the folder; empty where nothing is to be remembered."""


def memory_folder(kind: str) -> Path | None:
    """
    The folder in which what is of one kind is remembered; None where nothing is.

    It is in `$SHARDWRIGHT_CACHE`, by default in the user's folder of caches. All of it may be deleted at any time.

    >>> (memory_folder("proofs") or Path("proofs")).name
    'proofs'
    """
    default = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "shardwright"
    folder = os.environ.get(MEMORY, str(default))
    return Path(folder, kind) if folder else None
