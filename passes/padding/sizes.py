"""
How large each dim must be so that everything divides: one number of parts for all dims that are bound to each other.

Dims are bound through the ops that stand between them: those that share a factor, those along which an op moves
elements. The parts of a group are the least common multiple of the splits that the user gave to its dims, which divides
the number of devices; a dim's padded size is the next multiple.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from shardwright.networks.components import Components
from shardwright.passes.padding.forms import bonds
from shardwright.passes.program import Program

Dim = tuple[int, int]
"""A value's number, and one of its dims."""

Shape = tuple[int, ...]


def padded_shapes(program: Program, *, made: bool = False) -> list[Shape]:
    """
    For each value by number the shape in which every dim divides; its own where no split is uneven.

    With what is `made` a dim is padded, too, that nobody split but that is bound to one that somebody did.
    """
    groups = Components[Dim]()
    for node in program.nodes:
        for (place, dim), (other_place, other_dim) in bonds(node):
            groups.tie((node.values[place], dim), (node.values[other_place], other_dim))
    for first, others in program.grouped.items():
        for other in others:
            for dim in range(len(program.shapes[first])):
                groups.tie((first, dim), (other, dim))
    parts: dict[Dim, int] = {}
    asked: set[tuple[Dim, int]] = set()
    uneven: set[Dim] = set()
    for dim, size, count in _splits(program):
        first = groups.top(dim)
        parts[first] = math.lcm(parts.get(first, 1), count)
        asked.add((first, size))
        if size % count:
            uneven.add(first)
    if made:
        uneven |= _made_uneven(program, groups, parts)

    def padded(dim: Dim, size: int) -> int:
        first = groups.top(dim)
        if first not in uneven:
            return size
        # Of a few elements far more would be padding: they are left as they are, unless the user split just these.
        few = 2 * size <= parts[first] and (first, size) not in asked
        return size if few else -(-size // parts[first]) * parts[first]

    return [
        tuple(padded((number, dim), size) for dim, size in enumerate(shape))
        for number, shape in enumerate(program.shapes)
    ]


def _made_uneven(program: Program, groups: Components[Dim], parts: dict[Dim, int]) -> set[Dim]:
    """The groups that are split and have a dim that does not divide, of more than a few elements."""
    sizes = (
        (groups.top((number, dim)), size)
        for number, shape in enumerate(program.shapes)
        for dim, size in enumerate(shape)
    )
    split = ((first, size) for first, size in sizes if first in parts and size % parts[first])
    return {first for first, size in split if more_than_a_few(size, parts[first])}


def more_than_a_few(size: int, count: int) -> bool:
    """Whether more than half of so many parts of a dim are not padding alone."""
    return 2 * size > count


def _splits(program: Program) -> Iterator[tuple[Dim, int, int]]:
    """The dims that the user split, with their sizes and into how many parts."""
    for number, (spec, shape) in enumerate(zip(program.given, program.shapes, strict=True)):
        for dim, axes in enumerate(spec.dims if spec is not None else ()):
            if axes:
                yield (number, dim), shape[dim], program.mesh.group_size(axes)
