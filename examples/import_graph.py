"""
A TensorFlow graph becomes a program: a frozen network that nobody wrote for several devices runs on eight.

TensorFlow is not needed: the graph is made here, message by message, as a tool of TensorFlow would have written it to a
`.pb` file. Run it as `python examples/import_graph.py`.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import shardwright as sw
from shardwright import Layout, Mesh, TensorSpec
from shardwright.frontends.tensorflow.importing.tensors import shape_proto, tensor_proto
from shardwright.serialization.protos import graph_pb2

MESH = Mesh.distributed([("batch", 4), ("model", 2)])


def graph_of(w1: Any, w2: Any) -> graph_pb2.GraphDef:
    """A perceptron with its weights as constants: `scores = softmax(relu(x @ w1) @ w2)`."""
    graph = graph_pb2.GraphDef()
    floats = graph_pb2.AttrValue(type=graph_pb2.DT_FLOAT)
    x = graph.node.add(name="x", op="Placeholder", attr={"dtype": floats})
    x.attr["shape"].shape.CopyFrom(shape_proto((None, w1.shape[0])))
    for name, value in (("w1", w1), ("w2", w2)):
        constant = graph_pb2.AttrValue(tensor=tensor_proto(value))
        graph.node.add(name=name, op="Const", attr={"dtype": floats, "value": constant})
    graph.node.add(name="hidden", op="MatMul", input=["x", "w1"], attr={"T": floats})
    graph.node.add(name="relu", op="Relu", input=["hidden"], attr={"T": floats})
    graph.node.add(name="logits", op="MatMul", input=["relu", "w2"], attr={"T": floats})
    graph.node.add(name="scores", op="Softmax", input=["logits"], attr={"T": floats})
    return graph


def main() -> float:
    """Returns the largest difference from the same network in NumPy."""
    random = np.random.default_rng(0)
    w1, w2, x = (random.standard_normal(shape).astype("float32") / 8 for shape in ((64, 512), (512, 64), (32, 64)))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "network.pb"
        path.write_bytes(graph_of(w1, w2).SerializeToString())
        rows = TensorSpec((32, 64), "float32", Layout(["batch"], MESH))
        split = {"w1": Layout([None, "model"], MESH), "w2": Layout(["model"], MESH)}
        network = sw.from_graph(path, inputs={"x": rows}, outputs="scores", layouts=split)
    print(network)
    partitioned = network.trace().partition()
    print(f"{partitioned!r}\n")
    for row in partitioned.predicted:
        print(f"{row.kind}, {row.bytes_per_device} bytes per device: {row.reasons[0].text}")

    scores = network(x)
    print(f"\nscores: {scores.layout.describe(scores.shape, 'f32')}")
    logits = np.maximum(x @ w1, 0) @ w2
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    error = float(np.max(np.abs(sw.fetch(scores) - powers / powers.sum(axis=1, keepdims=True))))
    print(f"largest difference from NumPy: {error:.1e}")
    return error


if __name__ == "__main__":
    main()
