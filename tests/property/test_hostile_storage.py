"""
A fuzzer of all loaders: valid files, changed at any level, with every hash above the change made anew.

Each case is read, or refused with one code of ours, within a second and 64 MiB; and what all loaders of a file give is
the same.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import shutil
import struct
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from random import Random
from tempfile import mkdtemp
from typing import Any

import numpy as np
import pytest
from chunk_cases import Many
from google.protobuf import descriptor_pb2
from google.protobuf.message import DecodeError
from graph_models import unpacked
from hostile import SECONDS, bounded, edited, misled, outcome, rewired, riegeli_chunks, riegeli_file
from hypothesis import HealthCheck, Phase, given, settings, strategies as st
from riegeli_cases import SMALL

import shardwright as sw
from shardwright import Checkpoint, Layout, Mesh, Module, Variable
from shardwright.dialects.text.parsing import parse_module
from shardwright.saving.directories import read_message
from shardwright.saving.directory.fingerprints import fingerprint
from shardwright.serialization.hashing import highwayhash64
from shardwright.serialization.ir.files import read_module
from shardwright.serialization.ir.proto import module_to_proto
from shardwright.serialization.merging import Merger, open_message, read_metadata, verify
from shardwright.serialization.protos import (
    chunk_pb2,
    graph_pb2,
    ir_pb2,
    records_pb2,
    saved_model_pb2,
    tensor_bundle_pb2,
)
from shardwright.serialization.riegeli import RecordReader, RecordWriter, RecordWriterOptions
from shardwright.serialization.riegeli.chunks import codecs
from shardwright.serialization.riegeli.chunks.chunks import METADATA, SIMPLE, TRANSPOSED
from shardwright.serialization.splitting import splitter_for
from shardwright.serialization.tables.crc32c import crc32c, masked
from shardwright.serialization.tables.sorted_table import MAGIC, read_table
from shardwright.serialization.tables.tensor_bundle import TensorBundle
from shardwright.serialization.wire import WireFault, read_varint, varint
from shardwright.tools.main import main as command
from shardwright.tools.stored.messages import types_of

Case = Callable[[Random], None]
ROWS = Layout(["x"], Mesh(x=2))


@cache
def place() -> Path:
    """A folder for this process, in which large parts of the library were used once."""
    highwayhash64(bytes(1 << 17))
    return Path(mkdtemp(prefix="hostile-"))


def check(name: str, read: Callable[[], Any]) -> tuple[str, Any]:
    """What a loader does with a hostile file, which must not cost much."""
    with bounded(name):
        return outcome(read)


def refused_or_done(*arguments: str) -> None:
    """A command ends with 0, or with 1 and a code."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as said:
        code = command(arguments)
    assert code == 0 or (code == 1 and "error[SW" in said.getvalue()), said.getvalue()


RECORD_OPTIONS = [
    f"{transposed}{codec}{size}"
    for transposed in ("", "transpose,")
    for codec in ("uncompressed", "brotli:1", "zstd:1", "snappy")
    for size in ("", ",chunk_size:300")
]


@cache
def records_file(options: str) -> bytes:
    file = io.BytesIO()
    with RecordWriter(file, options) as writer:
        for record in SMALL[:120:3]:
            writer.write(record[:200])
    return file.getvalue()


def repacked(draw: Random, kind: int, data: bytes) -> bytes:
    """The data of a chunk with a change before they are compressed, or after."""
    if kind not in (SIMPLE, TRANSPOSED, METADATA) or not data or draw.randrange(3) == 0:
        return edited(draw, data)
    codec = data[0]
    try:
        size, begin = read_varint(data, 1)
        parts = [data[begin : begin + size], data[begin + size :]]
        which = draw.randrange(2) if kind == SIMPLE else 0
        whole = bytes(codecs.decompress(codec, memoryview(parts[which]), 1 << 20))
        parts[which] = b"".join(map(bytes, codecs.compress(codec, [edited(draw, whole)], 1)))
    except WireFault:
        return edited(draw, data)
    return bytes([codec]) + varint(len(parts[0])) + b"".join(parts)


