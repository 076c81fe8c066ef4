"""
Whether a program comes out right: partitioned with every check on, run on all devices, compared with NumPy.

`examine` asks everything: both engines, the same program on one device, and that each stage's text reads back.
"""

from __future__ import annotations

import hashlib
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Protocol

import numpy as np
from harness import partitioned, run_unsharded
from xdsl.dialects.builtin import ModuleOp

from shardwright.compiler.exporting.manual import export_stablehlo
from shardwright.compiler.report import prediction
from shardwright.diagnostics import ShardwrightError
from shardwright.dialects.text.parsing import parse_module
from shardwright.dialects.text.printing import print_module
from shardwright.runtime.executable import compile_module
from whole.build import ELEMENTS, FLOATS, Array, Value, wide

TOLERANCES = {"f32": 1e-3, "complex<f32>": 1e-3, "f64": 1e-6}

RIGHT, WRONG, REFUSED, CRASHED = "right", "wrong", "refused", "crashed"

REFUSALS = {
    "SW0603": "parts of an axis that cross with those that processes hold",
}
"""Codes by which legal programs may be refused. Any other error on a random program is a fault of ours."""

EXPORTED_REFUSALS = {
    "SW0608": "a loop with collectives whose condition is alike everywhere, which a program of one device does not show"
}
"""Codes by which the program of each device, exported, may be refused."""


class Runnable(Protocol):
    """A program with inputs and what must come out: drawn as text, or traced."""

    seed: int

    @property
    def text(self) -> str:
        """The module."""
        ...

    @property
    def inputs(self) -> list[Array]:
        """The global arguments."""
        ...

    @property
    def results(self) -> list[Value]:
        """What must come out."""
        ...


@dataclass(frozen=True)
class Outcome:
    """What came of a program, in what way it failed, and a digest of the texts of its stages."""

    state: str
    detail: str = ""
    digest: str = ""


def verdict(program: Runnable, *, round_trip: bool = False, fused: bool = True) -> tuple[str, str]:
    """What came of a program in one engine, and in what way: the value that is wrong, the code, or the exception."""
    found = examine(program, round_trip=round_trip, engines=(fused,), alone=False)
    return found.state, found.detail


def examine(
    program: Runnable,
    *,
    round_trip: bool = False,
    engines: Sequence[bool] = (True, False),
    alone: bool = True,
    exported: bool = False,
) -> Outcome:
    """Run a program in some engines, fused or not, with `alone` on one device too, and as it is exported."""
    try:
        planned, local = partitioned(program.text, round_trip=round_trip)
        texts = print_module(planned), print_module(local)
        if round_trip:
            _generic_forms(planned, local)
        problems = chain(_problems(program, planned, local, engines, alone), _exported(program, local, exported))
        problem = next(problems, "")
    except ShardwrightError as error:
        code = error.diagnostics[0].code
        return Outcome(REFUSED if code in REFUSALS else CRASHED, str(error).split("\n")[0])
    except Exception:  # a crash is what this looks for
        return Outcome(CRASHED, last_frame())
    return Outcome(WRONG if problem else RIGHT, problem, hashlib.sha256("".join(texts).encode()).hexdigest()[:16])


def digest(program: Runnable) -> str:
    """A digest of the texts of a program's stages; empty when it is refused."""
    try:
        texts = "".join(map(print_module, partitioned(program.text)))
    except Exception:  # `examine` says what it is
        return ""
    return hashlib.sha256(texts.encode()).hexdigest()[:16]


def _generic_forms(*modules: ModuleOp) -> None:
    """The generic form says the same as the pretty one."""
    for module in modules:
        read = parse_module(print_module(module, generic=True), "generic.mlir")
        assert print_module(read) == print_module(module), "the generic form"


def _problems(
    program: Runnable, planned: ModuleOp, local: ModuleOp, engines: Sequence[bool], alone: bool
) -> Iterator[str]:
    """What is wrong: bytes, values, or values that differ from those on one device."""
    single = run_unsharded(program.text, program.inputs) if alone else None
    for fused in engines:
        executable = compile_module(local.clone(), fused=fused)
        results = executable.run(program.inputs)
        engine = "" if fused else " in the plain engine"
        counted, predicted = executable.ledger.sent_bytes, prediction(planned).total(executable.ledger.runs)
        if counted != predicted:
            yield f"bytes: {counted} counted, {predicted} predicted{engine}"
        for number, (found, value) in enumerate(zip(results, program.results, strict=True)):
            if value.known and (problem := difference(found, value)):
                yield f"result {number} ({value.name}) {problem}{engine}"
            expected = None if single is None else replace(value, array=single[number])
            if expected is not None and (problem := difference(found, expected, "one device gives")):
                yield f"result {number} ({value.name}) {problem}{engine}"


def _exported(program: Runnable, local: ModuleOp, wanted: bool) -> Iterator[str]:
    """What is wrong with the program of each device, written with StableHLO's collectives and read again."""
    if not wanted:
        return
    own = local.clone()
    export_stablehlo(own, platform="cpu" if program.seed % 2 else None)
    try:
        again = compile_module(partitioned(print_module(own))[1])
    except ShardwrightError as error:
        if error.diagnostics[0].code in EXPORTED_REFUSALS:
            return
        raise
    expected, found = compile_module(local.clone()).run(program.inputs), again.run(program.inputs)
    for number, (one, value) in enumerate(zip(found, program.results, strict=True)):
        if problem := difference(one, replace(value, array=expected[number]), "it gives before"):
            yield f"result {number} ({value.name}) {problem} as exported"


def difference(found: Array, value: Value, other: str = "NumPy gives") -> str:
    """How a result differs from what somebody else says; to the bit where nothing rounds."""
    if (found.dtype, found.shape) != (ELEMENTS[value.element], value.shape):
        return f"is {found.dtype}{list(found.shape)}, not {value.type}"
    if value.exact:
        same = np.array_equal(wide(found), wide(value.array), equal_nan=value.element in (*FLOATS, "complex<f32>"))
    else:
        bound = TOLERANCES[value.element]
        scale = max(1.0, float(np.abs(value.array).max(initial=0)))
        same = np.allclose(found, value.array, rtol=bound, atol=bound * scale)
    return "" if same else f"differs from what {other}"


def last_frame() -> str:
    """The exception at hand and the line that raised it."""
    lines = traceback.format_exc().strip().splitlines()
    frames = [line.strip() for line in lines if line.startswith('  File "')]
    return f"{lines[-1][:200]} in {frames[-1]}"
