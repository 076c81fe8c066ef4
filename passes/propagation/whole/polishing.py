"""The smallest programs: layouts are changed one or two at a time, as long as what is really sent is less."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from shardwright.networks.components import Components
from shardwright.passes.program import Dims, Program
from shardwright.passes.propagation.spreading import passes_dims_on
from shardwright.passes.propagation.whole.choices import Choices

__all__ = ["MOST_OPS", "polished"]

MOST_OPS, MOST_VISITS = 8, 240
"""
Ops of a program that is looked at so, and visits of ops that are spent on it, at a fifth to half of a millisecond each.

The network prices what ops share in part only: who needs a copy that is there for another, in which layout it is made
of which, and who may take a value as its maker left it, before it is where it belongs.
"""

Outcome = TypeVar("Outcome")

_Change = tuple[tuple[int, Dims], ...]
"""Values, and the layouts that they get."""


def _shares(program: Program) -> bool:
    """Whether some value is read at several places, so that what is made of it may be shared."""
    read = Counter(value for node in program.nodes for value in node.operands if not program.free[value])
    read.update(program.numbers[value] for value in program.return_op.operands)
    return any(count > 1 for count in read.values())


def polished(
    choices: Choices,
    movable: Sequence[int],
    starts: Sequence[list[Dims]],
    count: Callable[[list[Dims]], Outcome],
    beats: Callable[[Outcome, Outcome], bool],
) -> list[Dims]:
    """
    The best of some layouts, changed until no change of one or two of the movable values or stretches improves them.

    Starts are the best first, by and large. Tries end after so many visits of ops.
    """
    best, outcome = list(starts[0]), count(starts[0])
    units = [*((value,) for value in movable), *_stretches(choices.program, movable)]
    seen, most = {tuple(best)}, 1 + MOST_VISITS // len(choices.program.nodes)

    def first_better(tries: Iterable[list[Dims]]) -> bool:
        nonlocal best, outcome
        for tried in tries:
            if tuple(tried) not in seen and len(seen) < most:
                seen.add(tuple(tried))
                found = count(tried)
                if beats(found, outcome):
                    best, outcome = tried, found
                    return True
        return False

    for start in starts[1:]:
        first_better([start])
    while _shares(choices.program) and first_better(_changes(choices, units, best)):
        pass
    return best


def _stretches(program: Program, movable: Sequence[int]) -> list[tuple[int, ...]]:
    """
    The movable values that ops hand on to each other element by element, the longest stretch first.

    They mostly move together, or not at all: two changes would be spent on one.
    """
    place = {value: at for at, value in enumerate(movable)}
    tied: Components[int] = Components(movable)
    for node in program.nodes:
        tensors, values = node.rule.tensors(), [value for value in node.values if value in place]
        if values and passes_dims_on(node.rule) and all(tensor == tensors[-1] for tensor in tensors):
            tied.tie(*values)
    found = [tuple(sorted(values, key=place.__getitem__)) for values in tied.sets() if len(values) > 1]
    return sorted(found, key=lambda values: (-len(values), place[values[0]]))


def _changes(choices: Choices, units: Sequence[tuple[int, ...]], dims: list[Dims]) -> Iterator[list[Dims]]:
    """`dims` with each other layout of each unit, then of each two without a common value, the longest units first."""
    ways = {unit: list(_ways(choices, unit, dims)) for unit in units}
    for unit in units:
        yield from (_changed(dims, way) for way in ways[unit])
    for one, other in itertools.combinations(sorted(units, key=len, reverse=True), 2):
        if not set(one) & set(other):
            pairs = itertools.product(ways[one], ways[other])
            yield from (_changed(dims, (*first, *second)) for first, second in pairs)


def _changed(dims: list[Dims], change: _Change) -> list[Dims]:
    found = list(dims)
    for value, layout in change:
        found[value] = layout
    return found


def _ways(choices: Choices, unit: Sequence[int], dims: Sequence[Dims]) -> Iterator[_Change]:
    """Each layout of the first value of a unit, for all of its values that may have it and do not yet."""
    for layout in choices.layouts(unit[0]):
        change = tuple((value, layout) for value in unit if dims[value] != layout and layout in choices.layouts(value))
        if change:
            yield change
