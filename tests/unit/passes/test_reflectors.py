"""QR factors of matrices with many rows, which are split: sums for each column, signs and zeros as in LAPACK."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from harness import Array, run

ROWS, COLUMNS, PARTS = 64, 4, 8
TWICE = 2 * Fraction(PARTS - 1, PARTS)
"""What a device sends of a sum that all have in the end."""
SUMS = COLUMNS * (2 * COLUMNS + 1) + COLUMNS
"""The numbers that are summed up for reflectors, the sizes of columns included."""


def program(calls: str, result: str) -> str:
    rows, numbers = f'tensor<{ROWS}x{COLUMNS}xf64, #dtensor.layout<@mesh, [{{"x"}}, {{}}]>>', f"tensor<{COLUMNS}xf64>"
    return f"""
dtensor.mesh @mesh = <["x"={PARTS}]>
func.func public @main(%a: {rows}) -> ({rows}, {numbers}) {{
  %0:2 = stablehlo.custom_call @lapack_dgeqrf_ffi(%a) {{mhlo.backend_config = {{}}}} : ({rows}) -> ({rows}, {numbers})
  {calls.format(rows=rows, numbers=numbers)}
  return {result}, %0#1 : {rows}, {numbers}
}}
"""


BASIS = """%1 = stablehlo.custom_call @lapack_dorgqr_ffi(%0#0, %0#1) {{mhlo.backend_config = {{}}}}
      : ({rows}, {numbers}) -> {rows}"""


def packed(matrix: Array) -> tuple[Array, Array]:
    factors, scales = np.linalg.qr(matrix, mode="raw")
    return factors.T, scales


def changed(change: Callable[[Array], Any]) -> Array:
    matrix = np.random.default_rng(2).normal(size=(ROWS, COLUMNS))
    change(matrix)
    return matrix


def _diagonal(matrix: Array) -> None:
    matrix[:] = -np.eye(ROWS, COLUMNS)


def _nothing_below(matrix: Array) -> None:
    matrix[:] = np.triu(matrix)


def _one_sign(matrix: Array) -> None:
    matrix[0], matrix[1:, 1] = -0.0, 0.0


def _far_apart(matrix: Array) -> None:
    matrix *= [1e-200, 1e200, 1.0, 1e-300]


def _no_number(matrix: Array) -> None:
    matrix[9, 2] = np.nan


@pytest.mark.parametrize("change", [_diagonal, _nothing_below, _one_sign, _far_apart, _no_number])
def test_factors_are_those_of_lapack(change: Callable[[Array], Any]) -> None:
    """No reflection where nothing is below, the sign of -0, squares that are too large or small, NaN where it gets."""
    matrix = changed(change)
    ran = run(program("", "%0#0"), [matrix])
    for found, expected in zip(ran.results, packed(matrix), strict=True):
        scale = np.nanmax(abs(expected), axis=0, initial=1e-300)
        np.testing.assert_allclose(found / scale, expected / scale, atol=1e-13)


def test_a_column_takes_two_rows() -> None:
    """Reflectors take four sums of two rows and a sign, and one of sizes; to gather takes 7/8 of the matrix."""
    matrix = changed(lambda matrix: None)
    ran = run(program("", "%0#0"), [matrix])
    assert ran.predicted == TWICE * SUMS * 8 < Fraction(PARTS - 1, PARTS) * ROWS * COLUMNS * 8
    assert ran.executable.ledger.messages == COLUMNS + 1


def test_what_reflectors_make_takes_their_products() -> None:
    matrix = changed(lambda matrix: None)
    ran = run(program(BASIS, "%1"), [matrix])
    np.testing.assert_allclose(ran.results[0], np.linalg.qr(matrix).Q, atol=1e-14)
    assert ran.predicted == TWICE * (SUMS + COLUMNS * 2 * COLUMNS) * 8
