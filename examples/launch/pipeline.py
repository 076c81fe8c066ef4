"""
A pipeline: each stage of a model on processes of its own, with several microbatches in flight.

    python examples/launch/pipeline.py
    shardwright launch -n 4 --trace pipeline.json examples/launch/pipeline.py

Every process runs this file. What lies on a stage's mesh runs on the processes that hold it, and the others go on: the
first stage works on the next microbatch while the second has the one before. Open pipeline.json in ui.perfetto.dev.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import shardwright as sw

MICROBATCHES, STEPS, WIDTH, RATE = 4, 5, 64, 0.05


@sw.function
def first(x: Any, w: Any) -> Any:
    return sw.nn.relu(x @ w)


@sw.function
def first_slope(x: Any, w: Any, slope: Any) -> Any:
    """The gradient of the first stage, which is computed again rather than kept."""
    with sw.GradientTape() as tape:
        tape.watch(w)
        hidden = first(x, w)
    return tape.gradient(hidden, w, output_gradients=slope)


@sw.function
def last(hidden: Any, w: Any, wanted: Any) -> Any:
    """The loss of a microbatch, and its gradients."""
    with sw.GradientTape() as tape:
        tape.watch([hidden, w])
        loss = sw.sum((hidden @ w - wanted) ** 2)
    return loss, *tape.gradient(loss, [hidden, w])


def step(stages: list[sw.Mesh], weights: list[sw.Variable], x: Any, wanted: Any) -> Any:
    """All microbatches forward, then all of them back; returns the loss."""
    rows = [sw.Layout(["batch", None], stage) for stage in stages]
    parts = [sw.relayout(part, rows[0]) for part in np.split(x, MICROBATCHES)]
    ends = [sw.relayout(part, rows[1]) for part in np.split(wanted, MICROBATCHES)]
    found = []
    for part, end in zip(parts, ends, strict=True):
        hidden = sw.relayout(first(part, weights[0]), rows[1])  # who only sends does not wait
        found.append(last(hidden, weights[1], end))
    losses, slopes, last_slopes = zip(*found, strict=True)
    backs = [sw.relayout(slope, rows[0]) for slope in slopes]
    first_slopes = [first_slope(part, weights[0], slope) for part, slope in zip(parts, backs, strict=True)]
    weights[0].assign_sub(RATE / x.size * sum(first_slopes))
    weights[1].assign_sub(RATE / x.size * sum(last_slopes))
    return sum(losses) / x.size


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
    losses = [float(sw.fetch(step(stages, weights, x, wanted))) for _ in range(STEPS)]
    print("losses:", " ".join(f"{loss:.4f}" for loss in losses))
    return max(abs(a - b) for a, b in zip(losses, expected(start, x, wanted), strict=True))


if __name__ == "__main__":
    main()
