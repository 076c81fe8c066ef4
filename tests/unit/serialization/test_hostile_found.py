"""What the fuzzer found: each file is refused by its code, and costs little."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from chunk_cases import chunked_file, tree
from hostile import bounded, chunk, outcome

from shardwright.dialects.text.parsing import parse_module
from shardwright.serialization.hashing import highwayhash64
from shardwright.serialization.ir.proto import module_from_proto, module_to_proto
from shardwright.serialization.merging import Merger, open_message, read_metadata, verify
from shardwright.serialization.protos import graph_pb2, ir_pb2, records_pb2
from shardwright.serialization.riegeli import RecordReader, RecordWriter, RecordWriterOptions
from shardwright.serialization.riegeli.chunks.chunks import SIMPLE
from shardwright.serialization.riegeli.chunks.codecs import BROTLI, SNAPPY, ZSTD, compress
from shardwright.serialization.riegeli.chunks.scan import FILE_SIGNATURE
from shardwright.serialization.splitting import splitter_for
from shardwright.serialization.wire import varint
from shardwright.tools.main import main as command


class Pipe(io.BytesIO):
    """A file that cannot seek, so that its size is not known."""

    def seekable(self) -> bool:
        return False


def simple(codec: int, sizes: bytes, values: bytes, count: int, size: int) -> bytes:
    """A file of one simple chunk, its parts compressed."""
    packed, contents = (b"".join(map(bytes, compress(codec, [part], 5))) for part in (sizes, values))
    return FILE_SIGNATURE + chunk(SIMPLE, bytes([codec]) + varint(len(packed)) + packed + contents, count, size)


@pytest.mark.parametrize("count", [1 << 50, 1 << 24])
@pytest.mark.parametrize("codec", [BROTLI, ZSTD, SNAPPY])
def test_a_pipe_that_says_it_has_many_records(codec: int, count: int) -> None:
    data = simple(codec, bytes(min(count, 1 << 24)), b"", count, 0)
    highwayhash64(bytes(1 << 17))
    with bounded("many records"):
        assert outcome(lambda: sum(map(len, RecordReader(Pipe(data)))))[0] in ("SW0802", "SW0805", "SW0807")


@pytest.mark.parametrize("codec", [BROTLI, ZSTD])
@pytest.mark.parametrize("size", [1 << 24, 1 << 25, 1 << 28])
def test_zeros_in_a_few_bytes(codec: int, size: int) -> None:
    data = simple(codec, varint(size), bytes(size), 1, size)
    highwayhash64(bytes(1 << 17))
    with bounded("zeros"):
        code, found = outcome(lambda: list(map(len, RecordReader(io.BytesIO(data)))))
    assert (code, found) == (("", [size]) if size <= 1 << 24 else ("SW0807", None))


@pytest.mark.parametrize(
    "options", ["brotli:5", "zstd", "snappy", pytest.param("transpose,zstd", marks=pytest.mark.slow)]
)
def test_an_honest_constant_of_zeros_is_read_by_all(options: str, tmp_path: Path) -> None:
    """The reader that puts records together has the strictest limits, and the writer keeps to them."""
    graph = graph_pb2.GraphDef()
    graph.node.add(name="zeros", op="Const").attr["value"].tensor.tensor_content = bytes(20 << 20)
    splitter: Any = splitter_for(graph, max_size=1 << 20)
    path = splitter.write(str(tmp_path / "graph"), options)
    Merger.read(path, merged := graph_pb2.GraphDef())
    assert merged == graph


def test_metadata_whose_tree_is_no_message(tmp_path: Path) -> None:
    record = bytes.fromhex("0a020801120408011840") + bytes.fromhex("1a030800ff")
    data = chunked_file([graph_pb2.GraphDef()], tree(0), lambda found: found.Clear(), extra=record)
    (tmp_path / "graph.cpb").write_bytes(data)
    assert outcome(lambda: read_metadata(tmp_path / "graph.cpb"))[0] == "SW0833"
    assert outcome(lambda: verify(tmp_path / "graph.cpb", graph_pb2.GraphDef))[0] == "SW0833"
    assert outcome(lambda: Merger.read_partial(tmp_path / "graph.cpb", graph_pb2.GraphDef()))[0] == "SW0833"


def test_runs_in_another_order_than_their_chunks(tmp_path: Path) -> None:
    """What is read alone must be what the whole message has, so chunks are listed as they are merged."""
    graph = graph_pb2.GraphDef(node=[{"name": f"n{number}"} for number in range(40)])
    path = Path(splitter_for(graph, max_size=150).write(str(tmp_path / "graph")))
    reader = RecordReader(path)
    said = records_pb2.RecordsMetadata.FromString(reader.metadata or b"")
    runs = said.chunked_file.runs[0]
    assert len(runs.chunk_index) > 1
    runs.chunk_index[0], runs.chunk_index[1] = runs.chunk_index[1], runs.chunk_index[0]
    options = RecordWriterOptions("uncompressed", metadata=said.SerializeToString())
    records = list(reader)
    with RecordWriter(path, options) as writer:
        positions = [writer.write(record) for record in records[:-1]]
        listed: Any = read_metadata_of(records[-1], positions)
        writer.write(listed)
    assert outcome(lambda: open_message(path, graph_pb2.GraphDef).get("node", 0))[0] == "SW0848"
    assert outcome(lambda: verify(path, graph_pb2.GraphDef))[0] == "SW0848"


def read_metadata_of(record: bytes, positions: list[int]) -> bytes:
    """The list of chunks with their places in another file."""
    from shardwright.serialization.protos import chunk_pb2

    found = chunk_pb2.ChunkMetadata.FromString(record)
    for info, position in zip(found.chunks, positions, strict=True):
        info.offset = position
    return found.SerializeToString()


PROGRAM = """func.func @main() -> tensor<4xf32> {
  %0 = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  return %0 : tensor<4xf32>
}"""


def program() -> tuple[ir_pb2.Module, Any, int]:
    """A program's message, its dense constant, and where that is."""
    message = module_to_proto(parse_module(PROGRAM))
    at = next(at for at, each in enumerate(message.attributes) if message.names[each.kind] == "#dense")
    return message, message.attributes[at], at


