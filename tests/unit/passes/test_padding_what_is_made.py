"""Dims that nobody split, and that do not divide as those do to which they are bound: padded where that sends less."""

from __future__ import annotations

import numpy as np
import pytest
from harness import Array, partitioned, predicted_bytes
from xdsl.dialects.func import FuncOp

from shardwright.dialects.dtensor import layout_of
from shardwright.dialects.text.parsing import parse_module
from shardwright.dialects.types import shape_of
from shardwright.passes.padding.pad_uneven import all_divide
from shardwright.runtime.executable import compile_module

ROWS = '{sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}'
WHOLE = "{sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}"
SUM = """
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %sum = stablehlo.reduce(%made init: %zero) applies stablehlo.add across dimensions = [0, 1]
      : (tensor<31x3xf32>, tensor<f32>) -> tensor<f32>
  return %sum : tensor<f32>"""
NEXT = """
  %0 = stablehlo.slice %a [0:31, 0:3] : (tensor<32x3xf32>) -> tensor<31x3xf32>
  %1 = stablehlo.slice %b [1:32, 0:3] : (tensor<32x3xf32>) -> tensor<31x3xf32>
  %made = stablehlo.multiply %0, %1 : tensor<31x3xf32>"""


def run(arguments: str, results: str, body: str, values: list[Array]) -> tuple[list[Array], float]:
    """The results of a program on eight devices, and what each of them sent, which is what was predicted."""
    text = f'sdy.mesh @mesh = <["x"=8]>\nfunc.func public @main({arguments}) -> ({results}) {{\n{body}\n}}'
    planned, local = partitioned(text, round_trip=True)
    executable = compile_module(local)
    found = executable.run(values)
    assert predicted_bytes(planned, executable.ledger.runs) == executable.ledger.sent_bytes
    return found, float(executable.ledger.sent_bytes)


