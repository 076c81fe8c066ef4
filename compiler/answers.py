"""What stages give when they are asked about a program: the rooms above make it, and this is what it has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Protocol

from shardwright.compiler.report import CollectiveRow, ValueRow
from shardwright.layout import Axis

__all__ = ["Answer", "Comparison", "Explanation", "Ledger", "Outcome", "Price", "Proof"]


class Answer(Protocol):
    """What there is to say about a line, a value or a collective: `print` it, or take its `data()`."""

    @property
    def question(self) -> str:
        """What was asked."""
        ...

    @property
    def values(self) -> Sequence[ValueRow]:
        """The values that it is about, each with its layout and how it came to have it."""
        ...

    def data(self) -> dict[str, Any]:
        """As JSON has it."""
        ...


class Explanation(Protocol):
    """
    What a partitioned program sends, why, and for which line: `print` it, ask it, or take its `data()`.

    >>> import numpy, shardwright
    >>> mesh = shardwright.Mesh(x=2)
    >>> x = shardwright.relayout(numpy.ones((4, 2), "float32"), shardwright.Layout(["x"], mesh))
    >>> explanation = shardwright.function(lambda x: shardwright.sum(x)).trace(x).partition().explain()
    >>> print(explanation.text().splitlines()[-1])
    1 collective, 4 bytes sent per device
    """

    @property
    def rows(self) -> Sequence[CollectiveRow]:
        """What each collective sends, and for whom, in program order."""
        ...

    @property
    def arguments(self) -> Sequence[ValueRow]:
        """The program's arguments, each with its layout."""
        ...

    def why(self, question: str) -> Answer:
        """
        What there is to say about a line (`12`, `model.py:18`), a value (`p['w1']`), or a collective (`#3`).

        Raises `ShardwrightError` (SW0714) where the program has no such thing, with what comes nearest.
        """
        ...

    def text(self, *, all: bool = False, width: int | None = None, colour: bool = False) -> str:
        """For people: the ten dearest collectives, or all of them, in lines of `width` columns (100)."""
        ...

    def data(self) -> dict[str, Any]:
        """As JSON has it: the arguments, every collective, and the bytes that each device sends."""
        ...


class Outcome(Protocol):
    """
    What one way of writing a program comes to.

    `bytes_per_device` is what each device sends, None where that depends on the data; `peak_bytes` the most that all
    devices together hold at once. `refused` says why there is no such program.
    """

    @property
    def label(self) -> str:
        """What is otherwise."""
        ...

    @property
    def bytes_per_device(self) -> int | float | None:
        """What each device sends."""
        ...

    @property
    def collectives(self) -> int:
        """How many there are."""
        ...

    @property
    def peak_bytes(self) -> int:
        """What all devices together hold at once, at most."""
        ...

    @property
    def seconds(self) -> float:
        """Its price on a mesh of the usual orders of magnitude."""
        ...

    @property
    def refused(self) -> str:
        """Why there is no such program; nothing where there is."""
        ...


class Comparison(Protocol):
    """The program as it is, and each way that was asked about: `print` it, or take its `data()`."""

    @property
    def outcomes(self) -> Sequence[Outcome]:
        """The program as it is, then each change, then all of them."""
        ...

    def text(self, *, width: int | None = None, colour: bool = False) -> str:
        """A line for each way, with how it differs from the program as it is."""
        ...

    def data(self) -> list[dict[str, Any]]:
        """As JSON has it."""
        ...


class Price(Protocol):
    """What one run of a program costs each device: `print` it, or take its `data()`."""

    @property
    def seconds(self) -> float:
        """The seconds of one run: computing, then sending, without overlap."""
        ...

    @property
    def compute_seconds(self) -> float:
        """The seconds of computing."""
        ...

    @property
    def collective_seconds(self) -> float:
        """The seconds of all collectives."""
        ...

    @property
    def bytes_by_axes(self) -> Mapping[str, float]:
        """What each device sends, by the axes along which it goes."""
        ...

    @property
    def flops(self) -> int:
        """The operations on numbers."""
        ...

    @property
    def touched_bytes(self) -> int:
        """The bytes of its memory that a device reads and writes."""
        ...

    @property
    def peak_bytes(self) -> int:
        """The most bytes that a device holds at once, were each value to have memory of its own."""
        ...

    def text(self, *, width: int | None = None, colour: bool = False) -> str:
        """A line for what is computed, one for each axis along which something is sent, and the sums."""
        ...

    def data(self) -> dict[str, Any]:
        """As JSON has it."""
        ...


class Proof(Protocol):
    """That each device's program computes its part of what was written (`docs/proof.md`)."""

    @property
    def proved(self) -> bool:
        """Whether all of the program is proved."""
        ...

    @property
    def faults(self) -> Sequence[str]:
        """What is wrong."""
        ...

    @property
    def unproved(self) -> Sequence[str]:
        """What could not be asked, and why."""
        ...


class Ledger(Protocol):
    """What a run sent, and how often each part of its loops and branches ran."""

    @property
    def notes(self) -> Sequence[tuple[Any, int | Fraction]]:
        """The messages in their order, each with the bytes of its buffers."""
        ...

    @property
    def runs(self) -> Mapping[str, Mapping[str, int]]:
        """The loops and branches by name, with the rounds or runs of each part."""
        ...

    @property
    def entries(self) -> Mapping[tuple[str, tuple[Axis, ...]], Any]:
        """By kind of collective and axes: `messages` and `sent_bytes`."""
        ...

    @property
    def sent_bytes(self) -> Fraction:
        """The bytes that each device sent."""
        ...

    @property
    def messages(self) -> int:
        """The number of collectives that sent something."""
        ...

    def as_dict(self) -> dict[str, Any]:
        """The figures as plain data: whole numbers where they are whole."""
        ...
