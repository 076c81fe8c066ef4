"""Make a program that fails as small as it gets, while it still fails in the same way."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeVar

from whole.build import Op, Program, Value
from whole.traced import Traced

Drawn = TypeVar("Drawn", Program, Traced)


def shrink(program: Drawn, fails: Callable[[Drawn], str], most: int = 400) -> Drawn:
    """
    The smallest program found that fails as this one does, within so many trials.

    `fails` says in a word how a program fails; it is empty when it does not.
    """
    failure, trials = fails(program), 0
    progress = True
    while progress:
        progress = False
        for smaller in program.smaller() if isinstance(program, Traced) else _smaller(program):
            if _size(smaller) >= _size(program):
                continue
            trials += 1
            if trials > most:
                return program
            if fails(smaller) == failure:
                program, progress = smaller, True
                break
    return program


def _size(program: Program | Traced) -> tuple[int, int, int]:
    """What shrinks: ops, then results, then the text."""
    if isinstance(program, Traced):
        return len(program.steps), 0, 0
    return len(program.ops), len(program.results), len(program.text)


def _smaller(program: Program) -> Iterator[Program]:
    """Programs with a little less, those that lose most first."""
    for result in program.results:
        if len(program.results) > 1:
            yield _with_results(program, [result])
    for op in program.ops:
        if not all(value in program.results for value in op.results):
            yield _with_results(program, [op.results[-1]])
    for op in program.ops:
        yield _cut(program, op)
    yield from _without_axes(program)
    for key, layout in program.layouts.items():
        plain = re.sub(r"\{[^}]*\}", "{}", layout)
        if plain != layout:
            yield replace(program, layouts={**program.layouts, key: plain})
        for item in re.findall(r'"[^"]+"(?::\(\d+\)\d+)?|\?', layout):
            fewer = layout.replace(item, "", 1).replace("{, ", "{").replace(", }", "}").replace(", ,", ",")
            yield replace(program, layouts={**program.layouts, key: fewer})
    for key in program.layouts:
        yield replace(program, layouts={k: v for k, v in program.layouts.items() if k != key})


def _without_axes(program: Program) -> Iterator[Program]:
    """The program on a mesh without one of its axes, where no op names it."""
    body = "".join(op.text for op in program.ops)
    for name in program.mesh:
        if f'"{name}"' in body or len(program.mesh) == 1 or "manual_computation" in body:
            continue
        pattern = re.compile(rf'"{name}"(:\(\d+\)\d+)?(, )?')
        layouts = {key: pattern.sub("", layout).replace(", }", "}") for key, layout in program.layouts.items()}
        mesh = {axis: size for axis, size in program.mesh.items() if axis != name}
        yield replace(program, mesh=mesh, layouts=layouts)


def _cut(program: Program, op: Op) -> Program:
    """The program that takes an op's results as arguments."""
    ops = [other for other in program.ops if other is not op]
    return _tidied(replace(program, ops=ops, arguments=[*program.arguments, *op.results]))


def _with_results(program: Program, results: list[Value]) -> Program:
    layouts = {key: text for key, text in program.layouts.items() if not key.startswith("result")}
    for number, value in enumerate(results):
        if value in program.results:
            layout = program.layouts.get(f"result {program.results.index(value)}")
            layouts |= {} if layout is None else {f"result {number}": layout}
    return _tidied(replace(program, results=results, layouts=layouts))


def _tidied(program: Program) -> Program:
    """Without ops and arguments that nothing uses."""
    needed = {value.name for value in program.results}
    kept: list[Op] = []
    for op in reversed(program.ops):
        if any(value.name in needed for value in op.results):
            kept.insert(0, op)
            needed |= {value.name for value in op.operands}
    arguments = [value for value in program.arguments if value.name in needed]
    made = {value.name for value in arguments} | {f"result {number}" for number in range(len(program.results))}
    layouts = {key: text for key, text in program.layouts.items() if key in made}
    return replace(program, ops=kept, arguments=arguments, layouts=layouts)
