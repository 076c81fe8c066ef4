"""Chunks are put together as the RFC says: trees, runs, places in lists and maps, bytes in pieces."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import pytest
from chunk_cases import Many, Node, chunked_file, constant, put, tree
from every_field import Old, random_message
from google.protobuf.message import Message

from shardwright.serialization.merging import MergeError, Merger, read_metadata
from shardwright.serialization.protos import chunk_pb2, graph_pb2, saved_model_pb2


def both(tmp_path: Path, chunks: list[Any], message: Any, kind: Any, options: str = "brotli") -> Any:
    """The message, merged from memory and read from a file: the same."""
    Merger.merge(chunks, message, merged := kind())
    Merger.read(put(tmp_path, chunked_file(chunks, message, options=options)), read := kind())
    assert merged.SerializeToString(deterministic=True) == read.SerializeToString(deterministic=True)
    return merged


@pytest.mark.parametrize("order", [range(10), (0, 1, 2, 4, 5, 6, 3, 7, 8, 9)], ids=["depth first", "breadth first"])
def test_trees_of_chunked_messages(tmp_path: Path, order: Any) -> None:
    """TensorFlow's trees of strings: every node is a chunk, in two orders."""
    texts = ["0", "010", "01020", "0102030", "0102031", "0102032", "01021", "0102130", "0102131", "0102132"]
    chunks: list[Any] = [None] * 10
    for place, text in zip(order, texts, strict=True):
        chunks[place] = Node(text=text)
    at = list(order)
    three = [tree(at[base], *[((2, [i]), at[base + 1 + i]) for i in range(3)]) for base in (2, 6)]
    message = tree(at[0], ((2, [0]), tree(at[1], ((2, [0]), three[0]), ((2, [1]), three[1]))))
    branches = [
        Node(text=texts[base], nodes=[Node(text=text) for text in texts[base + 1 : base + 4]]) for base in (2, 6)
    ]
    expected = Node(text="0", nodes=[Node(text="010", nodes=branches)])
    assert both(tmp_path, chunks, message, Node) == expected


def test_many_fields(tmp_path: Path) -> None:
    """TensorFlow's message of many fields: a field, and values of a map by bool keys."""
    root = Many(map_int64_string={-1345: "map_value_-1345"})
    inner = Many(several=[Many(), Many(text="inner", map_uint32_string={324: "a", 543: "b"})])
    chunks = [root, inner, Many(text="true"), Many(text="false")]
    message = tree(0, ((1,), 1), ((32, {"boolean": True}), 2), ((32, {"boolean": False}), 3))
    merged = both(tmp_path, chunks, message, Many)
    assert merged.one == inner
    assert (merged.map_bool_many[True].text, merged.map_bool_many[False].text) == ("true", "false")
    assert dict(merged.map_int64_string) == {-1345: "map_value_-1345"}
    Merger.read_partial(tmp_path / "m", part := Many())
    assert part == root


def graph(*names: str) -> graph_pb2.GraphDef:
    return graph_pb2.GraphDef(node=[graph_pb2.NodeDef(name=name) for name in names])


def test_runs_of_a_repeated_field_are_appended(tmp_path: Path) -> None:
    """Lots of nodes: runs in chunks of the graph's own type."""
    chunks = [graph("a", "b"), graph("c"), graph("d", "e")]
    merged = both(tmp_path, chunks, tree(0, ((), 1), ((), 2)), graph_pb2.GraphDef)
    assert [node.name for node in merged.node] == list("abcde")


def test_large_nodes_come_before_the_runs_that_they_belong_into(tmp_path: Path) -> None:
    """TensorFlow writes the chunk of a large node first, then the run with its blank: places decide, not the list."""
    chunks = [graph("a"), constant("c", b"large").attr["value"].tensor.tensor_content, graph("b")]
    chunks[2].node.append(constant("c"))
    chunks[2].node[1].attr["value"].tensor.tensor_shape.dim[0].size = 5
    message = tree(0, ((1, [2], 5, {"s": "value"}, 8, 4), 1), ((), 2))
    merged = both(tmp_path, chunks, message, graph_pb2.GraphDef)
    assert merged == graph_pb2.GraphDef(node=[*graph("a", "b").node, constant("c", b"large")])


def test_an_inserted_chunk_goes_before_those_after_it(tmp_path: Path) -> None:
    """TensorFlow inserts a whole library as chunk 1 after the runs of its functions were added to the list."""

    def library(*names: str) -> graph_pb2.FunctionDefLibrary:
        made = graph_pb2.FunctionDefLibrary()
        for name in names:
            made.function.add().signature.name = name
        return made

    chunks = [graph("a"), library("f"), library("g", "h"), library("i")]
    message = tree(0, ((2,), 2), ((2,), 3), ((2,), 1))
    merged = both(tmp_path, chunks, message, graph_pb2.GraphDef)
    assert [function.signature.name for function in merged.library.function] == list("fghi")


