"""What tapes make of variables that are assigned to: one answer, in traced functions and outside, with any layout."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
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


def within_a_branch(v: sw.Variable, x: Any) -> Any:
    return sw.sum(sw.cond(sw.sum(x) > 0, lambda: (v.assign(x * 2.0), v * 3.0)[1], lambda: v * 5.0))


def within_rounds(v: sw.Variable, x: Any) -> Any:
    """Read, assigned and read again, three times; and read after it."""

    def body(total: Any, _: Any) -> Any:
        before = sw.sum(v * v)
        v.assign(x * 2.0)
        return total + before + sw.sum(v * 3.0), None

    return sw.scan(body, sw.zeros((), "float64"), None, length=3)[0] + sw.sum(v * 7.0)


def within_a_loop(v: sw.Variable, x: Any) -> Any:
    def body(state: Any) -> Any:
        v.assign_add(x)
        return state[0] + 1, state[1] + sw.sum(v * v)

    return sw.while_loop(lambda state: state[0] < 2, body, (0, sw.zeros((), "float64")))[1]


def within_a_branch_of_a_loop(v: sw.Variable, x: Any) -> Any:
    def body(total: Any, n: Any) -> Any:
        here = sw.cond(n > 0, lambda: (v.assign_add(x), v * n)[1], lambda: v * 10.0)
        return total + sw.sum(here * v), None

    return sw.scan(body, sw.zeros((), "float64"), np.arange(3.0))[0]


# What TensorFlow's tape gives: the sum over all that is read of the variable, and none for what it was assigned of.
WITHIN = [
    (within_a_branch, 3 + 0 * X),
    (within_rounds, 2 * X + 2 * 2 * (2 * X) + 3 * 3 + 7),
    (within_a_loop, 2 * (2 * X) + 2 * (3 * X)),
    (within_a_branch_of_a_loop, 20 * X + 2 * 1 * (2 * X) + 2 * 2 * (3 * X)),
]


@pytest.mark.parametrize(("program", "expected"), WITHIN)
def test_regions_follow_no_assignment(layout: str, how: str, program: Callable[..., Any], expected: Any) -> None:
    v, x = variable(layout), variable(layout)
    found = slopes(lambda: program(v, x), [x, v], how)
    np.testing.assert_allclose(found, [0 * X, expected])


def test_a_value_that_is_assigned_in_a_region_counts_by_itself(layout: str, how: str) -> None:
    v, x = variable(layout), variable(layout)

    def branch() -> Any:
        new = x * 2.0
        v.assign(new)
        return new * v

    found = slopes(lambda: sw.sum(sw.cond(sw.sum(x) > 0, branch, lambda: v * 5.0)), [x, v], how)
    np.testing.assert_allclose(found, [2 * 2 * X, 2 * X])


def test_a_tape_within_a_region_follows_no_assignment(layout: str, how: str) -> None:
    """Nor does one around it, which adds up the gradients that the inner one gives."""
    v, x = variable(layout), variable(layout)

    def body(total: Any, _: Any) -> Any:
        with sw.GradientTape() as tape:
            v.assign(x * 2.0)
            here = sw.sum(v * v * v) + sw.sum(sw.cond(sw.sum(x) > 0, lambda: (v.assign(x * 3.0), v * v)[1], lambda: v))
        slope = tape.gradient(here, v)
        return total + sw.sum(slope), None

    def forward() -> Any:
        return sw.scan(body, sw.zeros((), "float64"), None, length=2)[0]

    # One round: 3 (2x)² + 2 (3x), of which the derivative by what was read is 6 (2x) + 2.
    np.testing.assert_allclose(sw.function(forward)(), 2 * np.sum(3 * (2 * X) ** 2 + 2 * 3 * X))
    if how == "traced":
        np.testing.assert_allclose(slopes(forward, [x, v], how), [0 * X, 2 * (6 * 2 * X + 2)])


def test_what_is_only_assigned_in_a_region_is_not_connected(layout: str, how: str) -> None:
    v, x = variable(layout), variable(layout)

    def taped() -> Any:
        with sw.GradientTape() as tape:
            total = within_a_branch(v, x)
        return tape.gradient(total, [x, v])

    by_x, by_v = (taped if how == "outside" else sw.function(taped))()
    assert by_x is None
    np.testing.assert_allclose(np.asarray(by_v), 3 + 0 * X)


class Store(sw.Module):
    """Puts twice its argument into its variable."""

    def __init__(self, layout: str) -> None:
        self.held = variable(layout)

    @sw.function
    def put(self, x: Any) -> Any:
        return self.held.assign(x * 2.0)


def test_what_a_loaded_program_assigns_is_not_followed(layout: str, how: str, tmp_path: Path) -> None:
    store = Store(layout)
    store.put(store.held.value)
    sw.save(store, tmp_path / "store")
    loaded: Any = sw.load(tmp_path / "store")
    x = variable(layout)

    def beside() -> Any:
        return sw.sum(loaded.put(x.value) * loaded.held)

    def within() -> Any:
        return sw.sum(sw.cond(sw.sum(x) > 0, lambda: (loaded.put(x.value), loaded.held * 3.0)[1], lambda: x * 5.0))

    np.testing.assert_allclose(slopes(beside, [x, loaded.held], how), [4 * X, 2 * X])
    np.testing.assert_allclose(slopes(within, [x, loaded.held], how), [0 * X, 3 + 0 * X])
