"""
One of several PyTorch processes, connected by gloo, that run the step of `mlp_train_dptp` in turns, with DTensor.

    python -m shardwright.benchmarks.torch_steps PROGRAM.mlir PLACE COUNT ADDRESS FOLDER

With as many devices as processes, of which each has its part of the batch, and all of the weights.
"""

from __future__ import annotations

import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any

from shardwright.benchmarks import files, ours
from shardwright.benchmarks.turns import serve

NAME = "mlp_train_dptp"
"""The program that is written here."""

RATE = 0.1


def main(path: str, place: str, count: str, address: str, folder: str) -> None:
    """Connects, and places what the program's file gives."""
    torch: Any = import_module("torch")
    dtensor: Any = import_module("torch.distributed.tensor")
    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo", init_method=f"tcp://{address}", rank=int(place), world_size=int(count))
    mesh = torch.distributed.init_device_mesh("cpu", (int(count),), mesh_dim_names=("batch",))
    file = files.ProgramFile(Path(path))
    arrays = [torch.from_numpy(array) for array in file.inputs(ours.signature(file.text).arguments)]
    everywhere = [dtensor.Replicate()]
    weights = [dtensor.distribute_tensor(array, mesh, everywhere) for array in arrays[:4]]
    x, target = (dtensor.distribute_tensor(array, mesh, [dtensor.Shard(0)]) for array in arrays[4:])

    def step() -> float:
        start = time.perf_counter()
        train_step(torch, everywhere, weights, x, target)
        return time.perf_counter() - start

    serve(folder, int(place), step)


def train_step(torch: Any, everywhere: Any, weights: list[Any], x: Any, target: Any) -> tuple[list[Any], float]:
    """New weights, and the mean squared error."""
    b1, b2, w1, w2 = leaves = [weight.detach().requires_grad_() for weight in weights]
    error = torch.relu(x @ w1 + b1) @ w2 + b2 - target
    loss = (error * error).mean()
    loss.backward()
    with torch.no_grad():
        made = [leaf - RATE * leaf.grad.redistribute(placements=everywhere) for leaf in leaves]
    return made, float(loss.detach().full_tensor())


if __name__ == "__main__":
    main(*sys.argv[1:])