def hostile_records(draw: Random) -> bytes:
    chunks = riegeli_chunks(records_file(draw.choice(RECORD_OPTIONS)))
    for _ in range(draw.choice((1, 1, 2))):
        at = draw.randrange(len(chunks))
        kind, data, records, size = chunks[at]
        match draw.randrange(8):
            case 0:
                kind = draw.choice(b"rtmpsX")
            case 1:
                records = draw.choice((records + 1, max(records - 1, 0), 0, 1 << 31, 1 << 50))
            case 2:
                size = draw.choice((size + 1, max(size - 1, 0), 0, 1 << 31, 1 << 62))
            case 3:
                chunks.insert(at, chunks[at])
            case _:
                data = repacked(draw, kind, data)
        chunks[at] = kind, data, records, size
    return riegeli_file(chunks)


class Pipe(io.BytesIO):
    """A file that cannot seek."""

    def seekable(self) -> bool:
        return False


def records(draw: Random) -> None:
    data, skipped = hostile_records(draw), list[Any]()
    code, plain = check("iteration", lambda: list(RecordReader(io.BytesIO(data))))
    views = check("views", lambda: [bytes(view) for _, view in RecordReader(io.BytesIO(data)).items()])
    assert views == (code, plain)
    assert bool(check("a pipe", lambda: list(RecordReader(Pipe(data))))[0]) == bool(code)
    strict = check("strict", lambda: list(RecordReader(io.BytesIO(data), strict=True)))
    assert strict[0] or strict[1] == plain
    found = check("recovery", lambda: list(RecordReader(io.BytesIO(data), recovery=skipped.append)))
    assert bool(found[0] or skipped) == bool(code)
    check("the last", lambda: RecordReader(io.BytesIO(data)).last())
    check("metadata", lambda: RecordReader(io.BytesIO(data)).metadata)
    for position in (64, 65, draw.randrange(3000), 1 << 62):
        check("a position", lambda position=position: RecordReader(io.BytesIO(data)).read(position))


def graph() -> graph_pb2.GraphDef:
    """Nodes, constants and functions."""
    found = graph_pb2.GraphDef(node=[{"name": f"n{number}", "op": "NoOp"} for number in range(30)])
    for number in range(1, 4):
        node = found.node.add(name=f"c{number}", op="Const")
        tensor = node.attr["value"].tensor
        tensor.dtype, tensor.tensor_content = graph_pb2.DT_FLOAT, bytes(range(200)) * number
        tensor.tensor_shape.dim.add(size=50 * number)
    function = found.library.function.add()
    function.signature.name = "f"
    for number in range(20):
        function.node_def.add(name=f"m{number}", op="Mul")
    return found


def many() -> Any:
    """A message with every kind of container."""
    found = Many(text="t" * 300, data=b"d" * 300, numbers=range(300), texts=["a" * 100] * 10)
    found.one.text, found.left.text = "abc" * 200, "z" * 300
    for number in range(20):
        found.several.add(text=str(number) * 30)
        found.map_string_many[str(number)].text = "v" * 50
        found.map_int64_string[-number], found.map_uint64_bytes[number] = "x" * 30, b"y" * 100
    return found


@cache
def chunked(kind: int, max_size: int) -> tuple[Any, bytes | None, tuple[bytes, ...]]:
    """A message, and the riegeli metadata and the records of its file."""
    message = (graph, many)[kind]()
    reader = RecordReader(splitter_for(message, max_size=max_size).write(str(place() / "original")))
    return message, reader.metadata, tuple(reader)


def hostile_chunks(draw: Random) -> tuple[Any, bytes]:
    """A message and a file of its chunks, with a change in a chunk, in their list or in what is said beside it."""
    message, about, (*chunks, last) = chunked(draw.randrange(2), draw.choice((150, 400)))
    listed: Any = chunk_pb2.ChunkMetadata.FromString(last)
    placed = True
    match draw.randrange(7):
        case 0:
            at = draw.randrange(len(chunks))
            chunks[at] = rewired(draw, chunks[at])
        case 1:
            misled(draw, listed)
            placed = bool(draw.randrange(2))
        case 2:
            misled(draw, draw.choice(listed.message.chunked_fields))
        case 3:
            one, other = (draw.choice(listed.message.chunked_fields).message for _ in range(2))
            one.chunk_index, other.chunk_index = other.chunk_index, one.chunk_index
        case 4 if about:
            said = records_pb2.RecordsMetadata.FromString(about)
            misled(draw, said)
            about = said.SerializeToString()
        case 5:
            one, other = (draw.randrange(len(chunks)) for _ in range(2))
            chunks[one], chunks[other] = chunks[other], chunks[one]
        case _:
            placed = False
    return message, written(draw, chunks, listed, about, placed)


