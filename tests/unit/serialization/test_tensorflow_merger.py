"""What TensorFlow's merger makes of our chunks, by a model of it, and what the model itself does."""

from pathlib import Path
from random import Random

import pytest
from chunk_cases import Many, Node, tree
from every_field import EXTENSIONS, Every, Old
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.descriptor import FieldDescriptor as F
from google.protobuf.unknown_fields import UnknownFieldSet
from graph_cases import full_saved_model, graph_of_constants
from graph_splitters import StrangersGraphSplitter
from ir_cases import lit_modules
from tensorflow_merger import Abort, merge, read, records_of, same

from shardwright.serialization.ir.proto import module_to_proto
from shardwright.serialization.ir.splitter import IrSplitter
from shardwright.serialization.merging import MergeError, Merger
from shardwright.serialization.protos import chunk_pb2, graph_pb2, saved_model_pb2
from shardwright.serialization.riegeli import RecordReader
from shardwright.serialization.splitting import ComposableSplitter, MessageSplitter, default_sizes, splitter_for

FROZEN = Path(__file__).parents[2] / "data" / "graphs" / "frozen.pb"


def judge(splitter, message) -> list:
    """TensorFlow's merger makes the message of the chunks, in any order that its sort may give."""
    chunks, chunked = splitter.split()
    for random in (None, Random(1), Random(2)):
        assert same(read(records_of(chunks), chunked, type(message)(), random), message)
    if not any(isinstance(chunk, bytes) for chunk in chunks):
        assert same(merge(chunks, chunked, type(message)()), message)
    return list(chunks)


def from_file(path, message):
    """A file as TensorFlow reads it: the last record, and the others by the offsets that it gives."""
    with RecordReader(path) as reader:
        metadata = chunk_pb2.ChunkMetadata.FromString(reader.last() or b"")
        records = [reader.read(chunk.offset) for chunk in metadata.chunks]
        assert [len(record) for record in records] == [chunk.size for chunk in metadata.chunks]
    return read([bytes(record) for record in records], metadata.message, message)


# What the model does, as TensorFlow's sources and the measured facts have it.


@pytest.mark.parametrize("order", [False, True])
def test_trees_of_chunked_messages(order) -> None:
    inner = [([2, [0]], tree(2, ([2, [0]], 3))), ([2, [1]], 4)]
    chunked = tree(0, ([2, [0]], tree(1, *(inner[::-1] if order else inner))))
    chunks = [Node(text=text) for text in ("0", "010", "01020", "0102030", "01021")]
    merged = read(records_of(chunks), chunked, Node())
    assert merged.nodes[0].nodes[0].nodes[0].text == "0102030"
    assert merged.nodes[0].nodes[1].text == "01021"
    if order:
        with pytest.raises(Abort, match="gap"):  # in memory nothing is sorted
            merge(chunks, chunked, Node())
    else:
        assert merge(chunks, chunked, Node()) == merged


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ([99999], "not found in message descriptor"),
        ([4, [0]], "a list of values"),
        ([4], "a whole list"),
        ([2], "a whole list"),
        ([2, [1]], "a gap"),
        ([30, {"ui32": 1}], "a map of values"),
        ([36, {"s": "a"}], "a map of values"),
        ([1, [0]], "no list"),
        ([[0]], "belongs to no field"),
        ([2, [0], [0]], "belongs to no field"),
        ([33, {"s": "a"}, 9, {"s": "a"}], "no list"),
        ([35, {"i64": 1 << 31}, 4, [0]], "a list of values"),
    ],
)
def test_what_ends_the_process_or_is_an_error(path, reason) -> None:
    with pytest.raises(Abort, match=reason):
        read([b"", b""], tree(0, (path, 1)), Many())


