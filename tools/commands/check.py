"""`shardwright check`: whether a program keeps a budget, for CI."""

from __future__ import annotations

from collections.abc import Sequence

from shardwright.diagnostics import ShardwrightError
from shardwright.tools.programs.program import parsed, program_text
from shardwright.tools.terminal.arguments import CodedArgumentParser, size_of_memory
from shardwright.tools.terminal.guard import DONE, USER_ERROR, CommandState, report_diagnostics
from shardwright.tools.terminal.output import write_report
from shardwright.views.limits import Limits

DESCRIPTION = """Partition a program and see whether it keeps a budget: bytes that each device sends, bytes that all
devices together hold at once, and no collective that nobody wrote. Nothing runs. Exits with 1 where it does not, and
names the dearest collectives with their lines."""

EPILOG = """examples:
  shardwright check model.mlir --max-bytes 2GB --max-peak 16GiB
  shardwright check model.mlir --no-implicit --json
"""


def command_line() -> CodedArgumentParser:
    """The options of `shardwright check`."""
    parser = CodedArgumentParser(prog="shardwright check", description=DESCRIPTION, epilog=EPILOG)
    add = parser.add_argument
    parser.add_program()
    parser.add_automatic()
    add("--max-bytes", type=size_of_memory, metavar="SIZE", help="what each device may send in a run")
    add(
        "--max-peak",
        type=size_of_memory,
        metavar="SIZE",
        help="what all devices together may hold at once, besides arguments",
    )
    add("--no-implicit", action="store_true", help="refuse collectives that nobody wrote")
    add("--json", action="store_true", help="print the figures and what is wrong as JSON on standard output")
    return parser


def command(arguments: Sequence[str], state: CommandState) -> int:
    """The command `shardwright check`; returns the exit code."""
    options = command_line().parse_args(arguments)
    from shardwright.compiler.pipelines import LOCALIZE, run_pipeline
    from shardwright.compiler.report import predicted_bytes
    from shardwright.runtime.executable import compile_module
    from shardwright.tools.programs.signature import entry_function
    from shardwright.views.explanation.judging import broken

    limits = Limits(options.max_bytes, options.max_peak, options.no_implicit)
    with program_text(options.file, state) as (name, text):
        planned = parsed(text, name, options)
        entry_function(planned)
        run_pipeline(planned, ["plan"])
        local = planned.clone()
        run_pipeline(local, LOCALIZE)
        peak, sent = compile_module(local).peak_bytes, predicted_bytes(planned)
        found = broken(limits, planned, name, lambda: peak)
    figures = {
        "ok": not found,
        "bytes_per_device": None if sent is None else float(sent),
        "peak_bytes": peak,
        "broken": [{"code": each.code, "message": each.message, "notes": list(each.notes)} for each in found],
    }
    shown = "bytes that depend on data" if sent is None else f"{float(sent):,.2f}".removesuffix(".00") + " bytes"
    kept = "within the limits" if not found else "over the limits"
    write_report(
        figures, None if options.json else f"{kept}: each device sends {shown}, all hold {peak:,} bytes at once"
    )
    if found:
        report_diagnostics(ShardwrightError(found), state.sources)
    return USER_ERROR if found else DONE
