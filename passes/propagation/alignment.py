"""
Alignment: the walk that gives every op operands in the layouts that its strategy needs.

It edits the entry function in place. A value is available in one or more layouts; a layout not there yet is made
by one `dtensor.relayout` right before its first use, from the cheapest one that is there, and reused from then on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, Operation, SSAValue

from shardwright.dialects import dtensor, stablehlo
from shardwright.dialects.dtensor.hints import BarrierOp
from shardwright.dialects.text.locations import fuse, where
from shardwright.layout.planning import planner
from shardwright.layout.spec import LayoutSpec
from shardwright.layout.words import dim_name, dims_in_words, over
from shardwright.passes.program import Dims, Node, Opening, Program, Scope, Step
from shardwright.passes.propagation.readers.copies import Copies, no_copies, plan_copies
from shardwright.passes.propagation.readers.partial_flow import Pending, incoming, outgoing, plan_flow
from shardwright.passes.propagation.strategy import LEAST_SAVING, Strategist, Strategy
from shardwright.passes.rewriter import erase, insert_before, retype
from shardwright.rules.expansion import Site
from shardwright.rules.rule import assemble, project

_RELAYING = frozenset({dtensor.ConstraintOp, dtensor.RelayoutOp, BarrierOp})
"""Ops whose result is their operand in another layout."""


@dataclass(slots=True)
class _Forms:
    """One value: the layout in which it was made, and all layouts in which it is available."""

    made: LayoutSpec
    available: dict[LayoutSpec, SSAValue]


def bytes_sent(
    program: Program,
    strategist: Strategist,
    dims: list[Dims],
    order: Sequence[Step],
    copies: Copies | None = None,
) -> float:
    """
    What each device would send if `program` were aligned to `dims`, as the strategist weighs it.

    The same walk, in `order`, without the edits.

    Without `copies`, each op does what is cheapest for it alone, as its tensors are split: refinement is led by what
    sends little without anything further.
    """
    walk = Aligner(program, strategist, dims, copies or no_copies(program, strategist, dims), order=order)
    walk.run()
    return walk.sent


def align(program: Program, strategist: Strategist, dims: list[Dims]) -> None:
    """Gives every op of `program` operands in the layouts that it needs; `dims` are the layouts by value number."""
    ways = _ways(program, strategist, dims)
    best = _least(program, strategist, dims, program.steps, ways).copies if len(ways) > 1 else ways[0]
    Aligner(program, strategist, dims, best).run()


def counted(program: Program, strategist: Strategist, dims: list[Dims], order: Sequence[Step]) -> Aligner:
    """The walk in `order`, without the edits, that sends least: it knows what is sent, and how each op is done."""
    return _least(program, strategist, dims, order, _ways(program, strategist, dims))


def _least(
    program: Program, strategist: Strategist, dims: list[Dims], order: Sequence[Step], ways: list[Copies]
) -> Aligner:
    walks = [Aligner(program, strategist, dims, way, order=order) for way in ways]
    for walk in walks:
        walk.run()
    # What another way saves is more than rounding, or the first one stays.
    return min(walks, key=lambda walk: walk.sent + (LEAST_SAVING if walk is not walks[0] else 0.0))


def _ways(program: Program, strategist: Strategist, dims: list[Dims]) -> list[Copies]:
    """
    How ops may be done: each by itself, with copies that serve several, or where heavy ops pay, with any axis.

    The plans price ops one by one: what one of them needs, nobody else may share. What really sends less, counting
    tells.
    """
    alone, planned = no_copies(program, strategist, dims), plan_copies(program, strategist, dims)
    wide = Copies([strategist.best_of_all(node, dims)[1] for node in program.nodes])
    return [alone, *([planned] if planned.changed else []), *([wide] if wide.strategies != alone.strategies else [])]


class Aligner:
    """
    Puts the relayouts into `program`, whose ops are done in `ways`. With `order`, it only counts.

    Counting and editing are one walk, so that refinement is judged by what will really be sent: an estimate of its own
    would miss who shares a relayout with whom.
    """

    def __init__(
        self,
        program: Program,
        strategist: Strategist,
        dims: list[Dims],
        copies: Copies,
        *,
        order: Sequence[Step] | None = None,
    ):
        self.emit = order is None
        self.order = program.steps if order is None else order
        self.sent, self.messages = 0.0, 0.0
        """What each device sends, bytes and messages as the strategist weighs them; and in about how many messages."""
        self.program = program
        self.strategist = strategist
        self.copies = copies
        self.strategies = list(copies.strategies)
        self.flow = plan_flow(program, strategist, self.strategies, dims)
        self.dims = dims
        self.made = list(dims)
        self.pending: list[Pending | None] = program.partial_values()
        for value, (what, _) in self.flow.carry.items():
            self.pending[value] = what
        self.at_home = [what is None for what in self.pending]
        """Whether a value is there, finished, in the layout of `dims`, as far as the walk has come."""
        self.forms: list[_Forms | None] = [None] * len(dims)
        self.types: dict[tuple[Attribute, LayoutSpec], Attribute] = {}
        self.obsolete: list[Operation] = []
        self.passed: list[dtensor.RelayoutOp] = []
        """Relayouts that expansions end with; some may prefer what went into them."""
        self.returned = {program.numbers[value] for value in program.return_op.operands}
        self.roots: dict[int, int] = {}
        """For what is a value in another layout, as the user asked, the number of that value."""
        self.unread: dict[int, str] = {}
        """For such of them as nothing reads but who asks for yet another layout, who asked for it."""
        self.counted: dict[tuple[int, LayoutSpec], float] = {}
        """Relayouts of values that are counted before they are come to (`Program.entering`)."""
        self.scope = program.root
        self.homes: list[Scope] = [program.root] * len(dims)
        """For each value where it is defined, as seen from the scope at hand."""
        self.inside: dict[Scope, list[tuple[int, LayoutSpec]]] = {program.root: []}
        """The forms that were made in each scope that is open; they end with it."""

    def run(self) -> None:
        """Aligns every op and the function's results, then drops the ops that alignment replaced."""
        program = self.program
        for argument in program.function.body.block.args:
            number = program.numbers[argument]
            self._define(number, self._spec(self.dims[number], self.pending[number]))
        for step in self.order:
            if isinstance(step, Node):
                self._visit(step)
            elif isinstance(step, Opening):
                self._open(step.scope)
            else:
                self._close(step.scope)
        self._return()
        if self.emit:
            self._clean_up()

    def _clean_up(self) -> None:
        # Users before what they use, and only now: until the end of the walk, their places say where new ops go.
        for op in reversed(self.obsolete):
            assert op.parent is not None
            op.parent.erase_op(op, safe_erase=False)
        for op in self.passed:
            if not op.result.uses:
                erase(op)
        self.program.function.update_function_type()

    def _open(self, scope: Scope) -> None:
        self.scope = scope
        self.inside[scope] = []
        self._enter(scope.arguments)

    def _close(self, scope: Scope) -> None:
        # What was made inside is not there after a branch that did not run, nor in the next round of a loop.
        for number, spec in self.inside.pop(scope):
            self._known(number).available.pop(spec, None)
            self.at_home[number] = self.at_home[number] and spec is not self.program.spec(self.dims[number])
        assert scope.parent is not None
        self.scope = scope.parent
        self._enter(scope.results)

    def _enter(self, values: Sequence[tuple[int, SSAValue]]) -> None:
        """What carried values, and results of loops and branches, are from here on."""
        for number, value in values:
            self._define(number, self._spec(self.dims[number], self.pending[number]), value)

    def _visit(self, node: Node) -> None:
        if node.results and self.program.free[node.results[0]]:
            # Nothing to align: whoever needs such a value makes it in the layout that it needs.
            self.homes[node.results[0]] = self.scope
            self.obsolete.append(node.op)
        elif type(node.op) in _RELAYING:
            self._relaid(node)
        elif self.emit or not self._is_quiet(node):
            self._aligned(node)
        else:
            for value in node.results:
                self.homes[value] = self.scope

    def _is_quiet(self, node: Node) -> bool:
        """
        Whether an op finds all that it needs where it is, and leaves what it makes where it belongs.

        So do most, and counting has nothing to do for them.
        """
        strategy, dims, at_home, free = self.strategies[node.index], self.dims, self.at_home, self.program.free
        if strategy.partial or strategy.exchanged or self.flow.accepts[node.index]:
            return False
        for value, wanted in zip(node.operands, strategy.operands, strict=True):
            if not free[value] and not (at_home[value] and dims[value] == wanted):
                return False
        return all(
            at_home[value] and dims[value] == made for value, made in zip(node.results, strategy.results, strict=True)
        )

    def _relaid(self, node: Node) -> None:
        """A constraint or relayout: its result is its operand in the layout that it names."""
        (source,), (result,) = node.operands, node.results
        spec = self._spec(self.dims[result], self.pending[result])
        asked, is_barrier = node.op.properties.get("reason"), isinstance(node.op, BarrierOp)
        plain = "the user's barrier" if is_barrier else "the user's layout"
        who = (asked.data if isinstance(asked, StringAttr) else plain) + _at(node)
        self.homes[result] = self.scope
        self.obsolete.append(node.op)
        # Of the value itself and not of its operand, which may have been brought into a layout that is further away.
        root = source
        if not is_barrier:
            root = self.roots[result] = self.roots.get(source, source)
            if self._is_passed_on(result):
                self.unread[result] = who
                return
        past = f", past {self.unread[source]}, which nothing reads" if source in self.unread else ""
        # Only in the layout that was asked for, although the operand may be there in others: users of the result would
        # else go round the user's constraint.
        self.forms[result] = _Forms(spec, {spec: self._obtain(root, spec, node.op, _Asker(who + past))})

    def _is_passed_on(self, value: int) -> bool:
        """Whether all who read a value ask for another layout of it: then it need not be there in its own."""
        users = self.program.users[value]
        asks = (isinstance(user.op, dtensor.ConstraintOp | dtensor.RelayoutOp) for user in users)
        return bool(users) and value not in self.returned and all(asks)

    def _aligned(self, node: Node) -> None:
        strategy = self.strategies[node.index]
        flowing = self._flowing(node, strategy)
        # The flow of partial sums was planned for the strategies as they were: an op that takes part keeps its own, and
        # so do one whose sum a loop counts on, and one that is done as it is for others. A pair has one strategy only.
        bound = node.index in self.flow.bound or node.index in self.copies.bound or node.rule.pairwise
        if flowing is None and not bound and not self._is_as_priced(node):
            strategy = self._reconsidered(node, strategy)
        through = flowing[1] if flowing else ()
        for place, (value, use) in enumerate(zip(node.operands, node.uses, strict=True)):
            if use is None:
                continue
            spec = self._spec(strategy.operands[place], flowing[0] if flowing and place in through else None)
            operand = self._obtain(value, spec, use.op, _Asker("", node, strategy))
            if self.emit and operand is not use.value:
                use.op.operands[use.place] = operand
        pending = outgoing(strategy, flowing[0] if flowing else None)
        self.strategies[node.index] = strategy
        self.sent += strategy.exchanged * node.weight
        self.messages += strategy.messages * node.weight
        for value, result in zip(node.results, strategy.results, strict=True):
            self.pending[value], self.made[value] = pending, result
            self._define(value, self._spec(result, pending))
        if self.emit and any(node.rule.expands(factor) for factor, _ in strategy.factors):
            self._expand(node, strategy)

    def _is_as_priced(self, node: Node) -> bool:
        """Whether the operands of an op are there as its strategy was priced: in their own layouts, and in no other."""
        values = [value for value in node.operands if not self.program.free[value]]
        return all(
            self.at_home[value] and self.forms[value] is None and value not in self.copies.shared for value in values
        )

    def _expand(self, node: Node, strategy: Strategy) -> None:
        """An op that is split in a way that it cannot do alone becomes what its rule's expansion says."""
        op, expansion = node.op, node.rule.expansion
        assert expansion is not None
        site = Site(
            self.program.mesh,
            strategy.operands,
            strategy.results,
            dict(strategy.factors),
            self._by_rule(node, strategy),
            lambda new: insert_before(op, new),
        )
        made = expansion.expand(op, site)
        self.obsolete.append(op)
        for number, old, new in zip(node.results, op.results, made, strict=True):
            new.name_hint = old.name_hint
            forms = self._known(number)
            forms.available[forms.made] = new
            self._before(number, new)

    def _before(self, number: int, made: SSAValue) -> None:
        """What an expansion relaid at its end was there as it was before, too: nobody has to move it back."""
        relayout, forms = made.owner, self._known(number)
        if not isinstance(relayout, dtensor.RelayoutOp):
            return
        spec = dtensor.layout_of(relayout.operand)
        if spec is not None and not spec.partial and spec not in forms.available:
            forms.available[spec] = relayout.operand
            self.inside[self.scope].append((number, spec))
            self.passed.append(relayout)

    def _flowing(self, node: Node, strategy: Strategy) -> tuple[Pending, tuple[int, ...]] | None:
        if node.results and node.results[0] in self.flow.carry:
            return self.flow.carry[node.results[0]][0], (0,)
        if not self.flow.accepts[node.index]:
            return None
        flowing = incoming(self.program, node, strategy, self.pending, self.made, self.flow.carry)
        return flowing if flowing is not None and outgoing(strategy, flowing[0]) is not None else None

    def _reconsidered(self, node: Node, planned: Strategy) -> Strategy:
        """
        The strategy that is cheapest given the forms of the operands that exist by now.

        Propagation priced each op alone, as if operands were there in their own layouts only. A relayout made for an
        op further up may serve this one too: an MLP split by data and model sends 7 % more without a second look.
        """
        # The usual case, and cheap to tell: nothing is sent as it was planned.
        if all(self._cost(value, dims) == 0 for value, dims in zip(node.operands, planned.operands, strict=True)):
            finish = self.strategist.finish
            made = zip(node.results, planned.results, strict=True)
            if not any(finish(value, dims, planned.partial, planned.kind, self.dims[value]) for value, dims in made):
                return planned
        options = [*self.strategist.options(node, self.dims), planned]
        return self.strategist.cheapest(node, options, self._fetching(node), self.dims)[1]

    def _fetching(self, node: Node) -> Callable[[int, Dims], float]:
        """What it costs to have the operand at a place in some dims."""
        return lambda place, wanted: self._cost(node.operands[place], wanted)

    def _cost(self, value: int, wanted: Dims) -> float:
        """What it costs to have a value, finished, in the wanted dims."""
        if self.program.free[self.roots.get(value, value)]:
            return 0.0
        forms, spec = self._known(value), self.program.spec(wanted)
        if spec in forms.available or wanted in self.copies.shared.get(value, ()):
            return 0.0
        # A value from outside of a loop is relaid before the loop: its share of a round is small.
        often = self.scope.outermost(self.homes[value]).weight / self.scope.weight
        return often * min(self.strategist.relayout(value, form, spec) for form in forms.available)

    def _plan(self, source: LayoutSpec, target: LayoutSpec, value: int) -> planner.Plan:
        return planner.plan(source, target, self.program.shapes[value], self.program.mesh)

    def _obtain(self, value: int, spec: LayoutSpec, anchor: Operation, asker: _Asker) -> SSAValue:
        """The value in layout `spec`, made right before `anchor`, or before its loop, when it is not there yet."""
        # As far out as the value allows: once before a loop, not in every round.
        scope = self.scope.outermost(self.homes[value])
        if self.emit:
            anchor = scope.anchor(anchor)
        if self.program.free[value]:
            return self._remade(value, spec, anchor, scope) if self.emit else self.program.values[value]
        forms = self._known(value)
        found = forms.available.get(spec)
        if found is not None:
            return found
        root = self.roots.get(value, value)
        if self.program.free[root]:
            # What is made of nothing is made once more where somebody asked for it in another layout before.
            forms.available[spec] = self._obtain(root, spec, anchor, asker)
            return forms.available[spec]
        home = self.program.spec(self.dims[value])
        # A sum is reduced once for all its users, and what is finished then serves them. Someone who takes the sum as
        # partial as it is needs no reduction, and must not cause one.
        if home not in forms.available and spec != home and not spec.partial and self._shared(value, home, spec):
            self._obtain(value, home, anchor, asker)
        # From the cheapest form that is there; the first made of equal ones, so that text does not depend on hashes.
        best = min(forms.available, key=lambda form: self.strategist.relayout(value, form, spec))
        weight = scope.weight * self._times(value, spec, asker)
        self.sent += self.strategist.relayout(value, best, spec) * weight
        self.messages += self._plan(best, spec, value).messages * weight
        self.inside[scope].append((value, spec))
        self.at_home[value] = self.at_home[value] or spec is home
        source = forms.available[best]
        if not self.emit:
            forms.available[spec] = source
        else:
            reason = self._finished(value, asker) if best.partial and not spec.partial else self._reason(asker)
            forms.available[spec] = self._relayout(source, spec, anchor, reason)
        return forms.available[spec]

    def _times(self, value: int, spec: LayoutSpec, asker: _Asker) -> float:
        """How many relayouts one of a value stands for: those for all ops for which the asker stands, counted once."""
        times = self.program.times[value] - self.counted.pop((value, spec), 0.0)
        if asker.node is None or asker.node.times == 1 or value not in self.program.entering:
            return times
        # Each of these ops but the first takes what the one before it makes.
        others = asker.node.times - 1
        self.counted[self.program.entering[value], spec] = others
        return times + others

    def _shared(self, value: int, home: LayoutSpec, spec: LayoutSpec) -> bool:
        """
        Whether a value of several users is better finished in its own layout first than for one of them alone.

        Two users at least would else pay the direct way each. More are not counted: some may take the sum as partial as
        it is.
        """
        forms = self._known(value)
        if len(self.program.users[value]) < 2 or not forms.made.partial:
            return False
        cost = self.strategist.relayout
        direct = cost(value, forms.made, spec)
        return cost(value, forms.made, home) + cost(value, home, spec) < 2 * direct

    def _remade(self, value: int, spec: LayoutSpec, asker: Operation, scope: Scope) -> SSAValue:
        """A constant or iota, or what is computed of such, made anew in the layout that is wanted."""
        forms = self.forms[value]
        if forms is None:
            forms = self.forms[value] = _Forms(spec, {})
        if spec not in forms.available:
            ingredients = None if spec.partial else self._ingredients(value, spec)
            forms.available[spec] = (
                self._cut(value, spec, asker) if ingredients is None else self._copied(value, spec, asker, ingredients)
            )
            self.inside[scope].append((value, spec))
        return forms.available[spec]

    def _copied(
        self, value: int, spec: LayoutSpec, asker: Operation, ingredients: Sequence[tuple[int, LayoutSpec]]
    ) -> SSAValue:
        original = self.program.values[value].owner
        assert isinstance(original, Operation)
        copy = original.clone()
        copy.location = original.location
        for place, operand in enumerate(ingredients):
            copy.operands[place] = self._obtain(*operand, asker, _Asker(""))
        assert asker.parent is not None
        asker.parent.insert_op_before(copy, asker)
        return self._retyped(copy.results[0], spec)

    def _cut(self, value: int, spec: LayoutSpec, asker: Operation) -> SSAValue:
        """A value that the op cannot make in a layout: made whole by every device, which keeps its part of it."""
        whole = self._obtain(value, self.program.spec(((),) * spec.rank), asker, _Asker(""))
        return self._relayout(whole, spec, asker, "every device makes it whole and keeps its part")

    def _ingredients(self, value: int, spec: LayoutSpec) -> list[tuple[int, LayoutSpec]] | None:
        """
        What a value that any device can make is made of, in the layouts that it takes to make it in `spec`.

        None where no layouts of the operands lead to it: an iota that a reshape folds cannot be split by the minor dim.
        """
        node = self.program.producers[value]
        assert node is not None
        rule, mesh = node.rule, self.program.mesh
        factors, exact = self.strategist.project(rule, len(node.operands), spec.dims)
        dims = [assemble(factors, tensor, rule.sizes, mesh) for tensor in rule.operands]
        told = (project(each, tensor, rule.sizes, mesh) for each, tensor in zip(dims, rule.operands, strict=True))
        for tensor, (found, _) in zip(rule.operands, told, strict=True):
            wanted = {factor: axes for dim in tensor for factor in dim if (axes := factors.get(factor))}
            exact = exact and found == wanted
        if not exact:
            return None
        return [(operand, self.program.spec(each)) for operand, each in zip(node.operands, dims, strict=True)]

    def _relayout(self, source: SSAValue, spec: LayoutSpec, asker: Operation, reason: str) -> SSAValue:
        op = dtensor.RelayoutOp(source, spec, reason)
        origin = source.owner
        places = [asker.location, *([origin.location] if isinstance(origin, Operation) else [])]
        op.location = fuse(places, "relayout")
        assert asker.parent is not None
        asker.parent.insert_op_before(op, asker)
        return op.result

    def _return(self) -> None:
        """Results leave in their propagated layouts, and finished: a caller who wants partial ones asks for them."""
        terminator = self.program.return_op
        for place, value in enumerate(list(terminator.operands)):
            number = self.program.numbers[value]
            spec = self._spec(self.dims[number], self.program.unreduced.get(number))
            finished = self._obtain(number, spec, terminator, _Asker(f"result {place} of the function"))
            if self.emit:
                terminator.operands[place] = finished

    def _known(self, value: int) -> _Forms:
        """The forms of a value that the walk has passed; of one that nobody has asked for, it knows the first only."""
        forms = self.forms[value]
        if forms is None:
            assert self.at_home[value]
            spec = self.program.spec(self.dims[value])
            forms = self.forms[value] = _Forms(spec, {spec: self.program.values[value]})
        return forms

    def _define(self, number: int, spec: LayoutSpec, value: SSAValue | None = None) -> None:
        value = self.program.values[number] if value is None else value
        self.homes[number] = self.scope
        at_home = self.at_home[number] = spec is self.program.spec(self.dims[number])
        if self.emit:
            self.forms[number] = _Forms(spec, {spec: self._retyped(value, spec)})
        else:
            self.forms[number] = None if at_home else _Forms(spec, {spec: value})

    def _retyped(self, value: SSAValue, spec: LayoutSpec) -> SSAValue:
        key = (value.type, spec)
        type_ = self.types.get(key)
        if type_ is None:
            type_ = self.types[key] = dtensor.with_layout(value.type, spec)
        return retype(value, type_)

    def _spec(self, dims: Dims, pending: Pending | None) -> LayoutSpec:
        return self.program.spec(dims) if pending is None else self.strategist.partial_spec(dims, *pending)

    def _reason(self, asker: _Asker) -> str:
        """Who asked for a relayout, by which rule, and the cheapest alternative that was not taken."""
        if asker.node is None or asker.strategy is None:
            return asker.text
        return self._by_rule(asker.node, asker.strategy)

    def _by_rule(self, node: Node, strategy: Strategy) -> str:
        return f"{_label(node)} needs it by its rule {node.rule}{self._alternative(node, strategy)}"

    def _finished(self, value: int, asker: _Asker) -> str:
        """The same for partial results: they are there by the rule of the op that left them."""
        producer = self.program.producers[value]
        who = asker.text if asker.node is None else _label(asker.node)
        if producer is None:
            return f"{who} needs it finished, and it came in partial"
        if value in self.program.unreduced:
            return f"{who} needs it finished, and it is asked for in parts{_at(producer)}"
        ways = self._alternative(producer, self.strategies[producer.index])
        return f"{who} needs it finished, and {_label(producer)} left it partial by its rule {producer.rule}{ways}"

    def _alternative(self, node: Node, strategy: Strategy) -> str:
        others = [option for option in self.strategist.options(node, self.dims) if option.factors != strategy.factors]
        if not others:
            return "; the alternative does not exist: the layouts around it leave one way"
        cost, other = self.strategist.cheapest(node, others, self._fetching(node), self.dims)
        counting = self.program.counting
        sent = f"{cost:,.0f} bytes per device{_each_round(node.op)}{counting}"
        return f"; the alternative [{_in_words(node, other)}] would send {sent}"


