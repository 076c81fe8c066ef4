"""Graphs that we write ourselves come back as the same programs; graphs in chunks are read as well."""

import shutil

import numpy as np
import pytest
from graph_models import DATA, stored, unpacked

import shardwright as sw
from shardwright.frontends.tensorflow.importing.tensors import shape_proto
from shardwright.serialization.protos import graph_pb2, saved_model_pb2
from shardwright.serialization.splitting import splitter_for

RANDOM = np.random.default_rng(0)
X, W = (RANDOM.standard_normal(shape).astype("float32") for shape in ((4, 8), (8, 8)))
IMAGES, FILTERS = (RANDOM.standard_normal(shape).astype("float32") for shape in ((2, 8, 8, 2), (3, 3, 2, 4)))

PROGRAMS = {
    "perceptron": (lambda x, w: sw.nn.softmax(sw.nn.relu(x @ w) @ w), X, W),
    "gradient": (sw.grad(lambda w, x: sw.sum(sw.square(sw.nn.gelu(x @ w)))), W, X),
    "scan": (lambda x: sw.scan(lambda c, y: (c * 0.5 + y, sw.sin(c)), sw.zeros(8), x), X),
    "while": (lambda x: sw.while_loop(lambda y: sw.sum(y) < 100.0, lambda y: y * y + 1, x), X),
    "branch": (lambda x: sw.cond(sw.sum(x) > 0, lambda: x + 1, lambda: x - 1), X),
    "convolution": (
        sw.grad(lambda k, x: sw.sum(sw.nn.max_pool2d(sw.nn.conv2d(x, k), 2))), FILTERS, IMAGES,
    ),
    "sorts": (lambda x: (sw.sort(x, axis=1), sw.argsort(x, axis=0), sw.top_k(x, 3)[1]), X),
    "sums": (lambda x: (sw.cumulative_sum(x, axis=1), sw.flip(x, axis=0), sw.roll(x, 2, axis=1)), X),
    "places": (lambda x, i: (sw.take(x, i, axis=0), sw.scatter_add(x, i, x[:2])), X, np.array([3, 1])),
    "transform": (lambda x: sw.abs(sw.fft.fft(sw.astype(x, "complex64"))), X),
    "factor": (lambda w: sw.linalg.cholesky(w @ w.T + 8 * sw.eye(8)), W),
    "half": (lambda x: sw.astype(sw.nn.softmax(sw.astype(x, sw.bfloat16)), "float32"), X),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_exported_is_read_back(name):
    program, *arguments = PROGRAMS[name]
    function = program if hasattr(program, "trace") else sw.function(program)
    due = function(*arguments)
    graph = sw.to_graph_def(function.trace(*arguments))
    inputs = [node.name for node in graph.node if node.op == "Placeholder"]
    outputs = [node.name for node in graph.node if node.name == "result" or node.name.startswith("result_")]
    found = sw.from_graph(graph, inputs=inputs, outputs=outputs)(*arguments)
    for ours, theirs in zip(found, due if isinstance(due, tuple) else [due], strict=True):
        np.testing.assert_allclose(np.asarray(ours), np.asarray(theirs), rtol=1e-6, atol=1e-6)


def named_graph():
    """Names that Python has not: a keyword, a number, scopes; and a variable."""
    floats = graph_pb2.AttrValue(type=graph_pb2.DT_FLOAT)
    graph = graph_pb2.GraphDef()
    for name in ("block-1/x", "class", "1x"):
        graph.node.add(name=name, op="Placeholder", attr={"dtype": floats, "shape": SHAPE})
    handle = graph.node.add(name="dense/kernel", op="VarHandleOp", attr={"dtype": floats, "shape": SHAPE})
    handle.attr["shared_name"].s = b"dense/kernel"
    graph.node.add(name="read", op="ReadVariableOp", input=["dense/kernel"], attr={"dtype": floats})
    for name, inputs in (("out/put", ["block-1/x", "class"]), ("o.2", ["1x", "read"])):
        graph.node.add(name=name, op="AddV2", input=inputs, attr={"T": floats})
    return graph


SHAPE = graph_pb2.AttrValue(shape=shape_proto((2,)))


@pytest.mark.parametrize("outputs", [["out/put", "o.2"], {"scores/a": "out/put", "b c": "o.2"}, "out/put"])
def test_export_renames_nothing(outputs, tmp_path):
    kernel = np.array([5.0, 6.0], "float32")
    program = sw.from_graph(named_graph(), outputs=outputs, variables={"dense/kernel": kernel})
    traced = program.trace()
    graph = sw.to_graph_def(traced)
    names = {node.name: node.op for node in graph.node}
    taken = [node.name for node in graph.node if node.op == "Placeholder"]
    assert taken == list(program.inputs)
    assert ("dense/kernel" in names) == (outputs != "out/put")
    assert names.get("dense/kernel", "Const") == "Const"
    given = list(program.outputs)
    wanted = [name.replace("b c", "b_c") for name in given]  # a node has no spaces in its name, a signature's key may
    assert all(names[name] == "Identity" for name in wanted)
    arrays = [np.array([place, 1], "float32") for place in range(len(taken))]
    again = sw.from_graph(graph, inputs=taken, outputs=wanted)(*arrays)
    due = program(*arrays)
    due = list(due.values()) if isinstance(due, dict) else [due] if outputs == "out/put" else list(due)
    assert [np.asarray(one).tolist() for one in again] == [np.asarray(one).tolist() for one in due]
    sw.to_saved_model(traced, tmp_path / "first", signature="score")
    sw.to_saved_model(sw.from_saved_model(tmp_path / "first", "score").trace(), tmp_path / "model")
    model = sw.from_saved_model(tmp_path / "model", "score")
    assert sorted(model.inputs) == sorted({"class": "class_"}.get(name, name) for name in taken)
    assert sorted(model.outputs) == sorted(given)


def test_signatures_keep_their_names(tmp_path):
    program = sw.from_saved_model(unpacked() / "convnet")
    (x,) = (value for key, value in stored().items() if key.startswith("convnet/") and "=" not in key)
    sw.to_saved_model(program.trace(x), tmp_path / "model")
    again = sw.from_saved_model(tmp_path / "model")
    assert list(again.inputs) == list(program.inputs)
    assert again.outputs == program.outputs
    graph = sw.to_graph_def(program.trace(x))
    assert {node.name for node in graph.node if node.op == "Const"} >= {
        name for name in program.weights if not name.startswith("seed")
    }


def test_graphs_and_models_in_chunks(tmp_path):
    arrays = stored()
    graph = graph_pb2.GraphDef.FromString((DATA / "frozen.pb").read_bytes())
    path = splitter_for(graph, max_size=4096).write(tmp_path / "graph")
    assert str(path).endswith(".cpb")
    found = sw.from_graph(path, outputs="probabilities")(arrays["frozen/images"])
    np.testing.assert_allclose(found, arrays["frozen/=output"], rtol=1e-5, atol=1e-6)
    folder = tmp_path / "mlp"
    shutil.copytree(unpacked() / "mlp", folder)
    model = saved_model_pb2.SavedModel.FromString((folder / "saved_model.pb").read_bytes())
    splitter_for(model, max_size=4096).write(folder / "saved_model")
    assert not (folder / "saved_model.pb").exists()
    found = sw.from_saved_model(folder)(arrays["mlp/keras_tensor"])["output_0"]
    np.testing.assert_allclose(found, arrays["mlp/=output"], rtol=1e-5, atol=1e-6)
