"""Directories: what is loaded computes what was saved, from calls that are written in any way."""

from __future__ import annotations

import inspect
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import shardwright as sw
from shardwright import Layout, Mesh, Module, Variable
from shardwright.compiler import stages

MESH = Mesh(batch=4, model=2)
ROWS = Layout(["batch"], MESH)
RANDOM = np.random.default_rng(0)


def reloaded(item: Any, tmp_path: Path, **options: Any) -> Any:
    """What loading gives after saving."""
    return sw.load(sw.save(item, tmp_path / "saved", **options))


def sharded(*shape: int, layout: Layout = ROWS) -> Any:
    return sw.relayout(RANDOM.standard_normal(shape).astype("float32"), layout)


class Mlp(Module):
    """Two layers, one of them in a list, and a bias that both share."""

    def __init__(self) -> None:
        self.layers = [Dense(16, 8, [None, "model"]), Dense(8, 4, ["model"])]
        self.scale = Variable(2.0, trainable=False, name="scale")
        self.rate = 0.5
        self.table = {"first": self.layers[0], "pair": (self.scale, 3)}

    @sw.function
    def __call__(self, x: Any) -> Any:
        for layer in self.layers:
            x = sw.nn.relu(layer(x))
        return x * self.scale


class Dense(Module):
    def __init__(self, rows: int, columns: int, splits: Sequence[str | None]) -> None:
        self.w = Variable(RANDOM.standard_normal((rows, columns), "float32"), layout=Layout(splits, MESH), name="w")

    def __call__(self, x: Any) -> Any:
        return x @ self.w


def mlp_by_numpy(model: Any, x: Any) -> Any:
    hidden = np.maximum(np.asarray(x) @ model.layers[0].w.numpy(), 0)
    return np.maximum(hidden @ model.layers[1].w.numpy(), 0) * model.scale.numpy()


def test_module_comes_back_with_its_structure(tmp_path: Path) -> None:
    model, x = Mlp(), sharded(8, 16)
    model(x)
    loaded = reloaded(model, tmp_path)
    assert np.allclose(loaded(x), mlp_by_numpy(model, x), rtol=1e-5)
    assert type(loaded).__name__ == "Mlp"
    assert loaded.name == "mlp"
    assert list(loaded.named_variables()) == list(model.named_variables()) == ["layers/0/w", "layers/1/w", "scale"]
    for mine, theirs in zip(loaded.variables, model.variables, strict=True):
        assert np.array_equal(mine, theirs)
        assert (mine.name, mine.dtype, mine.layout, mine.trainable) == (
            theirs.name,
            theirs.dtype,
            theirs.layout,
            theirs.trainable,
        )
    assert loaded.rate == 0.5
    assert isinstance(loaded.table, dict)
    assert isinstance(loaded.table["pair"], tuple)
    assert loaded.table["pair"][1] == 3


def test_shared_variables_stay_shared(tmp_path: Path) -> None:
    model, x = Mlp(), sharded(8, 16)
    model(x)
    loaded = reloaded({"model": model, "first": model.layers[0], "again": model}, tmp_path)
    assert loaded["again"] is loaded["model"]
    assert loaded["first"] is loaded["model"].layers[0] is loaded["model"].table["first"]
    loaded["first"].w.assign(np.zeros((16, 8), "float32"))
    assert not np.asarray(loaded["model"](x)).any()


def test_functions_read_and_update_variables(tmp_path: Path) -> None:
    total = Variable(sw.zeros, shape=(8,), layout=ROWS, name="total")

    @sw.function
    def add(amount: Any) -> Any:
        total.assign_add(amount)
        return sw.sum(total)

    add(sw.ones(8, layout=ROWS))
    loaded = reloaded({"add": add, "total": total}, tmp_path)
    assert [float(loaded["add"](sw.ones(8, layout=ROWS))) for _ in range(2)] == [16.0, 24.0]
    assert np.array_equal(loaded["total"], np.full(8, 3.0))
    assert loaded["total"].layout == ROWS
    assert np.array_equal(total, np.ones(8))


