"""`profile`: a trace of the programs that run inside of a `with` block."""

from __future__ import annotations

import json
import os
from collections.abc import Generator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path

from shardwright.layout.forms.clients import Clients
from shardwright.serialization.files.text import write_atomically
from shardwright.views.pricing import Price
from shardwright.views.traces.perfetto import trace_events
from shardwright.views.traces.recording import Recording, recorded


@contextmanager
def profile(path: str | os.PathLike[str]) -> Generator[Recording]:
    """
    Records the programs that this thread runs inside of the block, and writes a trace that Perfetto opens.

    There is a lane for what is computed, one for collectives with their bytes, and a counter of the bytes that each
    device has sent; each event says where it was written. With several processes each writes a file of its own, with
    its number before the ending. Recording takes some microseconds for each line of a program. Programs that JAX, a GPU
    or workers run are not seen. Raises `ShardwrightError` (SW0704) where the file cannot be written.

    >>> import numpy, shardwright, tempfile
    >>> double = shardwright.function(lambda x: x * 2)
    >>> with tempfile.TemporaryDirectory() as folder, shardwright.profile(f"{folder}/trace.json") as recording:
    ...     _ = double(numpy.ones(3, "float32"))
    >>> [step.name for step in recording.steps]
    ['multiply']
    """
    with recorded() as recording:
        yield recording
    write_trace(recording, path)


def write_trace(
    recording: Recording,
    path: str | os.PathLike[str],
    predicted: Fraction | None = None,
    price: Price | None = None,
) -> None:
    """Writes what was recorded; `predicted` are the bytes that each device was said to send, `price` the seconds."""
    clients = Clients.found()
    target = Path(path)
    if clients.count > 1:
        target = target.with_suffix(f".{clients.place}{target.suffix}")
    write_atomically(target, json.dumps(trace_events(recording.steps, clients.place, predicted, price)))
