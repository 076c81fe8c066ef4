"""Hostile files of chunks: each is refused by name within a second and 64 MiB, measured in a process of its own."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import brotli
import pytest
from chunk_cases import BYTES, MESSAGE, Many, Node, chunked_file, tree
from google.protobuf.message import Message

from shardwright.serialization.hashing import highwayhash64
from shardwright.serialization.merging import MergeError, Merger
from shardwright.serialization.protos import chunk_pb2
from shardwright.serialization.riegeli import RecordWriter
from shardwright.serialization.riegeli.chunks.chunks import SIMPLE, ChunkHeader
from shardwright.serialization.riegeli.chunks.scan import FILE_SIGNATURE
from shardwright.serialization.wire import varint

MILLION = 10**6
ROOT = Path(__file__).parents[3]


def field(number: int, data: bytes) -> bytes:
    """A field with a length."""
    return varint(number << 3 | 2) + varint(len(data)) + data


def with_metadata(record: bytes, options: str) -> bytes:
    """A file whose last record is anything."""

    def replace(found: chunk_pb2.ChunkMetadata) -> None:
        found.Clear()

    return chunked_file([Many()], tree(0), replace, options, extra=record)


def info(position: int, size: int = 0, kind: int = MESSAGE) -> bytes:
    return field(2, b"\x08" + varint(kind) + (b"\x10" + varint(size) if size else b"") + b"\x18" + varint(position))


VERSION = field(1, b"\x08\x01")


def cases(options: str) -> dict[str, bytes]:
    """Files by what they do."""
    one = VERSION + info(64)
    deep = b""
    for _ in range(5000):
        deep = field(2, field(3, deep))
    wide = field(2, field(3, field(2, field(1, b"\x08\x01") + field(3, b"\x08\x00")) * 500))
    nested = b"".join(field(2, field(1, b"\x08\x02") + field(3, b"\x08\x00")) for _ in range(20000))
    for _ in range(110):
        nested = field(2, field(1, b"\x08\x01") + field(3, nested))
    many_tags = field(2, field(1, b"\x08\x01") * MILLION + field(3, b"\x08\x00"))
    many_pieces = [((10,), number) for number in range(99)]
    return {
        "a million infos of one record": with_metadata(VERSION + info(64) * MILLION + field(3, b""), options),
        "infos of no record": with_metadata(
            VERSION + b"".join(info(64 + number) for number in range(200_000)) + field(3, b""), options
        ),
        "8 million empty infos": with_metadata(VERSION + b"\x12\0" * 8 * MILLION, options),
        "a million shared chunks": with_metadata(one + field(3, field(2, field(3, b"\x08\0")) * MILLION), options),
        "a million fields without chunks": with_metadata(one + field(3, b"\x08\0" + b"\x12\0" * MILLION), options),
        "messages in messages": with_metadata(one + field(3, deep), options),
        "large messages in messages": with_metadata(one + field(3, nested), options),
        "many small ones": with_metadata(one + field(3, wide * 1000), options),
        "a path of a million tags": with_metadata(one + field(3, many_tags), options),
        "30 MiB of zeros at the end": with_metadata(bytes(30 << 20), options),
        "30 MiB of nothing at the end": with_metadata(b"\x1a\0" * (15 << 20), options),
        "a size of 2**63": chunked_file([Many(), b"x"], tree(0, ((10,), 1)), huge(1), options),
        "many sizes of 2**30": chunked_file([b"x"] * 99, tree(None, *many_pieces), all_huge, options),
        "a root of 2**40 bytes": chunked_file([Many()], tree(0), huge(0), options),
        "an index of 2**63": chunked_file([Many(), b"x"], tree(0, ((5, [1 << 63]), 1)), None, options),
        "an element at 2**31": chunked_file([Many(), Many()], tree(0, ((2, [1 << 31]), 1)), None, options),
        "zeros for a message": chunked_file([Many(), bytes(8 << 20)], tree(0, ((1,), 1)), as_message, options),
        "deep messages": chunked_file([Many(), b"\x0a\x80\x01" * 9999], tree(0, ((1,), 1)), as_message, options),
        "a bomb": bomb(),
        "chunks that hold nothing": FILE_SIGNATURE + ChunkHeader(0, highwayhash64(b""), 112, 0, 0).pack() * 1000,
        "two million indices": with_metadata(one + field(3, b"\x08\0") * MILLION, options),
    }  # fmt: skip


def bomb() -> bytes:
    """A record of 128 MiB in a riegeli chunk of a few hundred bytes, then honest metadata."""
    stream, sizes = brotli.Compressor(quality=5), brotli.compress(varint(1 << 27))
    packed = b"".join(stream.process(bytes(1 << 20)) for _ in range(128)) + stream.finish()
    data = b"b" + varint(len(sizes) + 1) + varint(5) + sizes + varint(1 << 27) + packed
    header = ChunkHeader(len(data), highwayhash64(data), SIMPLE, 1, 1 << 27)
    file = io.BytesIO(FILE_SIGNATURE + header.pack() + data)
    file.seek(0, io.SEEK_END)
    with RecordWriter(file, "uncompressed") as writer:
        writer.write(VERSION + info(64, 1 << 27) + field(3, b"\x08\0"))
    return file.getvalue()


def huge(chunk: int) -> Any:
    return lambda found: setattr(found.chunks[chunk], "size", 1 << 63 if chunk else 1 << 40)


def all_huge(found: chunk_pb2.ChunkMetadata) -> None:
    for chunk in found.chunks:
        chunk.size = 1 << 30


def as_message(found: chunk_pb2.ChunkMetadata) -> None:
    found.chunks[1].type = MESSAGE  # type: ignore[assignment]


CODES = ("SW0833", "SW0835", "SW0836", "SW0837", "SW0838", "SW0839", "SW0840", "SW0843", "SW0807")

CHILD = """
import json, sys, time
from pathlib import Path
from chunk_cases import Many
from shardwright.serialization.hashing import highwayhash64
from shardwright.serialization.merging import MergeError, Merger
import numba
from shardwright.serialization.hashing import highwayhash64
highwayhash64(bytes(1 << 20))

