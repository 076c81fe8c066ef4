"""Builds a `Program`: one walk over the entry function, loops and branches included."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue

from shardwright.diagnostics import Diagnostic, ShardwrightError
from shardwright.dialects import stablehlo
from shardwright.dialects.building import body_of
from shardwright.dialects.dtensor.hints import BarrierOp, GroupOp
from shardwright.dialects.text.locations import fault, label
from shardwright.dialects.trip_count import trip_count
from shardwright.dialects.types import shape_of
from shardwright.passes.program import (
    Carried,
    Closing,
    Node,
    Opening,
    Program,
    Scope,
    Use,
    entry_function,
    refuse_others,
    the_mesh,
)
from shardwright.passes.propagation.manual import reserve_axes
from shardwright.passes.stages import message_bytes_of
from shardwright.rules.builder import RuleBuilder
from shardwright.rules.rule import PASS, Rule
from shardwright.rules.sharding import missing_row
from shardwright.rules.table import ROWS

UNKNOWN_TRIPS = 8
"""How often a loop is taken to run when its text does not say; only ratios of bytes depend on it."""


def build_program(module: ModuleOp) -> Program:
    """Numbers the entry function of `module`; one error names all ops that have no rule."""
    function = entry_function(module)
    root = Scope(function.body.block)
    numbering = _Numbering(Program(function, the_mesh(module), root, message_bytes_of(module)))
    for argument in root.block.args:
        numbering.program.add_value(argument, None)
    numbering.walk(root)
    if numbering.missing:
        raise ShardwrightError(numbering.missing.values())
    reserve_axes(numbering.program)
    numbering.program.find_around()
    return numbering.program


DEEPEST = 32
"""So many ops one after the other are made anew in another layout, at most, rather than relaid."""

ASKING = frozenset({"dtensor.constraint", "dtensor.relayout", "dtensor.barrier"})
"""Ops that ask for a layout, which somebody must then give them."""


class _Numbering:
    def __init__(self, program: Program):
        self.program = program
        self.missing: dict[str, Diagnostic] = {}
        self.groups: dict[int, int] = {}
        """The first member of each group of values with one layout."""
        self.scopes: list[Scope] = [program.root] * len(program.function.body.block.args)
        """For each value where it is defined, as seen from the scope at hand."""
        self.depths: dict[int, int] = {}
        """For each value that any device can make, how many ops it takes one after the other."""
        self.roots: dict[int, int] = {}
        """For what is such a value in a layout that somebody asked for, the number of that value."""

    def walk(self, scope: Scope) -> None:
        """Numbers the ops of a scope's block, but for its terminator."""
        for op in body_of(scope.block):
            if isinstance(op, stablehlo.WhileOp):
                self._loop(op, scope)
            elif isinstance(op, stablehlo.CaseOp | stablehlo.IfOp):
                self._branches(op, scope)
            elif isinstance(op, GroupOp):
                self._member(op, scope)
            else:
                self._op(op, scope)

    def _op(self, op: Operation, scope: Scope) -> None:
        row = ROWS.get(op.name)
        if row is None:
            self.missing.setdefault(op.name, missing_row(op))
        if self.missing:
            return
        for result in op.results:
            refuse_others(result)
        rule = row.rule(op) if row is not None else None
        assert rule is not None
        if not rule.pairwise:
            self._node(op, rule, [Use(op, place) for place in range(len(op.operands))], op.results, scope)
            return
        # Its pairs stand alone: each has the rule of its shape, as such pairs of other ops have.
        for place, result in enumerate(op.results):
            self._node(op, _tie(shape_of(result), 1, 1), [Use(op, place)], [result], scope)

    def _loop(self, op: stablehlo.WhileOp, outer: Scope) -> None:
        """What a loop carries has one number inside and after it: entry, body and exit agree on its layout."""
        if self.missing:
            return self._look(op)
        known = trip_count(op)
        trips = UNKNOWN_TRIPS if known is None else known
        condition = Scope(op.condition.block, op, outer, outer.weight * (trips + 1))
        body = Scope(op.body.block, op, outer, outer.weight * max(trips, 1))
        entries = [self._entry(op, place, outer) for place in range(len(op.outputs))]
        carried = [entry.results[0] for entry in entries]
        condition.arguments = list(zip(carried, condition.block.args, strict=True))
        body.arguments = list(zip(carried, body.block.args, strict=True))
        body.results = list(zip(carried, op.outputs, strict=True))
        if self._inside(condition):
            self._node(op, _tie((), 1, 0), [Use(_last(condition.block), 0)], [], condition)
        self._close(condition)
        if self._inside(body):
            ties = self._ties(op, body, carried)
            self.program.carried += map(Carried, carried, [body] * len(carried), entries, ties)
        self._close(body)

    def _entry(self, op: stablehlo.WhileOp, place: int, outer: Scope) -> Node:
        shape = self.program.shapes[self.program.numbers[op.inputs[place]]]
        entry = self._node(op, _tie(shape, 1, 1), [Use(op, place)], [op.body.block.args[place]], outer)
        for alias in (op.condition.block.args[place], op.outputs[place]):
            self.program.add_alias(entry.results[0], alias)
        return entry

    def _member(self, op: GroupOp, scope: Scope) -> None:
        """The members of a group are tied to the first one."""
        if self.missing:
            return
        number = self.program.numbers[op.operand]
        first = self.groups.setdefault(op.number, number)
        shapes = self.program.shapes
        if shapes[first] != shapes[number]:
            raise fault(
                "SW0465",
                f"group {op.number} has members of shapes {list(shapes[first])} and {list(shapes[number])}",
                op,
                labels=label(self.program.values[first], "another member of the group"),
                help="the members of a sharding group get one layout, so they must have one shape",
            )
        if first != number:
            self._node(op, _tie(shapes[number], 2, 0), [Use(op, 0)], [], scope, first)
            self.program.grouped.setdefault(first, []).append(number)

    def _branches(self, op: stablehlo.CaseOp | stablehlo.IfOp, outer: Scope) -> None:
        """All branches leave each result in the one layout that it has after the op."""
        if self.missing:
            return self._look(op)
        self._node(op, _tie((), 1, 0), [Use(op, 0)], [], outer)
        left = [self.program.add_value(result, None) for result in op.results]
        self.scopes += [outer] * len(left)
        for number, region in enumerate(op.regions):
            scope = Scope(region.block, op, outer, outer.weight)
            if number == len(op.regions) - 1:
                scope.results = list(zip(left, op.results, strict=True))
            if self._inside(scope):
                self._ties(op, scope, left)
            self._close(scope)

    def _look(self, op: Operation) -> None:
        """Once an op without a rule is found, only others like it are looked for."""
        for region in op.regions:
            self.walk(Scope(region.block, op))

    def _inside(self, scope: Scope) -> bool:
        self.program.steps.append(Opening(scope))
        for number, _ in scope.arguments:
            self.scopes[number] = scope
        self.walk(scope)
        return not self.missing

    def _close(self, scope: Scope) -> None:
        self.program.steps.append(Closing(scope))
        for number, _ in scope.results:
            assert scope.parent is not None
            self.scopes[number] = scope.parent

    def _ties(self, op: Operation, scope: Scope, numbers: Sequence[int]) -> list[Node]:
        """What a region returns takes the layout of the value that it becomes."""
        last, shapes = _last(scope.block), self.program.shapes
        return [
            self._node(op, _tie(shapes[number], 2, 0), [Use(last, place)], [], scope, number)
            for place, number in enumerate(numbers)
        ]

    def _node(
        self,
        op: Operation,
        rule: Rule,
        uses: Sequence[Use],
        made: Sequence[SSAValue],
        scope: Scope,
        tied: int | None = None,
    ) -> Node:
        program = self.program
        numbers = [program.numbers[use.value] for use in uses]
        shares = [scope.outermost(self.scopes[number]).weight / scope.weight for number in numbers]
        if tied is not None:
            numbers.append(tied)
            shares.append(1.0)
        places = (*uses, *([None] if tied is not None else []))
        node = Node(len(program.nodes), op, rule, tuple(numbers), (), places, scope, tuple(shares))
        free = rule.free or self._is_made_of_nothing(node)
        node.make(tuple(program.add_value(value, node, free) for value in made))
        self.scopes += [scope] * len(made)
        self.depths.update((number, 1 + self._depth(node)) for number in node.results if free)
        if op.name in ASKING and not isinstance(op, BarrierOp) and program.free[root := self._root(numbers[0])]:
            self.roots[node.results[0]] = root
        program.add_node(node)
        return node

    def _is_made_of_nothing(self, node: Node) -> bool:
        """Whether any device can make the result in any layout, since it can make all that the op takes."""
        rule, op = node.rule, node.op
        if not node.operands or rule.pairwise or rule.heavy or rule.expansion is not None or len(rule.results) != 1:
            return False
        if op.name in ASKING or op.regions or rule.fixed or not _passes_all(rule, shape_of(op.results[0])):
            return False
        made = all(self.program.free[self._root(value)] for value in node.operands)
        return made and self._depth(node) < DEEPEST

    def _depth(self, node: Node) -> int:
        return max((self.depths[self._root(value)] for value in node.operands), default=0)

    def _root(self, value: int) -> int:
        return self.roots.get(value, value)


def _passes_all(rule: Rule, shape: tuple[int, ...]) -> bool:
    """Whether each dim of the one result is a factor that passes, whole."""
    # A joined dim may have no factor, or one that is smaller than the dim.
    covered = tuple(math.prod(rule.sizes[factor] for factor in dim) for dim in rule.results[0])
    simple = all(kind == PASS for kind in rule.kinds) and all(len(dim) <= 1 for dim in rule.results[0])
    return simple and covered == shape


def _last(block: Block) -> Operation:
    assert block.last_op is not None
    return block.last_op


@cache
def _tie(shape: tuple[int, ...], operands: int, results: int) -> Rule:
    """The rule of a part that hands a value on: all its tensors have one layout."""
    builder = RuleBuilder()
    tensor = builder.tensor(shape)
    return builder.rule([tensor] * operands, [tensor] * results, pairwise=True)
