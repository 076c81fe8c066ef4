"""A sort of one row over many parts: sorted parts are dealt out, or merged, where that sends less than all of them."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from harness import run


def program(parts: int, size: int, element: str, places: bool = False, rows: int = 0) -> str:
    """A stable sort of one row, or of many, ascending; with places, of these as well."""
    shape, dims = (f"{rows}x{size}", '{}, {"x"}') if rows else (f"{size}", '{"x"}')
    keys, numbers = (f"tensor<{shape}x{each}, #dtensor.layout<@mesh, [{dims}]>>" for each in (element, "i32"))
    scalar, taken, types = f"tensor<{element}>", "%a, %i" if places else "%a", [keys, numbers][: 1 + places]
    more = ", %k: tensor<i32>, %l: tensor<i32>" if places else ""
    results = ", ".join(f"%r#{at}" for at in range(len(types))) if places else "%r"
    return f"""
dtensor.mesh @mesh = <["x"={parts}]>
func.func public @main(%a: {keys}) -> ({", ".join(types)}) {{
  %i = stablehlo.iota dim = 0 : {numbers}
  %r{":2" if places else ""} = "stablehlo.sort"({taken}) <{{dimension = {int(rows > 0)} : i64, is_stable = true}}> ({{
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
    # 15 rounds of keys and places, which are below 128; to have all keys, 31 parts of four bytes each would come in.
    assert ran.predicted == 15 * 4 * (4 + 1) < 31 * 4 * 4


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


@pytest.mark.parametrize(
    ("size", "parts", "elements"),
    [
        (4096, 8, 2 * Fraction(7, 8) * (512 + 49)),  # dealt out, handed back, and 49 at each border, both ways
        (864, 6, 2 * Fraction(5, 6) * (144 + 25)),
        (600, 6, 2 * Fraction(5, 6) * (102 + 25) + 5),  # filled up to 102; then part d lacks what stands 2 d further on
        (60, 6, Fraction(5 * 10)),  # too short, and 6 are no power of two: gathered
        (512, 8, Fraction(6 * 64)),  # less than twice 49: merged in six rounds
    ],
)
def test_parts_that_are_long_enough_are_dealt_out(size: int, parts: int, elements: Fraction) -> None:
    row = np.random.default_rng(1).integers(-999, 999, size).astype(np.int32)
    ran = run(program(parts, size, "i32"), [row])
    np.testing.assert_array_equal(ran.results[0], np.sort(row))
    assert ran.predicted == 4 * elements


def test_where_each_stood_goes_along_once_parts_were_dealt_out() -> None:
    """And not before, where it stands in one operand more; that of an argsort always does, in as few bytes."""
    row = np.where(np.arange(1024) % 3, np.float32(0.0), np.float32(-0.0))
    order = np.argsort(row, kind="stable")
    each, border = Fraction(3, 4) * 256, Fraction(3, 4) * 2 * 9
    alone, placed = (run(program(4, 1024, "f32", places), [row]) for places in (False, True))
    np.testing.assert_array_equal(np.signbit(alone.results[0]), np.signbit(row[order]))
    np.testing.assert_array_equal(placed.results[1], order)
    assert alone.predicted == each * 4 + (each + border) * (4 + 2)
    assert placed.predicted == (2 * each + border) * (4 + 2)


@pytest.mark.parametrize(("size", "elements"), [(80, Fraction(20 + 9)), (104, 28 + 9 + Fraction(2))])
def test_what_is_out_of_place_is_near_a_border(size: int, elements: Fraction) -> None:
    """
    Zeros and ones show it, as in any sort that does not look at what it moves.

    Where they are on the wrong side of a border depends on how many zeros each of the four parts has, modulo four, and
    on how many there are: with a border of 8 elements for 9 it fails. Parts of 26 are filled up to 28.
    """
    remainders, each = itertools.product(range(4), repeat=4), size // 4
    zeros = [(4 * more + a, b, c, d) for a, b, c, d in remainders for more in range(each // 4 - 3, each // 4)]
    zeros.append((0, 0, 0, 0))  # an odd number of rows, which no axis can split instead
    rows = np.array([[at >= count for count in counts for at in range(each)] for counts in zeros], np.int8)
    ran = run(program(4, size, "i8", rows=len(rows)), [rows])
    np.testing.assert_array_equal(ran.results[0], np.sort(rows, 1))
    assert ran.predicted == 2 * Fraction(3, 4) * elements * len(rows)
