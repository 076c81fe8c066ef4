"""LU factors of a matrix that is split by columns: pivots are found by who has the columns, and told to all."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from harness import Array, run

SIZE, PARTS = 24, 4
WIDTH = SIZE // PARTS


def program(layout: str, rows: int = SIZE) -> str:
    a, pivots = f"tensor<{rows}x{SIZE}xf64, #dtensor.layout<@mesh, {layout}>>", f"tensor<{min(rows, SIZE)}xi32>"
    return f"""
dtensor.mesh @mesh = <["x"={PARTS}]>
func.func public @main(%a: {a}) -> ({a}, {pivots}, tensor<i32>) {{
  %0:3 = stablehlo.custom_call @lapack_dgetrf_ffi(%a) {{mhlo.backend_config = {{}}}}
    : ({a}) -> ({a}, {pivots}, tensor<i32>)
  return %0#0, %0#1, %0#2 : {a}, {pivots}, tensor<i32>
}}
"""


def eliminated(matrix: Array) -> tuple[Array, Array, int]:
    """Column by column: the factors, pivots from one, the first of equal ones, and the first pivot that is zero."""
    work, pivots, zero = matrix.copy(), np.zeros(min(matrix.shape), np.int32), 0
    for column in range(len(pivots)):
        pivot = column + int(np.argmax(abs(work[column:, column])))
        pivots[column] = pivot + 1
        work[[column, pivot]] = work[[pivot, column]]
        if work[column, column]:
            work[column + 1 :, column] /= work[column, column]
            work[column + 1 :, column + 1 :] -= np.outer(work[column + 1 :, column], work[column, column + 1 :])
        elif not zero:
            zero = column + 1
    return work, pivots, zero


NORMAL = np.random.default_rng(5).normal(size=(SIZE, SIZE))
TIES = np.tril(-np.ones((SIZE, SIZE)), -1) + np.eye(SIZE)
"""All pivots are as large as all that is below them; no number is rounded."""


def without(column: int) -> Array:
    """A matrix of which a column, and one further on, is zero."""
    matrix = NORMAL.copy()
    matrix[:, [column, column + WIDTH]] = 0
    return matrix


@pytest.mark.parametrize("matrix", [TIES, NORMAL, without(WIDTH + 2)])
def test_factors_and_pivots_are_those_of_the_whole_matrix(matrix: Array) -> None:
    ran = run(program('[{}, {"x"}]'), [matrix])
    factors, pivots, zero = eliminated(matrix)
    np.testing.assert_allclose(ran.results[0], factors, atol=1e-12)
    np.testing.assert_array_equal(ran.results[1], pivots)
    assert int(ran.results[2]) == zero


def test_half_of_the_matrix_is_sent() -> None:
    """Of each part but the last what is below its first row; pivots of all, and whether any is zero, summed up."""
    ran = run(program('[{}, {"x"}]'), [NORMAL])
    lacking = Fraction(PARTS - 1, PARTS)
    sent = lacking * sum((SIZE - part * WIDTH) * WIDTH for part in range(PARTS - 1)) * 8
    assert ran.predicted == sent + 2 * lacking * (SIZE + PARTS) * 4 < lacking * SIZE * SIZE * 8
    assert ran.executable.ledger.messages == 2 * PARTS - 1


@pytest.mark.parametrize("rows", [1, 7, 12, 21, 36])
def test_only_parts_in_the_diagonal_have_factors(rows: int) -> None:
    """What is behind the last row is solved for where it is; the last row alone has nothing to eliminate."""
    matrix = np.random.default_rng(rows).normal(size=(rows, SIZE))
    ran = run(program('[{}, {"x"}]', rows), [matrix])
    factors, pivots, zero = eliminated(matrix)
    np.testing.assert_allclose(ran.results[0], factors, atol=1e-12)
    np.testing.assert_array_equal(ran.results[1], pivots)
    assert int(ran.results[2]) == zero
    heights = [rows - start for start in range(0, min(rows, SIZE), WIDTH)]
    sent = [height * min(height, WIDTH) for height in heights[: PARTS - 1] if height > 1]
    told = 2 * (min(rows, SIZE) + len(heights)) * 4
    assert ran.predicted == Fraction(PARTS - 1, PARTS) * (sum(sent) * 8 + told)
    assert ran.executable.ledger.messages == len(sent) + len(heights)
