"""
Equal layers are decided once.

Models repeat their layers, and what is best for one of them is best for the next. So of a run of equal layers the
first, the second and the last stay, and layouts are looked for in what is left. The second layer counts as often as it
stands for others. Where layers touch that did not, the last takes of the second what it took of the one before it, and
gives what it gave, forwards and backwards. And what the second takes of its neighbours is tied to what others take of
it, as around a loop: it is best in one layout, or each layer pays.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

from shardwright.passes.program import Node, Program, Use
from shardwright.passes.propagation.spreading import Because, State
from shardwright.passes.propagation.structure.layers import Layers, find_layers
from shardwright.rules.builder import RuleBuilder
from shardwright.rules.rule import ANY, Rule

SMALLEST = 256
"""The ops from which on a program is folded: fewer are soon decided one by one."""


def fold(program: Program) -> Folded | None:
    """The program with equal layers folded, if it has any and they are a good part of it."""
    if len(program.nodes) < SMALLEST or program.grouped:
        return None
    for layers in find_layers(program):
        if 3 * len(layers.left_out) > len(program.nodes) and layers.stand_alone():
            folding = _Folding(program, layers)
            order = folding.order()
            if order is not None:
                return folding.folded(order)
    return None


class Folded:
    """A program with equal layers folded: `program`, in which each value that was left out has a stand-in."""

    def __init__(self, places: _Places, program: Program, kept: list[int]):
        self.places = places
        self.program = program
        self.kept = kept
        """The number that each node of the folded program has in the whole one."""

    def unfold(self, state: State) -> None:
        """Gives what was left out the layouts of what stood for it, and reasons in its own layer."""
        because = list(state.because)
        for value, other in self.places.stand_ins.items():
            state.dims[value], because[value] = state.dims[other], state.because[other]
        # Of what stayed, too: others know the nodes of the whole program.
        state.because = [each and self._moved(each, self.places.further(value)) for value, each in enumerate(because)]

    def _moved(self, because: Because, further: int) -> Because:
        """A reason as it is so many layers further on, among the nodes of the whole program."""
        places, node, source, lost = self.places, because.node, because.source, because.lost
        if node is not None:
            node = places.node(self.kept[node.index], further)
        if source is not None:
            source = places.value(source, further)
        if lost is not None:
            lost = replace(lost, source=places.value(lost.source, further))
        return replace(because, node=node, source=source, lost=lost)


class _Places:
    """Who stands for whom, and who is where when layers are left out."""

    def __init__(self, program: Program, layers: Layers):
        self.program = program
        self.layers = layers
        self.skipped = layers.last - layers.second - 1
        """So many layers are left out."""
        self.stand_ins = dict(self._stand_ins())
        """For each value that is left out its like in the second layer."""
        self.nodes = {place: index for index, place in layers.nodes.items()}

    def _stand_ins(self) -> Iterator[tuple[int, int]]:
        layers, inner = self.layers, range(self.layers.second + 1, self.layers.last)
        for value, (number, layer) in layers.values.items():
            maker = self.program.producers[value]
            like = layers.by_place.get((number, layers.second))
            if like is not None and (layer in inner if maker is None else maker.index in layers.left_out):
                yield value, like

    def further(self, value: int) -> int:
        """How many layers further on a value is than its stand-in."""
        like = self.stand_ins.get(value, value)
        return 0 if like == value else self.layers.values[value][1] - self.layers.values[like][1]

    def taken(self, node: Node, value: int) -> int:
        """What a node takes in the place of a value: of a layer that was left out, its like in the one now there."""
        if value not in self.stand_ins:
            return value
        if node.index in self.layers.nodes:
            number, away = self.layers.away(value, node.index)
            there = self._layer(self._position(self.layers.nodes[node.index][1]) + away)
            like = self.layers.by_place.get((number, there), value)
            if like not in self.stand_ins:
                return like
        return self.stand_ins[value]

    def own(self, value: int) -> int:
        """The like of a value in the second layer; if there is none, the value itself."""
        if value not in self.layers.values:
            return value
        return self.layers.by_place.get((self.layers.values[value][0], self.layers.second), value)

    def node(self, index: int, further: int) -> Node:
        """The like of a node that stayed so many layers further on."""
        if index in self.layers.nodes:
            number, layer = self.layers.nodes[index]
            index = self.nodes.get((number, self._position(layer) + further), index)
        return self.program.nodes[index]

    def value(self, value: int, further: int) -> int:
        """The like of a value that stayed so many layers further on."""
        if value not in self.layers.values:
            return value
        number, layer = self.layers.values[value]
        return self.layers.by_place.get((number, self._position(layer) + further), value)

    def _position(self, layer: int) -> int:
        """The number of a layer among those that stay."""
        return layer if layer <= self.layers.second else layer - self.skipped

    def _layer(self, position: int) -> int:
        return position if position <= self.layers.second else position + self.skipped


class _Folding:
    """Builds the folded program."""

    def __init__(self, program: Program, layers: Layers):
        self.whole = program
        self.layers = layers
        self.places = _Places(program, layers)
        kept = (node for node in program.nodes if node.index not in layers.left_out)
        self.operands = {
            node.index: tuple([self.places.taken(node, value) for value in node.operands]) for node in kept
        }
        """What each node that stays takes."""

    def order(self) -> list[int] | None:
        """
        The nodes that stay, what ops take before them: as they were, if it is so there.

        None where it can be in no order, or loops would have to be moved.
        """
        makers = {
            index: [maker.index for value in operands if (maker := self.whole.producers[value]) is not None]
            for index, operands in self.operands.items()
        }
        if all(max(before, default=-1) < index for index, before in makers.items()):
            return list(makers)
        if _has_scopes(self.whole):
            return None
        import networkx as nx

        graph: nx.DiGraph[int] = nx.DiGraph((maker, index) for index, before in makers.items() for maker in before)
        graph.add_nodes_from(makers)
        try:
            return list(nx.lexicographical_topological_sort(graph))
        except nx.NetworkXUnfeasible:
            return None

    def folded(self, order: list[int]) -> Folded:
        """The folded program, its nodes in this order."""
        whole, count = self.whole, len(self.whole.values)
        times = [1.0] * count
        for like in self.places.stand_ins.values():
            times[like] += 1
        program = replace(
            whole,
            nodes=[],
            steps=[],
            users=[[] for _ in range(count)],
            producers=[None] * count,
            times=times,
            entering={},
        )
        copies = {index: self._copy(index, number) for number, index in enumerate(order)}
        for step in whole.steps if _has_scopes(whole) else map(whole.nodes.__getitem__, order):
            if not isinstance(step, Node):
                program.steps.append(step)
            elif step.index in copies:
                program.add_node(copies[step.index])
        for tie, like in self._ties(copies):
            tie.index = len(program.nodes)
            program.add_node(tie)
            program.entering[tie.operands[1]] = tie.operands[0]
            order.append(like)
        program.carried = [
            replace(each, entry=copies[each.entry.index], tie=copies[each.tie.index]) for each in whole.carried
        ]
        program.find_around()
        return Folded(self.places, program, order)

    def _copy(self, index: int, number: int) -> Node:
        times = 1.0 + self.places.skipped * (index in self.layers.counted)
        return replace(self.whole.nodes[index], index=number, operands=self.operands[index], times=times)

    def _ties(self, copies: dict[int, Node]) -> Iterator[tuple[Node, int]]:
        """For what the second layer takes of others a tie to what it makes, and the node of the third that takes it."""
        seen: set[tuple[int, int]] = set()
        for index in self.layers.counted:
            node, like = copies[index], self.places.node(index, 1)
            for value, use in zip(node.operands, like.uses, strict=True):
                own = self.places.own(value)
                if own != value and (own, value) not in seen and self.whole.shapes[value]:
                    seen.add((own, value))
                    yield self._tie(replace(node, op=like.op), own, value, use), like.index

    def _tie(self, node: Node, own: int, value: int, use: Use | None) -> Node:
        rule, times = _tie_rule(self.whole.shapes[value]), float(self.places.skipped)
        operands, uses, shares = (own, value), (use, None), (1.0, 1.0)
        return replace(node, rule=rule, operands=operands, results=(), uses=uses, shares=shares, times=times)


def _has_scopes(program: Program) -> bool:
    return len(program.steps) > len(program.nodes)


@cache
def _tie_rule(shape: tuple[int, ...]) -> Rule:
    """Two values in one layout, which may both be partial: what is added up over all layers is reduced once."""
    builder = RuleBuilder()
    tensor = builder.tensor(shape)
    return builder.rule([tensor, tensor], [], [(ANY, (0, 1))], pairwise=True)
