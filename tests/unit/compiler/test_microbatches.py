"""A batch that is done part by part: the same results, no more sent, less held; and what cannot be done so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import StringAttr

import shardwright as sw
from shardwright.compiler.layouts.memory import memory_of
from shardwright.compiler.layouts.microbatches import REQUESTS, Microbatches, fewest_parts
from shardwright.compiler.pipelines import IMPORT, run_pipeline
from shardwright.compiler.stages import Traced
from shardwright.dialects.dtensor import ConstraintOp, RelayoutOp
from shardwright.dialects.dtensor.hints import GroupOp
from shardwright.dialects.text.parsing import parse_module
from shardwright.dialects.types import shape_of
from shardwright.passes.program import entry_function
from shardwright.runtime.executable import compile_module

ROWS, SIZE, HIDDEN, LAYERS = 512, 8, 32, 2
MESH = sw.Mesh(data=4)
GRID = sw.Mesh(data=2, model=2)
F32 = 4
WEIGHTS = LAYERS * 2 * SIZE * HIDDEN * F32


def loss(params: Any, x: Any) -> Any:
    for w, v in params:
        x = x + sw.tanh(x @ w) @ v
    return sw.mean(x * x)


def step(params: Any, x: Any) -> Any:
    """What training does in one step: the loss, and the parameters after it."""
    found, slopes = sw.value_and_grad(loss)(params, x)
    return found, [(w - a, v - b) for (w, v), (a, b) in zip(params, slopes, strict=True)]


def specs() -> Any:
    return [(sw.TensorSpec((SIZE, HIDDEN)), sw.TensorSpec((HIDDEN, SIZE)))] * LAYERS, sw.TensorSpec((ROWS, SIZE))


def draw(*shape: int) -> Any:
    return np.random.default_rng(sum(shape)).standard_normal(shape, "float32")


def arrays() -> Any:
    return [(draw(SIZE, HIDDEN), draw(HIDDEN, SIZE))] * LAYERS, draw(ROWS, SIZE)


@pytest.fixture(scope="module")
def free() -> Traced:
    """The training step as it is laid out where nobody limits memory."""
    return sw.function(step).trace(*specs()).lay_out(MESH)


def peak(stage: Traced) -> int:
    return memory_of(stage.partition().module).peak


def counts(function: Callable[..., Any], *shapes: tuple[int, ...]) -> list[int]:
    """The numbers of parts in which a function can be done."""
    module = sw.function(function).trace(*map(sw.TensorSpec, shapes)).module.clone()
    run_pipeline(module, IMPORT)
    batch = Microbatches(module)
    return [count for count in batch.counts if batch.of(count) is not None]


def same(function: Callable[..., Any], *given: Any, mesh: sw.Mesh | None = MESH) -> None:
    """In two parts, as it is traced and laid out on four devices, a function gives what it gives at once."""
    traced = sw.function(function).trace(*given)
    module = traced.module.clone()
    run_pipeline(module, IMPORT)
    parts = Microbatches(module).of(2)
    assert parts is not None
    expected = traced.compile()(*given)
    stage = Traced(parts, traced.interface, traced.backend)
    for each in (stage, stage.lay_out(mesh)):
        found = each.compile(certify=True)(*given)
        for one, due in zip(leaves_of(found), leaves_of(expected), strict=True):
            due = np.asarray(due)
            np.testing.assert_allclose(np.asarray(one), due, rtol=1e-5, atol=1e-6 * np.abs(due).max())


def leaves_of(value: Any) -> list[Any]:
    return [leaf for each in value for leaf in leaves_of(each)] if isinstance(value, list | tuple) else [value]


def test_groups_of_what_is_not_in_parts_stay_and_keep_nothing() -> None:
    """A group of a weight and what it becomes; one of the batch asks for what no part has."""
    text = """
