"""
Weak scaling without the machines: one process of up to 1,024 runs its part of a training step, and what it tells MPI is
counted. The code is that of real jobs (compiler, generated program, `MpiCommunicator`); the network is a model.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from shardwright.benchmarks import ours
from shardwright.benchmarks.network import one_of_many
from shardwright.benchmarks.report import Cell, Report
from shardwright.dialects.text.parsing import parse_module
from shardwright.layout.forms.clients import Clients
from shardwright.runtime.executable import compile_module

ROWS, WIDTH, HIDDEN = 256, 256, 1024
"""What one device has: rows of the batch, the width of the model, and hidden units."""

STEPS = 3

Case = tuple[int, int, str]
"""How many devices split the batch, how many the hidden units, and the axis that splits the weights."""

FAMILY: dict[str, Callable[[int], Case]] = {
    "data parallel": lambda count: (count, 1, "model"),
    "fully sharded": lambda count: (count, 1, "batch"),
    "tensor parallel": lambda count: (1, count, "model"),
    "2D": lambda count: (count >> count.bit_length() // 2, 1 << count.bit_length() // 2, "model"),
}
"""The programs, for a power of two devices."""


def step_text(batch: int, model: int, weights: str) -> str:
    """One step of gradient descent for two layers; rows grow with `batch`, hidden units with `model`."""
    rows, hidden = ROWS * batch, HIDDEN * model
    x, a = f"tensor<{rows}x{WIDTH}xf32>", f"tensor<{rows}x{hidden}xf32>"
    w1, w2 = f"tensor<{WIDTH}x{hidden}xf32>", f"tensor<{hidden}x{WIDTH}xf32>"
    split_x, split_w1, split_w2 = (
        f"{{sdy.sharding = #sdy.sharding<@mesh, [{dims}]>}}"
        for dims in ('{"batch"}, {}', f'{{}}, {{"{weights}"}}', f'{{"{weights}"}}, {{}}')
    )
    return f"""
sdy.mesh @mesh = <["batch"={batch}, "model"={model}]>
func.func public @main(%w1: {w1} {split_w1}, %w2: {w2} {split_w2}, %x: {x} {split_x}, %t: {x} {split_x})
    -> ({w1} {split_w1}, {w2} {split_w2}) {{
  %zero = stablehlo.constant dense<0.0> : {a}
  %h = stablehlo.dot_general %x, %w1, contracting_dims = [1] x [0] : ({x}, {w1}) -> {a}
  %a = stablehlo.maximum %h, %zero : {a}
  %y = stablehlo.dot_general %a, %w2, contracting_dims = [1] x [0] : ({a}, {w2}) -> {x}
  %d = stablehlo.subtract %y, %t : {x}
  %g2 = stablehlo.dot_general %a, %d, contracting_dims = [0] x [0] : ({a}, {x}) -> {w2}
  %da = stablehlo.dot_general %d, %w2, contracting_dims = [1] x [1] : ({x}, {w2}) -> {a}
  %on = stablehlo.compare GT, %h, %zero : ({a}, {a}) -> tensor<{rows}x{hidden}xi1>
  %dh = stablehlo.select %on, %da, %zero : tensor<{rows}x{hidden}xi1>, {a}
  %g1 = stablehlo.dot_general %x, %dh, contracting_dims = [0] x [0] : ({x}, {a}) -> {w1}
  %rate1 = stablehlo.constant dense<1.0e-03> : {w1}
  %rate2 = stablehlo.constant dense<1.0e-03> : {w2}
  %s1 = stablehlo.multiply %g1, %rate1 : {w1}
  %s2 = stablehlo.multiply %g2, %rate2 : {w2}
  %n1 = stablehlo.subtract %w1, %s1 : {w1}
  %n2 = stablehlo.subtract %w2, %s2 : {w2}
  return %n1, %n2 : {w1}, {w2}
}}
"""


def scaled(name: str, count: int) -> dict[str, Cell]:
    """What the step costs one process in the middle of so many, a device each."""
    batch, model, weights = FAMILY[name](count)
    communicator, counts = one_of_many(Clients(count, count // 2))
    module = ours.partition(parse_module(step_text(batch, model, weights), ours.FILE_NAME))
    start = time.perf_counter()
    executable = compile_module(module, communicator=communicator, threads=1)
    compiled = time.perf_counter() - start
    bases = [np.full(port.base_shape, 1e-3, port.dtype) for port in executable.inputs]
    seconds = list[float]()
    for _ in range(STEPS):
        executable.run_bases(bases)
        seconds.append(executable.seconds)
    network = counts.seconds / STEPS
    return {
        "program": name,
        "mesh": f"{batch}x{model}",
        "processes": count,
        "compile ms": round(compiled * 1e3, 1),
        "partners": len(counts.partners),
        "messages": counts.messages // STEPS,
        "bytes sent": counts.bytes // STEPS,
        "predicted": float(executable.ledger.sent_bytes),
        "network ms": round(network * 1e3, 3),
        "compute ms": round(min(seconds) * 1e3, 2),
        "efficiency": round(min(seconds) / (min(seconds) + network), 3),
    }


def scaling(most: int) -> Report:
    """The family of programs on 2 to so many processes."""
    report = Report("scaling", "weak scaling: one process's part of a step, on a network that is a model")
    for name in FAMILY:
        count = 2
        while count <= most:
            report.add(scaled(name, count))
            count *= 2
    report.notes.append("the model: 2 us for a message, 12.5 GB/s; an all-reduce is halved and doubled")
    report.notes.append("messages and bytes include the agreement on what runs next: an all-reduce of 16 bytes")
    return report
