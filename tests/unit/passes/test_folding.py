"""Equal layers are decided once: what is sent, whose reasons are told, and what is not folded."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import shardwright as sw
from shardwright import Layout, Mesh, TensorSpec
from shardwright.dialects import dtensor
from shardwright.passes.program import Program
from shardwright.passes.propagation import propagate_layouts
from shardwright.passes.propagation.alignment import bytes_sent
from shardwright.passes.propagation.refinement import _Refiner
from shardwright.passes.propagation.spreading import State, propagate
from shardwright.passes.propagation.strategy import Strategist
from shardwright.passes.propagation.structure import folding
from shardwright.passes.propagation.structure.folding import Folded, fold
from shardwright.passes.propagation.structure.ordering import structural_marks, structural_order

MESH = Mesh(batch=2, model=4)
LAYERS, ROWS, WIDTH, HIDDEN = 12, 64, 32, 128


def weights(layers: int) -> list[dict[str, TensorSpec]]:
    up, down = Layout([None, "model"], MESH), Layout(["model", None], MESH)
    return [
        {"up": TensorSpec((WIDTH, HIDDEN), "float32", up), "down": TensorSpec((HIDDEN, WIDTH), "float32", down)}
        for _ in range(layers)
    ]


def block(layer: Any, x: Any) -> Any:
    return x + sw.tanh(x @ layer["up"]) @ layer["down"]


def loss(layers: Any, x: Any) -> Any:
    for layer in layers:
        x = block(layer, x)
    return sw.sum(x * x)


def norm_of(gradients: Any) -> Any:
    """Of layers in the order of their names: 0, 1, 10, 11, 2, ..."""
    named = sorted((str(number), layer) for number, layer in enumerate(gradients))
    return sum(sw.sum(each * each) for _, layer in named for each in layer.values())


def clipped(layers: Any, x: Any) -> Any:
    """A step whose gradients are divided by the norm of all of them."""
    gradients = sw.grad(loss)(layers, x)
    norm = norm_of(gradients)
    pairs = zip(layers, gradients, strict=True)
    return [{name: layer[name] - gradient[name] / norm for name in layer} for layer, gradient in pairs]


def traced(step: Any, layers: int = LAYERS) -> Any:
    return sw.function(step).trace(weights(layers), TensorSpec((ROWS, WIDTH), "float32", Layout(["batch", None], MESH)))


@pytest.fixture
def folds(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Program, Folded | None]]:
    """The programs that are propagated, and what they are folded to."""
    found: list[tuple[Program, Folded | None]] = []

    def noted(program: Program) -> Folded | None:
        found.append((program, fold(program)))
        return found[-1][1]

    monkeypatch.setattr(folding, "SMALLEST", 0)
    monkeypatch.setattr(propagate_layouts, "fold", noted)
    return found


Folds = list[tuple[Program, Folded | None]]


def nodes_of(folds: Folds) -> tuple[int, int]:
    """The nodes of the last program, and of what it was folded to."""
    program, folded = folds[-1]
    return len(program.nodes), len(folded.program.nodes) if folded is not None else 0


@pytest.mark.parametrize("step", [sw.grad(loss), clipped], ids=["gradients", "clipped"])
def test_few_layers_stay(step: Any, folds: Folds) -> None:
    traced(step).propagate()
    whole, few = nodes_of(folds)
    assert 0 < few < 0.6 * whole
    # Twice the layers add only what adds up the norms of all, in an order of its own.
    traced(step, 2 * LAYERS).propagate()
    assert nodes_of(folds)[1] - few <= (2 * LAYERS if step is clipped else 0)


def test_what_stays_counts_for_all(folds: Folds) -> None:
    """Megatron's layers: a sum of activations forwards and one backwards, and the sums of gradients."""
    program = traced(sw.grad(loss)).partition()
    assert nodes_of(folds)[1]
    activations = 2 * LAYERS * (2 * 3 / 4) * (ROWS // 2) * WIDTH * 4
    gradients = 2 * LAYERS * (2 * 1 / 2) * WIDTH * (HIDDEN // 4) * 4
    assert program.predicted_bytes <= activations + gradients


def test_all_layers_are_alike(folds: Folds) -> None:
    module = traced(sw.grad(loss)).propagate().module
    assert nodes_of(folds)[1]
    layouts = [dtensor.layout_of(op.results[0]) for op in module.walk() if op.name == "stablehlo.tanh"]
    assert (len(layouts), len(set(layouts))) == (LAYERS, 1)


def test_results_are_those_of_one_device(folds: Folds) -> None:
    random = np.random.default_rng(3)
    arrays = [
        {name: random.standard_normal(spec.shape).astype(np.float32) / 8 for name, spec in layer.items()}
        for layer in weights(LAYERS)
    ]
    x = random.standard_normal((ROWS, WIDTH)).astype(np.float32)
    found = traced(clipped).partition().compile()(arrays, x)
    assert nodes_of(folds)[1]
    expected = sw.function(clipped)(arrays, x)
    for mine, its in zip(found, expected, strict=True):
        for name in mine:
            np.testing.assert_allclose(np.asarray(mine[name]), np.asarray(its[name]), rtol=1e-4, atol=1e-5)


def test_more_layers_need_no_more_tries(folds: Folds, monkeypatch: pytest.MonkeyPatch) -> None:
    seen, price = 0, _Refiner._price

    def counting(*arguments: Any) -> float:
        nonlocal seen
        seen += 1
        return price(*arguments)

    monkeypatch.setattr(_Refiner, "_price", counting)
    counts: list[int] = []
    for layers in (LAYERS, 2 * LAYERS):
        seen = 0
        traced(sw.grad(loss), layers).propagate()
        counts.append(seen)
    assert 0 < counts[1] <= 1.1 * counts[0]


def test_what_is_added_up_over_layers_is_reduced_once(folds: Folds) -> None:
    """One weight in all layers: its gradient is a sum of partial sums, of which none is to be finished on its own."""

    def shared(layer: Any, x: Any) -> Any:
        for _ in range(LAYERS):
            x = block(layer, x)
        return sw.sum(x * x)

    arguments = weights(1)[0], TensorSpec((ROWS, WIDTH), "float32", Layout(["batch", None], MESH))
    program = sw.function(sw.grad(shared)).trace(*arguments).partition()
    assert nodes_of(folds)[1]
    activations = 2 * LAYERS * (2 * 3 / 4) * (ROWS // 2) * WIDTH * 4
    assert program.predicted_bytes <= activations + 2 * (2 * 1 / 2) * WIDTH * (HIDDEN // 4) * 4


def test_layers_that_alternate_are_folded_by_twos(folds: Folds) -> None:
    def alternating(layers: Any, x: Any) -> Any:
        for number, layer in enumerate(layers):
            x = block(layer, x) if number % 2 else x + sw.sin(x @ layer["up"]) @ layer["down"]
        return sw.sum(x * x)

    traced(sw.grad(alternating), 2 * LAYERS).propagate()
    module = traced(sw.grad(alternating), 2 * LAYERS).propagate().module
    whole, few = nodes_of(folds)
    assert 0 < few < 0.6 * whole
    for name in ("stablehlo.tanh", "stablehlo.sine"):
        layouts = [dtensor.layout_of(op.results[0]) for op in module.walk() if op.name == name]
        assert len(set(layouts)) == 1


def test_what_differs_is_not_folded(folds: Folds) -> None:
    """Layers of their own widths are no run, and three layers are all that would stay."""

    def narrowing(x: Any) -> Any:
        for width in range(12, 2, -1):
            x = sw.tanh(x[:, :width] @ sw.ones((width, width), "float32"))
        return sw.sum(x)

    sw.function(narrowing).trace(TensorSpec((ROWS, 13), "float32", Layout(["batch", None], MESH))).propagate()
    traced(sw.grad(loss), 3).propagate()
    assert [folded for _, folded in folds] == [None, None]


def columns_only(rows: int) -> Any:
    """A step whose weights are both split by columns, so that each layer may go either of two ways."""
    columns = Layout([None, "model"], MESH)
    shapes = {"up": TensorSpec((32, 128), "float32", columns), "down": TensorSpec((128, 32), "float32", columns)}
    x = TensorSpec((rows, 32), "float32", Layout(["batch", None], MESH))

    def distance(layers: Any, x: Any, y: Any) -> Any:
        for layer in layers:
            x = block(layer, x)
        return sw.mean((x - y) * (x - y))

    def step(layers: Any, x: Any, y: Any) -> Any:
        pairs = zip(layers, sw.grad(distance)(layers, x, y), strict=True)
        return [{name: layer[name] - 0.1 * gradient[name] for name in layer} for layer, gradient in pairs]

    return sw.function(step).trace([shapes] * (2 * LAYERS), x, x)


def test_layers_find_together_what_none_does_alone(folds: Folds, monkeypatch: pytest.MonkeyPatch) -> None:
    together = columns_only(8).partition().predicted_bytes
    assert nodes_of(folds)[1]
    monkeypatch.setattr(propagate_layouts, "fold", lambda program: None)
    assert together < 0.8 * columns_only(8).partition().predicted_bytes


@pytest.mark.parametrize("trace", [lambda: traced(sw.grad(loss)), lambda: traced(clipped), lambda: columns_only(64)])
def test_what_is_counted_is_what_the_whole_program_sends(trace: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the layouts from which one starts, and in those that are found."""
    counted: list[tuple[float, float]] = []

    class Counting(Folded):
        def unfold(self, state: State) -> None:
            for known in (propagate(self.program, Strategist(self.program)), state):
                few = sent(self.program, known)
                super().unfold(known)
                counted.append((few, sent(self.places.program, known)))

    monkeypatch.setattr(folding, "SMALLEST", 0)
    monkeypatch.setattr(folding, "Folded", Counting)
    trace().propagate()
    assert len(counted) == 2
    for few, whole in counted:
        assert few == pytest.approx(whole, rel=1e-9)


def sent(program: Program, state: State) -> float:
    order = structural_order(program, structural_marks(program))
    return bytes_sent(program, Strategist(program), state.dims, order)


def test_likes_that_go_round_in_a_circle_are_no_layers(folds: Folds) -> None:
    """Two products of which each is taken for the other's like in the next layer."""

    def products(a: Any, b: Any) -> Any:
        values = [a, b]
        for left, right in [(1, 1), (2, 2), (3, 0), (2, 3), (2, 4), (4, 2), (2, 6)]:
            values.append(values[left] @ values[right])
        return sum(values[2:-1], start=values[-1])

    rows, columns = (TensorSpec((4, 4), "float32", Layout(dims, MESH)) for dims in (["batch", None], [None, "model"]))
    partitioned = sw.function(products).trace(rows, columns).partition()
    assert folds[0][1] is None
    a, b = np.eye(4, dtype=np.float32)[::-1], np.arange(16, dtype=np.float32).reshape(4, 4) / 16
    np.testing.assert_allclose(partitioned.compile()(a, b), products(a, b), rtol=1e-5)
