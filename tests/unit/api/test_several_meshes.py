"""One function on several meshes: values go from one to the other by relayout, and nowhere else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import shardwright as sw

MESH = sw.Mesh([("batch", 4), ("model", 2)])
EMBEDDING = sw.Mesh([("embedding", 2)], ["/worker:0/GPU:0", "/worker:0/GPU:1"])
OTHER = sw.Mesh([("batch", 4), ("model", 2)], devices=[f"GPU:{number}" for number in range(8)])
RANDOM = np.random.default_rng(0)


def normal(*shape: int) -> Any:
    return RANDOM.standard_normal(shape)


def at(array: Any, entries: Any, mesh: sw.Mesh = MESH) -> Any:
    return sw.relayout(array, sw.Layout(entries, mesh))


def test_a_table_on_a_mesh_of_its_own() -> None:
    table, w, x = normal(16, 6), normal(6, 4), normal(8, 6)

    @sw.function
    def layer(table: Any, w: Any, x: Any) -> Any:
        rows = sw.relayout_like(table[:8] * 2, x)
        return (rows + x) @ w, sw.sum(table)

    arguments = at(table, [None, "embedding"], EMBEDDING), at(w, [None, "model"]), at(x, ["batch"])
    y, total = layer(*arguments)
    assert np.allclose(y, (table[:8] * 2 + x) @ w)
    assert np.isclose(float(total), table.sum())
    assert y.mesh == MESH
    assert total.mesh == EMBEDDING


def test_gradients_cross_meshes() -> None:
    table, w, x = normal(16, 6), normal(6, 4), normal(8, 6)

    def loss(table: Any, w: Any, x: Any) -> Any:
        return sw.sum(sw.square((sw.relayout_like(table[:8], x) + x) @ w))

    arguments = at(table, [None, "embedding"], EMBEDDING), at(w, [None, "model"]), at(x, ["batch"])
    by_table, by_w = sw.grad(loss, argnums=(0, 1))(*arguments)
    slope = 2 * ((table[:8] + x) @ w)
    assert np.allclose(by_table[:8], slope @ w.T)
    assert np.array_equal(by_table[8:], np.zeros((8, 6)))
    assert np.allclose(by_w, (table[:8] + x).T @ slope)
    assert by_table.mesh == EMBEDDING
    assert by_w.mesh == MESH


def across(x: Any, w: Any) -> Any:
    """A value that goes from MESH to EMBEDDING, half way."""
    return sw.relayout(sw.tanh(x), sw.Layout(["embedding"], EMBEDDING)) @ w


def test_what_is_computed_again_is_sent_again() -> None:
    x, w = normal(8, 6), normal(6, 4)
    arguments = at(x, ["batch"]), at(w, [None, "embedding"], EMBEDDING)
    moves: list[list[str]] = []
    for layer in (across, sw.checkpoint(across)):
        step = sw.function(sw.value_and_grad(lambda x, w, layer=layer: sw.sum(layer(x, w) ** 2), argnums=(0, 1)))
        total, (by_x, by_w) = step(*arguments)
        y = np.tanh(x) @ w
        assert np.isclose(float(total), (y**2).sum())
        assert np.allclose(by_x, 2 * y @ w.T * (1 - np.tanh(x) ** 2))
        assert np.allclose(by_w, np.tanh(x).T @ (2 * y))
        assert (by_x.mesh, by_w.mesh) == (MESH, EMBEDDING)
        stage: Any = step.trace(*arguments).partition()
        moves.append([row.target.rpartition("], ")[2] for row in stage.transfers])
    there, back = f"{EMBEDDING!r})", f"{MESH!r})"
    assert moves == [[there, back], [there, there, back]]


def test_what_is_computed_again_takes_constants_from_outside() -> None:
    x, w = normal(8, 6), normal(6, 4)

    def loss(x: Any, w: Any) -> Any:
        scale = sw.exp(sw.ones(6, dtype=sw.float64))
        return sw.sum(sw.checkpoint(lambda x, w: across(x * scale, w) * scale[:4])(x, w))

    by_x, by_w = sw.grad(loss, argnums=(0, 1))(at(x, ["batch"]), at(w, [None, "embedding"], EMBEDDING))
    h = np.tanh(x * np.e)
    assert np.allclose(by_x, np.ones((8, 4)) @ w.T * (1 - h**2) * np.e**2)
    assert np.allclose(by_w, h.T @ np.ones((8, 4)) * np.e)


def test_rules_for_gradients_cross_meshes() -> None:
    x, w = at(normal(8, 6), ["batch"]), at(normal(6, 4), [None, "embedding"], EMBEDDING)

    def ruled(bring: Any) -> Any:
        def call(x: Any, w: Any) -> Any:
            return across(x, w), lambda gradient: (bring(gradient @ w.T * 3, x), w * 2)

        return sw.grad(lambda x, w: sw.sum(sw.custom_gradient(call)(x, w)), argnums=(0, 1))

    by_x, by_w = ruled(sw.relayout_like)(x, w)
    assert np.allclose(by_x, np.ones((8, 4)) @ np.asarray(w).T * 3)
    assert np.allclose(by_w, np.asarray(w) * 2)
    assert (by_x.mesh, by_w.mesh) == (MESH, EMBEDDING)
    with pytest.raises(ValueError, match="SW0505") as error:
        ruled(lambda gradient, _: gradient)(x, w)
    assert f"gives for argument 0, which is on {MESH!r}, a gradient on {EMBEDDING!r}\n" in str(error.value)


def test_what_comes_back_comes_split() -> None:
    table = normal(8, 6).astype(np.float32)

    @sw.function
    def slopes(table: Any) -> Any:
        return sw.grad(lambda table: sw.sum(sw.square(sw.relayout(sw.sin(table), sw.Layout(["batch"], MESH)))))(table)

    argument = at(table, [None, "embedding"], EMBEDDING)
    stage = slopes.trace(argument).partition()
    _, back = stage.explain().transfers
    assert back.target == repr(sw.Layout([None, "embedding"], EMBEDDING))
    assert back.bytes_per_device == 8 * 6 * 4 / 2  # the columns that a device works on, and no others
    compiled = stage.compile(certify=True)
    assert np.allclose(compiled(argument), 2 * np.sin(table) * np.cos(table), atol=1e-6)
    assert compiled.ledger.sent_bytes == stage.predicted_bytes


def test_back_and_forth() -> None:
    x = normal(8, 4)

    @sw.function
    def there_and_back(x: Any) -> Any:
        there = sw.relayout(sw.exp(x), sw.Layout(["embedding"], EMBEDDING))
        return sw.relayout(there + 1, x.layout) + x, there

    back, there = there_and_back(at(x, ["batch"]))
    assert np.allclose(back, np.exp(x) + 1 + x)
    assert there.layout == sw.Layout(["embedding", None], EMBEDDING)


def test_only_the_mesh_changes() -> None:
    x, reference = at(normal(8, 4), ["batch", "model"]), at(normal(3), [None], OTHER)
    moved = sw.function(lambda x, other: (sw.relayout_like(x, other, use_mesh_only=True), other))(x, reference)[0]
    assert moved.layout == sw.Layout(["batch", "model"], OTHER)
    assert np.array_equal(moved, x)
    computed = sw.function(lambda x: sw.relayout(sw.exp(x), OTHER))(x)
    assert computed.mesh == OTHER
    assert np.allclose(computed, np.exp(np.asarray(x)))


def test_bytes_of_transfers_are_counted() -> None:
    x = at(np.zeros((8, 4), np.float32), ["batch"])
    function = sw.function(lambda x: sw.relayout(x, sw.Layout(["embedding"], EMBEDDING)))
    compiled = function.compiled(x)
    compiled(x)
    (entry,) = compiled.ledger.as_dict()["collectives"]
    assert entry == {"kind": "transfer", "axes": [], "messages": 1, "sent_bytes": 8 * 4 * 4 // 2}

    # The devices of both meshes are CPU:0 to CPU:7: each has half of what it needs.
    pair = sw.Mesh([("x", 2), ("y", 4)])
    function = sw.function(lambda x: sw.relayout(x, sw.Layout(["x"], pair)))
    compiled = function.compiled(x)
    compiled(x)
    assert compiled.ledger.sent_bytes == 8 * 4 * 4 / 2 - 8 * 4 * 4 / 4


def test_tensors_of_two_meshes_do_not_mix() -> None:
    with pytest.raises(ValueError, match="SW0505") as error:
        sw.function(lambda a, b: a + b)(at(normal(8), ["batch"]), at(normal(8), ["embedding"], EMBEDDING))
    assert "add uses tensors of two meshes" in str(error.value)


def test_loops_and_branches_stay_on_their_mesh() -> None:
    x, table = normal(8, 4), normal(4)

    @sw.function
    def run(x: Any, table: Any) -> Any:
        rows = sw.relayout(table * 2, sw.Layout([None], MESH))
        return sw.scan(lambda s, row: (s + row * rows, None), sw.zeros(4, dtype=sw.float64), x)[0]

    found = run(at(x, [None, "model"]), at(table, ["embedding"], EMBEDDING))
    assert np.allclose(found, (x * table * 2).sum(0))

    def body(x: Any, _: Any) -> Any:
        return sw.relayout_like(across(x, np.ones((6, 6))), x), None

    with pytest.raises(ValueError, match=r"SW0505.*while uses tensors of two meshes") as error:
        sw.function(lambda x: sw.scan(body, x, None, 3)[0])(at(normal(8, 6), ["batch"]))
    assert "help: a loop or a branch is on one mesh: bring what it takes there before it" in str(error.value)


def test_what_is_made_of_constants_is_made_on_each_mesh() -> None:
    x, table = normal(8, 4), normal(4, 4)

    @sw.function
    def run(x: Any, table: Any) -> Any:
        wide = sw.exp(sw.ones(4, dtype=sw.float64)) * 2

        def body(carried: Any, _: Any) -> Any:
            return carried * wide, None

        return x * wide, sw.scan(body, table, None, 2)[0], wide

    by_rows, by_table, wide = run(at(x, ["batch", "model"]), at(table, [None, "embedding"], EMBEDDING))
    assert np.allclose(by_rows, x * 2 * np.e)
    assert np.allclose(by_table, table * 4 * np.e**2)
    assert np.allclose(wide, np.full(4, 2 * np.e))
    assert (by_rows.mesh, by_table.mesh) == (MESH, EMBEDDING)


def test_a_mesh_of_one_device() -> None:
    alone = sw.Mesh([], devices=["GPU:3"])
    doubled = sw.function(lambda x: x * 2)(at(np.ones(4), [], alone))
    assert isinstance(doubled, sw.DTensor)
    assert doubled.mesh == alone
    moved = sw.function(lambda x: sw.relayout(x, sw.Layout(["batch"], MESH)) + 1)(doubled)
    assert np.array_equal(moved, np.full(4, 3.0))


def test_the_embedding_of_the_rfc() -> None:
    """`tf.gather(ind, table)` runs on the table's devices, `relayout_like` brings the rows to the batch."""
    table, images = normal(16, 6), normal(8, 6)
    indices = RANDOM.integers(0, 16, 8)

    def call(table: Any, indices: Any, images: Any) -> Any:
        rows = sw.gather(indices, table)
        return sw.sum(sw.square(sw.relayout_like(rows, images) * images))

    arguments = at(table, [None, "embedding"], EMBEDDING), at(indices, ["batch"]), at(images, ["batch"])
    value, gradient = sw.value_and_grad(call)(*arguments)
    assert np.isclose(float(value), np.sum((table[indices] * images) ** 2))
    expected = np.zeros_like(table)
    np.add.at(expected, indices, 2 * table[indices] * images**2)
    assert np.allclose(gradient, expected)
    assert gradient.mesh == EMBEDDING
