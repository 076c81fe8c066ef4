"""A sort of one row over a power of two of parts: sorted parts are merged where that sends less than all of them."""

from __future__ import annotations

import numpy as np
import pytest
from harness import run


def program(parts: int, size: int, element: str, places: bool = False) -> str:
    """A stable sort of one row, ascending; with places, of these as well."""
    rows, numbers = (f'tensor<{size}x{each}, #dtensor.layout<@mesh, [{{"x"}}]>>' for each in (element, "i32"))
    scalar, taken, types = f"tensor<{element}>", "%a, %i" if places else "%a", [rows, numbers][: 1 + places]
    more = ", %k: tensor<i32>, %l: tensor<i32>" if places else ""
    results = ", ".join(f"%r#{at}" for at in range(len(types))) if places else "%r"
    return f"""
dtensor.mesh @mesh = <["x"={parts}]>
func.func public @main(%a: {rows}) -> ({", ".join(types)}) {{
  %i = stablehlo.iota dim = 0 : {numbers}
  %r{":2" if places else ""} = "stablehlo.sort"({taken}) <{{dimension = 0 : i64, is_stable = true}}> ({{
  ^bb0(%x: {scalar}, %y: {scalar}{more}):
    %z = stablehlo.compare LT, %x, %y : ({scalar}, {scalar}) -> tensor<i1>
    stablehlo.return %z : tensor<i1>
  }}) : ({", ".join(types)}) -> ({", ".join(types)})
  return {results} : {", ".join(types)}
}}
"""


@pytest.mark.parametrize(("parts", "rounds"), [(8, 6), (16, 10)])
def test_parts_of_one_row_are_merged_in_rounds(parts: int, rounds: int) -> None:
    row = np.random.default_rng(0).integers(-50, 50, 4 * parts).astype(np.int32)
    ran = run(program(parts, len(row), "i32"), [row])
    np.testing.assert_array_equal(ran.results[0], np.sort(row))
    assert ran.collectives == ["window"] * rounds
    assert ran.predicted == rounds * 4 * 4


def test_where_equal_elements_can_be_told_apart_they_stay_in_order() -> None:
    row = np.random.default_rng(0).integers(0, 3, 128).astype(np.float32)
    ran = run(program(32, 128, "f32", places=True), [row])
    np.testing.assert_array_equal(ran.results[0], np.sort(row))
    np.testing.assert_array_equal(ran.results[1], np.argsort(row, kind="stable"))
    # 15 rounds of keys and places; to have all keys, 31 parts of four bytes each would come in.
    assert ran.predicted == 15 * 4 * (4 + 4) < 31 * 4 * 4 + 1


def test_places_are_as_narrow_as_the_row_is_short() -> None:
    row = np.array([0.0, -0.0, 1.0, -1.0] * 16, np.float32)
    ran = run(program(16, 64, "f32"), [row])
    np.testing.assert_array_equal(np.signbit(ran.results[0]), np.signbit(row[np.argsort(row, kind="stable")]))
    assert ran.predicted == 10 * 4 * (4 + 1)


def test_places_that_would_cost_more_than_all_keys_are_not_sent() -> None:
    row = np.array([0.0, -0.0] * 16, np.float32)
    ran = run(program(8, 32, "f32"), [row])
    np.testing.assert_array_equal(np.signbit(ran.results[0]), np.signbit(row))
    assert "window" not in ran.collectives
