"""
Layers that are equal, found by what they compute, wherever their ops stand in the text.

A heavy op and the next one of its kind are taken for the same op of two layers, or the next but one, where layers
alternate, and so is what is around them, as far as it is alike. So each op, and each value, has a like in the next
layer, and a chain of likes goes through all of them.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence

from shardwright.dialects import stablehlo
from shardwright.dialects.dtensor.hints import BarrierOp
from shardwright.passes.program import Node, Program

FEWEST = 5
"""The layers from which on folding them pays: three stay."""

SEEDS = 2
"""So many kinds of heavy ops are tried: the rarest that there are often enough, as one that a layer has once is."""

_APART = (BarrierOp, stablehlo.WhileOp, stablehlo.IfOp, stablehlo.CaseOp)
"""Ops that are of no layer: between layers is where the user wants them decided apart, and loops have their own."""

Place = tuple[int, int]
"""A value or an op of a layer: a number that its likes in all layers have in common, and the layer."""


def find_layers(program: Program) -> Iterator[Layers]:
    """Runs of equal layers, of which one may be what the program is made of."""
    kinds = [_kind(program, node) for node in program.nodes]
    for seed, like in _seeds(program, kinds):
        likes = _Likes(program, kinds, seed, like)
        numbers = _Numbering(program, likes, seed)
        count = len(numbers.seeds) if 2 * len(numbers.layers) > len(program.nodes) else 0
        # What the ends of a run touch may not be as it is in between.
        for second, last in [(1, count - 1), (1, count - 2), (2, count - 1), (2, count - 2)]:
            if last - second > FEWEST - 3:
                yield Layers(program, likes, numbers, second, last)


def _kind(program: Program, node: Node) -> tuple[int, str] | None:
    """What ops of two layers must have in common to be alike; none, if they are of no layer."""
    if node.scope is not program.root or isinstance(node.op, _APART):
        return None
    return program.kinds[node.index], node.op.name


def _seeds(program: Program, kinds: Sequence[object]) -> list[tuple[Node, Node]]:
    """Pairs of heavy ops that may be the same in a layer and in the next."""
    found: dict[object, list[Node]] = defaultdict(list)
    for node in program.nodes:
        if node.rule.heavy and kinds[node.index] is not None:
            found[kinds[node.index]].append(node)
    often = sorted((nodes for nodes in found.values() if len(nodes) >= FEWEST), key=len)[:SEEDS]
    return [
        (nodes[len(nodes) // 2 - 1], nodes[len(nodes) // 2 - 1 + on])
        for on in (1, 2)
        for nodes in often
        if len(nodes) >= on * FEWEST
    ]


class _Next(dict[int, int]):
    """The like of each node, or value, in the next layer; no two have the same."""

    def __init__(self) -> None:
        super().__init__()
        self.before: dict[int, int] = {}

    def pair(self, one: int, other: int) -> bool:
        """Takes two for likes, if they are two and neither has another like."""
        if one == other or one in self or other in self.before:
            return False
        self[one], self.before[other] = other, one
        return True

    def chains(self) -> list[list[int]]:
        """All that are alike, layer by layer."""
        return [list(self._from(first)) for first in self.keys() - self.before.keys()]

    def _from(self, first: int) -> Iterator[int]:
        yield first
        while first in self:
            first = self[first]
            yield first


class _Likes:
    """Which ops and values are alike in a layer and in the next, as far as what is around two heavy ops is alike."""

    def __init__(self, program: Program, kinds: Sequence[object], first: Node, second: Node):
        self.program = program
        self.kinds = kinds
        self.nodes, self.values = _Next(), _Next()
        self.waiting: deque[tuple[int, int]] = deque()
        self._pair(first, second)
        while self.waiting:
            self._look_around(*self.waiting.popleft())

    def _pair(self, one: Node, other: Node) -> None:
        kind = self.kinds[one.index]
        if kind is None or kind != self.kinds[other.index] or not self.nodes.pair(one.index, other.index):
            return
        pairs = zip(one.values, other.values, strict=True)
        # Scalars tie nothing together: a norm of all gradients goes from layer to layer in an order of its own.
        shapes = self.program.shapes
        self.waiting.extend(pair for pair in pairs if self.values.pair(*pair) and shapes[pair[0]])

    def _look_around(self, one: int, other: int) -> None:
        producers = self.program.producers
        maker, its_maker = producers[one], producers[other]
        if maker is not None and its_maker is not None:
            self._pair(maker, its_maker)
        readers, its_readers = self._readers(one), self._readers(other)
        for key, nodes in readers.items():
            likes = its_readers.get(key, [])
            if len(nodes) == len(likes):
                for pair in zip(nodes, likes, strict=True):
                    self._pair(*pair)

    def _readers(self, value: int) -> dict[object, list[Node]]:
        found: dict[object, list[Node]] = defaultdict(list)
        for node in self.program.users[value]:
            found[self.kinds[node.index], node.operands.index(value)].append(node)
        return found


class _Numbering:
    """
    Gives the ops of a run of equal layers their layers.

    Where a layer ends is a matter of choice, but two parts of one that end it elsewhere cannot be taken out together.
    So it ends where the text comes to the next like of the seed; of what goes the other way, as gradients do, after the
    last heavy op that reads what the seed reads; and what is beyond both is of the layer of what is next to it.
    """

    def __init__(self, program: Program, likes: _Likes, seed: Node):
        self.program = program
        self.layers: dict[int, int] = {}
        self.moved = likes.values.keys() | likes.values.before.keys()
        self.chains = sorted(likes.nodes.chains(), key=_middle)
        self.by_node = {index: chain for chain in self.chains for index in chain}
        self.seeds = self.by_node.get(seed.index, [])  # likes that go round in a circle are of no layers
        if len(self.seeds) < FEWEST or self.seeds != sorted(self.seeds):
            return
        for chain in self.chains:
            if _goes_on(chain) and self.seeds[0] < _middle(chain) < self.seeds[-1]:
                self._number(chain, _middle(chain), bisect_right(self.seeds, _middle(chain)) - 1)
        self._number_backwards()
        self._number_rest()

    def _number_backwards(self) -> None:
        seed = self.program.nodes[_middle(self.seeds)]
        readers = (reader for value in seed.operands if value in self.moved for reader in self.program.users[value])
        back = [each.index for each in readers if each.rule.heavy and self._goes_back(each.index)]
        if not back:
            return
        ends = self.by_node[max(back)][::-1]
        first = self.layers[seed.index] + ends.index(max(back))
        for chain in self.chains:
            if not _goes_on(chain) and ends[0] < _middle(chain) < ends[-1]:
                self._number(chain, _middle(chain), first - bisect_left(ends, _middle(chain)))

    def _goes_back(self, index: int) -> bool:
        return index in self.by_node and not _goes_on(self.by_node[index])

    def _number_rest(self) -> None:
        waiting = deque(chain for chain in self.chains if chain[0] in self.layers)
        while waiting:
            node = self.program.nodes[_middle(waiting.popleft())]
            # Not by way of what all layers read.
            moved = (value for value in reversed(node.values) if value in self.moved)
            for near in (near.index for value in moved for near in self.program.around[value]):
                chain = self.by_node.get(near)
                if chain is not None and chain[0] not in self.layers:
                    self._number(chain, near, self.layers[node.index])
                    waiting.append(chain)

    def _number(self, chain: Sequence[int], one: int, layer: int) -> None:
        """Numbers a chain of which one is in a layer."""
        first = layer - chain.index(one)
        self.layers.update((index, first + place) for place, index in enumerate(chain))


def _middle(chain: Sequence[int]) -> int:
    return chain[len(chain) // 2]


def _goes_on(chain: Sequence[int]) -> bool:
    """Whether layers come in the text as those of the seed do."""
    return chain[0] < chain[-1]


class Layers:
    """
    Where ops and values are in a run of equal layers.

    Of the ops in between those may be left out that each layer has, and that take the same of the same layers, or of
    what is around the run, in all of them.
    """

    def __init__(self, program: Program, likes: _Likes, numbers: _Numbering, second: int, last: int):
        self.program = program
        self.second, self.last = second, last
        self.nodes: dict[int, Place] = {
            index: (chain[0], numbers.layers[index])
            for chain in numbers.chains
            for index in chain
            if index in numbers.layers
        }
        self.values = dict(self._values(likes.values.chains()))
        self.by_place = {place: value for value, place in self.values.items()}
        members = self._members()
        self.left_out = {index for member in members for index in member[1:]}
        """The nodes of all layers between the second and the last."""
        self.counted = {member[0] for member in members}
        """The nodes of the second layer, which stand for them."""

    def stand_alone(self) -> bool:
        """Whether nothing takes of the layers that may be left out but their neighbours, and norms."""
        inner = range(self.second, self.last)
        others = (
            node
            for node in self.program.nodes
            if node.index not in self.left_out
            and node.index not in self.counted
            and self.nodes.get(node.index, (0, self.second))[1] in inner
        )
        makers, shapes = self.program.producers, self.program.shapes
        taken = (value for node in others for value in node.operands if shapes[value])
        return all(maker is None or maker.index not in self.left_out for maker in map(makers.__getitem__, taken))

    def _values(self, chains: list[list[int]]) -> Iterator[tuple[int, Place]]:
        """Values go with the op that makes them; what comes from outside with the first that reads it."""
        program = self.program
        for index, (number, layer) in self.nodes.items():
            for place, value in enumerate(program.nodes[index].results):
                yield value, (-1 - number - place * len(program.nodes), layer)
        for chain in chains:
            if all(program.producers[value] is None for value in chain):
                readers = program.users[_middle(chain)]
                reader = next((user.index for user in readers if user.index in self.nodes), None)
                if reader is not None:
                    first = self.nodes[reader][1] - len(chain) // 2
                    yield from ((value, (chain[0], first + place)) for place, value in enumerate(chain))

    def _members(self) -> list[list[int]]:
        """The likes of each op that may be left out, from the second layer to the last but one."""
        found: dict[int, dict[int, int]] = defaultdict(dict)
        for index, (number, layer) in self.nodes.items():
            found[number][layer] = index
        layers = range(self.second, self.last)
        whole = ([there[layer] for layer in layers] for there in found.values() if there.keys() >= set(layers))
        return [nodes for nodes in whole if self._are_regular(nodes)]

    def _are_regular(self, nodes: Sequence[int]) -> bool:
        all_values = (self.program.nodes[index].values for index in nodes)
        return all(self._is_regular(values, nodes) for values in zip(*all_values, strict=True))

    def _is_regular(self, values: Sequence[int], nodes: Sequence[int]) -> bool:
        """Whether what these likes have at one place is one value, or the same one of the same layer, from theirs."""
        if len(set(values)) == 1:
            return True
        if not all(value in self.values for value in values):
            return False
        offsets = {self.away(value, node) for value, node in zip(values, nodes, strict=True)}
        return len(offsets) == 1

    def away(self, value: int, node: int) -> tuple[int, int]:
        """Of what a value is one, and of how many layers further on than the node."""
        number, layer = self.values[value]
        return number, layer - self.nodes[node][1]
