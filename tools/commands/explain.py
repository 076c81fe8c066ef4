"""`shardwright explain`: the collectives of a partitioned program, and why values have their layouts."""

from __future__ import annotations

from argparse import ArgumentTypeError, Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING

from shardwright.tools.programs.program import parsed, program_text
from shardwright.tools.terminal.arguments import CodedArgumentParser, axis_sizes, positive_line
from shardwright.tools.terminal.guard import DONE, USER_ERROR, CommandState
from shardwright.tools.terminal.output import fitted, write_report

if TYPE_CHECKING:
    from shardwright.compiler.answers import Explanation
    from shardwright.views.explanation.what_if import Comparison

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
  shardwright explain model.mlir --layout w1=data,- --mesh data=2,model=4
                                                    what it would send with another layout, and on another mesh
  shardwright explain model.mlir --without model.py:18
                                                    what it would send if that line asked for no layout
  shardwright explain model.mlir --json             the same as data

exit codes: 0 done, 1 a mistake, or a change with which there is no such program
"""


def command_line() -> CodedArgumentParser:
    """The options of `shardwright explain`."""
    parser = CodedArgumentParser(prog="shardwright explain", description=DESCRIPTION, epilog=EPILOG)
    parser.add_program()
    parser.add_callbacks()
    parser.add_automatic()
    parser.add_argument("--why", type=_question, metavar="WHAT", help="explain a line, a value, an argument or '#3'")
    parser.add_argument("--all", action="store_true", help="show every collective and every argument")
    add = parser.add_argument
    add("--without", action="append", default=[], metavar="LINE", help="what if this line asked for no layout")
    add("--layout", action="append", default=[], type=_layout, metavar="NAME=AXES", help="what if an argument had it")
    add("--mesh", type=axis_sizes, default={}, metavar="AXIS=SIZE,...", help="what if axes of the mesh had these sizes")
    parser.add_argument("--json", action="store_true", help="print the report as JSON on standard output")
    return parser


def _question(text: str) -> str:
    """What `--why` asks for; a number has to be one of a line."""
    return str(positive_line(text)) if text.lstrip("-").isdecimal() else text


def command(arguments: Sequence[str], state: CommandState) -> int:
    """The command `shardwright explain`; returns the exit code."""
    parser = command_line()
    options = parser.parse_args(arguments)
    asked = options.without or options.layout or options.mesh
    if asked and options.why is not None:
        parser.error("--why is about the program as it is: leave out --without, --layout and --mesh")
    if len(dict(options.layout)) < len(options.layout):
        parser.error("--layout gives an argument two layouts")
    with program_text(options.file, state) as (name, text):
        if asked:
            compared = _compared(text, name, options)
            write_report(compared.data(), None if options.json else compared.text(**fitted()))
            return USER_ERROR if any(outcome.refused for outcome in compared.outcomes) else DONE
        explanation = _explained(text, name, options)
        if options.why is not None:
            found = explanation.why(options.why)
            write_report(found.data(), None if options.json else str(found))
            return DONE
    text = None if options.json else explanation.text(all=options.all, **fitted())
    write_report(explanation.data() if options.json else None, text)
    return DONE


def _layout(text: str) -> tuple[str, str]:
    """
    An argument's name and the axes of its dims.

    >>> _layout("p['w1']=data+model,-")
    ("p['w1']", 'data+model,-')
    """
    name, equals, axes = text.partition("=")
    if not name or not equals:
        raise ArgumentTypeError(f"'{text}' is not NAME=AXES, such as w1=data,-")
    return name, axes


def _compared(text: str, name: str, options: Namespace) -> Comparison:
    """The program beside what it would be with the changes that were asked for."""
    from shardwright.compiler.pipelines import READ, run_pipeline
    from shardwright.frontends.functions.dtensor import BACKEND
    from shardwright.tools.programs.signature import entry_function
    from shardwright.views.explanation.what_if import what_if

    module = parsed(text, name, options)
    entry_function(module)
    run_pipeline(module, READ)
    return what_if(module, BACKEND, options.without, dict(options.layout), options.mesh, name)


def _explained(text: str, name: str, options: Namespace) -> Explanation:
    """What there is to say about a program."""
    from shardwright.compiler.pipelines import ALIGN, PLAN, run_pipeline
    from shardwright.compiler.stages import read_module
    from shardwright.dialects.dtensor import meshes
    from shardwright.frontends.functions.dtensor import BACKEND
    from shardwright.tools.programs.signature import entry_function
    from shardwright.views.explanation.explanation import Explanation as OfOneMesh

    module = parsed(text, name, options)
    entry_function(module)
    if len(meshes(module)) > 1:
        return read_module(module, name, BACKEND).partition().explain()
    run_pipeline(module, ["propagate", *ALIGN, *PLAN])
    return OfOneMesh(module, name)
