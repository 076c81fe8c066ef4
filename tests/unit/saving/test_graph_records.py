"""Lines of text and examples that a graph reads on the host: what the program gets of them, and what is refused."""

import numpy as np
import pytest
from graph_nodes import kind, kinds, node
from graph_records import example

import shardwright as sw
from shardwright.serialization.protos import graph_pb2 as pb

FLOAT, INT, TEXT = pb.DT_FLOAT, pb.DT_INT32, pb.DT_STRING


def shape(*sizes):
    return pb.TensorShapeProto(dim=[pb.TensorShapeProto.Dim(size=size) for size in sizes])


def texts(*parts):
    found = np.empty(len(parts), object)
    found[:] = list(parts)
    return found


def constant(graph, name, value, number):
    node(graph.node, name, "Const", dtype=kind(number), value=value)


def lines(**options):
    """A graph that reads two columns, whole numbers and floats, and adds them up."""
    graph = pb.GraphDef()
    node(graph.node, "x", "Placeholder", dtype=kind(TEXT), shape=pb.AttrValue(shape=shape(-1)))
    constant(graph, "number", np.array([7], np.int32), INT)
    constant(graph, "share", np.zeros(0, np.float32), FLOAT)
    node(graph.node, "cells", "DecodeCSV", "x", "number", "share", OUT_TYPE=kinds(INT, FLOAT), **options)
    node(graph.node, "whole", "Cast", "cells", SrcT=kind(INT), DstT=kind())
    node(graph.node, "y", "AddV2", "whole", "cells:1", T=kind())
    return sw.from_graph(graph, inputs=["x"], outputs="y")


def examples(rank=1):
    """A graph that reads two floats `b` of each example, and doubles them."""
    graph = pb.GraphDef()
    node(graph.node, "x", "Placeholder", dtype=kind(TEXT), shape=pb.AttrValue(shape=shape(*[-1] * rank)))
    constant(graph, "none", texts(), TEXT)
    constant(graph, "keys", texts(b"b"), TEXT)
    constant(graph, "default", np.zeros(0, np.float32), FLOAT)
    nothing = {name: kinds() for name in ("sparse_types", "ragged_value_types", "ragged_split_types")}
    shapes = pb.AttrValue(list=pb.AttrValue.ListValue(shape=[shape(2)]))
    inputs = ("x", "none", "none", "keys", "none", "default")
    node(
        graph.node, "read", "ParseExampleV2", *inputs, Tdense=kinds(FLOAT), dense_shapes=shapes, num_sparse=0, **nothing
    )
    node(graph.node, "y", "AddV2", "read", "read", T=kind())
    return sw.from_graph(graph, inputs=["x"], outputs="y")


def test_columns_of_lines_are_what_the_program_takes():
    program = lines()
    assert program(["1,2.5", ',"4"', '"3",-1e1']).tolist() == [3.5, 11, -7]
    assert "cells" in program.host


def test_features_of_examples_are_what_the_program_takes():
    rows = texts(example(b=[0.5, 1.5]), example(a=[1], b=[2.0, -4.0]))
    assert examples()(rows).tolist() == [[1, 3], [4, -8]]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("1", "the line b'1' has not 2 cells"),
        ("1,2,3", "the line b'1,2,3' has not 2 cells"),
        ('1,a"b', "has quotes or line ends inside of a cell"),
        ('1,"b', "has quotes or line ends inside of a cell"),
        ("1,2\n", "has quotes or line ends inside of a cell"),
        ("1_0,2", "b'1_0' is no int32"),
        ("1.5,2", "b'1.5' is no int32"),
        ("1,two", "b'two' is no float32"),
        ("3000000000,2", "b'3000000000' does not fit int32"),
        ("1,", "a cell is empty for which there is no default"),
    ],
)
def test_lines_that_are_none(line, told):
    with pytest.raises(sw.ShardwrightError, match="SW0898") as caught:
        lines()([line])
    assert told in str(caught.value)


@pytest.mark.parametrize(
    ("row", "told"),
    [
        (example(a=[1.0, 2.0]), "an example has no feature b'b'"),
        (example(b=[1.0]), "the feature b'b' has 1 elements in an example"),
        (example(b=[1, 2]), "the feature b'b' of an example is no float32"),
        (b"\x0a\x09\x0a", "is no example: a field is longer than what holds it"),
    ],
)
def test_examples_that_are_none(row, told):
    with pytest.raises(sw.ShardwrightError, match="SW0898") as caught:
        examples()(texts(row))
    assert told in str(caught.value)


def test_one_example_alone_is_refused():
    with pytest.raises(sw.ShardwrightError, match=r"SW0885.*examples of shape \[1, 1\] are not read"):
        examples(rank=2)(texts(example(b=[1.0, 2.0])).reshape(1, 1))
