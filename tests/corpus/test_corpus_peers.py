"""Each program of the corpus in each layout: run by `shardwright run`, and compared with JAX on one device."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from corpus.catalogue import LIBRARIES, programs

from shardwright.tools.main import main

pytestmark = pytest.mark.peers

Capture = pytest.CaptureFixture[str]


@pytest.mark.parametrize("layout", ["data", "tensor", "fsdp"])
@pytest.mark.parametrize(("module", "name"), programs())
def test_steps_are_those_of_jax(module: str, name: str, layout: str, tmp_path: Path, capsys: Capture) -> None:
    jax = pytest.importorskip("jax")
    pytest.importorskip(LIBRARIES[module])
    with jax.enable_x64(True):
        from corpus.exporting import export, tolerance

        training = getattr(pytest.importorskip(f"corpus.{module}"), name)()
        program, arrays = export(training, layout, tmp_path)
        allowed = str(tolerance(training))
    arguments = ["--inputs", str(arrays), "--expect", str(arrays), "--check", "--rtol", allowed, "--atol", allowed]
    code = main(["run", str(program), *arguments, "--json"])
    output = capsys.readouterr()
    assert code == 0, output.err
    assert json.loads(output.out)["all_nan"] == []
