"""A program as a cost network: what each layout of each value and each strategy of each op send together."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from shardwright.networks.network import Costs, Network
from shardwright.passes.program import Dims, Node, Program
from shardwright.passes.propagation.spreading import passes_dims_on
from shardwright.passes.propagation.strategy import Strategist, Strategy
from shardwright.passes.propagation.whole.choices import Choices
from shardwright.passes.propagation.whole.prices import finishing, moving

__all__ = ["Building"]

COMPUTE, OUTSIDE, STAY = 0.1, 0.2, 1e-4
"""
What decides between plans that send the same, in bytes; all of it together is less than a byte that is saved.

A part of `COMPUTE` for the part of all work that a device does; `OUTSIDE` for each argument or result whose layout
nobody gave and which gets another, where it may at all, so that it changes for bytes only; and `STAY` for each other
value, and for each that is moved as soon as it is made, so that what makes no difference stays as it is.
"""


class Building:
    """
    The network of a program: a node for each value and each op, edges between an op and what it takes and makes.

    A copy of a fixed value that several ops read in another layout is a node as well, so that they pay for it once;
    with `shared`, also of a value that may move itself, which makes the network wider. Only where devices are
    `idle`, axes come in that nothing uses so far, and arguments and results to which nobody gave a layout may change.
    """

    def __init__(self, program: Program, strategist: Strategist, dims: Sequence[Dims], *, shared: bool, idle: bool):
        self.shared = shared
        self.outside = OUTSIDE if idle else math.inf
        self.program = program
        self.strategist = strategist
        self.dims = dims
        self.choices = Choices(program, strategist, dims, unused=idle)
        self.costs: list[Costs] = []
        self.edges: list[tuple[tuple[int, int], Costs]] = []
        self.layouts: list[tuple[Dims, ...]] = [self.choices.layouts(value) for value in range(len(dims))]
        self.work = sum(_work(node) for node in program.nodes) or 1.0
        self.copies: dict[int, int] = {}

    def network(self) -> Network:
        """The network; its first nodes are the program's values."""
        program = self.program
        outside = {
            *range(len(program.root.block.args)),
            *(program.numbers[value] for value in program.return_op.operands),
        }
        for value, layouts in enumerate(self.layouts):
            stay = self.outside if value in outside else STAY
            self.costs.append(np.where(np.arange(len(layouts)) == 0, 0.0, stay))
        for value, users in enumerate(program.users):
            if len(users) > 1 and not program.free[value] and (self.shared or program.given[value] is not None):
                self._copy(value)
        for node in program.nodes:
            if not (node.results and program.free[node.results[0]]):
                self._add(node)
        return Network.build(self.costs, self.edges)

    def _copy(self, value: int) -> None:
        """A value in one more layout, for all that read it."""
        program = self.program
        found = tuple(dict.fromkeys([self.dims[value], *self.choices.every(value)]))
        shares = moving(self.layouts[value], found, program.shapes[value], program.mesh)
        self.copies[value] = self._node(np.zeros(len(found)), found)
        factor = program.bytes[value] * program.scope_of(value).weight
        self.edges.append(((value, self.copies[value]), shares * factor))

    def _node(self, costs: Costs, layouts: tuple[Dims, ...] = ()) -> int:
        """The number of one more node."""
        self.costs.append(costs)
        self.layouts.append(layouts)
        return len(self.costs) - 1

    def _add(self, node: Node) -> None:
        if node.rule.pairwise:
            self._pair(node)
        elif passes_dims_on(node.rule) and self._is_plain(node):
            self._along(node)
        else:
            self._op(node)

    def _pair(self, node: Node) -> None:
        """Everything is wanted in the layout of the last value."""
        home = node.values[-1]
        for place, value in enumerate(node.operands):
            if value != home and not self.program.free[value]:
                self._edge(node, place, home, self.layouts[home])
        for value in node.results[:-1]:
            shape = self.program.shapes[value]
            shares = moving(self.layouts[home], self.layouts[value], shape, self.program.mesh)
            self.edges.append(((home, value), shares * self.program.bytes[value] * node.scope.weight))

    def _is_plain(self, node: Node) -> bool:
        """Whether the op may as well be done in the layout of its result, which is ours to choose."""
        tensors = node.rule.tensors()
        same = all(tensor == tensors[-1] for tensor in tensors)
        return same and len(node.results) == 1 and self.program.is_ours(node.results[0])

    def _along(self, node: Node) -> None:
        (result,) = node.results
        for place, value in enumerate(node.operands):
            if not self.program.free[value] and value not in node.operands[:place]:
                self._edge(node, place, result, self.layouts[result])
        self.costs[result] = self.costs[result] + np.array(
            [self._compute(node, self._parts(d)) for d in self.layouts[result]]
        )

    def _op(self, node: Node) -> None:
        """A node of its own, whose choices are the op's strategies."""
        program = self.program
        now = self.strategist.best(node, self.dims)[1]
        ways = list(dict.fromkeys([now, *self.choices.ways(node, now.degree if node.rule.heavy else 1)]))
        weight = node.scope.weight
        number = self._node(np.array([way.exchanged * weight + self._compute(node, way.degree) for way in ways]))
        for place, value in enumerate(node.operands):
            if not program.free[value]:
                wanted = [way.operands[place] for way in ways]
                places = [at for at in range(place) if node.operands[at] == value]
                self._edge(node, place, number, wanted, [[way.operands[at] for way in ways] for at in places])
        for place, value in enumerate(node.results):
            # As the op leaves it, where that makes no difference: how it is done is looked up in its values' layouts.
            made = self._made(ways, place, value) * program.bytes[value] * weight
            self.edges.append(((number, value), made + STAY * (made > 0)))

    def _edge(
        self, node: Node, place: int, number: int, wanted: Sequence[Dims], before: Sequence[Sequence[Dims]] = ()
    ) -> None:
        """What it costs to have an operand as each choice of a node wants it; nothing where it wanted it so before."""
        program, value = self.program, node.operands[place]
        factor = program.bytes[value] * node.shares[place] * node.scope.weight
        again = np.array([any(other[way] == dims for other in before) for way, dims in enumerate(wanted)])
        different, columns = tuple(dict.fromkeys(wanted)), _columns(wanted)
        if value not in self.copies:
            shares = self._shares(value, value, different)[:, columns]
            self.edges.append(((value, number), np.where(again, 0.0, shares) * factor))
        elif program.given[value] is not None:
            least = np.minimum(*(self._shares(value, source, different) for source in (value, self.copies[value])))
            self.edges.append(((self.copies[value], number), np.where(again, 0.0, least[:, columns]) * factor))
        else:
            self._choice(value, number, different, columns, again, factor)

    def _choice(
        self, value: int, number: int, different: Sequence[Dims], columns: Sequence[int], again: Costs, factor: float
    ) -> None:
        """A node between a reader of a value and the two layouts in which that is there: from which it is made."""
        count = len(different)
        rows = np.arange(2 * count + 1)
        # Each layout that is wanted, made of the value; each, made of its copy; or none, for who has it already.
        chooser = self._node(np.zeros(len(rows)))
        for source, first in ((value, 0), (self.copies[value], count)):
            shares = np.zeros((len(self.layouts[source]), len(rows)))
            shares[:, first : first + count] = self._shares(value, source, different) * factor
            self.edges.append(((source, chooser), shares))
        fits = (rows[:, None] % count == np.array(columns)) & (rows[:, None] < 2 * count)
        fits[-1] = again
        self.edges.append(((chooser, number), np.where(fits, 0.0, np.inf)))

    def _shares(self, value: int, source: int, wanted: Sequence[Dims]) -> Costs:
        """The shares that it takes to make layouts of a value from those of a node that has it."""
        return moving(self.layouts[source], wanted, self.program.shapes[value], self.program.mesh)

    def _made(self, ways: Sequence[Strategy], place: int, value: int) -> Costs:
        """The shares that it takes to bring a result from how each strategy leaves it into each of its layouts."""
        shape, mesh, layouts = self.program.shapes[value], self.program.mesh, self.layouts[value]
        rows: dict[object, Costs] = {}
        for way in ways:
            key = way.results[place], way.partial
            if key not in rows:
                rows[key] = (
                    finishing(*key, layouts, shape, mesh) if way.partial else moving([key[0]], layouts, shape, mesh)[0]
                )
        return np.array([rows[way.results[place], way.partial] for way in ways])

    def _compute(self, node: Node, degree: int) -> float:
        return COMPUTE * _work(node) / self.work / degree

    def _parts(self, dims: Dims) -> int:
        return math.prod(self.program.mesh.group_size(axes) for axes in dims)


def _work(node: Node) -> float:
    return node.scope.weight * math.prod(node.rule.sizes)


def _columns(wanted: Sequence[Dims]) -> list[int]:
    numbers: dict[Dims, int] = {}
    return [numbers.setdefault(dims, len(numbers)) for dims in wanted]
