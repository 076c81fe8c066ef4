"""Control flow in traced functions, against the same written in Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import shardwright as sw
from shardwright.compiler.tracing.interface import is_traced
from shardwright.compiler.tracing.pytree import flatten

MESH = sw.Mesh(batch=4, model=2)


def power(x: Any, n: Any) -> Any:
    return sw.while_loop(lambda pair: pair[0] > 0, lambda pair: (pair[0] - 1, pair[1] * x), (n, x))[1]


def test_a_loop_whose_length_depends_on_the_data() -> None:
    x = np.arange(8.0).reshape(4, 2)
    split = sw.relayout(x, sw.Layout(["batch", "model"], MESH))
    assert np.array_equal(sw.function(power)(split, np.array(2)), x**3)
    assert np.array_equal(power(x, np.array(2)), x**3)


@pytest.mark.parametrize("reverse", [False, True])
def test_scan_of_a_distributed_tensor(reverse: bool) -> None:
    def run(xs: Any) -> Any:
        return sw.scan(lambda s, x: (s + x, {"sum": s + x, "row": x * 2}), np.zeros(3), xs, reverse=reverse)

    xs = np.arange(24.0).reshape(8, 3)
    order = xs[::-1] if reverse else xs
    sums = np.cumsum(order, 0)[::-1] if reverse else np.cumsum(order, 0)
    for given in (xs, sw.relayout(xs, sw.Layout([None], MESH)), sw.relayout(xs, sw.Layout(["batch"], MESH))):
        last, rows = sw.function(run)(given)
        assert np.array_equal(last, xs.sum(0))
        assert np.array_equal(rows["sum"], sums)
        assert np.array_equal(rows["row"], xs * 2)
    last, rows = run(xs)
    assert np.array_equal(rows["sum"], sums)


def test_scan_without_inputs_and_without_rounds() -> None:
    count = sw.function(lambda: sw.scan(lambda s, _: (s + 1, s), 0, length=4))
    last, seen = count()
    assert (int(last), list(seen)) == (4, [0, 1, 2, 3])
    last, seen = sw.function(lambda x: sw.scan(lambda s, y: (s + y, y), 0.0, x))(np.zeros(0))
    assert float(last) == 0
    assert seen.shape == (0,)


def test_branches_of_distributed_tensors() -> None:
    x = np.arange(8.0)
    split = sw.relayout(x, sw.Layout(["batch"], MESH))

    @sw.function
    def chosen(index: Any, x: Any) -> Any:
        return sw.switch(index, [lambda y: y, lambda y: y * 2, lambda y: sw.flip(y)], x)

    assert [np.asarray(chosen(np.array(i), split)).tolist() for i in (-3, 0, 1, 2, 9)] == [
        x.tolist(),
        x.tolist(),
        (x * 2).tolist(),
        x[::-1].tolist(),
        x[::-1].tolist(),
    ]


def test_gradients_through_control_flow() -> None:
    x = np.array([1.0, 2.0, 3.0])
    product = sw.grad(lambda x: sw.scan(lambda s, y: (s * y, s), 1.0, x)[0])
    assert np.allclose(product(x), [6.0, 3.0, 2.0])
    stacked = sw.grad(lambda x: sw.sum(sw.scan(lambda s, y: (s + y, s * y), 0.0, x)[1]))
    assert np.allclose(stacked(x), [5.0, 4.0, 3.0])  # x0 x1 + (x0 + x1) x2
    branch = sw.grad(lambda x: sw.cond(sw.sum(x) > 0, lambda: sw.sum(x * x), lambda: sw.sum(x)))
    assert np.allclose(branch(x), 2 * x)
    assert np.allclose(branch(-x), [1, 1, 1])


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda x: sw.cond(x, lambda: 1.0, lambda: 2.0), "the condition of cond has shape [2]"),
        (lambda x: sw.cond(sw.sum(x), lambda: 1.0, lambda: 2.0), "is f64, not a truth value"),
        (lambda x: sw.cond(sw.sum(x) > 0, lambda: x, lambda: (x, x)), "branch 1 returns another tree than branch 0"),
        (lambda x: sw.cond(sw.sum(x) > 0, lambda: x, lambda: x[:1]), "returns f64[1] where branch 0 has f64[2]"),
        (lambda x: sw.cond(sw.sum(x) > 9, lambda: 1, lambda: 2.5), "branch 1 returns f32[] where branch 0 has i32[]"),
        (lambda x: sw.cond(sw.sum(x) > 9, lambda: np.int8(1), lambda: 2.5), "returns f32[] where branch 0 has i8[]"),
        (lambda x: sw.switch(np.int32(1), [lambda: 1.0, lambda: 2j]), "returns c64[] where branch 0 has f32[]"),
        (lambda x: sw.cond(sw.sum(x) > 9, lambda: 1, lambda: x > 0), "returns i1[2] where branch 0 has i32[]"),
        (
            lambda x: sw.while_loop(lambda pair: pair[0] < 2, lambda pair: (pair[0] + 1, 2.5), (0, 1)),
            "the body of while_loop returns f32[] where its initial value has i32[]",
        ),
        (
            lambda x: sw.scan(lambda carry, row: (2.5, row), 1, sw.astype(x, "int32")),
            "the carry of scan returns f32[] where its initial value has i32[]",
        ),
        (lambda x: sw.switch(sw.sum(x), [lambda: 1.0]), "the index of switch is f64"),
        (lambda x: sw.switch(x, []), "at least one branch"),
        (lambda x: sw.while_loop(lambda y: sw.sum(y), lambda y: y, x), "the condition of while_loop is f64"),
        (lambda x: sw.while_loop(lambda y: sw.sum(y) > 0, lambda y: y[:1], x), "the body of while_loop returns f64[1]"),
        (lambda x: sw.scan(lambda s, y: s, 0.0, x), "must return a pair"),
        (lambda x: sw.scan(lambda s, y: (x, y), 0.0, x), "the carry of scan returns f64[2]"),
        (lambda x: sw.scan(lambda s, y: (s, y), 0.0, x, length=3), "different lengths: [2, 3]"),
        (lambda x: sw.scan(lambda s, y: (s, y), 0.0), "no length"),
        (lambda x: sw.scan(lambda s, y: (s, y), 0.0, sw.sum(x)), "a scalar has none"),
    ],
)
def test_what_does_not_fit(function: Any, words: str) -> None:
    with pytest.raises((TypeError, ValueError), match="SW0521") as error:
        sw.function(function)(np.ones(2))
    assert words in str(error.value)


def test_a_value_of_a_body_is_not_there_outside() -> None:
    kept: list[Any] = []

    @sw.function
    def leaks(x: Any) -> Any:
        sw.cond(sw.sum(x) > 0, lambda: kept.append(x * 2) or x, lambda: x)
        return kept[0] + 1

    with pytest.raises(TypeError, match="SW0513"):
        leaks(np.ones(2))


def test_what_a_scan_carries_stays_split() -> None:
    mesh = sw.Mesh(x=4, y=2)
    start, rows = np.arange(32.0).reshape(8, 4), np.sin(np.arange(160.0)).reshape(5, 8, 4)
    carry = sw.relayout(start, sw.Layout(["x", "y"], mesh))
    split = sw.relayout(rows, sw.Layout([None, "x", "y"], mesh))
    folded = sw.function(lambda c, xs: sw.scan(lambda s, x: (s * 0.5 + x, sw.sum(s, axis=1)), c, xs))
    stage = folded.trace(carry, split).partition()
    # What is stacked has each device's sums of two rows in each round, to be finished once behind the loop.
    assert "stablehlo.while(%3 = %c_0, %4 = %c, %5 = %1) : tensor<i32>, tensor<2x2xf64>, tensor<5x2xf64>" in (
        stage.as_text()
    )
    assert [row.kind for row in stage.predicted if row.bytes_per_device] == ["all_reduce"]
    assert stage.predicted_bytes == 5 * 2 * 8
    assert stage.predicted[-1].repetition.times == 1
    last, sums = folded(carry, split)
    assert last.layout == carry.layout
    expected, state = [], start
    for row in rows:
        expected.append(state.sum(1))
        state = state * 0.5 + row
    assert np.allclose(last, state)
    assert np.allclose(sums, expected)
    slope = sw.function(sw.grad(lambda c, xs: sw.sum(sw.scan(lambda s, x: (sw.sin(s) + x, None), c, xs)[0])))
    state, factor = start, np.ones_like(start)
    for row in rows:
        state, factor = np.sin(state) + row, factor * np.cos(state)
    found = slope(carry, split)
    assert found.layout == carry.layout
    assert np.allclose(found, factor)


def test_a_float_is_carried_over_whole_numbers() -> None:
    halves = sw.function(lambda: sw.scan(lambda total, step: (total + 0.5 * 2, step), 0.0, sw.arange(3)))
    total, steps = halves()
    assert (total.dtype, float(total), steps.tolist()) == (np.float32, 3.0, [0, 1, 2])
    both = sw.function(lambda x: sw.scan(lambda total, pair: (total + pair[1], pair[0]), 0.0, (sw.arange(3), x)))
    total, _ = both(np.array([0.25, 1.0, 2.0]))
    assert (total.dtype, float(total)) == (np.float64, 3.25)


def test_truth_values_are_carried_and_returned() -> None:
    def below(x: Any) -> Any:
        return sw.while_loop(lambda pair: pair[1], lambda pair: (pair[0] * 2, sw.sum(pair[0]) < 20), (x, True))

    def seen(x: Any) -> Any:
        return sw.scan(lambda any_, row: (sw.logical_or(any_, sw.sum(row) > 4), any_), False, x)

    def chosen(x: Any) -> Any:
        return sw.cond(sw.sum(x) > 100, lambda: {"found": True, "x": x}, lambda: {"x": -x, "found": False})

    x = np.arange(8.0).reshape(4, 2)  # its rows add up to 1, 5, 9 and 13
    for given in (x, sw.relayout(x, sw.Layout(["batch", "model"], MESH))):
        doubled, flag = sw.function(below)(given)
        assert np.array_equal(doubled, x * 2)
        assert not bool(flag)
        last, before = sw.function(seen)(given)
        assert bool(last)
        assert np.asarray(before).tolist() == [False, False, True, True]
        made = sw.function(chosen)(given)
        assert not bool(made["found"])
        assert np.array_equal(made["x"], -x)


def test_what_all_branches_say_steers_python() -> None:
    def run(x: Any) -> Any:
        value, negative = sw.cond(x > 0, lambda: (x, True), lambda: (x * 2, True))
        return -value if negative else value

    assert float(sw.function(run)(np.float32(-3))) == 6


@pytest.mark.parametrize("wrap", [lambda f: f, sw.function])
def test_truth_values_of_rounds_are_stacked(wrap: Any) -> None:
    x = np.arange(3.0)
    total, (flags, numbers) = wrap(lambda x: sw.scan(lambda s, row: (s + row, (True, 2)), 0.0, x))(x)
    assert (float(total), np.asarray(flags).tolist(), np.asarray(numbers).tolist()) == (3.0, [True] * 3, [2] * 3)


@pytest.mark.parametrize("spec", [None, [], [None, "model"]])
def test_a_scan_without_rounds_gives_empty_stacks(spec: Any) -> None:
    nothing = np.ones((0, 2))
    given = nothing if spec is None else sw.relayout(nothing, sw.Layout(spec, MESH))
    carry, (rows, sums) = sw.scan(lambda s, row: (s + row, (row, sw.sum(s))), np.full(2, 3.0), given)
    assert np.array_equal(carry, [3, 3])
    assert (rows.shape, sums.shape, sums.dtype) == ((0, 2), (0,), np.float64)
    wide, _ = sw.scan(lambda s, row: (s, row), np.ones(20_000), nothing)  # too large to be a constant
    assert wide.shape == (20_000,)


def rounds(a: Any, n: Any) -> Any:
    return sw.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, s[1] * s[2], s[2]), (0, a, n))[1:]


def compared(a: Any, n: Any) -> Any:
    return sw.while_loop(lambda s: sw.all(sw.abs(s[1] * a) < 1), lambda s: (s[0] + 1, s[1] * 2), (0, n))[1]


def grown(a: Any, n: Any) -> Any:
    return sw.while_loop(lambda s: s[0] < 2, lambda s: (s[0] + 1, s[1] + sw.sum(a)), (0, n))[1]


def beside(a: Any, n: Any) -> Any:
    return sw.scan(lambda s, _: ((s[0] * s[1], s[1]), s[0]), (a, n), np.arange(2, dtype="int32"))


def enclosed(a: Any, n: Any) -> Any:
    return sw.scan(lambda s, _: (s / 2, a * s), n, None, length=2)


def handed_on(a: Any, n: Any) -> Any:
    """The first number meets the array, and the second one the first."""
    return sw.scan(lambda s, _: ((s[0], s[1] + s[0]), a * s[0]), (n, n), None, length=2)


LOOPS = [
    (rounds, lambda a, n: (a * n * n * n, n)),
    (compared, lambda a, n: n * (4 if n == 0.1 else 2)),
    (grown, lambda a, n: n + 2 * np.sum(a)),
    (beside, lambda a, n: ((a * n * n, n), np.stack([a, a * n]))),
    (enclosed, lambda a, n: (n / 4, np.stack([a * n, a * n / 2]))),
    (handed_on, lambda a, n: ((n, n + n + n), np.stack([a * n, a * n]))),
]


@pytest.mark.parametrize("number", [0.1, 0.1 + 0.3j])
@pytest.mark.parametrize(("program", "expected"), LOOPS)
def test_numbers_in_loops_have_the_digits_of_what_they_meet(program: Any, expected: Any, number: Any) -> None:
    a = np.arange(1.0, 4).astype(type(number))
    constant, argument = sw.function(lambda a: program(a, number)), sw.function(program)
    for found in (constant(a), argument(a, number)):
        flat, due = flatten(found, is_traced)[0], flatten(expected(a, number), is_traced)[0]
        for one, other in zip(flat, due, strict=True):
            assert one.dtype == a.dtype
            np.testing.assert_allclose(one, other, rtol=1e-15)


def test_numbers_in_loops_stay_single_where_they_meet_nothing_else() -> None:
    single = np.ones(2, "float32")
    assert [each.dtype for each in sw.function(rounds)(single, 0.5)] == ["float32", "float32"]
    last, _ = sw.function(lambda: sw.scan(lambda s, _: (s / 2, s), 1.0, None, length=2))()
    assert (last.dtype, last) == ("float32", 0.25)


def test_numbers_in_loops_stay_single_where_others_could_not_keep_their_types() -> None:
    wide, single = np.ones(2), np.ones(2, "float32")

    def body(s: Any, _: Any) -> Any:
        return (s[0] * s[1], s[1]), wide * s[1]

    (found, number), made = sw.function(lambda: sw.scan(body, (single, 0.1), None, length=2))()
    assert (found.dtype, number.dtype, made.dtype) == ("float32", "float32", "float64")
    np.testing.assert_allclose(found, single * np.float32(0.1) * np.float32(0.1))


def test_a_number_that_a_loop_begins_anew_takes_the_type_that_it_has() -> None:
    last, _ = sw.function(lambda x: sw.scan(lambda s, row: (0.5, row * 2), 0.25, x))(np.ones(2, "int32"))
    assert (last.dtype, last) == ("float32", 0.5)
