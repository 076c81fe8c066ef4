"""`shardwright report`: a page of HTML about a program."""

from __future__ import annotations

from collections.abc import Sequence

from shardwright.tools.programs.program import parsed, program_text
from shardwright.tools.terminal.arguments import CodedArgumentParser
from shardwright.tools.terminal.guard import DONE, CommandState
from shardwright.tools.terminal.output import write_output

DESCRIPTION = """Partition a program and write one page of HTML about it, which needs no network: its source with the
bytes of each line, its collectives with their reasons, pictures of layouts, memory over time, what passes changed."""

EPILOG = """examples:
  shardwright report model.mlir -o model.html
"""


def command_line() -> CodedArgumentParser:
    """The options of `shardwright report`."""
    parser = CodedArgumentParser(prog="shardwright report", description=DESCRIPTION, epilog=EPILOG)
    parser.add_program()
    parser.add_callbacks()
    parser.add_automatic()
    parser.add_argument(
        "-o", "--output", required=True, metavar="PAGE", help="where to write the page; - is standard output"
    )
    return parser


def command(arguments: Sequence[str], state: CommandState) -> int:
    """The command `shardwright report`; returns the exit code."""
    options = command_line().parse_args(arguments)
    from shardwright.compiler.stages import read_module
    from shardwright.frontends.functions.dtensor import BACKEND
    from shardwright.tools.programs.signature import entry_function
    from shardwright.views.report.page import report_page

    with program_text(options.file, state) as (name, text):
        module = parsed(text, name, options)
        entry_function(module)
        page = report_page(read_module(module, name, BACKEND).partition(), texts={name: text})
    write_output(options.output, page)
    return DONE