def test_training_goes_on_where_it_was(tmp_path: Path) -> None:
    """A step with gradients, an optimizer's states and a metric: the losses are those of going on without a break."""
    model, optimizer, mean = Mlp(), sw.optimizers.Adam(learning_rate=0.01), sw.metrics.Mean()
    x, y = sharded(8, 16), sharded(8, 4)

    @sw.function
    def step(x: Any, y: Any) -> Any:
        with sw.GradientTape() as tape:
            loss = sw.mean(sw.square(model(x) - y))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        mean.update(loss)
        return loss

    step(x, y)
    loaded = reloaded({"step": step, "model": model, "optimizer": optimizer, "mean": mean}, tmp_path)
    ours = [float(loaded["step"](x, y)) for _ in range(3)]
    theirs = [float(step(x, y)) for _ in range(3)]
    assert ours == theirs
    assert len(set(ours)) == 3
    for mine, other in zip(loaded["optimizer"].variables, optimizer.variables, strict=True):
        assert np.array_equal(mine, other)
    assert loaded["mean"].named_variables().keys() == mean.named_variables().keys()


def test_optimizers_and_metrics_stay_what_they_are(tmp_path: Path) -> None:
    w, optimizer, accuracy = Variable([1.0, 2.0]), sw.optimizers.SGD(0.5, momentum=0.5), sw.metrics.Accuracy()

    @sw.function
    def step(slope: Any) -> Any:
        optimizer.apply_gradients([(slope, w)])
        accuracy.update(np.array([1, 0]), np.array([[0.0, 1.0], [0.0, 1.0]]))

    step(np.float32([1, 2]))
    loaded = reloaded({"step": step, "w": w, "optimizer": optimizer, "accuracy": accuracy}, tmp_path)
    assert isinstance(loaded["optimizer"], sw.optimizers.SGD)
    assert float(loaded["accuracy"].result()) == 0.5
    loaded["accuracy"].reset_state()
    loaded["optimizer"].learning_rate = 0.25
    loaded["step"](np.float32([1, 2]))  # v = 0.5 v - 0.25 g, with v = -0.5 g before
    assert np.array_equal(loaded["w"], np.float32([0.5, 1]) - 0.5 * np.float32([1, 2]))
    assert float(loaded["accuracy"].result()) == 0.5
    loaded["optimizer"].apply_gradients([(np.float32([0, 0]), loaded["w"])])
    assert np.array_equal(loaded["w"], np.float32([-0.25, -0.5]))
    scheduled = sw.load(sw.save(sw.optimizers.SGD(lambda step: step), tmp_path / "scheduled"))
    assert not isinstance(scheduled, sw.optimizers.SGD)
    assert type(scheduled).__name__ == "SGD"


class Point(NamedTuple):
    x: Any
    y: Any


@dataclass(frozen=True)
class State:
    weights: dict[str, Any]
    step: Any
    name: str = "state"


@sw.function(static=["power", "axis"])
def moved(point: Any, state: Any, *rest: Any, power: int = 1, axis: Any = None) -> Any:
    total = point.x * point.y + state.weights["a"] ** power + state.weights["b"]
    for item in rest:
        total = total + item
    return State({"a": sw.sum(total, axis=axis), "b": total}, state.step + 1), [Point(total, None), (total,)]