def written(draw: Random, chunks: list[bytes], listed: Any, about: bytes | None, placed: bool) -> bytes:
    """A file of chunks; their list says where they are if they are `placed`, or it is changed as bytes."""
    codec = draw.choice(("uncompressed", "zstd", "brotli", "snappy"))
    options = RecordWriterOptions(codec, metadata=about, chunk_size=draw.choice((None, 200, 3000)))
    with RecordWriter(file := io.BytesIO(), options) as writer:
        positions = [writer.write(chunk) for chunk in chunks]
        for info, position, chunk in zip(listed.chunks, positions, chunks, strict=False):
            if placed:
                info.offset, info.size = position, len(chunk)
        last = listed.SerializeToString()
        writer.write(last if placed else rewired(draw, last))
    return file.getvalue()


def chunks(draw: Random) -> None:
    message, data = hostile_chunks(draw)
    kind, path = type(message), place() / "chunks.cpb"
    path.write_bytes(data)
    code, _ = check("read", lambda: Merger.read(path, whole := kind()) or whole)
    assert check("string", lambda: Merger.read_chunked_from_string(data, kind()))[0] == code
    checked, _ = check("verify", lambda: verify(path, kind))
    assert checked == code or (not code and checked == "SW0848")
    untyped, _ = check("verify without a type", lambda: verify(path))
    assert code or not untyped
    check("read_partial", lambda: Merger.read_partial(path, kind()))
    check("read_metadata", lambda: read_metadata(path))
    check("lazily", lambda: compared(path, kind, checked))
    if draw.randrange(8) == 0:
        refused_or_done("verify", str(path))
        refused_or_done("inspect", str(path), *draw.choice(((), ("--type", "GraphDef"))))


def compared(path: Path, kind: Any, code: str) -> None:
    """Every field, read alone: as in the whole message, if that can be had."""
    whole = kind()
    if not code:
        Merger.read(path, whole)
    with open_message(path, kind) as lazy:
        for field in kind.DESCRIPTOR.fields:
            name = field.name
            found, value = outcome(lambda name=name: lazy.get(name))
            outcome(lambda name=name: lazy.len(name))
            outcome(lambda name=name: lazy.has(name))
            if not code:
                assert not found
                assert same(value, getattr(whole, name)), name
            if field.is_repeated:
                for at in (0, 17, 40):
                    check("an element", lambda name=name, at=at: lazy.get(name, at))
                    check("an array", lambda name=name, at=at: lazy.array(name, at, *ARRAY))


ARRAY = ("attr", "value", "tensor")


def same(value: Any, expected: Any) -> bool:
    """Whether a value that was read alone is what is in the message."""
    if hasattr(expected, "SerializeToString"):
        return value.SerializeToString(deterministic=True) == expected.SerializeToString(deterministic=True)
    if isinstance(value, dict):
        return set(value) == set(expected) and all(same(value[key], expected[key]) for key in expected)
    if isinstance(value, list):
        return len(value) == len(expected) and all(map(same, value, expected))
    return value == expected or value != value


NUMBERS = ", ".join(f"{number}.0" for number in range(600))
PROGRAM = f"""
func.func @main(%x: tensor<600xf32>) -> tensor<600xf32> {{
  %c = stablehlo.constant dense<[{NUMBERS}]> : tensor<600xf32>
  %s = stablehlo.constant dense<1.0> : tensor<600xf32>
  %0 = stablehlo.add %x, %c : tensor<600xf32>
  %1 = stablehlo.multiply %0, %s : tensor<600xf32>
  return %1 : tensor<600xf32>
}}
"""


@cache
def program() -> bytes:
    return module_to_proto(parse_module(PROGRAM)).SerializeToString()


