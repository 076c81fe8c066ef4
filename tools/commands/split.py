"""`shardwright split`: a message or a program of any size into chunks."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from shardwright.tools.programs.files import cannot_write, display_name, read_text
from shardwright.tools.programs.signature import readable_bytes
from shardwright.tools.stored.messages import read_message, read_type
from shardwright.tools.terminal.arguments import CodedArgumentParser, byte_count
from shardwright.tools.terminal.guard import DONE, CommandState
from shardwright.tools.terminal.output import write_data
from shardwright.tools.terminal.progress import progress

DESCRIPTION = """Write a message (a .pb or .cpb file) or a program (.mlir) to PREFIX.pb, or to PREFIX.cpb in chunks
if it is larger than --max-size. Nothing of it is lost: 'shardwright merge' gives the same message back."""

EPILOG = """examples:
  shardwright split graph.pb --type GraphDef -o small/graph --max-size 64M
  shardwright split saved_model.pb -o chunked/saved_model --compression zstd:3
  shardwright split model.mlir -o model
"""
PROGRAM = ".mlir"


def argument_parser() -> CodedArgumentParser:
    """The command line of `shardwright split`."""
    parser = CodedArgumentParser(prog="shardwright split", description=DESCRIPTION, epilog=EPILOG)
    add = parser.add_argument
    add("file", help="the message, or a program as text")
    add("-o", dest="output", metavar="PREFIX", required=True, help="the file to write, without its ending")
    add("--type", help="what message it is: GraphDef, SavedModel, ... where neither the file nor its name says it")
    add("--descriptors", metavar="FILE", help="a descriptor set that has the type")
    add("--max-size", type=byte_count, metavar="BYTES", help="the largest message chunk, and the largest .pb (1G)")
    add("--chunk-size", type=byte_count, metavar="BYTES", help="what message chunks should have (4M)")
    add("--compression", metavar="OPTIONS", help="riegeli's options: uncompressed (the usual), zstd:3, brotli:6, ...")
    add("--json", action="store_true", help="print what was written as JSON")
    return parser


def command(arguments: Sequence[str], state: CommandState) -> int:
    """The command `shardwright split`; returns the exit code."""
    options = argument_parser().parse_args(arguments)
    try:
        with progress("writing", options.json) as tell:
            written = Path(write_program(options, state, tell) or write_message(options, tell))
    except OSError as error:
        raise cannot_write(options.output, error) from error
    size = written.stat().st_size
    if options.json:
        write_data(json.dumps({"file": str(written), "bytes": size}, indent=2))
    else:
        write_data(f"{written}: {readable_bytes(size)}")
    return DONE


def write_program(
    options: argparse.Namespace, state: CommandState, tell: Callable[[int, int], None] | None
) -> Path | None:
    """Write a program in text; None if the file is a message."""
    if not options.file.endswith(PROGRAM):
        return None
    from shardwright.serialization.ir.files import write_module
    from shardwright.tools.programs.program import about, parse

    name = display_name(options.file)
    text = state.sources[name] = read_text(options.file)
    with about(name):
        module = parse(text, name)
    return write_module(module, options.output, **_sizes(options), on_progress=tell)


def write_message(options: argparse.Namespace, tell: Callable[[int, int], None] | None) -> str:
    """Write a message that is in a file."""
    from shardwright.serialization.splitting import splitter_for

    message = read_message(options.file, read_type(options.file, options.type, options.descriptors))
    sizes = _sizes(options)
    writer_options = sizes.pop("writer_options")
    splitter: Any = splitter_for(message, **sizes)
    return splitter.write(options.output, writer_options, on_progress=tell)


def _sizes(options: argparse.Namespace) -> dict[str, Any]:
    """The options of splitting by the names that Python has for them."""
    return {
        "max_size": options.max_size,
        "chunk_size": options.chunk_size,
        "writer_options": options.compression,
    }
