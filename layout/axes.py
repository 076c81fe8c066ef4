"""Mesh axes and parts of them (sub-axes), as layouts name them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

_PLAIN = re.compile(r"[ !#-\[\]-~]*")
_BARE = re.compile(r"[A-Za-z_][\w$.]*", re.ASCII)
BRIEF_NAME = re.compile(r"[^\W\d][\w.$-]*")
"""Names that people read without quotes."""

_ESCAPED = re.compile(rb"\\([0-9A-F]{2}|\\)")


def quoted(name: str) -> str:
    """
    A name as MLIR writes strings.

    >>> print(quoted("x"), quoted('x"\u00e9'))
    "x" "x\\22\\C3\\A9"
    """
    if _PLAIN.fullmatch(name):
        return f'"{name}"'
    escaped = (chr(byte) if _PLAIN.fullmatch(chr(byte)) else f"\\{byte:02X}" for byte in name.encode())
    text = "".join(escaped).replace("\\5C", r"\\")
    return f'"{text}"'


def unquoted(text: str) -> str:
    r"""
    The name that `quoted` wrote, without its quotes.

    >>> unquoted(r"x\22\\")
    'x"\\'
    """

    def byte(match: re.Match[bytes]) -> bytes:
        return b"\\" if match[1] == b"\\" else bytes.fromhex(match[1].decode())

    return _ESCAPED.sub(byte, text.encode()).decode(errors="replace")


def symbol(name: str) -> str:
    """
    A name as MLIR writes what refers to it.

    >>> print(symbol("mesh"), symbol("my mesh"))
    @mesh @"my mesh"
    """
    return f"@{name if _BARE.fullmatch(name) else quoted(name)}"


class Axis(NamedTuple):
    """
    A whole mesh axis, or the part of one that Shardy writes `"x":(pre)size`.

    Think of the axis' index as digits, major to minor: the part skips the first digits, whose sizes multiply to
    `pre`, and takes the next ones, whose sizes multiply to `size`. A whole axis has `size == 0`.

    >>> str(Axis("x")), str(Axis("x", 2, 4))
    ('"x"', '"x":(2)4')
    """

    name: str
    pre: int = 1
    size: int = 0

    @property
    def whole(self) -> bool:
        """Whether this is the whole mesh axis."""
        return self.size == 0

    def __str__(self) -> str:
        return quoted(self.name) if self.size == 0 else f"{quoted(self.name)}:({self.pre}){self.size}"

    def brief(self) -> str:
        """The form people read: `x` or `x:(2)4`, in quotes only where a name needs them."""
        name = self.name if BRIEF_NAME.fullmatch(self.name) else quoted(self.name)
        return name if self.size == 0 else f"{name}:({self.pre}){self.size}"


_AXIS = re.compile(rf'(?:"(?P<quoted>[^"]*)"|(?P<name>{BRIEF_NAME.pattern}))(?::\((?P<pre>\d+)\)(?P<size>\d+))?')


def parse_axis(text: str) -> Axis:
    """
    Reads the form that `Axis.brief` writes.

    Raises `ValueError` when `text` is no axis.

    >>> parse_axis("x:(2)4")
    Axis(name='x', pre=2, size=4)
    """
    match = _AXIS.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text!r} is not a mesh axis: write a name like x, or a part of one like x:(2)4")
    name = match["name"] or unquoted(match["quoted"])
    return Axis(name) if match["pre"] is None else Axis(name, int(match["pre"]), int(match["size"]))


def span(axis: Axis, full: int) -> tuple[int, int]:
    """The half-open range `[pre, pre * size)` of the axis' digits that `axis` takes, for an axis of size `full`."""
    return (1, full) if axis.size == 0 else (axis.pre, axis.pre * axis.size)


def overlap(a: Axis, b: Axis, full: int) -> bool:
    """Whether two parts share digits of the same mesh axis of size `full`."""
    if a.name != b.name:
        return False
    (a0, a1), (b0, b1) = span(a, full), span(b, full)
    # An axis of size one has no digits, but naming it twice is naming it twice.
    return full == 1 or max(a0, b0) < min(a1, b1)


