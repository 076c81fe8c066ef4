"""
A program for one process, several, or several machines: data and model parallel training of a perceptron.

`python examples/launch/train.py` runs it in one process, `shardwright launch -n 4 examples/launch/train.py` on four of
this machine; how to run it on two machines is said in `examples/launch/README.md`. Nothing in it depends on that.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import shardwright as sw

STEPS = 20


def data() -> tuple[np.ndarray, np.ndarray]:
    """Seeded, so that every process makes the same: examples, and the sums of neighbours that are to be learnt."""
    inputs = np.random.default_rng(0).standard_normal((64, 16)).astype(np.float32)
    return inputs, inputs[:, :8] + inputs[:, 8:]


def train(mesh: sw.Mesh) -> list[float]:
    """The losses of all steps; hidden units are split over `model`, examples over `batch`."""
    random = np.random.default_rng(1)

    def weights(name: str, *specs: str | None, shape: tuple[int, int]) -> sw.Variable:
        initial = random.standard_normal(shape).astype(np.float32) / 4
        return sw.Variable(initial, layout=sw.Layout(list(specs), mesh), name=name)

    into = weights("into", None, "model", shape=(16, 32))
    out = weights("out", "model", None, shape=(32, 8))
    optimizer = sw.optimizers.Adam(0.02)

    @sw.function
    def step(x: Any, y: Any) -> Any:
        with sw.GradientTape() as tape:
            loss = sw.mean(sw.square(sw.nn.relu(x @ into) @ out - y))
        gradients = tape.gradient(loss, [into, out])
        optimizer.apply_gradients(zip(gradients, [into, out], strict=True))
        return loss

    x, y = (sw.relayout(array, sw.Layout(["batch"], mesh)) for array in data())
    return [float(step(x, y)) for _ in range(STEPS)]  # a loss is the same everywhere, and every process has it


def main() -> float:
    """Print the losses, once; returns the last one."""
    mesh = sw.Mesh.distributed({"batch": 4, "model": 2})  # over all processes, however many
    losses = train(mesh)
    if 0 in mesh.local_device_ids:  # the first process
        for at in range(0, STEPS, 5):
            print(f"step {at}: loss {losses[at]:.4f}")
        print(f"done: loss {losses[-1]:.4f}")
    return losses[-1]


if __name__ == "__main__":
    main()
