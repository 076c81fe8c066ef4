"""Diagnostics as text: source line, caret, window, notes and help."""

from __future__ import annotations

from pathlib import Path

from shardwright.diagnostics import Diagnostic, SourceLocation
from shardwright.diagnostics.render import MOST, WINDOW, excerpt, render, render_all


def at(line: int, column: int, file: str = "f.mlir") -> Diagnostic:
    return Diagnostic("SW0201", "wrong", SourceLocation(file, line, column), ("because",), "do this")


def test_shows_the_line_with_a_caret_under_the_column() -> None:
    assert render(at(2, 3), {"f.mlir": "first\nabcdef\n"}) == (
        "f.mlir:2:3: error[SW0201]: wrong\n  | abcdef\n  |   ^\n  note: because\n  help: do this"
    )


def test_reads_the_line_from_the_file_itself(tmp_path: Path) -> None:
    path = tmp_path / "g.mlir"
    path.write_text("hello\n")
    assert "  | hello\n  |     ^" in render(at(1, 5, str(path)))


def test_says_no_line_where_there_is_none() -> None:
    plain = "f.mlir:9:1: error[SW0201]: wrong\n  note: because\n  help: do this"
    assert render(at(9, 1), {"f.mlir": "one line"}) == plain
    assert render(Diagnostic("SW0201", "wrong")) == "error[SW0201]: wrong"


def test_a_directory_or_a_binary_file_has_no_lines(tmp_path: Path) -> None:
    binary = tmp_path / "b.mlir"
    binary.write_bytes(b"\xff\xfe\x00")
    assert "|" not in render(at(1, 1, str(tmp_path)))
    assert "|" not in render(at(1, 1, str(binary)))
    assert "|" not in render(at(1, 1, "nul\0byte"))


def test_long_lines_are_cut_around_the_column() -> None:
    line = "a" * 5000 + "HERE" + "b" * 5000
    text, caret = excerpt(line, 5001)
    assert len(text) == WINDOW + 6
    assert text[caret.index("^") :].startswith("HERE")
    assert text.startswith("...")
    assert text.endswith("...")


def test_a_column_behind_the_end_points_behind_the_last_character() -> None:
    assert excerpt("abc", 99) == ("abc", "   ^")


def test_control_characters_do_not_reach_the_terminal() -> None:
    assert excerpt("\tx\x1b[31m", 2) == (" x?[31m", " ^")


def test_no_more_than_a_screenful() -> None:
    text = render_all([Diagnostic("SW0201", f"number {index}") for index in range(MOST + 3)])
    assert text.splitlines() == [*(f"error[SW0201]: number {index}" for index in range(MOST)), "... and 3 more"]


def test_several_are_joined_by_lines() -> None:
    both = render_all([at(1, 1), at(2, 1)], {"f.mlir": "x\ny"})
    assert both.count("error[SW0201]") == 2
