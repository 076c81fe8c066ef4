"""
What each layer of the NumPy engine buys: steps with one layer switched off, in turns with steps with all of them.

A layer is switched off by putting something in its place that does nothing, so the engine itself has no switches.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any
from unittest.mock import patch

from shardwright.benchmarks import files, ours
from shardwright.benchmarks.measure import Timed, interleave
from shardwright.benchmarks.report import Cell, Report
from shardwright.dialects.text.parsing import parse_module
from shardwright.runtime.codegen import fused
from shardwright.runtime.executable import Executable, compile_module
from shardwright.runtime.fusing.fusion import Fuser
from shardwright.runtime.planning import plan, trimming

ALL = "all layers"


def _alone(join: Callable[..., bool]) -> Callable[..., bool]:
    """Lets each step be a group of its own."""

    def joined(fuser: Any, step: Any) -> bool:
        found = join(fuser, step)
        fuser.close_all()
        return found

    return joined


def _nothing(*_: Any, **__: Any) -> Any:
    return {}


def _as_they_are(units: Sequence[Any], *_: Any) -> list[Any]:
    return list(units)


def _no(*_: Any) -> bool:
    return False


def _none(*_: Any) -> None:
    return None


SWITCHES: dict[str, list[tuple[Any, str, Any]]] = {
    "fusion": [(Fuser, "join", _alone(Fuser.join))],
    "chains": [(plan, "_chained", _as_they_are)],
    "batches": [(plan, "_batched", _as_they_are)],
    "device sums": [(plan, "fold_device_sums", _nothing)],
    "wishes": [(plan, "find_wishes", _nothing)],
    "writing over": [(plan, "_hosts", _nothing)],
    "boxes": [(plan, "is_box", _no)],
    "drafts in place": [(plan, "hosted", _nothing)],
    "loops": [(fused, "loop_text", _none)],
    "counters": [(trimming, "resolve_counters", _nothing)],
}
"""For each layer what is put in its place."""

OTHERS: dict[str, dict[str, Any]] = {"threads": {"threads": 1}, "the planned engine": {"fused": False}}
"""Layers that arguments switch off."""


def without_layers(programs: Sequence[files.ProgramFile], repetitions: int) -> Report:
    """For each program how much longer a step takes without each layer."""
    report = Report("layers", "a step without one layer of the NumPy engine, as a ratio to one with all")
    ratios: dict[str, list[float]] = {}
    for file in programs:
        inputs = file.inputs(ours.signature(file.text).arguments)
        contenders: dict[str, Timed] = {
            name: partial(ours.step_seconds, executable, inputs) for name, executable in _compiled(file.text).items()
        }
        samples = interleave(contenders, repetitions, warmups=2)
        row: dict[str, Cell] = {"program": file.name, "ms": round(samples[ALL].median * 1e3, 3)}
        for name, sample in samples.items():
            if name != ALL:
                row[name] = round(sample.median / samples[ALL].median, 2)
                ratios.setdefault(name, []).append(sample.median / samples[ALL].median)
        report.add(row)
    for name, found in ratios.items():
        mean = math.exp(math.fsum(map(math.log, found)) / len(found))
        report.notes.append(f"{name}: geometric mean {mean:.2f}, at most {max(found):.2f}")
    return report


def _compiled(text: str) -> dict[str, Executable]:
    """The program with all layers, and without each of them."""
    found = {ALL: _executable(text)}
    for name, switches in SWITCHES.items():
        with ExitStack() as stack:
            for where, what, instead in switches:
                stack.enter_context(patch.object(where, what, instead))
            found[name] = _executable(text)
    return found | {name: _executable(text, **options) for name, options in OTHERS.items()}


def _executable(text: str, **options: Any) -> Executable:
    return compile_module(ours.partition(parse_module(text, ours.FILE_NAME)), **options)
