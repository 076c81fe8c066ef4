"""Modules in files: the same chunks as those of their messages, and memory for one copy of the constants."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from ir_cases import assert_same
from xdsl.dialects import builtin
from xdsl.dialects.builtin import BytesAttr, DenseArrayBase, DenseIntOrFPElementsAttr, ModuleOp, StringAttr

from shardwright.diagnostics import ShardwrightError
from shardwright.dialects.text.parsing import parse_module
from shardwright.dialects.types import tensor
from shardwright.serialization.ir.files import filled, read_module, write_module
from shardwright.serialization.ir.proto import module_to_proto
from shardwright.serialization.ir.splitter import IrSplitter
from shardwright.serialization.merging import Merger, read_metadata
from shardwright.serialization.protos import chunk_pb2, ir_pb2
from shardwright.serialization.riegeli import RecordReader, RecordWriter
from shardwright.serialization.splitting.graph import MessageSplitter

MIB = 1 << 20


def large_module(ops: int, sizes: tuple[int, ...]) -> ModuleOp:
    """A function of many operations, and constants of so many bytes."""
    lines = ["func.func @main(%x0: tensor<4xf32>) -> tensor<4xf32> {"]
    lines += [f"%x{i + 1} = stablehlo.add %x{i}, %x{i // 2} {{a = {i} : i64}} : tensor<4xf32>" for i in range(ops)]
    module = parse_module("\n".join([*lines, f"return %x{ops} : tensor<4xf32>", "}"]))
    rng = np.random.default_rng(0)
    for number, size in enumerate(sizes):
        data, kind = BytesAttr(rng.bytes(size)), cast(Any, tensor((size // 4,), builtin.f32))
        module.attributes[f"c{number}"] = DenseIntOrFPElementsAttr(kind, data)
    return module


CASES: dict[str, tuple[int, tuple[int, ...], dict[str, Any]]] = {
    "one piece": (50, (), {}),
    "one piece with constants": (50, (4000, 2000, 9000), {}),
    "one piece with large constants": (20, (2 * MIB, 3 * MIB), {}),
    "small constants in runs": (300, (1200,) * 30, {"max_size": 9000}),
    "constants as chunks": (300, (40000, 50000), {"max_size": 9000}),
    "both": (300, (1200, 40000) * 8, {"max_size": 60000, "chunk_size": 6000}),
    "runs that hold operations and constants": (100, (1400,) * 9, {"max_size": 12000, "chunk_size": 12000}),
    "chunks of the smallest size": (5, (1100,) * 3, {"max_size": 1300, "chunk_size": 200}),
}


@pytest.mark.parametrize("case", CASES)
def test_the_file_is_that_of_the_message(case: str, tmp_path: Path) -> None:
    ops, sizes, limits = CASES[case]
    module = large_module(ops, sizes)
    message = module_to_proto(module)
    path = write_module(module, tmp_path / "module", **limits)
    generic = Path(MessageSplitter(message, **limits).write(str(tmp_path / "generic")))
    assert path.suffix == generic.suffix == (".cpb" if limits else ".pb")
    assert path.read_bytes() == generic.read_bytes()
    merged = ir_pb2.Module()
    Merger.read(tmp_path / "module", merged)
    assert merged == message
    assert_same(module, read_module(tmp_path / "module"))
    assert_same(module, read_module(path, verify=True))


@pytest.mark.parametrize("case", CASES)
def test_chunks_in_memory_are_those_of_the_message(case: str) -> None:
    ops, sizes, limits = CASES[case]
    module = large_module(ops, sizes)
    message = module_to_proto(module)
    chunks, chunked = IrSplitter(module, **limits).split()
    expected, structure = MessageSplitter(message, **limits).split()
    assert chunked == structure
    assert list(chunks) == list(expected)
    Merger.merge(chunks, chunked, merged := ir_pb2.Module())
    assert merged == message


@pytest.mark.parametrize("case", CASES)
def test_large_files_in_one_piece_are_read_piece_by_piece(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shardwright.serialization.ir.files.AT_ONCE", 0)
    module = large_module(*CASES[case][:2])
    write_module(module, tmp_path / "module")
    assert_same(module, read_module(tmp_path / "module"))


def test_constants_in_several_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shardwright.serialization.ir.writing.LARGEST_BLOB", 3000)
    module = large_module(10, (8000, 1200))
    module.attributes["b"] = DenseArrayBase(builtin.i8, BytesAttr(bytes(range(250)) * 40))
    module.attributes["s"] = StringAttr("漢" * 2000)
    several: list[dict[str, Any]] = [{}, {"max_size": 4000}, {"max_size": 4000, "chunk_size": 300}]
    for limits in several:
        write_module(module, tmp_path / "module", **limits)
        assert_same(module, read_module(tmp_path / "module"))
    monkeypatch.setattr("shardwright.serialization.ir.files.AT_ONCE", 0)
    write_module(module, tmp_path / "module")
    assert_same(module, read_module(tmp_path / "module"))


def test_compressed_files(tmp_path: Path) -> None:
    module = large_module(50, (5000, 300))
    path = write_module(module, tmp_path / "module", writer_options="zstd:3", max_size=3000)
    assert_same(module, read_module(path))


def test_a_file_takes_the_place_of_the_other_kind(tmp_path: Path) -> None:
    first, second = large_module(50, (5000,)), large_module(3, (3000,))
    write_module(first, tmp_path / "module", max_size=3000)
    write_module(second, tmp_path / "module")
    assert [path.name for path in tmp_path.iterdir()] == ["module.pb"]
    assert_same(second, read_module(tmp_path / "module"))
    write_module(first, tmp_path / "module", max_size=3000)
    assert [path.name for path in tmp_path.iterdir()] == ["module.cpb"]
    assert_same(first, read_module(tmp_path / "module"))


@pytest.mark.parametrize("limits", [{}, {"max_size": 3000}], ids=["whole", "chunked"])
def test_progress_ends_with_all_bytes(limits: dict[str, Any], tmp_path: Path) -> None:
    calls: list[tuple[int, int]] = []

    def progress(done: int, total: int) -> None:
        calls.append((done, total))

    write_module(large_module(50, (5000, 9000)), tmp_path / "m", on_progress=progress, **limits)
    assert calls[0][0] == 0
    assert calls[-1][0] == calls[-1][1] > 14000
    assert [done for done, _ in calls] == sorted(done for done, _ in calls)


def rewritten(path: Path, change: Any) -> None:
    """A file of chunks with other metadata, records and all."""
    metadata, reader = read_metadata(path), RecordReader(str(path))
    records = [reader.read(chunk.offset) for chunk in metadata.chunks]
    reader.close()
    change(metadata, records)
    with RecordWriter(path, "uncompressed") as writer:
        for info, record in zip(metadata.chunks, records, strict=True):
            info.offset, info.size = writer.write(record), len(record)
        writer.write(metadata.SerializeToString())


def blob_in_two_chunks(metadata: chunk_pb2.ChunkMetadata, records: list[bytes]) -> None:
    """The last constant in two parts, which are joined."""
    last = metadata.message.chunked_fields[-1]
    data = records.pop()
    records.extend((data[:100], data[100:]))
    metadata.chunks.add(type=chunk_pb2.ChunkInfo.BYTES)
    metadata.message.chunked_fields.add().CopyFrom(last)
    metadata.message.chunked_fields[-1].message.chunk_index = len(records) - 1


def blob_as_message(metadata: chunk_pb2.ChunkMetadata, records: list[bytes]) -> None:
    """The last constant as a message of its own."""
    records[-1] = ir_pb2.Blob(data=records[-1]).SerializeToString()
    metadata.chunks[-1].type = chunk_pb2.ChunkInfo.MESSAGE
    metadata.message.chunked_fields[-1].field_tag.pop()


@pytest.mark.parametrize("change", [blob_in_two_chunks, blob_as_message])
def test_files_of_other_splitters(change: Any, tmp_path: Path) -> None:
    module = large_module(20, (40000, 50000))
    path = write_module(module, tmp_path / "module", max_size=9000)
    rewritten(path, change)
    assert_same(module, read_module(path))


def test_damaged_files_are_refused_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shardwright.serialization.ir.files.AT_ONCE", 0)
    several: list[dict[str, Any]] = [{}, {"max_size": 3000}]
    for limits in several:
        path = write_module(large_module(10, (5000, 1200)), tmp_path / "module", **limits)
        whole = path.read_bytes()
        for size in (0, 1, 63, 200, len(whole) // 2, len(whole) - 1):
            path.write_bytes(whole[:size])
            with pytest.raises(ShardwrightError, match="SW08"):
                read_module(path)
        path.unlink()


def test_bytes_are_filled_in_place() -> None:
    assert filled(0, lambda buffer: 1 / 0) == b""
    assert filled(5, lambda buffer: buffer.__setitem__(slice(1, 3), b"ab")) == b"\0ab\0\0"


PEAK = """
import resource, sys
import numpy as np
from xdsl.dialects import builtin
from xdsl.dialects.builtin import BytesAttr, DenseIntOrFPElementsAttr, ModuleOp
from shardwright.dialects.types import tensor
from shardwright.serialization.ir.files import filled, read_module, write_module

