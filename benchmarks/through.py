"""Our partitioning and XLA's own, both compiled by XLA for the same host devices: bytes, steps, compile time."""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from shardwright._collector import collector_paused
from shardwright.benchmarks import files, ours, xla
from shardwright.benchmarks.measure import interleave, timed
from shardwright.benchmarks.report import Cell, Report, compared
from shardwright.compiler.stages import Partitioned, read_module
from shardwright.dialects.text.parsing import parse_module
from shardwright.engines.jax import hlo
from shardwright.frontends.functions.dtensor import BACKEND
from shardwright.frontends.jax.lowered import MESSAGE_BYTES
from shardwright.tools.programs.arrays import Array, random_inputs

OURS, XLA = "shardwright", "xla"
STEPS_SECONDS = 2.0
"""Short steps are repeated for so long, at most eight times as often as asked: host devices outnumber the cores."""


def without_donations(text: str) -> str:
    """
    A program that leaves its arguments alone: steps are repeated on the same arrays.

    >>> without_donations("%a: tensor<4xf32> {a = 1 : i32, tf.aliasing_output = 0 : i32}")
    '%a: tensor<4xf32> {a = 1 : i32}'
    >>> without_donations("%a: tensor<4xf32> {jax.buffer_donor = true, z = 1 : i32}")
    '%a: tensor<4xf32> {z = 1 : i32}'
    """
    donation = r"(?:jax\.buffer_donor = true|tf\.aliasing_output = \d+ : i32)"
    return re.sub(rf"{donation}, |(?:, )?{donation}", "", text)


def partitioned(text: str) -> Partitioned:
    """A program, partitioned by us as for `shardwright.jax.jit`."""
    with collector_paused():
        traced = read_module(parse_module(text, ours.FILE_NAME), ours.FILE_NAME, BACKEND)
        return traced.weigh_messages(MESSAGE_BYTES).partition()


@dataclass(frozen=True)
class Pair:
    """One program, compiled by XLA as we partition it and as XLA does."""

    text: str
    prediction: Partitioned
    mine: xla.XlaExecutable
    theirs: xla.XlaExecutable

    @classmethod
    def of(cls, text: str) -> Pair:
        """Both of a program's text."""
        text = without_donations(text)
        prediction = partitioned(text)
        count = prediction.interface.mesh.size
        mine = xla.compile_text(prediction.to_stablehlo(platform="cpu"), count)
        return cls(text, prediction, mine, xla.compile_text(text, count))

    def row(self, inputs: Sequence[Array], repetitions: int, compiles: int) -> dict[str, Cell]:
        """Bytes predicted and in the compiled programs, steps, and compile times with nothing remembered."""
        predicted = self.prediction.predicted_bytes
        row: dict[str, Cell] = {
            "predicted": None if predicted is None else float(predicted),
            "HLO": _sent(self.mine),
            "HLO of xla": _sent(self.theirs),
        }
        placed, theirs = self.mine.place(inputs), self.theirs.place(inputs)
        steps = {OURS: timed(partial(self.mine.run, placed)), XLA: timed(partial(self.theirs.run, theirs))}
        seconds = [run() for run in (*steps.values(), *steps.values())][-1]
        often = max(repetitions, min(8 * repetitions, int(STEPS_SECONDS / seconds)))
        row |= compared(interleave(steps, often), OURS, XLA)
        both = {OURS: self._compile, XLA: timed(partial(xla.compile_text, self.text, self.mine.devices))}
        found = interleave(both, compiles, warmups=0)
        row["compile s"] = round(found[OURS].median, 3)
        row["compile ratio"] = round(found[OURS].median / found[XLA].median, 2)
        return row

    def _compile(self) -> float:
        ours.forget()
        return timed(lambda: xla.compile_text(partitioned(self.text).to_stablehlo(platform="cpu"), self.mine.devices))()


def _sent(executable: xla.XlaExecutable) -> float:
    """What a compiled program sends; of a loop that depends on data, in one turn."""
    text = executable.hlo()
    found = hlo.collectives(text, executable.devices, [1] * hlo.loops(text))
    return float(sum(one.sent_bytes for one in found))


def through(programs: Sequence[files.ProgramFile], repetitions: int, compiles: int, with_models: bool) -> Report:
    """Programs that are stored, and then five whole models at real widths, which take longest."""
    report = Report("through", f"one step on {xla.DEVICES} host devices through XLA: our partitioning over XLA's own")
    if not xla.available():
        report.notes.append("skipped: JAX is not installed (make peers installs it)")
        return report
    for name, text, inputs in _texts(programs, with_models):
        report.add({"program": name, **Pair.of(text).row(inputs, repetitions, compiles)})
    if not report.rows:
        report.notes.append("skipped: there is no program with a meta.json")
        return report
    for column in ("ratio", "compile ratio"):
        found = [float(value) for row in report.rows if (value := row[column]) is not None]
        mean, above = statistics.geometric_mean(found), sum(value > 1.05 for value in found)
        report.notes.append(f"{column}: geometric mean {mean:.3f}, at most {max(found):.2f}, {above} above 1.05")
    differing = [str(row["program"]) for row in report.rows if row["predicted"] not in (None, row["HLO"])]
    report.notes.append(f"bytes that differ from the prediction: {', '.join(differing) or 'none'}")
    return report


def _texts(programs: Sequence[files.ProgramFile], with_models: bool) -> Iterator[tuple[str, str, list[Array]]]:
    from shardwright.benchmarks.models import MODELS

    for file in programs:
        yield file.name, file.text, file.inputs(ours.signature(file.text).arguments)
    for name, build in MODELS.items() if with_models else ():
        text = build()
        yield name, text, random_inputs(ours.signature(text).arguments, seed=0)
