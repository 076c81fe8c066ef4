"""`shardwright price`: what a run of a program costs in seconds, before it runs."""

from __future__ import annotations

from collections.abc import Sequence

from shardwright.tools.programs.program import parsed, program_text, read_topology
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
    parser.add_argument("--json", action="store_true", help="print the report as JSON on standard output")
    return parser


def command(arguments: Sequence[str], state: CommandState) -> int:
    """The command `shardwright price`; returns the exit code."""
    options = command_line().parse_args(arguments)
    from shardwright.compiler.stages import PartitionedSegments, read_module
    from shardwright.frontends.functions.dtensor import BACKEND
    from shardwright.tools.programs.signature import entry_function

    topology = read_topology(options.topology)
    with program_text(options.file, state) as (name, text):
        module = parsed(text, name, options)
        entry_function(module)
        stage = read_module(module, name, BACKEND).partition()
        if isinstance(stage, PartitionedSegments):
            prices = [(part.interface.mesh, part.price(topology)) for part in stage.segments]
            data: object = {"segments": [price.data() for _, price in prices]}
            text = "\n".join(f"on {mesh!r}\n{price.text(**fitted())}" for mesh, price in prices)
        else:
            price = stage.price(topology)
            data, text = price.data(), price.text(**fitted())
    write_report(data, None if options.json else text)
    return DONE
