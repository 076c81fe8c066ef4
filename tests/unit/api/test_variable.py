"""Variables: what they hold, how programs read and change them, and what they refuse."""

from __future__ import annotations

import functools
import gc
import operator as python_operators
import weakref
from typing import Any

import numpy as np
import pytest

import shardwright as sw

MESH = sw.Mesh([("batch", 4), ("model", 2)])
ROWS = sw.Layout(["batch"], MESH)
LAYOUTS = [
    None,
    sw.Layout(sw.Mesh.UNSHARDED, MESH),
    ROWS,
    sw.Layout(["model", "batch"], MESH),
    sw.Layout([None, ("batch", "model")], MESH),
]
START = np.arange(64, dtype="float64").reshape(8, 8)


def variable(layout: Any = ROWS, **options: Any) -> sw.Variable:
    """A variable of numbers from 0 to 63."""
    return sw.Variable(START, layout=layout, **options)


def _at_once(function: Any) -> Any:
    return function


def error(kind: type[Exception], call: Any) -> sw.Diagnostic:
    """The one diagnostic of the coded error that `call` raises, which is a `kind`."""
    with pytest.raises(kind) as caught:
        call()
    assert isinstance(caught.value, sw.ShardwrightError)
    (diagnostic,) = caught.value.diagnostics
    return diagnostic


def test_layout_is_given_or_that_of_the_initial_value() -> None:
    distributed = sw.relayout(START, ROWS)
    assert sw.Variable(distributed).layout == distributed.layout
    assert variable().layout == distributed.layout
    plain = variable(None)
    assert plain.layout is None
    assert isinstance(plain.value, np.ndarray)
    assert isinstance(variable().read_value(), sw.DTensor)
    found = error(ValueError, lambda: sw.Variable(distributed, layout=sw.Layout(["model"], MESH)))
    assert found.code == "SW0530"


@pytest.mark.parametrize(
    ("initial", "shape", "expected"),
    [
        (1.5, None, np.float32(1.5)),
        ([1, 2], None, np.array([1, 2], "int32")),
        (sw.ones, (2, 3), np.ones((2, 3), "float32")),
        (lambda shape, dtype=None: np.full(shape, 3.0), (4,), np.full(4, 3.0)),
        (lambda size, kind: np.full(size, 2, kind or "int8"), 3, np.full(3, 2, "int8")),
        (lambda: np.arange(3), None, np.arange(3)),
    ],
)
def test_initial_values(initial: Any, shape: Any, expected: np.ndarray[Any, Any]) -> None:
    dtype = expected.dtype if shape == 3 else None
    made = sw.Variable(initial, shape=shape, dtype=dtype)
    assert made.shape == expected.shape
    assert made.dtype == expected.dtype
    assert np.array_equal(made.numpy(), expected)


def test_initial_function_makes_shards_in_place() -> None:
    seen: list[Any] = []

    def make(shape: Any, dtype: Any, layout: Any) -> Any:
        seen.append(layout)
        return sw.zeros(shape, dtype=dtype, layout=layout)

    made = sw.Variable(make, shape=(8, 2), dtype="float64", layout=ROWS, name="w", trainable=False)
    assert seen == [ROWS]
    assert (made.name, made.trainable, made.dtype, made.shape) == ("w", False, np.dtype("float64"), (8, 2))
    assert sw.Variable(functools.partial(sw.full, fill_value=2.0), shape=(2,)).numpy().tolist() == [2.0, 2.0]


def test_names_have_scopes() -> None:
    with sw.name_scope("encoder"), sw.name_scope("layer0") as whole:
        assert whole == "encoder/layer0"
        assert sw.Variable(0.0, name="w").name == "encoder/layer0/w"
    assert sw.Variable(0.0).name == "Variable"


