"""`shardwright split`: a message or a program of any size into chunks."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from shardwright.diagnostics.figures import readable_bytes
from shardwright.diagnostics.telling import lasting
from shardwright.serialization.files.text import cannot_write
from shardwright.tools.stored.messages import read_message, read_type, telling_what_goes
from shardwright.tools.terminal.arguments import CodedArgumentParser, byte_count
from shardwright.tools.terminal.guard import DONE, CommandState
from shardwright.tools.terminal.output import write_report

DESCRIPTION = """Write a message (a .pb or .cpb file) or a program (.mlir) to PREFIX.pb, or to PREFIX.cpb in chunks
if it is larger than --max-size. Nothing of it is lost: 'shardwright merge' gives the same message back. Of PREFIX.pb
and PREFIX.cpb one takes the place of the other, also where that is the message that was read."""

EPILOG = """examples:
  shardwright split graph.pb --type GraphDef -o small/graph --max-size 64M
  shardwright split saved_model.pb -o chunked/saved_model --compression zstd:3
  shardwright split model.mlir -o model
"""
PROGRAM = ".mlir"

OnProgress: TypeAlias = Callable[[int, int], None] | None


def command_line() -> CodedArgumentParser:
    """The options of `shardwright split`."""
    parser = CodedArgumentParser(prog="shardwright split", description=DESCRIPTION, epilog=EPILOG)
    add = parser.add_argument
    add("file", help="the message, or a program as text")
    add("-o", dest="output", metavar="PREFIX", required=True, help="the file to write, without its ending")
    parser.add_type()
    add("--max-size", type=byte_count, metavar="BYTES", help="the largest message chunk, and the largest .pb (1G)")
    add("--chunk-size", type=byte_count, metavar="BYTES", help="what message chunks should have (4M)")
    add("--compression", metavar="OPTIONS", help="riegeli's options: uncompressed (the usual), zstd:3, brotli:6, ...")
    add("--json", action="store_true", help="print what was written as JSON")
    return parser


def command(arguments: Sequence[str], state: CommandState) -> int:
    """The command `shardwright split`; returns the exit code."""
    parser = command_line()
    options = parser.parse_args(arguments)
    typed = options.type is not None or options.descriptors is not None
    if typed and options.file.endswith(PROGRAM):
        parser.error("--type and --descriptors are for messages: a program's message is ours")
    try:
        with telling_what_goes(options.output), lasting("writing", "bytes") as tell:
            if options.file.endswith(PROGRAM):
                written = _write_program(options, state, tell)
            else:
                written = _write_message(options, tell)
    except OSError as error:
        raise cannot_write(options.output, error) from error
    size = written.stat().st_size
    text = f"{written}: {readable_bytes(size)}"
    write_report({"file": str(written), "bytes": size}, None if options.json else text)
    return DONE


def _write_program(options: argparse.Namespace, state: CommandState, tell: OnProgress) -> Path:
    from shardwright.serialization.ir.files import write_module
    from shardwright.tools.programs.program import parse, program_text

    with program_text(options.file, state) as (name, text):
        module = parse(text, name)
    sizes = {"max_size": options.max_size, "chunk_size": options.chunk_size}
    return write_module(module, options.output, **sizes, writer_options=options.compression, on_progress=tell)


def _write_message(options: argparse.Namespace, tell: OnProgress) -> Path:
    from shardwright.serialization.splitting import splitter_for

    message = read_message(options.file, read_type(options.file, options.type, options.descriptors))
    splitter: Any = splitter_for(message, max_size=options.max_size, chunk_size=options.chunk_size)
    return Path(splitter.write(options.output, options.compression, on_progress=tell))