MIB = 1 << 20
action, prefix, *sizes = sys.argv[1:]
sizes = [int(size) * MIB for size in sizes]
random = np.random.default_rng(0).bytes(MIB)

def fill(buffer):
    for place in range(0, len(buffer), MIB):
        buffer[place : place + MIB] = random
    buffer[: 4] = number.to_bytes(4, "little")

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

if action == "write":
    module = ModuleOp([])
    for number, size in enumerate(sizes):
        kind = tensor((size // 4,), builtin.f32)
        module.attributes[f"c{number}"] = DenseIntOrFPElementsAttr(kind, BytesAttr(filled(size, fill)))
    before = peak()
    print(write_module(module, prefix).suffix, file=sys.stderr)
    print(peak() - before)
else:
    before = peak()
    module = read_module(prefix)
    found = [attribute.data.data for attribute in module.attributes.values()]
    assert [len(data) for data in found] == sizes
    assert all(data[:4] == number.to_bytes(4, "little") for number, data in enumerate(found))
    assert all(data[4:MIB] == random[4:] and data[4 - MIB :] == random[4:] for data in found)
    print(peak() - before - sum(sizes))
"""


def beyond(action: str, prefix: Path, sizes: list[int]) -> int:
    """The MiB that writing or reading a module of so many MiB takes beyond the module."""
    arguments = [sys.executable, "-c", PEAK, action, str(prefix), *map(str, sizes)]
    done = subprocess.run(arguments, capture_output=True, text=True, check=True)
    return int(done.stdout) // MIB


@pytest.mark.parametrize(
    "sizes", [pytest.param([10] * 10, id="large", marks=pytest.mark.slow), pytest.param([1] * 64, id="small")]
)
def test_memory_of_a_file_in_one_piece(sizes: list[int], tmp_path: Path) -> None:
    assert beyond("write", tmp_path / "m", sizes) < 50
    assert beyond("read", tmp_path / "m", sizes) < 50


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [[1900, 1200, 1000, 900, 100], [1] * 3000], ids=["large", "small"])
def test_memory_of_several_gibibytes(sizes: list[int], tmp_path: Path) -> None:
    assert beyond("write", tmp_path / "m", sizes) < 256
    assert (tmp_path / "m.cpb").stat().st_size > sum(sizes) * MIB
    assert beyond("read", tmp_path / "m", sizes) < 256
