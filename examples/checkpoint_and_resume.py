"""
A training run on eight devices that is broken off, and goes on from its last checkpoint on another mesh.

Variables are written as shards by the devices that hold them, and each device of the other mesh reads its own part. Run
it as `python examples/checkpoint_and_resume.py` (extra `checkpoints`).
"""

from __future__ import annotations

import tempfile
from typing import Any

import shardwright as sw
from shardwright.dtensor import Layout, Mesh
from shardwright.examples import digits

BATCHES = digits.elements(rows=128, batches=12)


class Model(sw.Module):
    """The weights of the examples' model, split over the mesh axis `model`."""

    def __init__(self, mesh: Mesh) -> None:
        def variable(name: str, *entries: str | None) -> sw.Variable:
            layout = Layout(entries, mesh)
            return sw.Variable(digits.initial(name), shape=digits.SHAPES[name], layout=layout, name=name)

        self.table = variable("table", "model")
        self.scale = variable("scale", None)
        self.w1 = variable("w1", None, "model")
        self.b1 = variable("b1", "model")
        self.w2 = variable("w2", "model", None)


class Run:
    """A model with its optimizer on a mesh, and the directory in which its checkpoints are."""

    def __init__(self, mesh: Mesh, directory: str) -> None:
        self.mesh = mesh
        self.model = Model(mesh)
        self.optimizer = sw.optimizers.Adam(0.01)
        self.checkpoint = sw.Checkpoint(model=self.model, optimizer=self.optimizer, done=0)
        self.manager = sw.CheckpointManager(self.checkpoint, directory, max_to_keep=2)
        self.step = sw.function(self._step)

    def _step(self, pixels: Any, labels: Any) -> Any:
        with sw.GradientTape() as tape:
            scores = digits.forward(pixels, sw.gather(pixels, self.model.table), self.model)
            loss = digits.cross_entropy(scores, labels)
        variables = self.model.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        return loss

    def train(self, stop: int) -> list[float]:
        """Steps up to number `stop`, with a checkpoint after every third; their losses."""
        losses: list[float] = []
        for pixels, labels in BATCHES[self.checkpoint.done : stop]:
            layout = Layout(["batch"], self.mesh)
            losses.append(float(self.step(sw.relayout(pixels, layout), sw.relayout(labels, layout))))
            self.checkpoint.done += 1
            if self.checkpoint.done % 3 == 0:
                self.manager.save(self.checkpoint.done)
        return losses


def main() -> float:
    """Returns the largest relative difference between the losses of a run that goes through and one that resumes."""
    expected = Run(Mesh(batch=4, model=2), tempfile.mkdtemp()).train(12)
    with tempfile.TemporaryDirectory() as directory:
        broken = Run(Mesh(batch=4, model=2), directory)
        losses = broken.train(7)[:6]  # the seventh step is lost: the last checkpoint is from the sixth
        resumed = Run(Mesh(batch=2, model=6), directory)
        path = resumed.manager.restore_or_initialize()
        assert path is not None
        print(f"{resumed.mesh} goes on from {path.rpartition('/')[2]}, step {resumed.checkpoint.done}")
        print(f"{sw.verify_checkpoint(path)} bytes are whole; w1 is now {resumed.model.w1}")
        losses += resumed.train(12)
    found = digits.difference(losses, expected)
    print(f"loss {losses[0]:.4f} to {losses[-1]:.4f}; largest relative difference from one run: {found:.1e}")
    return found


if __name__ == "__main__":
    main()
