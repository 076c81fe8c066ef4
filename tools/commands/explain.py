"""`shardwright explain`: the collectives of a partitioned program, and why values have their layouts."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from shardwright.tools.programs.program import parse, program_text
from shardwright.tools.programs.signature import entry_function
from shardwright.tools.terminal.arguments import CodedArgumentParser, positive_line
from shardwright.tools.terminal.guard import DONE, CommandState
from shardwright.tools.terminal.output import write_report

if TYPE_CHECKING:
    from shardwright.views.explanation.explanation import Explanation

DESCRIPTION = """Partition a program and show its collectives, the dearest first and those of equal layers together:
what each sends per device, which line asked for it, how that came to want its layout, by which rule, and the
alternative that was not taken. With --why, say it of one line, value, argument or collective."""

EPILOG = """examples:
  shardwright explain model.mlir                    the dearest collectives
  shardwright explain model.mlir --all              every collective
  shardwright explain model.mlir --why 12           the values that line 12 defines
  shardwright explain model.mlir --why model.py:18  those of a line of the source from which it was exported
  shardwright explain model.mlir --why "p['w1']"    an argument or a value
  shardwright explain model.mlir --why '#3'         a collective
  shardwright explain model.mlir --json             the same as data
"""


def _parser() -> CodedArgumentParser:
    parser = CodedArgumentParser(prog="shardwright explain", description=DESCRIPTION, epilog=EPILOG)
    parser.add_argument("file", help="the program: StableHLO text with layouts; '-' is standard input")
    parser.add_argument("--why", type=_question, metavar="WHAT", help="explain a line, a value, an argument or '#3'")
    parser.add_argument("--all", action="store_true", help="show every collective and every argument")
    parser.add_argument("--json", action="store_true", help="print the report as JSON on standard output")
    return parser


def _question(text: str) -> str:
    """What `--why` asks for; a number has to be one of a line."""
    return str(positive_line(text)) if text.lstrip("-").isdecimal() else text


def command(arguments: Sequence[str], state: CommandState) -> int:
    """The command `shardwright explain`; returns the exit code."""
    options = _parser().parse_args(arguments)
    with program_text(options.file, state) as (name, text):
        explanation = _explained(text, name)
        if options.why is not None:
            found = explanation.why(options.why)
            write_report(found.data(), None if options.json else str(found))
            return DONE
    terminal = sys.stdout is not None and sys.stdout.isatty()  # pyright: ignore[reportUnnecessaryComparison]
    text = None if options.json else explanation.text(all=options.all, width=_columns(terminal), colour=terminal)
    write_report(explanation.data() if options.json else None, text)
    return DONE


def _columns(terminal: bool) -> int | None:
    from shutil import get_terminal_size

    return get_terminal_size().columns if terminal else None


def _explained(text: str, name: str) -> Explanation:
    """What there is to say about a program."""
    from shardwright.compiler.pipelines import ALIGN, PLAN, run_pipeline
    from shardwright.views.explanation.explanation import Explanation

    module = parse(text, name)
    entry_function(module)
    run_pipeline(module, ["propagate", *ALIGN, *PLAN])
    return Explanation(module, name)
