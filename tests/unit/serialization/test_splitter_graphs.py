"""Graphs and SavedModels: the chunks that TensorFlow's tests expect, and none of its splitter's faults."""

from itertools import chain

import pytest
from graph_cases import graph_of_constants
from reference_merger import merge, tensorflow_order

from shardwright.serialization.fields import get_field_tag
from shardwright.serialization.protos import chunk_pb2, graph_pb2, saved_model_pb2
from shardwright.serialization.splitting import (
    ConstantNodeDefSplitter,
    FunctionDefLibrarySplitter,
    FunctionDefSplitter,
    GraphDefSplitter,
    RepeatedMessageSplitter,
    SavedModelSplitter,
    SplitError,
    SplitTypeError,
    default_sizes,
    splitter_for,
)
from shardwright.serialization.splitting.splitter import ComposableSplitter


def split(message, max_size, kind=None):
    """The chunks of a message, after all that must hold for any split was checked."""
    before = message.SerializeToString(deterministic=True)
    with default_sizes(max_size=max_size):
        splitter = kind(message) if kind else splitter_for(message)
    chunks, chunked = splitter.split()
    for chunk in chunks:
        assert isinstance(chunk, bytes) or chunk.ByteSize() <= max_size
    assert message.SerializeToString(deterministic=True) == before
    assert merge(chunks, chunked, type(message)()).SerializeToString(deterministic=True) == before
    tensorflow_order(chunked)
    return chunks, chunked


def test_no_chunks() -> None:
    graph = graph_of_constants([50, 100, 50, 50, 100])
    chunks, chunked = split(graph, 500, GraphDefSplitter)
    assert chunks == [graph]
    assert chunked == chunk_pb2.ChunkedMessage(chunk_index=0)


def test_large_constants() -> None:
    graph = graph_of_constants([50, 50, 1000, 50, 1000])
    chunks, chunked = split(graph, 500, GraphDefSplitter)
    assert [type(chunk) for chunk in chunks] == [graph_pb2.GraphDef, bytes, bytes]
    for place, (number, field) in enumerate(zip((2, 4), chunked.chunked_fields, strict=True), 1):
        assert chunks[place] == graph.node[number].attr["value"].tensor.tensor_content
        assert field.message == chunk_pb2.ChunkedMessage(chunk_index=place)
        way = ["node", number, "attr", "value", "tensor", "tensor_content"]
        assert list(field.field_tag) == get_field_tag(graph, way)


def test_lots_of_nodes() -> None:
    graph = graph_of_constants([95] * 15)
    chunks, chunked = split(graph, 500, GraphDefSplitter)
    assert [len(chunk.node) for chunk in chunks] == [5, 5, 5]
    assert list(chain.from_iterable(chunk.node for chunk in chunks)) == list(graph.node)
    assert [(field.message.chunk_index, list(field.field_tag)) for field in chunked.chunked_fields] == [
        (1, []),
        (2, []),
    ]


def test_large_nodes() -> None:
    graph = graph_of_constants([50, 95, 95, 95, 50, 95])
    chunks, chunked = split(graph, 200, GraphDefSplitter)
    assert chunks[1:] == [graph.node[number] for number in (1, 2, 3, 5)]
    assert [node.ByteSize() for node in chunks[0].node] == [
        graph.node[0].ByteSize(),
        0,
        0,
        0,
        graph.node[4].ByteSize(),
        0,
    ]
    expected = [get_field_tag(graph, ["node", number]) for number in (1, 2, 3, 5)]
    assert [list(field.field_tag) for field in chunked.chunked_fields] == expected


def test_a_function_with_lots_of_nodes() -> None:
    graph = graph_of_constants([], fn=[50] * 5)
    chunks, chunked = split(graph, 200, GraphDefSplitter)
    assert [type(chunk) for chunk in chunks] == [graph_pb2.GraphDef, graph_pb2.FunctionDef]
    (function,) = graph.library.function
    assert [*chunks[0].library.function[0].node_def, *chunks[1].node_def] == list(function.node_def)
    expected = chunk_pb2.ChunkedMessage(chunk_index=0)
    field = expected.chunked_fields.add(field_tag=get_field_tag(graph, ["library", "function", 0]))
    field.message.chunk_index = 1
    assert chunked == expected


