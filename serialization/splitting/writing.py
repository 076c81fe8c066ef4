"""
Messages and their chunks into files, `PREFIX.pb` or `PREFIX.cpb`, of which one is there in the end.

A kill at any moment leaves a message that is read without doubt, the old or the new one. Each file takes its place by
one rename. Two files cannot change places in one step, so that for a moment both are there:

- a `.cpb` that takes the place of a `.pb` says in its metadata which `.pb` it supersedes, by size and hash. While both
  are there, that `.pb` is the one, and readers take the `.cpb`;
- before a `.pb` takes the place of a `.cpb`, the new message is written as a `.cpb` of one chunk that supersedes the
  new `.pb`. From then on the `.cpb` is the new message, with the `.pb` beside it and without.

Any other `.pb` beside a `.cpb` is an error when it is read (SW0831). TensorFlow's reader takes the `.cpb` if both are
there, which is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from google.protobuf.message import Message

from shardwright.serialization.fields import type_of
from shardwright.serialization.files.atomic import AtomicFile, sync_folder
from shardwright.serialization.files.siblings import sibling_file, sibling_of
from shardwright.serialization.protos import chunk_pb2, records_pb2, versions_pb2
from shardwright.serialization.riegeli import RecordWriter, RecordWriterOptions
from shardwright.serialization.splitting.chunks import MESSAGE, Chunk, runs

Progress = Callable[[int, int], object]
"""Called with the bytes that are written and the bytes that there are in all."""

BUFFER = 1 << 24
UNCOMPRESSED = RecordWriterOptions("uncompressed")


def write_pieces(
    prefix: str,
    message: Message,
    pieces: Sequence[bytes | memoryview],
    version: versions_pb2.VersionDef,
    on_progress: Progress | None,
) -> str:
    """Write the bytes of a message that was not split, which lie in several pieces; returns the path."""
    path, done, total = prefix + ".pb", 0, sum(map(len, pieces))
    chunked = Path(prefix + ".cpb")
    if chunked.exists():
        metadata = chunk_pb2.ChunkMetadata(version=version)
        metadata.message.chunk_index = 0
        about = _about(message, 1)
        about.chunked_file.supersedes.CopyFrom(sibling_of(pieces))
        _write_records(str(chunked), [(MESSAGE, pieces)], metadata, about, UNCOMPRESSED, None)
    with AtomicFile(path) as file, open(file.descriptor, "wb", BUFFER, closefd=False) as stream:
        for piece in pieces:
            if on_progress:
                on_progress(done, total)
            stream.write(piece)
            done += len(piece)
    _remove(chunked)
    if on_progress:
        on_progress(total, total)
    return path


def write_chunked(
    prefix: str,
    message: Message,
    chunks: Sequence[Chunk],
    metadata: chunk_pb2.ChunkMetadata,
    options: RecordWriterOptions,
    on_progress: Progress | None,
) -> str:
    """Write the chunks of a message, one at a time, and the metadata; returns the path."""
    path, whole = prefix + ".cpb", Path(prefix + ".pb")
    about = _about(message, len(chunks))
    about.chunked_file.runs.extend(runs(message, chunks))
    if whole.exists():
        about.chunked_file.supersedes.CopyFrom(sibling_file(whole))
    total = sum(chunk.size for chunk in chunks) if on_progress else 0
    records = ((chunk.kind, [chunk.data()]) for chunk in chunks)
    _write_records(path, records, metadata, about, options, on_progress, total)
    _remove(whole)
    return path


def _write_records(
    path: str,
    records: Any,
    metadata: chunk_pb2.ChunkMetadata,
    about: records_pb2.RecordsMetadata,
    options: RecordWriterOptions,
    on_progress: Progress | None,
    total: int = 0,
) -> None:
    """Write a riegeli file of chunks whose last record is the metadata with their places."""
    if options.metadata is None:
        options = replace(options, metadata=about.SerializeToString(deterministic=True))
    done = 0
    with RecordWriter(path, options) as writer:
        for kind, pieces in records:
            if on_progress and not done:
                on_progress(0, total)
            size = sum(map(len, pieces))
            metadata.chunks.add(type=kind, size=size, offset=writer.write_parts(pieces))
            del pieces  # before the next chunk is made
            done += size
            if on_progress:
                on_progress(done, total)
        writer.write(metadata.SerializeToString(deterministic=True))


def _about(message: Message, chunks: int) -> records_pb2.RecordsMetadata:
    return records_pb2.RecordsMetadata(record_type_name=type_of(message).full_name, num_records=chunks + 1)


def _remove(file: Path) -> None:
    """Remove a file that is superseded, if there is one, for good."""
    if file.exists():
        file.unlink(missing_ok=True)
        sync_folder(file.parent)