def test_saved_model(tmp_path: Path) -> None:
    """A graph that was split inside of a meta graph: its chunks are in paths of four members."""
    chunks = [saved_model_pb2.SavedModel(saved_model_schema_version=1), graph("a"), b"\1\2", graph("b", "c")]
    chunks[0].meta_graphs.add().meta_info_def.tags.append("serve")
    place = (2, [0], 2)
    content = (*place, 1, [0], 5, {"s": "value"}, 8, 4)
    merged = both(tmp_path, chunks, tree(0, (place, 1), (content, 2), (place, 3)), saved_model_pb2.SavedModel)
    nodes = merged.meta_graphs[0].graph_def.node
    assert [node.name for node in nodes] == list("abc")
    assert nodes[0].attr["value"].tensor.tensor_content == b"\1\2"
    assert merged.meta_graphs[0].meta_info_def.tags == ["serve"]


def test_fields_nested_below_an_empty_path(tmp_path: Path) -> None:
    """They belong to the parent; TensorFlow leaves them out."""
    chunks = [Many(text="root"), Many(several=[Many(), Many()]), b"data", Many(number=3)]
    message = tree(0, ((), tree(1, ((2, [1], 10), 2), ((1,), 3))))
    merged = both(tmp_path, chunks, message, Many)
    assert merged == Many(text="root", several=[Many(), Many(data=b"data")], one=Many(number=3))


def test_strings_without_a_root_chunk(tmp_path: Path) -> None:
    """TensorFlow's test splitter of repeated strings; its own merger aborts on the result."""
    merged = both(tmp_path, [b"a", b"b", "é".encode()], tree(None, *(((4, [i]), i) for i in range(3))), Many)
    assert merged.texts == ["a", "b", "é"]


def test_bytes_of_one_field_are_joined(tmp_path: Path) -> None:
    """The RFC: "bytes are joined concatenated". TensorFlow keeps the last."""
    chunks = [Many(data=b"in the root, "), b"one, ", b"two, ", b"three"]
    merged = both(tmp_path, chunks, tree(0, ((10,), 1), ((10,), 2), ((10,), 3)), Many)
    assert merged.data == b"in the root, one, two, three"
    split = "é€😀".encode()
    pieces = [bytes([byte]) for byte in split]
    merged = both(tmp_path, pieces, tree(None, *(((3,), i) for i in range(len(split)))), Many)
    assert merged.text == "é€😀"


def test_defaults_are_not_contents(tmp_path: Path) -> None:
    merged = both(tmp_path, [Old(must_int=1, must_bytes=b"x"), b"text"], tree(0, ((41,), 1)), Old)
    assert merged.with_default == "text"


def test_places_of_bytes(tmp_path: Path) -> None:
    """Elements that are there get more, new ones are appended; entries of maps; a oneof."""
    chunks = [Many(datas=[b"0", b"1"]), b"+", b"2", b"value", b"blob", Many()]
    message = tree(0, ((5, [1]), 1), ((5, [2]), 2), ((34, {"ui64": (1 << 64) - 1}), 3), ((22,), 4), ((1,), 5))
    merged = both(tmp_path, chunks, message, Many)
    assert merged.datas == [b"0", b"1+", b"2"]
    assert dict(merged.map_uint64_bytes) == {(1 << 64) - 1: b"value"}
    assert merged.blob == b"blob"
    assert merged.HasField("one")


@pytest.mark.parametrize("key", [0, -(1 << 63), (1 << 63) - 1, 1 << 31])
def test_keys_of_maps_are_exact(tmp_path: Path, key: int) -> None:
    """TensorFlow cuts keys to 32 bits and adds an empty entry."""
    merged = both(tmp_path, [Many(text="x")], tree(None, ((35, {"i64": key}), 0)), Many)
    assert {found: value.text for found, value in merged.map_sfixed64_many.items()} == {key: "x"}


def test_many_map_keys_in_one_message(tmp_path: Path) -> None:
    """More than TensorFlow's sort can order."""
    keys = [f"key {number * 7919 % 100}" for number in range(100)]
    chunks = [Many(text=key) for key in keys] + [Many(number=1), Many(number=2)]
    fields: list[Any] = [((33, {"s": key}), number) for number, key in enumerate(keys)]
    message = tree(None, *fields, ((33, {"s": keys[50]}), 100), ((33, {"s": keys[50]}), 101))
    merged = both(tmp_path, chunks, message, Many)
    assert {key: value.text for key, value in merged.map_string_many.items()} == {key: key for key in keys}
    assert merged.map_string_many[keys[50]].number == 2


