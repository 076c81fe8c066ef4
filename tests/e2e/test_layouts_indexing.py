"""
Programs that find elements by computed indices, under every even layout of arguments and results on a 2x2 mesh.

Starts are clamped where a partitioner may see only its own block, rows are looked up outside of the table, and updates
fall into blocks of other devices, over their edges, or nowhere.
"""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest
from harness import Array, run
from layout_cases import Case, combinations, shape_and_dtype

MOST, MOST_SLOW = 4, 600
"""Combinations of layouts that are taken of each program, spread over all, by the default run and by `slow`."""

ROWS = "update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1"
COLUMN = "    %i = stablehlo.reshape %b : (tensor<6xi32>) -> tensor<6x1xi32>\n"


def gather(operands: str, numbers: str, sizes: str, types: str, result: str = "%r0") -> str:
    """One gather."""
    return (
        f'    {result} = "stablehlo.gather"({operands}) <{{dimension_numbers = #stablehlo.gather<{numbers}>, '
        f"slice_sizes = array<i64: {sizes}>}}> : {types}"
    )


def scatter(operands: str, numbers: str, types: str, body: str = "add", flags: str = "") -> str:
    """One scatter of f32 by a binary op, or by the new element."""
    last = "%q" if body == "set" else "%s"
    combine = "" if body == "set" else f"      %s = stablehlo.{body} %p, %q : tensor<f32>\n"
    return (
        f'    %r0 = "stablehlo.scatter"({operands}) <{{{flags}scatter_dimension_numbers = '
        f"#stablehlo.scatter<{numbers}>}}> ({{\n    ^bb0(%p: tensor<f32>, %q: tensor<f32>):\n{combine}"
        f"      stablehlo.return {last} : tensor<f32>\n    }}) : {types}"
    )


def start(at: int, size: int, extent: int) -> int:
    """Where a slice starts that must not reach over the edge."""
    return min(max(at, 0), extent - size)


def sliced(a: Array, i: Array, j: Array, sizes: tuple[int, int]) -> Array:
    """A dynamic slice of a matrix."""
    x, y = start(int(i), sizes[0], a.shape[0]), start(int(j), sizes[1], a.shape[1])
    return a[x : x + sizes[0], y : y + sizes[1]]


def updated(a: Array, u: Array, i: int, j: int) -> Array:
    """A dynamic update of a matrix."""
    x, y = start(i, u.shape[0], a.shape[0]), start(j, u.shape[1], a.shape[1])
    result = a.copy()
    result[x : x + u.shape[0], y : y + u.shape[1]] = u
    return result


def scattered(a: Array, i: Array, u: Array, ufunc: Any = np.add) -> Array:
    """Rows combined with new ones, in order; rows outside are left out."""
    result = a.copy()
    for row, new in zip(i, u, strict=True):
        if 0 <= row < len(a):
            result[row] = new if ufunc is None else ufunc(result[row], new)
    return result