def test_what_is_read_wrongly() -> None:
    one, two = Many(text="1").SerializeToString(), Many(text="2").SerializeToString()
    assert read([b"a", b"b"], tree(None, ([10], 0), ([10], 1)), Many()).data == b"b"
    below = chunk_pb2.ChunkedField(message=tree(0, ([10], 1)))
    assert not read([b"", b"b"], chunk_pb2.ChunkedMessage(chunked_fields=[below]), Many()).data
    wide = read([one], tree(None, ([35, {"i64": 1 << 31}], 0)), Many())
    assert list(wide.map_sfixed64_many) == [-(1 << 31)]
    keys = read([one, two], tree(None, ([32, {"boolean": True}], 0), ([33, {"s": "a"}], 1)), Many())
    assert keys.map_bool_many[True].text == "1"
    assert keys.map_string_many["a"].text == "2"


def test_chunks_that_are_no_messages() -> None:
    with pytest.raises(Abort, match="bytes"):
        merge([Many(), b"text"], tree(0, ([10], 1)), Many())
    with pytest.raises(Abort, match="types"):
        merge([Node()], tree(0), Many())
    with pytest.raises(Abort, match="no such chunk"):
        read([b""], tree(1), Many())
    with pytest.raises(Abort):
        read([b"\xff"], tree(0), Many())
    with pytest.raises(Abort, match="required"):
        read([b""], tree(0), Old())


def test_a_group_is_not_walked_into() -> None:
    number = Old.DESCRIPTOR.fields_by_name["groupone"].number
    whole = Old(must_int=1, must_bytes=b"").SerializeToString()
    with pytest.raises(Abort, match="not found"):
        read([whole, b"x"], tree(0, ([number, 99], 1)), Old())
    inside = read([whole, b"", b"x"], tree(0, ([number], tree(1, ([1], 2)))), Old())
    assert inside.groupone.bytes == b"x"


# What it makes of ours.


@pytest.mark.every(2)
@pytest.mark.parametrize(
    ("sizes", "functions", "max_size"),
    [
        ([50, 100, 50, 50, 100], {}, 500),
        ([50, 50, 1000, 50, 1000], {}, 500),
        ([95] * 15, {}, 500),
        ([50, 95, 95, 95, 50, 95], {}, 200),
        ([], {"fn": [50] * 5}, 200),
        ([], {"fn": [500, 500, 50, 500]}, 200),
        ([50] * 6, {"fn1": [50] * 3, "fn2": [50], "fn3": [50], "fn4": [50]}, 200),
        ([], {f"fn{number}": [100] * 21 for number in range(10)}, 2000),
        ([], {f"fn{number}": [40] for number in range(200)}, 300),
        ([3000] * 30, {f"fn{number}": [90, 3000, 60] * 9 for number in range(9)}, 700),
    ],
)
def test_graphs_and_saved_models(sizes, functions, max_size, tmp_path) -> None:
    graph = graph_of_constants(sizes, **functions)
    judge(splitter_for(graph, max_size=max_size), graph)
    model = saved_model_pb2.SavedModel(saved_model_schema_version=1)
    for _ in range(3):
        model.meta_graphs.add().graph_def.CopyFrom(graph)
    judge(splitter_for(model, max_size=max_size), model)
    path = splitter_for(model, max_size=max_size).write(tmp_path / "saved_model")
    assert same(from_file(path, saved_model_pb2.SavedModel()), model)


@pytest.mark.every(2)
@pytest.mark.parametrize("max_size", [200, 500, 3000, 100_000])
def test_saved_models_with_everything(max_size) -> None:
    model = full_saved_model()
    judge(splitter_for(model, max_size=max_size), model)
    judge(MessageSplitter(model, max_size=max_size, chunk_size=180), model)


def test_a_graph_of_tensorflow() -> None:
    graph = graph_pb2.GraphDef.FromString(FROZEN.read_bytes())
    for max_size in (300, 1000, 5000):
        judge(splitter_for(graph, max_size=max_size), graph)


