"""Graphs that we write ourselves come back as the same programs; graphs in chunks are read as well."""

import shutil

import numpy as np
import pytest
from graph_models import DATA, stored, unpacked

import shardwright as sw
from shardwright.frontends.tensorflow.importing.files import read_saved_model
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


def named_model(folder, key):
    """A SavedModel whose names are no names of parameters, nor those of its nodes."""
    message = saved_model_pb2.SavedModel(saved_model_schema_version=1)
    meta = message.meta_graphs.add()
    meta.meta_info_def.tags.append("serve")
    floats = graph_pb2.AttrValue(type=graph_pb2.DT_FLOAT)
    shape = graph_pb2.AttrValue(shape=shape_proto((2, 3)))
    for name in ("first", "second"):
        meta.graph_def.node.add(name=name, op="Placeholder", attr={"dtype": floats, "shape": shape})
    for name, op in (("sum", "AddV2"), ("product", "Mul")):
        meta.graph_def.node.add(name=name, op=op, input=["first", "second"], attr={"T": floats})
    signature = meta.signature_def[key]
    sides = ((signature.inputs, INPUTS), (signature.outputs, OUTPUTS))
    for infos, names in sides:
        for name, tensor in names.items():
            infos[name].name, infos[name].dtype = f"{tensor}:0", graph_pb2.DT_FLOAT
            infos[name].tensor_shape.CopyFrom(shape_proto((2, 3)))
    folder.mkdir()
    (folder / "saved_model.pb").write_bytes(message.SerializeToString())
    return folder


INPUTS = {"class": "first", "my input-2": "second"}
OUTPUTS = {"logits": "sum", "a/b c": "product", "Logits": "sum"}


@pytest.mark.parametrize("key", ["serving_default", "predict images"])
def test_names_of_a_signature_survive_import_and_export(key, tmp_path):
    program = sw.from_saved_model(named_model(tmp_path / "one", key), key)
    for number, stage in enumerate((program, program.trace(), program.trace(X[:2, :3], X[2:, :3]).propagate())):
        sw.to_saved_model(stage, tmp_path / str(number))
        (meta,) = read_saved_model(tmp_path / str(number)).meta_graphs
        assert list(meta.signature_def) == [key]
        signature = meta.signature_def[key]
        assert set(signature.inputs) == set(INPUTS)
        assert set(signature.outputs) == set(OUTPUTS)
        again = sw.from_saved_model(tmp_path / str(number), key)
        found = again(**{"class": X[:2, :3], "my input-2": X[2:, :3]})
        np.testing.assert_array_equal(found["logits"], X[:2, :3] + X[2:, :3])
        np.testing.assert_array_equal(found["Logits"], X[:2, :3] + X[2:, :3])
        np.testing.assert_array_equal(found["a/b c"], X[:2, :3] * X[2:, :3])