@pytest.mark.parametrize("layout", LAYOUTS)
def test_works_as_an_array(layout: Any) -> None:
    made = variable(layout)
    for traced in (False, True):
        run = sw.function if traced else _at_once
        assert np.array_equal(run(lambda: made + 1)(), START + 1)
        assert np.array_equal(run(lambda: 2 * made - made)(), START)
        assert np.array_equal(run(lambda: sw.sum(made, axis=0))(), START.sum(0))
        assert np.array_equal(run(lambda: made @ made.T)(), START @ START.T)
        assert np.array_equal(run(lambda: made[1:3, -1])(), START[1:3, -1])
        assert np.array_equal(run(lambda: sw.concat([made, made]))(), np.concatenate([START, START]))
    assert np.array_equal(np.asarray(made), START)
    assert np.array_equal(np.from_dlpack(made), START)
    assert (made.ndim, made.size, len(made)) == (2, 64, 8)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_assignments(layout: Any) -> None:
    made, expected = variable(layout), START.copy()
    delta = np.linspace(0, 1, 8)
    expected += delta
    assert np.array_equal(made.assign_add(delta), expected)
    made.assign_sub(made * 0.5)
    expected -= expected * 0.5
    assert np.array_equal(made.numpy(), expected)
    made.assign(START[::-1])
    assert np.array_equal(made.numpy(), START[::-1])
    assert made.layout == (None if layout is None else layout.for_rank(2))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("traced", [False, True])
def test_rows(layout: Any, traced: bool) -> None:
    made, expected = variable(layout), START.copy()
    run = sw.function if traced else _at_once
    places, updates = np.array([1, 6, 1, 3]), np.arange(32.0).reshape(4, 8)
    assert np.array_equal(run(lambda: made.gather(places.reshape(2, 2)))(), START[places].reshape(2, 2, 8))
    run(lambda: made.scatter_add(places, updates))()
    np.add.at(expected, places, updates)
    assert np.array_equal(made.numpy(), expected)
    run(lambda: made.scatter_sub(places[1:], 2.0))()
    np.subtract.at(expected, places[1:], 2.0)
    run(lambda: made.scatter_update(np.array([0, 99]), updates[:2]))()
    expected[0] = updates[0]
    assert np.array_equal(made.numpy(), expected)
    assert made.layout == (None if layout is None else layout.for_rank(2))
    assert error(TypeError, lambda: made.gather(np.array([0.5]))).code == "SW0514"
    assert error(ValueError, lambda: sw.Variable(1.0).gather(np.array([0]))).code == "SW0510"


@pytest.mark.parametrize("layout", LAYOUTS)
def test_function_reads_and_assigns_in_order(layout: Any) -> None:
    made = variable(layout)
    traces: list[int] = []

    @sw.function
    def step(x: Any) -> Any:
        traces.append(1)
        before = sw.sum(made)
        made.assign(made + x)
        between = sw.sum(made.value)
        made.assign_sub(0.5 * made)
        return before, between, made

    expected = START
    for number in range(3):
        before, between, after = step(float(number))
        assert float(before) == expected.sum()
        assert float(between) == (expected + number).sum()
        expected = (expected + number) * 0.5
        assert np.array_equal(after, expected)
        assert np.array_equal(made.numpy(), expected)
    assert len(traces) == 1
    made.assign(START)
    assert float(step(0.0)[0]) == START.sum()
    assert len(traces) == 1


def test_result_of_a_program_comes_in_the_variables_layout() -> None:
    made = variable(ROWS)
    x = sw.relayout(START, sw.Layout([None, "model"], MESH))
    step = sw.function(lambda: made.assign(x * 2.0))
    step()
    assert made.layout == ROWS.for_rank(2)
    assert isinstance(made.value, sw.DTensor)
    assert made.value.layout == made.layout
    assert [part.shape for part in sw.unpack(made)] == [(2, 8)] * 8