SLICE = "    %r0 = stablehlo.dynamic_slice %a, %b, %c, sizes = [{}] : (tensor<8x4xf32>, tensor<i32>, tensor<i32>) -> "
UPDATE = "    %r0 = stablehlo.dynamic_update_slice %a, {} -> tensor<8x4xf32>"
CASES: dict[str, Case] = {
    "one row": Case(
        ("8x4xf32",),
        ("1x4xf32",),
        "    %r0 = stablehlo.slice %a [5:6, 0:4] : (tensor<8x4xf32>) -> tensor<1x4xf32>",
        lambda a: a[5:6],
    ),
    "three columns, doubled": Case(
        ("4x8xf32",),
        ("4x3xf32",),
        "    %s = stablehlo.slice %a [0:4, 2:5] : (tensor<4x8xf32>) -> tensor<4x3xf32>\n"
        "    %r0 = stablehlo.add %s, %s : tensor<4x3xf32>",
        lambda a: 2 * a[:, 2:5],
    ),
    "slice of rows": Case(
        ("8x4xf32", "i32", "i32"),
        ("2x4xf32",),
        SLICE.format("2, 4") + "tensor<2x4xf32>",
        lambda a, i, j: sliced(a, i, j, (2, 4)),
    ),
    "slice across blocks": Case(
        ("8x4xf32", "i32", "i32"),
        ("6x2xf32",),
        SLICE.format("6, 2") + "tensor<6x2xf32>",
        lambda a, i, j: sliced(a, i, j, (6, 2)),
    ),
    "update of rows": Case(
        ("8x4xf32", "2x4xf32", "i32"),
        ("8x4xf32",),
        UPDATE.format("%b, %c, %c : (tensor<8x4xf32>, tensor<2x4xf32>, tensor<i32>, tensor<i32>)"),
        lambda a, u, i: updated(a, u, int(i), int(i)),
    ),
    "update across blocks": Case(
        ("8x4xf32", "6x2xf32", "i32"),
        ("8x4xf32",),
        UPDATE.format("%b, %c, %c : (tensor<8x4xf32>, tensor<6x2xf32>, tensor<i32>, tensor<i32>)"),
        lambda a, u, i: updated(a, u, int(i), int(i)),
    ),
    "update of itself by a slice of itself": Case(
        ("8x4xf32", "i32", "i32"),
        ("8x4xf32",),
        SLICE.format("4, 4").replace("%r0", "%s") + "tensor<4x4xf32>\n"
        "    %n = stablehlo.negate %s : tensor<4x4xf32>\n"
        + UPDATE.format("%n, %c, %b : (tensor<8x4xf32>, tensor<4x4xf32>, tensor<i32>, tensor<i32>)"),
        lambda a, i, j: updated(a, -sliced(a, i, j, (4, 4)), int(j), int(i)),
    ),
    "rows of a table": Case(
        ("8x4xf32", "6xi32"),
        ("6x4xf32",),
        COLUMN
        + gather(
            "%a, %i",
            "offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1",
            "1, 4",
            "(tensor<8x4xf32>, tensor<6x1xi32>) -> tensor<6x4xf32>",
        ),
        lambda a, i: a[np.clip(i, 0, 7)],
    ),
    "rows of a product": Case(
        ("8x8xf32", "8x4xf32", "4xi32"),
        ("4x4xf32",),
        "    %d = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]"
        " : (tensor<8x8xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>\n"
        + gather(
            "%d, %c",
            "offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1",
            "1, 4",
            "(tensor<8x4xf32>, tensor<4xi32>) -> tensor<4x4xf32>",
        ),
        lambda a, b, i: (a @ b)[np.clip(i, 0, 7)],
    ),
    "elements by two indices": Case(
        ("8x4xf32", "4x2xi32"),
        ("4xf32",),
        gather(
            "%a, %b",
            "collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1",
            "1, 1",
            "(tensor<8x4xf32>, tensor<4x2xi32>) -> tensor<4xf32>",
        ),
        lambda a, i: a[np.clip(i[:, 0], 0, 7), np.clip(i[:, 1], 0, 3)],
    ),
    "slices by two indices": Case(
        ("8x4xf32", "4x2xi32"),
        ("4x3x2xf32",),
        gather(
            "%a, %b",
            "offset_dims = [1, 2], start_index_map = [0, 1], index_vector_dim = 1",
            "3, 2",
            "(tensor<8x4xf32>, tensor<4x2xi32>) -> tensor<4x3x2xf32>",
        ),
        lambda a, i: np.stack([sliced(a, x, y, (3, 2)) for x, y in i]),
    ),
    "along an axis": Case(
        ("4x8xf32", "4x6xi32"),
        ("4x6xf32",),
        gather(
            "%a, %b",
            "collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], "
            "start_index_map = [1], index_vector_dim = 2",
            "1, 1",
            "(tensor<4x8xf32>, tensor<4x6xi32>) -> tensor<4x6xf32>",
        ),
        lambda a, i: np.take_along_axis(a, np.clip(i, 0, 7).astype(np.int64), 1),
    ),
    "rows added": Case(
        ("8x4xf32", "6xi32", "6x4xf32"),
        ("8x4xf32",),
        COLUMN + scatter("%a, %i, %c", ROWS, "(tensor<8x4xf32>, tensor<6x1xi32>, tensor<6x4xf32>) -> tensor<8x4xf32>"),
        scattered,
    ),
    "rows added to nothing": Case(
        ("6xi32", "6x4xf32"),
        ("8x4xf32",),
        "    %z = stablehlo.constant dense<0.0> : tensor<8x4xf32>\n"
        + COLUMN.replace("%b", "%a")
        + scatter("%z, %i, %b", ROWS, "(tensor<8x4xf32>, tensor<6x1xi32>, tensor<6x4xf32>) -> tensor<8x4xf32>"),
        lambda i, u: scattered(np.zeros((8, 4), np.float32), i, u),
    ),
    "rows subtracted": Case(
        ("8x4xf32", "6xi32", "6x4xf32"),
        ("8x4xf32",),
        COLUMN
        + scatter(
            "%a, %i, %c", ROWS, "(tensor<8x4xf32>, tensor<6x1xi32>, tensor<6x4xf32>) -> tensor<8x4xf32>", "subtract"
        ),
        lambda a, i, u: scattered(a, i, u, np.subtract),
    ),
    "rows multiplied": Case(
        ("8x4xf32", "6xi32", "6x4xf32"),
        ("8x4xf32",),
        COLUMN
        + scatter(
            "%a, %i, %c", ROWS, "(tensor<8x4xf32>, tensor<6x1xi32>, tensor<6x4xf32>) -> tensor<8x4xf32>", "multiply"
        ),
        lambda a, i, u: scattered(a, i, u, np.multiply),
    ),
    "greatest rows": Case(
        ("8x4xf32", "6xi32", "6x4xf32"),
        ("8x4xf32",),
        COLUMN
        + scatter(
            "%a, %i, %c", ROWS, "(tensor<8x4xf32>, tensor<6x1xi32>, tensor<6x4xf32>) -> tensor<8x4xf32>", "maximum"
        ),
        lambda a, i, u: scattered(a, i, u, np.maximum),
    ),
    "rows set": Case(
        ("8x4xf32", "6xi32", "6x4xf32"),
        ("8x4xf32",),
        COLUMN
        + scatter("%a, %i, %c", ROWS, "(tensor<8x4xf32>, tensor<6x1xi32>, tensor<6x4xf32>) -> tensor<8x4xf32>", "set"),
        lambda a, i, u: scattered(a, i, u, None),
    ),
    "a slice of itself added to itself": Case(
        ("8x4xf32", "1xi32"),
        ("8x4xf32",),
        "    %t = stablehlo.slice %a [1:5, 0:4] : (tensor<8x4xf32>) -> tensor<4x4xf32>\n"
        + scatter(
            "%a, %b, %t",
            "update_window_dims = [0, 1], scatter_dims_to_operand_dims = [0]",
            "(tensor<8x4xf32>, tensor<1xi32>, tensor<4x4xf32>) -> tensor<8x4xf32>",
        ),
        lambda a, i: updated(a, sliced(a, i[0], 0, (4, 4)) + a[1:5], int(i[0]), 0) if 0 <= i[0] <= 4 else a,
    ),
    "a slice of itself added to itself, from two on": Case(
        ("8x4xf32",),
        ("8x4xf32",),
        "    %t = stablehlo.slice %a [0:4, 0:4] : (tensor<8x4xf32>) -> tensor<4x4xf32>\n"
        "    %i = stablehlo.constant dense<2> : tensor<1xi32>\n"
        + scatter(
            "%a, %i, %t",
            "update_window_dims = [0, 1], scatter_dims_to_operand_dims = [0]",
            "(tensor<8x4xf32>, tensor<1xi32>, tensor<4x4xf32>) -> tensor<8x4xf32>",
        ),
        lambda a: updated(a, a[2:6] + a[:4], 2, 0),
    ),
    "along an axis, added": Case(
        ("4x8xf32", "4x6xi32", "4x6xf32"),
        ("4x8xf32",),
        scatter(
            "%a, %b, %c",
            "inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], "
            "scatter_dims_to_operand_dims = [1], index_vector_dim = 2",
            "(tensor<4x8xf32>, tensor<4x6xi32>, tensor<4x6xf32>) -> tensor<4x8xf32>",
        ),
        lambda a, i, u: np.stack([scattered(*row) for row in zip(a, i, u, strict=True)]),
    ),
}
"""Each expects what NumPy makes of it, element by element."""


def sampled(name: str, most: int) -> list[tuple[str, ...]]:
    """At most so many of a program's combinations of layouts."""
    every = combinations(CASES[name])
    return Random(name).sample(every, min(most, len(every)))


def inputs(case: Case, seed: int) -> list[Array]:
    """Small whole numbers, so that sums are exact in any order; half of the indices are outside."""
    random = np.random.default_rng(seed)
    sizes = [shape_and_dtype(text) for text in case.arguments]
    return [random.integers(-4, 12 if dtype == "int32" else 9, shape).astype(dtype) for shape, dtype in sizes]


def check(name: str, most: int) -> None:
    """Runs a program under so many combinations of layouts, each with other inputs."""
    case = CASES[name]
    for seed, layouts in enumerate(sampled(name, most)):
        arrays = inputs(case, seed)
        (actual,) = run(case.text(layouts), arrays).results
        np.testing.assert_array_equal(actual, case.numpy(*arrays), err_msg=case.text(layouts), strict=True)


@pytest.mark.every(3)
@pytest.mark.parametrize("name", CASES)
def test_layouts(name: str) -> None:
    check(name, MOST)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_every_layout(name: str) -> None:
    check(name, MOST_SLOW)
