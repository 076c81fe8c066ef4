"""What may be chosen in a program: the layouts that a value may have, and the ways in which an op may be done."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence

from shardwright.layout.axes import Axis, cut
from shardwright.passes.program import Dims, Node, Program
from shardwright.passes.propagation.strategy import Strategist, Strategy
from shardwright.rules.rule import Axes, Rule

__all__ = ["Choices"]


class Choices:
    """
    The choices in a program whose values have the layouts `dims` by now.

    Every axis that the program uses may split every dim, and with `unused` every other axis of the mesh. Nothing is
    split less than now: no value, and no heavy op.
    """

    def __init__(self, program: Program, strategist: Strategist, dims: Sequence[Dims], *, unused: bool):
        self.program = program
        self.strategist = strategist
        self.dims = dims
        self.atoms = _atoms(strategist, dims, unused)
        self.orders = _orders(self.atoms, dims, strategist)
        self._layouts: dict[tuple[tuple[int, ...], Dims, Axes], tuple[Dims, ...]] = {}
        self._ways: dict[tuple[Rule, Axes, tuple[int, ...]], list[Strategy]] = {}

    def layouts(self, value: int) -> tuple[Dims, ...]:
        """The layouts that a value may have, the one that it has first."""
        program, now = self.program, self.dims[value]
        if not program.is_ours(value):
            return (now,)
        key = program.shapes[value], now, program.reserved[value]
        found = self._layouts.get(key)
        if found is None:
            least = program.mesh.group_size(axis for axes in now for axis in axes)
            others = (dims for dims in self.every(value) if self._parts(dims) >= least)
            found = self._layouts[key] = tuple(dict.fromkeys([now, *others]))
        return found

    def ways(self, node: Node, least: int) -> list[Strategy]:
        """The strategies of an op over `least` devices or more."""
        program = self.program
        key = node.rule, node.reserved, tuple(program.bytes[value] for value in node.values)
        found = self._ways.get(key)
        if found is None:
            found = self._ways[key] = list(self._assigned(node))
        return [way for way in found if way.degree >= least]

    def count(self, node: Node) -> int:
        """How many ways an op has at most, before any of them is looked at."""
        factors = sum(map(node.rule.movable, range(len(node.rule.sizes))))
        return (factors + 1) ** len(self.atoms)

    def _assigned(self, node: Node) -> Iterator[Strategy]:
        rule, program = node.rule, self.program
        weights = [program.bytes[value] for value in node.values]
        factors = [factor for factor in range(len(rule.sizes)) if rule.movable(factor)]
        seen: set[tuple[tuple[int, Axes], ...]] = set()
        for by_factor in self._splits(factors, node.reserved):
            strategy = self.strategist.strategy(rule, by_factor, weights)
            if strategy is not None and strategy.factors not in seen:
                seen.add(strategy.factors)
                yield strategy

    def every(self, value: int) -> Iterator[Dims]:
        """All layouts that divide a value."""
        mesh, spell, shape = self.program.mesh, self.strategist.spell, self.program.shapes[value]
        for by_dim in self._splits(range(len(shape)), self.program.reserved[value]):
            if all(shape[dim] % mesh.group_size(axes) == 0 for dim, axes in by_dim.items()):
                yield tuple(spell(by_dim.get(dim, ())) for dim in range(len(shape)))

    def _splits(self, places: Sequence[int], reserved: Axes) -> Iterator[dict[int, Axes]]:
        """Each way to give each axis to one of some dims or factors, or to none, in each order that may be."""
        atoms = [atom for atom in self.atoms if not self.program.overlaps([atom], reserved)]
        for picks in itertools.product((None, *places), repeat=len(atoms)):
            found: dict[int, list[Axis]] = {}
            for atom, place in zip(atoms, picks, strict=True):
                if place is not None:
                    found.setdefault(place, []).append(atom)
            ways = [[tuple(axes), *self.orders.get(frozenset(axes), ())] for axes in found.values()]
            for way in itertools.product(*ways):
                yield dict(zip(found, way, strict=True))

    def _parts(self, dims: Dims) -> int:
        return math.prod(self.program.mesh.group_size(axes) for axes in dims)


def _atoms(strategist: Strategist, dims: Sequence[Dims], unused: bool) -> Axes:
    """The mesh's axes, in the parts in which the program uses them, as far as these nest."""
    mesh = strategist.mesh
    used = {axis for each in set(dims) for axes in each for axis in axes}
    names = {axis.name for axis in used}
    whole = [Axis(name) for name, size in mesh.sizes.items() if size > 1 and (unused or name in names)]
    if all(axis.whole for axis in used):
        return tuple(whole)
    parts = cut({*whole, *filter(strategist.nests, used)}, mesh.sizes)
    return tuple(part for axis in whole for part in parts[axis])


def _orders(atoms: Axes, dims: Iterable[Dims], strategist: Strategist) -> dict[frozenset[Axis], list[Axes]]:
    """
    For some axes together the orders, other than the mesh's, in which they may split a dim.

    Those in which they do in the program already. Of two axes in all, both orders: more would be too many.
    """
    if len(atoms) == 2:
        return {frozenset(atoms): [atoms[::-1]]}
    place = {atom: number for number, atom in enumerate(atoms)}
    used = [axes for each in dict.fromkeys(dims) for axes in each if axes and all(map(strategist.nests, axes))]
    parts = cut(set(atoms) | {axis for axes in used for axis in axes}, strategist.mesh.sizes)
    found: dict[frozenset[Axis], list[Axes]] = {}
    for axes in dict.fromkeys(used):
        spelled = tuple(part for axis in axes for part in parts[axis])
        usual = tuple(sorted(spelled, key=lambda axis: place[axis]))
        if spelled != usual and spelled not in found.setdefault(frozenset(spelled), []):
            found[frozenset(spelled)].append(spelled)
    return found
