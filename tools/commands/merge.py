"""`shardwright merge`: the chunks of a message in one piece."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shardwright.diagnostics import Diagnostic, ShardwrightError
from shardwright.tools.programs.files import cannot_write, write_atomically
from shardwright.tools.programs.signature import readable_bytes
from shardwright.tools.stored.messages import read_message, read_type
from shardwright.tools.terminal.arguments import CodedArgumentParser
from shardwright.tools.terminal.guard import DONE, CommandState
from shardwright.tools.terminal.output import write_data

if TYPE_CHECKING:
    from google.protobuf.message import Message

DESCRIPTION = """Write a message that is in chunks (.cpb) as one that everybody's protobuf reads (.pb, less than 2 GiB),
or a program's message as the program's text (.mlir)."""

EPILOG = """examples:
  shardwright merge chunked/saved_model.cpb -o saved_model.pb
  shardwright merge graph.cpb --type GraphDef -o graph.pb
  shardwright merge model.cpb -o model.mlir
"""
MESSAGE, PROGRAM = ".pb", ".mlir"


def argument_parser() -> CodedArgumentParser:
    """The command line of `shardwright merge`."""
    parser = CodedArgumentParser(prog="shardwright merge", description=DESCRIPTION, epilog=EPILOG)
    add = parser.add_argument
    add("file", help="the message, in chunks or whole")
    add("-o", dest="output", metavar="OUT", required=True, help="the file to write: OUT.pb or OUT.mlir")
    add("--type", help="what message it is: GraphDef, SavedModel, ... where neither the file nor its name says it")
    add("--descriptors", metavar="FILE", help="a descriptor set that has the type")
    add("--json", action="store_true", help="print what was written as JSON")
    return parser


def command(arguments: Sequence[str], state: CommandState) -> int:
    """The command `shardwright merge`; returns the exit code."""
    options = argument_parser().parse_args(arguments)
    output: str = options.output
    kind = read_type(options.file, options.type, options.descriptors)
    try:
        if output.endswith(PROGRAM):
            write_program(options.file, kind, output)
        else:
            write_whole(read_message(options.file, kind), output)
        size = Path(output).stat().st_size
    except OSError as error:
        raise cannot_write(output, error) from error
    if options.json:
        write_data(json.dumps({"file": output, "bytes": size, "type": kind.DESCRIPTOR.full_name}, indent=2))
    else:
        write_data(f"{output}: {readable_bytes(size)} of {kind.DESCRIPTOR.full_name}")
    return DONE


def write_program(file: str, kind: type[Message], output: str) -> None:
    """The text of a program's message; SW0724 for another message."""
    from shardwright.dialects.text.printing import print_module
    from shardwright.serialization.ir.files import read_module
    from shardwright.serialization.protos import ir_pb2

    if kind is not ir_pb2.Module:
        message = f"a {kind.DESCRIPTOR.full_name} is no program, which {output} would be"
        raise ShardwrightError(Diagnostic("SW0724", message, help="write it as .pb"))
    write_atomically(output, print_module(read_module(file, verify=True), debuginfo=True))


def write_whole(message: Message, output: str) -> None:
    """The message in one piece: SW0726 for a name or a size that a whole message cannot have."""
    from shardwright.serialization.splitting import MessageSplitter
    from shardwright.serialization.splitting.limits import MOST
    from shardwright.serialization.splitting.sizes import measure, size_of

    if not output.endswith(MESSAGE):
        text = f"'{output}' does not say what it is"
        raise ShardwrightError(
            Diagnostic("SW0726", text, help="give a name that ends in .pb, or in .mlir for a program")
        )
    size = size_of(measure(message, MOST))
    if size > MOST:
        text = f"{readable_bytes(size)} are more than protobuf reads in one piece (2 GiB)"
        raise ShardwrightError(Diagnostic("SW0726", text, help="leave it in chunks: 'shardwright split' writes them"))
    splitter: Any = MessageSplitter(message, max_size=MOST)
    splitter.write(output.removesuffix(MESSAGE))
