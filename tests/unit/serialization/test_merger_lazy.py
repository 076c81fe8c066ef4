"""Lazy messages give what the whole message has, and read only the chunks that it needs."""

from __future__ import annotations

import random
import threading
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from chunk_cases import Many, chunked_file, constant, put, tree
from chunk_faults import wrong_runs
from every_field import random_message
from google.protobuf.message import Message

from shardwright.dialects.text.parsing import parse_module
from shardwright.serialization.fields import FieldTagError, is_map, value_field
from shardwright.serialization.ir.proto import module_to_proto
from shardwright.serialization.merging import ElementError, LazyMessage, MergeError, Merger, open_message, verify
from shardwright.serialization.merging.reading.chunked_file import ChunkedFile
from shardwright.serialization.protos import chunk_pb2, graph_pb2, ir_pb2
from shardwright.serialization.riegeli import RecordWriterOptions
from shardwright.serialization.splitting import splitter_for


def same(left: Any, right: Any) -> bool:
    """Equal, bytes of messages included."""
    if isinstance(left, Message):
        return raw(left) == raw(right)
    if isinstance(left, list):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(same(value, right[key]) for key, value in left.items())
    return repr(left) == repr(right)


def raw(message: Any) -> bytes:
    """A message's bytes; a field that is not set has none, although protobuf refuses to say so."""
    return message.SerializePartialToString(deterministic=True) if message.ListFields() else b""