def test_variables_as_arguments_are_taken_by_identity() -> None:
    traces: list[int] = []

    @sw.function
    def bump(state: Any) -> Any:
        traces.append(1)
        return state["v"].assign_add(1.0)

    first, second = variable(), variable()
    bump({"v": first})
    bump({"v": first})
    assert np.array_equal(first.numpy(), START + 2)
    assert np.array_equal(second.numpy(), START)
    assert len(traces) == 1
    bump({"v": second})
    assert np.array_equal(second.numpy(), START + 1)
    assert len(traces) == 2


def test_functions_share_variables_and_nest() -> None:
    made = sw.Variable(1.0)
    double = sw.function(lambda: made.assign(made * 2.0))
    outer = sw.function(lambda: double() + double())
    assert float(outer()) == 2 + 4
    double()
    assert float(made) == 8.0


def test_what_is_only_read_is_no_result() -> None:
    made = variable()
    traced = sw.function(lambda: sw.sum(made)).trace()
    assert traced.interface.updated == ()
    assert [array is made for array in traced.interface.captured] == [True]
    assert "%Variable" in traced.as_text()


def test_small_plain_variables_join_any_mesh() -> None:
    count = sw.Variable(0)
    step = sw.function(lambda x: (count.assign_add(1), sw.sum(x))[1])
    step(sw.relayout(START, ROWS))
    step(START)
    assert isinstance(count.value, np.ndarray)
    assert int(count) == 2
    large = sw.Variable(np.zeros(10000))
    found = error(TypeError, lambda: sw.function(lambda x: sw.sum(x) + sw.sum(large))(sw.relayout(START, ROWS)))
    assert found.code == "SW0501"


def test_old_values_are_given_up() -> None:
    made = variable()
    step = sw.function(lambda: made.assign_add(1.0))
    old = weakref.ref(made.value.stacked)
    step()
    gc.collect()
    assert old() is None


def test_earlier_reads_stay_as_they_were() -> None:
    made = variable(None)
    before = made.value
    made.assign_add(1.0)
    assert np.array_equal(before, START)
    with pytest.raises(ValueError, match="read-only"):
        made.value[0] = 5
    source = START.copy()
    made.assign(source)
    source[:] = 0
    assert np.array_equal(made.numpy(), START)


def test_branches_assign() -> None:
    hits, misses = sw.Variable(0), variable()

    @sw.function
    def step(x: Any) -> Any:
        def hit() -> Any:
            return hits.assign_add(1) * 10

        def miss() -> Any:
            misses.assign(misses * 2.0)
            return hits

        return sw.cond(x > 0, hit, miss), hits, misses

    for x, count, factor, result in [(1.0, 1, 1, 10), (-1.0, 1, 2, 1), (2.0, 2, 2, 20), (-1.0, 2, 4, 2)]:
        found = step(x)
        assert [int(found[0]), int(found[1]), int(hits)] == [result, count, count]
        assert np.array_equal(found[2], START * factor)
        assert np.array_equal(misses.numpy(), START * factor)


def test_switch_assigns() -> None:
    made = sw.Variable(0)
    pick = sw.function(lambda i: sw.switch(i, [functools.partial(made.assign_add, n) for n in (1, 10, 100)]))
    for index in (0, 2, 1, 2):
        pick(index)
    assert int(made) == 211


@pytest.mark.parametrize("layout", LAYOUTS)
def test_loops_assign(layout: Any) -> None:
    made, rounds = variable(layout), sw.Variable(0)

    @sw.function
    def run(limit: Any, xs: Any) -> Any:
        def body(i: Any) -> Any:
            made.assign_add(1.0)
            sw.cond(i > 1, lambda: rounds.assign_add(10), lambda: rounds)
            return i + 1

        last = sw.while_loop(lambda i: sw.logical_and(i < limit, rounds < 25), body, 0)
        carry, sums = sw.scan(lambda c, x: (c * rounds.assign_add(1), sw.sum(made.assign(made * x))), np.int32(1), xs)
        return last, carry, sums

    last, carry, sums = run(10, np.array([2.0, 3.0]))
    # Rounds 2, 3 and 4 count ten each; the fifth round's condition ends the loop.
    assert int(last) == 5
    assert int(carry) == 31 * 32
    assert np.array_equal(sums, [((START + 5) * 2).sum(), ((START + 5) * 6).sum()])
    assert np.array_equal(made.numpy(), (START + 5) * 6)
    assert int(rounds) == 32


