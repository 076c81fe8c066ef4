"""What is done with each program of the corpus: `shardwright run`, compared with JAX on one device."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from corpus.catalogue import LIBRARIES
from shardwright.tools.main import main

LAYOUTS = ["data", "tensor", "fsdp"]


def check(module: str, name: str, layout: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The step of one device is that of eight, fused and as written; what cannot be run is refused by its code."""
    jax = pytest.importorskip("jax")
    pytest.importorskip(LIBRARIES[module])
    with jax.enable_x64(True):
        from corpus.exporting import export, step_of

        step = step_of(module, name)
        program, arrays = export(step, layout, tmp_path)
    allowed = str(step.tolerance)
    arguments = ["--inputs", str(arrays), "--expect", str(arrays), "--check", "--rtol", allowed, "--atol", allowed]
    code = main(["run", str(program), *arguments, "--json"])
    output = capsys.readouterr()
    if step.training.refused is not None:
        assert code == 1
        assert f"error[{step.training.refused}]" in output.err
        return
    assert code == 0, output.err
    report = json.loads(output.out)
    assert report["all_nan"] == []
    assert {row["rtol"] for row in report["compared"]} == {step.tolerance}
