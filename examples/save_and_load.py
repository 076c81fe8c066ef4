"""
A model is trained on eight devices, saved, and trained on where there are four, or one: the losses are the same.

What is loaded needs none of the classes below. Run it as `python examples/save_and_load.py`.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import shardwright as sw
from shardwright import Layout, Mesh

EIGHT = Mesh([("batch", 4), ("model", 2)])
STEPS = 5


class Classifier(sw.Module):
    """Two layers, and how to train them."""

    def __init__(self, random: np.random.Generator) -> None:
        self.w1 = sw.Variable(
            random.standard_normal((64, 32)).astype("float32") / 8, layout=Layout([None, "model"], EIGHT)
        )
        self.w2 = sw.Variable(random.standard_normal((32, 8)).astype("float32") / 8, layout=Layout(["model"], EIGHT))
        self.optimizer = sw.optimizers.Adam(learning_rate=0.01)

    @sw.function
    def __call__(self, x: Any) -> Any:
        return sw.nn.relu(x @ self.w1) @ self.w2

    @sw.function
    def train(self, x: Any, labels: Any) -> Any:
        """One step; the loss before it."""
        with sw.GradientTape() as tape:
            loss = sw.mean(sw.nn.softmax_cross_entropy(self(x), labels))
        weights = self.trainable_variables
        gradients = tape.gradient(loss, weights)
        self.optimizer.apply_gradients(zip(gradients, weights, strict=True))
        return loss


def main() -> float:
    """Returns the largest relative difference between losses after loading and without."""
    random = np.random.default_rng(0)
    x, labels = random.standard_normal((16, 64)).astype("float32"), random.integers(0, 8, 16)
    rows = Layout(["batch"], EIGHT)
    batch = sw.relayout(x, rows), sw.relayout(labels, rows)
    model = Classifier(random)
    model(batch[0])
    first = float(model.train(*batch))
    with tempfile.TemporaryDirectory() as folder:
        place = sw.save(model, Path(folder) / "classifier")
        print("saved:", ", ".join(sorted(path.name for path in Path(place).iterdir())))
        meshes = {"eight devices": None, "four": Mesh(batch=2, model=2), "one": Mesh()}
        loaded = {name: sw.load(place, mesh=mesh) for name, mesh in meshes.items()}
    expected = [float(model.train(*batch)) for _ in range(STEPS)]
    print(f"trained on: loss {first:.4f} to {expected[-1]:.4f}")
    found = 0.0
    for name, other in loaded.items():
        losses = [float(other.train(x, labels)) for _ in range(STEPS)]
        print(f"{name}: {other.train.signatures[0]}; loss {losses[-1]:.4f}, w1 {other.w1!r}")
        found = max(found, *(abs(a - b) / b for a, b in zip(losses, expected, strict=True)))
    print(f"largest relative difference: {found:.1e}")
    return found


if __name__ == "__main__":
    main()
