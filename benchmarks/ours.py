"""Our side of the comparison: the road from text to an executable, in the parts that are timed."""

from __future__ import annotations

import functools
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from shardwright._collector import collector_paused
from shardwright.compiler.pipelines import PassTime, run_pipeline
from shardwright.compiler.report import predicted_bytes
from shardwright.dialects.text.parsing import parse_module
from shardwright.rules import ROWS
from shardwright.runtime.executable import Executable, compile_module
from shardwright.tools.programs.arrays import Array
from shardwright.tools.programs.signature import Signature, entry_signature

FILE_NAME = "benchmark.mlir"
_MEMO = type(functools.cache(len))


def compile_text(text: str) -> Executable:
    """Parse, partition and compile."""
    with collector_paused():
        return compile_module(partition(parse_module(text, FILE_NAME)))


def compile_cold(text: str) -> float:
    """The seconds of `compile_text` with nothing remembered from other programs."""
    forget()
    start = time.perf_counter()
    compile_text(text)
    return time.perf_counter() - start


def forget() -> None:
    """Empties what the package remembers between programs: plans, rules, shares."""
    modules = [module for name, module in sys.modules.items() if name.split(".")[0] == "shardwright"]
    for remembered in {id(value): value for module in modules for value in vars(module).values()}.values():
        if isinstance(remembered, _MEMO):
            remembered.cache_clear()
    for row in ROWS.values():
        row.cache.clear()


def partition(module: ModuleOp) -> ModuleOp:
    """Take a parsed module down to the local stage, in place."""
    run_pipeline(module, ["partition"])
    return module


def partition_seconds(text: str) -> float:
    """The seconds of the passes alone, on a freshly parsed module."""
    module = parse_module(text, FILE_NAME)
    start = time.perf_counter()
    partition(module)
    return time.perf_counter() - start


def step_seconds(executable: Executable, inputs: Sequence[Array]) -> float:
    """The seconds of one step; splitting the inputs and joining the results is not part of it."""
    executable.run(inputs)
    return executable.seconds


def sent_bytes(text: str) -> float:
    """Bytes that a device sends in one run of the partitioned program."""
    module = parse_module(text, FILE_NAME)
    run_pipeline(module, ["plan"])
    predicted = predicted_bytes(module)
    if predicted is None:
        raise ValueError("the bytes of a collective cannot be counted exactly")
    return float(predicted)


def signature(text: str) -> Signature:
    """The arguments and results of a program's entry function."""
    return entry_signature(parse_module(text, FILE_NAME))


@dataclass(frozen=True)
class Road:
    """Seconds by step of one run from text to executable, and the ops that came in and went out."""

    ops_by_name: Counter[str]
    local_ops: int
    steps: list[PassTime]

    @property
    def seconds(self) -> float:
        """The whole road."""
        return sum(step.seconds for step in self.steps)


def road(text: str) -> Road:
    """Time each step of the road."""
    start = time.perf_counter()
    with collector_paused():
        module = parse_module(text, FILE_NAME)
        parsed = time.perf_counter()
        ops = Counter(op.name for op in module.walk())
        passes = run_pipeline(module, ["partition"])
        partitioned = time.perf_counter()
        compile_module(module)
    compiled = PassTime("codegen", time.perf_counter() - partitioned)
    local_ops = sum(1 for _ in module.walk())
    return Road(ops, local_ops, [PassTime("parse", parsed - start), *passes, compiled])
