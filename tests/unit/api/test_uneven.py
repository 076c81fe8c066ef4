"""Layouts that may be uneven: ten rows over four devices are 3, 3, 3 and 1."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import shardwright as sw

MESH = sw.Mesh(x=4)
ROWS = sw.Layout(["x"], MESH, uneven=True)
WHOLE = np.arange(30, dtype=np.float32).reshape(10, 3)


def test_components_are_as_long_as_their_part() -> None:
    x = sw.relayout(WHOLE, ROWS)
    assert (x.shape, x.layout.uneven) == ((10, 3), True)
    parts = sw.unpack(x)
    assert [len(part) for part in parts] == [3, 3, 3, 1]
    np.testing.assert_array_equal(np.concatenate(parts), WHOLE)
    np.testing.assert_array_equal(x.numpy(), WHOLE)


@pytest.mark.parametrize("size", range(1, 14))
def test_all_sizes_come_and_go(size: int) -> None:
    x = sw.relayout(np.arange(size), ROWS)
    assert [len(part) for part in sw.unpack(x)] == [len(range(size)[k : k + -(-size // 4)]) for k in _starts(size)]
    np.testing.assert_array_equal((x + x).numpy(), 2 * np.arange(size))
    assert int(sw.max(x)) == size - 1


def _starts(size: int) -> list[int]:
    return [device * -(-size // 4) for device in range(4)]


def test_only_who_asks_splits_unevenly() -> None:
    even = sw.Layout(["x"], MESH)
    with pytest.raises(ValueError, match="SW0104"):
        sw.relayout(WHOLE, even)
    assert even == ROWS
    assert repr(ROWS) == "Layout(['x'], Mesh(x=4), uneven=True)"
    assert sw.relayout(WHOLE[:8], ROWS).shape == (8, 3)


def test_a_function_takes_and_gives_them() -> None:
    x = sw.relayout(WHOLE, ROWS)

    @sw.function
    def step(a: sw.Array) -> tuple[sw.Array, ...]:
        return a * 2, sw.mean(a, axis=0), sw.argmax(a, axis=0), sw.cumsum(a, axis=0), sw.flip(a, axis=0)

    twice, mean, largest, sums, flipped = step(x)
    assert twice.layout == x.layout
    np.testing.assert_array_equal(twice.numpy(), 2 * WHOLE)
    np.testing.assert_allclose(mean.numpy(), WHOLE.mean(0))
    np.testing.assert_array_equal(largest.numpy(), [9, 9, 9])
    np.testing.assert_allclose(sums.numpy(), np.cumsum(WHOLE, 0))
    np.testing.assert_array_equal(flipped.numpy(), WHOLE[::-1])


def test_gradients_of_what_is_uneven() -> None:
    x = sw.relayout(WHOLE, ROWS)
    found = sw.grad(lambda a: sw.sum(sw.square(a) * 0.5))(x)
    np.testing.assert_array_equal(found.numpy(), WHOLE)


def test_bytes_are_those_that_were_predicted() -> None:
    compiled = sw.function(lambda a: sw.relayout(a, sw.Layout([None], MESH))).compiled(sw.relayout(WHOLE, ROWS))
    compiled(sw.relayout(WHOLE, ROWS))
    assert compiled.traced is not None
    assert compiled.ledger.sent_bytes == compiled.traced.partition().predicted_bytes == 3 * 3 * 3 * 4


def test_between_meshes_in_one_process() -> None:
    x = sw.relayout(WHOLE, ROWS)
    moved = sw.relayout(x, sw.Layout(["y"], sw.Mesh(y=3), uneven=True))
    assert [len(part) for part in sw.unpack(moved)] == [4, 4, 2]
    np.testing.assert_array_equal(moved.numpy(), WHOLE)


def test_splits_that_meet_come_and_go_as_their_layouts_say() -> None:
    """Inside both have sixteen rows; a caller holds twelve over four devices, and sixteen over eight."""
    mesh = sw.Mesh(x=4, y=2)
    four, eight = (sw.Layout([axes], mesh, uneven=True) for axes in ("x", ("x", "y")))
    step = sw.function(lambda a: (a * 2, sw.relayout(a, eight) + 1))
    twice, more = step(sw.relayout(WHOLE, four))
    assert [len(part) for part in sw.unpack(more)] == [2, 2, 2, 2, 2, 0, 0, 0]
    np.testing.assert_array_equal(twice.numpy(), 2 * WHOLE)
    np.testing.assert_array_equal(sw.function(lambda a, b: a - b)(twice, more).numpy(), WHOLE - 1)


def test_a_variable_is_split_so() -> None:
    v = sw.Variable(sw.relayout(WHOLE, ROWS))
    sw.function(lambda: v.assign_sub(v * 0.5))()
    np.testing.assert_array_equal(v.numpy(), WHOLE / 2)
    assert v.layout == sw.relayout(WHOLE, ROWS).layout


def test_large_ones_are_shown_by_what_they_have() -> None:
    x = sw.relayout(np.arange(2001), ROWS)
    assert "[   0,    1,    2, ..., 1998, 1999, 2000]" in repr(x)


def test_a_program_is_proved() -> None:
    proof = sw.function(lambda a: sw.nn.softmax(a, axis=0)).trace(sw.relayout(WHOLE, ROWS)).partition().certify()
    assert proof.proved


def test_checkpoints_hold_them(tmp_path: Path) -> None:
    v = sw.Variable(sw.relayout(WHOLE, ROWS))
    saved = sw.Checkpoint(v=v).save(tmp_path / "uneven")
    np.testing.assert_array_equal(sw.load_variables(saved)["v"], WHOLE)
    (back,) = sw.load_variables(saved, sw.LayoutMap({".*": ROWS})).values()
    assert [len(part) for part in sw.unpack(back)] == [3, 3, 3, 1]
    np.testing.assert_array_equal(back.numpy(), WHOLE)
    again = sw.Variable(sw.relayout(np.zeros_like(WHOLE), ROWS))
    sw.Checkpoint(v=again).restore(saved)
    np.testing.assert_array_equal(again.numpy(), WHOLE)
    assert sw.verify_checkpoint(saved) == WHOLE.nbytes


def test_components_are_packed_again() -> None:
    mesh = sw.Mesh(x=4, y=2)
    for layout in (sw.Layout(["x"], mesh, uneven=True), sw.Layout(["y", "x"], mesh, uneven=True)):
        whole = np.arange(35.0).reshape(5, 7)
        x = sw.relayout(whole, layout)
        again = sw.pack(sw.unpack(x), layout)
        assert (again.shape, again.layout) == (x.shape, x.layout)
        np.testing.assert_array_equal(again.numpy(), whole)
    parts = sw.unpack(sw.relayout(np.arange(10.0), sw.Layout(["x"], sw.Mesh(x=4), uneven=True)))
    with pytest.raises(ValueError, match="SW0512"):  # the shorter one is not the last
        sw.pack(parts[::-1], sw.Layout(["x"], sw.Mesh(x=4), uneven=True))


def test_batches_of_any_number_of_rows() -> None:
    rows = sw.Layout(["x"], sw.Mesh(x=4), uneven=True)
    elements = [np.full((1, 3), number, "float32") for number in range(7)]

    def shapes(ragged: Any) -> list[tuple[int, ...]]:
        made = sw.create_dtensor_iterable(
            elements, element_layouts=rows, batch_dimension="x", num_elements_per_batch=5, ragged=ragged
        )
        return [batch.shape for batch in made]

    assert shapes("drop") == [(5, 3)]
    assert shapes("smaller") == [(5, 3), (2, 3)]
    with pytest.raises(ValueError, match="SW0551"):
        shapes("error")


def test_variables_in_uneven_layouts_are_loaded(tmp_path: Path) -> None:
    rows = sw.Layout(["x"], sw.Mesh(x=4), uneven=True)

    class Layer(sw.Module):
        def __init__(self) -> None:
            self.v = sw.Variable(np.arange(10.0), layout=rows)

        @sw.function
        def __call__(self, x: Any) -> Any:
            return x * self.v

    layer = Layer()
    layer(sw.relayout(np.ones(10), rows))
    path = sw.save(layer, tmp_path / "layer")
    for mesh in (sw.Mesh(x=4), sw.Mesh(x=3)):
        loaded: Any = sw.load(path, mesh=mesh)
        np.testing.assert_array_equal(np.asarray(loaded(np.ones(10))), np.arange(10.0))
        assert loaded.v.layout == sw.Layout(["x"], mesh, uneven=True)
