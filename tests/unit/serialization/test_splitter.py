"""Composable splitters: the RFC's methods, TensorFlow's tests of them, nesting, order, refusals."""

import pytest
from every_field import EXTENSIONS, Every, Old
from reference_merger import merge, tensorflow_order

from shardwright.serialization.fields import FieldTagError, get_field_tag
from shardwright.serialization.protos import chunk_pb2, graph_pb2, versions_pb2
from shardwright.serialization.splitting import (
    ComposableSplitter,
    GraphDefSplitter,
    MessageSplitter,
    SplitError,
    Splitter,
    default_sizes,
    register_splitter,
    splitter_for,
)
from shardwright.serialization.splitting.sizes import measure
from shardwright.serialization.wire import varint

Strings = graph_pb2.NodeDef.ExperimentalDebugInfo
NAMES = "original_node_names"


class RepeatedStringSplitter(ComposableSplitter):
    """As in TensorFlow's test: each string of a list becomes a chunk, and is taken out of the message."""

    def __init__(self, proto, **kwargs) -> None:
        if not isinstance(proto, Strings):
            raise TypeError("Can only split RepeatedString type protos")
        super().__init__(proto, proto_as_initial_chunk=not proto.original_node_names, **kwargs)

    def build_chunks(self) -> None:
        for number, text in enumerate(self._proto.original_node_names):
            self.add_chunk(bytes(text, encoding="utf-8"), [NAMES, number])
        self._proto.ClearField(NAMES)


class NoOpSplitter(ComposableSplitter):
    def build_chunks(self) -> None:
        pass


def test_strings_of_a_list() -> None:
    chunks, chunked = RepeatedStringSplitter(Strings()).split()
    assert chunks == [Strings()]
    assert chunked == chunk_pb2.ChunkedMessage(chunk_index=0)
    chunks, chunked = RepeatedStringSplitter(Strings(original_node_names=["a", "b", "c"])).split()
    assert chunks == [b"a", b"b", b"c"]
    assert not chunked.HasField("chunk_index")
    assert [field.message.chunk_index for field in chunked.chunked_fields] == [0, 1, 2]


def test_children_hand_their_chunks_to_the_parent() -> None:
    graph = graph_pb2.GraphDef(node=[{"name": "a"}, {"name": "b"}])
    for node, names in zip(graph.node, (["a", "b", "c"], ["d", "e"]), strict=True):
        node.experimental_debug_info.original_node_names.extend(names)
    splitter = NoOpSplitter(graph)
    assert len(splitter.split()[0]) == 1
    splitter.add_chunk("", [])
    assert len(splitter.split()[0]) == 2
    for number, count in ((0, 5), (1, 7)):
        way = ["node", number, "experimental_debug_info"]
        child = RepeatedStringSplitter(
            graph.node[number].experimental_debug_info, parent_splitter=splitter, fields_in_parent=way
        )
        child.build_chunks()
        assert len(splitter.split()[0]) == count
    tags = [list(field.field_tag) for field in splitter.split()[1].chunked_fields]
    assert tags[4] == get_field_tag(graph, ["node", 1, "experimental_debug_info", NAMES, 0])
    with pytest.raises(ValueError, match=" `split` method should not be called directly") as found:
        child.split()
    assert found.value.code == "SW0815"
    with pytest.raises(ValueError, match=" `write` method should not be called directly"):
        child.write("anything")


def test_grandchildren_and_ways_of_every_form() -> None:
    graph = graph_pb2.GraphDef()
    graph.library.function.add().node_def.add(name="n")
    root = NoOpSplitter(graph)
    library = NoOpSplitter(graph.library, parent_splitter=root, fields_in_parent="library")
    function = NoOpSplitter(graph.library.function[0], parent_splitter=library, fields_in_parent=("function", 0))
    function.add_chunk(b"name", ["node_def", 0, "name"])
    (field,) = root.split()[1].chunked_fields
    assert list(field.field_tag) == get_field_tag(graph, ["library", "function", 0, "node_def", 0, "name"])


