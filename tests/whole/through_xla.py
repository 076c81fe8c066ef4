"""
What XLA makes of random programs as they are exported: `python tests/whole/through_xla.py SEED COUNT [STYLE [FORM]]`.

The form "stablehlo" is the program of each device, as `shardwright.jax.jit` hands it over, and "sdy" the global one
with its layouts, which XLA partitions itself; without a form, both. What each device has is compared with what NumPy
says. Without a style each number has its own, as for `fuzz.py`; "manual" are those of `test_manual_programs.py`.

Prints each program before it runs, since XLA aborts on some, and exits with 1 when one is wrong; where XLA is wrong
without us as well, or was doubted (SW0735), it only says so.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))

import numpy as np
from harness import run_unsharded
from property.test_manual_programs import program as manual_program

from shardwright.benchmarks import xla
from shardwright.compiler.exporting.manual import export_stablehlo
from shardwright.compiler.layouts.unsharded import unsharded_module
from shardwright.compiler.pipelines import ALIGN, LOCALIZE, PLAN, PROPAGATE, run_pipeline
from shardwright.compiler.stages import read_module
from shardwright.diagnostics import ShardwrightError
from shardwright.dialects.dtensor import meshes
from shardwright.dialects.text.parsing import parse_module
from shardwright.dialects.text.printing import print_module
from shardwright.frontends.functions.dtensor import BACKEND
from whole.build import Array, Value
from whole.run_one import program_of, style_of
from whole.verdict import Runnable, difference

FORMS = ("stablehlo", "sdy")
MANUAL = "manual"
"""The style of manual computations over some axes, which are simulated device by device."""

WRONG = "wrong"
MOST_DEVICES = 16
FILE = "program.mlir"


@dataclass(frozen=True)
class Given:
    """A program whose text, arguments and results are known."""

    seed: int
    text: str
    inputs: list[Array]
    results: list[Value]


def prepare() -> None:
    """Ask for as many host devices as the largest mesh has, and for numbers of 64 bits."""
    os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={MOST_DEVICES}"
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    import_module("jax").config.update("jax_enable_x64", True)


def drawn(seed: int, style: str) -> Runnable:
    """The program of a number in a style."""
    if style != MANUAL:
        return program_of(style, seed)
    text, array, expected = manual_program(seed)
    return Given(seed, text, [array], [Value("%0", expected, "i32")])


def exported(program: Runnable, form: str) -> tuple[str, int]:
    """The text that XLA gets, and for how many devices."""
    stage = read_module(parse_module(program.text, FILE), FILE, BACKEND)
    made = stage.partition().to_stablehlo(platform="cpu") if form == "stablehlo" else stage.propagate().to_sdy()
    return made, stage.interface.mesh.size


def expected(program: Runnable) -> list[Value]:
    """What must come out; of what nobody else knows, what one device gives."""
    if all(value.known for value in program.results):
        return list(program.results)
    alone = run_unsharded(program.text, program.inputs)
    found = zip(program.results, alone, strict=True)
    return [value if value.known else replace(value, array=one, known=True) for value, one in found]


def problems(program: Runnable, text: str, count: int) -> Iterator[str]:
    """What is wrong with what each of so many devices has of the results."""
    jax: Any = import_module("jax")
    try:
        loaded = xla.compile_text(text, count)
        parts = loaded.parts(program.inputs)
    except jax.errors.JaxRuntimeError as error:
        yield f"is not compiled: {str(error).splitlines()[0]}"
        return
    values = expected(program)
    found = zip(values, parts, loaded.places([value.shape for value in values]), strict=True)
    for number, (value, held, places) in enumerate(found):
        for device, (part, place) in enumerate(zip(held, places, strict=True)):
            if problem := difference(part, replace(value, array=np.asarray(value.array[place]))):
                yield f"result {number} ({value.name}) {problem} on device {device}"


def alone(program: Runnable) -> Iterator[str]:
    """What is wrong with what XLA gives on one device."""
    module = unsharded_module(parse_module(program.text, FILE))
    if meshes(module):  # a manual computation means something on its mesh only
        return iter(())
    run_pipeline(module, PROPAGATE + ALIGN + PLAN + LOCALIZE)
    export_stablehlo(module)
    return problems(program, print_module(module), 1)


def examine(program: Runnable, form: str) -> str:
    """What is wrong with a program in a form, and whose fault it is; empty where nothing is."""
    try:
        with warnings.catch_warnings(record=True) as doubts:
            warnings.simplefilter("always")
            text, count = exported(program, form)
    except ShardwrightError as error:
        return f"refused: {str(error).splitlines()[0]}"
    problem = next(problems(program, text, count), "")
    if not problem:
        return ""
    if any(alone(program)):
        return f"theirs on one device: {problem}"
    # What was traced by us has no text that XLA reads.
    if "dtensor." not in program.text and any(problems(program, program.text, count)):
        return f"theirs: {problem}"
    return f"{'doubted' if any('SW0735' in str(doubt.message) for doubt in doubts) else WRONG}: {problem}"


def main(first: int, count: int, style: str = "", form: str = "") -> int:
    """Run the programs of consecutive numbers."""
    prepare()
    wrong = 0
    for seed in range(first, first + count):
        name = style or style_of(seed)
        program = drawn(seed, name)
        for each in (form,) if form else FORMS:
            print(seed, name, each, flush=True)
            if found := examine(program, each):
                print(f"{name} {seed} {each} {found}", file=sys.stderr, flush=True)
                wrong += found.startswith(WRONG)
    return int(wrong > 0)


if __name__ == "__main__":
    raise SystemExit(main(int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:]))
