"""Recording runs: which line of a generated program ran when, and what it sent."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from types import FrameType
from typing import Any, Protocol

from shardwright.runtime.codegen.engines import SOURCE
from shardwright.runtime.codegen.images import GENERATED

_CALL = re.compile(r"\s+(?:[\w, ]+= *)?(?P<call>[\w.]+)\([^#]*(?:# (?P<place>.*))?")
_SILENT = re.compile(r"form\d+|xp\.empty|count|scratch_arrays")
"""Calls that make views of memory: no work."""


@dataclass(frozen=True)
class Step:
    """
    One line of a program that ran: `start` and `end` in nanoseconds, `place` in the user's source.

    `sent` is what each device sends, in bytes, for a line that is a collective, with its `axes`; None for other lines.
    """

    name: str
    place: str
    start: int
    end: int
    sent: Fraction | None = None
    axes: tuple[str, ...] = ()


@dataclass
class Recording:
    """The steps of all programs that ran in this thread, in the order in which they ended."""

    steps: list[Step] = field(default_factory=list[Step])


class _LineTracer(Protocol):
    def __call__(self, frame: FrameType, event: str, argument: Any, /) -> _LineTracer | None: ...


@dataclass(frozen=True)
class _Line:
    """What the text of a line says; `counts` where it counts a message."""

    name: str
    place: str
    counts: bool


class _Recorder:
    """Python's own tracing, for frames of generated programs alone."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._lines: dict[int, list[_Line | None]] = {}
        self._open: dict[FrameType, tuple[_Line, int]] = {}

    def call(self, frame: FrameType, event: str, argument: Any) -> _LineTracer | None:
        """What Python tells of each call in this thread."""
        return self._line if frame.f_code.co_filename == GENERATED else None

    def _line(self, frame: FrameType, event: str, argument: Any) -> _LineTracer:
        now = time.perf_counter_ns()
        found = self._open.pop(frame, None)
        if found is not None:
            self._recording.steps.append(_step(*found, now, frame))
        line = self._text(frame) if event == "line" else None
        if line is not None:
            self._open[frame] = line, time.perf_counter_ns()
        return self._line

    def _text(self, frame: FrameType) -> _Line | None:
        scope = frame.f_globals
        lines = self._lines.get(id(scope))
        if lines is None:
            lines = self._lines[id(scope)] = [_read(line) for line in scope[SOURCE].splitlines()]
        return lines[frame.f_lineno - 1]


def _step(line: _Line, start: int, end: int, frame: FrameType) -> Step:
    """What ran, with the message that the ledger noted last if the line counts one."""
    if not line.counts:
        return Step(line.name, line.place, start, end)
    message, size = frame.f_locals["ledger"].notes[-1]
    axes = tuple(axis.brief() for axis in message.axes)
    return Step(f"{message.kind} over {', '.join(axes)}", line.place, start, end, message.bytes_for(size), axes)


def _read(text: str) -> _Line | None:
    """
    What a line of a generated program does; None for one that does nothing by itself.

    >>> _read("    xp.tanh(b3, out=b4)  # mlp.mlir:24:8"), _read("    return [r0]")
    (_Line(name='tanh', place='mlp.mlir:24:8', counts=False), None)
    """
    match = _CALL.match(text)
    if match is None or _SILENT.fullmatch(match["call"]):
        return None
    return _Line(match["call"].rpartition(".")[2], match["place"] or "", match["call"] == "ledger.count")


@contextmanager
def recorded() -> Generator[Recording]:
    """Records what programs of this thread do; what is found is complete when the block has ended."""
    recording = Recording()
    before = sys.gettrace()
    sys.settrace(_Recorder(recording).call)
    try:
        yield recording
    finally:
        sys.settrace(before)