def rows(count: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal((count, 3)).astype(np.float32)


def test_a_sum_over_pairs_of_neighbours_sends_one_row() -> None:
    """A row of three, to seven of eight devices, and the sum."""
    a, b = rows(32), rows(32, 1)
    arguments = f"%a: tensor<32x3xf32> {ROWS}, %b: tensor<32x3xf32> {ROWS}"
    (found,), sent = run(arguments, "tensor<f32>", NEXT + SUM, [a, b])
    np.testing.assert_allclose(found, (a[:-1] * b[1:]).sum(), rtol=1e-5)
    assert sent == 7 / 8 * 3 * 4 + 2 * 7 / 8 * 4


@pytest.mark.parametrize("given", ["", WHOLE])
def test_an_argument_that_does_not_divide_comes_whole(given: str) -> None:
    """Who calls the program has it as large as it is, whatever meets it inside."""
    a, b = rows(32), rows(31, 1)
    body = """
      %0 = stablehlo.slice %a [1:32, 0:3] : (tensor<32x3xf32>) -> tensor<31x3xf32>
      %made = stablehlo.multiply %0, %b : tensor<31x3xf32>"""
    arguments = f"%a: tensor<32x3xf32> {ROWS}, %b: tensor<31x3xf32> {given}"
    (found,), sent = run(arguments, "tensor<f32>", body + SUM, [a, b])
    np.testing.assert_allclose(found, (a[1:] * b).sum(), rtol=1e-5)
    assert sent == 7 / 8 * 3 * 4 + 2 * 7 / 8 * 4


def test_a_result_that_does_not_divide_is_split_by_nobody() -> None:
    a, b = rows(32), rows(32, 1)
    body = NEXT + SUM.replace("return %sum : tensor<f32>", "return %sum, %made, %b : {0}")
    kinds = "tensor<f32>, tensor<31x3xf32>, tensor<32x3xf32>"
    arguments = f"%a: tensor<32x3xf32> {ROWS}, %b: tensor<32x3xf32> {ROWS}"
    text = f'sdy.mesh @mesh = <["x"=8]>\nfunc.func public @main({arguments}) -> ({kinds}) {{\n{body.format(kinds)}\n}}'
    planned, local = partitioned(text)
    found = compile_module(local).run([a, b])
    for one, wanted in zip(found, [(a[:-1] * b[1:]).sum(), a[:-1] * b[1:], b], strict=True):
        np.testing.assert_allclose(one, wanted, rtol=1e-5)
    function = next(op for op in planned.ops if isinstance(op, FuncOp))
    last = function.get_return_op()
    assert last is not None
    made = last.operands[1]
    spec = layout_of(made)
    assert shape_of(made) == (31, 3)
    assert spec is not None
    assert spec.dims == ((), ())


def test_a_result_that_is_cut_keeps_its_layout() -> None:
    """A row more than the argument has: its padding, and the cut in front of the result, are one pad in the end."""
    body = NEXT + SUM.replace(
        "return %sum : tensor<f32>",
        """
      %longer = stablehlo.pad %a, %zero, low = [0, 0], high = [1, 0], interior = [0, 0]
          : (tensor<32x3xf32>, tensor<f32>) -> tensor<33x3xf32>
      return %sum, %longer : tensor<f32>, tensor<33x3xf32>""",
    )
    a, b = rows(32), rows(32, 1)
    arguments = f"%a: tensor<32x3xf32> {ROWS}, %b: tensor<32x3xf32> {ROWS}"
    found, _ = run(arguments, f"tensor<f32>, tensor<33x3xf32> {WHOLE}", body, [a, b])
    np.testing.assert_allclose(found[0], (a[:-1] * b[1:]).sum(), rtol=1e-5)
    np.testing.assert_array_equal(found[1], np.pad(a, ((0, 1), (0, 0))))


def test_what_padding_makes_no_cheaper_is_left_as_it_is() -> None:
    """The last 31 rows of 32, whole: they are gathered, with or without padding."""
    body = """
      %0 = stablehlo.slice %a [1:32, 0:3] : (tensor<32x3xf32>) -> tensor<31x3xf32>
      return %0 : tensor<31x3xf32>"""
    a = rows(32)
    (found,), sent = run(f"%a: tensor<32x3xf32> {ROWS}", f"tensor<31x3xf32> {WHOLE}", body, [a])
    np.testing.assert_array_equal(found, a[1:])
    assert sent == 7 * 4 * 3 * 4


def test_what_is_moved_alike_by_two_ops_is_sent_once() -> None:
    """With padding, all rows but the first are what a pad makes of all rows."""
    body = """
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %0 = stablehlo.slice %a [1:32, 0:3] : (tensor<32x3xf32>) -> tensor<31x3xf32>
      %made = stablehlo.multiply %0, %0 : tensor<31x3xf32>
      %1 = stablehlo.reduce(%made init: %zero) applies stablehlo.add across dimensions = [0, 1]
          : (tensor<31x3xf32>, tensor<f32>) -> tensor<f32>
      %2 = stablehlo.pad %a, %zero, low = [-1, 0], high = [1, 0], interior = [0, 0]
          : (tensor<32x3xf32>, tensor<f32>) -> tensor<32x3xf32>
      %3 = stablehlo.subtract %2, %a : tensor<32x3xf32>
      return %1, %3 : tensor<f32>, tensor<32x3xf32>"""
    a = rows(32)
    found, sent = run(f"%a: tensor<32x3xf32> {ROWS}", f"tensor<f32>, tensor<32x3xf32> {ROWS}", body, [a])
    np.testing.assert_allclose(found[0], (a[1:] ** 2).sum(), rtol=1e-5)
    np.testing.assert_array_equal(found[1], np.pad(a[1:], ((0, 1), (0, 0))) - a)
    assert sent == 7 / 8 * 3 * 4 + 2 * 7 / 8 * 4


def pooled(size: int, high: int, nothing: float, step: int = 2) -> str:
    """Twice the largest of three elements, every `step`, added to where it was found; and `high` places behind."""
    count = (size + high - 3) // step + 1
    return f"""
      %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %nothing = stablehlo.constant dense<{nothing}> : tensor<f32>
      %0 = "stablehlo.reduce_window"(%a, %least) <{{
        window_dimensions = array<i64: 3>, window_strides = array<i64: {step}>,
        padding = dense<[[0, {high}]]> : tensor<1x2xi64>
      }}> ({{
      ^bb0(%l: tensor<f32>, %r: tensor<f32>):
        %1 = stablehlo.maximum %l, %r : tensor<f32>
        stablehlo.return %1 : tensor<f32>
      }}) : (tensor<{size}xf32>, tensor<f32>) -> tensor<{count}xf32>
      %2 = stablehlo.add %0, %0 : tensor<{count}xf32>
      %3 = "stablehlo.select_and_scatter"(%a, %2, %nothing) <{{
        window_dimensions = array<i64: 3>, window_strides = array<i64: {step}>,
        padding = dense<[[0, {high}]]> : tensor<1x2xi64>
      }}> ({{
      ^bb0(%l: tensor<f32>, %r: tensor<f32>):
        %4 = stablehlo.compare GE, %l, %r : (tensor<f32>, tensor<f32>) -> tensor<i1>
        stablehlo.return %4 : tensor<i1>
      }}, {{
      ^bb0(%l: tensor<f32>, %r: tensor<f32>):
        %4 = stablehlo.add %l, %r : tensor<f32>
        stablehlo.return %4 : tensor<f32>
      }}) : (tensor<{size}xf32>, tensor<{count}xf32>, tensor<f32>) -> tensor<{size}xf32>
      return %3 : tensor<{size}xf32>"""


def largest(window: Array) -> int:
    """The place of the element that is selected, of equal ones the first: a NaN gives way to whatever is next."""
    found = 0
    for place in range(1, len(window)):
        if not window[found] >= window[place]:
            found = place
    return found


@pytest.mark.every(3)
@pytest.mark.parametrize("last", [-np.inf, np.nan])
@pytest.mark.parametrize("nothing", [0.0, 5.0])
@pytest.mark.parametrize(("size", "high"), [(16, 0), (15, 0), (18, 0), (14, 1), (31, 2)])
def test_padding_is_not_selected_and_adds_nothing(size: int, high: int, nothing: float, last: float) -> None:
    """Windows without padding behind the elements, and such that end there."""
    row = '{sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}'
    values = np.random.default_rng(size).permutation(size).astype(np.float32) - size
    values[-1] = last
    wanted = np.full(size, nothing, np.float32)
    for start in range(0, size + high - 2, 2):
        window = values[start : start + 3]
        wanted[start + largest(window)] += 2 * np.max(window)
    arguments, result = f"%a: tensor<{size}xf32> {row}", f"tensor<{size}xf32> {row}"
    (found,), sent = run(arguments, result, pooled(size, high, nothing), [values])
    np.testing.assert_array_equal(found, wanted)
    if (size, high) == (16, 0):
        # An element of the next part, of which the windows are then moved over, and two elements and a window before.
        assert sent == (1 + 1 + 2 + 1) * 7 / 8 * 4


def test_a_result_of_windows_side_by_side_is_as_large_as_their_operand() -> None:
    """Three windows of three elements fall into blocks, which two parts of ten elements do not."""
    half = '{sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)2}]>}'
    values = np.array([3, 1, 2, -7, -5, -6, 0, 4, 8], np.float32)
    (found,), _ = run(f"%a: tensor<9xf32> {half}", "tensor<9xf32>", pooled(9, 0, 0.0, step=3), [values])
    np.testing.assert_array_equal(found, [6, 0, 0, 0, -10, 0, 0, 0, 16])


@pytest.mark.parametrize(("made", "looked"), [("32x4", False), ("24x2", False), ("31x4", True), ("12x4", True)])
def test_where_everything_divides_nothing_is_looked_at(made: str, looked: bool) -> None:
    """Two and four columns are too few to count: no less than half of eight parts would be padding."""
    text = f"""dtensor.mesh @mesh = <["x"=2, "y"=4]>
func.func public @main(%a: tensor<32x4xf32>) -> tensor<{made}xf32> {{
  %0 = stablehlo.slice %a [0:{made[:2]}, 0:{made[3:]}] : (tensor<32x4xf32>) -> tensor<{made}xf32>
  return %0 : tensor<{made}xf32>
}}"""
    assert all_divide(parse_module(text, "rows.mlir")) != looked


def test_without_a_mesh_everything_divides() -> None:
    text = "func.func public @main(%a: tensor<7xf32>) -> tensor<7xf32> {\n  return %a : tensor<7xf32>\n}"
    assert all_divide(parse_module(text, "rows.mlir"))
