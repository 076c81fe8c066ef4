"""What becomes of a mutant: who refuses it, and whether it changes what any run gives."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from mutated.collectives import collective_edits, group_edits, partial_edits, window_edits
from mutated.edits import Mutant, mutants
from mutated.values import control_edits, meaning_edits, number_edits, operand_edits
from shardwright.compiler.checking import verify_ours
from shardwright.compiler.pipelines import LOCALIZE, run_pipeline
from shardwright.diagnostics import ShardwrightError
from shardwright.dialects.text.parsing import parse_module
from shardwright.dialects.types import element_dtype, element_of, shape_of
from shardwright.proof import Verdict, certify
from shardwright.proof.checker import differences
from shardwright.proof.exact import Inexact
from shardwright.runtime.executable import compile_module

PLANNED = (collective_edits, group_edits, partial_edits, window_edits, control_edits, operand_edits)
LOCAL = (*PLANNED, number_edits, meaning_edits)
"""The mistakes that are made in each stage."""

TYPES = "refused by types"
VALUES = "refused by values"
HARMLESS = "harmless, accepted"
UNPROVED = "unproved"
REFUSED = "harmless, refused"
WRONG = "wrong, accepted"
OUTCOMES = (TYPES, VALUES, HARMLESS, UNPROVED, REFUSED, WRONG)

SEEDS = 24

SECONDS = 1.0
"""How long a mutant may run: one whose loop never ends is wrong."""


@dataclass(frozen=True)
class Judged:
    """A mutant, what became of it, and why."""

    program: str
    mutant: Mutant
    outcome: str
    why: str


@dataclass(frozen=True)
class Program:
    """A program in three stages, and what its local form gives."""

    name: str
    traced: ModuleOp
    planned: ModuleOp
    local: ModuleOp

    @staticmethod
    def read(path: Path) -> Program:
        """Partitions the program of a file."""
        traced = parse_module(path.read_text(), path.name)
        planned = traced.clone()
        run_pipeline(planned, ["plan"])
        local = planned.clone()
        run_pipeline(local, LOCALIZE)
        return Program(path.stem, traced, planned, local)

    def mutants(self, planned: int, local: int) -> list[Mutant]:
        """At most so many mutants in each stage."""
        sides = ((self.planned, "planned", PLANNED, planned), (self.local, "local", LOCAL, local))
        return [
            one for module, stage, sources, most in sides for one in mutants(module, stage, sources, most, self.name)
        ]

    @cached_property
    def expected(self) -> dict[int, list[np.ndarray[Any, Any]]]:
        """What the local program gives for the inputs of each seed for which it ends."""
        run, found = compile_module(self.local, fused=False).run, dict[int, list[np.ndarray[Any, Any]]]()
        for seed in range(SEEDS):
            with suppress(TimeoutError), at_most(SECONDS):
                found[seed] = _run(run, self.inputs(seed))
        return found

    def inputs(self, seed: int) -> list[np.ndarray[Any, Any]]:
        """Ordinary numbers for the first two seeds; larger ones, integers beyond dims, infinities after that."""
        random = np.random.default_rng(seed)
        main = next(op for op in self.traced.ops if isinstance(op, FuncOp) and op.sym_name.data == "main")
        found = [draw(random, shape_of(v), element_of(v), wild=seed > 1) for v in main.body.block.args]
        for array in found:
            if seed % 8 == 7 and array.dtype.kind == "f" and array.size:
                array.reshape(-1)[random.integers(array.size)] = np.inf
        return found

    def judge(self, mutant: Mutant) -> Judged:
        """What becomes of a mutant."""
        outcome, why = self._outcome(mutant)
        return Judged(self.name, mutant, outcome, why)

    def _outcome(self, mutant: Mutant) -> tuple[str, str]:
        planned = local = mutant.made_of(self.planned if mutant.stage == "planned" else self.local)
        try:
            verify_ours(planned, "mutation")
            if mutant.stage == "planned":
                local = planned.clone()
                run_pipeline(local, LOCALIZE)
            else:
                planned = self.planned
        except ShardwrightError as error:
            return TYPES, str(error.diagnostics[0].notes)
        return self._refused(certify(self.traced, planned, local).verdict, local)

    def _refused(self, verdict: Verdict, local: ModuleOp) -> tuple[str, str]:
        if any(not fault.startswith(("result ", "the local program cannot run")) for fault in verdict.faults):
            return TYPES, verdict.faults[0]
        if verdict.unproved:
            return UNPROVED, verdict.unproved[0]
        change = self.change(local)
        if verdict.faults:
            return (VALUES, change) if change else (REFUSED, verdict.faults[0])
        return (WRONG, change) if change else (HARMLESS, "")

    def change(self, local: ModuleOp) -> str:
        """How a local program's results differ from the right ones; empty where they do not."""
        slight, run = False, None
        for seed, expected in self.expected.items():
            try:
                with at_most(SECONDS):
                    run = run or compile_module(local, fused=False).run
                    found = _run(run, self.inputs(seed))
            except Exception as error:
                return f"it fails: {error}"[:200]
            for number, (left, right) in enumerate(zip(expected, found, strict=True)):
                if differs(left, right):
                    return f"result {number} for inputs {seed}"
                slight = slight or left.tobytes() != right.tobytes()
            if seed == 1 and slight:
                break
        return self._exact_change(local) if slight else ""

    def _exact_change(self, local: ModuleOp) -> str:
        """Where floats differ in their last digits, other numbers of the field decide."""
        try:
            return "".join(
                f"exact results {found} " for seed in (91, 92) if (found := differences(self.traced, local, seed))
            )
        except Inexact as error:
            return str(error)


def draw(
    random: np.random.Generator, shape: tuple[int, ...], element: Attribute, *, wild: bool
) -> np.ndarray[Any, Any]:
    """Random numbers of an element type."""
    dtype = element_dtype(element)
    if dtype.kind == "b":
        return random.random(shape) < 0.5
    if dtype.kind in "iu":
        high = random.choice([2, 8, 40]) if wild else 8
        return random.integers(-high if wild and dtype.kind == "i" else 0, high, shape).astype(dtype)
    scale = 3.0 if wild else 1.0
    numbers = random.standard_normal(shape) * scale
    if dtype.kind == "c":
        return (numbers + 1j * random.standard_normal(shape)).astype(dtype)
    return numbers.astype(dtype)


def differs(left: np.ndarray[Any, Any], right: np.ndarray[Any, Any]) -> bool:
    """Whether two results differ by more than rounding."""
    if left.dtype != right.dtype or left.shape != right.shape:
        return True
    if left.dtype.kind in "biu":
        return not np.array_equal(left, right)
    wide = np.complex128 if left.dtype.kind == "c" else np.float64
    first, second = left.astype(wide), right.astype(wide)
    finite = np.isfinite(first) & np.isfinite(second)
    scale = np.abs(first[finite]).max(initial=1e-30)
    rough = 1e-4 if left.dtype.itemsize >= 4 else 0.05
    return not np.array_equal(first[~finite], second[~finite], equal_nan=True) or bool(
        (np.abs(first[finite] - second[finite]) > rough * scale).any()
    )


Run = Callable[[Sequence[Any]], list[Any]]


def _run(run: Run, inputs: Sequence[Any]) -> list[np.ndarray[Any, Any]]:
    return [np.asarray(found) for found in run(inputs)]


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Ends what takes longer with a `TimeoutError`."""

    def stop(_: int, frame: FrameType | None) -> None:
        raise TimeoutError("it does not end")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
