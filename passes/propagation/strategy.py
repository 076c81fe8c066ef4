"""
Strategies: how one op may run on a mesh, and what each way costs in bytes.

A strategy gives axes to the factors of the op's rule. It determines the layout that the op needs of each operand, the
layout in which it leaves each result, and the axes over which the results are partial. Its cost is what it takes to
relayout the operands from where they are and the results to where they belong.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter

from shardwright.layout.axes import Axis, borders, cut, merge_adjacent
from shardwright.layout.mesh import Mesh
from shardwright.layout.planning import algebra, cost, planner
from shardwright.layout.spec import LayoutSpec
from shardwright.passes.program import Dims, Node, Program, overlaps
from shardwright.rules.expansion import rounds_of
from shardwright.rules.rule import PASS, Axes, Rule, assemble, project

MAX_ASSIGNMENTS, KEPT = 256, 16
"""
So many assignments of axes to factors are all looked at.

Where there are more, axes are given out one after the other, and after each those few go on that send the least so far.
"""


LEAST_SAVING = 0.5
"""Bytes per device below which a saving is rounding: without it, sums in another order would move layouts around."""

NOWHERE: frozenset[tuple[int, Dims]] = frozenset()
"""No copies of any operand."""


@dataclass(frozen=True, slots=True)
class Strategy:
    """The layouts that one way of running an op needs and leaves."""

    operands: tuple[Dims, ...]
    results: tuple[Dims, ...]
    partial: Axes
    kind: str
    degree: int
    """Over how many devices the op's work is split."""
    factors: tuple[tuple[int, Axes], ...]
    """The axes of each factor that has any."""
    exchanged: float = 0.0
    """What it costs that each device sends for the expansion of the op, if the strategy takes one."""
    messages: int = 0
    """In how many messages."""


