"""
The left-hand panel of the RFC's data and model parallel training: a strategy gives variables and batches their layouts.

The model is that of `train_single_device.py`, without a word about layouts. Run this file as
`python examples/train_strategy.py`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import shardwright as sw
from shardwright.dtensor import Layout, Mesh
from shardwright.examples import digits, train_single_device


def train(mesh: Mesh) -> list[float]:
    """The loss of every step on a mesh."""
    layout_map = sw.LayoutMap(
        {
            "table|w2": Layout(["model"], mesh),
            "w1": Layout([Mesh.UNSHARDED, "model"], mesh),
            "b1": Layout(["model"], mesh),
        }
    )
    mp = sw.distribute.DTensorStrategy(default_mesh=mesh, batch_dim="batch", layout_map=layout_map)

    with mp.scope():
        model = train_single_device.Model()
        optimizer = sw.optimizers.SGD(learning_rate=0.1, momentum=0.9)
        metric = sw.metrics.Mean()
    print(layout_map.resolve(model))

    def dataset_fn(context: sw.distribute.InputContext) -> Iterable[Any]:
        rows = context.get_per_replica_batch_size(128)
        found = digits.elements(rows, per_batch=context.num_replicas_in_sync)
        return found[context.input_pipeline_id :: context.num_input_pipelines]

    @sw.function
    def train_step(x: Any, y: Any) -> Any:
        with sw.GradientTape() as tape:
            loss = digits.cross_entropy(model(x), y)
        metric.update_state(loss)
        variables = model.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        return loss

    dataset = mp.distribute_dataset_from_fn(dataset_fn)
    losses = [float(mp.run(train_step, batch)) for batch in dataset]
    print(f"{mesh}: loss {losses[0]:.4f} to {losses[-1]:.4f}, on the average {float(metric.result()):.4f}")
    return losses


def main() -> float:
    """Returns the largest relative difference between the losses of one device and those of eight."""
    expected = train_single_device.train()
    mesh = Mesh.distributed(dims=[("batch", 4), ("model", 2)])
    found = digits.difference(train(mesh), expected)
    print(f"largest relative difference from one device: {found:.1e}")
    return found


if __name__ == "__main__":
    main()
