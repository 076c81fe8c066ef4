"""
One controller and four workers: a perceptron is trained on processes that this one only talks to.

Nothing waits for a step: thirty of them are in line before the first loss is looked at. Run it as
`python examples/launch/controller.py`, without any launcher; it needs `pip install 'shardwright[mpi]'`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import shardwright as sw

STEPS = 30


def data() -> tuple[np.ndarray, np.ndarray]:
    """Seeded inputs, and the sums of neighbours that are to be learnt."""
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
    optimizer = sw.optimizers.Adam(0.01)

    @sw.function
    def step(x: Any, y: Any) -> Any:
        with sw.GradientTape() as tape:
            loss = sw.mean(sw.square(sw.nn.relu(x @ into) @ out - y))
        gradients = tape.gradient(loss, [into, out])
        optimizer.apply_gradients(zip(gradients, [into, out], strict=True))
        return loss

    x, y = (sw.relayout(array, sw.Layout(["batch"], mesh)) for array in data())
    losses = [step(x, y) for _ in range(STEPS)]  # put in line
    return [float(loss) for loss in losses]  # waited for


def main() -> float:
    """Print the losses; returns the largest difference from those of one process."""
    with sw.Workers(4) as workers:
        losses = train(workers.mesh(batch=2, model=2))
        print(f"{workers}, which hold {max(workers.held_bytes):,} bytes at most")
    print(f"loss: {losses[0]:.4f} to {losses[-1]:.4f} in {STEPS} steps")
    here = train(sw.Mesh(batch=2, model=2))
    difference = max(abs(one - other) for one, other in zip(losses, here, strict=True))
    print(f"at most {difference:.2e} from the same in one process")
    return difference


if __name__ == "__main__":
    main()
