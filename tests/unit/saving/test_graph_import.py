"""Graphs that are wrong, hostile or not supported: each refused by name; and what else a graph may hold."""

import time

import numpy as np
import pytest
from graph_models import DATA, unpacked
from graph_nodes import called, kind, kinds, node

import shardwright as sw
from shardwright.frontends.tensorflow.importing.graphs.survey import MAX_DEPTH
from shardwright.frontends.tensorflow.importing.tensors import shape_proto
from shardwright.serialization.protos import graph_pb2 as pb, saved_model_pb2

FLOAT = pb.DT_FLOAT


def placeholder(graph, name="x", shape=(4,), number=FLOAT):
    node(graph.node, name, "Placeholder", dtype=kind(number), shape=pb.AttrValue(shape=shape_proto(shape)))


def graph_with(*nodes, shape=(4,)):
    """A graph with an input `x` and nodes given as (name, op, inputs, attributes)."""
    graph = pb.GraphDef()
    placeholder(graph, shape=shape)
    for name, op, inputs, attributes in nodes:
        node(graph.node, name, op, *inputs, **attributes)
    return graph


def function(graph, name, arguments, results, nodes, effects=()):
    """A function of floats; handles are arguments whose names begin with `handle`."""
    made = graph.library.function.add()
    made.signature.name = name
    for argument in arguments:
        number = pb.DT_RESOURCE if argument.startswith("handle") else FLOAT
        made.signature.input_arg.add(name=argument, type=number)
    for result, source in results.items():
        made.signature.output_arg.add(name=result, type=FLOAT)
        made.ret[result] = source
    for effect in effects:
        made.control_ret[effect] = effect
    for one in nodes:
        node(made.node_def, *one[:2], *one[2], **one[3])
    return made


X = np.array([-1.0, 0.0, 2.0, 3.0], "float32")
RELU = ("y", "Relu", ["x"], {"T": kind()})


def refused(code, graph, *parts, call=None, **options):
    """The error of reading a graph, or of calling it."""

    def read_and_run():
        sw.from_graph(graph, **options)(*(call if call is not None else [X]))

    with pytest.raises(sw.ShardwrightError) as caught:
        read_and_run()
    text = str(caught.value)
    assert f"[{code}]" in text
    for part in parts:
        assert part in text, text
    return text


def test_plain_graph_by_name_and_place():
    program = sw.from_graph(graph_with(RELU))
    assert program.outputs == ("y",)
    assert program(X).tolist() == program(x=X).tolist() == [0, 0, 2, 3]
    assert "x: TensorSpec(f32[4])" in repr(program)
    assert program.trace().compile()(X).tolist() == [0, 0, 2, 3]
    assert sw.from_graph(graph_with(RELU), outputs=["y", "x"])(X)[1].tolist() == X.tolist()


def test_all_unsupported_operations_are_listed_at_once():
    graph = graph_with(
        ("a", "Mystery", ["x"], {}),
        ("b", "ListDiff", ["a"], {}),
        ("c", "Mystery", ["b"], {}),
        ("d", "PartitionedCall", ["c"], {"f": called("inner"), "Tin": kinds(FLOAT), "Tout": kinds(FLOAT)}),
        ("e", "RandomUniform", ["d"], {}),
        ("unrelated", "Unheard", [], {}),
    )
    function(graph, "inner", ["v"], {"r": "w:output:0"}, [("w", "QuantizeV2", ["v"], {})])
    text = refused("SW0885", graph, outputs="e")
    assert "ListDiff, Mystery, QuantizeV2, RandomUniform" in text
    assert "Mystery: 2 times, first in node 'a'" in text
    assert "QuantizeV2: once, in node 'w' of function 'inner': quantised" in text
    assert "depends on data" in text
    assert "Unheard" not in text


LOOP = {"frame_name": "loop", "T": kind()}


def test_loops_of_tensorflow_1_that_do_not_fit_together():
    enter, merge = ("enter", "Enter", ["x"], LOOP), ("merge", "Merge", ["enter", "next"], {"T": kind()})
    following = ("next", "NextIteration", ["merge"], {"T": kind()})
    refused("SW0886", graph_with(enter, merge, following), "the loop 'loop' has 0 tests, not one", outputs="merge")
    refused("SW0886", graph_with(enter, merge), "has nothing that comes round", outputs="merge")
    refused("SW0886", graph_with(("m", "Merge", ["x", "x"], {"T": kind()})), "joins no two sides", outputs="m")


