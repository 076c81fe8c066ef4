"""Compile one text with JAX in a process of its own, which can be stopped when it takes too long."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from shardwright.benchmarks import xla


def compile_seconds(text: str, timeout: float) -> float | None:
    """The seconds that JAX takes from text to executable; none when it took longer than `timeout`."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "program.mlir"
        path.write_text(text)
        command = [sys.executable, "-m", "shardwright.benchmarks.jax_child", str(path)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=True)
        except subprocess.TimeoutExpired:
            return None
    return float(done.stdout)


def main(path: str) -> None:
    """Compile something tiny first, so that JAX's own start is not counted, then the file."""
    xla.prepare()
    xla.compile_text("func.func public @main(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }")
    text = Path(path).read_text()
    start = time.perf_counter()
    xla.compile_text(text)
    print(round(time.perf_counter() - start, 3))


if __name__ == "__main__":
    main(sys.argv[1])
