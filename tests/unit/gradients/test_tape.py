"""`GradientTape`, `custom_gradient` and `checkpoint`, by closed forms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import shardwright as sw

MESH = sw.Mesh(batch=4, model=2)


def split(array: Any) -> Any:
    return sw.relayout(array, sw.Layout(["batch"], MESH))


X = np.arange(1.0, 9.0)


def cube_slope(x: Any) -> Any:
    with sw.GradientTape() as tape:
        tape.watch(x)
        y = x * x * x
    return tape.gradient(y, x)


def second_slope(x: Any) -> Any:
    with sw.GradientTape() as outer:
        outer.watch(x)
        slope = cube_slope(x)
    return outer.gradient(slope, x)


def test_in_and_out_of_traced_functions() -> None:
    for run in (sw.function(cube_slope), cube_slope):
        assert np.allclose(run(split(X)), 3 * X**2)
    for run in (sw.function(second_slope), second_slope):
        assert np.allclose(run(split(X)), 6 * X)


def test_traced_functions_are_followed_outside() -> None:
    square = sw.function(lambda x, scale: {"y": x * x * scale})
    x = split(X)
    with sw.GradientTape() as tape:
        tape.watch(x)
        y = sw.sum(square(x, 3.0)["y"]) + sw.sum(x)
    assert np.allclose(tape.gradient(y, x), 6 * X + 1)


def test_a_tape_answers_once_unless_persistent() -> None:
    x = split(X)
    with sw.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y, z = sw.sum(x * x), sw.sum(x)
    assert np.allclose(tape.gradient(y, x), 2 * X)
    assert np.allclose(tape.gradient(z, x), 1)
    assert np.allclose(tape.gradient([y, z], x), 2 * X + 1)
    with sw.GradientTape() as tape:
        y = sw.sum(x * x)
    tape.gradient(y, x)
    with pytest.raises(ValueError, match="SW0522"):
        tape.gradient(y, x)


def test_sources_that_do_not_count() -> None:
    x, other = split(X), split(X + 1)
    with sw.GradientTape(persistent=True) as tape:
        tape.watch([x, other])
        with tape.stop_recording():
            weight = x * 2
        y = sw.sum(x * weight)
    assert [id(value) for value in tape.watched_variables()] == [id(x), id(other)]
    assert tape.gradient(y, other) is None
    assert np.allclose(tape.gradient(y, x), 2 * X)
    assert np.array_equal(tape.gradient(y, other, unconnected_gradients="zero"), np.zeros(8))
    tape.reset()
    assert tape.gradient(y, x) is None
    with pytest.raises(ValueError, match="SW0522"):
        tape.gradient(y, x, unconnected_gradients="maybe")

    @sw.function
    def inside(x: Any, other: Any) -> Any:
        with sw.GradientTape() as tape:
            y = sw.sum(x * sw.stop_gradient(x))
        assert tape.gradient(y, [x, other], unconnected_gradients="none")[1] is None
        return y

    inside(X, X)


def test_weighed_targets() -> None:
    x = split(X)
    with sw.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    assert np.allclose(tape.gradient(y, x, output_gradients=np.arange(8.0)), 2 * X * np.arange(8.0))


def test_what_cannot_be_watched() -> None:
    with sw.GradientTape() as tape:
        with pytest.raises(TypeError, match="SW0520"):
            tape.watch(X)
        with pytest.raises(TypeError, match="SW0520"):
            tape.watch(split(np.arange(8)))


def test_own_gradients() -> None:
    @sw.custom_gradient
    def scaled(x: Any, y: Any) -> Any:
        return (x * y, y), lambda first, second: (first * 10.0, None)

    def loss(x: Any, y: Any) -> Any:
        first, second = scaled(x, y)
        return sw.sum(first) + sw.sum(second)

    gradients = sw.grad(loss, argnums=(0, 1))(X, X)
    assert np.array_equal(gradients[0], np.full(8, 10.0))
    assert np.array_equal(gradients[1], np.zeros(8))
    value = scaled(split(X), split(X))
    assert np.array_equal(value[0], X * X)

    wrong = sw.custom_gradient(lambda x, y: (x * y, lambda dy: dy))
    with pytest.raises(TypeError, match="SW0520"):
        sw.grad(lambda x: sw.sum(wrong(x, x)))(X)


def test_checkpoints_compute_again() -> None:
    layer = sw.checkpoint(lambda x, w: sw.tanh(sw.sin(x) * w))
    plain = np.cos(X) * 2 * (1 - np.tanh(np.sin(X) * 2) ** 2)
    gradient = sw.grad(lambda x: sw.sum(layer(x, 2.0)))
    assert np.allclose(gradient(X), plain)
    assert np.allclose(gradient(split(X)), plain)
    assert np.allclose(layer(split(X), 2.0), np.tanh(np.sin(X) * 2))
    text = gradient.trace(X).as_text()
    assert "dtensor.checkpoint" in text


@pytest.mark.parametrize("make", [sw.asarray, np.array, lambda x: np.broadcast_to(x, x.shape)])
def test_a_gradient_is_of_what_was(make: Any) -> None:
    """Arrays may be written to after the call that took them; what a call gave while a tape is open may not."""
    weights, memory = sw.Variable(np.ones(4)), np.ones(4)
    given = make(memory)
    with sw.GradientTape() as tape:
        y = sw.sum(weights * given)
        memory += 1
        if given.flags.writeable:
            given += 1
    assert np.array_equal(tape.gradient(y, weights), np.ones(4))
    with sw.GradientTape() as tape:
        product = weights * 3.0
        total = sw.sum(sw.square(product))
        product += 1  # another one, of which the tape knows nothing
    assert np.array_equal(product, [4, 4, 4, 4])
    assert np.array_equal(tape.gradient(total, weights), np.full(4, 18.0))


def deep(layer: Any) -> Any:
    """The gradient of eight layers of three products each, compiled."""

    def loss(x: Any, w: Any) -> Any:
        for _ in range(8):
            x = layer(x, w)
        return sw.sum(x)

    return sw.grad(loss).trace(sw.TensorSpec((512, 64), "float32"), sw.TensorSpec((64, 64), "float32"))


def test_checkpoints_compute_again_instead_of_keeping() -> None:
    def layer(x: Any, w: Any) -> Any:
        return sw.tanh(sw.sin(sw.tanh(x @ w) @ w) @ w)

    kept, again = deep(layer), deep(sw.checkpoint(layer))
    products = [stage.partition().as_text().count("stablehlo.dot_general") for stage in (kept, again)]
    forwards, backwards = 8 * 3, 8 * 3
    assert products[0] == forwards + backwards
    assert products[1] == forwards + backwards + 7 * 3  # the last layer has just been computed
    row = 512 * 64 * 4
    assert kept.compile().peak_bytes > 3 * 8 * row  # what each product needs
    assert again.compile().peak_bytes < (8 + 3 + 1) * row  # each layer's input, and one layer's values


@pytest.mark.parametrize("inside", ["function", "loop", "branch"])
def test_what_was_computed_before_the_tape_is_a_constant(inside: str) -> None:
    """As TensorFlow has it: a tape sees what happens while it is open."""

    def slopes(x: Any) -> Any:
        y = x * x
        with sw.GradientTape() as tape:
            tape.watch(x)
            z = sw.sum(y * x)
        return tape.gradient(z, x)

    def in_loop(x: Any) -> Any:
        y = x * x

        def round_(carry: Any, row: Any) -> Any:
            with sw.GradientTape() as tape:
                tape.watch(x)
                z = sw.sum(y * carry * x)
            return carry + x, tape.gradient(z, x)

        return sw.scan(round_, x, length=2)[1]

    x = np.array([1.0, 2.0, 3.0])
    if inside == "function":
        np.testing.assert_allclose(np.asarray(sw.function(slopes)(x)), x**2)
        np.testing.assert_allclose(np.asarray(slopes(sw.relayout(x, sw.Layout(["x"], sw.Mesh(x=3))))), x**2)
    elif inside == "loop":
        np.testing.assert_allclose(np.asarray(sw.function(in_loop)(x)), [x**3, 2 * x**3])
    else:
        chosen = sw.function(lambda x: sw.cond(sw.sum(x) > 0, lambda: slopes(x), lambda: x))
        np.testing.assert_allclose(np.asarray(chosen(x)), x**2)


def test_what_is_connected_by_nothing_but_what_was_before() -> None:
    @sw.function
    def slopes(x: Any) -> Any:
        y = x * x
        with sw.GradientTape() as tape:
            tape.watch(x)
            z = sw.sum(y * 2)
        return 1 if tape.gradient(z, x) is None else 0

    assert int(slopes(np.ones(3))) == 1


def test_gradients_inside_of_a_loop_by_what_its_rounds_use() -> None:
    """What a loop carries depends on the source by earlier rounds: refused, where silence would be wrong."""

    @sw.function
    def slopes(x: Any) -> Any:
        with sw.GradientTape(persistent=True) as tape:
            tape.watch(x)
            return sw.scan(lambda carry, row: (carry * x, tape.gradient(sw.sum(carry * x), x)), x, length=2)[1]

    with pytest.raises(sw.ShardwrightError, match=r"SW0327.*inside of a loop"):
        slopes(np.ones(3))


def test_a_tape_around_a_loop_and_a_gradient_inside_of_a_branch() -> None:
    """What was computed outside of the branch, while the tape was open, is followed from inside."""

    @sw.function
    def slopes(x: Any) -> Any:
        with sw.GradientTape() as tape:
            tape.watch(x)
            z = sw.sum(x * x * x)
        return sw.cond(z > 0, lambda: tape.gradient(z, x), lambda: x)

    np.testing.assert_allclose(np.asarray(slopes(np.array([1.0, 2.0]))), [3.0, 12.0])


def tapes() -> dict[str, tuple[Any, Any]]:
    """Programs of a variable of ones and of an array, with the gradient that TensorFlow's tape gives for them."""
    rows = sw.Layout(["x"], sw.Mesh(x=2))
    v, x = sw.Variable(np.ones(4), layout=rows), sw.relayout(np.ones(4), rows)

    def stopped() -> Any:
        with sw.GradientTape() as tape:
            tape.watch(x)
            y = x * 2
            with tape.stop_recording():
                z = x * 100
            w = sw.sum(y * z)
        return tape.gradient(w, x)

    def assigned_before() -> Any:
        with sw.GradientTape() as tape:
            v.assign(v * 0 + 5.0)
            y = sw.sum(v * v)
        return tape.gradient(y, v)

    def assigned_between() -> Any:
        with sw.GradientTape() as tape:
            y = sw.sum(v**2)
            v.assign(v * 3)
            z = y + sw.sum(v**2)
        return tape.gradient(z, v)

    def computed_after() -> Any:
        with sw.GradientTape() as tape:
            y = v * v
        return tape.gradient(sw.sum(y), v)

    def forgotten() -> Any:
        with sw.GradientTape(persistent=True) as tape:
            y = sw.sum(v * v)
            tape.reset()
            sw.sum(v * 3)
        return tape.gradient(y, v)

    def begun_again() -> Any:
        with sw.GradientTape(persistent=True) as tape:
            y = v * v
        z = v * 7
        with tape:
            w = sw.sum(y * z)
        return tape.gradient(w, v)

    def own() -> Any:
        twice = sw.custom_gradient(lambda a: (a * 2, lambda slope: slope * 5))
        with sw.GradientTape() as tape:
            tape.watch(x)
            y = sw.sum(twice(x)) + sw.sum(sw.vmap(twice)(x)) + sw.sum(sw.checkpoint(twice)(x))
        return tape.gradient(y, x)

    def assigned_from_another() -> Any:
        v.assign(x * 3)
        with sw.GradientTape() as tape:
            tape.watch(x)
            y = sw.sum(v * v)
        found = tape.gradient(y, [v, x])
        assert found[1] is None  # what the variable was assigned of, before anybody watched
        return found[0]

    cases = {
        "assigned from another": (assigned_from_another, 6),
        "stopped": (stopped, 200),
        "assigned before": (assigned_before, 10),
        "assigned between": (assigned_between, 8),
        "computed after": (computed_after, None),
        "forgotten": (forgotten, None),
        "begun again": (begun_again, 14),
        "own": (own, 15),
    }

    def anew(program: Any) -> Any:
        def run() -> Any:
            v.assign(np.ones(4))
            return program()

        return run

    return {name: (anew(program), due) for name, (program, due) in cases.items()}


@pytest.mark.parametrize("name", tapes())
@pytest.mark.parametrize("traced", [False, True])
def test_a_tape_sees_the_same_in_a_traced_function(name: str, traced: bool) -> None:
    program, due = tapes()[name]
    found = (sw.function(program) if traced else program)()
    assert (found is None) == (due is None)
    if due is not None:
        np.testing.assert_array_equal(np.asarray(found), np.full(4, float(due)))


def test_weights_are_one_for_each_target() -> None:
    x = split(X)
    with sw.GradientTape(persistent=True) as tape:
        tape.watch(x)
        targets = [x * 2, x * 3]
    assert np.allclose(tape.gradient(targets, x, output_gradients=[split(X), split(X)]), 5 * X)
    for weights in ([split(X)], [None, split(X)]):
        with pytest.raises(ValueError, match=r"SW0522\]: output_gradients has 1 gradients for 2 targets"):
            tape.gradient(targets, x, output_gradients=weights)
