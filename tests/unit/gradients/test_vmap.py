"""`vmap`: what it gives is what its function gives row by row, for every op, on every kind of argument."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import IntegerAttr, TensorType
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, prop_def, result_def

import shardwright as sw
from shardwright.compiler.tracing import emit
from shardwright.rules.table import ROWS as ROWS_OF_OPS

from .instances import INSTANCES, Instance

MESH = sw.Mesh(x=3, y=2)
OTHER = sw.Mesh([("z", 2)], devices=["CPU:8", "CPU:9"])
ROWS = 3


def several(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Rows of their own, in the range of the array's elements."""
    flat = array.reshape(-1)
    return np.stack([np.roll(flat, place).reshape(array.shape) for place in range(ROWS)])


def leaves(made: Any) -> list[np.ndarray[Any, Any]]:
    """Results as a list of arrays."""
    return [np.asarray(part) for part in made] if isinstance(made, list | tuple) else [np.asarray(made)]


def row_by_row(function: Callable[..., Any], arrays: Sequence[Any], mapped: Sequence[bool]) -> list[Any]:
    """What the function gives for each row, stacked."""
    traced = sw.function(function)
    rows = [
        leaves(traced(*[array[place] if varies else array for array, varies in zip(arrays, mapped, strict=True)]))
        for place in range(ROWS)
    ]
    return [np.stack(column) for column in zip(*rows, strict=True)]


def choices(count: int) -> list[tuple[bool, ...]]:
    """Which arguments have rows: all of them, or each alone."""
    alone = [tuple(place == chosen for place in range(count)) for chosen in range(count)]
    return list(dict.fromkeys([(True,) * count, *alone]))


MATRICES = {"stablehlo.cholesky", "stablehlo.triangular_solve"}
"""Ops that take no array of other elements: their rows are multiples."""


