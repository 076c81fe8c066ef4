"""Exit codes, coded text, and the reproducer of an internal error."""

from __future__ import annotations

import io
import os
import sys
import tempfile
import warnings
from pathlib import Path

import pytest

from shardwright.diagnostics import Diagnostic, ShardwrightError, SourceLocation
from shardwright.tools.terminal.guard import CommandState, guarded, report_diagnostics


def test_done_passes_the_code_through() -> None:
    assert guarded(CommandState("c"), lambda _: 0) == 0


def test_a_users_mistake_prints_coded_text_with_the_source_line(capsys: pytest.CaptureFixture[str]) -> None:
    def body(state: CommandState) -> int:
        state.sources["f.mlir"] = "abc"
        raise ShardwrightError(Diagnostic("SW0201", "wrong", SourceLocation("f.mlir", 1, 2), help="right"))

    assert guarded(CommandState("c"), body) == 1
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err == "f.mlir:1:2: error[SW0201]: wrong\n  1 | abc\n    |  ^^\n  help: right\n"


def test_an_internal_error_saves_input_and_traceback(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def body(state: CommandState) -> int:
        state.sources["f.mlir"] = "module {}"
        raise KeyError("lost")

    assert guarded(CommandState("shardwright-opt f.mlir -p cse"), body) == 2
    (saved,) = tmp_path.iterdir()
    errors = capsys.readouterr().err
    assert errors.startswith("error[SW0799]: internal error: KeyError: 'lost'")
    assert str(saved) in errors
    assert "Traceback" not in errors
    text = saved.read_text()
    assert text.startswith("// command: shardwright-opt f.mlir -p cse\n// Traceback")
    assert text.endswith("module {}\n")


def test_names_that_are_no_text_are_written_out_in_the_reproducer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def body(_: CommandState) -> int:
        raise KeyError("caf\udce9")

    assert guarded(CommandState("shardwright run caf\udce9.mlir"), body) == 2
    (saved,) = tmp_path.iterdir()
    assert saved.read_text().startswith("// command: shardwright run caf\\udce9.mlir\n")
    assert str(saved) in capsys.readouterr().err


def test_memory_running_out_is_not_an_internal_error(capsys: pytest.CaptureFixture[str]) -> None:
    def body(_: CommandState) -> int:
        raise MemoryError("Unable to allocate 4 TiB")

    assert guarded(CommandState("c"), body) == 1
    assert "error[SW0717]" in capsys.readouterr().err


def test_a_reader_that_left_is_no_error(capsys: pytest.CaptureFixture[str]) -> None:
    def body(_: CommandState) -> int:
        raise BrokenPipeError

    assert guarded(CommandState("c"), body) == 1
    assert capsys.readouterr().err == ""


def test_a_warning_is_one_plain_line(capsys: pytest.CaptureFixture[str]) -> None:
    def body(_: CommandState) -> int:
        warnings.warn("slow core", RuntimeWarning, stacklevel=1)
        return 0

    assert guarded(CommandState("c"), body) == 0
    assert capsys.readouterr().err == "warning: slow core\n"


def test_a_missing_package_is_no_internal_error(capsys: pytest.CaptureFixture[str]) -> None:
    def body(state: CommandState) -> int:
        raise ModuleNotFoundError("No module named 'google'", name="google")

    assert guarded(CommandState("shardwright inspect f"), body) == 1
    said = capsys.readouterr().err
    assert "SW0884" in said
    assert "pip install 'shardwright[storage]'" in said


class Terminal(io.StringIO):
    """A stream that somebody reads as it comes."""

    def isatty(self) -> bool:
        return True


def test_colours_and_where_to_read_more_are_for_terminals(monkeypatch: pytest.MonkeyPatch) -> None:
    def said(**environment: str) -> str:
        stream = Terminal()
        monkeypatch.setattr(sys, "stderr", stream)
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        report_diagnostics(ShardwrightError(Diagnostic("SW0201", "wrong")), {})
        return stream.getvalue()

    monkeypatch.delenv("NO_COLOR", raising=False)
    assert said(TERM="xterm").startswith("\x1b[1;31merror[SW0201]\x1b[0m")
    assert said(TERM="dumb") == "error[SW0201]: wrong\n  more: shardwright explain-code SW0201\n"
    assert said(TERM="xterm", NO_COLOR="1") == "error[SW0201]: wrong\n  more: shardwright explain-code SW0201\n"


def test_a_working_directory_that_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def body(_: CommandState) -> int:
        os.getcwd()
        return 0

    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert guarded(CommandState("c"), body) == 1
    assert capsys.readouterr().err.startswith("error[SW0702]: the working directory is gone\n")
