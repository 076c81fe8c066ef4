"""The schemas: generated code that is theirs, and TensorFlow's field numbers, beside TensorFlow in one process."""

from __future__ import annotations

import importlib
import importlib.util
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import descriptor_pb2, descriptor_pool
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from shardwright.layout import Layout, Mesh
from shardwright.layout.forms.op_sharding import XlaOpSharding
from shardwright.serialization.protos import chunk_pb2, layout_pb2, xla_data_pb2

ROOT = Path(__file__).resolve().parents[3]
SCHEMAS = sorted(path.stem for path in (ROOT / "serialization" / "protos").glob("*.proto"))
FOLDER = "shardwright/serialization/protos"


def generated(schema: str) -> Any:
    """The generated module of a schema."""
    return importlib.import_module(f"shardwright.serialization.protos.{schema}_pb2")


def test_the_generated_code_is_that_of_the_schemas(tmp_path: Path) -> None:
    # The compiler brings a protobuf of its own, which must not meet the one of this process.
    if importlib.util.find_spec("grpc_tools") is None:
        pytest.skip("grpcio-tools is not installed")
    out = tmp_path / "all.binpb"
    files = [f"{FOLDER}/{schema}.proto" for schema in SCHEMAS]
    compiler = [sys.executable, "-m", "grpc_tools.protoc", f"-I{ROOT / '.typing'}", f"--descriptor_set_out={out}"]
    subprocess.run([*compiler, *files], check=True)
    described = descriptor_pb2.FileDescriptorSet.FromString(out.read_bytes()).file
    assert {file.name for file in described} == set(files)
    for file in described:
        checked_in = descriptor_pb2.FileDescriptorProto()
        generated(Path(file.name).stem).DESCRIPTOR.CopyToProto(checked_in)
        for each in (file, checked_in):
            clear_json_names(each)
        assert checked_in == file, f"run `make protos`: {file.name} has changed"


def clear_json_names(described: Any) -> None:
    """Compilers write the names that JSON has, which follow from the others."""
    fields = [*getattr(described, "field", ()), *getattr(described, "extension", ())]
    for field in fields:
        field.ClearField("json_name")
    for nested in (*getattr(described, "message_type", ()), *getattr(described, "nested_type", ())):
        clear_json_names(nested)


@pytest.mark.parametrize("schema", SCHEMAS)
def test_every_schema_is_in_our_packages_and_has_stubs(schema: str) -> None:
    file = generated(schema).DESCRIPTOR
    assert file.package.split(".")[0] == "shardwright"
    stub = (ROOT / "serialization" / "protos" / f"{schema}_pb2.pyi").read_text()
    assert all(f"class {name}(" in stub for name in file.message_types_by_name)


CHUNK_FIELDS = {
    "ChunkMetadata": {1: "version", 2: "chunks", 3: "message"},
    "ChunkInfo": {1: "type", 2: "size", 3: "offset"},
    "ChunkedMessage": {1: "chunk_index", 2: "chunked_fields"},
    "ChunkedField": {1: "field_tag", 3: "message"},
    "FieldIndex": {1: "field", 2: "map_key", 3: "index"},
}
"""RFC "Unbound SavedModel", Chunked Proto Specification."""


@pytest.mark.parametrize("name", CHUNK_FIELDS)
def test_chunks_have_the_numbers_of_the_rfc(name: str) -> None:
    fields = chunk_pb2.DESCRIPTOR.message_types_by_name[name].fields
    assert {field.number: field.name for field in fields} == CHUNK_FIELDS[name]


def test_a_chunk_list_byte_by_byte() -> None:
    """Worked out by hand from the numbers of the RFC: tag = number * 8 + wire type."""
    metadata = chunk_pb2.ChunkMetadata()
    metadata.chunks.add(type=chunk_pb2.ChunkInfo.BYTES, size=300, offset=64)
    metadata.message.chunk_index = 0
    field = metadata.message.chunked_fields.add()
    field.field_tag.add(field=7)
    field.field_tag.add(map_key=chunk_pb2.FieldIndex.MapKey(s="k"))
    field.field_tag.add(index=2)
    field.message.chunk_index = 1
    assert metadata.SerializeToString().hex(" ") == (
        "12 07 08 02 10 ac 02 18 40 1a 17 08 00 12 13 0a 02 08 07 0a 05 12 03 0a 01 6b 0a 02 18 02 1a 02 08 01"
    )


MESHES = (
    Mesh(x=4, y=2),
    Mesh([("batch", 8)], name="named"),
    Mesh({"a": 2, "b": 1, "c": 3}, devices=[f"CPU:{number}" for number in range(6)]),
)


