"""`shardwright price`: what a run of a program costs in seconds, before it runs."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from fractions import Fraction

from shardwright.diagnostics import Diagnostic, ShardwrightError
from shardwright.diagnostics.figures import exact_bytes, plain_number
from shardwright.tools.programs.program import parse, parsed, program_text, read_topology
from shardwright.tools.terminal.arguments import CodedArgumentParser
from shardwright.tools.terminal.guard import DONE, CommandState
from shardwright.tools.terminal.output import fitted, write_report

DESCRIPTION = """Partition a program and say what one run costs each device: seconds of computing, seconds and bytes
along each axis, operations on numbers, memory touched and held. Nothing runs, and no memory is taken for it."""

EPILOG = """examples:
  shardwright price model.mlir                            on a mesh of the usual orders of magnitude
  shardwright price model.mlir --topology machine.json    on links and devices that you measured
  shardwright price model.mlir --json                     the same as data, with the topology
"""


def command_line() -> CodedArgumentParser:
    """The options of `shardwright price`."""
    parser = CodedArgumentParser(prog="shardwright price", description=DESCRIPTION, epilog=EPILOG)
    parser.add_program()
    parser.add_callbacks()
    parser.add_automatic()
    parser.set_defaults(priced=True)
    about = "with --auto: also say what no assignment of axes to dims sends less than, with all devices at work"
    parser.add_argument("--bound", action="store_true", help=about)
    parser.add_argument("--json", action="store_true", help="print the report as JSON on standard output")
    return parser


def command(arguments: Sequence[str], state: CommandState) -> int:
    """The command `shardwright price`; returns the exit code."""
    options = command_line().parse_args(arguments)
    from shardwright.compiler.stages import PartitionedSegments, read_module
    from shardwright.frontends.functions.dtensor import BACKEND
    from shardwright.tools.programs.signature import entry_function

    topology = read_topology(options.topology)
    least: float | None = None
    with program_text(options.file, state) as (name, text):
        module = parsed(text, name, options)
        if options.bound:
            least = _least_sent(text, name, options)
        entry_function(module)
        stage = read_module(module, name, BACKEND).partition()
        if isinstance(stage, PartitionedSegments):
            prices = [(part.interface.mesh, part.price(topology)) for part in stage.segments]
            data: object = {"segments": [price.data() for _, price in prices]}
            text = "\n".join(f"on {mesh!r}\n{price.text(**fitted())}" for mesh, price in prices)
        else:
            price = stage.price(topology)
            data, text = price.data(), price.text(**fitted())
            if options.bound:
                data, text = data | {"least_sent": least}, text + _bound_text(least, stage.predicted_bytes)
    write_report(data, None if options.json else text)
    return DONE


def _least_sent(text: str, name: str, options: Namespace) -> float | None:
    """What no layouts of the program send less than; SW0701 where none are to be chosen."""
    from shardwright.compiler.layouts.automatic import least_sent_by_any
    from shardwright.compiler.pipelines import READ, run_pipeline
    from shardwright.layout import Mesh

    if options.auto is None:
        help_text = "add --auto data=4,model=2, or leave it out"
        raise ShardwrightError(Diagnostic("SW0701", "--bound is for layouts to choose", help=help_text))
    module = parse(text, name, options.callbacks)
    run_pipeline(module, READ)
    return least_sent_by_any(module, Mesh(options.auto))


def _bound_text(least: float | None, sent: Fraction | None) -> str:
    if least is None:
        return "no assignment of axes keeps all devices at work\n"
    mine = "" if sent is None else f": these layouts send {exact_bytes(plain_number(sent))}"
    return f"no assignment of axes with all devices at work sends less than {exact_bytes(least)} bytes{mine}\n"
