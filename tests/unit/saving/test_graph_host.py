"""What runs on the host around a program: where it is cut, what it is given, and what is refused."""

import numpy as np
import pytest
from graph_nodes import called, kind, kinds, node
from saved_models.storing import calls, unpacked

import shardwright as sw
from shardwright.frontends.tensorflow.importing.host.patterns import is_plain
from shardwright.serialization.protos import graph_pb2 as pb

TEXT, LONG = pb.DT_STRING, pb.DT_INT64


def words(*texts):
    found = np.empty(len(texts), object)
    found[:] = [text.encode() for text in texts]
    return found


def graph_of(*nodes, shape=(3,)):
    """A graph of texts `x`, floats `f`, and nodes given as (name, op, inputs, attributes)."""
    graph = pb.GraphDef()
    for name, number in (("x", TEXT), ("f", pb.DT_FLOAT)):
        said = pb.AttrValue(shape=pb.TensorShapeProto(dim=[pb.TensorShapeProto.Dim(size=size) for size in shape]))
        node(graph.node, name, "Placeholder", dtype=kind(number), shape=said)
    for name, op, inputs, attributes in nodes:
        node(graph.node, name, op, *inputs, **attributes)
    return graph


def shaped(*sizes):
    """A shape as an attribute; -1 is a dim of any size."""
    return pb.AttrValue(shape=pb.TensorShapeProto(dim=[pb.TensorShapeProto.Dim(size=size) for size in sizes]))


def table(keys, values, default=-1, *, op="HashTableV2", inputs=(), **more):
    """Nodes of a table of words, and of what is found in it for `x`: `found`."""
    types = {"key_dtype": kind(TEXT), "value_dtype": kind(LONG)} | more
    names = {"Tin": kind(TEXT), "Tout": kind(LONG)}
    constants = (("keys", keys), ("values", np.array(values, np.int64)), ("default", np.array(default, np.int64)))
    return [
        *(
            (name, "Const", [], {"dtype": kind(TEXT if name == "keys" else LONG), "value": one})
            for name, one in constants
        ),
        ("table", op, list(inputs), types),
        ("fill", "LookupTableImportV2", ["table", "keys", "values"], names),
        ("found", "LookupTableFindV2", ["table", "x", "default"], names),
    ]


CAST = ("y", "Cast", ["found"], {"SrcT": kind(LONG), "DstT": kind()})
SUM = ("z", "Mul", ["y", "f"], {"T": kind()})
TABLE = table(words("a", "b"), [3, 5])
F = np.array([1.0, 2.0, 4.0], "float32")


def test_a_graph_is_cut_where_the_program_begins():
    program = sw.from_graph(graph_of(*TABLE, CAST, SUM), outputs="z")
    assert program(["b", "c", "a"], F).tolist() == program(x=words("b", "c", "a"), f=F).tolist() == [5, -2, 12]
    assert program.host == ("table", "default", "found")
    assert "x: None" in repr(program)
    assert "3 nodes on the host" in repr(program)
    traced = program.trace(words("b", "c", "a"), F)
    assert [parameter.name for parameter in traced.interface.parameters] == ["found", "f"]


def test_what_the_program_takes_may_be_distributed():
    program = sw.from_graph(graph_of(*TABLE, CAST, SUM, shape=(4,)), outputs="z")
    layout = sw.Layout(["batch"], sw.Mesh(batch=2))
    found = program(words("b", "c", "a", "a"), sw.relayout(np.ones(4, "float32"), layout))
    assert found.layout == layout
    assert np.asarray(found).tolist() == [5, -1, 3, 3]


def test_what_the_host_reads_may_not():
    compare = ("y", "StringLength", ["x"], {})
    place = ("z", "Where", ["f"], {"T": kind()})
    program = sw.from_graph(graph_of(compare, place), outputs=["y", "z"])
    assert program(["a", "", "bc"], F - 1)[1].tolist() == [[1], [2]]
    with pytest.raises(sw.ShardwrightError) as caught:
        program(["a", "", "bc"], sw.relayout(F, sw.Layout([None], sw.Mesh(x=2))))
    assert "error[SW0898]: input 'f' is read on the host, and a distributed array is not there" in str(caught.value)
    with pytest.raises(sw.ShardwrightError, match="a traced value is not there"):
        sw.function(lambda f: program(["a", "", "bc"], f))(F)


def test_an_outcome_of_the_program_is_looked_up():
    program = sw.from_saved_model(unpacked() / "names_of_classes")
    given, due = calls("names_of_classes")[0]
    assert next(iter(program(**given).values())).tolist() == next(iter(due.values())).tolist()
    assert program.weights
    assert program.trace(**given).interface.parameters[0].name == "x"


def test_the_program_of_a_text_model_is_partitioned():
    batch = sw.Layout(["batch"], sw.Mesh(batch=2))
    layouts = {".*": sw.Layout([], batch.mesh)}
    program = sw.from_saved_model(unpacked() / "text_vectorization_tf_idf", layouts=layouts)
    given, due = calls("text_vectorization_tf_idf")[0]
    for key, value in program(**given).items():
        np.testing.assert_allclose(np.asarray(value), due[key], rtol=1e-5)


