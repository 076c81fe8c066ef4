"""Programs that JAX exports on the spot: our results are those of one unsharded device, our bytes at most XLA's."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from shardwright.benchmarks import ours
from shardwright.benchmarks.files import ROOT, ProgramFile
from shardwright.tools.arrays import load_archive, select

pytestmark = pytest.mark.peers

CATALOGUE = sorted((ROOT / "benchmarks" / "programs").glob("*.py"))


def names() -> list[str]:
    """The catalogue's names, read from its text: importing it would import JAX."""
    return re.findall(r"(?ms)^@program\(.*?^def (\w+)", "".join(path.read_text() for path in CATALOGUE))


@pytest.mark.parametrize("name", names())
def test_program(name: str, tmp_path: Path) -> None:
    from shardwright.benchmarks.export_programs import PROGRAMS, export

    meta = export(PROGRAMS[name], tmp_path)
    file = ProgramFile(tmp_path / name / f"{name}.mlir")
    signature = ours.signature(file.text)
    executable = ours.compile_text(file.text)
    results = executable.run(file.inputs(signature.arguments))
    archive = file.path.with_suffix(".npz")
    expected = select(load_archive(str(archive)), str(archive), signature.results)
    for result, wanted in zip(results, expected, strict=True):
        np.testing.assert_allclose(result.astype(np.float64), wanted.astype(np.float64), **meta["tol"])
    assert executable.ledger.sent_bytes == ours.sent_bytes(file.text)
    assert executable.ledger.sent_bytes <= meta["xla"]["sent_bytes"]