def memory(name):
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(name)) << 10

for path in sys.argv[1:]:
    Path("/proc/self/clear_refs").write_text("5")
    before, start, code = memory("VmRSS"), time.process_time(), None
    try:
        Merger.read(path, Many())
    except MergeError as error:
        code = error.code
    print(json.dumps([code, time.process_time() - start, memory("VmHWM") - before]))
"""


@pytest.mark.parametrize("options", ["uncompressed", pytest.param("brotli:5", marks=pytest.mark.slow)])
def test_hostile_files_cost_little(tmp_path: Path, options: str) -> None:
    files = cases(options)
    for number, data in enumerate(files.values()):
        (tmp_path / f"{number}.cpb").write_bytes(data)
    names = [str(tmp_path / f"{number}") for number in range(len(files))]
    path = f"{ROOT / '.typing'}:{ROOT / 'tests' / 'support'}"
    child = subprocess.run(
        [sys.executable, "-c", CHILD, *names], capture_output=True, text=True, check=True, env={"PYTHONPATH": path}
    )
    seen = set[str]()
    for name, line in zip(files, child.stdout.splitlines(), strict=True):
        code, seconds, memory = json.loads(line)
        assert code in CODES, name
        assert seconds < 1, (name, seconds)
        assert memory < 64 << 20, (name, memory >> 20)
        seen.add(code)
    assert len(seen) > 5


def test_deep_trees_in_memory() -> None:
    message = chunk_pb2.ChunkedMessage()
    here = message
    for _ in range(5000):
        here = here.chunked_fields.add().message
    here.chunk_index = 0
    with pytest.raises(MergeError, match="SW0843"):
        Merger.merge([Many()], message, Many())


def test_long_paths() -> None:
    message = tree(None, ((1,) * 1000, 0))
    with pytest.raises(MergeError, match="SW0843"):
        Merger.merge([Many()], message, Many())


@pytest.mark.parametrize("kind", [Node, Many])
def test_messages_as_deep_as_protobuf_allows(kind: Any) -> None:
    place = 2 if kind is Node else 1
    members: list[Any] = [place, [0]] * 99 if kind is Node else [place] * 99
    Merger.merge([kind(text="deep")], tree(None, (members, 0)), merged := kind())
    here: Any = merged
    for _ in range(99):
        here = here.nodes[0] if kind is Node else here.one
    assert here.text == "deep"
    assert isinstance(merged, Message)


def test_types_are_those_of_the_schema() -> None:
    assert (MESSAGE, BYTES) == (chunk_pb2.ChunkInfo.MESSAGE, chunk_pb2.ChunkInfo.BYTES)
