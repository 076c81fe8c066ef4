"""Triangular systems and Cholesky factors of split matrices: in blocks, for half of the matrix or for the solution."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from harness import run

SIZE, PARTS, COLUMNS = 16, 4, 3
BLOCK = SIZE // PARTS
ROOT = np.random.default_rng(0).normal(size=(SIZE, SIZE))
MATRIX = ROOT @ ROOT.T + np.eye(SIZE)
RIGHT = np.random.default_rng(1).normal(size=(SIZE, COLUMNS))
BY_ROWS, BY_COLUMNS = '[{"x"}, {}]', '[{}, {"x"}]'


def laid(rows: int, columns: int, layout: str) -> str:
    return f"tensor<{rows}x{columns}xf64, #dtensor.layout<@mesh, {layout}>>"


def factor(layout: str, parts: int = PARTS, size: int = SIZE) -> str:
    a = laid(size, size, layout)
    return f"""
dtensor.mesh @mesh = <["x"={parts}]>
func.func public @main(%a: {a}) -> {a} {{
  %0 = stablehlo.cholesky %a, lower = true : {a}
  return %0 : {a}
}}
"""


def solve(layout: str) -> str:
    a, b = laid(SIZE, SIZE, layout), laid(SIZE, COLUMNS, BY_ROWS)
    flags = "left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>"
    return f"""
dtensor.mesh @mesh = <["x"={PARTS}]>
func.func public @main(%a: {a}, %b: {b}) -> {b} {{
  %0 = "stablehlo.triangular_solve"(%a, %b) <{{{flags}}}> : ({a}, {b}) -> {b}
  return %0 : {b}
}}
"""


@pytest.mark.parametrize("layout", [BY_ROWS, BY_COLUMNS])
def test_of_a_matrix_its_lower_half_is_sent_to_be_factored(layout: str) -> None:
    ran = run(factor(layout), [MATRIX])
    np.testing.assert_allclose(ran.results[0], np.linalg.cholesky(MATRIX), atol=1e-12)
    # The blocks below the diagonal, or on it and above the last rows; each is sent to all others by who has it.
    blocks = PARTS * (PARTS - 1) // 2
    lacking = Fraction(PARTS - 1, PARTS)
    # And whether any block has failed: a truth value, summed up.
    assert ran.predicted == lacking * blocks * BLOCK * BLOCK * 8 + 2 * lacking


@pytest.mark.parametrize(("layout", "once"), [(BY_ROWS, 1), (BY_COLUMNS, 2)])
def test_of_a_system_only_the_solution_is_sent(layout: str, once: int) -> None:
    lower = np.tril(MATRIX)
    ran = run(solve(layout), [MATRIX, RIGHT])
    np.testing.assert_allclose(ran.results[0], np.linalg.solve(lower, RIGHT), atol=1e-12)
    # All parts but the last one to all devices, or summed up there.
    assert ran.predicted == once * Fraction(PARTS - 1, PARTS) * (PARTS - 1) * BLOCK * COLUMNS * 8


def weighed(text: str, message_bytes: int) -> str:
    return f"module attributes {{dtensor.message_bytes = {message_bytes} : i64}} {{{text}}}"


@pytest.mark.parametrize(("message_bytes", "moves"), [(100, ["window"] * 3), (200, ["all_gather"])])
def test_a_small_factor_is_made_whole_where_rounds_cost_more(message_bytes: int, moves: list[str]) -> None:
    """Three blocks go to three others in two rounds each, and one sum, for 960 bytes less than a gather's 1,536."""
    ran = run(weighed(factor(BY_ROWS), message_bytes), [MATRIX])
    np.testing.assert_allclose(ran.results[0], np.linalg.cholesky(MATRIX), atol=1e-12)
    assert [kind for kind in ran.collectives if kind in ("window", "all_gather")] == moves


@pytest.mark.parametrize(("message_bytes", "moves"), [(300, ["window"] * 3), (1000, ["all_gather"] * 2)])
def test_a_small_system_is_solved_whole_where_rounds_cost_more(message_bytes: int, moves: list[str]) -> None:
    """Three parts in two rounds each for 216 bytes, or both gathered for 1,824."""
    lower = np.tril(MATRIX)
    ran = run(weighed(solve(BY_ROWS), message_bytes), [MATRIX, RIGHT])
    np.testing.assert_allclose(ran.results[0], np.linalg.solve(lower, RIGHT), atol=1e-12)
    assert [kind for kind in ran.collectives if kind in ("window", "all_gather")] == moves


def test_what_is_work_stays_split_whatever_a_message_counts() -> None:
    matrix = np.diag(np.arange(1.0, 257.0))
    ran = run(weighed(factor(BY_ROWS, 2, 256), 1 << 30), [matrix])
    np.testing.assert_allclose(ran.results[0], np.sqrt(matrix), atol=1e-12)
    assert "window" in ran.collectives


def test_what_would_be_written_out_too_often_is_gathered() -> None:
    matrix = np.diag(np.arange(1.0, 65.0))
    ran = run(factor(BY_ROWS, 64, 64), [matrix])
    np.testing.assert_allclose(ran.results[0], np.sqrt(matrix), atol=1e-12)
    assert ran.collectives == ["all_gather", "all_slice"]
