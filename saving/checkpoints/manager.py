"""`CheckpointManager`: the last few checkpoints of a training run, in one directory."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shardwright.diagnostics import ShardwrightValueError
from shardwright.saving.checkpoints.checkpoint import Checkpoint, write_checkpoint
from shardwright.saving.checkpoints.manifest import MANIFEST, read_head
from shardwright.saving.faults import checked_path, no_place, wrong_option
from shardwright.saving.team import Team
from shardwright.serialization.files.atomic_folder import remove_folder
from shardwright.serialization.files.pending import remove_leftovers
from shardwright.serialization.files.reading import real_path

_NAME = re.compile(r"[^\W_][\w.-]{0,199}")

_NUMBERS = 10**18


@dataclass(frozen=True)
class Saved:
    """A checkpoint in a directory: its number, when it was saved, in order and in seconds since 1970, and its path."""

    number: int
    sequence: float
    time: float
    path: Path


class CheckpointManager:
    """
    Saves checkpoints as `directory/ckpt-7` and keeps the last `max_to_keep` (as `tf.train.CheckpointManager` does).

    Older ones are deleted when a new one is there, not before; with `keep_checkpoint_every_n_hours` one of each such
    span of time stays. With `max_to_keep=None` all stay. Making a manager deletes what killed writers left in the
    directory, as each save does, and nothing else. `step_counter`, a variable or a function, gives the numbers where
    `save` is given none; with `checkpoint_interval` it saves only when so many steps were made.

    Raises `TypeError` (SW0878) for options out of their range.

    >>> import tempfile, shardwright
    >>> w = shardwright.Variable([1.0, 2.0])
    >>> manager = shardwright.CheckpointManager(shardwright.Checkpoint(w=w), tempfile.mkdtemp(), max_to_keep=2)
    >>> for step in range(4):
    ...     path = manager.save(step)
    >>> [path.rpartition("/")[2] for path in manager.checkpoints]
    ['ckpt-2', 'ckpt-3']
    >>> manager.restore_or_initialize() == manager.latest_checkpoint == path
    True
    """

    def __init__(
        self,
        checkpoint: Checkpoint,
        directory: str | os.PathLike[str],
        max_to_keep: int | None = 5,
        keep_checkpoint_every_n_hours: float | None = None,
        checkpoint_name: str = "ckpt",
        step_counter: Any = None,
        checkpoint_interval: int | None = None,
        init_fn: Callable[[], Any] | None = None,
    ) -> None:
        if not isinstance(checkpoint, Checkpoint):  # pyright: ignore[reportUnnecessaryIsInstance]  (untyped callers)
            raise wrong_option(f"a manager saves a Checkpoint, not {checkpoint!r}")
        if not isinstance(checkpoint_name, str) or not _NAME.fullmatch(checkpoint_name):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise wrong_option(f"checkpoint_name={checkpoint_name!r} is no name of letters, digits, '_', '.' and '-'")
        _check_positive("max_to_keep", max_to_keep, int)
        _check_positive("keep_checkpoint_every_n_hours", keep_checkpoint_every_n_hours, int | float)
        _check_positive("checkpoint_interval", checkpoint_interval, int)
        if checkpoint_interval is not None and step_counter is None:
            raise wrong_option("checkpoint_interval needs step_counter, which says how many steps were made")
        self.checkpoint = checkpoint
        self.directory = checked_path(directory)
        self.max_to_keep = max_to_keep
        self.checkpoint_interval = checkpoint_interval
        self._hours = keep_checkpoint_every_n_hours
        self._name = checkpoint_name
        self._step_counter = step_counter
        self._init = init_fn
        self._folder = Path(directory)
        if "\0" in self.directory:
            raise no_place(self._folder, "a name has no NUL")
        try:
            self._folder = real_path(directory)
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise no_place(self._folder, error) from error
        remove_leftovers(self._folder)

    @property
    def checkpoints(self) -> list[str]:
        """The paths of all complete checkpoints, in the order in which they were saved."""
        return [self._shown(saved) for saved in self._saved()]

    @property
    def latest_checkpoint(self) -> str | None:
        """The path of the checkpoint that was saved last, if there is one."""
        saved = self._saved()
        return self._shown(saved[-1]) if saved else None

    def save(self, checkpoint_number: int | None = None, check_interval: bool = True) -> str | None:
        """
        Saves a checkpoint under a number, by default that of the step counter, or the next one; its path.

        Returns None if `checkpoint_interval` has not passed since the last one, unless `check_interval` is false.
        Raises what `Checkpoint.save` raises; older checkpoints then stay.
        """
        found, given = self.checkpoint.found("saved"), self._given(checkpoint_number)
        at_interval = checkpoint_number is None and check_interval
        with Team.over(found.layouts, f"saving into {self.directory!r}") as team:
            plan = json.loads(team.first(lambda: json.dumps(self._plan(given, at_interval)).encode()))
            if plan is None:
                return None
            number, sequence = plan
            path = self._folder / f"{self._name}-{number if given is None else given}"
            write_checkpoint(path, found, team, sequence)
            team.first(self._remove_outdated)
        return os.path.join(self.directory, path.name)

    def _plan(self, given: int | None, at_interval: bool) -> tuple[int, int] | None:
        """The number and the place in the order of the next checkpoint; None if it is too early for it."""
        saved = self._saved()
        number = 1 + max((item.number for item in saved), default=0) if given is None else given
        interval = self.checkpoint_interval if at_interval and saved else None
        if interval is not None and number - saved[-1].number < interval:
            return None
        return number, 1 + max((math.floor(item.sequence) for item in saved), default=0)

    def _remove_outdated(self) -> None:
        for item in outdated(self._saved(), self.max_to_keep, self._hours):
            with suppress(FileNotFoundError):  # another manager was faster
                remove_folder(item.path)

    def restore_or_initialize(self, *, strict: bool = True) -> str | None:
        """
        Restores what was saved last; its path. If there is nothing, `init_fn` is called, and None returned.

        Raises what `Checkpoint.restore` raises: a damaged checkpoint is not passed over in silence.
        """
        latest = self._latest()
        while latest is not None:
            try:
                self.checkpoint.restore(latest, strict=strict)
                return os.path.join(self.directory, latest.name)
            except ShardwrightValueError:
                newest = self._latest(besides=latest)
                if newest == latest:
                    raise
                latest = newest  # newer ones are there, for which another manager deleted this one
        if self._init is not None:
            self._init()
        return None

    def _latest(self, besides: Path | None = None) -> Path | None:
        """The last checkpoint, the same for all processes; the one `besides` which there is one, while it is there."""

        def name() -> bytes:
            if besides is not None and besides.exists():
                return os.fsencode(besides.name)
            saved = self._saved()
            return os.fsencode(saved[-1].path.name) if saved else b""

        with Team.over(self.checkpoint.found("restored").layouts, f"reading {self.directory!r}") as team:
            found = os.fsdecode(team.first(name))
        return self._folder / found if found else None

    def _given(self, number: Any) -> int | None:
        """The number that was given, or that the step counter gives; None if neither does."""
        given: Any = number
        if given is None and self._step_counter is not None:
            given = self._step_counter() if callable(self._step_counter) else self._step_counter
        if given is None:
            return None
        try:
            found = int(given)
        except (TypeError, ValueError):
            found = -1
        if not 0 <= found < _NUMBERS or found != given:
            raise wrong_option(f"checkpoints are numbered by whole numbers from 0, not {given!r}")
        return found

    def _shown(self, saved: Saved) -> str:
        return os.path.join(self.directory, saved.path.name)

    def _saved(self) -> list[Saved]:
        """
        The complete checkpoints; one whose manifest does not say when it was saved comes by its number.

        There are none only if there were none at one moment: other managers may save and delete while we list them.
        """
        while True:
            before = self._folder.stat().st_mtime_ns
            saved, gone = self._listed()
            if saved or not (gone or self._folder.stat().st_mtime_ns != before):
                return saved

    def _listed(self) -> tuple[list[Saved], bool]:
        """The complete checkpoints of one listing, and whether any went meanwhile."""
        name = re.compile(rf"{re.escape(self._name)}-(0|[1-9]\d*)")
        found = [(int(match[1]), path) for path in self._folder.iterdir() if (match := name.fullmatch(path.name))]
        saved: list[Saved] = []
        for number, path in sorted(item for item in found if (item[1] / MANIFEST).is_file()):
            before = max((item.sequence for item in saved), default=0) + 0.5
            sequence, time = read_head(path) or (before, 0.0)
            saved.append(Saved(number, sequence, time, path))
        gone = any(not path.exists() for _, path in found)
        return sorted(saved, key=lambda item: (item.sequence, item.number)), gone


def outdated(saved: Sequence[Saved], keep: int | None, hours: float | None) -> list[Saved]:
    """
    The checkpoints that go: all but the last ones, and but one for each so many hours.

    >>> saved = [Saved(number, number, 3600.0 * number, Path()) for number in range(10)]
    >>> [item.number for item in outdated(saved, 2, 3)]
    [1, 2, 4, 5, 7]
    """
    if keep is None:
        return []
    gone: list[Saved] = []
    last = -math.inf
    for item in saved[:-keep]:
        if hours is not None and item.time - last >= hours * 3600:
            last = item.time
        else:
            gone.append(item)
    return gone


def _check_positive(what: str, value: Any, kind: Any) -> None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, kind) or not value > 0):
        raise wrong_option(f"{what}={value!r} is no {'whole number' if kind is int else 'number'} above 0")