@pytest.mark.parametrize("mesh", MESHES, ids=str)
def test_meshes_of_layout_read_as_messages(mesh: Mesh) -> None:
    message = layout_pb2.MeshProto.FromString(mesh.to_proto())
    axes = zip(mesh.axis_names, mesh.shape, strict=True)
    assert [(axis.name, axis.size) for axis in message.mesh_dimensions] == list(axes)
    assert not unknown(message)
    assert len(message.global_device_ids) == len(message.local_devices) == mesh.size
    read = Mesh.from_proto(message)
    assert read == Mesh.from_proto(mesh.to_proto())
    assert (read.axis_names, read.shape) == (mesh.axis_names, mesh.shape)


@pytest.mark.parametrize("dims", [["x", "y"], ["unsharded", "x"], ["y", "unsharded", "x"], []], ids=str)
def test_layouts_read_as_messages(dims: list[str]) -> None:
    layout = Layout(dims, MESHES[0])
    message = layout_pb2.LayoutProto.FromString(layout.to_proto())
    assert [spec.sharding_spec for spec in message.sharding_specs] == dims
    assert [(axis.name, axis.size) for axis in message.mesh_config.mesh_dimensions] == [("x", 4), ("y", 2)]
    assert not unknown(message)
    assert Layout.from_proto(message) == Layout.from_proto(layout.to_proto())
    assert Layout.from_proto(message, MESHES[0]) == layout


@pytest.mark.parametrize(
    ("message", "dims"),
    [
        ("08031a0204024a0108520100", ["x", "y"]),
        ("08031a0202044a02040252020100", ["y", "x"]),
        ("08031a0301020430014a02040252020100", ["unsharded", "y"]),
        ("", ["unsharded", "unsharded"]),
    ],
)
def test_shardings_of_jax_read_as_messages(message: str, dims: list[str]) -> None:
    """The bytes are what jax 0.10.2 writes for a mesh of 4x2."""
    read = xla_data_pb2.OpSharding.FromString(bytes.fromhex(message))
    assert not unknown(read)
    assert XlaOpSharding(read, MESHES[0]) == XlaOpSharding(bytes.fromhex(message), MESHES[0])
    assert XlaOpSharding(read, MESHES[0]).for_rank(2) == Layout(dims, MESHES[0])


def unknown(message: Message) -> bool:
    """Whether a message holds fields that its type does not have."""
    from google.protobuf.unknown_fields import UnknownFieldSet

    inner = [value for field, value in message.ListFields() if field.message_type is not None]
    each = [one for value in inner for one in (value if hasattr(value, "__len__") else [value])]
    return bool(len(UnknownFieldSet(message))) or any(unknown(one) for one in each if isinstance(one, Message))


PEERS = {"graph": "tensorflow", "saved_model": "tensorflow", "layout": "tensorflow.dtensor", "xla_data": "xla"}
"""The schemas that TensorFlow has as well, and its packages."""

PEER_MODULES = (
    "tensorflow.core.framework.graph_pb2",
    "tensorflow.core.framework.op_def_pb2",
    "tensorflow.core.protobuf.saved_model_pb2",
    "tensorflow.core.protobuf.meta_graph_pb2",
    "tensorflow.core.protobuf.fingerprint_pb2",
    "tensorflow.core.protobuf.saved_object_graph_pb2",
    "tensorflow.dtensor.proto.layout_pb2",
    "tensorflow.compiler.xla.xla_data_pb2",
)
OURS_ALONE = {("SavedModel", "shardwright")}
"""Fields that TensorFlow's messages do not have: it skips them."""

SKIPPED = ("google.protobuf", "shardwright.saving")
"""Packages of messages that random ones are not filled with."""


def messages(schema: str) -> Iterator[Descriptor]:
    """Every message of a schema, nested ones as well, without the entries of maps."""
    pending = list(generated(schema).DESCRIPTOR.message_types_by_name.values())
    while pending:
        message = pending.pop()
        if not message.GetOptions().map_entry:
            yield message
            pending.extend(message.nested_types)


def peer(schema: str, message: Descriptor) -> Descriptor:
    """TensorFlow's message of the same name."""
    for name in PEER_MODULES:
        importlib.import_module(name)
    package = message.file.package
    return descriptor_pool.Default().FindMessageTypeByName(PEERS[schema] + message.full_name.removeprefix(package))


