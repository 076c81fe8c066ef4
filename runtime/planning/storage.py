"""Which flat buffer each value of a program lies in, and through which window it is seen."""

from __future__ import annotations

from collections.abc import MutableMapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np

from shardwright.runtime.planning.strided import Strided
from shardwright.runtime.program import VIEWS, Counter, Kind, Program, Step, Value


class Home(StrEnum):
    """What a buffer belongs to."""

    INPUT = "input"
    OUTPUT = "output"
    ARENA = "arena"
    CONSTANT = "constant"


@dataclass(eq=False, slots=True)
class Buffer:
    """A flat run of elements: an argument, a result, a constant, or a part of the arena."""

    home: Home
    dtype: np.dtype[Any]
    size: int
    index: int = 0
    constant: np.ndarray[Any, Any] | None = None

    @property
    def nbytes(self) -> int:
        """The bytes that it takes."""
        return self.size * self.dtype.itemsize


class Window(NamedTuple):
    """The elements of a buffer that make up a value."""

    buffer: Buffer
    strided: Strided


@dataclass(eq=False)
class Copy:
    """Moves elements: `target[...] = source`."""

    target: Window
    source: Window


@dataclass(eq=False)
class Count:
    """Writes a number that the round gives."""

    target: Window
    counter: Counter


@dataclass
class Storage:
    """
    Finds the window of each value, following views; where a reshape has to move elements, it says so.

    `copies` collects the moves that became necessary since they were last taken. `wishes` holds the order in memory
    (dims, major to minor) in which a value's readers would like it.
    """

    homes: MutableMapping[Value, Window] = field(default_factory=dict[Value, Window])
    copies: list[Copy | Count] = field(default_factory=list["Copy | Count"])
    wishes: dict[Value, tuple[int, ...]] = field(default_factory=dict[Value, tuple[int, ...]])

    def new(self, value: Value, order: Sequence[int] | None = None) -> Window:
        """A buffer of the arena for a value whose dims lie in `order` (all dims; by default row-major)."""
        window = Window(Buffer(Home.ARENA, value.dtype, value.size), Strided.dense(value.shape, order))
        self.homes[value] = window
        return window

    def window(self, value: Value) -> Window:
        """Where the value's elements lie."""
        found = self.homes.get(value)
        if found is None:
            found = self._made(value)
            self.homes[value] = found
        return found

    def _made(self, value: Value) -> Window:
        if value.producer is not None:
            return self._through(value)
        if value.counter is None:
            return self._splat(value)
        target = self.new(value)
        self.copies.append(Count(target, value.counter))
        return target

    def _splat(self, value: Value) -> Window:
        assert value.splat is not None, "a value is an input, a constant, a splat or a step's result"
        scalar = np.asarray(value.splat)
        buffer = Buffer(Home.CONSTANT, value.dtype, 1, constant=scalar.reshape(1))
        return Window(buffer, Strided(value.shape, (0,) * len(value.shape)))

    def _through(self, value: Value) -> Window:
        step = value.producer
        assert step is not None
        assert step.kind in VIEWS, f"{step.kind} {step.name} has no storage yet"
        source = self.window(step.operands[0])
        moved = _viewed(step, source.strided)
        if moved is not None:
            return Window(source.buffer, moved)
        target = self.new(value)
        whole = target.strided.reshape(step.operands[0].shape)
        assert whole is not None, "a dense buffer has every shape"
        self.copies.append(Copy(Window(target.buffer, whole), source))
        return target


def _viewed(step: Step, window: Strided) -> Strided | None:
    """The window of a view's result; `None` when elements have to move."""
    match step.kind:
        case Kind.TRANSPOSE:
            return window.transpose(step.static[0])
        case Kind.BROADCAST:
            return window.broadcast(step.results[0].shape)
        case Kind.SLICE:
            return window.slice(step.static[0])
        case _:
            return window.reshape(step.results[0].shape)


def _unviewed(step: Step, window: Strided) -> Strided | None:
    """The window that a view's operand must have for the result to lie in `window`; `None` when there is none."""
    if step.kind is Kind.TRANSPOSE:
        order = step.static[0]
        return window.transpose([order.index(dim) for dim in range(len(order))])
    if step.kind is Kind.RESHAPE:
        return window.reshape(step.operands[0].shape)
    return None


def place_outputs(program: Program, storage: Storage, windows: Sequence[Window]) -> None:
    """Lets results be computed in the windows where they are to be, as far as views allow."""
    for value, placed in zip(program.outputs, windows, strict=True):
        # A value that varies less than its layout allows is copied, to all the places that hold it.
        strided: Strided | None = placed.strided if placed.strided.shape == value.shape else None
        while value.producer is not None and value.producer.kind in VIEWS and strided is not None:
            strided, value = _unviewed(value.producer, strided), value.producer.operands[0]
        if strided is not None and value.producer is not None and not value.constant:
            storage.homes.setdefault(value, Window(placed.buffer, strided))
