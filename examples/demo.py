"""
`make demo`: two programs over a 4x2 mesh of devices, simulated on NumPy in this process.

The first is a perceptron that Shardwright traces, the second a training step that JAX exported. For each: the layouts,
every collective with its bytes and its reason, and the largest difference from the unsharded run.
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
from shardwright.compiler.layouts.unsharded import unsharded_module
from shardwright.compiler.stages import Partitioned, Propagated, Traced
from shardwright.compiler.tracing.pytree import flatten
from shardwright.examples import mlp
from shardwright.runtime.executable import compile_module

HERE = Path(__file__).resolve().parent
CONSOLE = Console(width=140, highlight=False)


def show_perceptron() -> None:
    """The program of `mlp.py`: rows split over `batch`, hidden units over `model`."""
    x, params = mlp.arrays()
    arguments = mlp.distribute(x, params)
    traced = mlp.perceptron.trace(*arguments)
    show("A traced two-layer perceptron", traced, arguments, [mlp.perceptron(x, params)])


def show_transformer() -> None:
    """The program that JAX exported, with seeded inputs."""
    traced = sw.load_mlir(HERE / "transformer_train.mlir")
    random = np.random.default_rng(0)
    # Scaled as weights are, so that activations stay near one.
    arguments = [
        random.standard_normal(one.shape, np.float32) / np.float32(max(1, np.prod(one.shape[:-1])) ** 0.5)
        for one in traced.interface.parameters
    ]
    unsharded = compile_module(unsharded_module(traced.module.clone()))
    show("A transformer's training step, exported by JAX", traced, arguments, unsharded.run(arguments))


def show(title: str, traced: Traced, arguments: Sequence[Any], expected: Sequence[Any]) -> None:
    """Partition, run and compare one program, and print what happened."""
    started = time.perf_counter()
    propagated = traced.propagate()
    partitioned = propagated.partition()
    compiled = partitioned.compile()
    seconds = time.perf_counter() - started
    results = compiled(*arguments)
    CONSOLE.rule(f"{title}, over {traced.interface.mesh}")
    show_layouts(propagated)
    show_collectives(partitioned)
    # Once more with nothing folded or fused: every collective on the devices' own values, as it is written.
    unfused = compile_module(partitioned.module, fused=False).run([whole(one) for one in flatten(arguments)[0]])
    runs = results if isinstance(results, tuple) else (results,), unfused
    pairs = [pair for run in runs for pair in zip(run, expected, strict=True)]
    difference = max(np.max(np.abs(whole(result) - wanted)) for result, wanted in pairs)
    ledger = compiled.ledger
    CONSOLE.print(
        f"predicted {partitioned.predicted_bytes} bytes per device; the run counted {ledger.sent_bytes} in "
        f"{ledger.messages} messages. Partitioned and compiled in {seconds * 1e3:.0f} ms."
    )
    CONSOLE.print(f"[bold]largest difference from the unsharded run: {difference:.2e}[/bold]\n")


def whole(array: Any) -> np.ndarray[Any, Any]:
    """An array as NumPy has it, also where this is one of several processes."""
    return sw.fetch(array) if isinstance(array, sw.DTensor) else np.asarray(array)


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
    show_perceptron()
    show_transformer()


if __name__ == "__main__":
    main()