class Strategist:
    """Enumerates and prices strategies; remembers both, since models repeat their layers."""

    keeps_devices = True
    """Whether no heavy op loses devices to work on, whatever it costs: work has no price among bytes."""

    def __init__(self, program: Program, message: int = 0):
        self.program = program
        self.mesh: Mesh = program.mesh
        self.message = message
        """What each message costs, in bytes, next to those that it sends."""
        self._order = {name: index for index, name in enumerate(self.mesh.sizes)}
        self._borders = _borders(program)
        self._projections: dict[tuple[Rule, int, Dims], tuple[dict[int, Axes], bool]] = {}
        self._options: dict[object, tuple[Strategy, ...]] = {}
        self._strategies: dict[object, Strategy | None] = {}
        self._shares: dict[tuple[Dims, Dims, tuple[int, ...]], float] = {}
        self._wide: dict[tuple[Rule, tuple[int, ...], Axes], list[Strategy]] = {}
        self._missing: dict[tuple[Dims, Dims], float] = {}
        self._best: dict[object, tuple[float, Strategy]] = {}
        self._best_of_all: dict[object, tuple[float, Strategy]] = {}
        self._partial_specs: dict[tuple[Dims, Axes, str], LayoutSpec] = {}
        self._neighbours: dict[tuple[int, Strategy], list[Strategy]] = {}
        self._read = [_read(program, node) for node in program.nodes]
        """For each node what picks the layouts on which its cost depends."""

    def project(self, rule: Rule, tensor: int, dims: Dims) -> tuple[dict[int, Axes], bool]:
        """`rules.rule.project` of the tensor of that number, remembered; parts that nest with no others are dropped."""
        key = (rule, tensor, dims)
        found = self._projections.get(key)
        if found is None:
            factors, exact = project(dims, rule.tensors()[tensor], rule.sizes, self.mesh)
            nested = self._nested(factors)
            found = self._projections[key] = nested, exact and nested == factors
        return found

    def _carried(self, rule: Rule, tensor: int, dims: Dims) -> dict[int, Axes]:
        """The axes of the factors of one tensor, in each way in which the rule writes it."""
        found = self.project(rule, tensor, dims)[0]
        for operands, results in rule.others:
            found = found | self._nested(project(dims, (*operands, *results)[tensor], rule.sizes, self.mesh)[0])
        return found

    def _nested(self, factors: Mapping[int, Axes]) -> dict[int, Axes]:
        """The axes of factors as far as they nest with all others."""
        kept = {factor: tuple(itertools.takewhile(self.nests, axes)) for factor, axes in factors.items()}
        return {factor: axes for factor, axes in kept.items() if axes}

    def spell(self, axes: Axes) -> Axes:
        """The one spelling of a dim's axes: neighbouring parts of an axis joined."""
        return axes if len(axes) < 2 else merge_adjacent(axes, self.mesh.sizes)

    def nests(self, axis: Axis) -> bool:
        """Whether a part of an axis nests with all other parts that this program may use."""
        return axis.whole or {axis.pre, axis.pre * axis.size} <= self._borders[axis.name]

    def best(
        self, node: Node, dims: Sequence[Dims], there: frozenset[tuple[int, Dims]] = NOWHERE
    ) -> tuple[float, Strategy]:
        """
        The cheapest strategy for the op when every value has the dims given by number, and its cost in bytes.

        `there` are copies of operands, by place, that are there for others already. They are no reason for a heavy op
        to be done on fewer devices.
        """
        key = self.program.kinds[node.index], there, self._read[node.index](dims)
        found = self._best.get(key)
        if found is None:
            options = self.options(node, dims)
            if there and node.rule.heavy and self.keeps_devices:
                least = self.best(node, dims)[1].degree
                options = [option for option in options if option.degree >= least]
            found = self._best[key] = self.cheapest(node, options, self._fetching(node, dims, there), dims)
        return found

    def best_of_all(self, node: Node, dims: Sequence[Dims]) -> tuple[float, Strategy]:
        """
        The same, where a heavy op pays, among strategies with axes as well that none of its tensors is split by.

        Of these no one that leaves more devices idle. To weigh them at every step of refinement would take too long,
        and lead it away from layouts that agree.
        """
        cost, strategy = self.best(node, dims)
        if cost == 0 or not node.rule.heavy:
            return cost, strategy
        key = self.program.kinds[node.index], self._read[node.index](dims)
        found = self._best_of_all.get(key)
        if found is None:
            least = min(option.degree for option in self.options(node, dims))
            wide = [option for option in self.wide(node) if option.degree >= least]
            found = self._best_of_all[key] = self.cheapest(node, [strategy, *wide], self._fetching(node, dims), dims)
        return found

    def _fetching(
        self, node: Node, dims: Sequence[Dims], there: frozenset[tuple[int, Dims]] = NOWHERE
    ) -> Callable[[int, Dims], float]:
        """What it costs to have the operand at a place in some dims, for each run of the op: nothing where it is."""
        values, shares = node.operands, node.shares

        def fetch(place: int, wanted: Dims) -> float:
            if (place, wanted) in there:
                return 0.0
            return shares[place] * self.move(values[place], dims[values[place]], wanted)

        return fetch

    def cheapest(
        self,
        node: Node,
        options: Sequence[Strategy],
        fetch: Callable[[int, Dims], float],
        dims: Sequence[Dims],
    ) -> tuple[float, Strategy]:
        """The cheapest of `options`, given what it costs to `fetch` the operand at a place with some dims."""
        best: tuple[float, int, int, Strategy] | None = None
        most = math.inf
        for rank, option in enumerate(options):
            price = self._price(node, option, fetch, dims, most)
            if price <= most and (best is None or (price, -option.degree, rank) < best[:3]):
                best, most = (price, -option.degree, rank, option), price
        assert best is not None
        return best[0], best[3]

    def _price(
        self, node: Node, option: Strategy, fetch: Callable[[int, Dims], float], dims: Sequence[Dims], most: float
    ) -> float:
        """What a strategy costs; of one that costs more than `most`, some part of it that does."""
        price, free = option.exchanged, self.program.free
        seen: set[tuple[int, Dims]] = set()
        for place, wanted in enumerate(option.operands):
            if price > most:
                return price
            value = node.operands[place]
            if not free[value] and (value, wanted) not in seen:
                seen.add((value, wanted))
                price += fetch(place, wanted)
        for value, made in zip(node.results, option.results, strict=True):
            if price > most:
                return price
            price += self.finish(value, made, option.partial, option.kind, dims[value])
        return price

    def move(self, value: int, have: Dims, want: Dims) -> float:
        """What it costs to relayout a finished value: the bytes that each device sends, and its message, if any."""
        if have == want:
            return 0.0
        key = (have, want, self.program.shapes[value])
        share = self._shares.get(key)
        if share is None:
            share = self._shares[key] = self._share(value, have, want)
        return share * self.program.bytes[value] + (self.message if share else 0.0)

    def _share(self, value: int, have: Dims, want: Dims) -> float:
        """What the planner reaches between finished layouts: only what is missing moves."""
        program = self.program
        source, target = program.spec(have), program.spec(want)
        missing = cost.missing_share(source, target, self.mesh)
        if missing is not None:
            return float(missing)
        return planner.cost_share(source, target, program.shapes[value], self.mesh)

    def finish(self, value: int, made: Dims, partial: Axes, kind: str, want: Dims) -> float:
        """What it costs to bring a value, partial over some axes, into finished dims."""
        if not partial:
            return self.move(value, made, want)
        program = self.program
        return self.relayout(value, self.partial_spec(made, partial, kind), program.spec(want))

    def relayout(self, value: int, source: LayoutSpec, target: LayoutSpec) -> float:
        """What it costs to bring a value from any layout into any other: bytes per device, and the messages."""
        program = self.program
        share = planner.cost_share(source, target, program.shapes[value], self.mesh) * program.bytes[value]
        if not self.message or not share:
            return share
        return share + self.message * planner.cost_messages(source, target, program.shapes[value], self.mesh)

    def partial_spec(self, dims: Dims, partial: Axes, kind: str) -> LayoutSpec:
        """The layout with these dims and partial axes, these in their one spelling."""
        key = dims, partial, kind
        found = self._partial_specs.get(key)
        if found is None:
            spec = LayoutSpec(self.mesh.name, dims, frozenset(), partial, kind)
            found = self._partial_specs[key] = algebra.tidy_partial(spec, self.mesh)
        return found

    def wide(self, node: Node) -> list[Strategy]:
        """The strategies that split an op by any of the mesh's axes, used or not; none where they are too many."""
        rule, weights = node.rule, [self.program.bytes[value] for value in node.values]
        key = rule, tuple(weights), node.reserved
        found = self._wide.get(key)
        if found is None:
            axes = [Axis(name) for name, size in self.mesh.sizes.items() if size > 1]
            axes = [axis for axis in axes if not overlaps(axis, node.reserved, self.mesh)]
            factors = [factor for factor in range(len(rule.sizes)) if rule.movable(factor)]
            found = self._wide[key] = []
            if (len(factors) + 1) ** len(axes) <= MAX_ASSIGNMENTS:
                for picks in itertools.product((None, *factors), repeat=len(axes)):
                    (by_factor,) = self._orders(rule, tuple(zip(axes, picks, strict=True)), [], weights)
                    strategy = self.strategy(rule, by_factor, weights)
                    found += [] if strategy is None else [strategy]
        return found

    def neighbours(self, node: Node, chosen: Strategy) -> list[Strategy]:
        """The strategies that differ from `chosen` in where one axis goes, to whatever factor can be split by it."""
        key = self.program.kinds[node.index], chosen
        found = self._neighbours.get(key)
        if found is None:
            found = self._neighbours[key] = list(self._moved_by_one(node, chosen))
        return found

    def _moved_by_one(self, node: Node, chosen: Strategy) -> Iterator[Strategy]:
        rule, weights = node.rule, [self.program.bytes[value] for value in node.values]
        for factor, axes in chosen.factors:
            for axis in axes:
                for target in range(len(rule.sizes)):
                    if target != factor and self._may_split(rule, target, axis):
                        moved = {f: tuple(a for a in mine if a != axis) for f, mine in chosen.factors}
                        moved[target] = (*moved.get(target, ()), axis)
                        strategy = self.strategy(rule, {f: mine for f, mine in moved.items() if mine}, weights)
                        if strategy is not None:
                            yield strategy

    def options(self, node: Node, dims: Sequence[Dims]) -> tuple[Strategy, ...]:
        """
        All sensible strategies for the op when every value has the dims given by number; never empty.

        An axis may go to any factor that some tensor splits by it; where a light op in a loop reads what that is split
        by and what comes from outside, to any dim: that is relaid once, and what is looked up of it in each round.
        """
        rule = node.rule
        if rule.pairwise:
            home = dims[node.values[-1]]
            return (Strategy((home,) * len(node.operands), (home,) * len(node.results), (), "", 1, ()),)
        known = tuple(
            None if self.program.free[value] and place < len(node.operands) else dims[value]
            for place, value in enumerate(node.values)
        )
        weights = [self.program.bytes[value] for value in node.values]
        once = frozenset(place for place, share in enumerate(node.shares) if share < 1 and not rule.heavy)
        key = (rule, known, tuple(weights), node.reserved, once)
        found = self._options.get(key)
        if found is None:
            found = self._options[key] = tuple(self._enumerate(rule, known, weights, node.reserved, once))
        return found

    def _enumerate(
        self,
        rule: Rule,
        known: tuple[Dims | None, ...],
        weights: Sequence[int],
        reserved: Axes,
        once: frozenset[int],
    ) -> list[Strategy]:
        carried = [self._carried(rule, tensor, dims) if dims is not None else {} for tensor, dims in enumerate(known)]
        carried = _without(_refine_all(carried, self.mesh), reserved, self.mesh)
        anywhere = {axis for place in once for axes in carried[place].values() for axis in axes}
        found: dict[tuple[tuple[int, Axes], ...], Strategy] = {}
        for keep in (True, False) if rule.heavy and self.keeps_devices else (False,):
            assigned = _assignments(
                self._choices(rule, carried, keep, anywhere),
                lambda picks: self._about(
                    self.strategy(rule, self._orders(rule, picks, carried, weights)[0], weights), known, weights
                ),
            )
            for assignment in assigned:
                for by_factor in self._orders(rule, assignment, carried, weights):
                    strategy = self.strategy(rule, by_factor, weights)
                    if strategy is not None:
                        found.setdefault(strategy.factors, strategy)
            if found:
                break
        return list(found.values())

    def _about(self, strategy: Strategy | None, known: Sequence[Dims | None], weights: Sequence[int]) -> float:
        """About what a strategy sends where tensors have these dims: enough to tell good ones from others."""
        if strategy is None:
            return math.inf
        group, sent = self.mesh.group_size(strategy.partial), strategy.exchanged
        for tensor, (have, want) in enumerate(zip(known, strategy.operands + strategy.results, strict=True)):
            if have is None:
                continue
            made = tensor >= len(strategy.operands)
            source, target = (want, have) if made else (have, want)
            key = source, target
            if key not in self._missing:
                missing = cost.missing_share(self.program.spec(source), self.program.spec(target), self.mesh)
                self._missing[key] = 1.0 if missing is None else float(missing)
            share = self._missing[key]
            if made:
                share += (group - 1) / (group * math.prod(map(self.mesh.group_size, want)))
            sent += share * weights[tensor]
        return sent

    def _choices(
        self, rule: Rule, carried: Sequence[dict[int, Axes]], keep: bool, anywhere: Collection[Axis]
    ) -> dict[Axis, list[int | None]]:
        """
        For each axis in use the factors that some tensor splits by it, and None for leaving it out.

        Some axes may go `anywhere`. With `keep`, an axis that two tensors or more are split by may not be left out: the
        work stays split.
        """
        choices: dict[Axis, list[int | None]] = {}
        tensors: Counter[Axis] = Counter()
        for found in carried:
            tensors.update({axis for axes in found.values() for axis in axes})
            for factor, axes in found.items():
                if rule.movable(factor):
                    for axis in axes:
                        factors = choices.setdefault(axis, [])
                        if factor not in factors:
                            factors.append(factor)
        for axis in tensors:
            factors = choices.setdefault(axis, [])
            if axis in anywhere or not any(rule.splittable(factor) for factor in factors if factor is not None):
                factors += [factor for factor in self._elsewhere(rule, axis) if factor not in factors]
        for axis, factors in choices.items():
            if not keep or tensors[axis] < 2:
                factors.append(None)
        return dict(sorted(choices.items(), key=lambda item: (self._order[item[0].name], item[0])))

    def _elsewhere(self, rule: Rule, axis: Axis) -> list[int | None]:
        """Where an axis may go that splits only what the op cannot do alone when split: to dims that pass."""
        passing = (factor for factor, kind in enumerate(rule.kinds) if kind == PASS)
        return [factor for factor in passing if self._may_split(rule, factor, axis)]

    def _may_split(self, rule: Rule, factor: int, axis: Axis) -> bool:
        return rule.splittable(factor) and rule.sizes[factor] % self.mesh.axis_size(axis) == 0

    def _orders(
        self,
        rule: Rule,
        assignment: Assignment,
        carried: Sequence[dict[int, Axes]],
        weights: Sequence[int],
    ) -> list[dict[int, Axes]]:
        """
        Axes by factor, in each order in which a tensor has them all, that of the largest first.

        Where none has them all, those that are there go first.
        """
        chosen: dict[int, list[Axis]] = {}
        for axis, factor in assignment:
            if factor is not None:
                chosen.setdefault(factor, []).append(axis)
        ways: list[list[Axes]] = []
        for factor, axes in chosen.items():
            if len(axes) == 1:
                ways.append([tuple(axes)])
                continue
            sources = sorted(range(len(carried)), key=lambda tensor: -weights[tensor])
            there = [tuple(axis for axis in carried[tensor].get(factor, ()) if axis in axes) for tensor in sources]
            mixed = tuple(dict.fromkeys([axis for found in there for axis in found] + axes))
            ways.append(list(dict.fromkeys(found for found in there if len(found) == len(axes))) or [mixed])
        return [dict(zip(chosen, way, strict=True)) for way in itertools.product(*ways)]

    def strategy(self, rule: Rule, by_factor: dict[int, Axes], weights: Sequence[int]) -> Strategy | None:
        """The strategy of an assignment; None when a factor does not divide or a compound dim cannot carry it."""
        key = rule, tuple(by_factor.items()), tuple(weights)
        if key not in self._strategies:
            self._strategies[key] = self._assigned(rule, by_factor, weights)
        return self._strategies[key]

    def _assigned(self, rule: Rule, by_factor: dict[int, Axes], weights: Sequence[int]) -> Strategy | None:
        mesh, nest = self.mesh, all(map(self.nests, itertools.chain(*by_factor.values())))
        by_factor = by_factor | dict(rule.fixed)  # what a manual computation asks for need not nest with the rest
        if not nest or any(rule.sizes[factor] % mesh.group_size(axes) for factor, axes in by_factor.items()):
            return None
        sides = self._sides(rule, by_factor)
        if sides is None:
            return None
        reduced = [(rule.kinds[factor], axes) for factor, axes in by_factor.items() if rule.reduces(factor)]
        if len({kind for kind, _ in reduced}) > 1:
            return None
        partial = tuple(axis for _, axes in reduced for axis in axes)
        degree = math.prod(mesh.group_size(axes) for axes in by_factor.values())
        factors = tuple(sorted(by_factor.items()))
        kind = reduced[0][0] if reduced else ""
        exchanged = self._exchanged(rule, by_factor, weights)
        if exchanged is None:
            return None
        messages = self.rounds(rule, by_factor) if exchanged else 0
        return Strategy(sides[0], sides[1], partial, kind, degree, factors, exchanged, messages)

    def _sides(self, rule: Rule, by_factor: dict[int, Axes]) -> list[tuple[Dims, ...]] | None:
        """
        The dims of the operands and of the results.

        None when no way of the rule has all factors, or a compound dim cannot carry its factors' axes.
        """
        way = rule.way(by_factor)
        sides: list[tuple[Dims, ...]] = []
        for tensors in way or ():
            side: list[Dims] = []
            for tensor in tensors:
                dims = assemble(by_factor, tensor, rule.sizes, self.mesh)
                expected = sum(len(by_factor.get(factor, ())) for factors in tensor for factor in factors)
                if sum(map(len, dims)) != expected:
                    return None
                side.append(tuple(self.spell(axes) for axes in dims))
            sides.append(tuple(side))
        return sides or None

    def rounds(self, rule: Rule, by_factor: dict[int, Axes]) -> int:
        """How often a device waits for others in the op's expansion."""
        return rounds_of(rule.expansion, {factor: self.mesh.group_size(axes) for factor, axes in by_factor.items()})

    def _exchanged(self, rule: Rule, by_factor: dict[int, Axes], weights: Sequence[int]) -> float | None:
        """What is sent for the op's expansion; None when it cannot be expanded so."""
        if rule.expansion is None or not any(map(rule.expands, by_factor)):
            return 0.0
        parts = {factor: self.mesh.group_size(axes) for factor, axes in by_factor.items()}
        sent = rule.expansion.price(parts, weights)
        return sent + self.message * self.rounds(rule, by_factor) if sent else sent


