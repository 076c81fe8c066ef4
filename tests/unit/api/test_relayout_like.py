"""`relayout_like` in traced functions: the reference may be any value, and both get one layout."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import shardwright as sw
from shardwright import Layout, Mesh

MESH, OTHER = Mesh(x=4, y=2), Mesh(z=2)
ROWS, COLUMNS, WHOLE = (Layout(dims, MESH) for dims in (["x", None], [None, "y"], [None, None]))
NUMBERS = np.arange(32, dtype=np.float32).reshape(8, 4)
ONES = np.ones((8, 4), np.float32)


def rows() -> sw.Array:
    return sw.relayout(NUMBERS, ROWS)


def run(function: Callable[..., Any], *arguments: Any) -> Any:
    return sw.function(function)(*arguments)


def test_a_value_whose_layout_propagation_decides() -> None:
    def both(x: sw.Array, y: sw.Array) -> tuple[sw.Array, sw.Array]:
        reference = sw.exp(x)
        return sw.relayout_like(y, reference), reference

    for x in (rows(), sw.relayout(NUMBERS, COLUMNS)):
        like, reference = run(both, x, sw.relayout(ONES, WHOLE))
        assert like.layout == reference.layout == x.layout
        assert np.array_equal(like, ONES)


def test_a_reader_of_the_copy_decides_for_the_reference_too() -> None:
    def both(x: sw.Array, y: sw.Array, z: sw.Array) -> tuple[sw.Array, sw.Array]:
        reference = sw.exp(x)
        return sw.relayout_like(y, reference) + z, reference

    total, reference = run(both, NUMBERS, ONES, rows())
    assert total.layout == reference.layout == ROWS
    assert np.array_equal(total, NUMBERS + 1)


@pytest.mark.parametrize("lay_out", [sw.relayout, sw.constraint])
def test_a_layout_that_the_program_gave_counts_for_any_shape(lay_out: Callable[..., sw.Array]) -> None:
    found = run(lambda x: sw.relayout_like(np.ones((4, 6), "float32"), lay_out(sw.exp(x), COLUMNS)), rows())
    assert found.layout == COLUMNS


@pytest.mark.parametrize("reference", [lambda x: sw.sum(x, axis=0), lambda x: sw.exp(x)[:4]])
def test_a_layout_that_comes_later_needs_the_shape(reference: Callable[..., sw.Array]) -> None:
    with pytest.raises(ValueError, match=r"SW0502.*gets its layout later, and has another shape"):
        run(lambda x: sw.relayout_like(x, reference(x)), rows())


@pytest.mark.parametrize("use_mesh_only", [False, True])
def test_a_program_without_a_mesh(use_mesh_only: bool) -> None:
    with pytest.raises(ValueError, match=r"SW0502.*reference of shape \[8, 4\] is on no mesh"):
        run(lambda x: sw.relayout_like(x, sw.exp(x), use_mesh_only), NUMBERS)


def test_in_loops_and_branches() -> None:
    doubled = run(lambda x: sw.while_loop(lambda c: sw.sum(c) < 4000, lambda c: sw.relayout_like(c + c, c), x), rows())
    assert np.array_equal(doubled, NUMBERS * 16)  # 496 numbers in all, until they are 7,936
    assert doubled.layout == ROWS
    chosen = run(
        lambda x, y: sw.cond(sw.sum(x) > 0, lambda a, b: sw.relayout_like(b, sw.exp(a)), lambda a, b: a, x, y),
        rows(),
        ONES,
    )
    assert np.array_equal(chosen, ONES)
    assert chosen.layout == ROWS


def test_gradients_go_through() -> None:
    def loss(y: sw.Array, x: sw.Array) -> sw.Array:
        return sw.sum(sw.relayout_like(y * y, sw.exp(x)) * x)

    gradient = run(sw.grad(loss), ONES * 3, rows())
    assert np.array_equal(gradient, 6 * NUMBERS)


def test_a_reference_on_another_mesh() -> None:
    there = sw.relayout(ONES, Layout(["z", None], OTHER))

    def both(x: sw.Array, y: sw.Array) -> tuple[sw.Array, sw.Array, sw.Array]:
        reference = sw.exp(y)
        return sw.relayout_like(x, reference), reference, sw.relayout_like(x, reference, use_mesh_only=True)

    like, reference, moved = run(both, rows(), there)
    assert like.layout == reference.layout == there.layout
    assert moved.layout is not None
    assert moved.layout.mesh == OTHER
    assert np.array_equal(like, NUMBERS)
    assert np.array_equal(moved, NUMBERS)


def test_a_copy_that_comes_from_another_mesh_later_than_its_reference() -> None:
    there = sw.relayout(ONES, Layout([None, "z"], OTHER))

    def later(x: sw.Array, y: sw.Array) -> tuple[sw.Array, sw.Array]:
        reference = sw.exp(y)
        return sw.relayout_like(sw.relayout(x, Layout(["z", None], OTHER)) * 2, reference), reference

    like, reference = run(later, rows(), there)
    assert like.layout == reference.layout == there.layout
    assert np.array_equal(like, NUMBERS * 2)


def test_only_the_mesh_of_a_reference_on_the_same() -> None:
    found = run(lambda x, y: sw.relayout_like(y, sw.exp(x), use_mesh_only=True), rows(), sw.relayout(ONES, COLUMNS))
    assert found.layout == COLUMNS


def test_what_is_not_distributed_outside_of_functions_is_refused() -> None:
    with pytest.raises(ValueError, match=r"SW0502.*the reference is not a distributed tensor"):
        sw.relayout_like(ONES, ONES)  # pyright: ignore[reportArgumentType]
