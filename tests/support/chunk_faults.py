"""What can be wrong with a file of chunks: metadata, paths, values; and files in which any bit can be."""

from __future__ import annotations

import random
from functools import cache
from pathlib import Path
from typing import Any

from chunk_cases import Edit, Many, chunked_file, constant, tree

from shardwright.serialization.merging.reading.chunked_file import ChunkedFile
from shardwright.serialization.protos import chunk_pb2, graph_pb2, records_pb2
from shardwright.serialization.riegeli import RecordWriterOptions

CHUNKS = [Many(text="root", several=[Many(), Many()]), b"data", Many(number=1), Many(number=2)]
TREE = tree(0, ((10,), 1), ((2, [1]), 2), ((33, {"s": "key"}), 3))


def metadata(change: str, value: Any) -> Edit:
    """An edit of metadata: a path of attributes and indices, and a value."""

    def edit(target: Any) -> None:
        *way, name = change.split(".")
        for step in way:
            target = target[int(step)] if step.isdigit() else getattr(target, step)
        if callable(value):
            value(target, name)
        else:
            setattr(target, name, value)

    return edit


def drop(target: Any, name: str) -> None:
    target.ClearField(name)


EDITS: list[tuple[Edit, str, int | None, str]] = [
    (metadata("version.join_version", 5), "SW0834", None, "needs a merger of version 5"),
    (lambda found: found.version.bad_consumers.append(0), "SW0834", None, "must not be read by mergers of version 0"),
    (metadata("version", drop), "SW0833", None, "has no version"),
    (metadata("message", drop), "SW0833", None, "has no message"),
    (metadata("chunks.1.size", 0), "SW0835", 1, "its size is 4, and the list says 0"),
    (metadata("chunks.1.size", 3), "SW0835", 1, "its size is 4, and the list says 3"),
    (metadata("chunks.1.size", 5), "SW0835", 1, "its size is 4, and the list says 5"),
    (metadata("chunks.1.size", 10**7), "SW0835", 1, "its size is not 10000000"),
    (metadata("chunks.1.size", (1 << 64) - 1), "SW0835", 1, "its size is not"),
    (metadata("chunks.0.size", 10**7), "SW0835", 0, "its size is not 10000000"),
    (metadata("chunks.1.type", 0), "SW0835", 1, "its type is 0"),
    (metadata("chunks.1.type", 7), "SW0835", 1, "its type is 7"),
    (metadata("chunks.1.type", 1), "SW0838", 1, "a chunk of type MESSAGE for a value"),
    (metadata("chunks.2.type", 2), "SW0838", 2, "a chunk of type BYTES for a message"),
    (metadata("chunks.0.type", 2), "SW0838", 0, "a chunk of type BYTES for a message"),
    (lambda found: setattr(found.chunks[1], "offset", found.chunks[2].offset), "SW0835", 2, "same record as chunk 1"),
    (metadata("chunks.1.offset", 0), "SW0835", 1, "no record at its offset 0"),
    (metadata("chunks.1.offset", 1 << 63), "SW0835", 1, "no record at its offset"),
    (metadata("chunks.0.offset", 80), "SW0835", 0, "no record at its offset 80"),
    (lambda found: setattr(found.chunks[3], "offset", found.chunks[3].offset + 1), "SW0835", 3, "no record at"),
    (lambda found: found.chunks.pop(), "SW0835", None, "is in no list of chunks"),
    (lambda found: found.chunks.pop(0), "SW0835", None, "the record at 64 is in no list of chunks"),
    (lambda found: found.chunks.add(type=1, size=1, offset=99), "SW0835", 4, "no record at its offset 99"),
    (metadata("message.chunk_index", 4), "SW0836", 4, "there are only 4 chunks"),
    (metadata("message.chunk_index", 1 << 63), "SW0836", 1 << 63, "there are only 4 chunks"),
    (metadata("message.chunk_index", 2), "SW0836", 2, "used a second time"),
    (metadata("message.chunk_index", drop), "SW0836", 0, "no field uses this chunk"),
    (metadata("message.chunked_fields.0.message.chunk_index", 1 << 63), "SW0836", 1 << 63, "there are only"),
    (metadata("message.chunked_fields.0.message", drop), "SW0836", None, "no chunk is named for this field"),
    (metadata("message.chunked_fields.0.message.chunk_index", drop), "SW0836", None, "no chunk is named"),
    (lambda found: found.message.chunked_fields.add(), "SW0836", None, "no chunk is named"),
    (lambda found: found.message.chunked_fields.pop(), "SW0836", 3, "no field uses this chunk"),
]


