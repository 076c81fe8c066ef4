"""Input signatures, specs, `function.layouts`, device annotations, and what traces a function again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import shardwright as sw

MESH = sw.Mesh([("batch", 4), ("model", 2)])
ROWS = sw.Layout(["batch"], MESH)
SPEC = sw.TensorSpec((None, 4), "float32")


def error(kind: type[Exception], call: Any) -> sw.Diagnostic:
    """The one diagnostic of the coded error that `call` raises, which is a `kind`."""
    with pytest.raises(kind) as caught:
        call()
    assert isinstance(caught.value, sw.ShardwrightError)
    (diagnostic,) = caught.value.diagnostics
    return diagnostic


def counted(**options: Any) -> tuple[Any, list[int]]:
    """A function with options, and a list that grows each time it is traced."""
    traces: list[int] = []

    @sw.function(**options)
    def scaled(x: Any, factor: Any) -> Any:
        traces.append(1)
        return x * factor

    return scaled, traces


def test_signature_converts_numbers_and_traces_once_for_each_size() -> None:
    scaled, traces = counted(input_signature=[SPEC, sw.TensorSpec((), "float32")])
    x = np.ones((2, 4), "float32")
    for factor in (2, 2.0, np.float32(2), sw.Variable(2.0)):
        result = scaled(x, factor=factor)
        assert result.dtype == np.dtype("float32")
        assert np.array_equal(result, x * 2)
    assert len(traces) == 1
    scaled(np.ones((3, 4), "float32"), 1.0)
    assert len(traces) == 2


def test_signature_with_layouts_distributes_plain_arrays() -> None:
    scaled, traces = counted(input_signature=[sw.TensorSpec((8, 4), "float32", ROWS), sw.TensorSpec((), "float32")])
    x = np.arange(32, dtype="float32").reshape(8, 4)
    result = scaled(x, 2.0)
    assert isinstance(result, sw.DTensor)
    assert result.layout.mesh == MESH
    assert np.array_equal(result, x * 2)
    assert np.array_equal(scaled(sw.relayout(x, ROWS), 3.0), x * 3)
    assert len(traces) == 1
    found = error(TypeError, lambda: scaled(sw.relayout(x, sw.Layout(["model"], MESH)), 2.0))
    assert found.code == "SW0533"
    assert "f32[8@model, 4]" in found.message
    assert "f32[8@batch, 4]" in found.message


@pytest.mark.parametrize(
    "args",
    [
        (),
        (np.ones((2, 4), "float32"),),
        (np.ones((2, 4), "float32"), 1.0, 1.0),
        (np.ones((2, 4)), 1.0),
        (np.ones((2, 5), "float32"), 1.0),
        (np.ones(4, "float32"), 1.0),
        (np.ones((2, 4), "float32"), np.ones(2, "float32")),
        ([np.ones((2, 4), "float32")], 1.0),
        (np.ones((2, 4), "float32"), 1j),
        (np.ones((2, 4), "float32"), True),
    ],
)
def test_other_arguments_do_not_fit(args: tuple[Any, ...]) -> None:
    scaled, traces = counted(input_signature=[SPEC, sw.TensorSpec((), "float32")])
    assert error(TypeError, lambda: scaled(*args)).code == "SW0533"
    assert error(TypeError, lambda: sw.function(lambda: scaled(*args))()).code == "SW0533"
    assert not traces


def test_signature_of_trees_and_methods() -> None:
    class Model(sw.Module):
        def __init__(self) -> None:
            self.total = sw.Variable(0.0)

        @sw.function(input_signature=[{"x": SPEC, "y": (SPEC,)}])
        def step(self, item: Any) -> Any:
            self.total.assign_add(sw.sum(item["x"]))
            return item["x"] + item["y"][0]

    model, x = Model(), np.ones((2, 4), "float32")
    assert np.array_equal(model.step({"x": x, "y": (x,)}), x * 2)
    assert float(model.total) == 8.0
    assert error(TypeError, lambda: model.step({"x": x, "y": [x]})).code == "SW0533"


def test_specs_stand_for_arrays_in_traces_but_not_in_calls() -> None:
    scaled, _ = counted(input_signature=[sw.TensorSpec((8, 4), "float32", ROWS), sw.TensorSpec((), "float32")])
    text = scaled.trace().as_text()
    assert 'tensor<8x4xf32, #dtensor.layout<@mesh, [{"batch"}, {}]>>' in text
    plain, _ = counted()
    assert np.array_equal(plain.trace(sw.TensorSpec((3,)), 1.0).compile()(np.ones(3, "float32"), 2.0), [2, 2, 2])
    assert error(TypeError, lambda: plain.trace(SPEC, 1.0)).code == "SW0533"
    assert error(TypeError, lambda: plain(sw.TensorSpec((3,)), 1.0)).code == "SW0533"
    assert error(TypeError, lambda: sw.TensorSpec((3,), layout="batch")).code == "SW0515"  # pyright: ignore[reportArgumentType]
    assert repr(SPEC) == "TensorSpec(f32[None, 4])"


def test_layouts_of_a_function() -> None:
    w = sw.Variable(np.ones((4, 6), "float32"), layout=sw.Layout([None, "model"], MESH), name="w")

    @sw.function
    def step(x: Any) -> Any:
        y = x @ w
        w.assign(w * 0.5)
        return {"y": y, "gathered": sw.relayout(y, sw.Layout(sw.Mesh.UNSHARDED, MESH))}

    found = step.layouts(sw.TensorSpec((8, 4), "float32", ROWS))
    assert found.arguments == {"x": ROWS.for_rank(2)}
    assert found.variables == {"w": w.layout}
    assert found.results["y"] == sw.Layout(["batch", "model"], MESH)
    assert found.results["gathered"].is_replicated
    assert any(row.op == "stablehlo.dot_general" for row in found.values)
    assert "result['y']: " in str(found)
    assert np.array_equal(w.numpy(), np.ones((4, 6)))
    on_one = sw.function(lambda x: x + 1).layouts(np.ones(3))
    assert (on_one.arguments, on_one.results) == ({"x": None}, None)
    assert str(on_one) == "x: on one device\nresult: on one device"


def test_device_annotations_are_ignored() -> None:
    def double(x: Any) -> Any:
        with sw.device("/job:worker/replica:0/task:1/device:GPU:7"), sw.device(None):
            return x * 2

    x = np.arange(8.0)
    for call in (double, sw.function(double)):
        assert np.array_equal(call(sw.relayout(x, ROWS)), x * 2)
    with pytest.raises(TypeError, match="SW0517"), sw.device(3):  # pyright: ignore[reportArgumentType]
        pass


def test_what_traces_a_function_again() -> None:
    """As docs/api.md lists it."""
    scaled, traces = counted()
    x = np.ones((8, 4), "float32")
    weight = sw.Variable(2.0)
    same = [(x, 1.0), (x * 2, 2.0), (np.zeros((8, 4), "float32"), 7.5)]
    new = [
        (x[:4], 1.0),
        (x.astype("float64"), 1.0),
        (sw.relayout(x, ROWS), 1.0),
        (sw.relayout(x, sw.Layout(["model"], MESH)), 1.0),
        (x, 1),
        (x, weight),
        (x, sw.Variable(2.0)),
    ]
    for args in same:
        scaled(*args)
    assert len(traces) == 1
    for count, args in enumerate(new, 2):
        scaled(*args)
        scaled(*args)
        assert len(traces) == count
    weight.assign(3.0)
    assert np.array_equal(scaled(x, weight), x * 3)
    assert len(traces) == len(new) + 1


def test_python_conditions_name_cond() -> None:
    found = error(TypeError, lambda: sw.function(lambda x: 1 if sw.sum(x) > 0 else 2)(np.ones(2)))
    assert found.code == "SW0503"
    assert found.help is not None
    assert "shardwright.cond" in found.help


@pytest.mark.parametrize(
    ("array", "said"),
    [
        (np.ones((8, 4), "int32"), "i32[8, 4]"),
        (np.ones(3, "float32"), "f32[3]"),
        (sw.relayout(np.ones((8, 4), "float32"), sw.Layout([None, "model"], MESH)), "f32[8, 4@model]"),
    ],
)
def test_what_a_spec_of_any_size_with_a_layout_is_due(array: Any, said: str) -> None:
    spec = sw.TensorSpec((None, 4), "float32", ROWS)
    assert repr(spec) == "TensorSpec(f32[None@batch, 4])"
    found = error(TypeError, lambda: sw.function(lambda x: x, input_signature=[spec])(array))
    assert found.code == "SW0533"
    assert f"argument is {said} where TensorSpec(f32[None@batch, 4]) is due" in found.message


@pytest.mark.parametrize(("dtype", "number"), [("int8", 300), ("uint8", -1), ("int32", 1 << 40), ("float32", 10**400)])
def test_numbers_that_the_type_of_a_signature_does_not_hold(dtype: str, number: int) -> None:
    same = sw.function(lambda x: x, input_signature=[sw.TensorSpec((), dtype)])
    assert error(ValueError, lambda: same(number)).code == "SW0506"


def test_truth_values_in_a_signature() -> None:
    chosen = sw.function(lambda p: sw.where(p, 1.0, 2.0), input_signature=[sw.TensorSpec((), "bool")])
    assert (float(chosen(True)), float(chosen(False)), float(chosen(np.bool_(True)))) == (1.0, 2.0, 1.0)
    assert chosen.trace(True).as_text() == chosen.trace(False).as_text()
    scaled = sw.function(lambda x: x * 2, input_signature=[sw.TensorSpec(())])
    found = error(TypeError, lambda: scaled(True))
    assert (found.code, "argument is i1[] where TensorSpec(f32[]) is due" in found.message) == ("SW0533", True)