def _read(program: Program, node: Node) -> Callable[[Sequence[Dims]], object]:
    read = [*(value for value in node.operands if not program.free[value]), *node.results]
    return itemgetter(*read) if read else lambda dims: ()


def _borders(program: Program) -> dict[str, frozenset[int]]:
    """For each mesh axis where parts of it may begin and end: where the user's do, and in between."""
    marks: dict[str, set[int]] = {name: set() for name in program.mesh.sizes}
    for spec in program.given:
        for axis in spec.axes() if spec is not None else ():
            marks[axis.name].update(program.mesh.span(axis))
    return {name: borders(size, marks[name]) for name, size in program.mesh.sizes.items()}


Assignment = tuple[tuple[Axis, int | None], ...]
"""Axes, each with the factor that it splits, or with None."""


def _assignments(choices: dict[Axis, list[int | None]], price: Callable[[Assignment], float]) -> list[Assignment]:
    """All assignments; of very many those to which axis after axis the cheapest led, the others left out so far."""
    found: list[Assignment] = [()]
    for axis, factors in choices.items():
        found = [(*picks, (axis, factor)) for picks in found for factor in factors]
        if len(found) > MAX_ASSIGNMENTS:
            found = sorted(found, key=price)[:KEPT]
    return found


def _refine_all(carried: list[dict[int, Axes]], mesh: Mesh) -> list[dict[int, Axes]]:
    """Cuts axes of which different tensors use different, overlapping parts into their common refinement."""
    used = {axis for found in carried for axes in found.values() for axis in axes}
    if all(axis.whole for axis in used):
        return carried
    parts = cut(used, mesh.sizes)
    return [
        {factor: tuple(atom for axis in axes for atom in parts[axis]) for factor, axes in found.items()}
        for found in carried
    ]


def _without(carried: list[dict[int, Axes]], reserved: Axes, mesh: Mesh) -> list[dict[int, Axes]]:
    """Leaves out the axes that no layout may name inside of a manual computation."""
    if not reserved:
        return carried
    return [
        {factor: tuple(axis for axis in axes if not overlaps(axis, reserved, mesh)) for factor, axes in found.items()}
        for found in carried
    ]