class _Asker(NamedTuple):
    """Who needs a value in some layout: an op under its strategy, or what `text` says."""

    text: str
    node: Node | None = None
    strategy: Strategy | None = None


def _label(node: Node) -> str:
    return f"{node.op.name}{_at(node)}"


def _at(node: Node) -> str:
    place = where(node.op)
    return f" at {place}" if place else ""


def _each_round(op: Operation) -> str:
    """What is said of the bytes of an op in a loop, next to those of what is moved once, before it."""
    around = op.parent_op()
    while around is not None and not isinstance(around, stablehlo.WhileOp):
        around = around.parent_op()
    return "" if around is None else " in each round"


def _in_words(node: Node, strategy: Strategy) -> str:
    """How a strategy splits an op's results, and which dims of its operands it sums up device by device."""
    found = [dims_in_words(dims) for dims in strategy.results if any(dims)]
    return ", ".join([*dict.fromkeys(found), *dict.fromkeys(_summed(node, strategy))]) or "nothing split"


def _summed(node: Node, strategy: Strategy) -> Iterator[str]:
    """The split dims of operands that no result has."""
    way = node.rule.way(factor for factor, _ in strategy.factors)
    assert way is not None
    told = {factor for tensor in way[1] for dim in tensor for factor in dim}
    for place, (tensor, dims) in enumerate(zip(way[0], strategy.operands, strict=True)):
        for dim, (factors, axes) in enumerate(zip(tensor, dims, strict=True)):
            if axes and not told.intersection(factors):
                yield f"{dim_name(dim, len(dims))} of operand {place} {over(axes)}"
            told.update(factors)
