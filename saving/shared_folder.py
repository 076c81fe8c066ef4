"""A folder that the processes of a team write together, and that takes its place for all of them or for none."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

from shardwright.saving.team import Team
from shardwright.serialization.closing import Committing
from shardwright.serialization.files.atomic_folder import AtomicFolder, FolderPart


class SharedFolder(Committing):
    """
    An `AtomicFolder` of the first process, in which all processes write; `inside` is the way to it.

    `check` refuses places where nothing can be put, at first and just before the folder goes there. Each process has a
    lock on the folder while it writes, so that nobody takes it for a leftover; the last one to let go deletes what did
    not take its place. Raises `OSError` as `AtomicFolder` does, and where a process does not see the folder.

    >>> import tempfile
    >>> place = Path(tempfile.mkdtemp()) / "whole"
    >>> with Team.over([], "an example") as team, SharedFolder(team, place, False, lambda path: None) as folder:
    ...     _ = (folder.inside / "part").write_text("x")
    ...     place.exists()
    False
    >>> (place / "part").read_text()
    'x'
    """

    def __init__(self, team: Team, place: Path, replace: bool, check: Callable[[Path], None]) -> None:
        self._team, self._place, self._replace, self._check = team, place, replace, check
        team.agree("where they save", str(place))
        self._own: AtomicFolder | None = None
        name = os.fsdecode(team.first(self._begin))
        self._held: AtomicFolder | FolderPart | None = self._own or self._joined(name)
        self.inside = self._held.inside

    def commit(self) -> None:
        """Put the folder in its place, when every process has come so far; on an error it is discarded."""
        try:
            self._team.first(self._take_place)
        finally:
            self.discard()

    def discard(self) -> None:
        """Let go of the folder; what took its place stays."""
        held, self._held = self._held, None
        if held is not None:
            held.discard()

    def _begin(self) -> bytes:
        self._check(self._place)
        self._place.parent.mkdir(parents=True, exist_ok=True)
        self._own = AtomicFolder(self._place, self._replace)
        return os.fsencode(self._own.folder.name)

    def _joined(self, name: str) -> FolderPart:
        try:
            return FolderPart(self._place.parent / name)
        except FileNotFoundError as error:
            fault = f"process {self._team.clients.place} does not see what process 0 made there"
            raise OSError(errno.ENOENT, f"{fault}: all processes need the same file system") from error

    def _take_place(self) -> None:
        self._check(self._place)  # whatever came there in the meantime
        assert self._own is not None
        self._held = None
        self._own.commit()
