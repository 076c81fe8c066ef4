"""The in-process shell of the lit files."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest


def load() -> ModuleType:
    """The shell's module, which lies among the lit files."""
    place = Path(__file__).resolve().parents[2] / "lit" / "in_process.py"
    spec = importlib.util.spec_from_file_location("in_process", place)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault("in_process", module)
    spec.loader.exec_module(module)
    return module


shell = load()

PROGRAM = "func.func @main() {\n  return\n}\n"


@pytest.fixture
def run(tmp_path: Path):
    """Runs the text of a lit file."""

    def execute(text: str) -> None:
        path = tmp_path / "case.mlir"
        path.write_text(text)
        shell.run_file(path, tmp_path)

    return execute


def test_a_passing_file(run) -> None:
    run(f"// RUN: shardwright-opt %s | filecheck %s\n// RUN: %roundtrip\n// CHECK: func.func @main\n{PROGRAM}")


def test_a_failing_check_shows_the_expected_line_and_the_text(run) -> None:
    with pytest.raises(shell.RunFailure) as caught:
        run(f"// RUN: shardwright-opt %s | filecheck %s\n// CHECK: func.func @other\n{PROGRAM}")
    text = str(caught.value)
    assert "RUN line 1 failed: shardwright-opt" in text
    assert "case.mlir:2" in text
    assert "func.func @other" in text
    assert "func.func @main() {" in text


def test_pipes_redirections_and_not(run, tmp_path: Path) -> None:
    run(
        "// RUN: shardwright-opt %s > %t && cat %t | filecheck %s\n"
        "// RUN: shardwright-opt < %s | filecheck %s\n"
        "// RUN: not shardwright-opt %s -p nonsense 2>&1 | filecheck %s --check-prefix=ERROR\n"
        "// RUN: not shardwright-opt %s -p nonsense 2>/dev/null\n"
        f"// CHECK: func.func\n// ERROR: SW0705\n{PROGRAM}"
    )


def test_not_does_not_excuse_internal_errors(run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(shell.COMMANDS, "crash", lambda arguments, text: (2, "", "boom"))
    with pytest.raises(shell.RunFailure, match="gave exit code 2"):
        run("// RUN: not crash")


def test_quotes_protect_operators(run, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[list[str]] = []
    monkeypatch.setitem(shell.COMMANDS, "note", lambda arguments, text: (seen.append(arguments), (0, "", ""))[1])
    run("// RUN: note 'a|b{x=1 y=2}' --c=\"d > e\" 2\n// RUN: note \\\n// RUN:   joined")
    assert seen[0][:3] == ["a|b{x=1 y=2}", "--c=d > e", "2"]
    assert seen[1] == ["joined"]


def test_a_check_that_filecheck_would_skip_is_refused(run) -> None:
    with pytest.raises(shell.RunFailure, match="filecheck ignores this CHECK"):
        run(f"// RUN: shardwright-opt %s | filecheck %s\n// COMMON // CHECK: nothing\n{PROGRAM}")


@pytest.mark.parametrize("text", ["func.func @main()", "// RUN: frobnicate %s", "// RUN: cat %s |"])
def test_files_that_test_nothing_fail(run, text: str) -> None:
    with pytest.raises(shell.RunFailure):
        run(text)
