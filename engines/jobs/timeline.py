"""
When this process runs programs, and when it waits for others: a file of events that Perfetto and Chrome show.

It is recorded where the environment names a file (`SHARDWRIGHT_TRACE=out.json`), and written when the process ends; of
several processes each writes its own, with its number behind the name. `shardwright launch --trace` makes them one.
"""

from __future__ import annotations

import atexit
import json
import os
import sys
import time
from collections.abc import Generator, Iterable
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from pathlib import Path
from typing import Any

from shardwright.diagnostics import ShardwrightError
from shardwright.diagnostics.caller import caller
from shardwright.layout.forms.clients import Clients

VARIABLE = "SHARDWRIGHT_TRACE"


class Timeline:
    """The events of one process, with times in microseconds since 1970, so that those of several fit together."""

    def __init__(self, process: int) -> None:
        self._process = process
        about = {"name": "process_name", "ph": "M", "pid": process, "args": {"name": f"process {process}"}}
        self._ended: list[dict[str, Any]] = [about]
        self._begun: list[dict[str, Any]] = []

    @contextmanager
    def span(self, what: str, kind: str) -> Generator[None]:
        """An event that lasts as long as what runs inside; it names the user's line."""
        place = {"name": f"{what} at {caller()}", "cat": kind, "ph": "X", "pid": self._process, "tid": 0}
        event = {**place, "ts": time.time_ns() / 1e3}
        self._begun.append(event)
        try:
            yield
        finally:
            self._begun.remove(event)
            self._ended.append(_until_now(event))

    @property
    def events(self) -> list[dict[str, Any]]:
        """All that there was, and what lasts until now: in a process that waits in vain, what it waits for."""
        return [*self._ended, *map(_until_now, list(self._begun))]


def _until_now(event: dict[str, Any]) -> dict[str, Any]:
    return {**event, "dur": time.time_ns() / 1e3 - event["ts"]}


def span(what: str, kind: str) -> AbstractContextManager[None]:
    """Around what is worth seeing: `kind` is `run`, `send` or `wait`."""
    timeline = _timeline()
    return nullcontext() if timeline is None else timeline.span(what, kind)


@contextmanager
def joined(path: Path, count: int) -> Generator[None]:
    """
    One file of those that the processes started inside write, also when they are ended; who died has left none.

    Raises `ShardwrightError` (SW0704) before they start where it cannot be written.
    """
    _prepare(path)
    parts = [_part(path, place, count) for place in range(count)] if count > 1 else []
    for part in parts:  # of a job that was killed
        part.unlink(missing_ok=True)
    try:
        yield
    finally:
        written = [part for part in parts if part.exists()]
        if written:
            _write_events(path, [event for part in written for event in json.loads(part.read_text())["traceEvents"]])
        for part in written:
            part.unlink()


def _prepare(path: Path) -> None:
    """Raises where a file cannot be written, before there is anything to lose; a pipe is written once."""
    if not (path.is_fifo() or path.is_char_device()):
        _write_events(path, [])


def _write_events(path: Path, events: Iterable[dict[str, Any]]) -> None:
    """A file in the format of Chrome's trace events."""
    # What writes files loads when there is one to write.
    from shardwright.serialization.files.text import write_atomically

    write_atomically(path, json.dumps({"traceEvents": list(events), "displayTimeUnit": "ms"}))


def _part(path: Path, place: int, count: int) -> Path:
    return path if count == 1 else path.with_name(f"{path.name}.{place}")


@cache
def _timeline() -> Timeline | None:
    """That of this process, if there is to be one; raises `ShardwrightError` (SW0704) where it cannot be written."""
    name = os.environ.get(VARIABLE)
    if not name:
        return None
    clients = Clients.found()
    timeline, path = Timeline(clients.place), _part(Path(name).absolute(), clients.place, clients.count)
    _prepare(path)
    _UNWRITTEN.append((timeline, path))
    atexit.register(finish)
    return timeline


_UNWRITTEN: list[tuple[Timeline, Path]] = []


def finish() -> None:
    """Writes the events of this process, which ends, also where Python does nothing at its end any more."""
    while _UNWRITTEN:
        _finish(*_UNWRITTEN.pop())


def _finish(timeline: Timeline, path: Path) -> None:
    try:
        _write_events(path, timeline.events)
    except ShardwrightError as error:  # nobody stands above who could say so
        print(error, file=sys.stderr)
