"""Places in messages: names, numbers, keys and indices; tags; text; and what is refused, by name."""

import pytest

from shardwright.serialization.fields import (
    FieldTagError,
    check_index,
    format_path,
    from_tags,
    get_field,
    get_field_tag,
    parse_path,
    resolve,
    to_tags,
)
from shardwright.serialization.protos import chunk_pb2, graph_pb2
from shardwright.serialization.protos.chunk_pb2 import FieldIndex

GRAPH = graph_pb2.GraphDef.DESCRIPTOR
FUNCTION = graph_pb2.FunctionDef.DESCRIPTOR
DEBUG = graph_pb2.GraphDebugInfo.DESCRIPTOR


def test_names_and_numbers_give_the_same_tags() -> None:
    by_name = get_field_tag(graph_pb2.GraphDef(), ["library", "function", 15, "arg_attr", 10, "attr", "a"])
    by_number = get_field_tag(graph_pb2.GraphDef(), (2, 1, 15, 7, 10, 1, "a"))
    expected = [
        FieldIndex(field=2),
        FieldIndex(field=1),
        FieldIndex(index=15),
        FieldIndex(field=7),
        FieldIndex(map_key=FieldIndex.MapKey(ui32=10)),
        FieldIndex(field=1),
        FieldIndex(map_key=FieldIndex.MapKey(s="a")),
    ]
    assert by_name == by_number == expected
    assert get_field_tag(graph_pb2.GraphDef(), "versions") == [FieldIndex(field=4)]
    assert get_field_tag(graph_pb2.GraphDef(), 4) == [FieldIndex(field=4)]
    assert get_field_tag(graph_pb2.GraphDef(), []) == []


@pytest.mark.parametrize(
    ("kind", "fields", "text"),
    [
        (
            GRAPH,
            ["node", 3, "attr", "value", "tensor", "tensor_content"],
            'node[3].attr["value"].tensor.tensor_content',
        ),
        (GRAPH, ["node", 0, "attr", 'a "b].[0]\n\\é'], 'node[0].attr["a \\"b].[0]\\n\\\\é"]'),
        (GRAPH, ["library"], "library"),
        (GRAPH, ["node"], "node"),
        (GRAPH, [], ""),
        (FUNCTION, ["arg_attr", 2**32 - 1], "arg_attr[4294967295]"),
        (DEBUG, ["frames_by_id", 2**64 - 1, "line"], "frames_by_id[18446744073709551615].line"),
    ],
)
def test_text_and_tags_lead_back(kind, fields, text) -> None:
    path = resolve(kind, fields)
    assert format_path(path) == text
    assert parse_path(kind, text) == path
    assert from_tags(kind, to_tags(path)) == path


@pytest.mark.parametrize(
    ("fields", "code", "text"),
    [
        (["node", 0, "not_a_field"], "SW0811", "Unable to find field 'not_a_field' in shardwright.tensorflow.NodeDef"),
        ([1, 0, 10000], "SW0811", "Unable to find field number 10000"),
        ([-1], "SW0811", "number -1"),
        ([2**70], "SW0811", "number"),
        (["version", 1], "SW0812", "Unable to find fields after version in proto of type"),
        (["node", "name"], "SW0812", "an index into"),
        (["node", -1], "SW0812", "an index into"),
        (["node", True], "SW0812", "an index into"),
        (["node", 2**64], "SW0812", "an index into"),
        (["node", 0, "attr", 7], "SW0812", "a key of"),
        (["library", "function", 0, "arg_attr", -1], "SW0812", "from 0 to 4294967295, not -1"),
        (["library", "function", 0, "arg_attr", 2**32], "SW0812", "from 0 to 4294967295"),
        (["library", "function", 0, "ret", "a", "b"], "SW0812", 'after library.function[0].ret["a"]'),
    ],
)
def test_refused(fields, code, text) -> None:
    with pytest.raises(KeyError) as found:
        resolve(GRAPH, fields)
    assert isinstance(found.value, FieldTagError)
    assert isinstance(found.value, ValueError)
    assert str(found.value).startswith(f"error[{code}]: ")
    assert text in str(found.value)


@pytest.mark.parametrize(
    "text", ["node[", "node[x]", "node..name", "node.", ".node", "node[0]name", "node[0]]", 'node[0].attr["a', "1a"]
)
def test_text_that_is_no_path(text) -> None:
    with pytest.raises(FieldTagError):
        parse_path(GRAPH, text)


MAP_KEY = FieldIndex.MapKey


@pytest.mark.parametrize(
    "tags",
    [
        [FieldIndex(index=0)],
        [FieldIndex()],
        [FieldIndex(map_key=MAP_KEY(s="a"))],
        [FieldIndex(field=1), FieldIndex(field=1)],
        [FieldIndex(field=1), FieldIndex(map_key=MAP_KEY(s="a"))],
        [FieldIndex(field=1), FieldIndex(index=0), FieldIndex(field=5), FieldIndex(index=0)],
        [FieldIndex(field=1), FieldIndex(index=0), FieldIndex(field=5), FieldIndex(map_key=MAP_KEY(i64=0))],
        [FieldIndex(field=1), FieldIndex(index=0), FieldIndex(field=5), FieldIndex(map_key=MAP_KEY())],
        [FieldIndex(field=3), FieldIndex(index=0)],
        [FieldIndex(field=99999)],
    ],
)
def test_tags_that_do_not_fit_the_type(tags) -> None:
    with pytest.raises(FieldTagError):
        from_tags(GRAPH, tags)


def test_every_type_of_key_has_its_tag() -> None:
    kinds = {"ret": ("s", "a"), "resource_arg_unique_id": ("ui32", 5)}
    for name, (kind, key) in kinds.items():
        (_, tag) = get_field_tag(graph_pb2.FunctionDef(), [name, key])
        assert tag.map_key.WhichOneof("type") == kind
    (_, tag) = get_field_tag(graph_pb2.GraphDebugInfo(), ["frames_by_id", 5])
    assert tag.map_key.WhichOneof("type") == "ui64"


def test_getting_changes_nothing() -> None:
    graph = graph_pb2.GraphDef()
    graph.node.add(name="a").attr["value"].i = 5
    before = graph.SerializeToString(deterministic=True)
    assert get_field(graph, ["node", 0, "attr", "value", "i"])[0] == 5
    assert get_field(graph, ["node", 0, "attr", "other"])[0] is None
    assert get_field(graph, ["node", 7, "name"])[0] is None
    assert get_field(graph, ["library", "function", 0])[0] is None
    assert get_field(graph, ()) == (graph, None)
    value, field = get_field(graph, ("node",))
    assert len(value) == 1
    assert field is GRAPH.fields_by_name["node"]
    assert graph.SerializeToString(deterministic=True) == before


def test_index_of_a_chunk_is_no_boolean() -> None:
    assert check_index(GRAPH.fields_by_name["node"], 0) == 0
    assert chunk_pb2.FieldIndex(index=0).WhichOneof("kind") == "index"
