"""Slices and updates whose place is known along a split dim: each device receives what falls into its part."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from harness import run

from shardwright.layout.boxes import box
from shardwright.layout.forms.text import read_spec
from shardwright.layout.mesh import Mesh

MESH = Mesh(x=4, y=2)
ROWS, SIZE = 32, 8
X = np.arange(ROWS * 4, dtype=np.float32).reshape(ROWS, 4)
U = -1 - np.arange(SIZE * 4, dtype=np.float32).reshape(SIZE, 4)


def laid(rows: int, columns: int, layout: str) -> str:
    return f"tensor<{rows}x{columns}xf32, #dtensor.layout<@mesh, {layout}>>"


def update(operand: str, layout: str, start: int) -> str:
    x, u = laid(ROWS, 4, operand), laid(SIZE, 4, layout)
    return f"""
dtensor.mesh @mesh = <["x"=4, "y"=2]>
func.func public @main(%x: {x}, %u: {u}) -> {x} {{
  %s = stablehlo.constant dense<{start}> : tensor<i32>
  %z = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.dynamic_update_slice %x, %u, %s, %z : ({x}, {u}, tensor<i32>, tensor<i32>) -> {x}
  return %0 : {x}
}}
"""


def lacking(operand: str, layout: str, start: int) -> Fraction:
    """How many bytes of the update a device lacks of what falls into its part, on average."""
    total = 0
    for place in itertools.product(range(4), range(2)):
        at = dict(zip("xy", place, strict=True))
        due = box(read_spec(operand, "mesh"), (ROWS, 4), MESH, at)
        held = box(read_spec(layout, "mesh"), (SIZE, 4), MESH, at)
        rows = set(range(*due[0])) & set(range(start, start + SIZE))
        mine = {start + row for row in range(*held[0])}
        total += sum(not (row in mine and column in range(*held[1])) for row in rows for column in range(*due[1]))
    return Fraction(4 * total, MESH.size)


@pytest.mark.parametrize("start", [0, 3, 8, 13, 30])
@pytest.mark.parametrize(
    ("operand", "layout"),
    [
        ('[{"x"}, {}]', '[{"x"}, {}]'),
        ('[{"x"}, {"y"}]', '[{"x"}, {"y"}]'),
        ('[{"y", "x"}, {}]', '[{"y", "x"}, {}]'),
        ('[{"x"}, {}]', "[{}, {}]"),
    ],
)
def test_of_an_update_each_device_receives_what_falls_into_its_part(operand: str, layout: str, start: int) -> None:
    ran = run(update(operand, layout, start), [X, U])
    first = min(start, ROWS - SIZE)
    expected = X.copy()
    expected[first : first + SIZE] = U
    np.testing.assert_array_equal(ran.results[0], expected)
    assert ran.predicted == lacking(operand, layout, first)


def test_an_update_that_is_there_whole_for_others_is_not_moved_again() -> None:
    x, u, whole = laid(ROWS, 4, '[{"x"}, {}]'), laid(SIZE, 4, '[{"x"}, {}]'), laid(SIZE, 4, "[{}, {}]")
    text = f"""
dtensor.mesh @mesh = <["x"=4, "y"=2]>
func.func public @main(%x: {x}, %u: {u}) -> ({whole}, {x}) {{
  %s = stablehlo.constant dense<3> : tensor<i32>
  %z = stablehlo.constant dense<0> : tensor<i32>
  %0 = dtensor.relayout %u : {u} -> {whole}
  %1 = stablehlo.dynamic_update_slice %x, %u, %s, %z : ({x}, {u}, tensor<i32>, tensor<i32>) -> {x}
  return %0, %1 : {whole}, {x}
}}
"""
    ran = run(text, [X, U])
    np.testing.assert_array_equal(ran.results[0], U)
    np.testing.assert_array_equal(ran.results[1][3:11], U)
    assert ran.collectives == ["all_gather"]


def cut(ranges: str, rows: int, layout: str) -> str:
    x, part = laid(ROWS, 4, '[{"x"}, {}]'), laid(rows, 4, layout)
    return f"""
dtensor.mesh @mesh = <["x"=4]>
func.func public @main(%x: {x}) -> {part} {{
  %0 = stablehlo.slice %x [{ranges}, 0:4] : ({x}) -> {part}
  return %0 : {part}
}}
"""


@pytest.mark.parametrize("rows", [slice(3, 5), slice(7, 9), slice(1, 31, 7), slice(2, 32, 15)])
def test_few_rows_are_summed_up_from_who_has_them(rows: slice) -> None:
    expected = X[rows]
    ran = run(cut(f"{rows.start}:{rows.stop}:{rows.step or 1}", len(expected), "[{}, {}]"), [X])
    np.testing.assert_array_equal(ran.results[0], expected)
    assert ran.collectives == ["all_reduce"]
    assert ran.predicted == 2 * Fraction(3, 4) * expected.nbytes


def test_what_is_made_of_few_rows_is_summed_up_instead() -> None:
    """Rows 3 and 4 are not had by two of four devices, so that their sum is all that is sent."""
    x, part = laid(ROWS, 4, '[{"x"}, {}]'), "tensor<4xf32, #dtensor.layout<@mesh, [{}]>>"
    text = f"""
dtensor.mesh @mesh = <["x"=4]>
func.func public @main(%x: {x}) -> {part} {{
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.slice %x [3:5, 0:4] : ({x}) -> tensor<2x4xf32>
  %1 = stablehlo.reduce(%0 init: %z) applies stablehlo.add across dimensions = [0]
    : (tensor<2x4xf32>, tensor<f32>) -> {part}
  return %1 : {part}
}}
"""
    ran = run(text, [X])
    np.testing.assert_array_equal(ran.results[0], X[3:5].sum(0))
    assert ran.collectives == ["all_reduce"]
    assert ran.predicted == 2 * Fraction(3, 4) * 4 * 4


def test_many_rows_are_exchanged() -> None:
    ran = run(cut("2:18", 16, '[{"x"}, {}]'), [X])
    np.testing.assert_array_equal(ran.results[0], X[2:18])
    # Device i wants rows 2 + 4i to 6 + 4i and has rows 8i to 8i + 8.
    missing = [len(set(range(2 + 4 * i, 6 + 4 * i)) - set(range(8 * i, 8 * i + 8))) for i in range(4)]
    assert ran.predicted == Fraction(sum(missing), 4) * 4 * 4
    assert ran.collectives == ["window"]


def test_a_slice_is_looked_up_only_along_the_dims_whose_starts_are_unknown() -> None:
    x, part = laid(ROWS, 4, '[{"x"}, {}]'), laid(SIZE, 2, '[{"x"}, {}]')
    text = f"""
dtensor.mesh @mesh = <["x"=4]>
func.func public @main(%x: {x}, %j: tensor<i32>) -> {part} {{
  %s = stablehlo.constant dense<3> : tensor<i32>
  %0 = stablehlo.dynamic_slice %x, %s, %j, sizes = [8, 2] : ({x}, tensor<i32>, tensor<i32>) -> {part}
  return %0 : {part}
}}
"""
    ran = run(text, [X, np.int32(1)])
    np.testing.assert_array_equal(ran.results[0], X[3:11, 1:3])
    # Each device wants two rows of two elements; the first one has its own.
    assert ran.predicted == Fraction(3, 4) * 2 * 2 * 4
