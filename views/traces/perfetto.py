"""
A recording as the trace events that Perfetto and Chrome read.

The format is Google's "Trace Event Format": complete events (`X`) in lanes (`tid`) of processes (`pid`), counters
(`C`), and names of both (`M`); times are in microseconds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from shardwright.diagnostics.figures import plain_number
from shardwright.dialects.text.locations import where
from shardwright.views.pricing import Price
from shardwright.views.traces.recording import Step

COMPUTE, COLLECTIVES, PREDICTED = 1, 2, 2
LANES = {COMPUTE: "compute", COLLECTIVES: "collectives"}
"""The lanes of what happened; those of what was predicted follow, `PREDICTED` further down."""


def trace_events(
    steps: Sequence[Step], process: int = 0, predicted: Fraction | None = None, price: Price | None = None
) -> dict[str, Any]:
    """
    The trace of one process: what it computed, what it sent, and the bytes sent so far, per device.

    `predicted` is what the compiler said that each device would send, None where that depends on data; `price` the
    seconds that it said, each op with all its rounds together, which have lanes of their own.
    """
    begin = min((step.start for step in steps), default=0)
    events = [*_names(process), *_events(steps, process, begin)]
    if price is not None:
        events += [*_names(process, PREDICTED, ", predicted"), *_predicted(price, process)]
    sent = sum((step.sent for step in steps if step.sent is not None), Fraction())
    said = None if predicted is None else plain_number(predicted)
    figures = {"bytes_sent_per_device": plain_number(sent), "bytes_predicted_per_device": said}
    return {"traceEvents": events, "displayTimeUnit": "ns", "otherData": figures}


def _names(process: int, below: int = 0, more: str = "") -> Iterator[dict[str, Any]]:
    if not below:
        yield {"ph": "M", "pid": process, "name": "process_name", "args": {"name": f"devices of process {process}"}}
    for lane, name in LANES.items():
        yield {"ph": "M", "pid": process, "tid": lane + below, "name": "thread_name", "args": {"name": name + more}}


def _predicted(price: Price, process: int) -> Iterator[dict[str, Any]]:
    """One op after the other, as long as each was said to take."""
    at = 0.0
    for work in price.works:
        if not work.seconds:
            continue
        place = where(work.op)
        about: dict[str, Any] = {"place": str(place) if place else ""}
        lane, category = COMPUTE, "compute"
        if work.row is not None:
            lane, category = COLLECTIVES, "collective"
            about["bytes_per_device"] = work.row.plain_bytes
        yield {
            "ph": "X",
            "pid": process,
            "tid": lane + PREDICTED,
            "cat": f"{category}, predicted",
            "name": work.op.name.partition(".")[2],
            "ts": at,
            "dur": work.seconds * 1e6,
            "args": about,
        }
        at += work.seconds * 1e6


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