def test_an_index_inserts_and_renumbers() -> None:
    splitter = NoOpSplitter(graph_pb2.GraphDef(node=[{}, {}]))
    splitter.add_chunk(b"1", ["node", 0, "name"])
    splitter.add_chunk(b"2", ["node", 1, "name"])
    splitter.add_chunk(graph_pb2.FunctionDefLibrary(), ["library"], index=1)
    splitter.add_chunk(graph_pb2.VersionDef(producer=7), ["versions"], index=0)
    chunks, chunked = splitter.split()
    assert [type(chunk).__name__ for chunk in chunks] == [
        "VersionDef",
        "GraphDef",
        "FunctionDefLibrary",
        "bytes",
        "bytes",
    ]
    assert chunked.chunk_index == 1
    assert [field.message.chunk_index for field in chunked.chunked_fields] == [0, 2, 3, 4]
    assert merge(chunks, chunked, graph_pb2.GraphDef()).versions.producer == 7
    for index in (-1, 6, True, "1"):
        with pytest.raises(SplitError, match="SW0818"):
            splitter.add_chunk(b"", ["node", 0, "name"], index)


def test_what_is_inside_of_a_maps_value_goes_below_it() -> None:
    message = Every()
    splitter = NoOpSplitter(message)
    splitter.add_chunk(Every(one_int32=3), ["map_string_every", "a"])
    splitter.add_chunk(Every(one_int64=4), ["map_string_every", "a"])
    splitter.add_chunk(b"inside", ["map_string_every", "a", "one_bytes"])
    splitter.add_chunk(b"other", ["map_string_every", "b", "one_bytes"])
    chunks, chunked = splitter.split()
    tensorflow_order(chunked)
    assert len(chunked.chunked_fields) == 2
    merged = merge(chunks, chunked, Every())
    expected = Every(one_int32=3, one_int64=4, one_bytes=b"inside")
    assert merged.map_string_every["a"] == expected
    assert merged.map_string_every["b"].one_bytes == b"other"


def test_what_is_inside_of_a_group_goes_below_it() -> None:
    splitter = NoOpSplitter(Old(must_int=1, must_bytes=b""))
    splitter.add_chunk(Old(must_int=5), ["groupone", "old"])
    splitter.add_chunk(b"content", ["groupone", "bytes"])
    chunks, chunked = splitter.split()
    (field,) = chunked.chunked_fields
    assert len(field.field_tag) == 1
    merged = merge(chunks, chunked, Old())
    assert merged.groupone.old.must_int == 5
    assert merged.groupone.bytes == b"content"


def test_wrong_places_and_chunks() -> None:
    splitter = NoOpSplitter(graph_pb2.GraphDef())
    with pytest.raises(FieldTagError, match="SW0811"):
        splitter.add_chunk(b"", ["nodes"])
    with pytest.raises(FieldTagError, match="SW0812"):
        splitter.add_chunk(b"", ["node", "name"])
    for chunk in (None, 5, ["a"]):
        with pytest.raises(TypeError, match="SW0816"):
            splitter.add_chunk(chunk, [])
    assert len(splitter.split()[0]) == 1


def test_versions() -> None:
    assert NoOpSplitter(graph_pb2.GraphDef()).version_def == versions_pb2.VersionDef(splitter_version=1)
    with pytest.raises(TypeError):
        Splitter()


def test_chunks_that_a_subclass_makes_itself() -> None:
    class Own(ComposableSplitter):
        def build_chunks(self) -> None:
            self._chunks.append(graph_pb2.GraphDef(node=[{"name": "b"}]))
            self._chunked_message.chunked_fields.add().message.chunk_index = 1

    chunks, chunked = Own(graph_pb2.GraphDef(node=[{"name": "a"}])).split()
    assert [node.name for node in merge(chunks, chunked, graph_pb2.GraphDef()).node] == ["a", "b"]


def test_sizes_of_chunks() -> None:
    graph = graph_pb2.GraphDef(node=[{"name": "x" * 30} for _ in range(20)])
    assert measure(graph, 1 << 20) == 20 * 34
    with default_sizes(max_size=300):
        splitter = GraphDefSplitter(graph)
        with default_sizes(chunk_size=100):
            assert len(GraphDefSplitter(graph).split()[0]) == 10
        assert len(MessageSplitter(graph, max_size=10_000).split()[0]) == 1
    assert len(splitter.split()[0]) == 3
    assert len(GraphDefSplitter(graph).split()[0]) == 1
    assert len(GraphDefSplitter(graph, max_size=600, chunk_size=110).split()[0]) == 7
    for wrong in ({"max_size": 0}, {"max_size": 1 << 31}, {"chunk_size": -1}, {"chunk_size": 1.5}, {"max_size": True}):
        with pytest.raises(SplitError, match="SW0818"):
            GraphDefSplitter(graph, **wrong)


