"""`shardwright run`: partition a program, run it over its mesh, and compare its results."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from shardwright.diagnostics import ShardwrightError
from shardwright.tools.arguments import CodedArgumentParser, tolerance
from shardwright.tools.arrays import mismatch
from shardwright.tools.guard import DONE, USER_ERROR, CommandState, report_diagnostics

DESCRIPTION = """Partition a program, run it on all devices of its mesh (simulated in this process), and report
what was sent. Inputs and expected results are global arrays named in_0, in_1, ... and out_0, out_1, ... ."""

EPILOG = """examples:
  shardwright run model.mlir --check                          random inputs, against the unsharded run
  shardwright run model.mlir --inputs x.npz --expect y.npz    given inputs and results
  shardwright run model.mlir --json > report.json             the figures as data
"""


def argument_parser() -> CodedArgumentParser:
    """The command line of `shardwright run`."""
    parser = CodedArgumentParser(prog="shardwright run", description=DESCRIPTION, epilog=EPILOG)
    add = parser.add_argument
    add("file", help="the program: StableHLO text with layouts; '-' is standard input")
    add("--inputs", metavar="X.npz", help="the arguments in_0, in_1, ...; seeded random ones without it")
    add("--expect", metavar="X.npz", help="the results out_0, out_1, ... that must come out")
    add("--check", action="store_true", help="compare with the unsharded run of the same program")
    add("--rtol", type=tolerance, help="relative tolerance (default: by element type; float32 1e-4)")
    add("--atol", type=tolerance, help="absolute tolerance (default: by element type; float32 1e-4)")
    add("--seed", type=seed, default=0, help="seed of the random inputs (default 0)")
    add("--json", action="store_true", help="print the report as JSON on standard output")
    return parser


def seed(text: str) -> int:
    """
    A seed given on a command line.

    >>> seed("3")
    3
    """
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"'{text}' is not a seed: give a whole number from 0")
    return int(text)


@dataclass
class Stopwatch:
    """Seconds by stage."""

    seconds: dict[str, float] = field(default_factory=dict[str, float])

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Add the time inside to stage `name`."""
        started = time.perf_counter()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - started


def command(arguments: Sequence[str], state: CommandState) -> int:
    """The command `shardwright run`; returns the exit code."""
    options = argument_parser().parse_args(arguments)
    report = run_program(options, state)
    print(report.as_json() if options.json else report.as_text())
    wrong = [comparison for comparison in report.comparisons if not comparison.ok]
    if wrong:
        faults = [mismatch(comparison, report.compared_with or "") for comparison in wrong]
        report_diagnostics(ShardwrightError(faults), state.sources)
    return USER_ERROR if wrong else DONE
