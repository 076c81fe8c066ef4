"""`Explanation`: what a partitioned program sends, why, and for which line, for people and as data."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from shardwright.compiler.report import CollectiveRow, ValueRow, collectives_with_rows, value_rows
from shardwright.views.explanation.data import explanation_data
from shardwright.views.explanation.entries import Collective, Entry, grouped
from shardwright.views.explanation.questions import Answer, answer


@dataclass(frozen=True, repr=False)
class Explanation:
    """
    What a partitioned program sends, why, and for which line: `print` it, ask it, or take its `data()`.

    Where `name` is the program's own file, its lines are called by their numbers alone.

    >>> import numpy, shardwright
    >>> mesh = shardwright.Mesh(x=2)
    >>> x = shardwright.relayout(numpy.ones((4, 2), "float32"), shardwright.Layout(["x"], mesh))
    >>> explanation = shardwright.function(lambda x: shardwright.sum(x)).trace(x).partition().explain()
    >>> print(explanation.text().splitlines()[-1])
    1 collective, 4 bytes sent per device
    """

    planned: ModuleOp
    name: str = ""

    @cached_property
    def file(self) -> str:
        """The program's own file; nothing where it was written in others."""
        own = any(value.source is not None and value.source.file == self.name for value in self.values)
        return self.name if own else ""

    @cached_property
    def collectives(self) -> list[Collective]:
        """Every collective, in program order."""
        found = collectives_with_rows(self.planned)
        return [Collective(number, op, row) for number, (op, row) in enumerate(found, 1)]

    @property
    def rows(self) -> list[CollectiveRow]:
        """What each of them sends, and for whom."""
        return [each.row for each in self.collectives]

    @cached_property
    def entries(self) -> list[Entry]:
        """Equal collectives together, the dearest first."""
        return grouped(self.collectives)

    @cached_property
    def values(self) -> list[ValueRow]:
        """Every argument and every result of an op, with its layout and how it came to have it."""
        return value_rows(self.planned)

    @property
    def arguments(self) -> list[ValueRow]:
        """The program's arguments."""
        return [value for value in self.values if value.op == "argument"]

    def why(self, question: str) -> Answer:
        """
        What there is to say about a line (`12`, `model.py:18`), a value (`p['w1']`), or a collective (`#3`).

        Raises `ShardwrightError` (SW0714) where the program has no such thing, with what comes nearest.
        """
        return answer(self.values, self.collectives, question, self.file)

    def text(self, *, all: bool = False, width: int | None = None, colour: bool = False) -> str:
        """For people: the ten dearest entries, or all of them, in lines of `width` columns (100)."""
        from shardwright.views.explanation.text import explanation_text

        return explanation_text(
            self.arguments, self.collectives, self.entries, self.file, all=all, width=width, colour=colour
        )

    def data(self) -> dict[str, Any]:
        """As JSON has it: the arguments, every collective, and the bytes that each device sends."""
        return explanation_data(self.arguments, self.collectives, self.entries)

    def __str__(self) -> str:
        return self.text()

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self.text())}</pre>"
