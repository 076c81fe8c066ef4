"""`shardwright run`: partition a program, run it over its mesh, and compare its results."""

from __future__ import annotations

from collections.abc import Sequence

from shardwright.diagnostics import ShardwrightError
from shardwright.tools.programs.program import program_text
from shardwright.tools.terminal.arguments import CodedArgumentParser, seed, tolerance
from shardwright.tools.terminal.guard import DONE, USER_ERROR, CommandState, report_diagnostics
from shardwright.tools.terminal.output import write_report

DESCRIPTION = """Partition a program, run it on all devices of its mesh (simulated in this process), and report
what was sent. Inputs and expected results are global arrays named in_0, in_1, ... and out_0, out_1, ... ."""

EPILOG = """examples:
  shardwright run model.mlir --check                          random inputs, against the unsharded run
  shardwright run model.mlir --inputs x.npz --expect y.npz    given inputs and results
  shardwright run model.mlir --trace out.json                 what ran when, for Perfetto
  shardwright run model.mlir --json > report.json             the figures as data
"""


def command_line() -> CodedArgumentParser:
    """The options of `shardwright run`."""
    parser = CodedArgumentParser(prog="shardwright run", description=DESCRIPTION, epilog=EPILOG)
    add = parser.add_argument
    parser.add_program()
    parser.add_callbacks()
    parser.add_automatic()
    add("--inputs", metavar="X.npz", help="the arguments in_0, in_1, ...; seeded random ones without it")
    add("--expect", metavar="X.npz", help="the results out_0, out_1, ... that must come out")
    add("--check", action="store_true", help="compare with the unsharded run of the same program")
    add("--rtol", type=tolerance, help="relative tolerance (default: by element type; float32 1e-4)")
    add("--atol", type=tolerance, help="absolute tolerance (default: of the result's root mean square, at least 1)")
    add("--seed", type=seed, default=0, help="seed of the random inputs (default 0)")
    add("--trace", metavar="OUT.json", help="write what ran when, and what it sent, for Perfetto")
    add("--json", action="store_true", help="print the report as JSON on standard output")
    return parser


def command(arguments: Sequence[str], state: CommandState) -> int:
    """The command `shardwright run`; returns the exit code."""
    options = command_line().parse_args(arguments)
    from shardwright.tools.programs.arrays import mismatch
    from shardwright.tools.programs.running import run_program
    from shardwright.views.explanation.places import brief_places

    with program_text(options.file, state) as (name, text):
        report = run_program(options, text, name)
    write_report(report.as_data(), None if options.json else brief_places(report.as_text(), name))
    wrong = [mismatch(comparison) for comparison in report.comparisons if not comparison.ok]
    if found := [*report.warnings, *wrong]:
        report_diagnostics(ShardwrightError(found), state.sources)
    return USER_ERROR if wrong else DONE
