"""
Memory orders that readers would like: found backwards, so that results are written in the order in which they are used.
"""

from __future__ import annotations

from collections.abc import Sequence

from shardwright.runtime.planning.strided import Strided, matching
from shardwright.runtime.program import Dot, Kind, Program, Step, Value

Wish = tuple[int, ...]
"""Dims of more than one element, major to minor in memory; empty where nobody cares."""


def find_wishes(program: Program, outputs: Sequence[Strided]) -> dict[Value, Wish]:
    """
    The order in memory in which each value's first reader would like it, where one cares.

    Results want the order of their global arrays, products want the dims that they sum over side by side, row
    reductions want the reduced dims minor; views, element-wise steps and what is sent to other processes pass on what
    is wished of their result.
    """
    wishes = {value: strided.order() for value, strided in zip(program.outputs, outputs, strict=True)}
    for step in reversed(program.steps):
        wish = wishes.get(step.results[0], ()) if step.results else ()
        for side, operand in enumerate(step.operands):
            passed = _passed_on(step, side, operand, wish)
            if passed:
                wishes[operand] = passed
    return wishes


def _passed_on(step: Step, side: int, operand: Value, wish: Wish) -> Wish:
    """What a step's own needs, and the wish for its result, mean for an operand."""
    match step.kind:
        case Kind.POINTWISE | Kind.BROADCAST | Kind.SLICE:
            varying = _varying(operand) if wish else ()
            return tuple([dim for dim in wish if dim in varying])
        case Kind.TRANSPOSE:
            return tuple([step.static[0][dim] for dim in wish])
        case Kind.RESHAPE:
            return _through_reshape(operand, step.results[0], wish) or _varying(operand)
        case Kind.REDUCE:
            return _for_reduction(step.static[0], _varying(operand), wish)
        case Kind.DOT:
            return _for_product(step.static[0], side, _varying(operand))
        case Kind.SEND:
            return _for_sending(step, _varying(operand), wish)
        case _:
            return ()


def _varying(value: Value) -> tuple[int, ...]:
    return tuple([dim for dim, extent in enumerate(value.shape) if extent > 1])


def _through_reshape(operand: Value, result: Value, wish: Wish) -> Wish:
    """
    The wish in terms of the operand's dims, where each dim of one side is a run of dims of the other.

    A dim whose parts the wish keeps apart stays with its minor part.
    """
    if not operand.size:
        return ()
    before = [dim for dim, extent in enumerate(operand.shape) if extent > 1]
    after = [dim for dim, extent in enumerate(result.shape) if extent > 1]
    owner: dict[int, tuple[int, ...]] = {}
    while before and after:
        taken, made = matching([operand.shape[dim] for dim in before], [result.shape[dim] for dim in after])
        if taken > 1 and made > 1:
            return ()
        owner.update(dict.fromkeys(after[:made], tuple(before[:taken])))
        before, after = before[taken:], after[made:]
    # Dims of size one have no owner: where they stand does not matter.
    minor_first = dict.fromkeys(dim for place in reversed(wish) for dim in reversed(owner.get(place, ())))
    return tuple(reversed(minor_first))


def _for_reduction(dims: Sequence[int], varying: Sequence[int], wish: Wish) -> Wish:
    reduced = [dim for dim in varying if dim in dims]
    kept = [dim for dim in varying if dim not in dims]
    if not reduced:
        return wish
    if not kept or max(kept) < min(reduced):
        return (*kept, *reduced)
    return (*reduced, *wish) if wish and max(reduced) < min(wish) else ()


def _for_sending(step: Step, varying: Sequence[int], wish: Wish) -> Wish:
    """What travels lies as the result does: the dims are the same, but for the parts in front of a scatter's."""
    if step.name == "reduce_scatter":
        return (0, *(dim + 1 for dim in wish)) if wish else ()
    return (*(dim for dim in varying if dim not in wish), *(dim for dim in wish if dim in varying)) if wish else ()


def _for_product(dot: Dot, side: int, varying: Sequence[int]) -> Wish:
    """Batch dims first, then summed dims together and free dims together, whichever comes first in the shape."""
    summed = [pair[side] for pair in sorted(dot.contract) if pair[side] in varying]
    lead = {pair[side] for pair in dot.batch}
    free = [dim for dim in varying if dim not in summed]
    local_free = [dim for dim in free if dim not in lead]
    local_summed = [dim for dim in summed if dim not in lead]
    sums_first = bool(local_summed) and (not local_free or min(local_summed) < min(local_free))
    return (*summed, *free) if sums_first else (*free, *summed)