def modules(draw: Random) -> None:
    folder = place()
    for name in ("module.pb", "module.cpb"):
        (folder / name).unlink(missing_ok=True)
    message: Any = ir_pb2.Module.FromString(program())
    if draw.randrange(2):
        misled(draw, message)
        splitter: Any = splitter_for(message, max_size=draw.choice((600, 1 << 20)))
        if outcome(lambda: splitter.write(str(folder / "module")))[0]:
            return
    else:
        (folder / "module.pb").write_bytes(rewired(draw, program()))
    code, _ = check("read_module", lambda: read_module(folder / "module"))
    strict, _ = check("verified", lambda: read_module(folder / "module", verify=True))
    assert strict or not code

    def arrays() -> None:
        with open_message(folder / "module", ir_pb2.Module) as lazy:
            for at in range(30):
                outcome(lambda at=at: lazy.array("attributes", at))

    check("arrays", arrays)
    if draw.randrange(4) == 0:
        prefix = str(folder / "module")
        refused_or_done("merge", prefix, "--type", "shardwright.ir.Module", "-o", str(folder / "out.mlir"))
        refused_or_done("inspect", prefix, "--type", "shardwright.ir.Module")


class Inner(Module):
    def __init__(self) -> None:
        self.b = Variable(np.ones(8, "float32"), name="b")
        self.settings = {"a": [1, 2.0, (3, "x")], "range": range(3), "slice": slice(1, 2), "type": np.dtype("float32")}


class Scaled(Module):
    def __init__(self) -> None:
        self.w = Variable(np.arange(8, dtype="float32"), layout=ROWS, name="w")
        self.inner, self.rate = Inner(), 0.5

    @sw.function(static=["how"])
    def __call__(self, x: Any, how: Any = "y") -> Any:
        return x * self.w + self.inner.b


CALLS = 4
"""What a loaded module is called with: each of them may cost what a file may."""


@cache
def saved() -> tuple[Path, bytes]:
    """A saved directory, to be changed, and its message."""
    model: Any = Scaled()
    model(sw.ones(8, layout=ROWS))
    model(sw.ones(8, layout=ROWS), how=("a", 1, None, slice(0, 2)))
    (place() / "words.txt").write_text("one two")
    folder = Path(sw.save(model, place() / "saved", assets=[place() / "words.txt"]))
    called(sw.load(folder))
    sw.load(folder, mesh=Mesh(x=4))
    return folder, (folder / "saved_model.pb").read_bytes()


def called(loaded: Any) -> None:
    """Runs what was loaded, if it is a module still, in all the ways in which it was saved."""
    outcome(lambda: repr(loaded))
    if isinstance(loaded, Module) and "__call__" in vars(loaded):
        for x in (np.ones(8, "float32"), sw.ones(8, layout=ROWS)):
            outcome(lambda x=x: loaded(x))
            outcome(lambda x=x: loaded(x, how=("a", 1, None, slice(0, 2))))


def directories(draw: Random) -> None:
    folder, data = saved()
    message: Any = saved_model_pb2.SavedModel.FromString(data)
    for _ in range(draw.choice((1, 1, 3))):
        misled(draw, message.shardwright)
    data = rewired(draw, data) if draw.randrange(4) == 0 else message.SerializeToString()
    (folder / "saved_model.pb").write_bytes(data)
    with contextlib.suppress(DecodeError):
        found = fingerprint(folder, folder / "saved_model.pb", saved_model_pb2.SavedModel.FromString(data))
        (folder / "fingerprint.pb").write_bytes(found.SerializeToString())
    code, loaded = check("load", lambda: sw.load(folder))
    if not code:
        with bounded("calls", CALLS * SECONDS):
            called(loaded)
    check("load on a mesh", lambda: sw.load(folder, mesh=Mesh(x=4)))
    check("read_message", lambda: read_message(folder))
    if draw.randrange(8) == 0:
        refused_or_done("verify", str(folder))
        refused_or_done("inspect", str(folder))