def test_assignments_where_only_values_are_computed() -> None:
    made = sw.Variable(0.0)

    def test(i: Any) -> Any:
        made.assign_add(1.0)
        return i < 3

    found = error(TypeError, lambda: sw.function(lambda: sw.while_loop(test, lambda i: i + 1, 0))())
    assert found.code == "SW0531"
    again = sw.checkpoint(lambda x: x + made.assign_add(1.0))
    assert error(TypeError, lambda: sw.function(again)(1.0)).code == "SW0531"
    assert float(made) == 0.0


def test_a_failed_trace_changes_nothing() -> None:
    made = sw.Variable(1.0)

    @sw.function
    def fails() -> Any:
        made.assign(2.0)
        raise KeyError("mine")

    with pytest.raises(KeyError):
        fails()
    assert float(made) == 1.0


def test_set_layout_traces_again() -> None:
    made = variable()
    step = sw.function(lambda: made.assign_add(1.0))
    step()
    made.set_layout(sw.Layout([None, "model"], MESH))
    step()
    assert np.array_equal(made.numpy(), START + 2)
    assert made.layout == sw.Layout([None, "model"], MESH)


@pytest.mark.parametrize(
    ("code", "kind", "value"),
    [
        ("SW0530", ValueError, np.zeros((8, 4))),
        ("SW0530", ValueError, 0.0),
        ("SW0530", ValueError, sw.relayout(START, sw.Layout(["model"], MESH))),
        ("SW0506", TypeError, np.zeros((8, 8), "float32")),
        ("SW0506", TypeError, np.zeros((8, 8), "complex128")),
        ("SW0507", TypeError, "text"),
    ],
)
def test_refused_values(code: str, kind: type[Exception], value: Any) -> None:
    made = variable()
    assert error(kind, lambda: made.assign(value)).code == code
    if not isinstance(value, str):
        assert error(kind, lambda: sw.function(lambda x: made.assign(x))(value)).code == code
    assert np.array_equal(made.numpy(), START)


def test_a_tensor_is_brought_into_the_layout_when_that_is_asked_for() -> None:
    other = sw.relayout(START * 2, sw.Layout(["model"], MESH))
    for made in (variable(), variable(None)):
        before = made.layout
        made.assign(other, relayout=True)
        assert np.array_equal(made.numpy(), START * 2)
        sw.function(lambda x, made=made: made.assign(x, relayout=True))(other + other)
        assert np.array_equal(made.numpy(), START * 4)
        assert made.layout == before
    plain = variable(None)
    plain.assign_add(other)
    assert isinstance(plain.value, np.ndarray)
    assert np.array_equal(plain.value, START * 3)


@pytest.mark.parametrize("name", ["assign_add", "assign_sub"])
def test_additions_refuse_other_layouts_only_when_that_is_asked_for(name: str) -> None:
    other, sign = sw.relayout(START * 2, sw.Layout(["model"], MESH)), 1 if name == "assign_add" else -1
    for made in (variable(), variable(None)):
        moved = getattr(made, name)
        for call in (moved, sw.function(moved, static=["relayout"])):
            found = error(ValueError, lambda call=call: call(other, relayout=False))
            assert found.code == "SW0530"
            assert "but was given a tensor laid out as" in found.message
        assert np.array_equal(made.numpy(), START)
        moved(other)
        moved(START, relayout=False)
        moved(1.0, relayout=False)
        assert np.array_equal(made.numpy(), START + sign * (START * 3 + 1))
    made = variable()
    getattr(made, name)(made, relayout=False)
    assert np.array_equal(made.numpy(), START + sign * START)


