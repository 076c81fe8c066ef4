"""`shardwright merge`: the chunks of a message in one piece."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shardwright.diagnostics import Diagnostic, ShardwrightError
from shardwright.diagnostics.figures import readable_bytes
from shardwright.serialization.files.text import cannot_write, write_atomically
from shardwright.tools.stored.messages import read_message, read_type, telling_what_goes
from shardwright.tools.terminal.arguments import CodedArgumentParser
from shardwright.tools.terminal.guard import DONE, CommandState
from shardwright.tools.terminal.output import write_report

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


def command_line() -> CodedArgumentParser:
    """The options of `shardwright merge`."""
    parser = CodedArgumentParser(prog="shardwright merge", description=DESCRIPTION, epilog=EPILOG)
    add = parser.add_argument
    add("file", help="the message, in chunks or whole")
    add("-o", dest="output", metavar="OUT", required=True, help="the file to write: OUT.pb or OUT.mlir")
    parser.add_type()
    add("--json", action="store_true", help="print what was written as JSON")
    return parser


def command(arguments: Sequence[str], state: CommandState) -> int:
    """The command `shardwright merge`; returns the exit code."""
    options = command_line().parse_args(arguments)
    output: str = options.output
    kind = read_type(options.file, options.type, options.descriptors)
    try:
        if output.endswith(PROGRAM):
            _write_program(options.file, kind, output)
        else:
            with telling_what_goes(output.removesuffix(MESSAGE)):
                _write_whole(read_message(options.file, kind), output)
        size = Path(output).stat().st_size
    except OSError as error:
        raise cannot_write(output, error) from error
    text = f"{output}: {readable_bytes(size)} of {kind.DESCRIPTOR.full_name}"
    report = {"file": output, "bytes": size, "type": kind.DESCRIPTOR.full_name}
    write_report(report, None if options.json else text)
    return DONE


def _write_program(file: str, kind: type[Message], output: str) -> None:
    """The text of a program's message; SW0724 for another message."""
    from shardwright.dialects.text.printing import print_module
    from shardwright.serialization.ir.files import read_module
    from shardwright.serialization.protos import ir_pb2

    if kind is not ir_pb2.Module:
        message = f"a {kind.DESCRIPTOR.full_name} is no program, which {output} would be"
        raise ShardwrightError(Diagnostic("SW0724", message, help="write it as .pb"))
    write_atomically(output, print_module(read_module(file, verify=True), debuginfo=True))


def _write_whole(message: Message, output: str) -> None:
    """The message in one piece: SW0726 for a name or a size that a whole message cannot have."""
    from shardwright.serialization.splitting import MessageSplitter
    from shardwright.serialization.splitting.limits import MOST
    from shardwright.serialization.splitting.sizes import measure, size_of

    if not output.endswith(MESSAGE):
        help_text = "give a name that ends in .pb, or in .mlir for a program"
        raise ShardwrightError(Diagnostic("SW0726", f"'{output}' does not say what it is", help=help_text))
    size = size_of(measure(message, MOST))
    if size > MOST:
        text = f"{readable_bytes(size)} are more than protobuf reads in one piece (2 GiB)"
        raise ShardwrightError(Diagnostic("SW0726", text, help="leave it in chunks: 'shardwright split' writes them"))
    splitter: Any = MessageSplitter(message, max_size=MOST)
    splitter.write(output.removesuffix(MESSAGE))
