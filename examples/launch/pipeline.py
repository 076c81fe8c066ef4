"""
A pipeline: each stage of a model on processes of its own, with several microbatches in flight.

    python examples/launch/pipeline.py
    shardwright launch -n 4 --trace pipeline.json examples/launch/pipeline.py

Every process runs this file. What lies on a stage's mesh runs on the processes that hold it, and the others go on: the
first stage works on the next microbatch while the second has the one before. Open pipeline.json in ui.perfetto.dev: it
shows what each stage does with which microbatch, and where it waits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import shardwright as sw

MICROBATCHES, STEPS, WIDTH, RATE = 4, 5, 64, 0.05


def first(w: Any, x: Any) -> Any:
    return sw.nn.relu(x @ w)


def last(w: Any, hidden: Any) -> Any:
    return hidden @ w


def loss(y: Any, wanted: Any) -> Any:
    return sw.mean((y - wanted) ** 2)


def step(pipeline: sw.distribute.Pipeline, weights: list[sw.Variable], x: Any, wanted: Any) -> float:
    """Trains on a batch; returns its loss."""
    value, gradients = pipeline(weights, x, wanted)
    for weight, gradient in zip(weights, gradients, strict=True):
        weight.assign_sub(RATE * gradient)
    return float(sw.fetch(value))


def expected(start: list[Any], x: Any, wanted: Any) -> list[float]:
    """The losses of the same steps as NumPy computes them, without stages and microbatches."""
    one, two = start
    losses = []
    for _ in range(STEPS):
        hidden = np.maximum(x @ one, 0)
        error = hidden @ two - wanted
        losses.append(float((error**2).mean()))
        slope = 2 * RATE / x.size * error
        one, two = one - x.T @ ((slope @ two.T) * (hidden > 0)), two - hidden.T @ slope
    return losses


def main() -> float:
    """Trains, prints the losses, and returns the greatest difference from NumPy's."""
    mesh = sw.Mesh.distributed({"stage": 2, "batch": 2})
    stages = [mesh.submesh(stage=number) for number in range(2)]
    random = np.random.default_rng(0)
    start = [random.standard_normal((WIDTH, WIDTH)) / WIDTH**0.5 for _ in stages]
    weights = [sw.Variable(sw.relayout(w, sw.Layout([], stage))) for w, stage in zip(start, stages, strict=True)]
    x = random.standard_normal((MICROBATCHES * 8, WIDTH))
    wanted = np.sin(x)
    rows = [sw.Layout(["batch", None], stage) for stage in stages]
    pipeline = sw.distribute.Pipeline([first, last], loss, rows, MICROBATCHES)
    losses = [step(pipeline, weights, x, wanted) for _ in range(STEPS)]
    print("losses:", " ".join(f"{loss:.4f}" for loss in losses))
    return max(abs(a - b) for a, b in zip(losses, expected(start, x, wanted), strict=True))


if __name__ == "__main__":
    main()
