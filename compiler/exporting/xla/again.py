"""What is made again to hold less, held apart from what it was before: XLA would make it once, and keep it."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue

from shardwright.dialects import stablehlo
from shardwright.dialects.dtensor.ops import CollectiveOp
from shardwright.passes.program import entry_function
from shardwright.passes.rewriter import insert_before
from shardwright.passes.stages import MEMORY_LIMIT, RECOMPUTE


def hold_apart(module: ModuleOp) -> None:
    """
    Lets what is made again wait for what its readers wait for, by `optimization_barrier`s, in place.

    Of two ops that do the same with the same XLA makes one, and what comes of it is there until its last reader. So
    values that are computed again, and copies that are gathered again, are made of values that come out of a barrier,
    together with what their readers read besides. A module without a memory limit has none.
    """
    if MEMORY_LIMIT not in module.attributes:
        return
    block = entry_function(module).body.block
    ops = list(block.ops)
    places = {op: place for place, op in enumerate(ops)}
    for run in _made_again(ops):
        _wait(block, run, places)


def _made_again(ops: Sequence[Operation]) -> Iterator[list[Operation]]:
    """Ops, behind each other, that do what was done before."""
    seen, run = set[tuple[object, ...]](), list[Operation]()
    for op in ops:
        again = RECOMPUTE in op.attributes
        if isinstance(op, CollectiveOp):
            facts = ((name, value) for name, value in op.properties.items() if name != "reason")
            key = (op.name, *op.operands, *sorted(facts, key=itemgetter(0)))
            again = again or key in seen
            seen.add(key)
        if again:
            run.append(op)
        elif run and not isinstance(op, stablehlo.ConstantOp):
            yield run
            run = []
    if run:
        yield run


def _wait(block: Block, run: Sequence[Operation], places: Mapping[Operation, int]) -> None:
    """Lets the ops read what comes out of a barrier, where that is not of their own."""
    made: set[SSAValue] = {value for op in run for value in op.results}
    taken = dict.fromkeys(
        value
        for op in run
        for value in op.operands
        if value not in made and not isinstance(value.owner, stablehlo.ConstantOp)
    )
    if not taken:
        return
    readers = {use.operation for value in made for use in value.uses if use.operation.parent is block} - set(run)
    last = _last(readers, made, places, places[run[0]])
    given = [*taken, *([] if last is None or last in taken else [last])]
    barrier = insert_before(run[0], stablehlo.OptimizationBarrierOp(given))
    for value, held in zip(given, barrier.results, strict=True):
        holding = {*run, *(readers if value is last else ())}
        value.replace_uses_with_if(held, lambda use, holding=holding: use.operation in holding)


def _last(
    readers: Iterable[Operation], made: Container[SSAValue], places: Mapping[Operation, int], first: int
) -> SSAValue | None:
    """Of what readers read besides, and was there before, what came last."""
    others = [value for op in readers for value in op.operands if value not in made]
    before = [(places.get(value.owner, first), value) for value in others if isinstance(value.owner, Operation)]
    return max(((place, value) for place, value in before if place < first), key=itemgetter(0), default=(0, None))[1]