dtensor.mesh @mesh = <["data"=4]>
func.func public @main(%w: tensor<4x8xf32>, %x: tensor<64x4xf32>) -> tensor<4x8xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
      : (tensor<64x4xf32>, tensor<4x8xf32>) -> tensor<64x8xf32>
  %1 = stablehlo.tanh %0 : tensor<64x8xf32>
  %2 = stablehlo.dot_general %x, %1, contracting_dims = [0] x [0]
      : (tensor<64x4xf32>, tensor<64x8xf32>) -> tensor<4x8xf32>
  %3 = stablehlo.add %w, %2 : tensor<4x8xf32>
  sdy.sharding_group %w group_id=0 : tensor<4x8xf32>
  sdy.sharding_group MEMBER group_id=0 : TYPE
  return %3 : tensor<4x8xf32>
}
"""
    module = parse_module(text.replace("MEMBER", "%3").replace("TYPE", "tensor<4x8xf32>"), "test.mlir")
    run_pipeline(module, IMPORT)
    parts = Microbatches(module).of(4)
    assert parts is not None
    groups = [op for op in parts.walk() if isinstance(op, GroupOp)]
    assert [op.group.value.data for op in groups] == [0, 0]
    assert [shape_of(op.results[0]) for op in parts.walk() if op.name == "stablehlo.tanh"] == [(16, 8)]
    asking = parse_module(text.replace("MEMBER", "%1").replace("TYPE", "tensor<64x8xf32>"), "test.mlir")
    run_pipeline(asking, IMPORT)
    assert Microbatches(asking).counts == []


def test_the_layout_of_a_result_is_asked_for_at_the_end() -> None:
    """What is given in parts, what is summed over them: each in the layout that somebody gave for it."""
    text = """
#rows = #dtensor.layout<@mesh, [{"data"}, {}]>
dtensor.mesh @mesh = <["data"=4]>
func.func public @main(%w: tensor<4x8xf32>, %x: tensor<64x4xf32>) -> (tensor<4x8xf32, #rows>, tensor<64x8xf32, #rows>) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
      : (tensor<64x4xf32>, tensor<4x8xf32>) -> tensor<64x8xf32>
  %1 = stablehlo.tanh %0 : tensor<64x8xf32>
  %2 = stablehlo.dot_general %x, %1, contracting_dims = [0] x [0]
      : (tensor<64x4xf32>, tensor<64x8xf32>) -> tensor<4x8xf32>
  %3 = dtensor.constraint %2 {reason = "asked"} : tensor<4x8xf32> -> tensor<4x8xf32, #rows>
  %4 = dtensor.constraint %1 {reason = "asked"} : tensor<64x8xf32> -> tensor<64x8xf32, #rows>
  return %3, %4 : tensor<4x8xf32, #rows>, tensor<64x8xf32, #rows>
}
"""
    module = parse_module(text, "test.mlir")
    run_pipeline(module, IMPORT)
    parts = Microbatches(module).of(2)
    assert parts is not None
    last = entry_function(parts).get_return_op()
    assert last is not None
    assert all(isinstance(value.owner, ConstraintOp) for value in last.operands)
    run_pipeline(parts, ["partition"])
    executable = compile_module(parts)
    w, x = draw(4, 8), draw(64, 4)
    summed, rows = executable.run([w, x])
    wave = np.tanh(x @ w)
    np.testing.assert_allclose(summed, x.T @ wave, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(rows, wave, rtol=1e-5, atol=1e-6)
    assert all(str(port.spec).endswith('[{"data"}, {}]>') for port in executable.outputs)


def test_as_few_parts_as_will_do_and_what_was_offered(free: Traced) -> None:
    stage = sw.function(step).trace(*specs())
    assert free.partition().predicted_bytes == 2 * 3 / 4 * (WEIGHTS + F32)  # gradients and the loss, summed up
    limit = peak(free) * 3 // 5
    with pytest.raises(sw.ShardwrightError) as caught:
        stage.lay_out(MESH, memory_limit=limit)
    parts = stage.lay_out(MESH, memory_limit=limit, microbatches=True)
    (found,) = caught.value.diagnostics
    sent = parts.partition().predicted_bytes
    assert found.notes[-1].startswith(
        f"with microbatches=True (4 parts of the batch one after the other) each device holds {peak(parts):,} bytes at "
        f"most, sends {float(sent or 0):,.0f} and does "
    )
    assert "lay out with microbatches=True" in (found.help or "")
    # What parts add up is reduced once, after them.
    assert sent == free.partition().predicted_bytes
    assert peak(parts) <= limit
    found, expected = parts.compile()(*arrays()), free.compile()(*arrays())
    for one, due in zip(leaves_of(found), leaves_of(expected), strict=True):
        np.testing.assert_allclose(one.numpy(), due.numpy(), rtol=1e-5, atol=1e-5)


def test_two_parts_do_not_fit_there(free: Traced) -> None:
    module = sw.function(step).trace(*specs()).module.clone()
    run_pipeline(module, IMPORT)
    batch = Microbatches(module)
    assert batch.counts == [2, 4, 8, 16, 32, 64, 128, 256, 512]
    stage = sw.function(step).trace(*specs())
    two = batch.of(2)
    assert two is not None
    limit = peak(free) * 3 // 5
    assert peak(Traced(two, stage.interface, stage.backend).lay_out(MESH)) > limit


def tries(
    counts: list[int], held: Callable[[int], float], limit: float, stays: float = 0
) -> tuple[int | None, list[int]]:
    """The number of parts that is found, and the numbers that were tried for it."""
    tried: list[int] = []
    return fewest_parts(counts, lambda count: tried.append(count) or held(count), held(1), stays, limit), tried


EIGHT = [2**each for each in range(1, 9)]


def test_numbers_of_parts_that_are_far_from_the_limit_are_not_tried() -> None:
    """What stays and what is divided are known then, if not before: the right number is next, and the one below it."""

    def held(count: int) -> float:
        return 100 + 1000 / count

    assert tries(EIGHT, held, 120, stays=100) == (64, [64, 32])
    assert tries(EIGHT, held, 120, stays=50) == (64, [16, 64, 32])
    assert tries(EIGHT, held, 50, stays=100) == tries(EIGHT, held, 50, stays=60) == (256, [256])
    assert tries(EIGHT, held, 50, stays=10) == (256, [32, 256])
    assert tries(EIGHT, held, 700) == (2, [2])


def test_the_most_parts_are_tried_before_none_is_said_to_do() -> None:
    """Layouts of a few parts may be found that hold more than those of the whole."""
    held = {1: 100, 2: 130, 4: 60, 8: 40}.__getitem__
    assert tries([2, 4, 8], held, 70, stays=10) == (4, [2, 8, 4])
    assert tries([2, 4, 8], held, 35, stays=30) == (8, [8])
    assert tries([2, 4, 8], {1: 100, 2: 130, 4: 80, 8: 75}.__getitem__, 70, stays=10) == (8, [2, 8])


def test_the_fewest_parts_are_found_whatever_they_hold() -> None:
    """As they would be one after the other: more are tried until they fit, or hold more."""
    draw = np.random.default_rng(0)
    for _ in range(200):
        turn = int(draw.integers(0, 9))
        falls, rises = np.sort(draw.random(turn + 1))[::-1], 1 + np.sort(draw.random(8 - turn))
        levels = dict(zip([1, *EIGHT], [*falls, *rises], strict=True))
        for limit in (*levels.values(), -1.0):
            fitting = [count for count in EIGHT if levels[count] <= limit]
            least = min(EIGHT, key=levels.__getitem__)
            found, tried = tries(EIGHT, levels.__getitem__, limit)
            assert levels[found or 0] <= limit if fitting else found == least
            if turn == 8:
                assert found == (fitting[0] if fitting else 256)
            assert len(set(tried)) == len(tried)


def test_a_training_step() -> None:
    same(step, *arrays())


def test_results_by_row_come_in_their_order() -> None:
    same(lambda x, w: (sw.tanh(x @ w), sw.sum(x)), draw(ROWS, SIZE), draw(SIZE, HIDDEN))


def test_what_goes_by_position_gets_its_own() -> None:
    """A row's number is that which it has in the whole batch."""
    same(lambda x, w: sw.tanh(x * sw.reshape(sw.arange(ROWS, dtype="float32"), (ROWS, 1)) @ w), *pair())
    same(lambda x, w: sw.sum(sw.tanh((x + sw.random.stateless_random_normal(x.shape, [3, 4])) @ w)), *pair())