def check(lazy: LazyMessage[Any], message: Any, path: tuple[Any, ...], depth: int) -> int:
    """All places of a message to a depth; returns how many."""
    assert same(lazy.get(*path), message), path
    count = 1
    for field in message.DESCRIPTOR.fields if depth else ():
        value, here = getattr(message, field.name), (*path, field.name)
        count += 1
        if is_map(field):
            assert same(lazy.get(*here), {key: value[key] for key in value})
            assert (lazy.len(*here), lazy.has(*here)) == (len(value), bool(len(value)))
            for key in list(value)[:3]:
                count += place(lazy, value[key], (*here, key), depth - 1, value_field(field).message_type)
        elif field.is_repeated:
            assert same(list(lazy.iterate(*here)), list(value))
            assert (lazy.len(*here), lazy.has(*here)) == (len(value), bool(value))
            for index in {0, len(value) // 2, len(value) - 1} if value else ():
                count += place(lazy, value[index], (*here, index), depth - 1, field.message_type)
            with pytest.raises(ElementError):
                lazy.get(*here, len(value))
        else:
            present = message.HasField(field.name) if field.has_presence else value != field.default_value
            if field.type != field.TYPE_FLOAT and field.type != field.TYPE_DOUBLE:
                assert lazy.has(*here) == present, here
            count += place(lazy, value, here, depth - 1, field.message_type)
    return count


def place(lazy: LazyMessage[Any], value: Any, path: tuple[Any, ...], depth: int, message: Any) -> int:
    if message is not None:
        return check(lazy, value, path, depth)
    assert same(lazy.get(*path), value), path
    return 1


@pytest.mark.every(3)
@pytest.mark.parametrize("seed", range(30))
def test_every_place_of_random_messages(tmp_path: Path, seed: int) -> None:
    draw = random.Random(seed)
    message = random_message(seed, budget=150, length=40)
    size = draw.choice((150, 300, 800))
    path = splitter_for(message, max_size=size, chunk_size=draw.choice((size, size // 2))).write(str(tmp_path / "m"))
    with open_message(path, type(message)) as lazy:
        assert check(lazy, message, (), 3) > 10
    if path.endswith(".cpb"):
        data = strip_runs(path)
        (tmp_path / "n.cpb").write_bytes(data)
        with open_message(tmp_path / "n", type(message)) as lazy:
            assert not lazy._resolver._runs  # type: ignore[reportPrivateUsage]
            assert check(lazy, message, (), 2) > 10


def strip_runs(path: str) -> bytes:
    """The same chunks in a file without a list of runs, as TensorFlow would write it."""
    chunks: list[Any] = []
    with ChunkedFile(path) as file:
        metadata = chunk_pb2.ChunkMetadata.FromString(bytes(file.metadata))
        views = [bytes(file.view(number)) for number in range(len(file))]

    def types(found: chunk_pb2.ChunkMetadata) -> None:
        for old, new in zip(metadata.chunks, found.chunks, strict=True):
            new.type = old.type

    chunks.extend(views)
    return chunked_file(chunks, metadata.message, types)


def large_graph(tmp_path: Path, nodes: int = 3000) -> tuple[graph_pb2.GraphDef, str]:
    """A graph of runs and large constants in a file."""
    draw = random.Random(1)
    graph = graph_pb2.GraphDef()
    for number in range(nodes):
        graph.node.append(constant(f"node {number}", draw.randbytes(20000 if number % 500 == 7 else 4)))
    graph.library.function.add().signature.name = "f"
    graph.versions.producer = 1234
    return graph, splitter_for(graph, max_size=20000, chunk_size=10000).write(str(tmp_path / "graph"))


class Counted:
    """The chunks that are read while it watches."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.read = list[int]()
        original = ChunkedFile.view

        def view(file: ChunkedFile, chunk: int, part: Any = None) -> memoryview:
            self.read.append(chunk)
            return original(file, chunk, part)

        monkeypatch.setattr(ChunkedFile, "view", view)


def test_only_what_is_needed_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph, path = large_graph(tmp_path)
    counted = Counted(monkeypatch)
    with open_message(path, graph_pb2.GraphDef) as lazy:
        assert len(lazy.fields()) > 20
        assert counted.read == []
        assert lazy.get("node", 2600, "name") == "node 2600"
        assert len(counted.read) == 1
        assert lazy.get('node[2601].attr["value"].tensor.dtype') == graph_pb2.DT_UINT8
        assert len(counted.read) <= 2
        counted.read.clear()
        assert lazy.len("node") == 3000
        assert counted.read == []
        assert bytes(lazy.view("node", 2507, "attr", "value", "tensor", "tensor_content")) == (
            graph.node[2507].attr["value"].tensor.tensor_content
        )
        assert len(counted.read) <= 2


def test_without_a_list_of_runs_they_are_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph, path = large_graph(tmp_path)
    prefix = put(tmp_path, strip_runs(path), "n.cpb")
    counted = Counted(monkeypatch)
    with open_message(prefix, graph_pb2.GraphDef) as lazy:
        assert lazy.get("node", 2600) == graph.node[2600]
        first = len(counted.read)
        assert first > 10
        assert lazy.len("node") == 3000
        assert lazy.get("node", 5).name == "node 5"
        assert [node.name for node in lazy.iterate("node")] == [node.name for node in graph.node]
        assert lazy.get("versions", "producer") == 1234


def test_views_are_not_copies_and_stay(tmp_path: Path) -> None:
    graph, path = large_graph(tmp_path)
    place = ("node", 7, "attr", "value", "tensor")
    with open_message(path, graph_pb2.GraphDef) as lazy:
        view, array = lazy.view(*place, "tensor_content"), lazy.array(*place)
        assert view.readonly
        assert not array.flags.writeable
        assert not array.flags.owndata
        assert (array.dtype, array.shape) == (np.uint8, (20000,))
        small = lazy.view("node", 8, "attr", "value", "tensor", "tensor_content")
    content = graph.node[7].attr["value"].tensor.tensor_content
    assert bytes(view) == array.tobytes() == content
    assert bytes(small) == graph.node[8].attr["value"].tensor.tensor_content
    with pytest.raises(MergeError, match=r"SW0846.*closed"):
        lazy.get("node", 1)


ARRAYS = [np.arange(6, dtype=np.float32).reshape(2, 3), np.array([True, False]), np.array(3, np.int64),
          np.arange(4).astype(ml_dtypes.bfloat16), np.zeros((0, 3), np.complex64),
          np.arange(3).astype(ml_dtypes.int4)]  # fmt: skip
TYPES = ["DT_FLOAT", "DT_BOOL", "DT_INT64", "DT_BFLOAT16", "DT_COMPLEX64", "DT_INT4"]


@pytest.mark.parametrize("number", range(len(ARRAYS)))
def test_arrays_of_tensors(tmp_path: Path, number: int) -> None:
    array = ARRAYS[number]
    node = constant("c", array.tobytes())
    tensor = node.attr["value"].tensor
    tensor.dtype = graph_pb2.DataType.Value(TYPES[number])
    del tensor.tensor_shape.dim[:]
    for size in array.shape:
        tensor.tensor_shape.dim.add(size=size)
    path = splitter_for(graph_pb2.GraphDef(node=[node]), max_size=1 << 20).write(str(tmp_path / "g"))
    with open_message(path, graph_pb2.GraphDef) as lazy:
        found = lazy.array("node", 0, "attr", "value", "tensor")
    assert (found.dtype, found.shape) == (array.dtype, array.shape)
    assert found.tobytes() == array.tobytes()


def test_what_is_no_array(tmp_path: Path) -> None:
    graph = graph_pb2.GraphDef(node=[constant("short", b"12"), constant("listed"), constant("text")])
    tensors = [node.attr["value"].tensor for node in graph.node]
    tensors[0].tensor_shape.dim[0].size = 3
    tensors[1].float_val.append(1.0)
    tensors[1].tensor_shape.dim[0].size = 1
    tensors[2].dtype = graph_pb2.DT_STRING
    path = splitter_for(graph).write(str(tmp_path / "g"))
    with open_message(path, graph_pb2.GraphDef) as lazy:
        for members in [("node", i, "attr", "value", "tensor") for i in range(3)] + [("node", 0), ("node", 0, "name")]:
            with pytest.raises(MergeError, match="SW0845"):
                lazy.array(*members)
        for wrong in (lambda: lazy.len("node", 0), lambda: list(lazy.iterate("library"))):
            with pytest.raises(MergeError, match="SW0846"):
                wrong()


def test_constants_of_modules(tmp_path: Path) -> None:
    values = np.arange(5000, dtype=np.float32).reshape(50, 100)
    text = values.tobytes().hex().upper()
    module = parse_module(
        "func.func @main() -> tensor<50x100xf32> {"
        f'%0 = stablehlo.constant dense<"0x{text}"> : tensor<50x100xf32>\n'
        "%1 = stablehlo.constant dense<7> : tensor<3x4xi32>\n"
        "%2 = stablehlo.constant dense<[true, false]> : tensor<2xi1>\n"
        "return %0 : tensor<50x100xf32> }"
    )
    message = module_to_proto(module)
    path = splitter_for(message, max_size=3000).write(str(tmp_path / "module"))
    with open_message(path, ir_pb2.Module) as lazy:
        names = [lazy.get("names", attribute.kind) for attribute in lazy.iterate("attributes")]
        arrays = [lazy.array("attributes", place) for place, name in enumerate(names) if name == "#dense"]
        with pytest.raises(MergeError, match="SW0845"):
            lazy.array("attributes", 0)
    expected = [values, np.full((3, 4), 7, np.int32), np.array([True, False])]
    assert [(array.dtype, array.shape) for array in arrays] == [(array.dtype, array.shape) for array in expected]
    assert all(np.array_equal(*pair) for pair in zip(arrays, expected, strict=True))


def test_places_that_there_are_not(tmp_path: Path) -> None:
    _, path = large_graph(tmp_path, 100)
    with open_message(path, graph_pb2.GraphDef) as lazy:
        for members in (("node", 100), ("node", 1 << 63, "name"), ("library", "function", 1, "signature"),
                        ("node", 3, "attr", "other"), ("node", 3, "attr", "other", "i")):  # fmt: skip
            with pytest.raises(IndexError, match=r"SW0844.*graph\.cpb, .*there is no such"):
                lazy.get(*members)
            assert not lazy.has(*members)
        for members in (("nodes",), ("node", "name"), ("node[0].name.x",), ("node", -1)):
            with pytest.raises(FieldTagError):
                lazy.get(*members)
        assert lazy.get("library", "gradient") == []
        assert lazy.get("node", 3, "attr", "value", "i") == 0
        assert not lazy.has("node", 3, "attr", "value", "i")
        assert lazy.has("node", 3, "attr", "value", "tensor")


def test_what_comes_out_is_the_callers(tmp_path: Path) -> None:
    """Changing it changes nothing else."""
    graph, path = large_graph(tmp_path, 600)
    with open_message(path, graph_pb2.GraphDef) as lazy:
        for _ in range(2):
            lazy.get("node", 5).name = "changed"
            lazy.get("library").function[0].signature.name = "changed"
            for node in lazy.iterate("node"):
                node.name = "changed"
            for function in lazy.iterate("library", "function"):
                function.signature.name = "changed"
            lazy.get("node")[0].Clear()
        assert lazy.get() == graph


def test_one_message_for_many_threads(tmp_path: Path) -> None:
    graph, path = large_graph(tmp_path)
    faults = list[Exception]()

    def work(seed: int) -> None:
        draw = random.Random(seed)
        try:
            for _ in range(60):
                index = draw.randrange(3000)
                assert lazy.get("node", index) == graph.node[index]
        except Exception as error:
            faults.append(error)

    with open_message(path, graph_pb2.GraphDef) as lazy:
        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not faults


def test_what_is_no_type(tmp_path: Path) -> None:
    _, path = large_graph(tmp_path, 100)
    for wrong in (graph_pb2.GraphDef(), "GraphDef", None, int):
        with pytest.raises(MergeError, match=r"SW0846.*a message type is a class of messages"):
            open_message(path, wrong)  # type: ignore[type-var]
    with pytest.raises(MergeError, match=r"SW0846.*a message type is a class of messages"):
        verify(path, graph_pb2.GraphDef())  # type: ignore[arg-type]


@pytest.mark.slow
def test_files_that_say_too_much_about_themselves(tmp_path: Path) -> None:
    options = RecordWriterOptions("uncompressed", metadata=b"\x0a\x00" * (2 << 20))
    data = chunked_file([Many()], tree(0), options=options)  # type: ignore[arg-type]
    with pytest.raises(MergeError, match=r"SW0848.*it says 4194304 bytes about 1 chunks"):
        open_message(put(tmp_path, data), Many)


def test_whole_files(tmp_path: Path) -> None:
    graph = graph_pb2.GraphDef(node=[constant("a", b"abc")])
    path = splitter_for(graph).write(str(tmp_path / "g"))
    assert path.endswith(".pb")
    with open_message(tmp_path / "g", graph_pb2.GraphDef) as lazy:
        assert lazy.get("node", 0) == graph.node[0]
        assert bytes(lazy.view('node[0].attr["value"].tensor.tensor_content')) == b"abc"
        assert [chunk.kind for chunk in lazy.fields()] == ["MESSAGE"]
        assert lazy.array("node", 0, "attr", "value", "tensor").tolist() == [97, 98, 99]


def test_chunks_by_hand(tmp_path: Path) -> None:
    """Elements and entries that only chunks make, and joined bytes."""
    chunks = [
        Many(data=b"in ", several=[Many(number=1)]),
        b"two ",
        b"pieces",
        Many(number=2),
        b"x",
        b"y",
        Many(number=3),
    ]
    message = tree(0, ((10,), 1), ((10,), 2), ((2, [1]), 3), ((5, [0]), 4), ((34, {"ui64": 9}), 5), ((), 6), ((6,), 7))
    data = chunked_file([*chunks, b"44"], message)
    Merger.read_chunked_from_string(data, merged := Many())
    with open_message(put(tmp_path, data), Many) as lazy:
        assert check(lazy, merged, (), 3) > 20
        assert bytes(lazy.view("data")) == b"in two pieces"
        assert lazy.get("number") == 44


def get_all(path: Path, nodes: int) -> None:
    with open_message(path, graph_pb2.GraphDef) as lazy:
        for number in range(nodes):
            lazy.get("node", number)


def test_lists_of_runs_that_do_not_fit(tmp_path: Path) -> None:
    graph = graph_pb2.GraphDef(node=[graph_pb2.NodeDef(name=f"node {number}") for number in range(60)])
    for changes in ({"first": [0, 1]}, {"first": [5, 3, 9]}, {"chunk_index": [77]}, {"field": 99}, {"field": 4},
                    {"length": 1}, {"first": []}):  # fmt: skip
        path = Path(splitter_for(graph, max_size=300).write(str(tmp_path / "g")))
        wrong_runs(path, **changes)
        with pytest.raises(MergeError, match="SW0848"):
            get_all(path, 60)
        Merger.read(path, merged := graph_pb2.GraphDef())
        assert merged == graph
