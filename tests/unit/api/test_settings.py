"""Arguments that are no arrays are of the kinds that annotations say, in every function, or refused by name."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import shardwright

sw: Any = shardwright
"""Checkers find most of these mistakes as well."""

X = np.arange(16.0, dtype="float32").reshape(4, 4)
IMAGE, FILTERS = np.ones((1, 8, 8, 2), "float32"), np.ones((2, 2, 2, 2), "float32")
MESH = sw.Mesh(x=2)
D = sw.relayout(X, sw.Layout(["x"], MESH))
TRACED = sw.function(sw.sin).trace(D)


def taken(carry: Any, row: Any) -> Any:
    return carry, row


def triangle(x: Any) -> Any:
    return sw.tril(x, k=None)


@pytest.mark.parametrize(
    ("call", "told", "help"),
    [
        (lambda: sw.eye([2]), "eye: n_rows cannot be [2]", "it is a whole number"),
        (lambda: sw.arange([1]), "arange: start cannot be [1]", "it is a number"),
        (lambda: sw.fft.fft(X, n=2.5), "fft: n cannot be 2.5", "it is a whole number or None"),
        (lambda: sw.fft.fft(X, norm=["ortho"]), "fft: norm cannot be ['ortho']", "'backward', 'ortho' or 'forward'"),
        (lambda: sw.permute_dims(X, 1), "permute_dims: axes cannot be 1", "it is a list of whole numbers"),
        (lambda: sw.sum(X, axis=1.0), "sum: axis cannot be 1.0", "a whole number, a list of whole numbers or None"),
        (lambda: sw.sum(X, axis=True), "sum: axis cannot be True", "a whole number, a list of whole numbers or None"),
        (lambda: sw.sum(X, keepdims="no"), "sum: keepdims cannot be 'no'", "it is True or False"),
        (lambda: sw.zeros(2, name=5), "zeros: name cannot be 5", "it is a text or None"),
        (lambda: sw.zeros(2**70), "zeros: shape cannot be 11805916207174", "it is a whole number or a list"),
        (lambda: sw.nn.elu(X, "a"), "elu: alpha cannot be 'a'", "it is a number"),
        (lambda: sw.nn.conv2d(IMAGE, FILTERS, padding=[1, 1]), "padding cannot be [1, 1]", "a list of lists of whole"),
        (lambda: sw.tensordot(X, X, axes=0.5), "tensordot: axes cannot be 0.5", "(a whole number or a list of whole"),
        (lambda: sw.random.uniform(2, name=2), "uniform: name cannot be 2", "it is a text or None"),
        (lambda: sw.from_dlpack(X, copy="no"), "from_dlpack: copy cannot be 'no'", "it is True or False or None"),
        (lambda: sw.grad(2), "grad: function cannot be 2", "it is a function"),
        (lambda: sw.vmap(sw.sum, axis_size=2.0), "vmap: axis_size cannot be 2.0", "it is a whole number or None"),
        (lambda: sw.jacobian(sw.square, "x"), "jacobian: argnum cannot be 'x'", "it is a whole number"),
        (lambda: sw.scan(taken, 0.0, X, reverse=2), "scan: reverse cannot be 2", "it is True or False"),
        (lambda: sw.switch(0, [1], X), "switch: branches cannot be [1]", "it is a list of functions"),
        (lambda: sw.Variable(1.0, name=5), "Variable: name cannot be 5", "it is a text or None"),
        (lambda: sw.Variable(1.0, trainable="yes"), "Variable: trainable cannot be 'yes'", "it is True or False"),
        (lambda: sw.name_scope(5), "name_scope: name cannot be 5", "it is a text"),
        (
            lambda: sw.optimizers.SGD(0.1).apply_gradients(5),
            "apply_gradients: grads_and_vars cannot be 5",
            "it is a list",
        ),
        (lambda: sw.optimizers.global_norm(5), "global_norm: tensors cannot be 5", "it is a list"),
        (lambda: sw.function(triangle, static=5), "function: static cannot be 5", "a text or a list of texts"),
        (lambda: sw.function(static=5)(triangle), "function: static cannot be 5", "a text or a list of texts"),
        (lambda: sw.function(triangle, input_signature=5), "input_signature cannot be 5", "a list or None"),
        (lambda: sw.checkpoint(5), "checkpoint: function cannot be 5", "it is a function"),
        (lambda: sw.jvp(sw.sum, 5, (X,)), "jvp: primals cannot be 5", "it is a list"),
        (lambda: sw.TensorSpec(5), "TensorSpec: shape cannot be 5", "a list of whole numbers or None"),
        (lambda: sw.load_mlir(5), "load_mlir: path cannot be 5", "a text or a path"),
        (lambda: sw.from_saved_model(None), "from_saved_model: path cannot be None", "a text or a path"),
        (lambda: TRACED.lay_out("x"), "lay_out: mesh cannot be 'x'", "a Mesh or None"),
        (lambda: TRACED.lay_out(topology=5), "lay_out: topology cannot be 5", "a Topology or None"),
        (lambda: TRACED.partition().price(MESH), "price: topology cannot be Mesh", "a Topology or None"),
        (lambda: sw.distribute.DTensorStrategy(5), "DTensorStrategy: default_mesh cannot be 5", "a Mesh"),
        (lambda: sw.distribute.DTensorStrategy(MESH).run(5), "run: fn cannot be 5", "a function"),
        (lambda: sw.distribute.Pipeline([sw.sin], sw.sum, [], "1"), "microbatches cannot be '1'", "a whole number"),
        (lambda: sw.function(triangle)(D), "tril: k cannot be None", "it is a whole number"),
    ],
)
def test_other_kinds_are_named(call: Any, told: str, help: str) -> None:
    with pytest.raises(TypeError, match="SW0510") as error:
        call()
    assert told in str(error.value)
    assert help in str(error.value)
    assert __file__ in str(error.value)


def test_signatures_are_made_of_specs() -> None:
    with pytest.raises(TypeError, match=r"SW0533\]: 5 in a signature is no TensorSpec"):
        sw.function(triangle, input_signature=[5])


@pytest.mark.parametrize("made", [X, (X,), (X, X), (sw.sin, X), None])
def test_a_function_with_its_gradient_gives_a_pair(made: Any) -> None:
    with pytest.raises(TypeError, match=r"SW0520.*returns no pair of its value and of a function"):
        sw.custom_gradient(lambda: made)()


@pytest.mark.parametrize("number", [1, np.int64(1), np.array(1), np.uint8(1)])
def test_whole_numbers_of_any_type(number: Any) -> None:
    np.testing.assert_array_equal(sw.sum(D, axis=number), X.sum(1))
    np.testing.assert_array_equal(sw.vmap(sw.sum, in_axes=number)(D), X.sum(0))
    np.testing.assert_array_equal(sw.tensordot(D, X, axes=number), X @ X)


@pytest.mark.parametrize("dims", [(1, 0), [1, 0], np.array([1, 0]), range(1, -1, -1), iter((1, 0))])
def test_whole_numbers_in_anything_that_has_them(dims: Any) -> None:
    np.testing.assert_array_equal(sw.permute_dims(X, dims), X.T)


def test_pairs_of_dims_are_numbers_too() -> None:
    np.testing.assert_array_equal(sw.tensordot(D, X, axes=(0, 1)), np.tensordot(X, X, axes=(0, 1)))
    for axes in (-1, ([0, 0], [1, 1]), ([0], [0, 1])):
        with pytest.raises(ValueError, match="SW0510"):
            sw.tensordot(X, X, axes=axes)


@pytest.mark.parametrize(
    ("code", "error", "call"),
    [
        ("SW0504", ValueError, lambda: sw.repeat(X, [1, 2], axis=0)),
        ("SW0510", TypeError, lambda: sw.repeat(X, 1.5)),
        ("SW0510", ValueError, lambda: sw.repeat(X, [1, -1, 1, 1], axis=0)),
        ("SW0507", TypeError, lambda: sw.stack(5)),
        ("SW0109", TypeError, lambda: sw.Layout.replicated(MESH, rank=2.5)),
        ("SW0109", TypeError, lambda: sw.Layout.batch_sharded(MESH, "x", rank="2")),
        ("SW0109", TypeError, lambda: sw.Layout.from_string(5, MESH)),
        ("SW0109", TypeError, lambda: sw.Layout.auto("x")),
        ("SW0109", TypeError, lambda: sw.Layout(["x"], MESH).local_shape(4)),
        ("SW0109", TypeError, lambda: sw.Layout(["x"], MESH).local_shape((4.0,))),
        ("SW0102", ValueError, lambda: MESH.dim_size(2)),
        ("SW0101", ValueError, lambda: MESH.submesh(x="a")),
        ("SW0116", ValueError, lambda: sw.Mesh(x=2, devices=5)),
        ("SW0553", TypeError, lambda: sw.LayoutMap(5)),
        ("SW0532", TypeError, lambda: sw.optimizers.SGD(0.1).build([X])),
        ("SW0504", TypeError, lambda: sw.metrics.Mean().update_state(X, X)),
        ("SW0504", TypeError, lambda: sw.metrics.Accuracy().update_state(X)),
        ("SW0514", TypeError, lambda: D[1.5:]),
        ("SW0514", TypeError, lambda: D[:, ::0]),
        ("SW0521", TypeError, lambda: sw.cond([True, False], sw.sin, sw.cos, X)),
        ("SW0521", TypeError, lambda: sw.switch(1.5, [sw.sin, sw.cos], X)),
        ("SW0521", TypeError, lambda: sw.while_loop(sw.sin, sw.cos, X)),
        ("SW0521", TypeError, lambda: sw.scan(sw.add, np.zeros(4, "float32"), X)),
        ("SW0510", ValueError, lambda: sw.arange(float("inf"))),
        ("SW0506", ValueError, lambda: sw.relayout(2**31, sw.Layout([], MESH))),
        ("SW0506", TypeError, lambda: sw.finfo("int32")),
        ("SW0506", TypeError, lambda: sw.iinfo("float32")),
        ("SW0506", TypeError, lambda: sw.random.uniform(2, 1j)),
        ("SW0541", ValueError, lambda: sw.nn.conv2d_transpose(IMAGE, FILTERS, (8,))),
        ("SW0541", ValueError, lambda: sw.nn.conv2d_transpose(IMAGE, FILTERS, padding=[])),
        ("SW0506", BufferError, lambda: sw.from_dlpack(np.array(["a"]))),
        ("SW0507", TypeError, lambda: sw.from_dlpack(np.ma.masked_array([1.0, 2.0], [False, True]))),
    ],
)
def test_values_that_do_not_fit(code: str, error: type[Exception], call: Any) -> None:
    with pytest.raises(error, match=code):
        call()


@pytest.mark.parametrize("bounds", [(0, 5, 1 << 70), (5, 0, -2), (9, -9, -(1 << 40))])
def test_steps_of_any_size(bounds: Any) -> None:
    assert sw.arange(*bounds).tolist() == list(range(*bounds))


@pytest.mark.parametrize("bounds", [(0, 1 << 40, 1 << 36), (0, (1 << 31) + 1), (5, -(1 << 33), -(1 << 32))])
def test_numbers_beyond_the_type_are_no_range(bounds: Any) -> None:
    with pytest.raises(ValueError, match=r"SW0506\]: -?\d+ does not fit i32"):
        sw.arange(*bounds)
    if len(bounds) == 3:
        assert sw.arange(*bounds, dtype="int64").tolist() == list(range(*bounds))


def test_differences_end_where_nothing_is_left() -> None:
    assert sw.diff(X, n=1 << 40).shape == (4, 0)


@pytest.mark.parametrize(
    ("stage", "name", "help"),
    [
        (TRACED, "explain", r"write \.partition\(\)\.explain"),
        (TRACED, "ledger", r"write \.compile\(\)\.ledger"),
        (TRACED.propagate(), "price", r"write \.partition\(\)\.price"),
        (TRACED.partition(), "source", r"write \.compile\(\)\.source"),
    ],
)
def test_what_a_later_stage_has_is_named(stage: Any, name: str, help: str) -> None:
    with pytest.raises(AttributeError, match=rf"SW0516\]: a {type(stage).__name__} has no {name} yet\n.*{help}"):
        getattr(stage, name)
    assert not hasattr(stage, "_ipython_display_")
    assert not hasattr(stage, "colour")


LISTED: list[Callable[[Any], Any]] = [
    lambda x: x - [1.0, 2.0, 3.0, 4.0],
    lambda x: [1.0, 2.0, 3.0, 4.0] * x,
    lambda x: x @ (1.0, 2.0, 3.0, 4.0),
    lambda x: x == [1.0, 2.0, 3.0, 4.0],
]


@pytest.mark.parametrize("call", LISTED)
def test_lists_are_no_operands(call: Any) -> None:
    for made in (call, sw.function(call)):
        with pytest.raises(TypeError, match=r"SW0507.* takes arrays and numbers, not (list|tuple)"):
            made(D)


def test_gradients_are_no_lists() -> None:
    with pytest.raises(TypeError, match=r"SW0507.*apply_gradients takes arrays and numbers, not list"):
        sw.optimizers.SGD(0.1).apply_gradients([([1.0, 2.0], sw.Variable([1.0, 2.0]))])


@pytest.mark.parametrize(
    ("code", "call"),
    [
        ("SW0101", lambda: sw.Mesh(x=0)),
        ("SW0102", lambda: sw.Layout(["z"], MESH)),
        ("SW0104", lambda: sw.relayout(np.ones(3), sw.Layout(["x"], MESH))),
        ("SW0104", lambda: sw.Variable(np.ones(3), layout=sw.Layout(["x"], MESH))),
        ("SW0108", lambda: sw.Layout.from_string("rows", MESH)),
        ("SW0512", lambda: sw.pack([np.ones(2)], sw.Layout(["x"], MESH))),
    ],
)
def test_layouts_that_do_not_fit_are_told_at_the_line(code: str, call: Any) -> None:
    with pytest.raises(ValueError, match=code) as error:
        call()
    assert str(error.value).startswith(f"{__file__}:{call.__code__.co_firstlineno}:")


@pytest.mark.parametrize("setting", [{"num_processes": 2.0}, {"num_processes": 2, "process_id": "1"}])
def test_processes_are_counted_in_whole_numbers(setting: Any) -> None:
    (name, value) = [*setting.items()][-1]
    with pytest.raises(TypeError, match=f"SW0550.*{name} is a whole number, not {value!r}"):
        sw.create_dtensor_iterable([np.ones((4, 2))], sw.Layout(["x"], MESH), "x", **setting)
