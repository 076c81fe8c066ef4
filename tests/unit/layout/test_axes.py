"""Axes and parts of axes: where they may be cut, and how neighbours join."""

from __future__ import annotations

from shardwright.layout.axes import Axis, borders, cut, merge_adjacent, overlap, quoted, symbol, unquoted
from shardwright.layout.forms.text import read_spec
from shardwright.layout.spec import LayoutSpec

SIZES = {"x": 8, "y": 8}
X, MAJOR, MINOR = Axis("x"), Axis("x", 1, 2), Axis("x", 2, 4)


def test_only_neighbours_of_one_axis_join() -> None:
    # Digits [1, 2) of x and [2, 8) of y go on from each other in number only.
    assert merge_adjacent([MAJOR, Axis("y", 2, 4)], SIZES) == (MAJOR, Axis("y", 2, 4))
    assert merge_adjacent([Axis("y"), MAJOR, MINOR], SIZES) == (Axis("y"), X)
    assert merge_adjacent([MAJOR, Axis("y"), MINOR], SIZES) == (MAJOR, Axis("y"), MINOR)
    assert merge_adjacent([], SIZES) == ()


def test_borders_are_at_prime_steps_through_the_marks() -> None:
    assert borders(1) == {1}
    assert borders(2) == {1, 2}
    assert borders(9) == {1, 3, 9}
    assert borders(30) == {1, 2, 6, 30}
    assert borders(30, [5, 1, 30]) == {1, 5, 10, 30}
    assert borders(12, [6]) == {1, 2, 6, 12}


def test_a_mark_that_crosses_an_earlier_one_is_no_border() -> None:
    # 3 is no multiple of 2: who cuts after 2 cannot cut after 3 as well.
    assert borders(6, [2, 3]) == {1, 2, 6}


def test_cut_parts_are_equal_or_apart() -> None:
    pieces = cut([X, MAJOR, Axis("y")], SIZES)
    assert pieces == {X: (MAJOR, MINOR), MAJOR: (MAJOR,), Axis("y"): (Axis("y"),)}
    assert cut([MINOR, Axis("x", 1, 4)], SIZES) == {
        MINOR: (Axis("x", 2, 2), Axis("x", 4, 2)),
        Axis("x", 1, 4): (MAJOR, Axis("x", 2, 2)),
    }


def test_parts_overlap_where_they_share_digits() -> None:
    assert overlap(X, MAJOR, 8)
    assert not overlap(MAJOR, MINOR, 8)
    assert not overlap(MINOR, MAJOR, 8)
    assert overlap(Axis("x", 1, 4), MINOR, 8)
    assert not overlap(X, Axis("y"), 8)
    # An axis of size one has no digits, but naming it twice is naming it twice.
    assert overlap(Axis("one"), Axis("one"), 1)


def test_names_are_written_as_strings_of_mlir() -> None:
    # What MLIR itself prints: '"' and what is no ASCII as bytes of UTF-8, a backslash twice.
    written = {"x": '"x"', 'x"y': r'"x\22y"', "\u00e9\\": r'"\C3\A9\\"', "a}, {b": '"a}, {b"', "\n": r'"\0A"'}
    for name, text in written.items():
        assert quoted(name) == text
        assert unquoted(text[1:-1]) == name
    assert [symbol(name) for name in ("mesh", "_a.b$1", "my mesh", "0", "")] == [
        "@mesh", "@_a.b$1", '@"my mesh"', '@"0"', '@""'
    ]  # fmt: skip


def test_a_layout_with_such_names_reads_back() -> None:
    for name in ('x"y', "\u00e9\\", "a}, {b", "\\22"):
        spec = LayoutSpec("my mesh", ((Axis(name, 1, 2),), ()), partial=(Axis(name, 2, 2),), kind="sum")
        assert read_spec(str(spec), "mesh") == spec