ROWS_OF_TWO = {"op": "MutableHashTableOfTensorsV2", "value_shape": shaped(2)}
DENSE = [(name, "Const", [], {"dtype": kind(TEXT), "value": words(name)[0:1].reshape(())}) for name in ("free", "c")]
DENSE_TABLE = {"op": "MutableDenseHashTableV2", "inputs": ("free", "c"), "value_shape": shaped()}


def test_tables_that_may_change_hold_what_fills_them():
    found = {"inputs": ["x"], "outputs": "found"}
    plain = table(words("a", "b"), [3, 5], op="MutableHashTableV2")
    for nodes in (plain, DENSE + table(words("a", "b"), [3, 5], **DENSE_TABLE)):
        assert sw.from_graph(graph_of(*nodes), **found)(words("b", "d", "a")).tolist() == [5, -1, 3]
    nodes = table(words("a", "b"), [[3, 4], [5, 6]], [0, 9], **ROWS_OF_TWO)
    assert sw.from_graph(graph_of(*nodes), **found)(words("b", "c", "a")).tolist() == [[5, 6], [0, 9], [3, 4]]


def test_texts_of_the_graph_itself_are_chosen_behind_the_program():
    """A classifier that says the name of its class: no input is a text."""
    names = ("names", "Const", [], {"dtype": kind(TEXT), "value": words("cat", "dog", "eel")})
    dim = ("dim", "Const", [], {"dtype": kind(pb.DT_INT32), "value": np.array(0, np.int32)})
    best = ("best", "ArgMax", ["f", "dim"], {"T": kind(), "Tidx": kind(pb.DT_INT32), "output_type": kind(LONG)})
    types = {"Tparams": kind(TEXT), "Tindices": kind(LONG), "Taxis": kind(pb.DT_INT32)}
    program = sw.from_graph(
        graph_of(names, dim, best, ("y", "GatherV2", ["names", "best", "dim"], types)), inputs=["f"], outputs="y"
    )
    assert [program(np.roll(F, shift)).tolist() for shift in range(3)] == [b"eel", b"cat", b"dog"]
    layout = sw.Layout(["x"], sw.Mesh(x=3))
    assert program(sw.relayout(F, layout)).tolist() == b"eel"
    alone = sw.from_graph(graph_of(names, ("y", "Identity", ["names"], {"T": kind(TEXT)})), inputs=[], outputs="y")
    assert alone().tolist() == [b"cat", b"dog", b"eel"]


