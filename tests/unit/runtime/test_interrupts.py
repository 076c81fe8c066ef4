"""Signals end programs that run, wherever they are, and what runs after is right."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import shardwright as sw
from shardwright.runtime.codegen.crew import Crew

MESH = sw.Mesh({"x": 4})
LARGE = np.ones((512, 512), np.float32)
LOOPS: dict[str, Callable[[], Any]] = {
    "outside of a function": lambda: sw.while_loop(lambda x: sw.asarray(True), lambda x: x + 1, np.float32(0)),
    "a program": lambda: counted(np.float32(0)),
    "a program on a mesh": lambda: counted(sw.relayout(np.zeros(8, np.float32), sw.Layout(["x"], MESH))),
    "blocks and products": lambda: mixed(LARGE),
}


@sw.function
def counted(x: Any) -> Any:
    return sw.while_loop(lambda y: True, lambda y: y + 1, x)


@sw.function
def mixed(x: Any) -> Any:
    return sw.while_loop(lambda y: sw.all(y < 2), lambda y: sw.tanh(sw.exp(y @ y / 512) * y), x)


@contextmanager
def interrupted_after(seconds: float, again: float = 0.0) -> Generator[None]:
    """What Ctrl-C raises comes after so many seconds, and again."""
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, seconds, again)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("loop", LOOPS.values(), ids=LOOPS)
def test_loops_without_end_are_interrupted(loop: Callable[[], Any]) -> None:
    with interrupted_after(0.3), pytest.raises(KeyboardInterrupt):
        loop()


def test_what_is_interrupted_waits_for_the_other_threads() -> None:
    crew, done = Crew(2), list[int]()

    def job(thread: int) -> None:
        time.sleep(0.2 * thread)
        done.append(thread)

    with interrupted_after(0.05), pytest.raises(KeyboardInterrupt):
        crew.share(job)
    assert done == [0, 1]


def test_where_the_wait_is_interrupted_too_the_next_job_waits() -> None:
    crew, done = Crew(2), list[str]()

    def slow(thread: int) -> None:
        time.sleep(0.4 * thread)
        done.append(f"slow {thread}")

    with interrupted_after(0.05, again=0.05), pytest.raises(KeyboardInterrupt):
        crew.share(slow)
    assert done == ["slow 0"]
    crew.share(lambda thread: done.append(f"next {thread}"))
    assert done[:2] == ["slow 0", "slow 1"]
    assert sorted(done[2:]) == ["next 0", "next 1"]


def test_a_crew_is_whole_wherever_it_was_interrupted() -> None:
    crew = Crew(3)

    def share_on() -> None:
        while True:
            crew.share(lambda thread: None)

    for attempt in range(15):
        done: list[int] = []
        with interrupted_after(1e-4 + 7e-6 * attempt), pytest.raises(KeyboardInterrupt):
            share_on()
        crew.share(done.append)
        assert sorted(done) == [0, 1, 2]