def test_a_branch_of_tensorflow_1_that_changes_a_variable_is_refused():
    graph = graph_with(
        ("yes", "Const", [], {"dtype": kind(pb.DT_BOOL), "value": np.array(True)}),
        ("switch", "Switch", ["x", "yes"], {"T": kind()}),
        ("handle", "VarHandleOp", [], {"dtype": kind(), "shape": pb.AttrValue(shape=shape_proto((4,)))}),
        ("assign", "AssignVariableOp", ["handle", "switch:1"], {"dtype": kind()}),
        ("changed", "Identity", ["switch:1", "^assign"], {"T": kind()}),
        ("merge", "Merge", ["switch", "changed"], {"T": kind()}),
    )
    refused("SW0885", graph, "node 'assign' (AssignVariableOp) changes a variable within", outputs="merge")


WRONG = {
    "missing input": ([("y", "Relu", ["gone"], {"T": kind()})], "SW0886", "takes 'gone'", "node 'y' (Relu)"),
    "missing control": ([("y", "Relu", ["x", "^gone"], {"T": kind()})], "SW0886", "takes 'gone'", "node 'y'"),
    "cycle": (
        [("y", "Relu", ["z"], {"T": kind()}), ("z", "Relu", ["y"], {"T": kind()})],
        "SW0886", "has a cycle: y <- z <- y",
    ),
    "two nodes of one name": ([RELU, RELU], "SW0886", "two nodes 'y'"),
    "no such output": ([("a", *RELU[1:]), ("y", "Relu", ["a:1"], {"T": kind()})], "SW0886", "takes 'a:1'", "node 'y'"),
    "no name": ([("y", "Relu", ["x:a:b:c"], {"T": kind()})], "SW0886", "'x:a:b:c' is no name"),
    "too many inputs": ([("y", "Relu", ["x", "x"], {"T": kind()})], "SW0886", "takes 1 inputs and has 2"),
    "another type": ([("y", "Relu", ["x"], {"T": kind(pb.DT_INT32)})], "SW0886", "input 0 of node 'y'", "DT_INT32"),
    "unknown function": (
        [("y", "PartitionedCall", ["x"], {"f": called("gone"), "Tin": kinds(FLOAT), "Tout": kinds(FLOAT)})],
        "SW0886", "calls 'gone'", "node 'y'",
    ),
    "missing attribute": ([("y", "Relu", ["x"], {})], "SW0887", "no attribute 'T'", "node 'y' (Relu)"),
    "attribute of another kind": ([("y", "Relu", ["x"], {"T": 3})], "SW0887", "'T' is a int where a type is due"),
    "attribute that there is not": ([("y", "Relu", ["x"], {"T": kind(), "U": 1})], "SW0887", "attribute 'U'"),
    "attribute not allowed": ([("y", "Relu", ["x"], {"T": kind(pb.DT_STRING)})], "SW0887", "DT_STRING", "it may be"),
    "attribute too small": (
        [("y", "AddN", [], {"T": kind(), "N": 0})], "SW0887", "'N' is 0, below 1",
    ),
    "padding not known": (
        [("y", "MaxPool", ["x"], {"T": kind(), "ksize": pb.AttrValue(list={"i": [1, 2, 2, 1]}),
          "strides": pb.AttrValue(list={"i": [1, 2, 2, 1]}), "padding": "LOOSE"})],
        "SW0887", "'LOOSE'", "it may be SAME, VALID, EXPLICIT",
    ),
    "constant too short": (
        [("y", "Const", [], {"dtype": kind(), "value": pb.AttrValue(tensor=pb.TensorProto(
            dtype=FLOAT, tensor_shape=shape_proto((1 << 40,)), tensor_content=b"1234"))})],
        "SW0888", "node 'y' (Const) has 4 bytes",
    ),
    "shape that TensorFlow did not work out": (
        [("y", "Relu", ["x"], {"T": kind(), "_output_shapes": pb.AttrValue(list={"shape": [shape_proto((5,))]})})],
        "SW0886", "output 0 is [4], and the graph says [5]",
    ),
    "shapes that do not fit": (
        [("c", "Const", [], {"dtype": kind(), "value": np.ones(3, "float32")}),
         ("y", "AddV2", ["x", "c"], {"T": kind()})],
        "SW0504", "in node 'y' (AddV2)",
    ),
    "known numbers that do not fit": (
        [("c", "Const", [], {"dtype": kind(pb.DT_INT32), "value": np.array([3, 3], "int32")}),
         ("y", "Reshape", ["x", "c"], {"T": kind(), "Tshape": kind(pb.DT_INT32)})],
        "SW0504", "in node 'y' (Reshape)",
    ),
    "a shape that comes from data": (
        [("i", "Cast", ["x"], {"SrcT": kind(), "DstT": kind(pb.DT_INT32)}),
         ("y", "Reshape", ["x", "i"], {"T": kind(), "Tshape": kind(pb.DT_INT32)})],
        "SW0890", "node 'y' (Reshape): its shape must be known",
    ),
    "a handle for a tensor": (
        [("v", "VarHandleOp", [], {"dtype": kind(), "shape": pb.AttrValue(shape=shape_proto((4,)))}),
         ("y", "Relu", ["v"], {"T": kind()})],
        "SW0886", "is a handle where DT_FLOAT is due",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_wrong_graphs_name_the_node(case):
    nodes, code, *parts = WRONG[case]
    refused(code, graph_with(*nodes), *parts, outputs="y", inputs=["x"], variables={"v": X})


def test_names_that_there_are_not():
    graph = graph_with(RELU)
    refused("SW0891", graph, "no output 'z:0'", "there are y", outputs="z")
    refused("SW0891", graph, "no input 'z:0'", "there are x", inputs=["z"])
    refused("SW0891", graph_with(RELU, ("z", "Neg", ["y"], {"T": kind()})), "need this input", inputs=[], call=[])
    with pytest.raises(TypeError, match="SW0533"):
        sw.from_graph(graph)(X, X)
    refused("SW0891", pb.GraphDef(), "no outputs")
    refused("SW0891", DATA, "is a directory", "from_saved_model")
    refused("SW0891", DATA / "gone.pb", "cannot be read", "give a GraphDef, or the path of a .pb or .cpb file")
    with pytest.raises(ValueError, match=r"SW0891.*has no saved_model.pb(.|\n)*give the folder that tf.saved_mod"):
        sw.from_saved_model(DATA)
    refused("SW0886", DATA / "models.npz", "is no GraphDef")
    refused("SW0891", saved_model_pb2.SavedModel(), "takes a GraphDef")


def test_bytes_and_arguments_of_other_types():
    graph = graph_with(RELU)
    assert sw.from_graph(graph.SerializeToString(), inputs="x", outputs="y")(X).tolist() == [0, 0, 2, 3]
    refused("SW0886", b"\xff\xff", "no GraphDef")
    refused("SW0891", 5, "takes a GraphDef or a path, not a int")
    refused("SW0891", graph, "given as (4,), not as a TensorSpec", inputs={"x": (4,)})
    refused("SW0890", graph, "says nothing about its type", inputs={"y": (4,)}, outputs="y")


def test_numbers_are_not_cut_off():
    graph = graph_with(("y", "Cast", ["x"], {"SrcT": kind(), "DstT": kind(pb.DT_HALF), "Truncate": True}))
    refused("SW0885", graph, "node 'y' (Cast): rounding towards zero")


FORMATS = {
    "Conv2D": ((2, 6, 6, 4), (3, 3, 4, 2)),
    "DepthwiseConv2dNative": ((2, 6, 6, 4), (3, 3, 4, 2)),
    "Conv3D": ((1, 4, 4, 4, 2), (2, 2, 2, 2, 3)),
    "MaxPool": ((2, 6, 6, 4), None),
    "AvgPool": ((2, 6, 6, 4), None),
    "MaxPool3D": ((1, 4, 4, 4, 2), None),
    "AvgPool3D": ((1, 4, 4, 4, 2), None),
}


@pytest.mark.parametrize("op", FORMATS)
def test_features_first_are_features_last_in_another_order(op):
    """TensorFlow on a processor computes most of these with features last only: the other order is held against it."""
    shape, filters = FORMATS[op]
    random, rank = np.random.default_rng(0), len(shape)
    x = random.standard_normal(shape).astype("float32")
    space = [2, 2, 1][: rank - 2]
    strides, windows = [1, *space, 1], [1, *[2] * (rank - 2), 1]
    formats = ("NHWC", "NCHW") if rank == 4 else ("NDHWC", "NCDHW")
    results = []
    for data_format, order in zip(formats, (range(rank), (0, rank - 1, *range(1, rank - 1))), strict=True):
        numbers = {
            name: pb.AttrValue(list={"i": [given[dim] for dim in order]})
            for name, given in (("strides", strides), ("ksize", windows))
        }
        value, inputs = x.transpose(order), ["x"]
        graph = graph_with(shape=value.shape)
        if filters is not None:
            del numbers["ksize"]
            node(graph.node, "k", "Const", dtype=kind(), value=np.ones(filters, "float32") / 8)
            inputs.append("k")
        node(graph.node, "y", op, *inputs, T=kind(), padding="SAME", data_format=data_format, **numbers)
        results.append(sw.from_graph(graph, outputs="y")(value).transpose(np.argsort(order)))
    np.testing.assert_allclose(*results, rtol=1e-5, atol=1e-5)


def test_shapes_and_types_of_inputs():
    graph = graph_with(RELU, shape=(None, 4))
    program = sw.from_graph(graph)
    assert program(np.ones((3, 4), "float32")).shape == (3, 4)
    with pytest.raises(sw.ShardwrightError, match=r"SW0890.*'x' has no certain shape"):
        program.trace()
    refused("SW0891", graph, r"input 'x' is f32[?, 4] and cannot be", inputs={"x": sw.TensorSpec((2, 5), "float32")})
    with pytest.raises(TypeError, match="SW0533"):
        program(np.ones((3, 4), "float64"))
    with pytest.raises(TypeError, match="SW0533"):
        program(np.ones((3, 5), "float32"))
    open_rank = sw.from_graph(graph_with(RELU, shape=None))
    assert open_rank(X).shape == (4,)
    with pytest.raises(sw.ShardwrightError, match=r"SW0891.*f32\[\.\.\.\] and cannot be f64\[4\]"):
        open_rank(X.astype("float64"))
    with pytest.raises(sw.ShardwrightError, match="SW0890"):
        open_rank.trace()
    refused("SW0890", graph_with(RELU), "says nothing about its type", inputs=["y"], outputs="y")


def test_a_placeholder_of_old_graphs_has_no_known_shape():
    graph = graph_with(RELU, shape=())
    graph.versions.producer = 20
    assert sw.from_graph(graph)(X).shape == (4,)


def test_python_numbers_take_the_type_of_the_graph():
    graph = pb.GraphDef()
    placeholder(graph, "n", (), pb.DT_INT64)
    node(graph.node, "y", "Neg", "n", T=kind(pb.DT_INT64))
    assert sw.from_graph(graph)(3).dtype == np.int64


def test_functions_by_name_and_by_call_and_named_outputs():
    graph = graph_with(("a", "twice", ["x"], {}), ("y", "Neg", ["a:1"], {"T": kind()}))
    nodes = [
        ("s", "Split", ["dim:output:0", "v"], {"T": kind(), "num_split": 2}),
        ("dim", "Const", [], {"dtype": kind(pb.DT_INT32), "value": np.array(0, "int32")}),
    ]
    function(graph, "twice", ["v"], {"r": "s:output:0", "q": "s:output:1"}, nodes)
    assert sw.from_graph(graph)(X).tolist() == [-2, -3]
    graph.library.function[0].ret["q"] = "s:output:2"
    refused("SW0886", graph, "no output 'output:2'")
    graph.library.function[0].ret["q"] = "s:results:0"
    refused("SW0886", graph, "no output 'results:0'")
    del graph.library.function[0].ret["q"]
    refused("SW0886", graph, "does not say what its result 'q' is")


def test_functions_that_call_themselves_or_expand_without_end():
    graph = graph_with(("y", "f0", ["x"], {}))
    function(graph, "f0", ["v"], {"r": "a:r:0"}, [("a", "f1", ["v"], {})])
    function(graph, "f1", ["v"], {"r": "a:r:0"}, [("a", "f0", ["v"], {})])
    refused("SW0886", graph, "calls itself")
    doubling = graph_with(("y", "f0", ["x"], {}))
    for level in range(40):
        inner = [("a", f"f{level + 1}", ["v"], {}), ("b", f"f{level + 1}", ["a:r:0"], {})]
        function(doubling, f"f{level}", ["v"], {"r": "b:r:0"}, inner)
    function(doubling, "f40", ["v"], {"r": "v"}, [])
    refused("SW0886", doubling, "expand to")
    function(doubling, "f40", ["v"], {"r": "v"}, [])
    refused("SW0886", doubling, "two functions 'f40'")
    deep = graph_with(("y", "f0", ["x"], {}))
    for level in range(2000):
        function(deep, f"f{level}", ["v"], {"r": "a:r:0"}, [("a", f"f{level + 1}", ["v"], {})])
    function(deep, "f2000", ["v"], {"r": "v"}, [])
    refused("SW0886", deep, "2001 deep")


def test_branches_within_branches():
    """As deep as may be, each level inside of the one before: no recursion of Python's ends first."""
    depth = MAX_DEPTH
    common = {"Tcond": kind(), "Tin": kinds(FLOAT), "Tout": kinds(FLOAT)}
    axes = ("axes", "Const", [], {"dtype": kind(pb.DT_INT32), "value": np.array([0], "int32")})

    def level(at, source):
        names = {"then_branch": called(f"f{at}"), "else_branch": called("same")}
        sums = (
            "s",
            "Sum",
            [source, "axes" if source == "x" else "axes:output:0"],
            {"T": kind(), "Tidx": kind(pb.DT_INT32)},
        )
        return [axes, sums, ("y", "If", ["s" if source == "x" else "s:output:0", source], common | names)]

    graph = graph_with(*level(0, "x"))
    function(graph, "same", ["v"], {"r": "v"}, [])
    for at in range(depth):
        inner = level(at + 1, "v") if at + 1 < depth else [("y", "Neg", ["v"], {"T": kind()})]
        function(graph, f"f{at}", ["v"], {"r": "y:output:0" if at + 1 < depth else "y:y:0"}, inner)
    assert sw.from_graph(graph)(X).tolist() == (-X).tolist()


def test_long_chains_need_no_recursion():
    graph = graph_with(*((f"n{at + 1}", "Identity", [f"n{at}" if at else "x"], {"T": kind()}) for at in range(3000)))
    start = time.perf_counter()
    assert sw.from_graph(graph)(X).tolist() == X.tolist()
    assert time.perf_counter() - start < 10
    graph.node[1].input[0] = "n3000"
    refused("SW0886", graph, "has a cycle", outputs="n3000")


@pytest.mark.slow
def test_a_million_nodes():
    graph = graph_with(*((f"n{at + 1}", "Identity", [f"n{at}" if at else "x"], {"T": kind()}) for at in range(10**6)))
    assert sw.from_graph(graph)(X).tolist() == X.tolist()


def test_one_element_for_a_huge_shape_takes_no_memory():
    huge = np.broadcast_to(np.float32(2), (1 << 16, 1 << 16))
    graph = graph_with(
        ("c", "Const", [], {"dtype": kind(), "value": huge}),
        ("at", "Const", [], {"dtype": kind(pb.DT_INT32), "value": np.array([[5, 7]], "int32")}),
        ("s", "Shape", ["c"], {"T": kind(), "out_type": kind(pb.DT_INT32)}),
        ("y", "Cast", ["s"], {"SrcT": kind(pb.DT_INT32), "DstT": kind()}),
        ("g", "GatherNd", ["c", "at"], {"Tparams": kind(), "Tindices": kind(pb.DT_INT32)}),
    )
    assert sw.from_graph(graph, outputs="y")().tolist() == [65536, 65536]
    element = sw.from_graph(graph, outputs="g").trace()
    assert len(element.as_text()) < 4000


def test_huge_sizes_in_attributes_and_constants_take_no_memory():
    number = {"dtype": kind(pb.DT_INT32)}
    size = ("size", "Const", [], number | {"value": np.array([1 << 30, 4], "int32")})
    graph = graph_with(size, ("y", "ResizeBilinear", ["x", "size"], {"T": kind()}), shape=(1, 2, 2, 1))
    refused("SW0886", graph, "2 elements cannot become 1073741824", outputs="y", call=[X.reshape(1, 2, 2, 1)])
    graph = graph_with(("y", "LRN", ["x"], {"T": kind(), "depth_radius": 1 << 40}), shape=(1, 2, 2, 1))
    assert sw.from_graph(graph)(X.reshape(1, 2, 2, 1)).shape == (1, 2, 2, 1)
    graph = graph_with(("y", "Unpack", ["x"], {"T": kind(), "num": 1 << 40}))
    refused("SW0887", graph, "'num' is 1099511627776, above 65536")
    wide = np.broadcast_to(np.int32(2), (1 << 40,))
    graph = graph_with(
        ("c", "Const", [], number | {"value": wide}),
        ("y", "Reshape", ["x", "c"], {"T": kind(), "Tshape": kind(pb.DT_INT32)}),
    )
    refused("SW0890", graph, "its shape must be known")


def test_shapes_are_computed_while_the_graph_is_read():
    numbers = {"dtype": kind(pb.DT_INT32)}
    whole = {"T": kind(pb.DT_INT32)}
    graph = graph_with(
        ("s", "Shape", ["x"], {"T": kind(), "out_type": kind(pb.DT_INT32)}),
        ("0", "Const", [], numbers | {"value": np.array([0], "int32")}),
        ("1", "Const", [], numbers | {"value": np.array([1], "int32")}),
        ("b", "StridedSlice", ["s", "0", "1", "1"], whole | {"Index": kind(pb.DT_INT32), "shrink_axis_mask": 1}),
        ("two", "Const", [], numbers | {"value": np.array(2, "int32")}),
        ("h", "FloorDiv", ["b", "two"], whole),
        ("p", "Pack", ["two", "h"], whole | {"N": 2}),
        ("r", "Reshape", ["x", "p"], {"T": kind(), "Tshape": kind(pb.DT_INT32)}),
        shape=(None,),
    )
    program = sw.from_graph(graph, outputs="r")
    assert program(X).shape == (2, 2)
    assert "stablehlo.divide" not in program.trace(X).as_text()


@pytest.mark.parametrize("op", ["TruncateDiv", "TruncateMod"])
def test_whole_numbers_by_zero(op):
    """TensorFlow refuses it; what it is here stays what it was."""
    graph = pb.GraphDef()
    for name in "xy":
        placeholder(graph, name, (3,), pb.DT_INT32)
    node(graph.node, "z", op, "x", "y", T=kind(pb.DT_INT32))
    x = np.array([5, 0, -5], "int32")
    due = {"TruncateDiv": [-1, -1, 1], "TruncateMod": x.tolist()}
    assert sw.from_graph(graph)(x, np.zeros_like(x)).tolist() == due[op]


def test_branches_that_are_known_are_not_written():
    graph = graph_with(
        ("yes", "Const", [], {"dtype": kind(pb.DT_BOOL), "value": np.array(True)}),
        (
            "y",
            "StatelessIf",
            ["yes", "x"],
            {"Tcond": kind(pb.DT_BOOL), "Tin": kinds(FLOAT), "Tout": kinds(FLOAT)}
            | {"then_branch": called("then"), "else_branch": called("else")},
        ),
    )
    function(graph, "then", ["v"], {"r": "n:y:0"}, [("n", "Neg", ["v"], {"T": kind()})])
    function(graph, "else", ["v"], {"r": "v"}, [])
    program = sw.from_graph(graph)
    assert program(X).tolist() == (-X).tolist()
    assert "stablehlo.if" not in program.trace().as_text()


def test_branches_of_different_shapes_name_the_node():
    graph = graph_with(
        ("first", "Const", [], {"dtype": kind(pb.DT_INT32), "value": np.array(0, "int32")}),
        ("m", "Max", ["x", "first"], {"T": kind(), "Tidx": kind(pb.DT_INT32)}),
        ("y", "If", ["m", "x"], {"Tcond": kind(), "Tin": kinds(FLOAT), "Tout": kinds(FLOAT)}
         | {"then_branch": called("then"), "else_branch": called("else")}),
    )  # fmt: skip
    function(graph, "then", ["v"], {"r": "n:output:0"}, [("n", "L2Loss", ["v"], {"T": kind()})])
    function(graph, "else", ["v"], {"r": "v"}, [])
    refused("SW0521", graph, "in node 'y' (If)")


def test_case_takes_the_last_branch_for_numbers_outside():
    graph = pb.GraphDef()
    placeholder(graph)
    placeholder(graph, "i", (), pb.DT_INT32)
    branches = pb.AttrValue(list={"func": [pb.NameAttrList(name="a"), pb.NameAttrList(name="b")]})
    node(graph.node, "y", "Case", "i", "x", Tin=kinds(FLOAT), Tout=kinds(FLOAT), branches=branches)
    function(graph, "a", ["v"], {"r": "v"}, [])
    function(graph, "b", ["v"], {"r": "n:y:0"}, [("n", "Neg", ["v"], {"T": kind()})])
    program = sw.from_graph(graph, inputs=["i", "x"])
    for index, due in ((0, X), (1, -X), (2, -X), (-1, -X)):
        assert program(np.int32(index), X).tolist() == due.tolist()


def test_variables_are_read_changed_and_gathered():
    graph = graph_with(
        ("v", "VarHandleOp", [], {"dtype": kind(), "shape": pb.AttrValue(shape=shape_proto((4,))), "shared_name": "w"}),
        ("add", "AssignAddVariableOp", ["v", "x"], {"dtype": kind()}),
        ("after", "ReadVariableOp", ["v", "^add"], {"dtype": kind()}),
        ("sub", "AssignSubVariableOp", ["v", "x", "^after"], {"dtype": kind()}),
        ("i", "Const", [], {"dtype": kind(pb.DT_INT32), "value": np.array([3, 0], "int32")}),
        ("g", "ResourceGather", ["v", "i", "^sub"], {"dtype": kind(), "Tindices": kind(pb.DT_INT32)}),
        ("j", "Const", [], {"dtype": kind(pb.DT_INT32), "value": np.array([[1]], "int32")}),
        ("d", "ResourceGatherNd", ["v", "j"], {"dtype": kind(), "Tindices": kind(pb.DT_INT32)}),
        ("set", "AssignVariableOp", ["v", "after", "^g", "^d"], {"dtype": kind()}),
        ("known", "VarIsInitializedOp", ["v", "^set"], {}),
        ("s", "VariableShape", ["v"], {"out_type": kind(pb.DT_INT32)}),
        ("quiet", "DisableCopyOnRead", ["v"], {}),
        ("old", "VariableV2", [], {"dtype": kind(), "shape": pb.AttrValue(shape=shape_proto((2,)))}),
        ("older", "Variable", [], {"dtype": kind(), "shape": pb.AttrValue(shape=shape_proto((2,)))}),
        ("given", "PlaceholderWithDefault", ["old"], {"dtype": kind(), "shape": pb.AttrValue(shape=shape_proto((2,)))}),
        ("message", "Const", [], {"dtype": kind(pb.DT_STRING), "value": np.array(b"no", object)}),
        ("check", "Assert", ["known", "message"], {"T": kinds(pb.DT_STRING)}),
        ("say", "PrintV2", ["message"], {}),
        ("shown", "Print", ["older", "old"], {"T": kind(), "U": kinds(FLOAT)}),
        ("none", "NoOp", ["^check", "^say", "^quiet"], {}),
        ("all", "IdentityN", ["after", "g", "d", "given", "shown", "^none"], {"T": kinds(*[FLOAT] * 5)}),
    )
    values = {"w": np.ones(4, "float32"), "old": np.zeros(2, "float32"), "older": np.full(2, 7, "float32")}
    outputs = ["all:0", "all:1", "all:2", "all:3", "all:4", "s", "known"]
    program = sw.from_graph(graph, outputs=outputs, variables=values)
    after, gathered, nd, old, older, shape, known = program(X)
    assert after.tolist() == (X + 1).tolist()
    assert gathered.tolist() == [1, 1]
    assert nd.tolist() == [1.0]
    assert (old.tolist(), older.tolist(), shape.tolist(), bool(known)) == ([0, 0], [7, 7], [4], True)
    assert np.asarray(program.weights["w"]).tolist() == (X + 1).tolist()
    refused("SW0892", graph, "'w' has no value", outputs=outputs)
    wrong = values | {"w": np.ones(5, "float32")}
    refused("SW0892", graph, "'w' is float32[5], and the graph says float32[4]", outputs=outputs, variables=wrong)
    wrong = values | {"old": np.zeros(2)}
    refused("SW0892", graph, "'old' is float64[2]", outputs=outputs, variables=wrong)


def branches_in_a_row():
    """Two branches of one test, the second of what the first gives; a side of it waits for the switch."""
    t, sums = {"T": kind()}, {"keep_dims": pb.AttrValue(b=False), "T": kind(), "Tidx": kind(pb.DT_INT32)}
    return graph_with(
        ("dims", "Const", [], {"dtype": kind(pb.DT_INT32), "value": np.array([0], "int32")}),
        ("zero", "Const", [], {"dtype": kind(), "value": np.array(0, "float32")}),
        ("total", "Sum", ["x", "dims"], sums),
        ("test", "Greater", ["total", "zero"], t),
        ("first", "Switch", ["x", "test"], t),
        ("no", "Neg", ["first"], t),
        ("yes", "Exp", ["first:1"], t),
        ("joined", "Merge", ["no", "yes"], t),
        ("square", "Mul", ["joined", "joined"], t),
        ("second", "Switch", ["square", "test"], t),
        ("other", "Neg", ["second"], t),
        ("waits", "Identity", ["second:1", "^second"], t),
        ("y", "Merge", ["other", "waits"], t),
    )


@pytest.mark.parametrize("sign", [1, -1])
def test_branches_of_one_test_in_a_row(sign):
    x = sign * np.array([1.0, 2.0, 3.0, -0.5], "float32")
    due = np.exp(x) ** 2 if sign > 0 else -(x**2)
    np.testing.assert_allclose(sw.from_graph(branches_in_a_row(), outputs="y")(x), due, rtol=1e-6)


def list_graph(shape=(-1,)):
    number = {"dtype": kind(pb.DT_INT32)}
    return graph_with(
        ("shape", "Const", [], number | {"value": np.array(shape, "int32")}),
        ("two", "Const", [], number | {"value": np.array(2, "int32")}),
        ("one", "Const", [], number | {"value": np.array(1, "int32")}),
        ("new", "TensorListReserve", ["shape", "two"], {"element_dtype": kind(), "shape_type": kind(pb.DT_INT32)}),
        ("set", "TensorListSetItem", ["new", "one", "x"], {"element_dtype": kind()}),
        ("get", "TensorListGetItem", ["set", "one", "shape"], {"element_dtype": kind()}),
        ("empty", "TensorListGetItem", ["new", "one", "shape"], {"element_dtype": kind()}),
        ("count", "TensorListLength", ["set"], {}),
        ("all", "TensorListStack", ["set", "shape"], {"element_dtype": kind()}),
        ("other", "TensorListFromTensor", ["all", "shape"], {"element_dtype": kind(), "shape_type": kind(pb.DT_INT32)}),
        ("outside", "TensorListGetItem", ["other", "two", "shape"], {"element_dtype": kind()}),
        ("wrong", "TensorListSetItem", ["other", "one", "first"], {"element_dtype": kind()}),
        ("first", "StridedSlice", ["x", "begin", "begin", "begin"], {"T": kind(), "Index": kind(pb.DT_INT32)}),
        ("begin", "Const", [], number | {"value": np.array([1], "int32")}),
    )


def test_lists_of_tensors():
    get, count, whole = sw.from_graph(list_graph(), outputs=["get", "count", "all"])(X)
    assert get.tolist() == X.tolist()
    assert int(count) == 2
    assert whole.tolist() == [[0, 0, 0, 0], X.tolist()]
    assert sw.from_graph(list_graph((4,)), outputs="empty")().tolist() == [0, 0, 0, 0]
    refused("SW0890", list_graph(), "'empty'", "no known shape", outputs="empty", call=[])
    refused("SW0886", list_graph(), "has none at 2", outputs="outside")
    refused("SW0886", list_graph(), "an element of shape [0] in a list of [4]", outputs="wrong")
    refused("SW0889", list_graph(), "a list", outputs="set")
    negative = list_graph()
    negative.node[2].attr["value"].tensor.int_val[0] = -1
    refused("SW0886", negative, "a list has no -1 elements", outputs="count")


def test_saved_models_that_are_not_there_or_have_other_names(tmp_path):
    model = unpacked() / "mlp"

    def says(code, *parts, path=model, **options):
        with pytest.raises(sw.ShardwrightError) as caught:
            sw.from_saved_model(path, **options)
        assert f"[{code}]" in str(caught.value)
        assert all(part in str(caught.value) for part in parts), caught.value

    says("SW0891", "no signature 'predict'", "it has serve, serving_default", signature="predict")
    says("SW0891", "no graph with the tags ['train']", "['serve']", tags=["train"])
    says("SW0891", "no input 'z'", "keras_tensor", inputs={"z": sw.TensorSpec((1, 16))})
    says("SW0891", "no saved_model.pb", path=tmp_path)
    (tmp_path / "saved_model.pb").write_bytes(b"\xff\xff")
    says("SW0886", "is no SavedModel", path=tmp_path)
    (tmp_path / "saved_model.cpb").write_bytes(b"")
    says("SW0891", "one is stale", path=tmp_path)
    (tmp_path / "saved_model.cpb").unlink()
    (tmp_path / "saved_model.pb").write_bytes((model / "saved_model.pb").read_bytes())
    says("SW0892", "variables.index", path=tmp_path)


@pytest.mark.peers
def test_tensorflows_own_message():
    graph_def = pytest.importorskip("tensorflow.core.framework.graph_pb2")
    theirs = graph_def.GraphDef.FromString(graph_with(RELU).SerializeToString())
    assert sw.from_graph(theirs)(X).tolist() == [0, 0, 2, 3]
