"""Many processes as threads of this one: what `Communicator` promises, with queues in place of a network."""

from __future__ import annotations

import queue
import threading
from collections import defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np

from shardwright.layout.forms.clients import Clients
from shardwright.runtime.processes.communicator import Communicator, Part
from shardwright.runtime.processes.crossing import Group

T = TypeVar("T")

SECONDS = 60
"""How long a process waits for another before the test fails."""


class Threads(Communicator):
    """One process of several, which all share the mail."""

    def __init__(self, clients: Clients, mail: defaultdict[Any, queue.Queue[Any]]) -> None:
        super().__init__(clients)
        self._mail = mail

    def swap(self, group: Group, sends: Sequence[Part], receives: Sequence[Part]) -> None:
        for piece, array in sends:
            self._box(group, group.place, piece.peer).put(np.array(array[piece.selector]))
        for piece, array in receives:
            array[piece.selector] = self._box(group, piece.peer, group.place).get(timeout=SECONDS)

    def _box(self, group: Group, source: int, target: int) -> queue.Queue[Any]:
        return self._mail[group.members, source, target]


def on_processes(count: int, work: Callable[[Communicator], T]) -> list[T]:
    """What `work` gives on each of so many processes."""
    lock = threading.Lock()

    class Mail(defaultdict[Any, "queue.Queue[Any]"]):
        def __missing__(self, key: Any) -> queue.Queue[Any]:
            with lock:
                return self.setdefault(key, queue.Queue())

    mail = Mail()
    with ThreadPoolExecutor(count) as pool:
        waiting = [pool.submit(work, Threads(Clients(count, place), mail)) for place in range(count)]
        return [each.result() for each in waiting]