@pytest.mark.parametrize("size", [0, 2, 8, 15, 17, 1000])
def test_constants_of_another_size_than_their_type(size: int) -> None:
    message, dense, _ = program()
    message.attributes[dense.parts[1]].data = bytes(size)
    assert outcome(lambda: module_from_proto(message))[0] == "SW0856"


@pytest.mark.parametrize("size", [4, 16])
def test_constants_of_the_right_size(size: int) -> None:
    message, dense, _ = program()
    message.attributes[dense.parts[1]].data = bytes(size)
    assert outcome(lambda: module_from_proto(message))[0] == ""


def test_arrays_of_what_is_no_type_of_tensors(tmp_path: Path) -> None:
    message, dense, at = program()
    for part in range(at):
        dense.parts[0] = part
        (tmp_path / "module.pb").write_bytes(message.SerializeToString())
        with open_message(tmp_path / "module", ir_pb2.Module) as lazy:
            code, found = outcome(lambda lazy=lazy: lazy.array("attributes", at))
        assert code in ("SW0845", "SW0856") or found.shape == (4,)


@pytest.mark.parametrize("sizes", [[1 << 62, 1 << 62], [0, 1 << 62, 1 << 62], [1] * 65, [1 << 62] * 300, [-1]])
def test_tensors_of_shapes_that_no_array_has(sizes: list[int], tmp_path: Path) -> None:
    tensor = graph_pb2.TensorProto(dtype=graph_pb2.DT_UINT8, tensor_content=b"x")
    for size in sizes:
        tensor.tensor_shape.dim.add(size=size)
    (tmp_path / "tensor.pb").write_bytes(tensor.SerializeToString())
    with open_message(tmp_path / "tensor", graph_pb2.TensorProto) as lazy:
        assert outcome(lambda: lazy.array())[0] == "SW0845"


def test_integers_that_no_text_holds() -> None:
    message = module_to_proto(parse_module("func.func @main() { return }"))
    message.attributes.add(kind=len(message.names), data=bytes(1024))
    message.names.append("#builtin.int")
    assert outcome(lambda: module_from_proto(message))[0] == ""
    message.attributes[-1].data = bytes(1025)
    assert outcome(lambda: module_from_proto(message))[0] == "SW0856"


def test_a_program_that_does_not_verify_is_not_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    message, _, _ = program()
    for operation in message.operations:
        operation.ClearField("properties")
    (tmp_path / "program.pb").write_bytes(message.SerializeToString())
    arguments = ("merge", str(tmp_path / "program.pb"), "--type", "shardwright.ir.Module")
    assert command([*arguments, "-o", str(tmp_path / "out.mlir")]) == 1
    assert "error[SW0" in capsys.readouterr().err
