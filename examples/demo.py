"""
`make demo`: two programs over a 4x2 mesh of devices, simulated on NumPy in this process.

The first is a training step that Shardwright traces, the second one that JAX exported. For each: the layouts, every
collective with its bytes and its reason, and the largest difference from the unsharded run.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import shardwright as sw
from shardwright.compiler.stages import Partitioned, Propagated, Traced
from shardwright.compiler.unsharded import unsharded_module
from shardwright.runtime.executable import compile_module

HERE = Path(__file__).resolve().parent
MESH = sw.Mesh(batch=4, model=2)
CONSOLE = Console(width=140, highlight=False)


@sw.function
def two_layers(x: Any, target: Any, w1: Any, b1: Any, w2: Any, b2: Any) -> Any:
    """A two-layer perceptron and its loss."""
    hidden = sw.nn.relu(x @ w1 + b1)
    output = hidden @ w2 + b2
    return output, sw.mean((output - target) ** 2)


def perceptron() -> tuple[Traced, list[np.ndarray]]:
    """The traced program: rows split over `batch`, hidden units over `model`."""
    random = np.random.default_rng(0)
    described = {
        "x": ((64, 128), ["batch"]),
        "target": ((64, 32), ["batch"]),
        "w1": ((128, 256), [None, "model"]),
        "b1": ((256,), ["model"]),
        "w2": ((256, 32), ["model"]),
        "b2": ((32,), []),
    }
    arrays = [random.standard_normal(shape).astype(np.float32) * 0.1 for shape, _ in described.values()]
    layouts = [sw.Layout(axes, MESH) for _, axes in described.values()]
    tensors = [sw.relayout(array, layout) for array, layout in zip(arrays, layouts, strict=True)]
    return two_layers.trace(*tensors), arrays


def exported() -> tuple[Traced, list[np.ndarray]]:
    """The program that JAX exported, with seeded inputs."""
    traced = sw.load_mlir(HERE / "transformer_train.mlir")
    random = np.random.default_rng(0)
    parameters = traced.interface.parameters
    return traced, [(random.standard_normal(p.shape) * 0.1).astype(p.dtype) for p in parameters]


def show(title: str, traced: Traced, arguments: Sequence[np.ndarray]) -> None:
    """Partition, run and compare one program, and print what happened."""
    started = time.perf_counter()
    propagated = traced.propagate()
    partitioned = propagated.partition()
    compiled = partitioned.compile()
    ready = time.perf_counter()
    results = compiled(*arguments)
    CONSOLE.rule(f"{title}, over {MESH}")
    show_layouts(propagated)
    show_collectives(partitioned)
    expected = compile_module(unsharded_module(traced.module.clone())).run(arguments)
    difference = max(np.max(np.abs(np.asarray(a) - b)) for a, b in zip(results, expected, strict=True))
    ledger = compiled.ledger
    CONSOLE.print(
        f"predicted {partitioned.predicted_bytes} bytes per device; the run counted {ledger.sent_bytes} in "
        f"{ledger.messages} messages. From text to executable: {(ready - started) * 1e3:.0f} ms."
    )
    CONSOLE.print(f"[bold]largest difference from the unsharded run: {difference:.2e}[/bold]\n")


def show_layouts(propagated: Propagated) -> None:
    """The layouts of the arguments and of every matrix product, each with where it came from."""
    table = Table("value", "layout", "because", title="layouts of arguments and products", title_justify="left")
    rows = propagated.layouts
    for row in rows:
        if row.op == "argument" or row.op == "stablehlo.dot_general":
            place = f"product at {row.source}" if row.op != "argument" else row.name
            table.add_row(shortened(place), row.layout, shortened(row.chain[0]))
    CONSOLE.print(table)
    CONSOLE.print(f"in all {len(rows)} values have a layout and a reason (`shardwright explain FILE.mlir` shows them)")


def show_collectives(partitioned: Partitioned) -> None:
    """Every collective with the axes it runs over, its bytes and who asked for it."""
    table = Table("collective", "axes", "bytes per device", "because", title="collectives", title_justify="left")
    for row in partitioned.predicted:
        reasons = "\n".join(shortened(reason.asked_by) for reason in row.reasons)
        table.add_row(row.kind, ", ".join(row.axes), str(row.plain_bytes), reasons)
    CONSOLE.print(table)


def shortened(text: str) -> str:
    """Places in this folder by their file's name alone."""
    return text.replace(f"{HERE}/", "")


def main() -> None:
    """Both programs."""
    show("A traced two-layer perceptron", *perceptron())
    show("A transformer's training step, exported by JAX", *exported())


if __name__ == "__main__":
    main()