def test_a_function_with_large_nodes() -> None:
    graph = graph_of_constants([], fn=[500, 500, 50, 500])
    chunks, _ = split(graph, 200, GraphDefSplitter)
    nodes = graph.library.function[0].node_def
    assert isinstance(chunks[0], graph_pb2.GraphDef)
    assert chunks[1:] == [nodes[number].attr["value"].tensor.tensor_content for number in (0, 1, 3)]


def test_a_graph_and_functions() -> None:
    graph = graph_of_constants([50] * 6, fn1=[50] * 3, fn2=[50], fn3=[50], fn4=[50])
    chunks, _ = split(graph, 200, GraphDefSplitter)
    kinds = [graph_pb2.GraphDef, graph_pb2.GraphDef, graph_pb2.FunctionDefLibrary, graph_pb2.FunctionDef]
    assert [type(chunk) for chunk in chunks] == kinds


def test_a_saved_model() -> None:
    functions = {"fn1": [100, 100, 100], "fn2": [100, 500], "fn3": [100], "fn4": [100, 100]}
    model = saved_model_pb2.SavedModel()
    model.meta_graphs.add().graph_def.CopyFrom(
        graph_of_constants([100, 100, 1000, 100, 1000, 500, 100, 100, 100], **functions)
    )
    split(model, 500, SavedModelSplitter)


def test_ten_functions_a_little_larger_than_a_chunk() -> None:
    graph = graph_of_constants([], **{f"fn{number}": [100] * 21 for number in range(10)})
    chunks, _ = split(graph, 2000)
    assert len(chunks) <= 22


def test_two_meta_graphs_object_graphs_and_collections() -> None:
    model = saved_model_pb2.SavedModel(saved_model_schema_version=1)
    for _ in range(2):
        meta = model.meta_graphs.add()
        meta.meta_info_def.tags.append("serve")
        meta.graph_def.CopyFrom(graph_of_constants([100] * 30, fn=[700]))
        for number in range(40):
            node = meta.object_graph_def.nodes.add()
            node.user_object.identifier = f"an object {number}"
            meta.object_graph_def.concrete_functions[f"f{number}"].bound_inputs.extend(range(30))
        meta.collection_def["names"].node_list.value.extend(f"a name {number}" for number in range(60))
        meta.collection_def["bytes"].bytes_list.value.extend(bytes(20) for _ in range(60))
        meta.collection_def["numbers"].int64_list.value.extend(range(2000))
        meta.collection_def["floats"].float_list.value.extend(range(400))
        meta.signature_def["serve"].inputs["x"].name = "x:0"
    split(model, 500, SavedModelSplitter)


def test_five_thousand_tiny_nodes() -> None:
    graph = graph_pb2.GraphDef(node=[{"name": f"n{number}"} for number in range(5000)])
    chunks, _ = split(graph, 1000)
    assert sum(len(chunk.node) for chunk in chunks) == 5000
    assert not any(chunk.HasField("library") for chunk in chunks)
    assert min(chunk.ByteSize() for chunk in chunks[:-1]) > 980


def constant(**fields):
    graph = graph_pb2.GraphDef(node=[{"name": "before"}, {"name": "c", "op": "Const"}, {"name": "after"}])
    graph.node[1].attr["value"].tensor.CopyFrom(graph_pb2.TensorProto(**fields))
    return graph


@pytest.mark.parametrize(
    "fields",
    [
        {"dtype": 7, "string_val": [b"text %d" % number for number in range(200)]},
        {"dtype": 1, "float_val": [number / 2 for number in range(1000)]},
        {"dtype": 3, "int_val": range(-500, 500)},
        {"dtype": 8, "scomplex_val": [0.5] * 700},
        {"dtype": 9, "int64_val": [2**62 - number for number in range(500)], "version_number": 3},
        {"dtype": 10, "bool_val": [True, False] * 2000},
        {"dtype": 21, "variant_val": [{"type_name": "t", "metadata": bytes(150)} for _ in range(10)]},
        {"dtype": 1, "tensor_content": bytes(3000), "float_val": [1.0]},
    ],
)
def test_constants_of_every_form_come_back_as_they_were(fields) -> None:
    chunks, _ = split(constant(**fields), 500)
    assert len(chunks) > 1


