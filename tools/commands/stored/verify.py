"""`shardwright verify`: every byte of what is stored, checked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from shardwright.diagnostics.figures import readable_bytes
from shardwright.diagnostics.telling import lasting
from shardwright.tools.stored.kinds import Kind, kind_of
from shardwright.tools.stored.messages import recorded_type, type_for
from shardwright.tools.terminal.arguments import CodedArgumentParser
from shardwright.tools.terminal.guard import DONE, CommandState
from shardwright.tools.terminal.output import write_report

DESCRIPTION = """Read all of a stored message (.pb, .cpb), of a saved directory or of a checkpoint, and check every hash
and everything that is said twice. What is wrong is named, with its place."""

EPILOG = """examples:
  shardwright verify saved_model.cpb
  shardwright verify graph.cpb --type GraphDef
  shardwright verify checkpoints/ckpt-100
"""


def command_line() -> CodedArgumentParser:
    """The options of `shardwright verify`."""
    parser = CodedArgumentParser(prog="shardwright verify", description=DESCRIPTION, epilog=EPILOG)
    add = parser.add_argument
    add("file", help="the message, the directory or the checkpoint")
    add("--type", help="what message it is; without a type, fields are not checked against one")
    add("--descriptors", metavar="FILE", help="a descriptor set that has the type")
    add("--json", action="store_true", help="print what was checked as JSON")
    return parser


def command(arguments: Sequence[str], state: CommandState) -> int:
    """The command `shardwright verify`; returns the exit code."""
    options = command_line().parse_args(arguments)
    report = {"ok": True, **_CHECKS[kind_of(options.file)](options)}
    what = ", ".join(f"{name} {value}" for name, value in report.items() if name not in ("ok", "file", "bytes"))
    text = f"ok: {report['file']}, {readable_bytes(report['bytes'])}, {what}"
    write_report(report, None if options.json else text)
    return DONE


def _check_message(options: Any) -> dict[str, Any]:
    """A message; without a type all but what the type would say."""
    from shardwright.serialization.merging import verify
    from shardwright.serialization.merging.reading.files import find_file

    path = find_file(options.file)
    kind = type_for(str(path), options.type, recorded_type(str(path)), options.descriptors)
    with lasting("verifying", "bytes") as tell:
        found = verify(path, kind, on_progress=tell)
    return {
        "file": str(path),
        "bytes": path.stat().st_size,
        "type": kind.DESCRIPTOR.full_name if kind else "unknown",
        "chunks": len(found.chunks),
    }


def _check_directory(options: Any) -> dict[str, Any]:
    """A saved directory: its fingerprint, its message, its files and variables."""
    from shardwright.saving.checkpoints.checkpoint import verify_checkpoint
    from shardwright.saving.checkpoints.manifest import MANIFEST
    from shardwright.saving.directory.folders import VARIABLES
    from shardwright.saving.directory.reading import read_directory
    from shardwright.serialization.files.reading import reading

    with reading(options.file, "SW0869") as folder:
        message = read_directory(folder)
        if (folder / VARIABLES / MANIFEST).exists():
            verify_checkpoint(folder / VARIABLES)
        files = [path for path in folder.rglob("*") if path.is_file()]
        size = sum(path.stat().st_size for path in files)
    programs = len(message.shardwright.programs)
    return {"file": options.file, "bytes": size, "files": len(files), "programs": programs}


def _check_checkpoint(options: Any) -> dict[str, Any]:
    """A checkpoint: each chunk of each variable."""
    from shardwright.saving.checkpoints.checkpoint import list_variables, verify_checkpoint

    size = verify_checkpoint(options.file)
    return {"file": options.file, "bytes": size, "arrays": len(list_variables(options.file))}


_CHECKS: dict[Kind, Callable[[Any], dict[str, Any]]] = {
    Kind.MESSAGE: _check_message,
    Kind.DIRECTORY: _check_directory,
    Kind.CHECKPOINT: _check_checkpoint,
}