def described(field: FieldDescriptor) -> tuple[Any, ...]:
    """What of a field decides about bytes and meaning."""
    kind = field.message_type
    if kind is not None and kind.GetOptions().map_entry:
        of: Any = tuple((part.number, part.type, part.message_type and part.message_type.name) for part in kind.fields)
    else:
        named: Any = kind or field.enum_type
        of = named.name if named else ""
    union = field.containing_oneof
    oneof = union.name if union and len(union.fields) > 1 else ""
    return field.name, field.number, field.type, field.is_repeated, field.is_packed, field.has_presence, oneof, of


@pytest.mark.peers
@pytest.mark.parametrize("schema", PEERS)
def test_messages_agree_with_tensorflow_field_by_field(schema: str) -> None:
    pytest.importorskip("tensorflow")
    count = 0
    for message in messages(schema):
        theirs = peer(schema, message)
        ours = {described(field) for field in message.fields if (message.name, field.name) not in OURS_ALONE}
        assert ours == {described(field) for field in theirs.fields}, message.full_name
        for enum in message.enum_types:
            assert_same_enum(enum, theirs.enum_types_by_name[enum.name])
        count += 1
    assert count
    for enum in generated(schema).DESCRIPTOR.enum_types_by_name.values():
        name = f"{PEERS[schema]}.{enum.name}"
        assert_same_enum(enum, descriptor_pool.Default().FindEnumTypeByName(name))


def assert_same_enum(ours: Any, theirs: Any) -> None:
    """Equal names and numbers."""
    assert {(value.name, value.number) for value in ours.values} == {
        (value.name, value.number) for value in theirs.values
    }, ours.full_name


@pytest.mark.peers
@pytest.mark.parametrize("schema", PEERS)
@pytest.mark.parametrize("seed", range(5))
def test_random_messages_mean_the_same_to_tensorflow(schema: str, seed: int) -> None:
    pytest.importorskip("tensorflow")
    rng = random.Random(seed)
    for message in messages(schema):
        theirs = GetMessageClass(peer(schema, message))
        ours = GetMessageClass(message)()
        fill(rng, ours, 3)
        data = ours.SerializeToString(deterministic=True)
        read = theirs.FromString(data)
        assert read.SerializeToString(deterministic=True) == data
        assert type(ours).FromString(read.SerializeToString()) == ours
        assert unknown(read) == unknown(ours)


def fill(rng: random.Random, message: Any, depth: int) -> None:
    """Random values in random fields."""
    for field in message.DESCRIPTOR.fields:
        nested = field.message_type
        if (
            rng.random() < 0.4
            or (nested is not None and not depth)
            or (message.DESCRIPTOR.name, field.name) in OURS_ALONE
        ):
            continue
        if nested is not None and nested.GetOptions().map_entry:
            fill_map(rng, getattr(message, field.name), nested, depth)
        elif nested is not None:
            value = getattr(message, field.name)
            inner = [value.add() for _ in range(rng.randint(1, 2))] if field.is_repeated else [value]
            for each in inner:
                each.SetInParent()
                fill(rng, each, depth - 1)
        elif field.is_repeated:
            getattr(message, field.name).extend(scalar(rng, field) for _ in range(rng.randint(1, 3)))
        else:
            setattr(message, field.name, scalar(rng, field))


def fill_map(rng: random.Random, entries: Any, kind: Descriptor, depth: int) -> None:
    """One or two entries of a map."""
    key, value = kind.fields_by_name["key"], kind.fields_by_name["value"]
    for _ in range(rng.randint(1, 2)):
        if value.message_type is None:
            entries[scalar(rng, key)] = scalar(rng, value)
        else:
            fill(rng, entries[scalar(rng, key)], depth - 1)


def scalar(rng: random.Random, field: FieldDescriptor) -> Any:
    """A value of a field that holds no messages."""
    kind = field.cpp_type
    if field.type == FieldDescriptor.TYPE_BYTES:
        return rng.randbytes(rng.randint(0, 5))
    match kind:
        case FieldDescriptor.CPPTYPE_STRING:
            return rng.choice(("", "x", "größer", "a" * 200))
        case FieldDescriptor.CPPTYPE_ENUM:
            return rng.choice(field.enum_type.values).number
        case FieldDescriptor.CPPTYPE_BOOL:
            return rng.random() < 0.5
        case FieldDescriptor.CPPTYPE_FLOAT | FieldDescriptor.CPPTYPE_DOUBLE:
            return rng.choice((0.0, -0.0, 1.5, float("inf"), -1e30))
        case FieldDescriptor.CPPTYPE_UINT32 | FieldDescriptor.CPPTYPE_UINT64:
            return rng.choice((0, 1, 300, 2**31, 2**32 - 1))
        case _:
            return rng.choice((0, 1, -1, 300, 2**31 - 1, -(2**31)))