def rows_of(instance: Instance, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The argument of an instance, for each row."""
    if instance.op in MATRICES:
        return np.stack([array * (place + 1) for place in range(ROWS)])
    return several(array)


@pytest.mark.every(2)
@pytest.mark.parametrize("instance", INSTANCES, ids=lambda instance: instance.name)
def test_each_op_for_all_rows_is_the_op_for_each(instance: Instance) -> None:
    for mapped in choices(len(instance.arguments)):
        pairs = list(zip(instance.arguments, mapped, strict=True))
        arrays = [rows_of(instance, each) if varies else each for each, varies in pairs]
        over = sw.vmap(instance.build, tuple(0 if varies else None for varies in mapped))
        if instance.name == "stablehlo.reduce from an argument" and mapped[1]:
            with pytest.raises(TypeError, match=r"SW0526.*a scalar that it needs whole differs from row to row"):
                over(*arrays)
            continue
        for found, expected in zip(leaves(over(*arrays)), row_by_row(instance.build, arrays, mapped), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


RANDOM = np.random.default_rng(3)
X, Y, W = (RANDOM.standard_normal(shape) for shape in ((6, 4), (6, 4), (4, 3)))
CHOSEN = np.array([0, 3, 2, 2, 1, 0])


def summed(total: Any, x: Any) -> Any:
    """One step of a scan."""
    return total * 0.5 + x, total * x


def picked(x: Any, place: Any) -> Any:
    """Another function for each place."""
    return sw.switch(place, [lambda: x, lambda: -x, lambda: sw.sin(x), lambda: x * 0 + 7])


FUNCTIONS: dict[str, tuple[Callable[..., Any], tuple[np.ndarray[Any, Any], ...]]] = {
    "a layer": (lambda x, w: sw.tanh(x @ w), (X, np.stack([W] * 6))),
    "indexing": (lambda x, place: x[place], (X, CHOSEN)),
    "taking": (lambda x, place: sw.take(x, place), (X, np.stack([CHOSEN] * 6))),
    "updates": (lambda x, place: x.at[place].multiply(5), (X, CHOSEN)),
    "slices": (lambda x, place: sw.roll(x, 1)[1:] * sw.sum(x[place]), (X, CHOSEN)),
    "sorting": (lambda x, y: (sw.sort(x), sw.argsort(y), sw.top_k(x * y, 2)[0]), (X, Y)),
    "a choice": (lambda x, y: sw.cond(sw.sum(x) > 0, lambda: x * y, lambda: -y), (X, Y)),
    "a choice of several": (picked, (X, CHOSEN)),
    "a loop of each": (lambda x: sw.while_loop(lambda y: sw.sum(y) < 20, lambda y: y * 2 + 1, x), (X,)),
    "a scan": (lambda x: sw.scan(summed, 0.0, x), (X,)),
    "a scan backwards": (lambda x, y: sw.scan(summed, sw.sum(y), x, reverse=True), (X, Y)),
    "softmax": (lambda x: sw.nn.softmax(x), (X,)),
    "attention": (
        lambda q, k: sw.nn.scaled_dot_product_attention(*[x[None, :, None, :] for x in (q, k, q)]),
        (X[:, None] * Y, Y[:, None] * X),
    ),
    "matrices": (lambda x: sw.linalg.inv(x[:, None] * x + 3 * sw.eye(4, dtype="float64")), (X,)),
    "random bits": (lambda seed: sw.random.stateless_random_uniform((3,), seed=seed), (np.arange(12).reshape(6, 2),)),
    "a gradient": (lambda x, w: sw.grad(lambda w: sw.sum(sw.tanh(x @ w)))(w), (X, np.stack([W] * 6))),
    "second derivatives": (lambda x: sw.jacobian(sw.grad(lambda x: sw.sum(x**3 * x[0])))(x), (X,)),
    "a derivative forwards": (lambda x, y: sw.jvp(lambda x: sw.sin(x) * x, (x,), (y,)), (X, Y)),
    "a checkpoint": (sw.grad(lambda x: sw.sum(sw.checkpoint(lambda x: sw.exp(sw.sin(x)))(x))), (X,)),
    "a gradient of one's own": (
        sw.grad(lambda x: sw.sum(sw.custom_gradient(lambda x: (x * x, lambda dy: dy * sw.cos(x)))(x))),
        (X,),
    ),
    "what is the same for all": (lambda x: (sw.ones(2), x), (X,)),
}


def expected_of(function: Callable[..., Any], arrays: Sequence[np.ndarray[Any, Any]], shared: Sequence[int]) -> Any:
    """Row by row; the arguments in `shared` are the first row for all."""
    traced = sw.function(function)
    rows: list[list[np.ndarray[Any, Any]]] = []
    for place in range(len(arrays[0])):
        made: Any = traced(*[array[0 if number in shared else place] for number, array in enumerate(arrays)])
        rows.append(flat(made))
    return [np.stack(column) for column in zip(*rows, strict=True)]


def flat(made: Any) -> list[np.ndarray[Any, Any]]:
    """The arrays in nested tuples."""
    return [leaf for part in made for leaf in flat(part)] if isinstance(made, list | tuple) else [np.asarray(made)]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_for_all_rows_are_those_of_each(name: str) -> None:
    function, arrays = FUNCTIONS[name]
    spread = [sw.relayout(array, sw.Layout(["x"], MESH)) for array in arrays]
    for shared in [(), *((number,) for number in range(len(arrays)) if len(arrays) > 1)]:
        given = [array[0] if number in shared else array for number, array in enumerate(arrays)]
        split = [array[0] if number in shared else spread[number] for number, array in enumerate(arrays)]
        axes = tuple(None if number in shared else 0 for number in range(len(arrays)))
        expected = expected_of(function, arrays, shared)
        for arguments in (given, split):
            found = flat(sw.vmap(function, axes)(*arguments))
            for one, other in zip(found, expected, strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(("where", "back"), list(product((0, 1, -1), (0, 1, -1))))
def test_rows_lie_where_it_is_said(where: int, back: int) -> None:
    x = np.moveaxis(RANDOM.standard_normal((5, 2, 3)), 0, where)
    found = sw.vmap(lambda x: x * 2, where, back)(x)
    assert np.array_equal(found, np.moveaxis(np.moveaxis(x, where, 0) * 2, 0, back))


def test_trees_names_and_what_all_rows_share() -> None:
    tree = {"w": X, "b": [np.float64(2), Y.T]}

    def scored(p: Any, *, scale: Any) -> Any:
        return {"sum": sw.sum(p["w"] * p["b"][1]) * scale + p["b"][0], "shared": p["b"][0]}

    found = sw.vmap(scored, ({"w": 0, "b": [None, 1]},), {"sum": 0, "shared": None})(tree, scale=CHOSEN * 1.0)
    assert np.allclose(found["sum"], (X * Y).sum(1) * CHOSEN + 2)
    assert found["shared"].shape == ()
    assert sw.vmap(lambda: sw.ones(2), axis_size=3)().shape == (3, 2)
    assert np.allclose(sw.vmap(lambda x, c: x * c, (0, None))(X, 3), X * 3)  # a number is no array


def test_maps_nest_and_are_differentiated() -> None:
    outer = sw.vmap(sw.vmap(lambda x, y: sw.sum(x * y), (None, 0)), (0, None))
    assert np.allclose(outer(X, Y), X @ Y.T)
    loss = sw.grad(lambda w: sw.sum(sw.vmap(lambda x: sw.sum(x @ w) ** 2)(X)))
    assert np.allclose(loss(W), 2 * X.T @ (X @ W).sum(1, keepdims=True) * np.ones(3))
    inner = sw.vmap(sw.grad(lambda w, x: sw.sum(x @ w) ** 2), (None, 0))
    assert np.allclose(inner(W, X), 2 * (X @ W).sum(1)[:, None, None] * X[:, :, None] * np.ones(3))


def test_a_tape_in_the_function_gives_each_row_its_gradient() -> None:
    weights = sw.Variable(W)

    def slopes(x: Any) -> Any:
        with sw.GradientTape() as tape:
            value = sw.sum(x @ weights) ** 2
        return tape.gradient(value, weights)

    found = sw.vmap(slopes)(X)
    assert np.allclose(found, 2 * (X @ W).sum(1)[:, None, None] * X[:, :, None] * np.ones(3))


@pytest.mark.parametrize("nested", [False, True])
def test_what_a_tape_watches_has_a_gradient_for_each_row(nested: bool) -> None:
    weights = sw.Variable(W)

    def slopes(x: Any) -> Any:
        shared = weights * 2  # the same for all rows, computed inside
        with sw.GradientTape() as tape:
            tape.watch(shared)
            value = sw.sum(x @ shared) ** 2
        return tape.gradient(value, shared)

    expected = 2 * (X @ (2 * W)).sum(1)[:, None, None] * X[:, :, None] * np.ones(3)
    if nested:
        found = sw.vmap(sw.vmap(slopes))(X.reshape(2, 3, 4))
        assert np.allclose(found, expected.reshape(2, 3, 4, 3))
    else:
        assert np.allclose(sw.vmap(slopes)(X), expected)


def test_what_a_loop_carries_for_a_tape_differs_from_row_to_row() -> None:
    def through(x: Any) -> Any:
        def step(carry: Any, _: Any) -> Any:
            with sw.GradientTape() as tape:
                tape.watch(carry)
                value = carry * carry * sw.sum(x)
            return carry + 1, tape.gradient(value, carry)

        return sw.scan(step, 1.0, x * 0)[1]

    assert np.allclose(sw.vmap(through)(X), 2 * X.sum(1)[:, None] * np.arange(1, 5))


@pytest.mark.parametrize("count", [0, 1])
def test_one_row_and_none(count: int) -> None:
    function = sw.vmap(lambda x, w: (sw.nn.softmax(x @ w), sw.sort(x), sw.sum(x[1:])), (0, None))
    softmax, ordered, total = function(X[:count], W)
    assert (softmax.shape, ordered.shape, total.shape) == ((count, 3), (count, 4), (count,))
    assert np.allclose(ordered, np.sort(X[:count]))
    assert np.allclose(total, X[:count, 1:].sum(1))


def test_the_rows_are_split_and_nothing_is_sent() -> None:
    x = sw.relayout(X, sw.Layout(["x"], MESH))
    function = sw.vmap(lambda x, w: sw.nn.softmax(x @ w), (0, None))
    stage = function.trace(x, W).partition()
    assert stage.predicted_bytes == 0
    assert function(x, W).layout == sw.Layout(["x", None], MESH)
    text = function.trace(x, W).as_text()
    assert "stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]" in text  # the weights are not repeated
    assert text.count("broadcast_in_dim") < 6


@pytest.mark.parametrize("lay_out", [sw.relayout, sw.constraint])
def test_layouts_of_one_row_leave_the_rows_open(lay_out: Callable[..., Any]) -> None:
    def loss(x: Any, w: Any) -> Any:
        return sw.sum(lay_out(sw.tanh(x @ w), sw.Layout(["y"], MESH)) ** 2)

    rows, w = sw.relayout(X, sw.Layout(["x"], MESH)), np.concatenate([W, W], axis=1)
    each = sw.vmap(lambda x, w: lay_out(sw.tanh(x @ w), sw.Layout(["y"], MESH)), (0, None))
    assert each(rows, w).layout == sw.Layout(["x", "y"], MESH)
    assert each.trace(rows, w).partition().predicted_bytes == 0
    y = np.tanh(X @ w)
    assert np.allclose(each(rows, w), y)
    assert np.allclose(sw.vmap(sw.grad(loss), (0, None))(rows, w), (2 * y * (1 - y**2)) @ w.T)
    pairs = sw.vmap(sw.vmap(lambda a, b: lay_out(a * b, sw.Layout(["y"], MESH)), (None, 0)), (0, None))
    assert np.allclose(pairs(rows, X), X[:, None] * X)


def test_rows_lie_as_those_of_another_value() -> None:
    """Also where all rows share one of the two, which then differs by where it lies; what both share stays one."""
    x, shared = sw.relayout(X, sw.Layout(["x", "y"], MESH)), W[:4, 0]
    like = sw.vmap(lambda x, w: sw.relayout_like(w * 2, sw.tanh(x)), (0, None))
    assert like(x, shared).layout == x.layout
    assert np.allclose(like(x, shared), np.broadcast_to(shared * 2, X.shape))
    both = sw.vmap(lambda x: x * sw.relayout_like(sw.sort(x), sw.tanh(x)))
    assert np.allclose(both(x), X * np.sort(X))
    one = sw.vmap(lambda x, w: (x, sw.relayout_like(w * 2, sw.exp(w))), (0, None), out_axes=(0, None))
    assert np.allclose(one(x, shared)[1], shared * 2)


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (
            lambda: sw.vmap(lambda x, y: x + y)(X, W),
            ValueError,
            "vmap: the mapped dims have different sizes: [4, 6]",
        ),
        (lambda: sw.vmap(lambda x: x, 2)(X), ValueError, "vmap: in_axes names dim 2 of an argument of shape [6, 4]"),
        (lambda: sw.vmap(lambda x: x, (0, 0))(X), ValueError, "vmap: in_axes is (0, 0), which is not in the tree"),
        (
            lambda: sw.vmap(lambda x: x, [{"a": 0}])(X),
            ValueError,
            "vmap: in_axes is {'a': 0}, which is not in the tree",
        ),
        (lambda: sw.vmap(lambda x: x, None)(X), ValueError, "vmap: no argument is mapped"),
        (
            lambda: sw.vmap(lambda x: x, out_axes=None)(X),
            ValueError,
            "vmap: out_axes is None for a result that differs from row to row",
        ),
        (lambda: sw.vmap(lambda x: x, out_axes=3)(X), ValueError, "vmap: out_axes names dim 3 of a result of 2 dims"),
        (
            lambda: sw.vmap(lambda x: sw.relayout(x, sw.Layout(["z"], OTHER)))(sw.relayout(X, sw.Layout(["x"], MESH))),
            TypeError,
            "vmap cannot write dtensor.relayout for all rows: it says where a row lies, and nothing about where all of",
        ),
    ],
)
def test_what_does_not_fit_is_refused(call: Callable[[], Any], kind: type[Exception], message: str) -> None:
    with pytest.raises(kind) as caught:
        call()
    text = str(caught.value)
    assert "error[SW0526]: " + message in text
    assert f"{__file__}:" in text


@irdl_op_definition
class _RampOp(IRDLOperation):
    """Multiplies the elements along a dim by 0, 1, 2 ...: a pointwise row, and an attribute about a dim."""

    name = "test.ramp"
    operand = operand_def(TensorType)
    dim = prop_def(IntegerAttr)
    result = result_def(TensorType)


def test_an_attribute_of_which_nothing_is_known_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The row alone would let it pass, and the dim would be another one."""
    monkeypatch.setitem(ROWS_OF_OPS, "test.ramp", ROWS_OF_OPS["stablehlo.negate"])

    def ramp(x: Any) -> Any:
        value = emit.as_tracer(x).value
        op = _RampOp.create(operands=[value], properties={"dim": IntegerAttr(0, 64)}, result_types=[value.type])
        return emit.trace_now().emit(op)

    with pytest.raises(TypeError, match=r"SW0526.*nothing says whether its attribute dim speaks of dims"):
        sw.vmap(ramp)(X)


def test_a_variable_keeps_what_it_has() -> None:
    count = sw.Variable(0.0)
    with pytest.raises(TypeError, match="SW0531"):
        sw.vmap(lambda x: count.assign_add(sw.sum(x)))(X.astype("float32"))
