"""`shardwright-opt`: read a program, run passes over it, print it."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from typing import Any

from shardwright.tools.programs.files import SEPARATOR, STANDARD_INPUT
from shardwright.tools.terminal.arguments import CodedArgumentParser
from shardwright.tools.terminal.guard import CommandState, guarded

DESCRIPTION = "Read a program in MLIR text, run passes over it, and print the result."
EPILOG = """examples:
  shardwright-opt model.mlir                          parse, verify and print
  shardwright-opt model.mlir -p partition             the whole partitioner
  shardwright-opt model.mlir -p import-sdy,inline,cse --print-ir-diff
  shardwright-opt --list-passes                       every pass and pipeline, one line each

exit codes: 0 done, 1 a mistake in the input, 2 an internal error (a reproducer file is named)
"""


def command_line() -> CodedArgumentParser:
    """The options of `shardwright-opt`."""
    parser = CodedArgumentParser(prog="shardwright-opt", description=DESCRIPTION, epilog=EPILOG)
    flag: dict[str, Any] = {"action": "store_true"}
    add = parser.add_argument
    add("input_file", nargs="?", default=STANDARD_INPUT, help="the program; standard input without it or with '-'")
    parser.add_load()
    add(
        "-p",
        "--passes",
        action="append",
        default=[],
        metavar="PIPELINE",
        help="passes and pipelines: 'a,b{x=1 y=true}'",
    )
    add("-o", "--output-file", metavar="FILE", help="write there (in one step) instead of standard output")
    add("--emit", choices=["mlir", "python"], default="mlir", help="python: the function a local program runs as")
    add("--list-passes", **flag, help="print each pass and pipeline with a line about it")
    add("--json", **flag, help="with --list-passes: as JSON")
    for when in ("before", "after"):
        add(f"--print-ir-{when}-all", **flag, help=f"print the program {when} each pass on standard error")
        about = f"print the program {when} that pass; may be given several times"
        add(f"--print-ir-{when}", action="append", default=[], metavar="PASS", help=about)
    add("--print-ir-diff", **flag, help="print what each pass changes, as a unified diff, on standard error")
    add(
        "--print-ir-tree-dir",
        metavar="DIR",
        help="write the program, and what each pass makes of it, to numbered files",
    )
    add("--time-passes", **flag, help="print each pass's seconds on standard error")
    add("--split-input-file", **flag, help=f"treat the parts between '{SEPARATOR}' lines as separate programs")
    add("--verify-diagnostics", **flag, help="check the errors against '// expected-error @+1 {{...}}' comments")
    add("--disable-verify", **flag, help="do not verify after each pass")
    add("--print-op-generic", **flag, help="print the generic form")
    add("--print-debuginfo", **flag, help="print locations")
    return parser


def _command(arguments: Sequence[str], state: CommandState) -> int:
    options = command_line().parse_args(arguments)
    from shardwright.tools.programs.driver import Driver

    return Driver(options, state).run()


def main(argv: Sequence[str] | None = None) -> int:
    """The command `shardwright-opt`; returns the exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    state = CommandState(shlex.join(["shardwright-opt", *arguments]))
    return guarded(state, lambda state: _command(arguments, state))


if __name__ == "__main__":
    sys.exit(main())
