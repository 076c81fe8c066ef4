"""Functions that make arrays: their elements under every kind of layout, TensorFlow's arguments, and what they hold."""

from __future__ import annotations

import math
import re
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import shardwright as sw

MESH = sw.Mesh([("batch", 4), ("model", 2)])
ROWS = sw.Layout(["batch"], MESH)
LAYOUTS = [
    None,
    ROWS,
    sw.Layout(["model", "batch"], MESH),
    sw.Layout([None, ("batch", "model")], MESH),
    sw.Layout(["batch:(2)2", "batch:(1)2"], MESH),
    sw.Layout(sw.Mesh.UNSHARDED, MESH),
]
LIKE = np.arange(64, dtype="float64").reshape(8, 8)
PLANE: list[tuple[str, Callable[[Any], Any], Any]] = [
    ("zeros", lambda layout: sw.zeros((8, 8), layout=layout), np.zeros((8, 8), "float32")),
    ("zeros_tf", lambda layout: sw.zeros((8, 8), sw.int32, "z", layout), np.zeros((8, 8), "int32")),
    ("ones", lambda layout: sw.ones((8, 8), sw.float64, None, layout), np.ones((8, 8))),
    ("empty", lambda layout: sw.empty((8, 8), layout=layout), np.zeros((8, 8), "float32")),
    ("full", lambda layout: sw.full((8, 8), 2.5, sw.float64, "x", layout), np.full((8, 8), 2.5)),
    ("fill", lambda layout: sw.fill([8, 8], 7, "nines", layout), np.full((8, 8), 7, "int32")),
    ("zeros_like", lambda layout: sw.zeros_like(LIKE, layout=layout), np.zeros((8, 8))),
    ("zeros_like_tf", lambda layout: sw.zeros_like(LIKE, sw.float32, "z", layout), np.zeros((8, 8), "float32")),
    ("ones_like", lambda layout: sw.ones_like(LIKE, sw.float32, None, layout), np.ones((8, 8), "float32")),
    ("full_like", lambda layout: sw.full_like(LIKE, 3, layout=layout), np.full((8, 8), 3.0)),
    ("eye", lambda layout: sw.eye(8, k=1, layout=layout), np.eye(8, k=1, dtype="float32")),
    ("asarray", lambda layout: sw.asarray(LIKE, layout=layout), LIKE),
    ("asarray_list", lambda layout: sw.asarray(LIKE.tolist(), sw.float64, layout=layout), LIKE),
]
LINES: list[tuple[str, Callable[[Any], Any], Any]] = [
    ("arange", lambda layout: sw.arange(1, 17, 2, sw.int64, None, layout), np.arange(1, 17, 2, dtype="int64")),
    ("linspace", lambda layout: sw.linspace(0, 7, 8, sw.float64, "l", layout), np.linspace(0, 7, 8)),
]


@pytest.mark.every(5)
@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
@pytest.mark.parametrize(("make", "expected"), [case[1:] for case in PLANE], ids=[case[0] for case in PLANE])
def test_elements_and_layout(make: Callable[[Any], Any], expected: Any, layout: sw.Layout | None) -> None:
    """By default each function in one or two of the six layouts, and each layout for some."""
    for found in (make(layout), sw.function(lambda: make(layout))()):
        _check(found, expected, layout)


@pytest.mark.parametrize("layout", [None, ROWS, sw.Layout([("model", "batch")], MESH)], ids=str)
@pytest.mark.parametrize(("make", "expected"), [case[1:] for case in LINES], ids=[case[0] for case in LINES])
def test_elements_of_a_line(make: Callable[[Any], Any], expected: Any, layout: sw.Layout | None) -> None:
    for found in (make(layout), sw.function(lambda: make(layout))()):
        _check(found, expected, layout)


def _check(found: Any, expected: Any, layout: sw.Layout | None) -> None:
    assert type(found).__name__ == ("Tensor" if layout is None else "DTensor")
    if layout is not None:
        assert found.layout == layout.for_rank(found.ndim)
    assert found.dtype == expected.dtype
    assert np.array_equal(np.asarray(found), expected)