def test_a_message_as_large_as_a_chunk_is_not_split() -> None:
    graph = graph_pb2.GraphDef(node=[{"name": "x" * 50} for _ in range(20)])
    assert len(MessageSplitter(graph, max_size=graph.ByteSize()).split()[0]) == 1
    assert len(MessageSplitter(graph, max_size=graph.ByteSize() - 1).split()[0]) == 2


@pytest.mark.parametrize(
    ("message", "path"),
    [
        (Every(many_string=["a", "x" * 500]), "many_string[1]"),
        (Every(map_int32_string={3: "x" * 500}), "map_int32_string[3]"),
        (Every(many_every=[Every(), Every(many_bytes=[bytes(300)])]), "many_every[1].many_bytes[0]"),
        (Every(map_string_every={"k" * 300: Every(one_bytes=bytes(100))}), 'map_string_every["kk'),
    ],
)
def test_what_fits_into_no_chunk_is_named(message, path) -> None:
    with pytest.raises(SplitError, match="SW0813") as found:
        MessageSplitter(message, max_size=200).split()
    assert found.value.path.startswith(path)
    assert "200" in str(found.value)


def test_chunks_below_many_groups() -> None:
    def nested(levels):
        message = inner = Old(must_int=1, must_bytes=b"")
        for _ in range(levels):
            inner = inner.groupone.old
            inner.must_int = 1
            inner.must_bytes = bytes(50)
        return message

    chunks, chunked = MessageSplitter(nested(45), max_size=100).split()
    chunk_pb2.ChunkMetadata.FromString(chunk_pb2.ChunkMetadata(message=chunked).SerializeToString())
    assert merge(chunks, chunked, Old()) == nested(45)
    with pytest.raises(SplitError, match="SW0814"):
        MessageSplitter(nested(50), max_size=100).split()


def test_bytes_that_protobuf_does_not_hold_are_named(monkeypatch) -> None:
    """Two GiB, which are too much for a test, are made a thousand bytes."""
    monkeypatch.setattr("shardwright.serialization.splitting.plan.MOST", 1000)
    message = Every(many_every=[Every(), Every(one_bytes=bytes(1001))])
    with pytest.raises(SplitError, match="SW0813") as found:
        MessageSplitter(message, max_size=500).split()
    assert found.value.path == "many_every[1].one_bytes"
    message.many_every[1].one_bytes = bytes(1000)
    assert bytes(1000) in MessageSplitter(message, max_size=500).split()[0]


def test_nesting_that_protobuf_does_not_read() -> None:
    message = inner = graph_pb2.FullTypeDef()
    for _ in range(300):
        inner = inner.args.add()
    with pytest.raises(SplitError, match="SW0814"):
        MessageSplitter(message, max_size=100).split()


def test_a_required_field_that_is_missing(tmp_path) -> None:
    message = Old(must_int=1, closed=[7] * 300)
    for max_size in (100, 10_000):
        with pytest.raises(SplitError, match=r"SW0817.*must_bytes"):
            MessageSplitter(message, max_size=max_size).write(tmp_path / "x")
    assert list(tmp_path.iterdir()) == []
    chunks, _ = MessageSplitter(message, max_size=100).split()
    assert len(chunks) == 10


def test_a_message_that_is_changed_while_it_is_split(tmp_path) -> None:
    graph = graph_pb2.GraphDef(node=[{"name": f"node{number}"} for number in range(100)])

    class Changing(MessageSplitter):
        def build_chunks(self) -> int:
            done = super().build_chunks()
            self._proto.node[80].name = "longer than before"
            return done

    with pytest.raises(SplitError, match="SW0817"):
        Changing(graph, max_size=300).write(tmp_path / "x")
    assert list(tmp_path.iterdir()) == []


def field_bytes(number, data) -> bytes:
    return varint(number << 3 | 2) + varint(len(data)) + data


