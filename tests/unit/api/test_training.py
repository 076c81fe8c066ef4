"""Modules, optimizers and metrics: training loops against the same ones written in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import shardwright as sw
from shardwright import metrics, optimizers

MESH = sw.Mesh([("batch", 4), ("model", 2)])
RANDOM = np.random.default_rng(7)
X = RANDOM.standard_normal((16, 6))
Y = RANDOM.standard_normal((16, 4))
START = {
    "w1": RANDOM.standard_normal((6, 8)) * 0.5,
    "b1": np.zeros(8),
    "w2": RANDOM.standard_normal((8, 4)) * 0.5,
}

LAYOUTS: dict[str, tuple[Any, dict[str, Any]]] = {
    "single device": (None, dict.fromkeys(START)),
    "data parallel": (["batch"], {name: [] for name in START}),
    "tensor parallel": ([], {"w1": [None, "model"], "b1": ["model"], "w2": ["model"]}),
    "both": (["batch"], {"w1": [None, "model"], "b1": ["model"], "w2": ["model"]}),
    "fully sharded": (["batch"], {"w1": [None, "batch"], "b1": ["batch"], "w2": ["batch"]}),
}


class Model(sw.Module):
    """Two layers."""

    w1: sw.Variable
    b1: sw.Variable
    w2: sw.Variable

    def __init__(self, layouts: dict[str, Any]) -> None:
        made = {
            name: sw.Variable(
                value, layout=None if layouts[name] is None else sw.Layout(layouts[name], MESH), name=name
            )
            for name, value in START.items()
        }
        self.w1, self.b1, self.w2 = made["w1"], made["b1"], made["w2"]

    def __call__(self, x: Any) -> Any:
        return sw.tanh(x @ self.w1 + self.b1) @ self.w2


def reference_gradients(p: dict[str, Any]) -> tuple[float, dict[str, Any]]:
    """The loss of the model and its gradients."""
    hidden = np.tanh(X @ p["w1"] + p["b1"])
    error = hidden @ p["w2"] - Y
    by_output = 2 * error / error.size
    by_sum = (by_output @ p["w2"].T) * (1 - hidden**2)
    return float((error**2).mean()), {"w1": X.T @ by_sum, "b1": by_sum.sum(0), "w2": hidden.T @ by_output}


def reference(update: Any, steps: int, clip: float | None = None) -> tuple[list[float], dict[str, Any]]:
    """Losses and weights of a training loop; `update(w, g, state, step)` gives a new weight and changes the state."""
    p = {name: value.copy() for name, value in START.items()}
    states: dict[str, dict[str, Any]] = {name: {"m": 0.0, "v": 0.0} for name in p}
    losses: list[float] = []
    for step in range(steps):
        loss, gradients = reference_gradients(p)
        losses.append(loss)
        norm = np.sqrt(sum((g**2).sum() for g in gradients.values()))
        scale = 1.0 if clip is None else min(1.0, clip / norm)
        p = {name: update(p[name], gradients[name] * scale, states[name], step) for name in p}
    return losses, p


def sgd(rate: Any, momentum: float = 0.0, nesterov: bool = False, decay: float = 0.0) -> Any:
    """`SGD` as documented."""

    def update(w: Any, g: Any, state: dict[str, Any], step: int) -> Any:
        r = rate(step) if callable(rate) else rate
        state["m"] = momentum * state["m"] - r * g
        return w * (1 - decay * r) + (momentum * state["m"] - r * g if nesterov else state["m"])

    return update


def adam(rate: float, b1: float = 0.9, b2: float = 0.999, epsilon: float = 1e-7, decay: float = 0.0) -> Any:
    """`Adam` and `AdamW` as documented."""

    def update(w: Any, g: Any, state: dict[str, Any], step: int) -> Any:
        state["m"] = b1 * state["m"] + (1 - b1) * g
        state["v"] = b2 * state["v"] + (1 - b2) * g**2
        corrected = rate * np.sqrt(1 - b2 ** (step + 1)) / (1 - b1 ** (step + 1))
        return w * (1 - decay * rate) - corrected * state["m"] / (np.sqrt(state["v"]) + epsilon)

    return update


def inverse_time(step: Any) -> Any:
    """A schedule."""
    return 0.3 / (1.0 + 0.5 * step)


CASES: dict[str, tuple[Any, Any, float | None]] = {
    "sgd": (lambda: optimizers.SGD(0.2), sgd(0.2), None),
    "momentum": (lambda: optimizers.SGD(0.1, momentum=0.9), sgd(0.1, 0.9), None),
    "nesterov": (lambda: optimizers.SGD(0.1, momentum=0.9, nesterov=True), sgd(0.1, 0.9, True), None),
    "decay": (lambda: optimizers.SGD(0.1, weight_decay=0.1), sgd(0.1, decay=0.1), None),
    "schedule": (lambda: optimizers.SGD(inverse_time), sgd(inverse_time), None),
    "clipped": (lambda: optimizers.SGD(0.2, global_clipnorm=0.3), sgd(0.2), 0.3),
    "adam": (lambda: optimizers.Adam(0.05), adam(0.05), None),
    "adam with options": (
        lambda: optimizers.Adam(0.05, beta_1=0.8, beta_2=0.95, epsilon=1e-3),
        adam(0.05, 0.8, 0.95, 1e-3),
        None,
    ),
    "adamw": (lambda: optimizers.AdamW(0.05, weight_decay=0.1), adam(0.05, decay=0.1), None),
}


def data(spec: Any) -> tuple[Any, Any]:
    """The training data, laid out."""
    if spec is None:
        return X, Y
    layout = sw.Layout(spec, MESH)
    return sw.relayout(X, layout), sw.relayout(Y, layout)


@pytest.mark.every(4)
@pytest.mark.parametrize("case", list(CASES))
@pytest.mark.parametrize("layouts", list(LAYOUTS))
def test_training_is_that_of_numpy(layouts: str, case: str) -> None:
    spec, weights = LAYOUTS[layouts]
    make, update, clip = CASES[case]
    model, optimizer, mean, traces = Model(weights), make(), metrics.Mean(dtype="float64"), list[int]()

    @sw.function
    def step(x: Any, y: Any) -> Any:
        traces.append(1)
        with sw.GradientTape() as tape:
            loss = sw.mean(sw.square(model(x) - y))
        variables = model.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        mean.update(loss)
        return loss

    losses, expected = reference(update, 5, clip)
    x, y = data(spec)
    before = [variable.layout for variable in model.variables]
    assert np.allclose([float(step(x, y)) for _ in losses], losses, rtol=1e-5)
    assert len(traces) == 1
    for name, value in expected.items():
        assert np.allclose(getattr(model, name).numpy(), value, rtol=1e-5, atol=1e-6)
    assert [variable.layout for variable in model.variables] == before
    assert int(optimizer.iterations) == 5
    assert float(mean.result()) == pytest.approx(np.mean(losses), rel=1e-5)


SHARDED: dict[str, list[str | None]] = {
    "data parallel": [],
    "fully sharded": ["d"],
    "fully sharded by columns": [None, "d"],
}


def sent_by_a_step(rows: int, spec: Any, make: Any) -> tuple[int, list[str]]:
    """What a training step of two layers (32 to 64 to 16) on eight devices sends, and by which collectives."""
    mesh = sw.Mesh(d=8)
    w1, w2 = (sw.Variable(sw.ones, shape=shape, layout=sw.Layout(spec, mesh)) for shape in ((32, 64), (64, 16)))
    optimizer = make()
    optimizer.build([w1, w2])

    @sw.function
    def step(x: Any, y: Any) -> Any:
        with sw.GradientTape() as tape:
            loss = sw.mean(sw.square(sw.tanh(x @ w1) @ w2 - y))
        optimizer.apply_gradients(zip(tape.gradient(loss, [w1, w2]), [w1, w2], strict=True))
        return loss

    x, y = (sw.ones((rows, size), layout=sw.Layout(["d"], mesh)) for size in (32, 16))
    partitioned = step.trace(x, y).partition()
    return partitioned.predicted_bytes, sorted(row.kind for row in partitioned.predicted)


WEIGHTS, LOSS = 4 * (32 * 64 + 64 * 16), 4


@pytest.mark.parametrize("spec", SHARDED.values(), ids=SHARDED)
@pytest.mark.parametrize("make", [lambda: optimizers.SGD(0.1, momentum=0.9), optimizers.Adam, optimizers.AdamW])
def test_a_step_sends_what_the_closed_forms_say(spec: Any, make: Any) -> None:
    """2 (n - 1) / n of the weights: all-reduced gradients, or gathered weights and reduce-scattered gradients."""
    sent, kinds = sent_by_a_step(256, spec, make)
    assert sent == 2 * 7 * (WEIGHTS + LOSS) // 8
    gathered = ["all_gather"] * 2 + ["all_reduce"] + ["reduce_scatter"] * 2
    assert kinds == (["all_reduce"] if spec == [] else gathered)


def test_a_step_on_few_rows_moves_them_and_not_the_weights() -> None:
    """The first layer's rows are gathered once, for both of its products; the second layer's weights take rows."""
    sent, kinds = sent_by_a_step(64, [None, "d"], optimizers.Adam)
    rows, second, results = 4 * 64 * 32, 4 * 64 * 16, 4 * 64 * 16
    assert sent == 7 * rows // 8 + 2 * (7 * second // 64) + 2 * 7 * (results + LOSS) // 8
    assert sent < 2 * 7 * (WEIGHTS + LOSS) // 8
    assert kinds == ["all_gather"] * 2 + ["all_reduce"] + ["all_to_all"] * 2 + ["reduce_scatter"]


@pytest.mark.parametrize("case", ["nesterov", "clipped", "adamw"])
@pytest.mark.parametrize("layouts", ["single device", "both"])
def test_steps_outside_of_functions(layouts: str, case: str) -> None:
    spec, weights = LAYOUTS[layouts]
    make, update, clip = CASES[case]
    model, optimizer = Model(weights), make()
    loss_and_gradients = sw.value_and_grad(
        lambda w1, b1, w2, x, y: sw.mean(sw.square(sw.tanh(x @ w1 + b1) @ w2 - y)), argnums=(0, 1, 2)
    )
    losses, expected = reference(update, 3, clip)
    for loss in losses:
        value, gradients = loss_and_gradients(*model.variables, *data(spec))
        optimizer.apply_gradients(zip(gradients, model.variables, strict=True))
        assert float(value) == pytest.approx(loss, rel=1e-5)
    for name, value in expected.items():
        assert np.allclose(getattr(model, name).numpy(), value, rtol=1e-5, atol=1e-6)


def test_learning_rate_can_change_without_another_trace() -> None:
    w, optimizer, traces = sw.Variable([1.0]), optimizers.SGD(1.0), list[int]()

    @sw.function
    def step() -> None:
        traces.append(1)
        optimizer.apply_gradients([(sw.ones(1), w)])

    step()
    optimizer.learning_rate = 0.25
    step()
    assert w.numpy().tolist() == [-0.25]
    assert float(optimizer.learning_rate) == 0.25
    assert len(traces) == 1


def test_slots_have_the_layout_of_their_variable() -> None:
    model = Model(LAYOUTS["both"][1])
    optimizer = optimizers.Adam()
    optimizer.build(model.variables)
    named = optimizer.named_variables()
    assert list(named) == [
        "iterations",
        "_rate",
        *(f"_slots/{slot}/{place}" for slot in ("m", "v") for place in range(3)),
    ]
    slots = [variable for variable in optimizer.variables if variable.ndim]
    assert [slot.layout for slot in slots] == [variable.layout for variable in model.variables] * 2
    assert [slot.name for slot in slots] == ["w1/m", "b1/m", "w2/m", "w1/v", "b1/v", "w2/v"]
    assert optimizer.trainable_variables == ()


def test_variables_without_gradient_stay() -> None:
    first, second = sw.Variable([1.0]), sw.Variable([1.0])
    optimizer = optimizers.SGD(0.5)
    optimizer.apply_gradients([(None, first), (np.ones(1, "float32"), second)])
    assert (first.numpy().tolist(), second.numpy().tolist()) == ([1.0], [0.5])
    for wrong in ([(None, first)], [], [(np.ones(1), np.ones(1))], [first]):
        with pytest.raises((ValueError, TypeError)) as caught:
            optimizer.apply_gradients(wrong)
        assert "SW0532" in str(caught.value)
    with pytest.raises(TypeError, match="SW0532"):
        optimizers.SGD("fast")  # pyright: ignore[reportArgumentType]
    scheduled = optimizers.SGD(inverse_time)
    with pytest.raises(TypeError, match="SW0532"):
        scheduled.learning_rate = 1.0


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("layout", [None, sw.Layout(["batch"], MESH)])
def test_narrow_variables_are_moved_in_float32(dtype: str, layout: Any) -> None:
    w = sw.Variable(np.ones((4, 2)), dtype=dtype, layout=layout)
    optimizer = optimizers.Adam(0.125)
    gradients = [RANDOM.standard_normal((4, 2)).astype("float32") for _ in range(3)]
    expected, state, update = np.ones((4, 2)), {"m": 0.0, "v": 0.0}, adam(0.125)
    for step, gradient in enumerate(gradients):
        narrow = sw.astype(gradient, dtype)
        optimizer.apply_gradients([(narrow, w)])
        expected = update(expected, np.asarray(narrow, "float64"), state, step).astype(w.dtype).astype("float64")
    assert w.dtype == np.dtype(w.numpy().dtype)
    assert np.allclose(w.numpy().astype("float64"), expected, rtol=2e-2)
    assert {slot.dtype.name for slot in optimizer.variables if slot.ndim} == {"float32"}


def test_a_step_with_momentum_of_ones_own() -> None:
    """The RFC's CustomSGDOptimizer."""

    class CustomSGD(sw.Module):
        def __init__(self, model: sw.Module) -> None:
            self.vars = model.trainable_variables
            self.slots = [sw.Variable(sw.zeros_like(var), trainable=False) for var in self.vars]

        def apply(self, gradients: Any) -> None:
            for var, slot, gradient in zip(self.vars, self.slots, gradients, strict=True):
                slot.assign(0.9 * slot - 0.1 * gradient)
                var.assign_add(slot)

    model = Model(LAYOUTS["both"][1])
    optimizer = CustomSGD(model)
    assert [slot.layout for slot in optimizer.slots] == [var.layout for var in model.variables]
    x, y = data(["batch"])

    @sw.function
    def step() -> Any:
        with sw.GradientTape() as tape:
            loss = sw.mean(sw.square(model(x) - y))
        optimizer.apply(tape.gradient(loss, model.trainable_variables))
        return loss

    losses, _ = reference(sgd(0.1, 0.9), 4)
    assert np.allclose([float(step()) for _ in losses], losses)


