"""A picture as SVG, which stands in a page of HTML or in a file of its own."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from itertools import pairwise

from shardwright.layout.pictures.grid import Box, Grid, Part, Slice

ROW = 30
"""The height of a row of boxes, and of a line of text with what is around it."""

CHARACTER = 8
"""More than what a character of the texts is wide."""

GAP = "…"

COLOURS = ("#cfe3ff", "#ffe2b8", "#c9f0d0", "#f6d0e4", "#e3d9fb", "#f3efb0", "#c8eef0", "#f9d3cb")
"""What boxes are filled with, one after the other; dark text is easy to read on each."""

INK = "#16181d"
"""The colour of what is written in boxes and of their edges."""

_UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def clean(text: str) -> str:
    """
    `text` as XML may hold it.

    >>> clean("a<b>\\x00")
    'a&lt;b&gt;\\ufffd'
    """
    return escape(_UNWRITABLE.sub("\ufffd", text))


def grid_svg(grid: Grid, title: str, notes: Sequence[str]) -> str:
    """The picture, with the title and what there is to say as text; it has the colour of the text around it."""
    elements: list[str] = []
    top = ROW
    width = max(len(line) for line in (title, *notes)) * CHARACTER
    for line in notes:
        elements.append(_text(0, top, line))
        top += ROW * 2 // 3
    for part in grid.slices:
        found, right, top = _slice(grid, part, top)
        elements += found
        width = max(width, right)
    left = grid.slice_count - len(grid.slices)
    if left:
        elements.append(_text(0, top + 14, f"{GAP} and {left:,} more"))
        top += ROW
    body = "\n".join([_text(0, 14, title, ' font-weight="600"'), *elements])
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {top}" width="{width}" height="{top}" '
        f'role="img" font-family="ui-monospace, monospace" font-size="13">\n'
        f"<title>{clean(title)}</title>\n{body}\n</svg>"
    )


def _slice(grid: Grid, part: Slice, top: int) -> tuple[list[str], int, int]:
    """The elements of one slice, its right edge, and where the next one starts."""
    elements: list[str] = []
    if part.heading:
        elements.append(_text(0, top + 14, part.heading))
        top += ROW * 2 // 3
    labels = [_label(row) if grid.down is not None else "" for row in grid.rows]
    margin = (max(map(len, labels)) + 1) * CHARACTER if any(labels) else 1
    size = _column_width(grid, part)
    lefts = [margin]
    for column in grid.columns:
        lefts.append(lefts[-1] + (ROW if column is None else size))
    if grid.across is not None:
        for column, (start, stop) in zip(grid.columns, pairwise(lefts), strict=True):
            elements.append(_text((start + stop) // 2, top + 14, _label(column), ' text-anchor="middle"'))
        top += ROW * 2 // 3
    for label, row in zip(labels, part.rows, strict=True):
        if label:
            elements.append(_text(0, top + 20, label))
        for at, (start, stop) in enumerate(pairwise(lefts)):
            elements += _box(None if row is None else row[at], start, top, stop - start)
        top += ROW
    return elements, lefts[-1] + 1, top + ROW // 2


def _label(part: Part | None) -> str:
    return GAP if part is None else str(part)


def _column_width(grid: Grid, part: Slice) -> int:
    texts = [str(column) for column in grid.columns if column is not None]
    texts += [str(box) for row in part.rows if row is not None for box in row if box is not None]
    return (max(map(len, texts)) + 2) * CHARACTER


def _box(box: Box | None, left: int, top: int, width: int) -> list[str]:
    middle = ' text-anchor="middle"'
    if box is None:
        return [_text(left + width // 2, top + 20, GAP, middle)]
    fill = COLOURS[box.number % len(COLOURS)]
    frame = f'<rect x="{left}" y="{top}" width="{width}" height="{ROW}" fill="{fill}" stroke="{INK}"/>'
    return [frame, _text(left + width // 2, top + 20, str(box), middle, INK)]


def _text(left: int, base: int, text: str, more: str = "", colour: str = "currentColor") -> str:
    return f'<text x="{left}" y="{base}" fill="{colour}"{more}>{clean(text)}</text>'