def part(name: str, start: int, stop: int, full: int) -> Axis:
    """The part `[start, stop)` of the digits of axis `name`; the whole axis when the part is all of it."""
    return Axis(name) if (start, stop) == (1, full) else Axis(name, start, stop // start)


def merge_adjacent(axes: Iterable[Axis], sizes: dict[str, int]) -> tuple[Axis, ...]:
    """
    Joins neighbours that continue each other, so that every sequence of axes has one spelling.

    >>> merge_adjacent([Axis("x", 1, 2), Axis("x", 2, 4)], {"x": 8})
    (Axis(name='x', pre=1, size=0),)
    """
    merged: list[Axis] = []
    for axis in axes:
        if merged and merged[-1].name == axis.name:
            full = sizes[axis.name]
            (a0, a1), (b0, b1) = span(merged[-1], full), span(axis, full)
            if a1 == b0:
                merged[-1] = part(axis.name, a0, b1, full)
                continue
        merged.append(axis)
    return tuple(merged)


def borders(full: int, marks: Iterable[int] = ()) -> frozenset[int]:
    """
    Where an axis of size `full` may be cut so that all parts nest: through `marks`, and at prime steps between them.

    >>> sorted(borders(12)), sorted(borders(12, [3]))
    ([1, 2, 4, 12], [1, 3, 6, 12])
    """
    found = [1]
    for mark in sorted({*marks, full}):
        prime = 2
        while found[-1] != mark and mark % found[-1] == 0:
            if (mark // found[-1]) % prime == 0:
                found.append(found[-1] * prime)
            else:
                prime += 1
    return frozenset(found)


def cut(axes: Iterable[Axis], sizes: dict[str, int]) -> dict[Axis, tuple[Axis, ...]]:
    """
    Cuts axes that overlap in part into pieces that are either equal or apart.

    >>> cut([Axis("x"), Axis("x", 1, 2)], {"x": 8})[Axis("x")]
    (Axis(name='x', pre=1, size=2), Axis(name='x', pre=2, size=4))
    """
    wanted = sorted(set(axes))
    marks: dict[str, set[int]] = {}
    for axis in wanted:
        marks.setdefault(axis.name, set()).update(span(axis, sizes[axis.name]))
    pieces: dict[Axis, tuple[Axis, ...]] = {}
    for axis in wanted:
        full = sizes[axis.name]
        start, stop = span(axis, full)
        stops = [mark for mark in sorted(marks[axis.name]) if start <= mark <= stop]
        pieces[axis] = tuple(part(axis.name, a, b, full) for a, b in pairwise(stops))
    return pieces


def beyond(axes: tuple[Axis, ...], first: tuple[Axis, ...], sizes: dict[str, int]) -> tuple[Axis, ...] | None:
    """
    What `axes` go on with after those that come `first`; None where they do not begin with them.

    >>> beyond((Axis("x"), Axis("y")), (Axis("x", 1, 2),), {"x": 8, "y": 2})
    (Axis(name='x', pre=2, size=4), Axis(name='y', pre=1, size=0))
    """
    if axes[: len(first)] == first:
        return axes[len(first) :]
    last = len(first) - 1
    if len(axes) <= last or axes[:last] != first[:last] or axes[last].name != first[last].name:
        return None
    full = sizes[axes[last].name]
    (start, stop), (low, high) = span(axes[last], full), span(first[last], full)
    if start != low or stop <= high or stop % high:
        return None
    return (part(axes[last].name, high, stop, full), *axes[last + 1 :])


def remaining(axes: Iterable[Axis], taken: Iterable[Axis], sizes: dict[str, int]) -> tuple[Axis, ...]:
    """
    What is left of some axes without those, or those parts, that are taken.

    >>> remaining([Axis("x"), Axis("y")], [Axis("x", 1, 2)], {"x": 8, "y": 2})
    (Axis(name='x', pre=2, size=4), Axis(name='y', pre=1, size=0))
    """
    wanted, without = list(axes), list(taken)
    pieces = cut([*wanted, *without], sizes)
    gone = {piece for axis in without for piece in pieces[axis]}
    return tuple(piece for axis in wanted for piece in pieces[axis] if piece not in gone)
