"""What is done with each program of the corpus: `shardwright run`, compared with JAX on one device."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from corpus.catalogue import LIBRARIES
from shardwright.tools.main import main

Capture = pytest.CaptureFixture[str]
LAYOUTS = ["data", "tensor", "fsdp"]


def run(program: Path, arrays: Path, tolerance: float, capsys: Capture) -> tuple[int, Any]:
    """The exit code and the output of the command, with inputs and expected results from an archive."""
    given, allowed = (
        ["--inputs", str(arrays), "--expect", str(arrays)],
        ["--rtol", str(tolerance), "--atol", str(tolerance)],
    )
    return main(["run", str(program), *given, "--check", *allowed, "--json"]), capsys.readouterr()


def check(module: str, name: str, layout: str, tmp_path: Path, capsys: Capture) -> None:
    """The step of one device is that of eight, fused and as written; what cannot be run is refused by its code."""
    jax = pytest.importorskip("jax")
    pytest.importorskip(LIBRARIES[module])
    with jax.enable_x64(True):
        from corpus.exporting import export, step_of

        step = step_of(module, name)
        program, arrays = export(step, layout, tmp_path)
    code, output = run(program, arrays, step.tolerance, capsys)
    if step.training.refused is not None:
        assert code == 1
        assert f"error[{step.training.refused}]" in output.err
        return
    assert code == 0, output.err
    report = json.loads(output.out)
    assert report["all_nan"] == []
    assert {row["rtol"] for row in report["compared"]} == {step.tolerance}
