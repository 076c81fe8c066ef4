"""
A recording as the trace events that Perfetto and Chrome read.

The format is Google's "Trace Event Format": complete events (`X`) in lanes (`tid`) of processes (`pid`), counters
(`C`), and names of both (`M`); times are in microseconds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from shardwright.views.figures import plain_number
from shardwright.views.traces.recording import Step

COMPUTE, COLLECTIVES = 1, 2
LANES = {COMPUTE: "compute", COLLECTIVES: "collectives"}


def trace_events(steps: Sequence[Step], process: int = 0, predicted: Fraction | None = None) -> dict[str, Any]:
    """
    The trace of one process: what it computed, what it sent, and the bytes sent so far, per device.

    `predicted` is what the compiler said that each device would send, None where that depends on data.
    """
    begin = min((step.start for step in steps), default=0)
    events = [*_names(process), *_events(steps, process, begin)]
    sent = sum((step.sent for step in steps if step.sent is not None), Fraction())
    said = None if predicted is None else plain_number(predicted)
    figures = {"bytes_sent_per_device": plain_number(sent), "bytes_predicted_per_device": said}
    return {"traceEvents": events, "displayTimeUnit": "ns", "otherData": figures}


def _names(process: int) -> Iterator[dict[str, Any]]:
    yield {"ph": "M", "pid": process, "name": "process_name", "args": {"name": f"devices of process {process}"}}
    for lane, name in LANES.items():
        yield {"ph": "M", "pid": process, "tid": lane, "name": "thread_name", "args": {"name": name}}


def _events(steps: Sequence[Step], process: int, begin: int) -> Iterator[dict[str, Any]]:
    total = Fraction()
    for step in sorted(steps, key=lambda step: step.start):
        start = (step.start - begin) / 1000
        about = {"place": step.place} | ({} if step.sent is None else {"bytes_per_device": plain_number(step.sent)})
        lane, category = (COMPUTE, "compute") if step.sent is None else (COLLECTIVES, "collective")
        yield {
            "ph": "X",
            "pid": process,
            "tid": lane,
            "cat": category,
            "name": step.name,
            "ts": start,
            "dur": (step.end - step.start) / 1000,
            "args": about,
        }
        if step.sent is not None:
            total += step.sent
            sent = {"bytes": plain_number(total)}
            yield {"ph": "C", "pid": process, "name": "sent per device", "ts": start, "args": sent}
