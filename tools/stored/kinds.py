"""What kind of stored thing a path is: a message, a saved directory, a checkpoint."""

from __future__ import annotations

import os
from enum import Enum
from pathlib import Path

from shardwright.diagnostics import ShardwrightError
from shardwright.diagnostics.registry import coded


class Kind(Enum):
    """What a path leads to."""

    MESSAGE = "message"
    DIRECTORY = "directory"
    CHECKPOINT = "checkpoint"


def kind_of(path: str) -> Kind:
    """
    The kind of what is at a path; a message may be named without its ending.

    Raises SW0727 for a directory that is neither.

    >>> kind_of("graph.pb")
    <Kind.MESSAGE: 'message'>
    """
    folder = Path(path)
    if not os.path.isdir(folder):
        return Kind.MESSAGE
    from shardwright.saving.checkpoints.manifest import MANIFEST

    if (folder / MANIFEST).exists():
        return Kind.CHECKPOINT
    if any((folder / f"saved_model{ending}").exists() for ending in (".pb", ".cpb")):
        return Kind.DIRECTORY
    message = f"'{path}' is a directory without saved_model.pb, saved_model.cpb or {MANIFEST}"
    raise ShardwrightError(coded("SW0727", message))