@cache
def checkpoint() -> tuple[Path, dict[Path, bytes]]:
    """A checkpoint, to be changed, and what is in its files."""
    state = {"w": Variable(np.arange(8, dtype="float32"), layout=ROWS), "rate": Variable(0.5), "step": 3, "name": "abc"}
    folder = Path(Checkpoint(state).save(place() / "checkpoint"))
    sw.load_variables(folder)
    return folder, {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


JUNK = (None, True, 0, -1, 1.5, "x", "..", [], [1], {}, 2**31, 2**63, 10**30, "float32", "int4", [2**40, 2**20], [0],
        "0x1p+99999", "bfloat16", 8, 4, 16)  # fmt: skip


def mistaken(draw: Random, value: Any) -> Any:
    """A value of JSON with something else somewhere in it."""
    if isinstance(value, dict) and value and draw.randrange(5):
        key: Any = draw.choice(sorted(value))
        item: Any = value.pop(key)
        key = draw.choice((key, key, key, "name", "int", "float", "shape", "driver"))
        return value if draw.randrange(4) == 0 else {**value, key: mistaken(draw, item)}
    if isinstance(value, list) and value and draw.randrange(4):
        value[draw.randrange(len(value))] = draw.choice(JUNK)
        return value
    return value + draw.randrange(-1, 2) if type(value) is int and draw.randrange(2) else draw.choice(JUNK)


def checkpoints(draw: Random) -> None:
    folder, files = checkpoint()
    for path, data in files.items():
        path.write_bytes(data)
    manifest = folder / "checkpoint.jsonl"
    lines = files[manifest].splitlines()[:-1]
    at = draw.randrange(len(lines))
    match draw.randrange(6):
        case 0:
            lines[at] = edited(draw, lines[at])
        case 1:
            lines.insert(at, lines[at])
        case 2:
            path = draw.choice([path for path in files if path != manifest])
            path.write_bytes(edited(draw, files[path]))
        case _:
            lines[at] = json.dumps(mistaken(draw, json.loads(lines[at]))).encode()
    text = b"".join(line + b"\n" for line in lines)
    end = {"sha256": hashlib.sha256(text).hexdigest()}
    manifest.write_bytes(text + json.dumps(end, separators=(",", ":")).encode() + b"\n")
    w = Variable(np.zeros(8, "float32"), layout=ROWS)
    check("restore", lambda: Checkpoint(w=w, rate=Variable(0.0), step=0, name="").restore(folder, strict=False))
    check("load_variables", lambda: sw.load_variables(folder))
    check("list_variables", lambda: sw.list_variables(folder))
    check("verify_checkpoint", lambda: sw.verify_checkpoint(folder))
    if draw.randrange(8) == 0:
        refused_or_done("verify", str(folder))
        refused_or_done("inspect", str(folder))


@cache
def theirs(model: str) -> tuple[Path, bytes, dict[bytes, bytes]]:
    """A SavedModel of TensorFlow's, to be changed: its folder, its message, the entries of its checkpoint."""
    folder = place() / model
    shutil.copytree(unpacked() / model, folder)
    outcome(lambda: sw.from_saved_model(folder))
    return folder, (folder / "saved_model.pb").read_bytes(), read_table(folder / "variables" / "variables.index")


MODELS = ("mlp", "module", "old")


def saved_models(draw: Random) -> None:
    folder, data, _ = theirs(draw.choice(MODELS))
    message: Any = saved_model_pb2.SavedModel.FromString(data)
    meta = message.meta_graphs[0]
    for _ in range(draw.choice((1, 2, 3))):
        misled(draw, draw.choice((message, meta.graph_def, meta.saver_def, meta.signature_def["serving_default"])))
    try:
        changed = rewired(draw, data) if draw.randrange(4) == 0 else message.SerializeToString()
        (folder / "saved_model.pb").write_bytes(changed)
        check("from_saved_model", lambda: sw.from_saved_model(folder))
        if draw.randrange(4) == 0:
            check("load", lambda: sw.load(folder))
    finally:
        (folder / "saved_model.pb").write_bytes(data)


@cache
def frozen() -> bytes:
    return (Path(__file__).parents[1] / "data/graphs/frozen.pb").read_bytes()


def graphs(draw: Random) -> None:
    message = graph_pb2.GraphDef.FromString(frozen())
    for _ in range(draw.choice((1, 2, 3))):
        misled(draw, message)
    check("from_graph", lambda: sw.from_graph(message))
    path = place() / "graph.pb"
    path.write_bytes(rewired(draw, frozen()))
    check("from_graph, a file", lambda: sw.from_graph(path))


def block(items: list[tuple[bytes, bytes]], change: Callable[[bytes], bytes]) -> bytes:
    """A block of a table, with a checksum of what it was changed to."""
    body = b"".join(b"\0" + varint(len(key)) + varint(len(value)) + key + value for key, value in items)
    body = change(body + struct.pack("<II", 0, 1))
    return body + b"\0" + struct.pack("<I", masked(crc32c(body + b"\0")))


def hostile_entries(draw: Random, found: dict[bytes, bytes]) -> list[tuple[bytes, bytes]]:
    """The entries of a table with a change in one."""
    items = list(found.items())
    at = draw.randrange(len(items))
    key, value = items[at]
    match draw.randrange(5):
        case 0:
            items[at] = edited(draw, key), value
        case 1:
            items[at] = key, rewired(draw, value)
        case 2:
            del items[at]
        case 3:
            items[at] = key, draw.choice(items)[1]
        case _:
            kind: Any = tensor_bundle_pb2.BundleEntryProto if key else tensor_bundle_pb2.BundleHeaderProto
            entry = kind.FromString(value)
            misled(draw, entry)
            items[at] = key, entry.SerializeToString()
    return items


def bundles(draw: Random) -> None:
    folder, _, found = theirs(draw.choice(MODELS))
    plain: Callable[[bytes], bytes] = lambda body: body  # noqa: E731
    damage: Callable[[bytes], bytes] = lambda body: edited(draw, body)  # noqa: E731
    which = draw.randrange(5)
    data = block(hostile_entries(draw, found), damage if which == 0 else plain)
    index = block([(b"z", b"\0" + varint(len(data) - 5))], damage if which == 1 else plain)
    footer = b"\0\0" + varint(len(data)) + varint(len(index) - 5)
    end = (edited(draw, footer)[:40] if which == 2 else footer).ljust(40, b"\0") + struct.pack("<Q", MAGIC)
    (folder / "variables" / "variables.index").write_bytes(data + index + end)

    def tensors() -> None:
        bundle = TensorBundle(folder / "variables" / "variables")
        for key in bundle.keys:
            outcome(lambda key=key: bundle.tensor(key, np.dtype("float32")))
            outcome(lambda key=key: bundle.text(key))
            outcome(lambda key=key: bundle.texts(key))

    try:
        check("from_saved_model", lambda: sw.from_saved_model(folder))
        check("TensorBundle", tensors)
    finally:
        shutil.copy(unpacked() / folder.name / "variables" / "variables.index", folder / "variables")


@cache
def descriptors() -> bytes:
    found = descriptor_pb2.FileDescriptorSet()
    for module in (graph_pb2, chunk_pb2):
        module.DESCRIPTOR.CopyToProto(found.file.add())  # type: ignore[no-untyped-call]
    return found.SerializeToString()


def descriptor_sets(draw: Random) -> None:
    message = descriptor_pb2.FileDescriptorSet.FromString(descriptors())
    for _ in range(draw.choice((1, 2))):
        misled(draw, message)
    path = place() / "types.bin"
    path.write_bytes(rewired(draw, descriptors()) if draw.randrange(3) == 0 else message.SerializePartialToString())
    check("types_of", lambda: types_of(str(path)))


CASES: dict[str, tuple[Case, int]] = {
    "records": (records, 30),
    "chunks": (chunks, 20),
    "modules": (modules, 30),
    "directories": (directories, 6),
    "checkpoints": (checkpoints, 15),
    "saved models": (saved_models, 10),
    "graphs": (graphs, 10),
    "bundles": (bundles, 15),
    "descriptor sets": (descriptor_sets, 15),
}
"""Each family with the number of cases in `make test`; `make test-full` has eighty times as many."""

SLOW = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example)
PHASES = (Phase.generate, Phase.shrink)
"""Without explanations, which are found by tracing every line: time is measured here."""


def fuzz(case: Case, count: int) -> None:
    @settings(max_examples=count, deadline=None, suppress_health_check=SLOW, database=None, phases=PHASES)
    @given(st.randoms(use_true_random=False))
    def run(draw: Random) -> None:
        case(draw)

    place()  # the hash's kernel is loaded once, and is no file's cost
    run()


@pytest.fixture(autouse=True, scope="module")
def folder() -> Iterator[None]:
    yield
    shutil.rmtree(place(), ignore_errors=True)


@pytest.mark.parametrize("name", CASES)
def test_loaders_read_or_refuse(name: str) -> None:
    fuzz(*CASES[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_loaders_read_or_refuse_thousands(name: str) -> None:
    case, count = CASES[name]
    fuzz(case, 80 * count)
