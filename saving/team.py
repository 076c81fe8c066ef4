"""
Processes that save or load together: all of them or none.

They talk in votes. In each of them a process says that it is well, or what failed; the first one looks at what all of
them say, may do something for all, and tells them how it went. A process that fails votes once more and leaves; which
vote of the others meets this one does not matter, as all votes are alike.
"""

from __future__ import annotations

import hashlib
import json
import socket
from collections.abc import Callable, Iterable
from typing import Self

from shardwright.engines import processes
from shardwright.engines.jobs.job import Job
from shardwright.layout import Layout, Mesh
from shardwright.saving.faults import SavingError

Decide = Callable[[list[bytes]], bytes]
"""What the first process does with what all of them say; what it gives goes to all."""

_WELL, _FAILED = b"\0", b"\1"

_TOLD_BYTES = 400
"""What the processes are told of each other where they disagree."""


class Team:
    """
    The processes of a job while they save or load something; leaving it is the last vote.

    Raises `ValueError` (SW0895) where another process failed; the one that did has an error of its own.

    >>> with Team.over([Mesh(x=2)], "a test") as team:
    ...     team.vote(b"mine", lambda given: given[0] + b" and yours")
    b'mine and yours'
    """

    def __init__(self, job: Job, what: str) -> None:
        self.clients = job.clients
        self._job, self._what = job, what
        self._over = False

    @classmethod
    def over(cls, meshes: Iterable[Mesh | Layout | None], what: str) -> Team:
        """The processes over which some meshes are spread, or those of layouts; `what` they are about to do."""
        found = [item.mesh if isinstance(item, Layout) else item for item in meshes if item is not None]
        return cls(processes.job_of(found), what)

    @property
    def is_first(self) -> bool:
        """Whether this is the process that does what one has to do for all."""
        return self.clients.place == 0

    def vote(self, mine: bytes = b"", decide: Decide | None = None) -> bytes:
        """
        What `decide` makes, on the first process, of what each process gives.

        Where one failed, or `decide` does, all processes raise: those which did not, SW0895.
        """
        given = self._job.gather(_WELL + mine, self._what)
        own: BaseException | None = None
        verdict = b""
        if self.is_first:
            try:
                failed = next((said for said in given if said.startswith(_FAILED)), None)
                verdict = failed or _WELL + (decide([said[1:] for said in given]) if decide is not None else b"")
            except BaseException as error:
                own, verdict = error, self._failure(error)
        verdict = self._job.broadcast(verdict, self._what)
        if verdict.startswith(_WELL):
            return verdict[1:]
        self._over = True
        raise _elsewhere(verdict, self._what) if own is None else own

    def first(self, work: Callable[[], bytes | None]) -> bytes:
        """What the first process finds or does; the others wait for it."""
        return self.vote(decide=lambda _: work() or b"")

    def agree(self, what: str, mine: str) -> None:
        """Raises `ValueError` (SW0902) on every process where one says something else than the others."""
        text = mine.encode(errors="backslashreplace")
        said = json.loads(self.vote(hashlib.sha256(text).digest() + text[:_TOLD_BYTES], _differences))
        if said:
            raise SavingError("SW0902", f"the processes disagree on {what}", *said)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        if self._over:
            return
        if error is None:
            self.vote()
            return
        self._job.gather(self._failure(error), self._what)
        self._job.broadcast(self._failure(error), self._what)

    def _failure(self, error: BaseException) -> bytes:
        text = str(error) or type(error).__name__
        return _FAILED + json.dumps([self.clients.place, socket.gethostname(), text]).encode()


def _differences(given: list[bytes]) -> bytes:
    """Nothing, or what each process said."""
    differ = len({said[: hashlib.sha256().digest_size] for said in given}) > 1
    told = [said[hashlib.sha256().digest_size :].decode(errors="replace") for said in given]
    notes = [f"process {place}: {text}" for place, text in enumerate(told)]
    return json.dumps(notes[:8] if differ else []).encode()


def _elsewhere(verdict: bytes, what: str) -> SavingError:
    place, host, text = json.loads(verdict[1:])
    return SavingError("SW0895", f"{what} failed on process {place}, on {host}", *text.splitlines())
