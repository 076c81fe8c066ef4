"""Partial sums that loops stack: carried whole and partial, and reduced and split once, behind the loop."""

from __future__ import annotations

from collections.abc import Iterator

from shardwright.dialects.stablehlo import DynamicUpdateSliceOp
from shardwright.layout.words import dims_in_words
from shardwright.passes.program import Carried, Dims, Program
from shardwright.passes.propagation.alignment import counted
from shardwright.passes.propagation.spreading import Because, State
from shardwright.passes.propagation.strategy import LEAST_SAVING, Strategist
from shardwright.passes.propagation.structure.ordering import structural_marks, structural_order
from shardwright.rules.reductions import is_zero


def stack_partial(program: Program, state: State) -> None:
    """
    Takes the axes off the dims that a loop writes place by place, where the updates are partial and that sends less.

    While it is split, everybody has to know every update, so that each is finished in its round. Whole, what is stacked
    is partial as they are, and is reduced and split once. Each device holds all of it that long: no more than it holds
    of the arguments. Results keep the layouts that they have.
    """
    returned = {program.numbers[value] for value in program.return_op.operands}
    inside = [carried for carried in program.carried if carried.value not in returned]
    unsplit = {value: dims for carried in inside for value, dims in _unsplit(program, carried, state.dims)}
    if not unsplit:
        return
    strategist, order = Strategist(program, program.message_bytes), structural_order(program, structural_marks(program))
    before, after = (counted(program, strategist, dims, order) for dims in (state.dims, _changed(state.dims, unsplit)))
    finished = [each for each in program.carried if each.value not in after.flow.carry]
    for value in (value for each in finished for value in (each.value, each.tie.operands[0])):
        unsplit.pop(value, None)
    after = counted(program, strategist, _changed(state.dims, unsplit), order) if finished else after
    arguments = range(len(program.root.block.args))
    room = sum(_held(program, value, state.dims[value]) for value in arguments)
    held = sum(_held(program, each.value, unsplit[each.value]) for each in program.carried if each.value in unsplit)
    if held <= room and after.sent < before.sent - LEAST_SAVING:
        for value, dims in unsplit.items():
            node = program.producers[value] or program.users[value][0]
            old = dims_in_words(state.dims[value])
            state.because[value] = Because(node, None, f"sums that a loop stacks are reduced behind it: else {old}")
            state.dims[value] = dims


def _unsplit(program: Program, carried: Carried, dims: list[Dims]) -> Iterator[tuple[int, Dims]]:
    """What is carried from zeros, and what a round makes of it, whole where each round writes a part of a dim."""
    entry, made = carried.entry.uses[0], carried.tie.operands[0]
    writer = program.producers[made]
    if entry is None or writer is None or not is_zero(entry.value) or not isinstance(writer.op, DynamicUpdateSliceOp):
        return
    if writer.operands[0] != carried.value or dims[carried.value] != dims[made]:
        return
    shapes = [program.shapes[value] for value in writer.operands[:2]]
    new = tuple(axes if extent == part else () for axes, extent, part in zip(dims[made], *shapes, strict=True))
    if new != dims[made] and program.is_ours(carried.value) and program.is_ours(made):
        yield from ((carried.value, new), (made, new))


def _changed(dims: list[Dims], moved: dict[int, Dims]) -> list[Dims]:
    return [moved.get(value, old) for value, old in enumerate(dims)]


def _held(program: Program, value: int, dims: Dims) -> float:
    """The bytes of a value that a device holds."""
    return program.bytes[value] / program.mesh.group_size([axis for axes in dims for axis in axes])
