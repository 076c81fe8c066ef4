"""
When this process runs programs, and when it waits for others: a file of events that Perfetto and Chrome show.

It is recorded where the environment names a file (`SHARDWRIGHT_TRACE=out.json`), and written when the process ends; of
several processes each writes its own, with its number behind the name. `shardwright launch --trace` makes them one.
"""

from __future__ import annotations

import atexit
import json
import os
import time
from collections.abc import Generator, Iterable
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from pathlib import Path
from typing import Any

from shardwright.diagnostics.caller import caller
from shardwright.layout.forms.clients import Clients

VARIABLE = "SHARDWRIGHT_TRACE"


class Timeline:
    """The events of one process, with times in microseconds since 1970, so that those of several fit together."""

    def __init__(self, process: int) -> None:
        self._process = process
        about = {"name": "process_name", "ph": "M", "pid": process, "args": {"name": f"process {process}"}}
        self.events: list[dict[str, Any]] = [about]

    @contextmanager
    def span(self, what: str, kind: str) -> Generator[None]:
        """An event that lasts as long as what runs inside; it names the user's line."""
        start = time.time_ns()
        try:
            yield
        finally:
            place = {"name": f"{what} at {caller()}", "cat": kind, "ph": "X", "pid": self._process, "tid": 0}
            self.events.append({**place, "ts": start / 1e3, "dur": (time.time_ns() - start) / 1e3})


def span(what: str, kind: str) -> AbstractContextManager[None]:
    """Around what is worth seeing: `kind` is `run`, `send` or `wait`."""
    timeline = _timeline()
    return nullcontext() if timeline is None else timeline.span(what, kind)


def write_events(path: Path, events: Iterable[dict[str, Any]]) -> None:
    """A file in the format of Chrome's trace events, whole or not at all."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    draft.write_text(json.dumps({"traceEvents": list(events), "displayTimeUnit": "ms"}))
    draft.replace(path)


def join_files(path: Path, count: int) -> None:
    """Makes one file of those of several processes; who died has left none."""
    parts = [part for place in range(count) if (part := _part(path, place, count)).exists()]
    write_events(path, [event for part in parts for event in json.loads(part.read_text())["traceEvents"]])
    for part in parts:
        if part != path:
            part.unlink()


def _part(path: Path, place: int, count: int) -> Path:
    return path if count == 1 else path.with_name(f"{path.name}.{place}")


@cache
def _timeline() -> Timeline | None:
    name = os.environ.get(VARIABLE)
    if not name:
        return None
    clients = Clients.found()
    timeline, path = Timeline(clients.place), _part(Path(name).absolute(), clients.place, clients.count)
    atexit.register(lambda: write_events(path, timeline.events))
    return timeline