def pair() -> Any:
    return draw(ROWS, SIZE), draw(SIZE, HIDDEN)


def test_a_batch_that_is_not_the_first_dim() -> None:
    """Rows of a recurrence: each step of it needs the one before, the rows do not."""

    def recurrent(x: Any, w: Any) -> Any:
        state, _ = sw.scan(lambda state, row: (sw.tanh(state @ w + row), None), sw.zeros((ROWS, SIZE)), x)
        return sw.sum(state)

    same(sw.grad(recurrent, argnums=1), draw(5, ROWS, SIZE), draw(SIZE, SIZE))


def test_what_needs_the_whole_batch_is_not_taken_apart() -> None:
    def normed(x: Any, w: Any) -> Any:
        y = x @ w
        return sw.sum(sw.tanh(y - sw.mean(y, axis=0)))

    assert not counts(lambda x: sw.sum(x / sw.sum(x)), (ROWS,))
    assert not counts(lambda x: sw.max(x), (ROWS,))
    # Columns can be, of the weights; rows cannot.
    assert counts(normed, (ROWS, SIZE), (SIZE, HIDDEN)) == [2, 4, 8, 16, 32]


def head(x: Any, w: Any) -> Any:
    """A step for what turns a few rows into many numbers, whose gradient is larger than they are."""

    def lost(w: Any) -> Any:
        return sw.mean(sw.log(sw.sum(sw.exp(x @ w), axis=1)))

    return w - sw.grad(lost)(w)


