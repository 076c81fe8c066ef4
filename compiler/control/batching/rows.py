"""
The ops of a program for one row, written again for all rows: batched values have one more dim, in front.

Most ops need no code of their own. Their attributes change as `EDITS` says, they get operands and results with the dim
in front, and then the op's own row in the sharding table must say that this dim passes and all else is as before; so
what an op means stays in one place. Ops that combine batched and other operands more cheaply have rules (`BATCHED`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from xdsl.ir import Attribute, Block, Operation, SSAValue

from shardwright.compiler.control.batching.edits import DIMLESS, EDITS, SCALARS
from shardwright.compiler.tracing.trace import Trace
from shardwright.diagnostics import Diagnostic, ShardwrightTypeError
from shardwright.dialects.building import Builder, appending, body_of, free_values, returned
from shardwright.dialects.text.locations import where
from shardwright.dialects.types import element_of, shape_of, tensor
from shardwright.rules.rule import PASS, Dim, Rule, Way
from shardwright.rules.table import rule_for

Batch: TypeAlias = "Callable[[Any, Rows], Sequence[SSAValue]]"
"""Writes an op for all rows; its results, where one that has no dim in front is the same for each."""

BATCHED: dict[str, Batch] = {}
"""The rules of ops that have one, by name."""

ALWAYS = frozenset({"dtensor.primal", "dtensor.group"})
"""Ops whose rule is asked also of values that all rows share: what they make of these may differ from row to row."""

UNCHANGED = frozenset({"dtensor.stop_gradient", "stablehlo.optimization_barrier"})
"""Ops that change nothing, and have no row before layouts are decided."""


def batched(*names: str) -> Callable[[Batch], Batch]:
    """
    Registers the rule of these ops.

    >>> @batched("my.op")
    ... def same(op, rows):
    ...     return [rows.wide(op.operands[0])]
    >>> BATCHED.pop("my.op").__name__
    'same'
    """

    def register(rule: Batch) -> Batch:
        BATCHED.update(dict.fromkeys(names, rule))
        return rule

    return register


@dataclass
class Rows:
    """
    Where the ops for all rows go, and what the values of the program for one row are there.

    `known` has for a value of that program the value that stands for it: with one dim of `size` in front, or without
    where all rows share it. Values that are not in it come from outside and are shared.
    """

    trace: Trace
    size: int
    known: dict[SSAValue, SSAValue]
    sources: frozenset[SSAValue] = frozenset()
    """Values by which something is differentiated: each row has one of its own, whatever it is."""

    origin: Operation | None = None
    widened: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])

    @property
    def build(self) -> Builder:
        """Puts ops behind what is written, at the place of the op that is written again."""
        return Builder(self.insert)

    def insert(self, op: Operation) -> Operation:
        """Puts an op behind what is written."""
        assert self.origin is not None
        op.location = self.origin.location
        self.trace.settle(op)
        self.trace.block.add_op(op)
        return op

    def of(self, value: SSAValue) -> SSAValue:
        """What stands for a value."""
        return self.known.get(value, value)

    def varies(self, value: SSAValue) -> bool:
        """Whether rows have values of their own."""
        return len(shape_of(self.of(value))) > len(shape_of(value))

    def wide(self, value: SSAValue) -> SSAValue:
        """What stands for a value, with the dim in front in any case."""
        found = self.of(value)
        if self.varies(value):
            return found
        if found not in self.widened:
            shape = shape_of(found)
            self.widened[found] = self.build.broadcast(found, (self.size, *shape), range(1, len(shape) + 1))
        return self.widened[found]

    def note(self, value: SSAValue, stands: SSAValue) -> None:
        """Notes what stands for a value."""
        self.known[value] = stands
        if value in self.sources:
            self.known[value] = self.wide(value)

    def inside(self) -> Rows:
        """For a block in an op: what is written there is not known behind it."""
        return replace(self, known=dict(self.known), widened=dict(self.widened))

    def write(self, block: Block) -> list[SSAValue]:
        """Writes the ops of a block for all rows; what stands for the values that it returns."""
        for op in body_of(block):
            self.origin = op
            for old, new in zip(op.results, self._written(op), strict=True):
                self.note(old, new)
                new.name_hint = old.name_hint
        self.origin = block.last_op
        return [self.of(value) for value in returned(block)]

    def instead(self, make: Callable[[Builder], SSAValue]) -> SSAValue:
        """What stands for a value that other ops for one row make in the place of the one at hand."""
        assert self.origin is not None
        block = Block()
        value = make(appending(block))
        for op in block.ops:
            op.location = self.origin.location
            for old, new in zip(op.results, self._written(op), strict=True):
                self.known[old] = new
        found = self.of(value)
        block.drop_all_references()
        return found

    def _written(self, op: Operation) -> Sequence[SSAValue]:
        if op.name not in ALWAYS and not any(map(self.varies, free_values(op))):
            copy = op.clone(self.known)
            self.trace.settle(copy)
            for new, old in zip(copy.walk(), op.walk(), strict=True):  # rows of rows ask for the meshes of layouts
                self.trace.settle_like(new.results, old.results)
            self.trace.block.add_op(copy)
            return copy.results
        rule = BATCHED.get(op.name, in_front)
        return rule(op, self)


def in_front(op: Operation, rows: Rows) -> Sequence[SSAValue]:
    """The same op on operands with one more dim."""
    if any(rows.varies(value) for region in op.regions for value in free_values(region.block)):
        raise refusal(op, "its region uses what differs from row to row")
    operands = [_operand(op, place, rows) for place in range(len(op.operands))]
    properties = {name: _edited(op, name, attribute, rows.size) for name, attribute in op.properties.items()}
    types = [tensor((rows.size, *shape_of(result)), element_of(result)) for result in op.results]
    regions = [region.clone() for region in op.regions]
    new = type(op).create(
        operands=operands, properties=properties, attributes=op.attributes, result_types=types, regions=regions
    )
    if op.name not in UNCHANGED and not _passes(op, new):
        new.erase()
        raise refusal(op, "its row in the sharding table does not say that a dim in front passes")
    return rows.insert(new).results


def _edited(op: Operation, name: str, attribute: Attribute, size: int) -> Attribute:
    """An attribute for one dim more in front; what nobody said anything about may speak of dims."""
    edit = EDITS.get(op.name, {}).get(name)
    if edit is None and name not in DIMLESS:
        raise refusal(op, f"nothing says whether its attribute {name} speaks of dims")
    return attribute if edit is None else edit(attribute, size)


def _operand(op: Operation, place: int, rows: Rows) -> SSAValue:
    """An operand with one more dim; scalars that are the same for all elements of the others stay as they are."""
    value = op.operands[place]
    if op.name not in SCALARS or shape_of(value) or not any(map(shape_of, op.operands)):
        return rows.wide(value)
    if not rows.varies(value):
        return rows.of(value)
    if not SCALARS[op.name]:
        raise refusal(op, "a scalar that it needs whole differs from row to row")
    shape = (rows.size, *shape_of(op.results[0]))
    return rows.build.broadcast(rows.of(value), shape, [0])


def _passes(op: Operation, new: Operation) -> bool:
    """Whether the row of an op says that the dim in front passes, and else the same as for the op without it."""
    before, after = rule_for(op), rule_for(new)
    count, ranks = len(before.operands), [len(each) for each in before.tensors()]
    front: set[Dim] = set()
    told: set[str] = set()
    for operands, results in after.ways():
        wide = (*operands, *results)
        front |= {each[0] for each, rank in zip(wide, ranks, strict=True) if len(each) > rank}
        rest = tuple(each[len(each) - rank :] for each, rank in zip(wide, ranks, strict=True))
        told.add(_alone(after, (rest[:count], rest[count:])))
    if len(front) != 1 or any(after.kinds[factor] != PASS for dim in front for factor in dim):
        return False
    # Of no rows there may be fewer ways to do it; which one comes first may depend on whether there are other dims.
    return told <= {_alone(before, way) for way in before.ways()}


def _alone(rule: Rule, way: Way) -> str:
    """One way of a rule as if there were no other one."""
    factors = dict.fromkeys(factor for side in way for each in side for dim in each for factor in dim)
    number = {factor: at for at, factor in enumerate(factors)}
    operands, results = (
        tuple(tuple(tuple(number[factor] for factor in dim) for dim in each) for each in side) for side in way
    )
    sizes, kinds = tuple(rule.sizes[factor] for factor in factors), tuple(rule.kinds[factor] for factor in factors)
    return str(Rule(sizes, operands, results, kinds, rule.flows))


def refusal(op: Operation, why: str) -> ShardwrightTypeError:
    """That an op cannot be written for all rows (SW0526)."""
    return ShardwrightTypeError(
        Diagnostic(
            "SW0526",
            f"vmap cannot write {op.name} for all rows: {why}",
            where(op),
            help="write the function for all rows (whole arrays with one dim more), or go row by row with "
            "shardwright.scan",
        )
    )
