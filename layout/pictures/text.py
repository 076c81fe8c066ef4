"""A picture as lines of text, each in pieces of which some belong to a box and may be coloured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from shardwright.layout.pictures.grid import Grid, Row, Slice

Piece: TypeAlias = "tuple[str, int | None]"
"""Some text, and the number of the box whose it is."""

Line: TypeAlias = list[Piece]

GAP = "…"
"""What stands for what is left out."""


def grid_lines(grid: Grid, width: int) -> list[Line]:
    """The boxes of a grid in lines of at most `width` columns, as far as that is possible."""
    lines: list[Line] = []
    for part in grid.slices:
        if part.heading:
            lines.append([(part.heading, None)])
        lines += _slice_lines(grid, part, width)
    left = grid.slice_count - len(grid.slices)
    if left:
        lines.append([(f"{GAP} and {left:,} more {'slice' if left == 1 else 'slices'} like these", None)])
    return lines


def _slice_lines(grid: Grid, part: Slice, width: int) -> list[Line]:
    labels = [GAP if row is None else str(row) if grid.down is not None else "" for row in grid.rows]
    margin = max(map(len, labels)) + 1 if any(labels) else 0
    size = _cell_width(grid, part)
    columns = _fitting(grid, (width - margin - 1) // (size + 1))
    widths = [3 if at is None else size for at in columns]
    pad = " " * margin
    lines: list[Line] = []
    if grid.across is not None:
        heads = [GAP if at is None else str(grid.columns[at]) for at in columns]
        head = "".join(f"  {text}".ljust(size + 1) for text, size in zip(heads, widths, strict=True))
        lines.append([((pad + head).rstrip(), None)])
    lines.append([(pad + _rule("┌┬┐", widths), None)])
    for place, (label, row) in enumerate(zip(labels, part.rows, strict=True)):
        if place:
            lines.append([(pad + _rule("├┼┤", widths), None)])
        lines.append([(label.ljust(margin), None), *_row_pieces(row, columns, widths)])
    lines.append([(pad + _rule("└┴┘", widths), None)])
    return lines


def _fitting(grid: Grid, most: int) -> list[int | None]:
    """The columns that are drawn where `most` fit, None standing for the others: at least the first and the last."""
    drawn = [None if part is None else at for at, part in enumerate(grid.columns)]
    if len(drawn) <= most:
        return drawn
    return [*drawn[: max(most - 2, 1)], None, drawn[-1]]


def _cell_width(grid: Grid, part: Slice) -> int:
    """How wide columns are drawn, all alike so that boxes can be compared."""
    texts = [str(column) for column in grid.columns if column is not None]
    texts += [str(box) for row in part.rows if row is not None for box in row if box is not None]
    return max(map(len, texts)) + 2


def _rule(corners: str, widths: Sequence[int]) -> str:
    return corners[0] + corners[1].join("─" * size for size in widths) + corners[2]


def _row_pieces(row: Row | None, columns: Sequence[int | None], widths: Sequence[int]) -> Line:
    pieces: Line = [("│", None)]
    for at, size in zip(columns, widths, strict=True):
        box = None if row is None or at is None else row[at]
        pieces.append((GAP.center(size), None) if box is None else (f" {box} ".ljust(size), box.number))
        pieces.append(("│", None))
    return pieces


def wrapped(text: str, width: int) -> list[str]:
    """
    `text` in lines of at most `width` columns, cut between words.

    >>> wrapped("two boxes each", 9)
    ['two boxes', 'each']
    """
    lines: list[str] = []
    for word in text.split(" "):
        if lines and len(lines[-1]) + 1 + len(word) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines
