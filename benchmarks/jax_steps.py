"""
One of several JAX processes, connected by gloo, that run the step of a program in turns: its text, compiled by XLA.

    python -m shardwright.benchmarks.jax_steps PROGRAM.mlir PLACE COUNT ADDRESS FOLDER
"""

from __future__ import annotations

import os
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any

from shardwright.benchmarks import files, ours, xla
from shardwright.benchmarks.turns import serve


def main(path: str, place: str, count: str, address: str, folder: str) -> None:
    """The devices of the program's mesh are shared out among the processes."""
    os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={xla.DEVICES // int(count)}"
    os.environ["JAX_PLATFORMS"] = "cpu"
    jax: Any = import_module("jax")
    jax.config.update("jax_cpu_collectives_implementation", "gloo")
    jax.distributed.initialize(address, int(count), int(place))
    file = files.ProgramFile(Path(path))
    executable = xla.compile_text(file.text)
    placed = executable.place(file.inputs(ours.signature(file.text).arguments))

    def step() -> float:
        start = time.perf_counter()
        executable.run(placed)
        return time.perf_counter() - start

    serve(folder, int(place), step)


if __name__ == "__main__":
    main(*sys.argv[1:])
