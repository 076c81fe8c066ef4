"""`shardwright doctor`: whether this installation and this machine are fit for use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from shardwright.tools.terminal.arguments import CodedArgumentParser
from shardwright.tools.terminal.guard import DONE, USER_ERROR, CommandState
from shardwright.tools.terminal.output import write_report

DESCRIPTION = """Look at what programs need: packages and their versions, extras, cores, memory, folders, MPI, devices.
Then partition a small program, run it, and compare. Exits with 1 where something is there and would fail; what is only
absent is named with how to get it."""

EPILOG = """examples:
  shardwright doctor
  shardwright doctor --json > installation.json    for a report of a fault
"""


def command_line() -> CodedArgumentParser:
    """The options of `shardwright doctor`."""
    parser = CodedArgumentParser(prog="shardwright doctor", description=DESCRIPTION, epilog=EPILOG)
    parser.add_argument("--json", action="store_true", help="print what was found as JSON on standard output")
    return parser


def command(arguments: Sequence[str], state: CommandState) -> int:
    """The command `shardwright doctor`; returns the exit code."""
    options = command_line().parse_args(arguments)
    from shardwright.tools.health.findings import as_text
    from shardwright.tools.health.machine import machine
    from shardwright.tools.health.packages import packages, plugins_found
    from shardwright.tools.health.trial import trial

    findings = [*packages(), *plugins_found(), *machine(), trial()]
    ok = all(each.state != "wrong" for each in findings)
    data = {"ok": ok, "findings": [asdict(each) for each in findings]}
    write_report(data, None if options.json else as_text(findings))
    return DONE if ok else USER_ERROR
