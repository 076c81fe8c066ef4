"""Pipelines: the schedule against what the paper says of it, values against NumPy, and what is wrong said so."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import shardwright as sw
from shardwright.frontends.training.distribute._schedule import Event, Move, Task, events, tasks_of

SIZES = [(stages, microbatches) for stages in range(1, 6) for microbatches in (1, 2, 3, 5, 8)]


def taker(task: Task, stages: int) -> Task:
    if task.backward:
        return Task(task.stage - 1, task.microbatch, True)
    return Task(task.stage + 1, task.microbatch, task.stage + 1 == stages - 1)


def finished(order: list[Event], stages: int) -> int:
    """When the last stage is done: who sends goes on, who receives waits; a forward takes 1, and so does a backward."""
    clocks, sent = [0] * stages, dict[Task, int]()
    for event in order:
        if isinstance(event, Move):
            sender, receiver = event.made_by.stage, taker(event.made_by, stages).stage
            sent[event.made_by] = clocks[sender]
            clocks[receiver] = max(clocks[receiver], clocks[sender])
        else:
            clocks[event.stage] += 2 if event.stage == stages - 1 else 1
    return max(clocks)


@pytest.mark.parametrize(("stages", "microbatches"), SIZES)
def test_each_stage_has_its_tasks_and_all_are_done_when_the_paper_says(stages: int, microbatches: int) -> None:
    order = events(stages, microbatches)
    for stage in range(stages):
        own = [event for event in order if isinstance(event, Task) and event.stage == stage]
        assert own == tasks_of(stage, stages, microbatches)
    place = {event: at for at, event in enumerate(order)}
    moves = [event for event in order if isinstance(event, Move)]
    assert len(moves) == 2 * (stages - 1) * microbatches
    assert all(place[move.made_by] < place[move] < place[taker(move.made_by, stages)] for move in moves)
    # A first microbatch goes through all stages and back, and then one comes every two: (stages - 1) of bubble.
    assert finished(order, stages) == 2 * (microbatches + stages - 1)


@pytest.mark.parametrize(("stages", "microbatches"), SIZES)
def test_a_stage_holds_no_more_inputs_than_there_are_stages_from_it_on(stages: int, microbatches: int) -> None:
    held, most = [0] * stages, [0] * stages
    for event in events(stages, microbatches):
        if isinstance(event, Move) and not event.made_by.backward:
            held[event.made_by.stage + 1] += 1
        elif isinstance(event, Task) and event.stage == 0 and (not event.backward or stages == 1):
            held[0] += 1
        most = [max(pair) for pair in zip(most, held, strict=True)]
        if isinstance(event, Task) and event.backward:
            held[event.stage] -= 1
    assert held == [0] * stages
    assert most == [min(stages - stage, microbatches) for stage in range(stages)]


def test_a_result_that_is_sent_late_keeps_others_waiting() -> None:
    """What the order is for: were each move made where it is needed, the stages would take longer."""
    order = events(3, 4)
    late = [event for event in order if not isinstance(event, Move)]
    for move in (event for event in order if isinstance(event, Move)):
        late.insert(late.index(taker(move.made_by, 3)), move)
    # Just before its taker is as good as it gets here; one task of the sender's later is not.
    assert finished(late, 3) >= finished(order, 3)
    slow = list(order)
    for move in [event for event in order if isinstance(event, Move)]:
        own = tasks_of(move.made_by.stage, 3, 4)
        following = own[own.index(move.made_by) + 1 :][:1]
        if following and slow.index(following[0]) < slow.index(taker(move.made_by, 3)):
            slow.remove(move)
            slow.insert(slow.index(following[0]) + 1, move)
    assert finished(slow, 3) > finished(order, 3)


def layers(count: int, width: int) -> tuple[list[dict[str, Any]], Any, Any]:
    random = np.random.default_rng(count)
    weights = [
        {"kernel": random.standard_normal((width, width)) / 4, "bias": random.standard_normal(width)}
        for _ in range(count)
    ]
    x = random.standard_normal((24, width))
    return weights, x, np.sin(x)


def hidden(w: Any, x: Any) -> Any:
    return sw.tanh(x @ w["kernel"] + w["bias"])


def loss(y: Any, wanted: Any) -> Any:
    return sw.mean((y - wanted) ** 2)


def by_numpy(weights: list[dict[str, Any]], x: Any, wanted: Any) -> tuple[float, list[dict[str, Any]]]:
    """The loss of the whole batch, and its gradients, by the chain rule."""
    values = [x]
    for w in weights:
        values.append(np.tanh(values[-1] @ w["kernel"] + w["bias"]))
    error = values[-1] - wanted
    slope, found = 2 * error / error.size, list[dict[str, Any]]()
    for w, given, made in zip(reversed(weights), reversed(values[:-1]), reversed(values[1:]), strict=True):
        slope = slope * (1 - made**2)
        found.append({"kernel": given.T @ slope, "bias": slope.sum(0)})
        slope = slope @ w["kernel"].T
    return float((error**2).mean()), found[::-1]


@pytest.mark.parametrize(("stages", "microbatches", "split"), [(1, 3, "batch"), (2, 1, "batch"), (3, 4, "model")])
def test_losses_and_gradients_are_those_of_the_whole_batch(stages: int, microbatches: int, split: str) -> None:
    mesh = sw.Mesh(stage=stages, batch=2, model=2)
    rows = [sw.Layout(["batch", None], mesh.submesh(stage=number)) for number in range(stages)]
    weights, x, wanted = layers(stages, 8)
    kernel = [None, "model"] if split == "model" else []
    placed = [
        {
            "kernel": sw.Variable(sw.relayout(w["kernel"], sw.Layout(kernel, each.mesh))),
            "bias": sw.relayout(w["bias"], sw.Layout([], each.mesh)),
        }
        for w, each in zip(weights, rows, strict=True)
    ]
    pipeline = sw.distribute.Pipeline([hidden] * stages, loss, rows, microbatches)
    expected, slopes = by_numpy(weights, x, wanted)
    for _ in range(2):
        value, gradients = pipeline(placed, x, wanted)
        assert float(value) == pytest.approx(expected)
        for found, slope, own in zip(gradients, slopes, placed, strict=True):
            for name in ("kernel", "bias"):
                np.testing.assert_allclose(np.asarray(found[name]), slope[name], atol=1e-12)
                assert found[name].layout == own[name].layout
    assert pipeline.bubble == (stages - 1) / (microbatches + stages - 1)


def test_gradients_are_reduced_once_for_all_microbatches() -> None:
    mesh = sw.Mesh(stage=2, batch=4)
    rows = [sw.Layout(["batch", None], mesh.submesh(stage=number)) for number in range(2)]
    pipeline = sw.distribute.Pipeline([hidden, hidden], loss, rows, 3)
    weights, x, _ = layers(1, 8)
    placed = {name: sw.relayout(w, sw.Layout([], rows[0].mesh)) for name, w in weights[0].items()}
    given = sw.relayout(x[:8], rows[0])
    back = pipeline._programs.backward[0]
    _, total, _ = back(placed, given, given, None)
    assert str(total["kernel"].layout) == '<@mesh, [{}, {}], unreduced=sum{"batch"}>'
    assert back.trace(placed, given, given, total).partition().predicted_bytes == 0
    whole = pipeline._programs.finish.trace(total, placed).partition()
    assert whole.predicted_bytes == 2 * 3 / 4 * (64 + 8) * 8


def test_trees_go_from_stage_to_stage_and_tokens_into_the_first() -> None:
    mesh = sw.Mesh(stage=2, batch=2)
    rows = [sw.Layout(["batch"], mesh.submesh(stage=number)) for number in range(2)]

    def embed(table: Any, tokens: Any) -> Any:
        found = sw.take(table, tokens["ids"], axis=0)
        return {"found": found, "scale": sw.sum(found, axis=1)}

    def last(w: Any, x: Any) -> Any:
        return x["found"] @ w + x["scale"][:, None]

    table, w = np.random.default_rng(0).standard_normal((2, 5, 5))
    ids = np.arange(8) % 5
    pipeline = sw.distribute.Pipeline([embed, last], lambda y, wanted: sw.mean(y * wanted), rows, 2)
    placed = [sw.relayout(each, sw.Layout([], row.mesh)) for each, row in zip((table, w), rows, strict=True)]
    wanted = np.random.default_rng(1).standard_normal((8, 5))
    value, (found, other) = pipeline(placed, {"ids": ids}, wanted)
    y = table[ids] @ w + table[ids].sum(1)[:, None]
    assert float(value) == pytest.approx((y * wanted).mean())
    slope = wanted / wanted.size
    expected = np.zeros_like(table)
    np.add.at(expected, ids, slope @ w.T + slope.sum(1)[:, None])
    np.testing.assert_allclose(np.asarray(found), expected, atol=1e-12)
    np.testing.assert_allclose(np.asarray(other), table[ids].T @ slope, atol=1e-12)


ROWS = sw.Layout(["batch", None], sw.Mesh(batch=2))
ODD = r"which do not split evenly over the 2 parts of Layout\(\['batch', 'unsharded'\], Mesh\(batch=2\)\)"
FEW = "a pipeline of 2 stages, 1 layouts and 3 microbatches"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: sw.distribute.Pipeline([hidden, hidden], loss, [ROWS], 3), FEW),
        (lambda: sw.distribute.Pipeline([], loss, [], 3), "a pipeline of 0 stages"),
        (lambda: sw.distribute.Pipeline([hidden], loss, [ROWS], 0), "and 0 microbatches"),
        (lambda: one([], np.ones((4, 8)), np.ones((4, 8))), "weights of 0 stages for a pipeline of 1"),
        (lambda: one([np.ones((8, 8))], np.ones((4, 8)), np.ones((4, 8))), "not all on its mesh, .*: ndarray"),
        (lambda: one([ONES], np.ones((5, 8)), np.ones((4, 8))), "x has 5 rows, .* into 2 equal microbatches"),
        (lambda: one([ONES], [np.ones((4, 8)), np.ones(2)], np.ones((4, 8))), "x has 2, 4 rows"),
        (lambda: one([ONES], np.ones((4, 8)), 1.0), "wanted has 0 rows"),
        (lambda: one([ONES], np.ones((6, 8)), np.ones((4, 8))), f"a microbatch of x has 3 rows, {ODD}"),
        (lambda: one([ONES], np.ones((4, 8)), np.ones((2, 8))), f"a microbatch of wanted has 1 rows, {ODD}"),
        (lambda: halved(), f"a stage's input has 1 rows, {ODD}"),
    ],
)
def test_what_does_not_fit_is_said(wrong: Any, message: str) -> None:
    with pytest.raises(ValueError, match=f"SW0556.*{message}"):
        wrong()


def test_layouts_are_layouts_and_weights_may_be_uneven() -> None:
    not_one: Any = "batch"
    with pytest.raises(TypeError, match="SW0515"):
        sw.distribute.Pipeline([hidden], loss, [not_one], 2)
    mesh = sw.Mesh(batch=2, model=2)
    rows = sw.Layout(["batch", None], mesh)
    w, x = np.random.default_rng(0).standard_normal((3, 5)), np.random.default_rng(1).standard_normal((8, 3))
    placed = sw.relayout(w, sw.Layout([None, "model"], mesh, uneven=True))
    pipeline = sw.distribute.Pipeline([lambda w, x: x @ w], lambda y, wanted: sw.sum(y * wanted), [rows], 2)
    wanted = np.ones((8, 5))
    value, (found,) = pipeline([placed], x, wanted)
    assert float(value) == pytest.approx((x @ w).sum() / 2)
    np.testing.assert_allclose(np.asarray(found), x.T @ wanted / 2)


@pytest.mark.parametrize("rows", [3, 15])
def test_rows_may_be_uneven_where_the_layouts_say_so(rows: int) -> None:
    """One row, or five, for two devices: losses and gradients are those of the whole batch, as with even ones."""
    mesh = sw.Mesh(stage=2, batch=2)
    layouts = [sw.Layout(["batch", None], mesh.submesh(stage=number), uneven=True) for number in range(2)]
    weights, x, _ = layers(2, 8)
    x = x[:rows]
    placed = [
        {name: sw.relayout(array, sw.Layout([], layout.mesh)) for name, array in each.items()}
        for each, layout in zip(weights, layouts, strict=True)
    ]
    value, gradients = sw.distribute.Pipeline([hidden] * 2, loss, layouts, 3)(placed, x, np.sin(x))
    expected, slopes = by_numpy(weights, x, np.sin(x))
    assert float(value) == pytest.approx(expected)
    for found, slope in zip(gradients, slopes, strict=True):
        for name in ("kernel", "bias"):
            np.testing.assert_allclose(np.asarray(found[name]), slope[name], atol=1e-12)


def halved() -> Any:
    """The second stage gets half of the rows."""
    stages = [lambda w, x: (x @ w)[::2], lambda w, x: x @ w]
    meshes = [sw.Mesh(stage=2, batch=2).submesh(stage=number) for number in range(2)]
    weights = [sw.ones((8, 8), layout=sw.Layout([], mesh)) for mesh in meshes]
    layouts = [sw.Layout(["batch", None], mesh) for mesh in meshes]
    return sw.distribute.Pipeline(stages, loss, layouts, 2)(weights, np.ones((4, 8)), np.ones((4, 8)))


ONES = sw.ones((8, 8), layout=sw.Layout([], ROWS.mesh))


def one(weights: Any, x: Any, wanted: Any) -> Any:
    return sw.distribute.Pipeline([lambda w, x: x @ w], loss, [ROWS], 2)(weights, x, wanted)
