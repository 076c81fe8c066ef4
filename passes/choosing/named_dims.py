"""
The named dims of a program: what a person would call its batch, its heads or its hidden units.

A factor of an op's rule ties dims of its operands and results together: where one of them is split, the others are best
split as well, so that the op goes on without a message, or is done where its operands are. Dims that are tied, through
any number of ops, are one named dim. A transformer's layer has some seven, whatever its number of ops.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import TypeAlias

from shardwright.networks.components import Components
from shardwright.passes.program import Node, Program

__all__ = ["Names", "named_dims"]

MOST_NAMES = 24
"""So many named dims are looked at, those of the most bytes: a search over more would take long, and find little."""

Names: TypeAlias = tuple[int | None, ...]
"""For each dim of a value its name, None for a dim that nothing ties to another, or that is too small to matter."""

_Place: TypeAlias = tuple[int, int]
"""A value and one of its dims."""


def named_dims(program: Program) -> list[Names]:
    """
    The names of the dims of every value, the heaviest named dim first.

    Named dims at which ops of the same kinds stand, as those of one layer and the next, have one name.
    """
    # An argument that nothing reads has dims all the same.
    tied: Components[_Place] = Components(
        (value, dim)
        for value in range(len(program.root.block.args))
        for dim, size in enumerate(program.shapes[value])
        if size > 1
    )
    kinds: dict[_Place, list[tuple[int, int]]] = defaultdict(list)
    for node in program.nodes:
        for factor, places in _places(program, node).items():
            tied.tie(*places)
            kinds[places[0]].append((program.kinds[node.index], factor))
    groups: dict[object, list[_Place]] = defaultdict(list)
    for places in tied.sets():
        standing = frozenset(kind for place in places for kind in kinds.get(place, ()))
        groups[standing] += places
    found: list[dict[int, int]] = [{} for _ in program.values]
    for name, places in enumerate(_heaviest(program, groups.values())):
        for value, dim in places:
            found[value][dim] = name
    return [tuple(map(names.get, range(len(shape)))) for names, shape in zip(found, program.shapes, strict=True)]


def _places(program: Program, node: Node) -> dict[int, list[_Place]]:
    """
    The dims that each factor of an op leads, and that are more than one element.

    What any device can make ties nothing: one constant may serve dims that have nothing to do with each other.
    """
    rule = node.rule
    found: dict[int, list[_Place]] = {}
    for value, tensor in zip(node.values, rule.tensors(), strict=True):
        if program.free[value]:
            continue
        for dim, factors in enumerate(tensor):
            if factors and rule.sizes[factors[0]] > 1:
                found.setdefault(factors[0], []).append((value, dim))
    return found


def _heaviest(program: Program, groups: Iterable[list[_Place]]) -> list[list[_Place]]:
    def weight(places: list[_Place]) -> tuple[int, _Place]:
        return -sum(program.bytes[value] for value, _ in places), min(places)

    return sorted(groups, key=weight)[:MOST_NAMES]