def test_text_of_proto2_that_is_not_utf8() -> None:
    numbers = {field.name: field.number for field in Old.DESCRIPTOR.fields}
    message = Old(must_int=1, must_bytes=b"", closed=[7] * 300)
    message.MergeFromString(field_bytes(numbers["with_default"], b"\xff" * 200))
    chunks, chunked = MessageSplitter(message, max_size=300).split()
    assert not any(isinstance(chunk, bytes) for chunk in chunks)
    assert merge(chunks, chunked, Old()).SerializeToString() == message.SerializeToString()
    with pytest.raises(SplitError, match="SW0813"):
        MessageSplitter(message, max_size=150).split()
    entry = field_bytes(1, b"\xff") + field_bytes(2, Old(must_int=1, must_bytes=b"").SerializeToString())
    message.MergeFromString(field_bytes(numbers["map_string_old"], entry))
    with pytest.raises(SplitError, match="SW0817"):
        MessageSplitter(message, max_size=300).split()


def test_chunks_are_made_once() -> None:
    graph = graph_pb2.GraphDef(node=[{"name": f"node{number}"} for number in range(100)])
    splitter = GraphDefSplitter(graph, max_size=500)
    taken = splitter.build_chunks()
    chunks, chunked = splitter.split()
    assert splitter.build_chunks() == taken == sum(chunk.ByteSize() for chunk in chunks[1:])
    assert splitter.split() == (chunks, chunked)
    assert merge(chunks, chunked, graph_pb2.GraphDef()) == graph


def test_a_plan_without_the_message_as_its_first_chunk() -> None:
    graph = graph_pb2.GraphDef(node=[{"name": f"node{number}"} for number in range(100)])
    chunks, chunked = GraphDefSplitter(graph, proto_as_initial_chunk=False, max_size=500).split()
    assert not chunked.HasField("chunk_index")
    assert merge(chunks, chunked, graph_pb2.GraphDef()) == graph


def test_a_splitter_needs_a_message() -> None:
    for wrong in (None, b"", graph_pb2.GraphDef, {}):
        for kind in (MessageSplitter, GraphDefSplitter, NoOpSplitter, splitter_for):
            with pytest.raises(TypeError, match="SW0816"):
                kind(wrong)


def test_registered_splitters() -> None:
    class Mine(MessageSplitter):
        pass

    assert type(splitter_for(graph_pb2.OpList())) is MessageSplitter
    register_splitter(graph_pb2.RegisteredGradient, Mine)
    splitter = splitter_for(graph_pb2.RegisteredGradient(), max_size=50)
    assert type(splitter) is Mine
    for wrong in ((graph_pb2.OpList(), Mine), (graph_pb2.OpList, Mine(graph_pb2.OpList())), (graph_pb2.OpList, dict)):
        with pytest.raises(TypeError, match="SW0816"):
            register_splitter(*wrong)


def test_large_extensions_have_a_way_that_ours_can_go() -> None:
    message = Old(must_int=1, must_bytes=b"")
    message.Extensions[EXTENSIONS[2]] = bytes(1000)
    inner = message.Extensions[EXTENSIONS[0]]
    inner.must_int = 2
    inner.must_bytes = bytes(900)
    inner.old.add(must_int=3, must_bytes=bytes(10))
    chunks, chunked = MessageSplitter(message, max_size=300).split()
    assert merge(chunks, chunked, Old()) == message
    small, _ = MessageSplitter(message, max_size=1500).split()
    assert all(not isinstance(chunk, bytes) for chunk in small)


@pytest.mark.parametrize("key", [2**31, -(2**31) - 1, 2**63 - 1])
def test_keys_that_tensorflow_cuts_off_stay_in_the_map_where_that_can_be(key) -> None:
    message = Every(one_int32=1, many_int32=range(900))
    message.map_int64_every[key].one_bytes = bytes(400)
    message.map_int64_every[5].one_bytes = bytes(400)
    chunks, chunked = MessageSplitter(message, max_size=900).split()
    keys = [tag.map_key.i64 for field in chunked.chunked_fields for tag in field.field_tag if tag.HasField("map_key")]
    assert keys == [5]
    assert merge(chunks, chunked, Every()) == message
    chunks, chunked = MessageSplitter(message, max_size=300).split()
    assert merge(chunks, chunked, Every()) == message
