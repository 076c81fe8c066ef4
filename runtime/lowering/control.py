"""
Emitters of loops and branches: programs in the program.

What a loop carries varies along the mesh as its start does, and as what its body makes of it; that is found by lowering
the body until nothing widens any more. Where a condition differs between devices, which only what the user wrote for
each device can make it do, the loop runs until the last device is done and keeps the values of those that are. An index
that differs runs all branches, and each device takes its own.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from xdsl.ir import Block, Operation

from shardwright.diagnostics import Diagnostic, ShardwrightError
from shardwright.dialects.stablehlo import CaseOp, IfOp, WhileOp
from shardwright.dialects.text.locations import where
from shardwright.dialects.trip_count import trip_count
from shardwright.runtime.lowering.emitters import Lowering, emitter, location_text
from shardwright.runtime.program import Builder, Kind, Shape, Step, Value, all_steps

INDEX = np.dtype(np.int32)


@emitter("stablehlo.while")
def _while(lowering: Lowering, op: Operation, operands: list[Value]) -> list[Value]:
    assert isinstance(op, WhileOp)
    builder, lead = lowering.builder, lowering.builder.lead
    changed = [at for at, value in enumerate(op.next_values) if value is not op.body.block.args[at]]
    forms = {at: _Form(operands[at].shape, operands[at].across) for at in changed}
    while True:
        tables = len(builder.program.arrays), len(builder.program.bodies)
        inner, following = _lower_loop(lowering, op, operands, forms)
        wider = {at: forms[at].widened(following[at], lead) for at in changed}
        if wider == forms:
            break
        forms = wider
        _forget(builder, *tables)
    program = inner.program
    program.outputs = [inner.broadcast(following[at], forms[at].shape) for at in changed]
    builder.location = location_text(op)
    starts = [builder.broadcast(operands[at], forms[at].shape) for at in changed]
    ends = builder.loop(starts, program, lowering.names[op], trip_count(op))
    for end, form in zip(ends, forms.values(), strict=True):
        end.across = form.across
    known = dict(zip(changed, ends, strict=True))
    return [known.get(at, value) for at, value in enumerate(operands)]


@dataclass(frozen=True)
class _Form:
    """How a carried value varies: in its stacked shape, and between processes."""

    shape: Shape
    across: frozenset[int]

    def widened(self, value: Value, lead: int) -> _Form:
        """What this one and the value of the next round have room in."""
        fronts = np.broadcast_shapes(self.shape[:lead], value.shape[:lead])
        return _Form(fronts + self.shape[lead:], self.across | value.across)


def _lower_loop(
    lowering: Lowering, op: WhileOp, operands: Sequence[Value], forms: dict[int, _Form]
) -> tuple[Builder, list[Value]]:
    """The builder of a loop's program when what changes has these forms, and the values of the next round."""
    inner = within(lowering, Builder(lowering.builder.lead, lowering.builder.program))
    builder = inner.builder
    carried = {at: builder.input(form.shape, operands[at].dtype, form.across) for at, form in forms.items()}
    arguments = [carried.get(at, value) for at, value in enumerate(operands)]
    predicate = inner.block(op.condition.block, arguments)[0]
    if lowering.mask is not None and trip_count(op) is None:
        predicate = builder.pointwise("and", [predicate, lowering.mask], predicate.dtype)
    builder.location = location_text(op)
    builder.test(predicate)
    differs = _differs(predicate, builder.lead)
    inner.mask = predicate if differs else lowering.mask
    following = inner.block(op.body.block, arguments)
    if differs:
        _check_silent(op, "condition", builder.program.steps)
        kept = {at: _choose(builder, predicate, following[at], value) for at, value in carried.items()}
        following = [kept.get(at, value) for at, value in enumerate(following)]
    return builder, following


@emitter("stablehlo.case", "stablehlo.if")
def _branch(lowering: Lowering, op: Operation, operands: list[Value]) -> list[Value]:
    assert isinstance(op, CaseOp | IfOp)
    builder, index = lowering.builder, operands[0]
    blocks = [region.block for region in op.regions]
    if isinstance(op, IfOp):
        first, second = (builder.splat(number, index.shape, INDEX) for number in (0, 1))
        index = builder.pointwise("select", [index, first, second], INDEX)
    if index.splat is not None:
        return _only_branch(lowering, op, blocks, index)
    if _differs(index, builder.lead):
        return _all_branches(lowering, op, blocks, index)
    inner = [within(lowering, Builder(builder.lead, builder.program)) for _ in blocks]
    returned = [branch.block(block, []) for branch, block in zip(inner, blocks, strict=True)]
    shapes = [np.broadcast_shapes(*(value.shape for value in values)) for values in zip(*returned, strict=True)]
    for branch, values in zip(inner, returned, strict=True):
        found = [branch.builder.broadcast(value, shape) for value, shape in zip(values, shapes, strict=True)]
        branch.builder.program.outputs = found
    builder.location = location_text(op)
    programs = [branch.builder.program for branch in inner]
    return builder.branch(index, programs, lowering.names[op], tuple(range(len(blocks))))