PATHS: list[tuple[Any, str, str]] = [
    ((99999,), "SW0837", "not found in message descriptor: Unable to find field number 99999 in chunk_cases.Many"),
    ((0,), "SW0837", "not found in message descriptor"),
    (([0],), "SW0837", "there must be a tag of kind 'field', not 'index'"),
    (({"s": "x"},), "SW0837", "there must be a tag of kind 'field', not 'map_key'"),
    ((3, 1), "SW0837", "Unable to find fields after text"),
    ((10, [0]), "SW0837", "Unable to find fields after data"),
    ((1, [0]), "SW0837", "there must be a tag of kind 'field', not 'index'"),
    ((1, {"s": "x"}), "SW0837", "not 'map_key'"),
    ((2, 3), "SW0837", "there must be a tag of kind 'index', not 'field'"),
    ((2, {"i64": 1}, 10), "SW0837", "there must be a tag of kind 'index', not 'map_key'"),
    ((5,), "SW0837", "ends at a repeated field as a whole"),
    ((2,), "SW0837", "ends at a repeated field as a whole"),
    ((34,), "SW0837", "ends at a map as a whole"),
    ((33,), "SW0837", "ends at a map as a whole"),
    ((34, [0]), "SW0837", "there must be a tag of kind 'map_key', not 'index'"),
    ((34, {"i64": 3}), "SW0837", "a key of chunk_cases.Many.map_uint64_bytes is in 'ui64', not in 'i64'"),
    ((34, {}), "SW0837", "is in 'ui64', not in None"),
    ((33, {"boolean": True}, 10), "SW0837", "is in 's', not in 'boolean'"),
    ((36, {"s": "x"}, 3), "SW0837", "Unable to find fields after"),
    ((5, [3]), "SW0840", "there are only 0 elements in datas before it"),
    ((5, [(1 << 64) - 1]), "SW0840", "there are only 0 elements in datas before it"),
    ((2, [2], 10), "SW0840", "there are only 1 elements in several before it"),
    ((2, [1 << 63], 10), "SW0840", "there are only 1 elements in several before it"),
    ((1, 2, [1], 10), "SW0840", "there are only 0 elements in one.several before it"),
]


TEXTS = [((6,), [b"2147483648", b"12abc", b"", b" 1", b"+1", b"01", b"1.0", b"0x10", b"\0\0\0\1", "١".encode()]),
         ((6,), [b"9" * 5000]),
         ((7, [0]), [b"-1", b"18446744073709551616"]),
         ((8,), [b"True", b"1", b"", b"truely"]),
         ((9,), [b"1e39", b"one", b"1,5", b"0x1p3", b"", b"1e999", b"nan(1)"]),
         ((50,), [b"1", b"red", b"", b"\xff"]),
         ((36, {"s": "x"}), [b"3000000000"]),
         ((3,), [b"\xff", b"\xc3", b"\xed\xa0\x80"]), ((4, [0]), [b"a\xc3"])]  # fmt: skip


@cache
def sample(options: str) -> tuple[bytes, Any]:
    """A file of a bit more than 64 KiB: a graph, two runs of nodes, and the contents of constants."""
    draw = random.Random(7)
    sizes = [20000, 300, 0, 21000, 9, 21000, 4000]
    contents = [draw.randbytes(size) for size in sizes]
    nodes = [constant(f"node {number}") for number in range(7)]
    runs = [graph_pb2.GraphDef(node=nodes[:3]), graph_pb2.GraphDef(node=nodes[3:5]), graph_pb2.GraphDef(node=nodes[5:])]
    runs[0].versions.producer = 12
    fields: list[Any] = [((1, [number], 5, {"s": "value"}, 8, 4), number + 3) for number in range(7)]
    message = tree(0, ((), 1), ((), 2), *fields)
    data = chunked_file([*runs, *contents], message, options=options)
    expected = graph_pb2.GraphDef(node=nodes, versions=runs[0].versions)
    for node, content in zip(expected.node, contents, strict=True):
        node.attr["value"].tensor.tensor_content = content
    return data, expected


OPTIONS = ["uncompressed", "brotli:1,padding:500", "zstd:1,chunk_size:1"]
"""What the samples of files are written with."""


def wrong_runs(path: Path, **changes: Any) -> None:
    """The file again, with another list of runs."""
    with ChunkedFile(path) as file:
        said = records_pb2.RecordsMetadata.FromString(file.reader.metadata or b"")
        metadata = chunk_pb2.ChunkMetadata.FromString(bytes(file.metadata))
        records = [bytes(file.view(number)) for number in range(len(file))]
    for name, value in changes.items():
        runs = said.chunked_file.runs[0]
        runs.ClearField(name)  # type: ignore[arg-type]
        if isinstance(value, list):
            getattr(runs, name).extend(value)
        else:
            setattr(runs, name, value)

    def types(found: chunk_pb2.ChunkMetadata) -> None:
        for old, new in zip(metadata.chunks, found.chunks, strict=True):
            new.type = old.type

    options = RecordWriterOptions("uncompressed", metadata=said.SerializeToString())
    path.write_bytes(chunked_file(records, metadata.message, types, options=options))  # type: ignore[arg-type]
