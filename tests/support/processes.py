"""Many processes as threads of this one: what `Communicator` and `Job` promise, with queues in place of a network."""

from __future__ import annotations

import queue
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
import pytest

from shardwright.engines.jobs.job import Alone, Job
from shardwright.layout import Mesh
from shardwright.layout.forms.clients import Clients
from shardwright.runtime.processes.communicator import Array, Communicator, nothing
from shardwright.runtime.processes.crossing import Group, Piece

T = TypeVar("T")

SECONDS = 60
"""How long a process waits for another before the test fails."""


class Threads(Communicator):
    """One process of several, which all share the mail."""

    def __init__(self, clients: Clients, mail: defaultdict[Any, queue.Queue[Any]]) -> None:
        super().__init__(clients)
        self._mail = mail

    def swap(
        self,
        group: Group,
        sends: Sequence[Piece],
        source: Array,
        receives: Sequence[Piece],
        target: Array,
        meanwhile: Callable[[], None] = nothing,
    ) -> None:
        for piece in sends:
            self._box(group, group.place, piece.peer).put(np.array(source[piece.selector]))
        meanwhile()
        for piece in receives:
            target[piece.selector] = self._box(group, piece.peer, group.place).get(timeout=SECONDS)

    def _box(self, group: Group, source: int, target: int) -> queue.Queue[Any]:
        return self._mail[group.member(source), group.member(target), replace(group, place=0)]


class Mail(defaultdict[Any, "queue.Queue[Any]"]):
    """A queue for whatever is asked for, made by whoever asks first."""

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Lock()

    def __missing__(self, key: Any) -> queue.Queue[Any]:
        with self._lock:
            return self.setdefault(key, queue.Queue())


class ThreadJob(Job):
    """One process of a job, which all share the mail."""

    def __init__(self, clients: Clients, mail: Mail) -> None:
        self.clients, self._mail = clients, mail

    def gather(self, data: bytes, what: str) -> list[bytes]:
        if self.clients.place > 0:
            self._mail["gather", self.clients.place].put(data)
            return []
        others = range(1, self.clients.count)
        return [data, *[self._mail["gather", place].get(timeout=SECONDS) for place in others]]

    def broadcast(self, data: bytes, what: str) -> bytes:
        if self.clients.place > 0:
            return self._mail["broadcast", self.clients.place].get(timeout=SECONDS)
        for place in range(1, self.clients.count):
            self._mail["broadcast", place].put(data)
        return data


def on_processes(count: int, work: Callable[[Communicator], T]) -> list[T]:
    """What `work` gives on each of so many processes."""
    mail = Mail()
    return _each(count, lambda clients: work(Threads(clients, mail)))


def on_job(patch: pytest.MonkeyPatch, count: int, work: Callable[[Clients], T]) -> list[T]:
    """What `work` gives on each process of a job, which is that of every mesh that is seen by such clients."""
    mail = Mail()

    def job_of(meshes: Iterable[Mesh]) -> Job:
        spread = [mesh.clients for mesh in meshes if mesh.num_clients > 1]
        return ThreadJob(spread[0], mail) if spread else Alone()

    with patch.context() as patched:
        patched.setattr("shardwright.engines.processes.job_of", job_of)
        found = _each(count, work)
    assert all(queue.empty() for queue in mail.values()), "a process said what nobody heard"
    return found


def _each(count: int, work: Callable[[Clients], T]) -> list[T]:
    with ThreadPoolExecutor(count) as pool:
        waiting = [pool.submit(work, Clients(count, place)) for place in range(count)]
        for each in as_completed(waiting):
            each.result()  # of several errors the first one: others may only have waited for who had it
        return [each.result() for each in waiting]
