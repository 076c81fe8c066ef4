"""Chunked messages by hand: small message types, trees of chunks, and files of them with any fault."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from shardwright.serialization.protos import chunk_pb2, graph_pb2
from shardwright.serialization.riegeli import RecordWriter

FIELD = descriptor_pb2.FieldDescriptorProto
MESSAGE, BYTES = 1, 2

Chunk = Message | bytes
Tree = chunk_pb2.ChunkedMessage
Edit = Callable[[chunk_pb2.ChunkMetadata], object]


def _types() -> dict[str, Any]:
    """TensorFlow's test messages by shape: a tree of strings, and one with every kind of container."""
    file = descriptor_pb2.FileDescriptorProto(name="chunk_cases.proto", package="chunk_cases", syntax="proto3")
    node = file.message_type.add(name="Node")
    node.field.add(name="text", number=1, type=FIELD.TYPE_STRING, label=1)
    node.field.add(name="nodes", number=2, type=FIELD.TYPE_MESSAGE, type_name=".chunk_cases.Node", label=3)
    node.field.add(name="data", number=3, type=FIELD.TYPE_BYTES, label=1)
    many = file.message_type.add(name="Many")
    for number, (name, kind, label) in enumerate(
        [("one", "Many", 1), ("several", "Many", 3), ("text", "string", 1), ("texts", "string", 3),
         ("datas", "bytes", 3), ("number", "int32", 1), ("numbers", "uint64", 3), ("flag", "bool", 1),
         ("real", "float", 1), ("data", "bytes", 1)], 1
    ):  # fmt: skip
        _describe(many.field.add(name=name, number=number, label=label), kind)
    many.oneof_decl.add(name="choice")
    for number, (name, kind) in enumerate([("left", "Many"), ("right", "Many"), ("blob", "bytes")], 20):
        _describe(many.field.add(name=name, number=number, label=1, oneof_index=0), kind)
    for number, (key, value) in enumerate(
        [("uint32", "string"), ("int64", "string"), ("bool", "Many"), ("string", "Many"), ("uint64", "bytes"),
         ("sfixed64", "Many"), ("string", "int32")], 30
    ):  # fmt: skip
        name = f"map_{key}_{value.lower()}"
        entry = many.nested_type.add(name="".join(part.capitalize() for part in name.split("_")) + "Entry")
        entry.options.map_entry = True
        _describe(entry.field.add(name="key", number=1, label=1), key)
        _describe(entry.field.add(name="value", number=2, label=1), value)
        many.field.add(
            name=name, number=number, label=3, type=FIELD.TYPE_MESSAGE, type_name=f".chunk_cases.Many.{entry.name}"
        )
    colour = file.enum_type.add(name="Colour")
    for number, name in enumerate(["NONE", "RED"]):
        colour.value.add(name=name, number=number)
    many.field.add(name="colour", number=50, label=1, type=FIELD.TYPE_ENUM, type_name=".chunk_cases.Colour")
    descriptor_pool.Default().AddSerializedFile(file.SerializeToString())
    names = ("Node", "Many")
    pool = descriptor_pool.Default()
    return {name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"chunk_cases.{name}")) for name in names}


def _describe(field: Any, kind: str) -> None:
    if kind == "Many":
        field.type, field.type_name = FIELD.TYPE_MESSAGE, ".chunk_cases.Many"
    else:
        field.type = getattr(FieldDescriptor, f"TYPE_{kind.upper()}")


TYPES = _types()
Node: Any = TYPES["Node"]
Many: Any = TYPES["Many"]


def tags(*members: Any) -> list[chunk_pb2.FieldIndex]:
    """Field tags: numbers are fields, `[3]` is an index, `{"s": "key"}` a key of a map."""
    out = list[chunk_pb2.FieldIndex]()
    for member in members:
        if isinstance(member, list):
            out.append(chunk_pb2.FieldIndex(index=member[0]))
        elif isinstance(member, dict):
            out.append(chunk_pb2.FieldIndex(map_key=chunk_pb2.FieldIndex.MapKey(**member)))
        else:
            out.append(chunk_pb2.FieldIndex(field=member))
    return out


def tree(index: int | None, *fields: tuple[Sequence[Any], Tree | int]) -> Tree:
    """A chunked message: the number of its own chunk, then paths with a number or another tree."""
    out = Tree() if index is None else Tree(chunk_index=index)
    for path, below in fields:
        message = below if isinstance(below, Tree) else Tree(chunk_index=below)
        out.chunked_fields.append(chunk_pb2.ChunkedField(field_tag=tags(*path), message=message))
    return out


def serialised(chunk: Chunk) -> bytes:
    """The record of a chunk."""
    return chunk.SerializePartialToString(deterministic=True) if isinstance(chunk, Message) else chunk


def chunked_file(
    chunks: Sequence[Chunk], message: Tree, edit: Edit | None = None, options: str = "uncompressed", extra: bytes = b""
) -> bytes:
    """The bytes of a `.cpb` file; `edit` changes its metadata first, `extra` is appended to them."""
    file = io.BytesIO()
    metadata = chunk_pb2.ChunkMetadata(message=message)
    metadata.version.splitter_version = 1
    with RecordWriter(file, options) as writer:
        for chunk in chunks:
            record = serialised(chunk)
            kind = MESSAGE if isinstance(chunk, Message) else BYTES
            position = writer.write(record)
            metadata.chunks.add(type=kind, size=len(record), offset=position)  # type: ignore[arg-type]
        if edit is not None:
            edit(metadata)
        writer.write(metadata.SerializeToString(deterministic=True) + extra)
    return file.getvalue()


def put(folder: Path | str, data: bytes, name: str = "m.cpb") -> str:
    """Write a file and return its prefix."""
    path = Path(folder) / name
    path.write_bytes(data)
    return os.fspath(path.with_suffix(""))


def constant(name: str, data: bytes = b"", **more: Any) -> graph_pb2.NodeDef:
    """A node of a graph that holds a tensor of bytes."""
    node = graph_pb2.NodeDef(name=name, op="Const", **more)
    tensor = node.attr["value"].tensor
    tensor.dtype = graph_pb2.DT_UINT8
    tensor.tensor_shape.dim.add(size=len(data))
    tensor.tensor_content = data
    return node