def _only_branch(lowering: Lowering, op: Operation, blocks: Sequence[Block], index: Value) -> list[Value]:
    """The branch of a constant index: in line, unless the ledger is to note that it ran."""
    builder, number = lowering.builder, int(index.splat)
    number = number if 0 <= number < len(blocks) else len(blocks) - 1
    inner = within(lowering, Builder(builder.lead, builder.program))
    program = inner.builder.program
    program.outputs = inner.block(blocks[number], [])
    if not any(step.kind is Kind.COUNT for step in all_steps(program)):
        builder.absorb(program)
        return program.outputs
    builder.location = location_text(op)
    return builder.branch(index, [program], lowering.names[op], (number,))


def _all_branches(lowering: Lowering, op: Operation, blocks: Sequence[Block], index: Value) -> list[Value]:
    """Every branch, and for each device the results of its own."""
    builder, before = lowering.builder, len(lowering.builder.program.steps)
    chosen: list[Value] = []
    for at in reversed(range(len(blocks))):
        mine = _is_mine(builder, index, at, len(blocks))
        mask = mine if lowering.mask is None else builder.pointwise("and", [mine, lowering.mask], mine.dtype)
        found = replace(lowering, mask=mask).block(blocks[at], [])
        builder.location = location_text(op)
        last = at == len(blocks) - 1
        chosen = found if last else [_choose(builder, mine, *pair) for pair in zip(found, chosen, strict=True)]
    _check_silent(op, "index", builder.program.steps[before:])
    return chosen


def _is_mine(builder: Builder, index: Value, branch: int, count: int) -> Value:
    """Where the index names this branch: the last one is for all that no other is for."""
    at = builder.splat(branch, index.shape, index.dtype)
    boolean = np.dtype(bool)
    if branch < count - 1:
        return builder.pointwise("compare", [index, at], boolean, "EQ", False)
    below = builder.pointwise("compare", [index, builder.splat(0, index.shape, index.dtype)], boolean, "LT", False)
    return builder.pointwise("or", [below, builder.pointwise("compare", [index, at], boolean, "GE", False)], boolean)


def within(lowering: Lowering, builder: Builder) -> Lowering:
    """A lowering into another builder that sees the values of this one and keeps its own to itself."""
    return replace(lowering, builder=builder, values=ChainMap({}, lowering.values))


def _differs(value: Value, lead: int) -> bool:
    return bool(value.across) or any(extent > 1 for extent in value.shape[:lead])


def _choose(builder: Builder, mask: Value, here: Value, elsewhere: Value) -> Value:
    """`here` on the devices of the mask, a scalar, and `elsewhere` on the others."""
    if here is elsewhere:
        return here
    spread = builder.reshape(mask, mask.shape + (1,) * (len(here.shape) - builder.lead))
    return builder.pointwise("select", [spread, here, elsewhere], here.dtype)


def _forget(builder: Builder, arrays: int, bodies: int) -> None:
    """Drops the constants and reducers of an attempt."""
    for table, size in ((builder.program.arrays, arrays), (builder.program.bodies, bodies)):
        for key in list(table)[size:]:
            del table[key]  # pyright: ignore[reportArgumentType]


def _check_silent(op: Operation, what: str, steps: Sequence[Step]) -> None:
    """Refuses collectives, and calls back into Python, that only some devices would take part in."""
    inner = [step for outer in steps for step in (outer, *(s for p in outer.programs for s in all_steps(p)))]
    sent = [step for step in inner if step.kind is Kind.COUNT and step.static[0].group_size > 1]
    called = [step for step in inner if step.has_effects]
    if not (sent or called):
        return
    kinds = ", ".join(dict.fromkeys(f"{step.name} at {step.location}" for step in sent or called))
    holds, why = ("collectives", "some would wait for others") if sent else ("calls back", "who calls is not said")
    raise ShardwrightError(
        Diagnostic(
            "SW0608",
            f"{op.name} holds {holds}, but its {what} differs between devices: {why}",
            where(op),
            notes=(f"it holds {kinds}",),
            help=f"reduce the {what} over the devices first, or move the {holds} out",
        )
    )
