"""Diagnostics as text: source line, caret, window, notes and help."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from shardwright.diagnostics import Diagnostic, Label, SourceLocation
from shardwright.diagnostics.render import MOST, WINDOW, render, render_all


def at(line: int, column: int, file: str = "f.mlir") -> Diagnostic:
    return Diagnostic("SW0201", "wrong", SourceLocation(file, line, column), ("because",), "do this")


def test_shows_the_line_with_a_caret_under_the_column() -> None:
    assert render(at(2, 3), {"f.mlir": "first\nabcdef\n"}) == (
        "f.mlir:2:3: error[SW0201]: wrong\n  2 | abcdef\n    |   ^^^^\n  note: because\n  help: do this"
    )


def test_reads_the_line_from_the_file_itself(tmp_path: Path) -> None:
    path = tmp_path / "g.mlir"
    path.write_text("hello\n")
    assert "  1 | hello\n    |     ^" in render(at(1, 5, str(path)))


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


def drawn(line: str, column: int, length: int = 0) -> tuple[str, str]:
    """A source line and what stands below it, as shown."""
    location = SourceLocation("f.mlir", 1, column, length)
    text = render(Diagnostic("SW0201", "wrong", location), {"f.mlir": line})
    _, shown, below = text.split("\n")
    assert shown.startswith("  1 | ")
    assert below.startswith("    | ")
    return shown[6:], below[6:]


def test_long_lines_are_cut_around_the_column() -> None:
    text, below = drawn("a" * 5000 + " HERE " + "b" * 5000, 5002)
    assert len(text) == WINDOW + 6
    assert text[below.index("^") : below.rindex("^") + 1] == "HERE"
    assert text.startswith("...")
    assert text.endswith("...")


def test_a_column_behind_the_end_points_behind_the_last_character() -> None:
    assert drawn("abc", 99) == ("abc", "   ^")


def test_control_characters_do_not_reach_the_terminal() -> None:
    assert drawn("\tx\x1b[31m", 2) == (" x?[31m", " ^")


@pytest.mark.parametrize(
    ("line", "column", "below"),
    [
        ("  %0 = stablehlo.add %a, %b", 8, "       ^^^^^^^^^^^^^"),
        ('  %0 = "stablehlo.add"(%a)', 8, "       ^^^^^^^^^^^^^^^"),
        ("  return %long-er : f32", 10, "         ^^^^^"),
        ("(%x: tensor<4xf32>)", 2, " ^^"),
        ("a -> b", 3, "  ^^"),
        ("call @relu(%0)", 6, "     ^^^^^"),
    ],
)
def test_the_word_that_stands_there_is_underlined(line: str, column: int, below: str) -> None:
    assert drawn(line, column) == (line, below)


def test_a_length_says_how_much_is_meant() -> None:
    assert drawn("dims = [1, 1] : x", 8, 6) == ("dims = [1, 1] : x", "       ^^^^^^")
    assert drawn("dims", 1, 60) == ("dims", "^^^^")


PROGRAM = """\
mesh @mesh = x
one
f(%x: {"x", "xy"}, %y: {"x"}) other
three
four
five
last %x
"""


def test_other_places_are_drawn_in_the_order_of_lines() -> None:
    labels = (Label(SourceLocation("p", 1, 6), "declared here"), Label(SourceLocation("p", 7, 6), "used here"))
    found = Diagnostic("SW0105", "twice", SourceLocation("p", 3, 3), labels=labels, word='"x"', earlier="first here")
    assert render(found, {"p": PROGRAM}).split("\n") == [
        "p:3:3: error[SW0105]: twice",
        "  1 | mesh @mesh = x",
        "    |      ----- declared here",
        "  2 | one",
        '  3 | f(%x: {"x", "xy"}, %y: {"x"}) other',
        "    |        ---              ^^^",
        "    |        first here",
        "  ...",
        "  7 | last %x",
        "    |      -- used here",
    ]


def test_several_labels_of_one_line() -> None:
    labels = tuple(Label(SourceLocation("p", 1, column), text) for column, text in ((3, "B"), (1, "A"), (5, "C")))
    found = Diagnostic("SW0201", "wrong", SourceLocation("p", 1, 7), labels=labels)
    below = render(found, {"p": "a b c d"}).split("\n")[2:]
    assert below == ["    | - - - ^", "    | | | C", "    | | B", "    | A"]


def test_labels_whose_lines_are_not_at_hand_are_notes(tmp_path: Path) -> None:
    other = tmp_path / "other.py"
    other.write_text("def f(x):\n    return x\n")
    labels = (
        Label(SourceLocation("gone.py", 4, 2), "defined here"),
        Label(SourceLocation(str(other), 2, 5), "and here"),
    )
    found = Diagnostic("SW0303", "wrong", SourceLocation("p", 1, 1), labels=labels)
    assert render(found, {"p": "a"}).split("\n") == [
        "p:1:1: error[SW0303]: wrong",
        "  1 | a",
        "    | ^",
        f"   --> {other}",
        "  2 |     return x",
        "    |     ------ and here",
        "  note: gone.py:4:2: defined here",
    ]
    assert str(found).split("\n")[1:] == ["  note: gone.py:4:2: defined here", f"  note: {other}:2:5: and here"]


def test_colours_only_add_to_the_text() -> None:
    labels = (Label(SourceLocation("p", 1, 1), "first"),)
    found = Diagnostic("SW0201", "wrong", SourceLocation("p", 3, 1), ("why",), "mend", labels=labels)
    coloured = render(found, {"p": PROGRAM}, colour=True)
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == render(found, {"p": PROGRAM})
    assert "\x1b[1;31merror[SW0201]\x1b[0m" in coloured
    assert "\x1b[1;31m^\x1b[0m" in coloured
    assert "\x1b[1;34m----\x1b[0m" in coloured
    assert "\x1b[" not in render(found, {"p": PROGRAM})


def test_no_more_than_a_screenful() -> None:
    text = render_all([Diagnostic("SW0201", f"number {index}") for index in range(MOST + 3)])
    assert text.splitlines() == [*(f"error[SW0201]: number {index}" for index in range(MOST)), "... and 3 more"]


def test_several_are_joined_by_lines() -> None:
    both = render_all([at(1, 1), at(2, 1)], {"f.mlir": "x\ny"})
    assert both.count("error[SW0201]") == 2