def call(**options: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    x = np.arange(4, dtype="float32")
    return (Point(x, x + 1), State({"a": x, "b": x * 2}, np.int32(3))), options


def test_trees_and_static_values(tmp_path: Path) -> None:
    args, options = call(power=2, axis=0)
    moved(*args, **options)
    moved(*args, 1.0, np.ones(4, "float32"), power=3)
    loaded = sw.load(sw.save(moved, tmp_path / "saved"), classes=[Point, State])
    state, (point, (total,)) = loaded(*args, **options)
    x = np.arange(4, dtype="float32")
    assert isinstance(state, State)
    assert isinstance(point, Point)
    assert point.y is None
    assert np.array_equal(total, x * (x + 1) + x**2 + x * 2)
    assert np.array_equal(point.x, total)
    assert state.weights["a"] == np.sum(total)
    assert state.step == 4
    assert state.name == "state"
    assert np.array_equal(loaded(*args, 2.0, np.ones(4, "float32"), power=3)[1][0].x, x * (x + 1) + x**3 + x * 2 + 3)


def test_records_without_their_classes(tmp_path: Path) -> None:
    args, options = call(power=2, axis=0)
    moved(*args, **options)
    loaded = reloaded(moved, tmp_path)
    state, (point, _) = loaded(*args, **options)
    assert (type(state).__name__, type(point).__name__, point._fields) == ("State", "Point", ("x", "y"))
    assert type(loaded(*args, **options)[0]) is type(state)
    again = loaded(point._replace(y=point.x), type(state)({"b": point.x, "a": point.x}, state.step, "state"), **options)
    assert again[0].step == 5


def test_calls_are_found_however_they_are_written(tmp_path: Path) -> None:
    @sw.function(static=["mode"])
    def combined(a: Any, b: Any, *, mode: str = "add", extra: Any = None) -> Any:
        result = a + b if mode == "add" else a - b
        return result if extra is None else result + extra["x"] * 2 + extra["y"]

    a, b = np.float32([1, 2]), np.float32([10, 20])
    combined(a, b=b, mode="add")
    combined(a, b, mode="subtract", extra={"x": a, "y": b})
    loaded = reloaded(combined, tmp_path)
    for result in (loaded(a, b, mode="add"), loaded(b=b, a=a, mode="add"), loaded(a, mode="add", b=b)):
        assert np.array_equal(result, [11, 22])
    for extra in ({"x": a, "y": b}, {"y": b, "x": a}):
        assert np.array_equal(loaded(b=b, a=a, extra=extra, mode="subtract"), a - b + 2 * a + b)
    assert [item.name for item in inspect.signature(loaded).parameters.values()] == ["a", "b", "mode", "extra"]
    assert loaded.signatures == ["a: f32[2], b=b: f32[2], mode='add'", (
        "a: f32[2], b: f32[2], mode='subtract', extra={'x': extra['x']: f32[2], 'y': extra['y']: f32[2]}"
    )]  # fmt: skip


def test_ordered_dicts_stay_what_they_are(tmp_path: Path) -> None:
    @sw.function
    def doubled(state: Any) -> Any:
        return OrderedDict((key, value * 2) for key, value in state.items()), dict(state)

    x, y = np.float32([1, 2]), np.float32([10, 20])
    doubled(OrderedDict(b=x, a=y))
    loaded = reloaded(doubled, tmp_path)
    for state in (OrderedDict(b=x, a=y), OrderedDict(a=y, b=x), {"a": y, "b": x}):
        ordered, plain = loaded(state)
        assert (type(ordered), type(plain)) == (OrderedDict, dict)
        assert [(key, value.tolist()) for key, value in ordered.items()] == [("b", [2, 4]), ("a", [20, 40])]
        assert plain["a"].tolist() == [10, 20]


def test_the_specialisation_that_fits_runs(tmp_path: Path) -> None:
    @sw.function
    def double(x: Any) -> Any:
        return x * 2

    arguments: list[Any] = [1, 1.5, np.int8([1, 2]), np.float64([1, 2]), sharded(8), sharded(8, 2), sharded(4, 2)]
    arguments += [sharded(8, 2, layout=Layout([None, "model"], MESH)), sw.relayout(np.ones(3), Layout([], MESH))]
    for argument in arguments:
        double(argument)
    loaded = reloaded(double, tmp_path)
    for argument in arguments:
        result, expected = loaded(argument), double(argument)
        assert result.dtype == expected.dtype
        assert getattr(result, "layout", None) == getattr(expected, "layout", None)
        assert np.array_equal(result, expected)


def test_captured_tensors_constants_and_random_numbers(tmp_path: Path) -> None:
    table, plain = sharded(8, 4), RANDOM.standard_normal((8, 4)).astype("float32")

    @sw.function
    def noisy(x: Any, seed: Any) -> Any:
        noise = sw.random.stateless_random_normal((8, 4), seed=sw.stack([seed, 7]))
        return x + table + plain + noise

    x = sharded(8, 4)
    expected = noisy(x, 3)
    loaded = reloaded(noisy, tmp_path)
    assert np.array_equal(loaded(x, 3), expected)
    assert not np.array_equal(loaded(x, 4), expected)


def test_control_flow_and_higher_functions(tmp_path: Path) -> None:
    def running(xs: Any) -> Any:
        last, sums = sw.scan(lambda total, x: (total + x, total + x), 0.0, xs)
        return sw.cond(last > 0, lambda: sw.sum(sums * sums), lambda: sw.sum(sums))

    both = sw.value_and_grad(running)
    xs = np.float64([1, 2, 5])
    both(xs)
    value, gradient = reloaded(both, tmp_path)(xs)
    assert value == 1 + 9 + 64
    assert np.allclose(gradient, [2 * (1 + 3 + 8), 2 * (3 + 8), 2 * 8])


def test_loaded_functions_in_traced_functions(tmp_path: Path) -> None:
    model, x = Mlp(), sharded(8, 16)
    model(x)
    loaded = reloaded(model, tmp_path)

    @sw.function
    def shifted(x: Any) -> Any:
        loaded.scale.assign(3.0)
        return loaded(x) + 1

    result = shifted(x)
    assert np.allclose(result, mlp_by_numpy(loaded, x) + 1, rtol=1e-5)
    assert float(loaded.scale) == 3.0
    assert float(model.scale) == 2.0


def test_loaded_functions_have_gradients(tmp_path: Path) -> None:
    model, x = Mlp(), sharded(8, 16)
    model(x)
    loaded = reloaded(model, tmp_path)
    assert np.allclose(
        sw.grad(lambda x: sw.sum(loaded(x)))(x), sw.grad(lambda x: sw.sum(model(x)))(x), rtol=1e-5, atol=1e-6
    )
    with sw.GradientTape() as tape:
        loss = sw.sum(loaded(x))
    mine = tape.gradient(loss, loaded.trainable_variables)
    with sw.GradientTape() as tape:
        loss = sw.sum(model(x))
    for one, other in zip(mine, tape.gradient(loss, model.trainable_variables), strict=True):
        assert np.allclose(one, other, rtol=1e-5, atol=1e-6)


def test_updates_inside_of_a_traced_function_are_assigned(tmp_path: Path) -> None:
    counter = Variable(0, name="counter")

    @sw.function
    def count() -> Any:
        counter.assign_add(1)
        return counter.value

    count()
    loaded = reloaded({"count": count, "counter": counter}, tmp_path)

    @sw.function
    def twice() -> Any:
        loaded["count"]()
        return loaded["count"]()

    assert int(twice()) == 3
    assert int(loaded["counter"]) == 3


def test_loaded_functions_in_branches_loops_and_on_other_meshes(tmp_path: Path) -> None:
    gain = Variable(np.arange(1, 9, dtype="float32"), layout=ROWS, name="gain")

    @sw.function
    def gained(x: Any) -> Any:
        y = sw.relayout(x * gain, Layout(["model"], MESH))
        gain.assign_add(1.0)
        return y

    gained(sw.ones(8, layout=ROWS))
    loaded = reloaded({"gained": gained, "gain": gain}, tmp_path)
    other, start = Mesh(rows=2), np.arange(2, 10, dtype="float32")

    @sw.function
    def everywhere(x: Any, far: Any, flag: Any) -> Any:
        total = sw.sum(far)  # the trace begins on another mesh of the same name
        first = loaded["gained"](sw.relayout(far * 2, ROWS))
        chosen = sw.cond(flag > 0, lambda: loaded["gained"](x), lambda: x)
        looped = sw.while_loop(lambda s: s[0] < 2, lambda s: (s[0] + 1, loaded["gained"](s[1])), (0, x))
        return total, first, chosen, looped[1]

    x, far = sw.ones(8, layout=ROWS), sw.ones(8, layout=Layout(["rows"], other))
    total, first, chosen, looped = everywhere(x, far, 1.0)
    assert float(total) == 8.0
    assert np.array_equal(first, 2 * start)
    assert np.array_equal(chosen, start + 1)
    assert np.array_equal(looped, (start + 2) * (start + 3))
    assert np.array_equal(loaded["gain"], start + 4)
    assert np.array_equal(everywhere(x, far, 0.0)[2], np.ones(8))


@pytest.mark.parametrize("stage", ["traced", "propagated", "partitioned", "compiled"])
def test_stages_are_saved(stage: str, tmp_path: Path) -> None:
    traced = sw.function(lambda x, w: sw.nn.relu(x @ w)).trace(sharded(8, 4), sharded(4, 2, layout=Layout([], MESH)))
    stages: dict[str, Callable[[], Any]] = {
        "traced": lambda: traced,
        "propagated": traced.propagate,
        "partitioned": traced.partition,
        "compiled": traced.compile,
    }
    loaded = reloaded(stages[stage](), tmp_path)
    x, w = (RANDOM.standard_normal(shape).astype("float32") for shape in ((8, 4), (4, 2)))
    assert np.allclose(loaded(x, w), np.maximum(x @ w, 0), rtol=1e-5)
    assert loaded.trace(x, w).as_text() == traced.as_text()


def test_programs_run_as_they_were_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On the mesh for which they were partitioned, no pass runs."""
    model, x = Mlp(), sharded(8, 16)
    model(x)
    place = sw.save(model, tmp_path / "saved")

    def refused(*arguments: Any, **options: Any) -> Any:
        raise AssertionError("a pass runs")

    monkeypatch.setattr(stages, "run_pipeline", refused)
    assert np.allclose(sw.load(place)(x), mlp_by_numpy(model, x), rtol=1e-5)
    with pytest.raises(AssertionError, match="a pass runs"):
        sw.load(place, mesh=Mesh(batch=2, model=2))(np.asarray(x))


def test_signatures_choose_what_is_saved(tmp_path: Path) -> None:
    @sw.function(static=["times"])
    def scaled(x: Any, times: int = 2) -> Any:
        return x * times

    spec = sw.TensorSpec((8, 2), "float32", ROWS)
    scaled(np.ones(3))
    loaded = reloaded(scaled, tmp_path, signatures=[(spec,), {"x": spec, "times": 3}, (np.zeros(2, "int32"), 5)])
    assert len(loaded.signatures) == 3
    x = sharded(8, 2)
    assert np.array_equal(loaded(x, times=3), np.asarray(x) * 3)
    assert np.array_equal(loaded(np.int32([1, 2]), 5), [5, 10])
    with pytest.raises(TypeError, match="SW0882"):
        loaded(np.ones(3))


def test_signatures_trace_plain_methods(tmp_path: Path) -> None:
    class Plain(Module):
        def __init__(self) -> None:
            self.inner = [Dense(4, 2, [])]

        def __call__(self, x: Any, flag: bool = False) -> Any:
            return self.inner[0](x) if flag else x

    model = Plain()
    x = RANDOM.standard_normal((3, 4)).astype("float32")
    paths = {"__call__": (x, True), "inner/0/__call__": sw.TensorSpec((5, 4), "float32")}
    loaded = reloaded(model, tmp_path, signatures=paths)
    assert np.allclose(loaded(x, True), x @ model.inner[0].w.numpy(), rtol=1e-5)
    assert np.allclose(loaded.inner[0](np.ones((5, 4), "float32")), np.ones((5, 4)) @ model.inner[0].w.numpy())


def test_input_signatures_need_no_call(tmp_path: Path) -> None:
    class Model(Module):
        def __init__(self) -> None:
            self.w = Variable([1.0, 2.0])

        @sw.function(input_signature=[sw.TensorSpec((2,), "float32")])
        def scaled(self, x: Any) -> Any:
            return x * self.w

    loaded = reloaded(Model(), tmp_path)
    assert np.array_equal(loaded.scaled(np.ones(2, "float32")), [1, 2])


def test_methods_belong_to_their_module(tmp_path: Path) -> None:
    first, second = Mlp(), Mlp()
    x = sharded(8, 16)
    first(x), second(x)
    second.layers[0].w.assign(np.zeros((16, 8), "float32"))
    loaded = reloaded([first, second], tmp_path)
    assert np.allclose(loaded[0](x), mlp_by_numpy(first, x), rtol=1e-5)
    assert not np.asarray(loaded[1](x)).any()
    bound = sw.load(sw.save(first.__call__, tmp_path / "bound"))
    assert np.allclose(bound(x), mlp_by_numpy(first, x), rtol=1e-5)
    assert list(inspect.signature(bound).parameters) == ["x"]


def test_modules_can_refer_to_each_other(tmp_path: Path) -> None:
    class Node(Module):
        parent: Any = None
        child: Any = None

        def __init__(self, value: float) -> None:
            self.value = Variable(value)

    root = Node(1.0)
    root.child = Node(2.0)
    root.child.parent = root
    loaded = reloaded(root, tmp_path)
    assert loaded.child.parent is loaded
    assert float(loaded.child.value) == 2.0


def test_modules_among_the_arguments(tmp_path: Path) -> None:
    model, other, x = Mlp(), Mlp(), sharded(8, 16)

    @sw.function
    def apply(model: Any, x: Any, by: Any) -> Any:
        return model(x) * by

    apply(model, x, model.scale)
    loaded = reloaded({"apply": apply, "model": model, "other": other}, tmp_path)
    assert np.allclose(
        loaded["apply"](loaded["model"], x, loaded["model"].scale), 2 * mlp_by_numpy(model, x), rtol=1e-5
    )
    with pytest.raises(TypeError, match="SW0882"):
        loaded["apply"](loaded["other"], x, loaded["model"].scale)


def test_loaded_things_are_saved_again(tmp_path: Path) -> None:
    model, x = Mlp(), sharded(8, 16)
    model(x)
    loaded = reloaded(model, tmp_path)
    loaded.scale.assign(5.0)
    again = sw.load(sw.save({"model": loaded}, tmp_path / "again"))["model"]
    assert np.allclose(again(x), mlp_by_numpy(model, x) / 2 * 5, rtol=1e-5)
    assert float(again.scale) == 5.0


def test_arrays_and_plain_variables(tmp_path: Path) -> None:
    import ml_dtypes

    arrays = {
        "numbers": np.arange(6, dtype="int16").reshape(2, 3),
        "half": np.float32([1, 2.5]).astype(ml_dtypes.bfloat16),
        "none": np.zeros((0, 3), "complex64"),
        "tensor": sharded(8, 2),
        "variable": Variable(np.uint8([1, 2]), name="given"),
    }
    loaded = reloaded(arrays, tmp_path)
    for name, array in arrays.items():
        assert loaded[name].dtype == array.dtype
        assert loaded[name].shape == array.shape
        assert np.array_equal(loaded[name], array)
    assert loaded["tensor"].layout == ROWS.for_rank(2)
    assert loaded["variable"].name == "given"


def test_tuples_lists_and_functions_of_shardwright(tmp_path: Path) -> None:
    @sw.function(static=["activation", "dtype", "part", "layout"])
    def applied(x: Any, activation: Any, dtype: Any, part: Any, layout: Any) -> Any:
        return sw.relayout(sw.astype(activation(x)[part], dtype), layout)

    x = sharded(8, 4)
    arguments = sw.nn.relu, np.dtype("float64"), slice(0, 4), Layout([None, "model"], MESH)
    expected = applied(x, *arguments)
    loaded = reloaded((applied, [applied]), tmp_path)
    assert isinstance(loaded, tuple)
    assert loaded[0] is loaded[1][0]
    result = loaded[0](x, *arguments)
    assert np.array_equal(result, expected)
    assert result.layout == expected.layout


def test_layouts_come_back_with_what_they_allow(tmp_path: Path) -> None:
    layouts = {
        "uneven": Layout(["batch"], MESH, uneven=True),
        "auto": Layout.auto(MESH),
        "even": Layout(["batch"], MESH),
    }
    loaded = reloaded({"given": np.ones(2), **layouts}, tmp_path)
    for name, layout in layouts.items():
        assert repr(loaded[name]) == repr(layout)
        assert (loaded[name].uneven, loaded[name].is_auto) == (layout.uneven, layout.is_auto)


@pytest.mark.parametrize(
    ("value", "kind"),
    [(sw.TensorSpec((2,), "float32"), "TensorSpec"), (np.ma.array([1.0, 2.0], mask=[False, True]), "MaskedArray")],
)
def test_what_would_not_come_back_is_refused(value: Any, kind: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=f"SW0865.*what is of the type {kind}, which cannot be stored"):
        sw.save({"given": np.ones(2), "what": value}, tmp_path / "refused")
    assert not (tmp_path / "refused").exists()
