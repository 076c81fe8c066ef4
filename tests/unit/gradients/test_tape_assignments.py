"""What tapes make of variables that are assigned to: one answer, in traced functions and outside, with any layout."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import shardwright as sw

X = np.arange(1.0, 5)
LAYOUTS = {"no layout": None, "split": sw.Layout(["x"], sw.Mesh(x=4))}
Program = Callable[[Any], Any]


def variable(layout: str, value: Any = X) -> sw.Variable:
    return sw.Variable(value, layout=LAYOUTS[layout])


def slopes(forward: Callable[[], Any], sources: list[Any], how: str) -> list[Any]:
    """The gradients by all sources: outside of traced functions, in one, and outside of a function that is called."""
    if how == "called":
        forward = sw.function(forward)

    def taped() -> Any:
        with sw.GradientTape() as tape:
            total = forward()
        return tape.gradient(total, sources, unconnected_gradients="zero")

    return [np.asarray(slope) for slope in (sw.function(taped) if how == "traced" else taped)()]


pytestmark = [
    pytest.mark.parametrize("layout", LAYOUTS),
    pytest.mark.parametrize("how", ["outside", "traced", "called"]),
]


def test_variables_of_one_tensor_are_two(layout: str, how: str) -> None:
    first = variable(layout)
    second = sw.Variable(first.value)
    third = variable(layout, 0 * X)
    third.assign(first.value)
    found = slopes(lambda: sw.sum(first * first * second) + 0 * sw.sum(third), [first, second, third], how)
    np.testing.assert_allclose(found, [2 * X**2, X**2, 0 * X])


def test_what_was_assigned_counts_for_what_it_was_computed_of(layout: str, how: str) -> None:
    """By itself; read from the variable it is what that held, and nothing else."""
    w, v = variable(layout), variable(layout)

    def forward() -> Any:
        new = 0.9 * v + 0.1 * w
        v.assign(new)
        return sw.sum(new * new)

    found = slopes(forward, [w, v], how)
    np.testing.assert_allclose(found, [0.2 * X, 1.8 * X])


def test_a_state_is_not_followed_to_what_it_was_assigned_of(layout: str, how: str) -> None:
    w, state = variable(layout), variable(layout, 0 * X)

    def forward() -> Any:
        total = 0.0
        for _ in range(3):
            new = state * w + 1.0
            state.assign(new)
            total = total + sw.sum(new)
        return total

    values = [0 * X, 1 + 0 * X, X + 1]  # what the state was before each round
    np.testing.assert_allclose(slopes(forward, [w], how), [sum(values)])


def test_what_a_variable_held_adds_up(layout: str, how: str) -> None:
    v = variable(layout)

    def forward() -> Any:
        before = sw.sum(v * v)
        v.assign(v * 3.0)
        return before + sw.sum(v)

    np.testing.assert_allclose(slopes(forward, [v], how), [2 * X + 1])
