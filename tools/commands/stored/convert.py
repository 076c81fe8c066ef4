"""`shardwright convert`: the arrays of a checkpoint as safetensors, and back."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from shardwright.diagnostics.figures import readable_bytes
from shardwright.diagnostics.telling import lasting
from shardwright.tools.terminal.arguments import CodedArgumentParser
from shardwright.tools.terminal.guard import DONE, CommandState
from shardwright.tools.terminal.output import write_report

DESCRIPTION = """Write the arrays of a checkpoint as safetensors, which other libraries read, or safetensors (a file,
the index of several, or a folder that has either) as a checkpoint. Names, shapes and element types stay."""

EPILOG = """examples:
  shardwright convert checkpoints/ckpt-100 model.safetensors
  shardwright convert llama/model.safetensors.index.json checkpoints/start
  shardwright convert checkpoints/ckpt-100 model.safetensors --max-file-bytes 2GB
"""


def command_line() -> CodedArgumentParser:
    """The options of `shardwright convert`."""
    parser = CodedArgumentParser(prog="shardwright convert", description=DESCRIPTION, epilog=EPILOG)
    add = parser.add_argument
    add("source", help="the checkpoint's folder, or the safetensors")
    add("target", help="a file whose name ends in .safetensors, or a folder for the checkpoint")
    add("--max-file-bytes", metavar="SIZE", default="5GB", help="what a file of safetensors has at most (5GB)")
    add("--json", action="store_true", help="print what was written as JSON")
    return parser


def command(arguments: Sequence[str], state: CommandState) -> int:
    """The command `shardwright convert`; returns the exit code."""
    options = command_line().parse_args(arguments)
    from shardwright.diagnostics.figures import size_in_bytes
    from shardwright.saving.tensors.converting import convert

    with lasting("converting"):
        files = convert(options.source, options.target, max_file_bytes=size_in_bytes(options.max_file_bytes))
    sizes = [_bytes_at(Path(file)) for file in files]
    text = "\n".join(f"{file}: {readable_bytes(size)}" for file, size in zip(files, sizes, strict=True))
    report = {"files": files, "bytes": sum(sizes)}
    write_report(report, None if options.json else text)
    return DONE


def _bytes_at(path: Path) -> int:
    """The bytes of a file, or of all files in a folder."""
    return sum(each.stat().st_size for each in (path, *path.rglob("*")) if each.is_file())
