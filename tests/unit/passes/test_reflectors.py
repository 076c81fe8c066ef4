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


TALL, NUMBERS = f'tensor<{ROWS}x{COLUMNS}xf64, #dtensor.layout<@mesh, [{{"x"}}, {{}}]>>', f"tensor<{COLUMNS}xf64>"


def program(calls: str, results: str) -> str:
    """Calls of LAPACK; what is returned is a tall matrix, and numbers."""
    return f"""
dtensor.mesh @mesh = <["x"={PARTS}]>
func.func public @main(%a: {TALL}) -> ({TALL}, {NUMBERS}) {{
  {calls}
  return {results} : {TALL}, {NUMBERS}
}}
"""


FACTORS = "%0:2 = stablehlo.custom_call @lapack_dgeqrf_ffi(%a) {mhlo.backend_config = {}}"
FACTORS += f" : ({TALL}) -> ({TALL}, {NUMBERS})\n"
BASIS = "  %1 = stablehlo.custom_call @lapack_dorgqr_ffi(%0#0, %0#1) {mhlo.backend_config = {}}"
BASIS += f" : ({TALL}, {NUMBERS}) -> {TALL}"


def singular(mode: str) -> str:
    """Singular values, with vectors (S) or without (N)."""
    call = f"%0:5 = stablehlo.custom_call @lapack_dgesdd_ffi(%a) {{mhlo.backend_config = {{mode = {ord(mode)} : ui8}}}}"
    square = f"tensor<{COLUMNS}x{COLUMNS}xf64>"
    return f"{call} : ({TALL}) -> ({TALL}, {NUMBERS}, {TALL}, {square}, tensor<i32>)"


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
    ran = run(program(FACTORS, "%0#0, %0#1"), [matrix])
    for found, expected in zip(ran.results, packed(matrix), strict=True):
        scale = np.nanmax(abs(expected), axis=0, initial=1e-300)
        np.testing.assert_allclose(found / scale, expected / scale, atol=1e-13)


def test_a_column_takes_two_rows() -> None:
    """Reflectors take four sums of two rows and a sign, and one of sizes; to gather takes 7/8 of the matrix."""
    matrix = changed(lambda matrix: None)
    ran = run(program(FACTORS, "%0#0, %0#1"), [matrix])
    assert ran.predicted == TWICE * SUMS * 8 < Fraction(PARTS - 1, PARTS) * ROWS * COLUMNS * 8
    assert ran.executable.ledger.messages == COLUMNS + 1


def test_what_reflectors_make_takes_their_products() -> None:
    matrix = changed(lambda matrix: None)
    ran = run(program(FACTORS + BASIS, "%1, %0#1"), [matrix])
    np.testing.assert_allclose(ran.results[0], np.linalg.qr(matrix).Q, atol=1e-14)
    assert ran.predicted == TWICE * (SUMS + COLUMNS * 2 * COLUMNS) * 8


@pytest.mark.parametrize(
    ("mode", "sent"), [("N", TWICE * (SUMS + COLUMNS * COLUMNS)), ("S", TWICE / 2 * ROWS * COLUMNS)]
)
def test_singular_values_are_those_of_the_upper_factor(mode: str, sent: Fraction) -> None:
    """Where vectors are wanted, whose signs rounding decides, the matrix is gathered."""
    matrix = changed(lambda matrix: None)
    ran = run(program(singular(mode), "%0#0, %0#1"), [matrix])
    np.testing.assert_allclose(ran.results[1], np.linalg.svd(matrix, compute_uv=False), rtol=1e-13)
    assert ran.predicted == sent * 8
