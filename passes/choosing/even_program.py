"""Programs for which layouts are chosen: every dim divides that their users split, with padding if need be."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from shardwright.dialects.building import returned
from shardwright.passes.padding.pad_uneven import pad_uneven
from shardwright.passes.padding.site import Shape
from shardwright.passes.program import Dims, Program
from shardwright.passes.propagation.numbering import build_program
from shardwright.passes.propagation.spreading import agree_in_groups
from shardwright.passes.stages import uneven_values


@dataclass(frozen=True)
class EvenProgram:
    """
    What layouts are chosen for, `even`, next to the program as it was `given`: the same one where all layouts divide.

    `places` has the number in `even` of each value that was given; None for what padding does away with. `shapes` are
    those that have to divide for each value of `even`: what comes and goes is split evenly, unless its user said
    otherwise, since who holds it may know no other parts.
    """

    given: Program
    even: Program
    places: Sequence[int | None]
    shapes: Sequence[Shape]

    @staticmethod
    def of(module: ModuleOp) -> EvenProgram:
        """The program of a module, which stays as it is."""
        given = _numbered(module)
        if next(uneven_values(module), None) is None:
            return EvenProgram(given, given, range(len(given.values)), given.shapes)
        copies: dict[SSAValue, SSAValue] = {}
        copy = module.clone(copies)
        became = pad_uneven(copy).became
        even = _numbered(copy)

        def place(value: SSAValue) -> int | None:
            found = copies[value]
            while found in became:
                found = became[found]
            return even.numbers.get(found)

        places, shapes = [place(value) for value in given.values], list(even.shapes)
        for value in _border(given):
            if (number := places[value]) is not None:
                shapes[number] = _to_divide(given, value, shapes[number])
        return EvenProgram(given, even, places, shapes)

    def as_given(self, chosen: Sequence[Dims]) -> list[Dims | None]:
        """The layouts that were chosen, for the values as they were given; None where a layout is left open."""
        return [None if place is None else self._evenly(place, chosen[place]) for place in self.places]

    def _evenly(self, value: int, dims: Dims) -> Dims:
        """The layout of a value of `even`, without what refinement made of dims that do not divide."""
        size = self.even.mesh.group_size
        pairs = zip(dims, self.shapes[value], _said(self.even, value), strict=True)
        return tuple(said if extent % size(axes) else axes for axes, extent, said in pairs)


def _border(program: Program) -> set[int]:
    """The values that come and go, and those that are to have the layouts of these."""
    block = program.function.body.block
    found = {program.numbers[value] for value in (*block.args, *returned(block)) if value in program.numbers}
    for first, others in program.grouped.items():
        if not found.isdisjoint([first, *others]):
            found.update([first, *others])
    return found


def _to_divide(program: Program, value: int, padded: Shape) -> Shape:
    """The shape of a value: what divides it divides it with padding and, if its user split it evenly, without."""
    size = program.mesh.group_size
    sizes = zip(program.shapes[value], padded, _said(program, value), strict=True)
    return tuple(whole if own % size(said) else math.gcd(own, whole) for own, whole, said in sizes)


def _said(program: Program, value: int) -> Dims:
    """How the user split a value."""
    spec = program.given[value]
    return ((),) * len(program.shapes[value]) if spec is None else spec.dims


def _numbered(module: ModuleOp) -> Program:
    program = build_program(module)
    agree_in_groups(program)
    return program