def test_nodes_that_are_no_constants_are_split_as_well() -> None:
    graph = graph_pb2.GraphDef(node=[{"name": "x", "op": "Big", "input": [f"input {number}" for number in range(200)]}])
    for number in range(50):
        graph.node[0].attr[f"attr{number}"].list.i.extend(range(40))
    shapes = graph.node[0].attr["large"].list.shape
    shapes.extend(graph_pb2.TensorShapeProto(dim=[{"size": 8}, {"size": 9}]) for _ in range(200))
    graph.node.add(op="Const")
    split(graph, 400)


def test_empty_messages() -> None:
    split(saved_model_pb2.SavedModel(), 1)
    split(graph_pb2.GraphDef(), 1)
    split(graph_pb2.GraphDef(node=[{"name": "n" * 600, "op": "Const"}, {"op": "Const"}]), 100)
    with pytest.raises(SplitError, match="saved_model_schema_version"):
        SavedModelSplitter(saved_model_pb2.SavedModel(saved_model_schema_version=1), max_size=1).split()


def test_parts_of_graphs() -> None:
    graph = graph_of_constants([], fn1=[100] * 10, fn2=[2000, 100])
    split(graph.library, 300, FunctionDefLibrarySplitter)
    split(graph.library.function[1], 300, FunctionDefSplitter)
    chunks, _ = split(graph.library.function[1].node_def[0], 300, ConstantNodeDefSplitter)
    assert chunks[1:] == [graph.library.function[1].node_def[0].attr["value"].tensor.tensor_content]


def test_one_list_of_a_message() -> None:
    graph = graph_of_constants([60] * 20, fn1=[60] * 3, fn2=[60] * 9)
    chunks, _ = split(graph, 1500, lambda graph: RepeatedMessageSplitter(graph, "node"))
    assert chunks[0].library == graph.library
    with pytest.raises(SplitError, match="SW0812"):
        RepeatedMessageSplitter(graph, "library")
    with pytest.raises(SplitError, match="SW0813"):
        RepeatedMessageSplitter(graph, "node", max_size=300).split()
    inside = RepeatedMessageSplitter(graph, ["library", "function"], max_size=400)
    chunks, chunked = inside.split()
    assert merge(chunks, chunked, graph_pb2.GraphDef()) == graph
    assert chunks[0].node == graph.node


def test_other_types_are_refused() -> None:
    for kind in (GraphDefSplitter, SavedModelSplitter, FunctionDefSplitter, ConstantNodeDefSplitter):
        with pytest.raises(TypeError, match="SW0816") as found:
            kind(graph_pb2.OpList())
        assert isinstance(found.value, SplitTypeError)
    assert type(splitter_for(graph_pb2.GraphDef())) is GraphDefSplitter
    assert type(splitter_for(saved_model_pb2.SavedModel())) is SavedModelSplitter


class Outer(ComposableSplitter):
    """A splitter like TensorFlow's for SavedModels: a child's chunks, then the whole graph before them."""

    def build_chunks(self) -> None:
        graph = self._proto.meta_graphs[0].graph_def
        way = ["meta_graphs", 0, "graph_def"]
        GraphDefSplitter(graph, parent_splitter=self, fields_in_parent=way).build_chunks()
        if self.apart:
            self.add_chunk(graph, way, index=1)
            self._proto.meta_graphs[0].ClearField("graph_def")


@pytest.mark.parametrize("apart", [False, True])
def test_a_parent_of_its_own_gets_the_chunks(apart) -> None:
    model = saved_model_pb2.SavedModel(saved_model_schema_version=3)
    model.meta_graphs.add().graph_def.CopyFrom(graph_of_constants([50, 1000] + [50] * 30, fn=[60] * 20))
    model.meta_graphs.add()
    before = model.SerializeToString(deterministic=True)
    splitter = Outer(model, max_size=500)
    splitter.apart = apart
    chunks, chunked = splitter.split()
    assert all(isinstance(chunk, bytes) or chunk.ByteSize() <= 520 for chunk in chunks)
    assert chunks[0].saved_model_schema_version == 3
    assert isinstance(chunks[1], graph_pb2.GraphDef)
    assert merge(chunks, chunked, saved_model_pb2.SavedModel()).SerializeToString(deterministic=True) == before
    assert (model.SerializeToString(deterministic=True) == before) is not apart