def test_programs() -> None:
    modules = [module for _, module in lit_modules("")][::12]
    assert len(modules) > 5
    for module in modules:
        message = module_to_proto(module)
        size = message.ByteSize()
        judge(IrSplitter(module, max_size=max(300, size // 2)), message)
        judge(MessageSplitter(message, max_size=max(300, size // 7)), message)


@pytest.mark.parametrize("name", sorted(kind.name for kind in Every.DESCRIPTOR.fields if kind.name[:4] == "map_"))
def test_maps_of_every_key(name) -> None:
    """Keys of up to 32 bits, those without a sign too, may name an entry."""
    field = Every.DESCRIPTOR.fields_by_name[name].message_type
    key, value = field.fields_by_number[1], field.fields_by_number[2]
    keys = {
        "string": ["", "a", "é", "1", "true"],
        "bool": [False, True],
        "uint32": [0, 7, 2**32 - 1, 2**31],
        "fixed32": [0, 2**32 - 1],
        "uint64": [0, 2**31 - 1],
        "fixed64": [0, 2**31 - 1],
    }.get(name.split("_")[1], [0, 5, -1, 2**31 - 1, -(2**31)])
    message = Every(one_int32=1)
    for each in keys:
        if value.message_type is None:
            kinds = {value.TYPE_STRING: "é" * 60, value.TYPE_BYTES: bytes(100)}
            getattr(message, name)[each] = kinds.get(value.type, -5 if value.enum_type else 2.5)
        else:
            inner = getattr(message, name)[each]
            inner.one_bytes = bytes(400)
            inner.many_every.add(many_int32=range(-300, 300))
            inner.many_every.add(one_every={"one_string": "x" * 300})
    assert key.number == 1
    judge(MessageSplitter(message, max_size=250), message)


def test_messages_with_required_fields() -> None:
    def old(size):
        return Old(must_int=-1, must_bytes=bytes(size))

    message = old(90)
    message.old.extend(old(150) for _ in range(20))
    message.old[3].closed.extend([7, -7] * 400)
    message.old[3].one_old.CopyFrom(old(170))
    message.old[3].one_old.with_default = "x" * 900
    message.map_string_old["a"].CopyFrom(message.old[3])
    message.groupone.old.CopyFrom(message.old[3])
    for group in (message.groupmany.add(), message.groupmany.add()):
        group.old.add().CopyFrom(message.old[3])
        group.bytes.extend([bytes(90)] * 5)
    for max_size in (300, 700, 2000):
        judge(MessageSplitter(message, max_size=max_size), message)
    judge(MessageSplitter(message, max_size=4000, chunk_size=100), message)


def test_extensions_that_have_room() -> None:
    message = Old(must_int=1, must_bytes=b"")
    message.Extensions[EXTENSIONS[2]] = bytes(400)
    for _ in range(10):
        message.Extensions[EXTENSIONS[1]].add(must_int=2, must_bytes=bytes(300))
    judge(MessageSplitter(message, max_size=450), message)


def too_wide():
    message = Every(one_int32=1)
    message.map_int64_every[1 << 40].many_int32.extend(range(300))
    return message


def too_large_an_extension():
    message = Old(must_int=1, must_bytes=b"")
    message.Extensions[EXTENSIONS[2]] = bytes(400)
    return message


def too_large_a_requirement():
    return Old(must_int=1, must_bytes=bytes(400))


@pytest.mark.parametrize("make", [too_wide, too_large_an_extension])
def test_what_tensorflow_cannot_read_ours_can(make) -> None:
    """The list in docs/serialization.md, item by item."""
    message = make()
    chunks, chunked = MessageSplitter(message, max_size=250).split()
    Merger.merge(chunks, chunked, merged := type(message)())
    assert same(merged, message)
    try:
        wrong = read(records_of(chunks), chunked, type(message)())
    except Abort:
        return
    assert not same(wrong, message)


def test_required_bytes_larger_than_a_chunk() -> None:
    message = too_large_a_requirement()
    judge(MessageSplitter(message, max_size=250), message)


# Splitters that others wrote for TensorFlow.


def test_a_graph_splitter_of_others(tmp_path) -> None:
    original = graph_of_constants([50, 1000, 120, 60, 70, 80, 90, 50, 130] * 3, fn1=[100] * 3, fn2=[40], fn3=[50])
    graph = graph_pb2.GraphDef()
    graph.CopyFrom(original)
    chunks = judge(StrangersGraphSplitter(graph), original)
    assert [type(chunk) for chunk in chunks[:2]] == [graph_pb2.GraphDef, graph_pb2.FunctionDefLibrary]
    assert bytes in map(type, chunks)
    graph.CopyFrom(original)
    path = StrangersGraphSplitter(graph).write(str(tmp_path / "graph"))
    assert path == str(tmp_path / "graph.cpb")
    assert from_file(path, graph_pb2.GraphDef()) == original
    Merger.read(path, merged := graph_pb2.GraphDef())
    assert merged == original


class LayerSplitter(ComposableSplitter):
    """TensorFlow's guide: the whole message is a chunk, in its own place."""

    def build_chunks(self) -> None:
        self.add_chunk(self._proto, [])


class GuideSplitter(ComposableSplitter):
    """TensorFlow's guide: no first chunk, every element by its own splitter."""

    def __init__(self, proto) -> None:
        super().__init__(proto, proto_as_initial_chunk=False)

    def build_chunks(self) -> None:
        for number, node in enumerate(self._proto.node):
            LayerSplitter(node, parent_splitter=self, fields_in_parent=["node", number]).build_chunks()


def test_the_splitter_of_the_guide(tmp_path) -> None:
    graph = graph_of_constants([50] * 25)
    assert judge(GuideSplitter(graph), graph) == list(graph.node)
    with default_sizes(max_size=100):
        path = GuideSplitter(graph).write(tmp_path / "graph")
    assert from_file(path, graph_pb2.GraphDef()) == graph


class TextsSplitter(ComposableSplitter):
    def build_chunks(self) -> None:
        for number, text in enumerate(self._proto.original_node_names):
            self.add_chunk(text.encode(), ["original_node_names", number])
        self._proto.ClearField("original_node_names")


def test_strings_of_a_list_which_only_ours_reads() -> None:
    """TensorFlow tests such a splitter, whose chunks its own merger cannot merge."""
    message = graph_pb2.NodeDef.ExperimentalDebugInfo(original_node_names=["a", "b"])
    chunks, chunked = TextsSplitter(message).split()
    with pytest.raises(Abort, match="list of values"):
        read(records_of(chunks), chunked, type(message)())
    Merger.merge(chunks, chunked, merged := type(message)())
    assert list(merged.original_node_names) == ["a", "b"]
    with pytest.raises(MergeError):
        Merger.merge(chunks[:1], chunked, type(message)())


# What riegeli sees of the file around the chunks.


def riegelis_metadata():
    """riegeli's own RecordsMetadata, with numbers from 1000 on for the extensions of others."""
    proto = descriptor_pb2.FileDescriptorProto(name="riegelis_metadata.proto", package="riegeli_case", syntax="proto2")
    kind = proto.message_type.add(name="RecordsMetadata")
    for number, name in ((1, "file_comment"), (2, "record_type_name"), (4, "record_writer_options")):
        kind.field.add(name=name, number=number, label=1, type=F.TYPE_STRING)
    kind.field.add(name="file_descriptor", number=3, label=3, type=F.TYPE_BYTES)
    kind.field.add(name="num_records", number=5, label=1, type=F.TYPE_INT64)
    kind.extension_range.add(start=1000, end=1 << 29)
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(proto.SerializeToString())
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("riegeli_case.RecordsMetadata"))


@pytest.mark.parametrize("options", ["uncompressed", "brotli:1", "zstd,transpose"])
def test_the_metadata_of_a_file_are_riegelis_with_an_extension(tmp_path, options) -> None:
    graph = graph_of_constants([60] * 200)
    path = splitter_for(graph, max_size=500).write(tmp_path / "graph", options)
    with RecordReader(path) as reader:
        chunks = list(reader.chunks())
        records = list(reader)
        data = bytes(reader.metadata or b"")
    kinds = [(bytes((header.kind,)), header.records) for _, header in chunks]
    assert kinds[:2] == [(b"s", 0), (b"m", 0)]
    assert sum(count for _, count in kinds) == len(records)
    about = riegelis_metadata().FromString(data)
    assert about.record_type_name == "shardwright.tensorflow.GraphDef"
    assert about.num_records == len(records)
    assert not about.file_descriptor
    assert [field.number for field, _ in about.ListFields()] == [2, 5]
    assert [field.field_number for field in UnknownFieldSet(about)] == [80811]
    assert about.SerializeToString() == data
