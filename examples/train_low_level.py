"""
The right-hand panel of the RFC's data and model parallel training: layouts are given where the variables are made.

Data parallel and model parallel training are one program on two meshes. Run it as `python examples/train_low_level.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import shardwright as sw
from shardwright.dtensor import Layout, Mesh
from shardwright.examples import digits, train_single_device

UNSHARDED = Mesh.UNSHARDED


class Model(sw.Module):
    """The model of `train_single_device.py`: note the additional argument, the mesh."""

    def __init__(self, mesh: Mesh) -> None:
        def variable(name: str, initial: Any, *entries: str) -> sw.Variable:
            return sw.Variable(initial, shape=digits.SHAPES[name], layout=Layout(entries, mesh), name=name)

        self.table = variable("table", digits.initial("table"), "model")
        self.scale = variable("scale", sw.ones, UNSHARDED)
        self.w1 = variable("w1", digits.initial("w1"), UNSHARDED, "model")
        self.b1 = variable("b1", sw.zeros, "model")
        self.w2 = variable("w2", digits.initial("w2"), "model")

    def __call__(self, pixels: Any) -> Any:
        return digits.forward(pixels, sw.gather(pixels, self.table), self)


class CustomSGDOptimizer(sw.Module):
    """Gradient descent with momentum, from scratch."""

    def __init__(self, model: sw.Module) -> None:
        self.vars = model.trainable_variables
        self.momentum_slots = [sw.Variable(sw.zeros_like(var), trainable=False) for var in self.vars]

    def apply(self, grads: Sequence[Any]) -> None:
        """One step."""
        for grad, slot, var in zip(grads, self.momentum_slots, self.vars, strict=True):
            var.assign_add(slot.assign(0.9 * slot - 0.1 * grad))


def train(mesh: Mesh) -> list[float]:
    """The loss of every step on a mesh."""
    model = Model(mesh)
    optimizer = CustomSGDOptimizer(model)
    metric = sw.Variable(sw.zeros((), layout=Layout(UNSHARDED, mesh)), trainable=False)
    dataset = sw.create_dtensor_iterable(
        digits.elements(rows=16, per_batch=8),
        element_layouts=Layout(["batch", UNSHARDED], mesh),
        batch_dimension="batch",
        num_elements_per_batch=8,
    )

    @sw.function
    def train_step(x: Any, y: Any) -> Any:
        with sw.GradientTape() as tape:
            loss = digits.cross_entropy(model(x), y)
        metric.assign_add(loss)
        optimizer.apply(tape.gradient(loss, model.trainable_variables))
        return loss

    losses = [float(train_step(x, y)) for x, y in dataset]
    print(f"{mesh}: loss {losses[0]:.4f} to {losses[-1]:.4f}, on the average {float(metric) / len(losses):.4f}")
    return losses


def main() -> float:
    """Returns the largest relative difference between the losses of one device and those of eight."""
    expected = train_single_device.train()
    data_parallel = Mesh.distributed(dims=[("batch", 8), ("model", 1)])
    model_parallel = Mesh.distributed(dims=[("batch", 4), ("model", 2)])
    found = max(digits.difference(train(mesh), expected) for mesh in (data_parallel, model_parallel))
    print(f"largest relative difference from one device: {found:.1e}")
    return found


if __name__ == "__main__":
    main()