def test_like_follows_the_layout_of_its_model() -> None:
    assert sw.zeros_like(sw.ones((8, 8), layout=ROWS)).layout == ROWS.for_rank(2)
    whole = sw.Layout.replicated(MESH, 2)
    assert sw.zeros_like(sw.ones((8, 8), layout=ROWS), layout=whole).layout == whole


def test_names_are_in_the_program() -> None:
    text = sw.function(lambda: sw.zeros(4, sw.float32, "layer/bias")).trace().as_text()
    assert "%layer_bias = stablehlo.constant" in text


def test_large_arrays_are_distributed_by_asarray() -> None:
    big = np.arange(1 << 18, dtype="float32")
    found = sw.asarray(big, layout=ROWS)
    assert found.layout == ROWS
    assert np.array_equal(found.numpy(), big)
    big[0] = 5
    assert found.numpy()[0] == 0


@pytest.mark.parametrize(
    ("code", "make"),
    [
        ("SW0104", lambda: sw.zeros((6, 2), layout=ROWS)),
        ("SW0106", lambda: sw.ones(8, layout=sw.Layout(["batch", "model"], MESH))),
        ("SW0515", lambda: sw.eye(8, layout=["batch"])),  # pyright: ignore[reportArgumentType]
        ("SW0515", lambda: sw.asarray(LIKE, layout="batch")),  # pyright: ignore[reportArgumentType]
        ("SW0517", lambda: sw.zeros(3, device="gpu")),
        ("SW0506", lambda: sw.zeros(3, "no type")),
        ("SW0510", lambda: sw.fill([-1], 0)),
    ],
)
def test_mistakes(code: str, make: Callable[[], Any]) -> None:
    with pytest.raises(sw.ShardwrightError, match=code):
        make()


BIG: dict[str, Callable[[sw.Layout], Any]] = {
    "zeros": lambda layout: sw.zeros((2048, 2048), layout=layout),
    "fill": lambda layout: sw.fill((2048, 2048), 2.0, None, layout),
    "eye": lambda layout: sw.eye(2048, layout=layout),
    "linspace": lambda layout: sw.linspace(0, 1, 1 << 22, layout=layout),
    "arange": lambda layout: sw.arange(1 << 22, layout=layout),
}


@pytest.mark.parametrize("make", BIG.values(), ids=BIG)
def test_each_device_makes_its_own_part(make: Callable[[sw.Layout], Any]) -> None:
    """No device's program has the global shape in it or sends anything; besides the parts, next to nothing is held."""
    partitioned = sw.function(lambda: make(ROWS)).trace().propagate().partition()
    assert partitioned.predicted_bytes == 0
    _, _, body = partitioned.as_text().partition("func.func")[2].partition("\n")
    sizes = {math.prod(map(int, found.split("x"))) for found in re.findall(r"tensor<(\d[\dx]*)x\w+>", body)}
    assert max(sizes) == (1 << 22) // 4
    make(ROWS)  # compiled
    tracemalloc.start()
    try:
        found = make(ROWS)
        assert tracemalloc.get_traced_memory()[1] < 1.02 * found.size * found.dtype.itemsize
    finally:
        tracemalloc.stop()


def test_lists_of_typed_numbers_keep_the_type_at_any_depth() -> None:
    one = np.float64(1.0)
    assert [str(sw.asarray(given).dtype) for given in ([one], [[one]], [[[one], [one]]], [[1.0]], [[]])] == [
        "float64", "float64", "float64", "float32", "float32"
    ]  # fmt: skip


@pytest.mark.parametrize("far", [1 << 63, -(1 << 63) - 1, 10**30])
def test_a_diagonal_may_be_as_far_off_as_one_likes(far: int) -> None:
    """There is none: NumPy's functions, given the first that is none, say so."""
    near, matrix = 5 if far > 0 else -5, np.arange(9.0).reshape(3, 3)
    assert np.array_equal(sw.eye(3, 4, k=far), np.eye(3, 4, near))
    assert np.array_equal(sw.tril(matrix, k=far), np.tril(matrix, near))
    assert np.array_equal(sw.triu(matrix, k=far), np.triu(matrix, near))
    assert np.asarray(sw.linalg.diagonal(matrix, offset=far)).size == 0
    assert float(sw.linalg.trace(matrix, offset=far)) == np.trace(matrix, near)
