"""Random programs that assign to variables in nested branches and loops, traced, against a simulation in Python."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import shardwright as sw

MESH = sw.Mesh([("x", 2), ("y", 2)])
LAYOUTS = [None, sw.Layout(["x"], MESH), sw.Layout(["y", "x"], MESH), sw.Layout([], MESH)]
COUNT = 3


def statements(draw: random.Random, depth: int) -> list[Any]:
    """A random list of statements, each a tuple: what it does, to which variables, and what is inside."""
    made: list[Any] = []
    for _ in range(draw.randint(1, 3)):
        kind = draw.choice(["set", "add", "cond", "switch", "while", "scan"] if depth else ["set", "add"])
        target, source, number = draw.randrange(COUNT), draw.randrange(COUNT), draw.randint(0, 3)
        parts = {"cond": 2, "switch": 3, "while": 1, "scan": 1}.get(kind, 0)
        made.append((kind, target, source, number, [statements(draw, depth - 1) for _ in range(parts)]))
    return made


def simulate(program: list[Any], values: list[Any]) -> None:
    """Runs statements on arrays in a list; every assignment keeps the numbers small."""
    for kind, target, source, number, parts in program:
        if kind == "set":
            values[target] = (values[source] * 2 + number) % 7
        elif kind == "add":
            values[target] = (values[target] + values[source] + number) % 5
        elif kind == "cond":
            simulate(parts[0] if values[source].sum() % 2 == 0 else parts[1], values)
        elif kind == "switch":
            simulate(parts[min(int(values[source].max()), 2)], values)
        elif kind == "while":
            rounds = 0
            while rounds < number and values[source].sum() > 3:
                simulate(parts[0], values)
                rounds += 1
        else:
            for row in range(number):
                values[target] = (values[target] + row) % 9
                simulate(parts[0], values)


def write(program: list[Any], variables: list[sw.Variable]) -> None:
    """The same statements in a traced function."""
    for kind, target, source, number, parts in program:
        read, changed = variables[source], variables[target]
        if kind == "set":
            changed.assign((read * 2 + number) % 7)
        elif kind == "add":
            changed.assign((changed + read + number) % 5)
        elif kind == "cond":
            branches = [lambda part=part: write(part, variables) for part in parts]
            sw.cond(sw.sum(read) % 2 == 0, *branches)
        elif kind == "switch":
            sw.switch(sw.max(read), [lambda part=part: write(part, variables) for part in parts])
        elif kind == "while":

            def body(rounds: Any, part: list[Any] = parts[0]) -> Any:
                write(part, variables)
                return rounds + 1

            def test(rounds: Any, number: int = number, read: sw.Variable = read) -> Any:
                return sw.logical_and(rounds < number, sw.sum(read) > 3)

            sw.while_loop(test, body, 0)
        else:

            def step(carry: Any, row: Any, part: list[Any] = parts[0], changed: sw.Variable = changed) -> Any:
                changed.assign((changed + row) % 9)
                write(part, variables)
                return carry, row

            sw.scan(step, 0, np.arange(number, dtype="int32"))


@pytest.mark.every(3)
@pytest.mark.parametrize("seed", range(24))
def test_traced_assignments_are_those_of_python(seed: int) -> None:
    draw = random.Random(seed)
    program = statements(draw, 2)
    start = [np.array([[draw.randrange(5) for _ in range(4)] for _ in range(2)], "int32") for _ in range(COUNT)]
    variables = [sw.Variable(value, layout=draw.choice(LAYOUTS)) for value in start]
    layouts = [variable.layout for variable in variables]
    values = list(start)
    run = sw.function(lambda: write(program, variables))
    for _ in range(2):
        simulate(program, values)
        run()
        for variable, value in zip(variables, values, strict=True):
            assert np.array_equal(variable.numpy(), value)
    assert [variable.layout for variable in variables] == layouts