class Leaf(sw.Module):
    """One variable, one setting."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__(name)
        self.w = sw.Variable(0.0, name="w")
        self.width = 3


def test_modules_find_variables_in_containers_in_order() -> None:
    class TwoTowers(sw.Module):
        def __init__(self) -> None:
            self.z = sw.Variable(0.0, name="z", trainable=False)
            self.towers = {"left": [Leaf(), Leaf()], "right": (Leaf(),)}
            self.again = self.towers["left"][0]
            self.a = sw.Variable(0.0, name="a")
            self.loop = self

    model = TwoTowers()
    assert list(model.named_variables()) == ["z", "towers/left/0/w", "towers/left/1/w", "towers/right/0/w", "a"]
    left, right = model.towers["left"], model.towers["right"]
    assert [item is found for item, found in zip([*left, *right], model.submodules, strict=True)] == [True] * 3
    assert [v.name for v in model.trainable_variables] == ["w", "w", "w", "a"]
    assert [v.name for v in model.non_trainable_variables] == ["z"]
    assert model.name == "two_towers"
    assert Leaf("leaf").name == "leaf"
    with Leaf("leaf").name_scope:
        assert sw.Variable(0.0, name="w").name == "leaf/w"


def test_methods_of_modules_are_functions_with_state() -> None:
    class Counter(sw.Module):
        def __init__(self) -> None:
            self.count = sw.Variable(0)

        @sw.function
        def step(self, by: Any) -> Any:
            return self.count.assign_add(by)

    first, second = Counter(), Counter()
    assert [int(first.step(2)), int(first.step(3)), int(second.step(1))] == [2, 5, 1]


@pytest.mark.parametrize("spec", [None, ["batch"], ["model"]])
@pytest.mark.parametrize("traced", [False, True])
def test_metrics(spec: Any, traced: bool) -> None:
    labels, scores = RANDOM.integers(0, 3, 16), RANDOM.standard_normal((16, 3)).astype("float32")
    weights = RANDOM.uniform(0, 2, 16).astype("float32")
    right = scores.argmax(-1) == labels
    spread = (lambda array: sw.relayout(array, sw.Layout(spec, MESH))) if spec else (lambda array: array)
    figures = metrics.Sum(), metrics.Mean(), metrics.Mean(), metrics.Accuracy(), metrics.Accuracy(), metrics.Accuracy()

    def update(labels: Any, scores: Any, weights: Any) -> None:
        figures[0].update(weights)
        figures[1].update_state(scores)
        figures[2].update_state(weights, sample_weight=weights)
        figures[3].update_state(labels, scores)
        figures[4].update_state(labels, scores, sample_weight=weights)
        figures[5].update_state(labels, sw.argmax(scores, axis=-1))

    run = sw.function(update) if traced else update
    assert float(figures[1].result()) == 0.0
    for _ in range(2):
        run(spread(labels), spread(scores), spread(weights))
    expected = [
        2 * weights.sum(),
        scores.mean(),
        (weights**2).sum() / weights.sum(),
        right.mean(),
        (right * weights).sum() / weights.sum(),
        right.mean(),
    ]
    assert np.allclose([float(figure.result()) for figure in figures], expected, rtol=1e-5)
    assert repr(figures[3]) == f"Accuracy({float(figures[3].result())})"
    for figure in figures:
        (sw.function(figure.reset_state) if traced else figure.reset_state)()
    assert [float(figure.result()) for figure in figures] == [0.0] * 6


def test_metrics_with_a_layout_and_wrong_shapes() -> None:
    metric = metrics.Mean(layout=sw.Layout([], MESH))
    metric.update_state(sw.relayout(X, sw.Layout(["batch"], MESH)))
    assert metric.total.layout == sw.Layout([], MESH)
    assert float(metric.result()) == pytest.approx(X.mean(), rel=1e-5)
    with pytest.raises(ValueError, match="SW0504"):
        metrics.Accuracy().update_state(np.zeros(3), np.zeros(4))


def test_norms_of_halves_do_not_overflow() -> None:
    clipped, norm = sw.optimizers.clip_by_global_norm([np.full(4, 300, "float16")], 1.0)
    assert float(norm) == 600
    np.testing.assert_allclose(np.asarray(clipped[0]), np.full(4, 0.5), rtol=1e-3)
    w = sw.Variable(np.zeros(4, "float16"), layout=sw.Layout([], sw.Mesh(x=2)))
    sw.optimizers.SGD(0.1, global_clipnorm=1.0).apply_gradients([(np.full(4, 300, "float16"), w)])
    np.testing.assert_allclose(w.numpy(), np.full(4, -0.05), rtol=1e-2)


@pytest.mark.parametrize("traced", [False, True])
def test_one_norm_for_variables_on_two_meshes(traced: bool) -> None:
    one, other = sw.Mesh(x=2), sw.Mesh(y=4)
    a = sw.Variable(np.full((4, 4), 3.0), layout=sw.Layout(["x"], one))
    b = sw.Variable(np.full((4, 4), 4.0), layout=sw.Layout(["y"], other))
    optimizer = sw.optimizers.SGD(1.0, global_clipnorm=1.0)

    def step() -> None:
        with sw.GradientTape() as tape:
            loss = sw.relayout(sw.sum(a * a) / 2, sw.Layout([], other)) + sw.sum(b * b) / 2
        optimizer.apply_gradients(zip(tape.gradient(loss, [a, b]), [a, b], strict=True))

    (sw.function(step) if traced else step)()
    # The gradients are the variables themselves, whose norm is 4 * 5.
    np.testing.assert_allclose(a.numpy(), np.full((4, 4), 3 - 3 / 20))
    np.testing.assert_allclose(b.numpy(), np.full((4, 4), 4 - 4 / 20))


@pytest.mark.parametrize("number", [np.float32(0.5), np.float64(0.5), np.array(0.5), np.float16(0.5)])
def test_settings_of_optimizers_may_be_numbers_of_numpy(number: Any) -> None:
    given, plain = (
        [
            sw.optimizers.SGD(one, momentum=one, weight_decay=one, global_clipnorm=one),
            sw.optimizers.Adam(one, one, one, one),
        ]
        for one in (number, 0.5)
    )
    for ours, theirs in zip(given, plain, strict=True):
        one, other = sw.Variable([1.0, 2.0]), sw.Variable([1.0, 2.0])
        for _ in range(2):
            ours.apply_gradients([(sw.ones(2), one)])
            theirs.apply_gradients([(sw.ones(2), other)])
        assert np.array_equal(one.numpy(), other.numpy())


def test_numbers_of_a_schedule_keep_their_digits() -> None:
    w = sw.Variable(np.array([1.0]))
    sw.optimizers.SGD(lambda step: 0.1).apply_gradients([(np.ones(1), w)])
    assert w.numpy() == 1.0 - 0.1


@pytest.mark.parametrize(
    ("code", "error", "call"),
    [
        ("SW0532", TypeError, lambda w: sw.optimizers.SGD("0.1")),
        ("SW0532", TypeError, lambda w: setattr(sw.optimizers.SGD(0.1), "learning_rate", "0.1")),
        ("SW0532", TypeError, lambda w: setattr(sw.optimizers.SGD(0.1), "learning_rate", np.ones(3))),
        ("SW0532", TypeError, lambda w: sw.optimizers.SGD(0.1, momentum="0.9")),
        ("SW0532", ValueError, lambda w: sw.optimizers.SGD(0.1, global_clipnorm=0.0)),
        ("SW0532", ValueError, lambda w: sw.optimizers.clip_by_global_norm([np.ones(2)], -1.0)),
        ("SW0507", TypeError, lambda w: sw.optimizers.clip_by_global_norm([[1.0]], 1.0)),
        ("SW0506", TypeError, lambda w: sw.optimizers.global_norm([np.ones(2, "int8")])),
        ("SW0507", TypeError, lambda w: sw.optimizers.SGD(0.1).apply_gradients([([1.0, 1.0], w)])),
        ("SW0504", ValueError, lambda w: sw.optimizers.SGD(0.1).apply_gradients([(np.ones(1, "float32"), w)])),
        (
            "SW0532.*Variable is i32",
            TypeError,
            lambda w: sw.optimizers.SGD(0.1).apply_gradients([(np.full(2, 100, "int32"), sw.Variable([1, 2]))]),
        ),
    ],
)
def test_what_optimizers_do_not_take(code: str, error: type[Exception], call: Any) -> None:
    with pytest.raises(error, match=code):
        call(sw.Variable([1.0, 2.0]))


def test_complex_variables_are_scaled_by_magnitudes() -> None:
    gradient = np.array([3 + 4j, -1j], "complex64")
    assert float(sw.optimizers.global_norm([gradient])) == pytest.approx(np.linalg.norm(gradient))
    (clipped,), _ = sw.optimizers.clip_by_global_norm([gradient], 1.0)
    np.testing.assert_allclose(np.asarray(clipped), gradient / np.linalg.norm(gradient), rtol=1e-6)
    w = sw.Variable(np.zeros(2, "complex64"))
    sw.optimizers.Adam(0.1).apply_gradients([(gradient, w)])
    np.testing.assert_allclose(w.numpy(), -0.1 * gradient / np.abs(gradient), rtol=1e-5)


def test_an_infinite_norm_clips_nothing() -> None:
    (clipped,), norm = sw.optimizers.clip_by_global_norm([np.array([3.0, 4.0])], np.inf)
    assert float(norm) == 5
    assert np.array_equal(clipped, [3.0, 4.0])


def test_labels_that_predictions_cannot_be_are_wrong() -> None:
    accuracy = metrics.Accuracy()
    accuracy.update_state(np.array([0.5, 1.0]), np.array([[1.0, 0.0], [0.0, 1.0]]))
    accuracy.update_state(np.array([300, 44]), np.array([44, 44], "uint8"))
    assert float(accuracy.result()) == 0.5


@pytest.mark.parametrize("shape", [(3, 1), (2, 3), (1, 1)])
def test_weights_have_the_dims_of_the_values(shape: tuple[int, ...]) -> None:
    for metric in (metrics.Sum(), metrics.Mean()):
        with pytest.raises(ValueError, match="SW0504"):
            metric.update_state(np.arange(3.0), sample_weight=np.ones(shape))


def test_weights_of_rows_and_below_zero() -> None:
    values, weights = np.arange(6.0).reshape(2, 3), np.array([[2.0], [-1.0]])
    mean = metrics.Mean(dtype="float64")
    mean.update_state(values, sample_weight=weights)
    assert float(mean.result()) == pytest.approx(np.average(values, weights=np.broadcast_to(weights, (2, 3))))


def test_metrics_of_other_types() -> None:
    whole, complexes = metrics.Sum(dtype="int32"), metrics.Mean(dtype="complex64")
    whole.update_state(np.array([1, 2]))
    complexes.update_state(np.array([1 + 1j, 3 - 3j], "complex64"))
    assert (repr(whole), repr(complexes)) == ("Sum(3)", "Mean((2-1j))")
    whole.reset_state()
    assert int(whole.result()) == 0


@pytest.mark.parametrize("given", ["fast", None, np.array([0.1, 0.2]), 1j, True])
@pytest.mark.parametrize("traced", [False, True])
def test_a_schedule_gives_one_real_number(given: Any, traced: bool) -> None:
    weights = sw.Variable(np.ones(2, "float32"))
    optimizer = optimizers.SGD(lambda step: given)

    def step(gradient: Any) -> None:
        optimizer.apply_gradients([(gradient, weights)])

    with pytest.raises(TypeError, match=r"SW0532.*the learning rate's schedule gives"):
        (sw.function(step) if traced else step)(np.ones(2, "float32"))
    assert np.array_equal(weights.numpy(), [1, 1])


def test_a_setting_beyond_all_floats() -> None:
    with pytest.raises(ValueError, match=r"SW0532.*learning_rate is larger than all floats"):
        optimizers.SGD(10**400)
