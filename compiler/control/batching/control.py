"""Loops, branches, and what is said about gradients, for all rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

from xdsl.ir import Block, Operation, Region, SSAValue

from shardwright.compiler.control.batching.rows import ALWAYS, Rows, batched, refusal
from shardwright.compiler.control.regions import writing_into
from shardwright.compiler.values import layout_at
from shardwright.dialects import stablehlo
from shardwright.dialects.building import body_of, free_values, returned
from shardwright.dialects.dtensor import Relaid
from shardwright.dialects.dtensor.gradients import CheckpointOp, GradientOp, PrimalOp, ResultOfOp, WithGradientOp
from shardwright.dialects.dtensor.hints import GroupOp
from shardwright.dialects.types import AnyTensor, element_of, shape_of, tensor

Rewrite: TypeAlias = "Callable[[Rows, Sequence[SSAValue], list[SSAValue]], list[SSAValue]]"
"""What a block returns, of its arguments and of what it would return otherwise."""


@batched("stablehlo.while")
def _while(op: stablehlo.WhileOp, rows: Rows) -> Sequence[SSAValue]:
    """
    What is carried varies where the body makes it vary. Rows that are done before others keep what they have: the loop
    goes on for as long as any of them goes on.
    """
    bodies = zip(op.inputs, op.body.block.args, strict=True)
    wide = [rows.varies(value) or argument in rows.sources for value, argument in bodies]
    while (following := _widened(op, rows, wide)) != wide:
        wide = following
    each = _varying(rows, op.condition.block, wide)[0]

    def kept(inner: Rows, arguments: Sequence[SSAValue], made: list[SSAValue]) -> list[SSAValue]:
        inner.known.update(zip(op.condition.block.args, arguments, strict=True))
        (goes_on,) = inner.write(op.condition.block)
        return [_chosen(inner, goes_on, new, old) for new, old in zip(made, arguments, strict=True)]

    condition = _region(rows, op.condition.block, wide, [each], _any_of if each else None)
    body = _region(rows, op.body.block, wide, wide, kept if each else None)
    inputs = [rows.wide(value) if varies else rows.of(value) for value, varies in zip(op.inputs, wide, strict=True)]
    return rows.insert(stablehlo.WhileOp(inputs, condition, body)).results


def _widened(op: stablehlo.WhileOp, rows: Rows, wide: Sequence[bool]) -> list[bool]:
    """Which carried values vary after one round more."""
    if _varying(rows, op.condition.block, wide)[0]:
        return [True] * len(wide)
    return [one or other for one, other in zip(wide, _varying(rows, op.body.block, wide), strict=True)]


def _any_of(inner: Rows, arguments: Sequence[SSAValue], made: list[SSAValue]) -> list[SSAValue]:
    (each,) = made
    return [inner.build.put(stablehlo.ReduceOp([each], [inner.build.scalar(False, each)], (0,), stablehlo.OrOp))]


@batched("stablehlo.if", "stablehlo.case")
def _branches(op: stablehlo.IfOp | stablehlo.CaseOp, rows: Rows) -> Sequence[SSAValue]:
    """Where rows choose for themselves all branches are computed, and each row takes its own."""
    blocks = [region.block for region in op.regions]
    if not rows.varies(op.operands[0]):
        regions = [_region(rows, block, [], [True] * len(op.results)) for block in blocks]
        types = [_type(rows, result, True) for result in op.results]
        new = op.create(
            operands=[rows.of(op.operands[0])], attributes=op.attributes, result_types=types, regions=regions
        )
        return rows.insert(new).results
    chosen = rows.of(op.operands[0])
    *others, last = [_inlined(rows, block) for block in blocks]
    for place, branch in enumerate(others):
        here = chosen
        if isinstance(op, stablehlo.CaseOp):
            here = rows.build.compare(chosen, "EQ", rows.build.constant(place, chosen))
        last = [_chosen(rows, here, one, other) for one, other in zip(branch, last, strict=True)]
    return last


def _inlined(rows: Rows, block: Block) -> list[SSAValue]:
    inner = rows.inside()
    inner.write(block)
    return [inner.wide(value) for value in returned(block)]


def _chosen(rows: Rows, each: SSAValue, one: SSAValue, other: SSAValue) -> SSAValue:
    return rows.build.select(rows.build.broadcast(each, shape_of(one), [0]), one, other)


@batched("dtensor.primal")
def _primal(op: PrimalOp, rows: Rows) -> Sequence[SSAValue]:
    """Each row is differentiated by a value of its own."""
    return rows.insert(PrimalOp(rows.wide(op.operand))).results


@batched("dtensor.gradient")
def _gradient(op: GradientOp, rows: Rows) -> Sequence[SSAValue]:
    """No row's targets depend on another's sources: the gradients of all rows are those of each."""
    wide = [*map(rows.wide, op.operands)]
    types = [_type(rows, result, True) for result in op.results]
    return rows.insert(GradientOp.create(operands=wide, properties=op.properties, result_types=types)).results


@batched("dtensor.with_gradient")
def _with_gradient(op: WithGradientOp, rows: Rows) -> Sequence[SSAValue]:
    rule = _region(rows, op.rule.block, [True] * len(op.outputs), [True] * len(op.inputs))
    outputs, inputs = [*map(rows.wide, op.outputs)], [*map(rows.wide, op.inputs)]
    return rows.insert(WithGradientOp(outputs, inputs, rule)).results


@batched("dtensor.result_of")
def _result_of(op: ResultOfOp, rows: Rows) -> Sequence[SSAValue]:
    """The functions take dims in front of what they work on."""
    outputs, inputs = [*map(rows.wide, op.outputs)], [*map(rows.wide, op.inputs)]
    return rows.insert(ResultOfOp(op.function.data, outputs, inputs)).results


@batched("dtensor.checkpoint")
def _checkpoint(op: CheckpointOp, rows: Rows) -> Sequence[SSAValue]:
    body = _region(rows, op.body.block, [True] * len(op.inputs), [True] * len(op.outputs))
    return rows.insert(CheckpointOp([*map(rows.wide, op.inputs)], body)).results


@batched("dtensor.relayout", "dtensor.constraint")
def _layout(op: Relaid, rows: Rows) -> Sequence[SSAValue]:
    """The layout of one row says nothing about the dim of all rows: that is left open."""
    wide, homes, each = rows.wide(op.operand), rows.trace.homes, layout_at(op.result)
    if homes.get(wide, homes[op.result]) is not homes[op.result]:
        return _elsewhere(op, rows)
    priorities = (0, *each.priorities) if each.priorities else ()
    dims, open_dims = ((), *each.dims), frozenset({0, *(dim + 1 for dim in each.open_dims)})
    spec = replace(each, dims=dims, open_dims=open_dims, priorities=priorities)
    new = rows.insert(type(op)(wide, spec, None if op.reason is None else op.reason.data))
    homes[new.results[0]] = homes[op.result]
    return new.results


@batched("dtensor.group")
def _group(op: GroupOp, rows: Rows) -> Sequence[SSAValue]:
    """Members have one shape: where one of them differs from row to row, all get the dim of the rows."""
    is_wide = any(rows.varies(member.operand) for member in _members(op))
    rows.insert(GroupOp(rows.wide(op.operand) if is_wide else rows.of(op.operand), op.number))
    return []


def _members(op: GroupOp) -> list[GroupOp]:
    """The ops of a group, which stand side by side where it was traced."""
    found = [op]
    for towards in ("prev_op", "next_op"):
        other = getattr(op, towards)
        while isinstance(other, GroupOp) and other.number == op.number:
            found.append(other)
            other = getattr(other, towards)
    return found


@batched("dtensor.transfer")
def _elsewhere(op: Operation, rows: Rows) -> Sequence[SSAValue]:
    raise refusal(op, "it says where a row lies, and nothing about where all of them do")


def _varying(rows: Rows, block: Block, wide: Sequence[bool]) -> list[bool]:
    """Which values that a block returns may differ from row to row, given which of its arguments do."""
    found: set[SSAValue] = {argument for argument, varies in zip(block.args, wide, strict=True) if varies}
    for op in body_of(block):
        if op.name in ALWAYS or any(value in found or rows.varies(value) for value in free_values(op)):
            found.update(op.results)
        found.update(rows.sources.intersection(op.results))
    return [value in found or rows.varies(value) for value in returned(block)]


def _region(
    rows: Rows, source: Block, varying: Sequence[bool], results: Sequence[bool], rewrite: Rewrite | None = None
) -> Region:
    """
    A block for all rows: with arguments and results that vary as it is said; what varies otherwise is repeated.

    `rewrite` makes other results of the arguments and of these.
    """
    types = [_type(rows, argument, wide) for argument, wide in zip(source.args, varying, strict=True)]
    block = Block(arg_types=types)
    for new, old in zip(block.args, source.args, strict=True):
        new.location, new.name_hint = old.location, old.name_hint
    inner = rows.inside()
    inner.known.update(zip(source.args, block.args, strict=True))
    with writing_into(rows.trace, block):
        inner.write(source)
        made = [inner.wide(v) if wide else inner.of(v) for v, wide in zip(returned(source), results, strict=True)]
        inner.insert(stablehlo.ReturnOp(*(rewrite(inner, block.args, made) if rewrite else made)))
    return Region(block)


def _type(rows: Rows, value: SSAValue, wide: bool) -> AnyTensor:
    return tensor((rows.size, *shape_of(value)) if wide else shape_of(value), element_of(value))
