"""How long values live, and so how much of them a device holds at once."""

from __future__ import annotations

import numpy as np

from shardwright.passes.collectives.holding import is_seen, takes_nothing
from shardwright.passes.program import Closing, Node, Opening, Program

__all__ = ["Lifetimes"]

Floats = np.ndarray[tuple[int], np.dtype[np.float64]]


class Lifetimes:
    """
    From which step of a program to which each of its values lives.

    Arguments live from start to end, as their caller has them; what a loop reads from outside lives as long as the
    loop. What any device can make is made where it is needed, and takes no memory here; nor does what is another value
    in a new shape, which then lives as long.
    """

    def __init__(self, program: Program):
        count, steps = len(program.values), len(program.steps)
        first, last = np.zeros(count, np.intp), np.zeros(count, np.intp)
        inside: list[tuple[int, set[int]]] = []
        for at, step in enumerate(program.steps):
            if isinstance(step, Opening):
                inside.append((at, set()))
            elif isinstance(step, Closing):
                opened, read = inside.pop()
                read = {value for value in read if first[value] < opened}
                last[list(read)] = at
                if inside:
                    inside[-1][1].update(read)
            else:
                self._live(step, at, first, last)
                if inside:
                    inside[-1][1].update(step.operands)
        for node in reversed(program.nodes):
            if is_seen(node.op):
                for operand, result in zip(node.operands, node.results, strict=False):
                    last[operand] = max(last[operand], last[result])
        kept = [*range(len(program.root.block.args)), *(program.numbers[each] for each in program.return_op.operands)]
        last[kept] = steps
        self._first, self._last, self._steps = first, last, steps
        self._at = np.array([at for at, step in enumerate(program.steps) if isinstance(step, Node)], np.intp)
        nothing = [producer is not None and takes_nothing(producer.op) for producer in program.producers]
        self._bytes = np.where(np.logical_or(nothing, program.free), 0, program.bytes).astype(np.float64)

    @staticmethod
    def _live(node: Node, at: int, first: np.ndarray, last: np.ndarray) -> None:
        first[list(node.results)] = at
        last[list(node.values)] = at

    def most(self, parts: Floats, beside: Floats) -> float:
        """
        The most bytes that a device holds at once.

        Each value is in so many `parts`; `beside` are, for each op, the bytes of what it takes and makes in other
        layouts than these.
        """
        held = self._bytes / parts
        changes = np.zeros(self._steps + 2)
        np.add.at(changes, self._first, held)
        np.add.at(changes, self._last + 1, -held)
        levels = np.cumsum(changes)
        levels[self._at] += beside
        return float(levels.max())
