"""Work in threads: as many as there are processors, each taking the next job when it is done with one."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from threading import Lock, Thread
from typing import Any, TypeVar, cast

Job = TypeVar("Job")

MAX_THREADS = 8
"""More are of no use: memory is not faster than a few processors."""

_DONE = object()

_ROOM_BYTES = 32 << 20
"""What all threads together have as buffers."""


def thread_count(buffer_bytes: int) -> int:
    """How many threads may have a buffer of that size."""
    here = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(here, MAX_THREADS, _ROOM_BYTES // max(buffer_bytes, 1)))


def work_off(jobs: Iterable[Job], worker: Callable[[], Callable[[Job], Any]], count: int) -> None:
    """
    Does all jobs, in `count` threads, of which this is one; `worker` gives each thread what it does with a job.

    The first error ends all and is raised, when nobody works any more.

    >>> done = []
    >>> work_off(range(3), lambda: done.append, 2)
    >>> sorted(done)
    [0, 1, 2]
    """
    taking, lock, failed = iter(jobs), Lock(), list[BaseException]()

    def run() -> None:
        try:
            work = worker()
            while not failed:
                with lock:
                    job = next(taking, _DONE)
                if job is _DONE:
                    return
                work(cast("Job", job))
        except BaseException as error:  # whatever it is, it is raised below
            failed.append(error)

    threads = [Thread(target=run, daemon=True) for _ in range(count - 1)]
    for thread in threads:
        thread.start()
    run()
    for thread in threads:
        _join(thread, failed)
    if failed:
        raise failed[0]


def _join(thread: Thread, failed: list[BaseException]) -> None:
    """Waits for a thread, whatever interrupts that: what it works with is closed afterwards."""
    while thread.is_alive():
        try:
            thread.join()
        except BaseException as error:
            failed.append(error)
