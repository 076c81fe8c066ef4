"""The notebooks: every cell runs as a reader would run it, and what a cell shows is there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
SHOWN = {
    "layouts": ["<svg", "dim 0: 2 parts over data", "SW0104"],
    "why": ["all_gather model", "p['up']", "bytes per device", "predicted"],
    "workers": ["Workers(2"],
}
"""What the cells of each show, among other things."""


def executed(path: Path) -> list[dict[str, Any]]:
    """The outputs of all cells."""
    nbclient = pytest.importorskip("nbclient", reason="needs the extra notebooks")
    nbformat = pytest.importorskip("nbformat", reason="needs the extra notebooks")
    notebook = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute(cwd=str(FOLDER))
    return [output for cell in notebook.cells for output in cell.get("outputs", ())]


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_run(path: Path) -> None:
    outputs = executed(path)
    assert not [output for output in outputs if output["output_type"] == "error" or output.get("name") == "stderr"]
    shown = "\n".join(
        [*(output.get("text", "") for output in outputs), *(str(output.get("data", "")) for output in outputs)]
    )
    assert [each for each in SHOWN[path.stem] if each not in shown] == []


def test_notebooks_are_stored_without_what_they_showed() -> None:
    """Outputs would say what was so once; the test above says what is."""
    nbformat = pytest.importorskip("nbformat", reason="needs the extra notebooks")
    for path in NOTEBOOKS:
        notebook = nbformat.read(path, as_version=4)
        nbformat.validate(notebook)
        assert not [cell for cell in notebook.cells if cell.get("outputs") or cell.get("execution_count")]
    assert {path.stem for path in NOTEBOOKS} == set(SHOWN)