NUMBERS = [((6,), b"-2147483648", "number", -(1 << 31)), ((7, [0]), b"18446744073709551615", "numbers", [2**64 - 1]),
           ((8,), b"true", "flag", True), ((9,), b"0.5", "real", 0.5), ((9,), b"-inf", "real", -float("inf")),
           ((50,), b"RED", "colour", 1), ((36, {"s": "k"}), b"12", "map_string_int32", {"k": 12})]  # fmt: skip


@pytest.mark.parametrize(("path", "text", "field", "value"), NUMBERS)
def test_numbers_as_text(tmp_path: Path, path: Any, text: bytes, field: str, value: Any) -> None:
    """As TensorFlow's merger reads them, where that is exact."""
    assert getattr(both(tmp_path, [text], tree(None, (path, 0)), Many), field) == value


def test_a_place_without_a_chunk_of_its_own(tmp_path: Path) -> None:
    merged = both(tmp_path, [b"x"], tree(None, ((1,), tree(None, ((10,), 0)))), Many)
    assert merged == Many(one=Many(data=b"x"))


def test_an_empty_message(tmp_path: Path) -> None:
    for name, data in (("m.pb", b""), ("n.cpb", chunked_file([], tree(None)))):
        Merger.read(put(tmp_path, data, name), merged := Many())
        assert merged == Many()


def test_whole_files(tmp_path: Path) -> None:
    message = graph("a", "b")
    for name in (put(tmp_path, message.SerializeToString(), "g.pb"), os.fspath(tmp_path / "g.pb")):
        Merger.read(name, read := graph_pb2.GraphDef())
        assert read == message


def test_contents_of_a_file(tmp_path: Path) -> None:
    data = chunked_file([graph("a"), graph("b")], tree(0, ((), 1)))
    Merger.read_chunked_from_string(data, merged := graph_pb2.GraphDef())
    assert merged == graph("a", "b")


def test_metadata_and_parts(tmp_path: Path) -> None:
    """TensorFlow's ReadPartial takes metadata from which fields were dropped."""
    prefix = put(tmp_path, chunked_file([graph("a"), graph("b"), graph("c")], tree(0, ((), 1), ((), 2))))
    metadata = read_metadata(prefix + ".cpb")
    assert [chunk.type for chunk in metadata.chunks] == [chunk_pb2.ChunkInfo.MESSAGE] * 3
    assert metadata.message == tree(0, ((), 1), ((), 2))
    Merger.read_partial(prefix, root := graph_pb2.GraphDef())
    assert root == graph("a")
    del metadata.message.chunked_fields[0]
    Merger.read_partial(prefix, part := graph_pb2.GraphDef(), metadata)
    assert part == graph("a", "c")
    metadata.chunks[0].offset += 1
    with pytest.raises(MergeError, match="SW0835"):
        Merger.read_partial(prefix, graph_pb2.GraphDef(), metadata)


def random_split(draw: random.Random, message: Any) -> tuple[list[Any], Any]:
    """A message cut at random: fields of any kind go to chunks of bytes, of messages, of runs of the parent."""
    root = type(message)()
    root.CopyFrom(message)
    chunks, fields = [root], list[Any]()
    for field, value in message.ListFields():
        kind = field.message_type
        entry = kind is not None and kind.GetOptions().map_entry
        if draw.random() < 0.4 or field.is_extension or field.type == field.TYPE_GROUP:
            continue
        if field.is_repeated and not entry and draw.random() < 0.5:
            cut = draw.randrange(len(value) + 1)
            run = type(message)()
            getattr(run, field.name).MergeFrom(value[cut:])
            del getattr(root, field.name)[cut:]
            chunks.append(run)
            fields.append(((), len(chunks) - 1))
        elif not field.is_repeated and (kind is not None or field.type == field.TYPE_BYTES):
            root.ClearField(field.name)
            chunks.append(value)
            fields.append(((field.number,), len(chunks) - 1))
    return chunks, tree(0, *fields)


@pytest.mark.parametrize("seed", range(60))
def test_random_messages(tmp_path: Path, seed: int) -> None:
    message = random_message(seed, budget=80)
    chunks, chunked = random_split(random.Random(seed), message)
    merged = both(tmp_path, chunks, chunked, type(message), "uncompressed")
    assert isinstance(merged, Message)
    assert merged.SerializeToString(deterministic=True) == message.SerializeToString(deterministic=True)