def test_lists_of_tensors_are_stacked() -> None:
    """Nothing is gathered: the variable has the layout of the stack, in and outside of traced functions."""
    rows = sw.relayout(START, sw.Layout(["batch"], MESH))
    made = sw.Variable([rows, rows + 1])
    assert made.layout == sw.Layout([None, "batch", None], MESH)
    assert np.array_equal(made.numpy(), [START, START + 1])
    made.assign([rows * 2, rows])
    assert np.array_equal(made.numpy(), [START * 2, START])
    sw.function(lambda x: made.assign_add([x, x * 3]))(rows)
    assert np.array_equal(made.numpy(), [START * 3, START * 4])


def test_refused_makings_and_uses() -> None:
    assert error(ValueError, lambda: sw.Variable(START, shape=(8, 4))).code == "SW0530"
    assert error(TypeError, lambda: sw.Variable(START, layout="batch")).code == "SW0515"  # pyright: ignore[reportArgumentType]
    assert error(TypeError, lambda: sw.function(lambda: sw.Variable(1.0))()).code == "SW0531"
    assert error(TypeError, lambda: sw.Variable(0).assign(1.5)).code == "SW0506"
    assert error(TypeError, lambda: sw.Variable(0, dtype="int8").assign(300)).code == "SW0506"
    made = sw.Variable(1.0)
    assert error(TypeError, lambda: sw.function(lambda: 1 if made > 0 else 2)()).code == "SW0503"
    assert error(TypeError, lambda: sw.function(lambda: float(made))()).code == "SW0503"
    assert error(TypeError, lambda: sw.function(lambda: np.asarray(made))()).code == "SW0503"


def test_gradients_with_respect_to_variables() -> None:
    w = sw.Variable(START / 64, layout=ROWS)
    value, gradient = sw.value_and_grad(lambda w: sw.sum(w * w))(w)
    assert float(value) == pytest.approx(((START / 64) ** 2).sum())
    assert np.allclose(gradient, START / 32)

    @sw.function
    def step() -> Any:
        loss, slope = sw.value_and_grad(lambda w: sw.sum(w * w))(w)
        w.assign_sub(0.1 * slope)
        return loss

    step()
    assert np.allclose(w.numpy(), START / 64 * 0.8)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_tapes_see_variables_that_functions_use(layout: Any) -> None:
    made, calls = variable(layout), sw.Variable(0)

    @sw.function
    def cubed(x: Any) -> Any:
        calls.assign_add(1)
        loss = sw.sum(made * made * made * x)
        made.assign(made * 0.5)
        return loss

    with sw.GradientTape() as tape:
        loss = cubed(2.0)
    assert np.allclose(tape.gradient(loss, made), 6 * START**2)
    # The call was traced again for the gradient, but what it assigns happened once.
    assert int(calls) == 1
    assert np.array_equal(made.numpy(), START * 0.5)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_tapes_see_variables_that_are_used_after_a_region(layout: Any) -> None:
    first, second = variable(layout), variable(layout)

    @sw.function
    def product(x: Any) -> Any:
        return sw.sum(sw.nn.relu(first * x) * second)  # relu has a gradient of its own, in a region

    with sw.GradientTape() as tape:
        loss = product(2.0)
    ours = tape.gradient(loss, [first, second])
    assert np.allclose(ours[0], np.where(START > 0, 2 * START, 0))
    assert np.allclose(ours[1], np.maximum(2 * START, 0))


