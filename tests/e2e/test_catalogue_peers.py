"""Programs that JAX exports on the spot: our results are JAX's, our bytes at most XLA's, in both of JAX's notations."""

from __future__ import annotations

import re
from collections.abc import Generator
from pathlib import Path

import pytest

from shardwright.benchmarks.check_programs import OK, check
from shardwright.benchmarks.files import ROOT, ProgramFile

pytestmark = pytest.mark.peers

CATALOGUE = sorted((ROOT / "benchmarks" / "programs").glob("*.py"))

MORE_THAN_XLA = {
    "cholesky_grad_columns": "devices share the matrices and solves that XLA has each pair of them do twice",
}
"""Programs that send more, and why."""


def names(decorator: str) -> list[str]:
    """The catalogue's names, read from its text: importing it would import JAX."""
    text = "".join(path.read_text() for path in CATALOGUE)
    return re.findall(rf"(?ms)^@{decorator}\(.*?^def (\w+)", text)


@pytest.mark.parametrize("name", names("(?:program|whole)"))
def test_program(name: str, tmp_path: Path) -> None:
    from shardwright.benchmarks.export_programs import PROGRAMS, export

    export(PROGRAMS[name], tmp_path)
    found = check(ProgramFile(tmp_path / name / f"{name}.mlir"))
    assert (found.state, found.faults) == (OK, ())
    if found.xla is not None:
        assert found.sent is not None
        assert (found.sent > found.xla) == (name in MORE_THAN_XLA), found.line


@pytest.fixture
def without_shardy() -> Generator[None]:
    """JAX prints layouts as XLA's strings."""
    import jax

    jax.config.update("jax_use_shardy_partitioner", False)
    yield
    jax.config.update("jax_use_shardy_partitioner", True)


@pytest.mark.usefixtures("without_shardy")
@pytest.mark.parametrize("name", names("whole")[::6])
def test_program_with_strings_for_layouts(name: str, tmp_path: Path) -> None:
    from shardwright.benchmarks.export_programs import PROGRAMS, export

    export(PROGRAMS[name], tmp_path)
    file = ProgramFile(tmp_path / name / f"{name}.mlir")
    assert "mhlo.sharding" in file.text
    assert "sdy." not in file.text
    assert check(file).faults == ()
