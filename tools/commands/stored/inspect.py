"""`shardwright inspect`: what is in a stored message, chunk by chunk and field by field."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shardwright.diagnostics.figures import exact_bytes, readable_bytes
from shardwright.tools.stored.kinds import Kind, kind_of
from shardwright.tools.stored.messages import read_message, recorded_type, type_for
from shardwright.tools.terminal.arguments import CodedArgumentParser
from shardwright.tools.terminal.guard import DONE, CommandState
from shardwright.tools.terminal.output import write_report

if TYPE_CHECKING:
    from google.protobuf.message import Message

DESCRIPTION = """Show what is in a stored message (.pb, .cpb), in a saved directory or in a checkpoint: its chunks with
their fields, sizes and positions, and with --fields the larger fields of the whole message."""

EPILOG = """examples:
  shardwright inspect saved_model.cpb
  shardwright inspect graph.pb --type GraphDef
  shardwright inspect graph.cpb --fields --json
"""
ROWS = 40
"""Chunks that are shown unless all are asked for: the largest."""

_CHUNK = ("chunk", "kind", "bytes", "position", "path")
"""What is said of a chunk: its number, its kind, its bytes, where its record begins, and the field that it is for."""

WHOLE, MORE = "(the message itself)", "(more of the message itself)"


def command_line() -> CodedArgumentParser:
    """The options of `shardwright inspect`."""
    parser = CodedArgumentParser(prog="shardwright inspect", description=DESCRIPTION, epilog=EPILOG)
    add = parser.add_argument
    add("file", help="the message, the directory or the checkpoint")
    parser.add_type()
    add("--fields", action="store_true", help="read all of it, and show which fields its bytes are in")
    add("--all", action="store_true", help=f"show every chunk, not only the {ROWS} largest")
    add("--json", action="store_true", help="print everything as JSON")
    return parser


def command(arguments: Sequence[str], state: CommandState) -> int:
    """The command `shardwright inspect`; returns the exit code."""
    options = command_line().parse_args(arguments)
    report = _REPORTS[kind_of(options.file)](options)
    write_report(report, None if options.json else _as_text(report, options.all))
    return DONE


def _message_report(options: Any) -> dict[str, Any]:
    from shardwright.serialization.merging.reading.files import CHUNKED, find_file
    from shardwright.tools.stored.field_sizes import field_sizes

    path = find_file(options.file)
    kind = type_for(str(path), options.type, recorded_type(str(path)), options.descriptors)
    report: dict[str, Any] = {
        "file": str(path),
        "bytes": path.stat().st_size,
        "type": kind.DESCRIPTOR.full_name if kind else recorded_type(str(path)),
    }
    if path.suffix == CHUNKED:
        report |= _chunk_report(path, kind)
    if kind is not None and (options.fields or path.suffix != CHUNKED):
        size, rows = field_sizes(read_message(str(path), kind))
        report |= {"message_bytes": size, "fields": [asdict(row) for row in rows]}
    return report


def _chunk_report(path: Path, kind: type[Message] | None) -> dict[str, Any]:
    """The versions and the chunks of a file; without a type, fields are numbers."""
    from shardwright.serialization.merging import open_message, read_metadata

    metadata = read_metadata(path)
    version = metadata.version
    if kind is None:
        rows = list(_numbered_chunks(metadata))
    else:
        with open_message(path, kind) as message:
            rows = [(each.chunk, each.kind, each.size, each.position, each.path) for each in message.fields()]
    return {
        "splitter_version": version.splitter_version,
        "join_version": version.join_version,
        "bad_consumers": list(version.bad_consumers),
        "chunks": [dict(zip(_CHUNK, row, strict=True)) for row in sorted(rows, key=itemgetter(0))],
    }


def _numbered_chunks(metadata: Any) -> Iterator[tuple[int, str, int, int, str]]:
    """The chunks in metadata, with the numbers of fields where their names are not known."""
    kinds = {1: "MESSAGE", 2: "BYTES"}
    waiting: list[tuple[Any, str]] = [(metadata.message, "")]
    while waiting:
        message, path = waiting.pop()
        if message.HasField("chunk_index") and message.chunk_index < len(metadata.chunks):
            info = metadata.chunks[message.chunk_index]
            yield message.chunk_index, kinds[info.type], info.size, info.offset, path
        waiting += [(field.message, path + _numbered_path(field.field_tag)) for field in message.chunked_fields]


def _numbered_path(tags: Any) -> str:
    """The path of tags: `.1[3].5["value"]`."""
    text = ""
    for tag in tags:
        kind = tag.WhichOneof("kind")
        if kind == "field":
            text += f".{tag.field}"
        elif kind == "index":
            text += f"[{tag.index}]"
        elif kind == "map_key":
            key = tag.map_key.WhichOneof("type")
            text += f"[{json.dumps(getattr(tag.map_key, key)) if key else ''}]"
    return text


def _directory_report(options: Any) -> dict[str, Any]:
    """What is in a saved directory: its message and its files."""
    from shardwright.serialization.files.reading import reading

    shown, options.type = options.file, None
    with reading(shown, "SW0869") as folder:
        options.file = str(folder / "saved_model")
        files = sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
        rows = [{"path": str(path.relative_to(folder)), "bytes": path.stat().st_size} for path in files]
        report = _message_report(options)
    report["file"] = str(Path(shown) / Path(report["file"]).name)
    return report | {"directory": shown, "files": rows}


def _checkpoint_report(options: Any) -> dict[str, Any]:
    from shardwright.saving.checkpoints.manifest import read_manifest
    from shardwright.serialization.files.reading import reading

    with reading(options.file, "SW0873") as folder:
        entries = read_manifest(folder).arrays.items()
    variables = [{"path": name, "dtype": str(each.dtype), "shape": list(each.shape)} for name, each in entries]
    return {"checkpoint": options.file, "variables": variables}


_REPORTS: dict[Kind, Callable[[Any], dict[str, Any]]] = {
    Kind.MESSAGE: _message_report,
    Kind.DIRECTORY: _directory_report,
    Kind.CHECKPOINT: _checkpoint_report,
}


def _as_text(report: dict[str, Any], every: bool) -> str:
    parts: list[str] = []
    if "checkpoint" in report:
        shapes = ["x".join(map(str, row["shape"])) or "scalar" for row in report["variables"]]
        rows = [(row["dtype"], shape, row["path"]) for row, shape in zip(report["variables"], shapes, strict=True)]
        heading = f"{report['checkpoint']}: {len(rows)} variables"
        return "\n".join([heading, *_table(("dtype", "shape", "variable"), rows)])
    what = report["type"] or "a message of a type that the file does not name (--type NAME shows its fields)"
    parts.append(f"{report['file']}: {readable_bytes(report['bytes'])}, {what}")
    if "chunks" in report:
        parts += ["", *_chunk_table(report["chunks"], every)]
    if "fields" in report:
        counts = ["" if row["count"] is None else f"{row['count']:,}" for row in report["fields"]]
        fields = zip(report["fields"], counts, strict=True)
        rows = [(exact_bytes(row["bytes"]), count, row["path"]) for row, count in fields]
        parts += ["", f"the message: {exact_bytes(report['message_bytes'])} bytes; its larger fields:"]
        parts += _table(("bytes", "elements", "field"), rows)
    if "files" in report:
        rows = [(exact_bytes(row["bytes"]), row["path"]) for row in report["files"]]
        parts += ["", f"{len(rows)} files in {report['directory']}:", *_table(("bytes", "file"), rows)]
    return "\n".join(parts)


def _chunk_table(chunks: list[dict[str, Any]], every: bool) -> list[str]:
    """The chunks, or the largest of them."""
    shown = chunks if every else sorted(chunks, key=lambda row: -row["bytes"])[:ROWS]
    root = next((row["chunk"] for row in chunks if not row["path"]), None)
    rows: list[tuple[str, ...]] = []
    for row in sorted(shown, key=itemgetter("chunk")):
        field = row["path"] or (WHOLE if row["chunk"] == root else MORE)
        rows.append((str(row["chunk"]), row["kind"], exact_bytes(row["bytes"]), str(row["position"]), field))
    left = len(chunks) - len(shown)
    heading = f"{len(chunks)} chunks" + (f"; the {len(shown)} largest (--all shows all)" if left else "") + ":"
    return [heading, *_table(("chunk", "type", "bytes", "position", "field"), rows)]


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """
    Lines of a table, numbers to the right, the last column as long as it is.

    >>> _table(("bytes", "field"), [("1,024", "node"), ("12", "library")])
    ['  bytes  field', '  1,024  node', '     12  library']
    """
    widths = [max(len(row[column]) for row in (headings, *rows)) for column in range(len(headings) - 1)]
    return [
        "  " + "".join(f"{cell:>{width}}  " for cell, width in zip(row, widths, strict=False)) + row[-1]
        for row in (headings, *rows)
    ]
