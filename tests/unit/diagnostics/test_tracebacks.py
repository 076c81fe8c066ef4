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
OWN_FAULT = """\
from shardwright.compiler.checking import wrong_program
import shardwright as sw; sw.Mesh
def fail(x):
    raise wrong_program('x')
sw.function(fail)(1)
"""
PROGRAMS = {
    "mistake": MISTAKE,
    "cause": OWN_CAUSE,
    "fault": OWN_FAULT,
    "other": "import shardwright as sw; sw.Mesh\n1 / 0\n",
}
ONE_BY_ONE = """\
import sys
for path in sys.argv[1:]:
    try:
        exec(compile(open(path).read(), path, "exec"), {"__name__": "__main__"})
    except Exception as error:
        sys.excepthook(type(error), error, error.__traceback__.tb_next)
    print("\\f", file=sys.stderr)
"""
"""Runs programs as Python runs each, and says after each of them that it is over."""


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


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What one process says that runs all programs: to load the package takes longer than they do."""
    paths = [tmp_path_factory.mktemp(name) / "train.py" for name in PROGRAMS]
    for path, program in zip(paths, PROGRAMS.values(), strict=True):
        path.write_text(program)
    done = subprocess.run([sys.executable, "-c", ONE_BY_ONE, *paths], capture_output=True, text=True, check=True)
    *found, rest = done.stderr.split("\f\n")
    assert rest == ""
    return dict(zip(PROGRAMS, found, strict=True))


def places(text: str) -> list[str]:
    """The files and lines of a traceback."""
    lines = [line.split(", in ")[0].strip() for line in text.splitlines() if line.startswith("  File ")]
    return [line.removeprefix("File ").replace('"', "").rpartition("/")[2] for line in lines]


def test_frames_of_ours_are_left_out(texts: dict[str, str]) -> None:
    text = texts["mistake"]
    assert places(text) == ["train.py, line 13", "train.py, line 6", "train.py, line 10"]
    assert "error[SW0504]: matmul does not fit shapes [4, 8] and [4, 8]" in text
    assert text.rstrip().endswith(tracebacks.NOTE)


def test_all_frames_can_be_had(tmp_path: Path) -> None:
    text = said(tmp_path, MISTAKE, {tracebacks.VARIABLE: "full"})
    assert len(places(text)) > 6
    assert tracebacks.NOTE not in text


def test_errors_that_are_not_ours_are_shown_as_they_are(texts: dict[str, str], tmp_path: Path) -> None:
    assert places(texts["other"]) == ["train.py, line 2"]
    assert places(said(tmp_path, "import shardwright as sw\n1 / 0\n")) == ["train.py, line 2"]


def test_a_fault_of_ours_has_all_its_frames(texts: dict[str, str]) -> None:
    assert "function.py" in " ".join(places(texts["fault"]))


def test_what_the_users_code_raised_before_stays(texts: dict[str, str]) -> None:
    assert places(texts["cause"]) == ["train.py, line 4", "train.py, line 6"]


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
