"""
Where propagation may start: from all of the user's layouts at once, or from those of one class of arguments.

A layout reaches what is near first, and a small weight near an activation would decide how it is split. When arguments
of several classes (ranks, kinds of elements) are split by the same axes, propagation is also tried with one class
leading: its layouts spread everywhere before the others do. Refinement then begins on better ground; bytes decide.
"""

from __future__ import annotations

from collections.abc import Sequence

from shardwright.dialects.types import element_of, is_float
from shardwright.passes.program import Program
from shardwright.passes.propagation.alignment import bytes_sent
from shardwright.passes.propagation.refinement import Ground, refine, search
from shardwright.passes.propagation.spreading import Spreading, State
from shardwright.passes.propagation.strategy import LEAST_SAVING, Strategist


def best_state(program: Program, strategist: Strategist) -> State:
    """The refined state that sends the fewest bytes: from the usual start, or from the best other one."""
    if not any(map(program.is_ours, range(len(program.values)))):
        return Spreading(program, strategist).state()
    ground = Ground(program)
    state = _best_refined(program, strategist, ground)
    search(program, strategist, state, ground)
    return state


def _best_refined(program: Program, strategist: Strategist, ground: Ground) -> State:
    spreading = Spreading(program, strategist)
    usual = spreading.state()
    states = [usual]
    for first in leaders(program):
        led = spreading.state(first)
        if all(led.dims != state.dims for state in states):
            states.append(led)
    others = states[1:]
    if not others:
        refine(program, strategist, usual, ground=ground)
        return usual

    def price(state: State) -> float:
        return bytes_sent(program, strategist, state.dims, ground.order)

    prices = [price(state) for state in others]
    least, usually = min(prices), price(usual)
    other = others[prices.index(least)]
    sent = refine(program, strategist, usual, usually, ground)
    better_start = least < usually - LEAST_SAVING
    if better_start and refine(program, strategist, other, least, ground) < sent - LEAST_SAVING:
        return other
    return usual


def leaders(program: Program) -> list[frozenset[int]]:
    """For each class of arguments, when several share axes, its split members; constraints lead with every class."""
    arguments: Sequence[int] = range(len(program.root.block.args))
    classes: dict[tuple[int, bool], list[int]] = {}
    axes: dict[tuple[int, bool], set[str]] = {}
    for value in arguments:
        spec = program.given[value]
        if spec is None or not any(spec.dims):
            continue
        key = len(program.shapes[value]), is_float(element_of(program.values[value]))
        classes.setdefault(key, []).append(value)
        axes.setdefault(key, set()).update(axis.name for axis in spec.axes())
    shared = [key for key in classes if any(axes[key] & axes[other] for other in classes if other != key)]
    constraints = [value for value, spec in enumerate(program.given) if spec is not None and value not in arguments]
    return [frozenset((*classes[key], *constraints)) for key in shared]