def test_a_batch_that_is_small_next_to_the_weights() -> None:
    """Devices would trade numbers for columns there, rather than sum up gradients; parts add them up."""
    assert counts(head, (16, 64), (64, 256)) == [2, 4, 8, 16]
    same(head, draw(16, 64) / 8, draw(64, 256) / 8)


def test_a_small_batch_of_sequences() -> None:
    """What a loop adds up for its weights is added up for all of its rounds before it is for all parts."""

    def improved(x: Any, w: Any) -> Any:
        def lost(w: Any) -> Any:
            found, _ = sw.scan(lambda carry, row: (sw.tanh((carry + row) @ w), None), x[0], x)
            return sw.mean(sw.exp(found))

        return w - sw.grad(lost)(w)

    assert counts(improved, (5, 4, 48), (48, 48)) == [2, 4]
    same(improved, draw(5, 4, 48) / 8, draw(48, 48) / 8)


def test_what_two_dims_would_have_to_be_cut_for_is_not_taken_apart() -> None:
    """Eight rows that a reshape makes of two times four, and a sum over all of them in between."""

    def whole(x: Any, p: Any) -> Any:
        found = sw.exp(sw.reshape(x, (3, 8, 4)) + p)
        return sw.sum(sw.tanh(found / sw.sum(found)))

    assert not counts(whole, (3, 2, 4, 4), (8, 4))


def asking(params: Any, x: Any) -> Any:
    """The training step of a user who says inside how things lie: what is by row, by column, and what changes that."""
    rows, both = sw.Layout(["data", None], GRID), sw.Layout(["data", "model"], GRID)

    def lost(params: Any, x: Any) -> Any:
        for w, v in params:
            x = x + sw.relayout(sw.constraint(sw.tanh(x @ w), both) @ v, rows)
        return sw.mean(x * x)

    found, slopes = sw.value_and_grad(lost)(params, x)
    return found, [(w - sw.constraint(a, both), v - b) for (w, v), (a, b) in zip(params, slopes, strict=True)]


def test_layouts_inside_are_asked_of_the_parts() -> None:
    same(asking, *arrays(), mesh=None)
    module = sw.function(asking).trace(*specs()).module.clone()
    run_pipeline(module, IMPORT)
    parts = Microbatches(module).of(4)
    assert parts is not None
    asked = [(type(op), shape_of(op.result), op.reason) for op in parts.walk() if isinstance(op, REQUESTS)]
    constrained, moved = StringAttr("shardwright.constraint"), StringAttr("shardwright.relayout")
    layer = [(ConstraintOp, (ROWS // 4, HIDDEN), constrained), (RelayoutOp, (ROWS // 4, SIZE), moved)]
    assert asked == [*layer * LAYERS, *[(ConstraintOp, (SIZE, HIDDEN), constrained)] * LAYERS]


def test_a_layout_in_a_loop_inside_is_asked_of_the_parts() -> None:
    columns = sw.Layout(["data", "model"], GRID)

    def layered(x: Any, ws: Any) -> Any:
        found, _ = sw.scan(lambda carry, w: (sw.constraint(sw.tanh(carry @ w), columns), None), x, ws)
        return sw.sum(found)

    same(layered, draw(ROWS, SIZE), draw(3, SIZE, SIZE), mesh=None)
    module = sw.function(layered).trace(sw.TensorSpec((ROWS, SIZE)), sw.TensorSpec((3, SIZE, SIZE))).module.clone()
    run_pipeline(module, IMPORT)
    parts = Microbatches(module).of(8)
    assert parts is not None
    assert [shape_of(op.result) for op in parts.walk() if isinstance(op, ConstraintOp)] == [(ROWS // 8, SIZE)]


def test_parts_that_a_layout_inside_would_not_split_evenly_are_left_out() -> None:
    rows = sw.Layout([("data", "model"), None], GRID)
    assert counts(lambda x: sw.sum(sw.tanh(x)), (16, SIZE)) == [2, 4, 8, 16]
    assert counts(lambda x: sw.sum(sw.constraint(sw.tanh(x), rows)), (16, SIZE)) == [2, 4]
