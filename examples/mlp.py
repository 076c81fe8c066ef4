"""
A two-layer perceptron, traced, over a 4x2 mesh: what is decided, what is sent and why, and whether it is right.

Rows of the input are split over `batch`; the hidden units, and so the weights, over `model`. Run it as
`python examples/mlp.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import shardwright as sw

MESH = sw.Mesh.distributed({"batch": 4, "model": 2})


@sw.function
def perceptron(x: Any, params: dict[str, Any]) -> Any:
    """The output of both layers."""
    hidden = sw.nn.gelu(x @ params["w1"] + params["b1"])
    return hidden @ params["w2"] + params["b2"]


def arrays() -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Seeded inputs and weights, as global arrays."""
    random = np.random.default_rng(0)
    shapes = {"w1": (128, 256), "b1": (256,), "w2": (256, 32), "b2": (32,)}
    params = {name: random.standard_normal(shape, np.float32) * np.float32(0.1) for name, shape in shapes.items()}
    return random.standard_normal((64, 128), np.float32), params


def distribute(x: np.ndarray, params: dict[str, np.ndarray]) -> tuple[sw.Array, dict[str, sw.Array]]:
    """The same arrays, split over the mesh."""
    layouts = {"w1": [None, "model"], "b1": ["model"], "w2": ["model"], "b2": [None]}
    distributed = {name: sw.relayout(array, sw.Layout(layouts[name], MESH)) for name, array in params.items()}
    return sw.relayout(x, sw.Layout(["batch"], MESH)), distributed


def main() -> float:
    """Print the report; returns the largest difference from the unsharded run."""
    x, params = arrays()
    batch, distributed = distribute(x, params)

    propagated = perceptron.trace(batch, distributed).propagate()
    print("layouts:")
    for row in propagated.layouts:
        print(f"  {row.layout:28} {row.op:24} {row.source.line if row.source else ''}")

    partitioned = propagated.partition()
    print("collectives:")
    for row in partitioned.predicted:
        print(f"  {row.kind} over {', '.join(row.axes)}: {row.plain_bytes} bytes per device, for {row.tensors[0]}")
        print(*(f"    because {reason.text}" for reason in row.reasons), sep="\n")

    compiled = partitioned.compile()
    result = compiled(batch, distributed)
    print(f"sent: {compiled.ledger.sent_bytes} bytes per device, predicted {partitioned.predicted_bytes}")

    difference = float(np.abs(sw.fetch(result) - perceptron(x, params)).max())
    laid = result.layout.describe(result.shape, "f32")
    print(f"result: {laid}, at most {difference:.2e} from the unsharded run")
    return difference


if __name__ == "__main__":
    main()
