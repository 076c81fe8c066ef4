"""
What a program need not do: steps whose results nobody uses, and the tests and counters of loops whose rounds are known.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import compress

from shardwright.runtime.planning.counters import resolve_counters, substitute
from shardwright.runtime.program import Kind, Program, Step, Value, all_steps, values_from_outside


def trim(program: Program) -> None:
    """Rewrites the program, and those in it, in place."""
    program.steps, needed = _needed(program.steps, program.outputs)
    known: dict[Value, Value] = {}
    for step in program.steps:
        if step.kind is Kind.LOOP:
            known |= _trim_loop(step, needed)
        for inner in step.programs:
            trim(inner)
        if step.programs:
            own = step.operands[: len(step.results) if step.kind is Kind.LOOP else 1]
            used = dict.fromkeys(value for inner in step.programs for value in values_from_outside(inner))
            step.operands = (*own, *used)
    if known:
        substitute(program, known)


def _needed(steps: Sequence[Step], wanted: Iterable[Value]) -> tuple[list[Step], set[Value]]:
    """Those of the steps that are needed to make these values, and the values that they use for it."""
    needed = set(wanted)
    kept: list[Step] = []
    for step in reversed(steps):
        if step.kind is Kind.FENCE:
            kept += [] if needed.isdisjoint(step.operands) else [step]
        elif _is_needed(step, needed):
            needed.update(step.operands)
            kept.append(step)
    return kept[::-1], needed


def _is_needed(step: Step, needed: set[Value]) -> bool:
    if step.kind is Kind.TEST or _is_seen(step) or not needed.isdisjoint(step.results):
        return True
    return any(_is_seen(inner) for program in step.programs for inner in all_steps(program))


def _is_seen(step: Step) -> bool:
    """Whether somebody sees that a step is done: it is counted, or calls back."""
    return step.kind is Kind.COUNT or step.has_effects


def _trim_loop(step: Step, needed: set[Value]) -> dict[Value, Value]:
    """Drops what is carried for nothing; what takes the place of results that are known."""
    program, (name, rounds) = step.programs[0], step.static
    if rounds is not None and not _test_is_seen(program):
        program.steps = [inner for inner in program.steps if inner.kind is not Kind.TEST]
    else:
        step.static = (name, None)
    known = {} if step.static[1] is None else resolve_counters(step, step.static[1])
    live = [result in needed and result not in known for result in step.results]
    while True:
        wanted = [value for value, lives in zip(program.outputs, live, strict=True) if lives]
        _, used = _needed(program.steps, wanted)
        wider = [lives or value in used for lives, value in zip(live, program.inputs, strict=True)]
        if wider == live:
            break
        live = wider
    step.operands = (*compress(step.operands[: len(live)], live), *step.operands[len(live) :])
    step.results = tuple(compress(step.results, live))
    program.inputs = list(compress(program.inputs, live))
    program.outputs = list(compress(program.outputs, live))
    return known


def _test_is_seen(program: Program) -> bool:
    """Whether a loop holds collectives or calls back before its test: those run once more than the rest."""
    steps = list(all_steps(program))
    test = next(step for step in program.steps if step.kind is Kind.TEST)
    return any(map(_is_seen, steps[: steps.index(test)]))