REFUSED = {
    "values of another shape": (
        "SW0888",
        [*table(words("a", "b"), [3, 5], [0, 9], **ROWS_OF_TWO), CAST],
        "cannot hold keys object[2] and values int64[2]",
    ),
    "a default of another shape": (
        "SW0886",
        [*table(words("a"), [[3, 4]], **ROWS_OF_TWO), CAST],
        "has other types than what is looked up",
    ),
    "a key that marks what is free": (
        "SW0888",
        [*DENSE, *table(words("a", "b"), [3, 5], **DENSE_TABLE), CAST],
        "b'c' is no key of the table 'table': it marks a place that is free",
    ),
    "values of any shape": (
        "SW0890",
        [*table(words("a"), [3], op="MutableHashTableOfTensorsV2", value_shape=shaped(-1)), CAST],
        "the table holds values of no certain shape",
    ),
    "a table that the graph changes": (
        "SW0885",
        [
            *TABLE,
            ("more", "LookupTableInsertV2", ["table", "keys", "values"], {"Tin": kind(TEXT), "Tout": kind(LONG)}),
            ("y", "Identity", ["found", "^more"], {"T": kind(LONG)}),
        ],
        "a table that the graph changes is not supported: look up before the graph",
    ),
    "the keys of a table": (
        "SW0885",
        [*TABLE, ("y", "LookupTableExportV2", ["table"], {"Tkeys": kind(TEXT), "Tvalues": kind(LONG)})],
        "nobody says in which order a table has its keys",
    ),
    "two values for one key": ("SW0888", [*table(words("a", "a"), [3, 5]), CAST], "two values for one key"),
    "lengths that differ": (
        "SW0888",
        [*table(words("a", "b"), [3]), CAST],
        "cannot hold keys object[2] and values int64[1]",
    ),
    "a table that nothing fills": ("SW0892", [*TABLE[:4], TABLE[5], CAST], "nothing fills the table 'table'"),
    "a pattern that may take long": (
        "SW0885",
        [("y", "StaticRegexReplace", ["x"], {"pattern": "(a*)*b", "rewrite": ""})],
        "pattern '(a*)*b' with '' is not supported",
    ),
    "no number": ("SW0898", [("y", "StringToNumber", ["x"], {"out_type": kind()})], "b'a' is no float32"),
    "no such operation on the host": (
        "SW0898",
        [
            ("sine", "Sin", ["f"], {"T": kind()}),
            ("text", "AsString", ["sine"], {"T": kind()}),
            ("back", "StringToNumber", ["text"], {"out_type": kind()}),
            ("y", "Sin", ["back"], {"T": kind()}),
        ],
        "node 'y' (Sin) comes after texts or tables that need the program, and the host has no such operation",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case):
    code, nodes, text = REFUSED[case]
    with pytest.raises(sw.ShardwrightError) as caught:
        sw.from_graph(graph_of(*nodes), inputs=["x", "f"], outputs="y")(words("a", "b", "c"), F)
    assert f"error[{code}]" in str(caught.value)
    assert text in str(caught.value)


@pytest.mark.parametrize(
    ("pattern", "everywhere", "due"),
    [
        (r"\s", True, ["a\vb", "xx-yy", "aab"]),
        (r"\S+", True, ["-", "- -", "-"]),
        ("x*", True, ["-a-\v-b-", "- -y-y-", "-a-a-b-"]),
        ("x*", False, ["-a\vb", "- yy", "-aab"]),
        ("a|", True, ["-\v-b-", "-x-x- -y-y-", "--b-"]),
    ],
)
def test_texts_are_replaced_where_re2_finds_them(pattern, everywhere, due):
    replaced = ("y", "StaticRegexReplace", ["x"], {"pattern": pattern, "rewrite": "-", "replace_global": everywhere})
    program = sw.from_graph(graph_of(replaced), inputs=["x"], outputs="y")
    assert program(words("a\vb", "xx yy", "aab")).tolist() == [text.encode() for text in due]


def test_bytes_that_are_no_characters():
    program = sw.from_graph(graph_of(("y", "StringLength", ["x"], {"unit": "UTF8_CHAR"})), inputs=["x"], outputs="y")
    with pytest.raises(sw.ShardwrightError, match=r"SW0898.*b'\\xff' is no UTF-8"):
        program([b"a", b"\xff", b""])


def test_rows_of_a_hostile_graph_take_no_memory():
    shape = np.array([1 << 40, 1 << 20], np.int64)
    nodes = [
        ("shape", "Const", [], {"dtype": kind(LONG), "value": shape}),
        ("rows", "Const", [], {"dtype": kind(LONG), "value": np.array([0, 3], np.int64)}),
        ("none", "Const", [], {"dtype": kind(), "value": np.array(0, np.float32)}),
    ]
    graph = graph_of(*nodes)
    made = node(graph.node, "y", "RaggedTensorToTensor", "shape", "f", "none", "rows", T=kind(), Tindex=kind(LONG))
    made.attr["Tshape"].type, made.attr["num_row_partition_tensors"].i = LONG, 1
    made.attr["row_partition_types"].list.s.append(b"ROW_SPLITS")
    with pytest.raises(sw.ShardwrightError, match=r"SW0888.*is more than the host makes"):
        sw.from_graph(graph, inputs=["f"], outputs="y")(F)


def test_loops_and_branches_have_no_host():
    graph = graph_of(("any", "Const", [], {"dtype": kind(pb.DT_BOOL), "value": np.array(True)}))
    function = graph.library.function.add()
    function.signature.name = "inner"
    function.signature.input_arg.add(name="a", type=pb.DT_FLOAT)
    function.signature.output_arg.add(name="b", type=LONG)
    function.ret["b"] = "w:index:0"
    node(function.node_def, "w", "Where", "a", T=kind())
    branches = {"then_branch": called("inner"), "else_branch": called("inner"), "Tin": kinds(pb.DT_FLOAT)}
    node(graph.node, "y", "If", "any", "f", Tcond=kind(pb.DT_BOOL), Tout=kinds(LONG), **branches)
    with pytest.raises(sw.ShardwrightError, match=r"SW0898.*node 'y' \(If\) holds Where, which runs on the host"):
        sw.from_graph(graph, inputs=["f"], outputs="y")


def test_without_arguments_there_is_no_program():
    program = sw.from_graph(graph_of(*TABLE, CAST, SUM), outputs="z")
    with pytest.raises(sw.ShardwrightError, match=r"SW0890"):
        program.trace()
    with pytest.raises(sw.ShardwrightError, match=r"SW0891"):
        program(F)


def test_what_has_a_part_on_the_host_is_not_saved(tmp_path):
    program = sw.from_graph(graph_of(*TABLE, CAST, SUM), outputs="z")
    program(["b", "c", "a"], F)
    with pytest.raises(sw.ShardwrightError, match=r"SW0865.*it runs in part on the host"):
        sw.save(program, tmp_path / "program")


@pytest.mark.parametrize(
    "pattern", ["a**", "(?i)a", "a{2,9}", "^a", "a$", r"\bword", r"\p{L}", "[[:alpha:]]", "a+b+", "a+|b+", ""]
)
def test_patterns_that_are_not_searched_for(pattern):
    assert not is_plain(pattern)
