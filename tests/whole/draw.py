"""The program that a seed stands for."""

from __future__ import annotations

from random import Random

from whole import (
    steps_composed,
    steps_control,
    steps_loops,
    steps_numeric,
    steps_pointwise,
    steps_position,
    steps_recurrent,
    steps_reduce,
    steps_shape,
)
from whole.build import Builder, Program, Style
from whole.registry import Make, draw
from whole.styles import SMALL

FAMILIES = (steps_composed, steps_pointwise, steps_shape, steps_reduce, steps_position, steps_control, steps_numeric)
OPENINGS: dict[str, tuple[Make, ...]] = {"loops": steps_loops.OPENINGS, "recurrences": steps_recurrent.OPENINGS}
"""What the programs of some styles begin with."""


def random_program(seed: int, op: str = "", style: Style = SMALL) -> Program:
    """
    A program of 2 to 8 steps; with `op`, one that has this op if it can be drawn.

    A step may stand for several ops and choose among them, so it is drawn again until the op is there.
    """
    random = Random(f"{seed} {op}")
    mesh = dict(zip("xyz", random.choice(style.meshes), strict=False))
    build = Builder(random, mesh, style)
    if style.opening:
        _open(build, OPENINGS[style.opening])
    else:
        build.argument(build.shape(random.randint(1, 3)), build.element())
    missing, wanted = random.randint(*style.steps), op
    for _ in range(60):
        if missing and build.attempt(draw(build, wanted).make):
            missing -= 1
            wanted = "" if any(wanted in made.text for made in build.scope.ops) else wanted
    return _finished(seed, build)


def _open(build: Builder, steps: tuple[Make, ...]) -> None:
    """Begin with one of some steps, drawn again until one fits."""
    while not build.attempt(build.pick(steps)):
        pass


EVEN = Style(extents=(2, 4, 4, 8, 8, 3, 6), laid_out=0)
"""Dims that many layouts split evenly."""


def single(seed: int, op: str, mesh: dict[str, int], style: Style = EVEN) -> Program:
    """A program of one step that has the op, on a mesh, without layouts."""
    build = Builder(Random(f"{seed} {op}"), mesh, style)
    for _ in range(200):
        if build.attempt(draw(build, op).make) and any(op in made.text for made in build.scope.ops):
            break
        del build.arguments[:], build.scope.ops[:], build.scope.values[:]
    used = {value.name for made in build.scope.ops for value in made.operands}
    results = [value for made in build.scope.ops for value in made.results if value.name not in used]
    arguments = [value for value in build.arguments if value.name in used]
    return Program(seed, mesh, arguments, build.scope.ops, results, {})


def _finished(seed: int, build: Builder) -> Program:
    """Choose results: the newest values that no op uses, and perhaps one more."""
    used = {value.name for op in build.scope.ops for value in op.operands}
    open_ends = [v for op in build.scope.ops for v in op.results if v.name not in used]
    results = open_ends[-build.style.results :] or build.scope.values[-1:]
    if build.chance(0.3):
        results.append(build.pick(build.scope.values))
    program = Program(seed, build.mesh, build.arguments, build.scope.ops, results, build.layouts)
    for number, value in enumerate(results):
        if build.chance(0.6):
            program.layouts[f"result {number}"] = build.layout(value.shape, priorities=True)
    return program
