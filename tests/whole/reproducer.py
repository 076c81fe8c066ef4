"""A folder that shows a failure: the smallest program that fails alike, its arrays, and the commands that run it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np

from whole.build import Program
from whole.run_one import Record, program_of
from whole.shrink import shrink
from whole.spread import examine_everywhere
from whole.traced import Traced
from whole.verdict import RIGHT, Outcome

MOST_TRIALS = 300


def kind_of(found: Outcome) -> str:
    """How a program fails, without what differs from one to the next: the code, or the place of a crash."""
    if found.state == RIGHT:
        return ""
    code, place = found.detail.partition("error[")[2][:6], found.detail.rpartition(" in ")[2]
    return f"{found.state} {code or (place if 'line' in place else '') or found.detail[:5]}"


def smallest(program: Program | Traced) -> Program | Traced:
    """The smallest program found that fails alike."""
    return shrink(program, lambda one: kind_of(examine_everywhere(one, round_trip=True, exported=True)), MOST_TRIALS)


def write_reproducer(record: Record, folder: Path) -> Path:
    """The `.mlir` file, whose first lines are the commands that show the failure."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{record.style}-{record.seed}.mlir"
    by_number = f"python tests/whole --style {record.style} --seed {record.seed} --shrink"
    head = [f"{record.style} {record.seed}: {record.state} {record.detail}", f"commit {_commit()}", by_number]
    try:
        program = smallest(program_of(record.style, record.seed))
        text = program.text
    except Exception as error:  # it is not even drawn
        path.write_text("".join(f"// {line}\n" for line in [*head, repr(error)]))
        return path
    inputs, expected = path.with_suffix(".inputs.npz"), path.with_suffix(".expected.npz")
    np.savez(inputs, **{f"in_{at}": array for at, array in enumerate(program.inputs)})
    if all(value.known for value in program.results):
        np.savez(expected, **{f"out_{at}": value.array for at, value in enumerate(program.results)})
        head.append(f"shardwright run {path} --inputs {inputs} --expect {expected}")
    head.append(f"shardwright run {path} --inputs {inputs} --check")
    path.write_text("".join(f"// {line}\n" for line in head) + text)
    return path


def _commit() -> str:
    command = ["git", "-C", str(Path(__file__).parent), "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