def test_tapes_add_up_what_a_variable_held() -> None:
    made, other = variable(), sw.Variable(1.0)
    with sw.GradientTape(persistent=True) as tape:
        loss = sw.sum(made * made)
        made.assign(START + 1)
        loss = loss + sw.sum(made * made * made)
    assert np.allclose(tape.gradient(loss, made), 2 * START + 3 * (START + 1) ** 2)
    assert tape.gradient(loss, other) is None
    first, second = tape.gradient(loss, [made, other], unconnected_gradients="zero")
    assert np.allclose(first, 2 * START + 3 * (START + 1) ** 2)
    assert float(second) == 0.0


def test_tapes_in_functions_take_what_a_variable_held_when_they_began() -> None:
    made = variable()

    @sw.function
    def step() -> Any:
        made.assign(made + 1.0)
        with sw.GradientTape() as tape:
            loss = sw.sum(made * made)
            made.assign(made * 0.5)
        return tape.gradient(loss, made)

    assert np.allclose(step(), 2 * (START + 1))
    assert np.allclose(step(), 2 * ((START + 1) * 0.5 + 1))

    @sw.function
    def descent(rounds: Any) -> Any:
        def body(i: Any) -> Any:
            with sw.GradientTape() as tape:
                loss = sw.sum(made * made)
            made.assign_sub(0.1 * tape.gradient(loss, made))
            return i + 1

        return sw.while_loop(lambda i: i < rounds, body, 0)

    made.assign(START)
    descent(3)
    assert np.allclose(made.numpy(), START * 0.8**3)


def test_rows_are_counted_from_the_end_as_well() -> None:
    layout = sw.Layout(["x", None], sw.Mesh(x=2))
    start = np.arange(8.0).reshape(4, 2)
    places = np.array([-1, 0])
    v = sw.Variable(start, layout=layout)
    np.testing.assert_array_equal(np.asarray(v.gather(places)), start[[-1, 0]])
    traced = sw.function(lambda at: v.gather(at))(places)
    np.testing.assert_array_equal(np.asarray(traced), start[[-1, 0]])
    v.scatter_add(places, np.ones((2, 2)))
    expected = start.copy()
    expected[[-1, 0]] += 1
    np.testing.assert_array_equal(v.numpy(), expected)
    v.scatter_update(np.array([-2]), np.zeros((1, 2)))
    expected[-2] = 0
    np.testing.assert_array_equal(v.numpy(), expected)


@pytest.mark.parametrize(
    ("name", "operator", "instead"),
    [
        ("iadd", "+", "assign_add(value)"),
        ("isub", "-", "assign_sub(value)"),
        ("imul", "*", "assign(variable * value)"),
        ("itruediv", "/", "assign(variable / value)"),
        ("ifloordiv", "//", "assign(variable // value)"),
        ("imod", "%", "assign(variable % value)"),
        ("ipow", "**", "assign(variable ** value)"),
        ("imatmul", "@", "assign(variable @ value)"),
        ("iand", "&", "assign(variable & value)"),
        ("ior", "|", "assign(variable | value)"),
        ("ixor", "^", "assign(variable ^ value)"),
        ("ilshift", "<<", "assign(variable << value)"),
        ("irshift", ">>", "assign(variable >> value)"),
    ],
)
def test_operators_in_place_are_refused(name: str, operator: str, instead: str) -> None:
    v = sw.Variable([1, 2], name="total")
    change = getattr(python_operators, name)
    for run in (lambda: change(v, 1), sw.function(lambda: change(v, 1))):
        with pytest.raises(TypeError) as error:
            run()
        assert str(error.value).partition("error")[2].partition("\nframes")[0] == (
            f"[SW0589]: {operator}= does not change total, a Variable: it would give its name to a new tensor\n"
            f"  help: variable.{instead} changes it; tensor = variable {operator} value makes a tensor"
        )
    assert np.array_equal(v.value, [1, 2])


def test_what_a_variable_holds_takes_operators_in_place() -> None:
    v = sw.Variable(np.ones(2))
    held = v.value
    held += 1.0
    assert np.array_equal(held, [2, 2])
    assert np.array_equal(v.value, [1, 1])
