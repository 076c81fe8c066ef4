"""Tracebacks of a user's mistakes show the user's frames; of all else, all frames."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from shardwright.diagnostics import tracebacks

MISTAKE = """\
import numpy as np, shardwright as sw


@sw.function
def step(a, b):
    return product(a, b)


def product(a, b):
    return a @ b


step(np.zeros((4, 8)), np.zeros((4, 8)))
"""
OWN_CAUSE = """\
import shardwright as sw

try:
    {}["key"]
except KeyError as error:
    raise sw.ShardwrightError(sw.Diagnostic("SW0504", "no")) from error
"""
FULL = {tracebacks.VARIABLE: "full"}


def said(folder: Path, program: str, variables: dict[str, str] | None = None) -> str:
    path = folder / "train.py"
    path.write_text(program)
    done = subprocess.run(
        [sys.executable, str(path)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **(variables or {})},
    )
    assert done.returncode == 1
    return done.stderr


def places(text: str) -> list[str]:
    """The files and lines of a traceback."""
    lines = [line.split(", in ")[0].strip() for line in text.splitlines() if line.startswith("  File ")]
    return [line.removeprefix("File ").replace('"', "").rpartition("/")[2] for line in lines]


def test_frames_of_ours_are_left_out(tmp_path: Path) -> None:
    text = said(tmp_path, MISTAKE)
    assert places(text) == ["train.py, line 13", "train.py, line 6", "train.py, line 10"]
    assert "error[SW0504]: matmul does not fit shapes [4, 8] and [4, 8]" in text
    assert text.rstrip().endswith(tracebacks.NOTE)


def test_all_frames_can_be_had(tmp_path: Path) -> None:
    text = said(tmp_path, MISTAKE, FULL)
    assert len(places(text)) > 6
    assert tracebacks.NOTE not in text


@pytest.mark.parametrize("program", ["import shardwright as sw; sw.Mesh\n1 / 0\n", "import shardwright as sw\n1 / 0\n"])
def test_errors_that_are_not_ours_are_shown_as_they_are(program: str, tmp_path: Path) -> None:
    assert places(said(tmp_path, program)) == ["train.py, line 2"]


def test_a_fault_of_ours_has_all_its_frames(tmp_path: Path) -> None:
    raising = "from shardwright.compiler.checking import wrong_program\nimport shardwright as sw; sw.Mesh\n"
    text = said(tmp_path, raising + "def fail(x):\n    raise wrong_program('x')\nsw.function(fail)(1)\n")
    assert "function.py" in " ".join(places(text))


def test_what_the_users_code_raised_before_stays(tmp_path: Path) -> None:
    assert places(said(tmp_path, OWN_CAUSE)) == ["train.py, line 4", "train.py, line 6"]


def test_without_a_frame_of_the_users_all_stay() -> None:
    error = tracebacks.ShardwrightError(())
    assert tracebacks.trimmed(error, None) is None


def test_notebooks_show_them_so_too() -> None:
    pytest.importorskip("IPython", reason="needs IPython")
    cell = "@sw.function\ndef product(a, b):\n    return a @ b\nproduct(np.zeros((4, 8)), np.zeros((4, 8)))"
    program = f"""
from IPython.terminal.interactiveshell import TerminalInteractiveShell
shell = TerminalInteractiveShell.instance(colors="nocolor")
shell.run_cell("import numpy as np, shardwright as sw; sw.Mesh")
shell.run_cell({cell!r})
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "----> 4 product(" in done.stdout
    assert "error[SW0504]" in done.stdout
    assert "function.py" not in done.stdout
