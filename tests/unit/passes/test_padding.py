"""Padded sizes, and padding that would be seen by what no random program does."""

from __future__ import annotations

import numpy as np
import pytest
from harness import Array, partitioned, run_unsharded
from xdsl.dialects.func import FuncOp

import shardwright as sw
from shardwright.compiler.pipelines import run_pipeline
from shardwright.dialects.text.parsing import parse_module
from shardwright.dialects.types import shape_of
from shardwright.layout import Layout, Mesh
from shardwright.runtime.executable import compile_module

X, Y, BOTH = '{"x"}', '{"y"}', '{"x", "y"}'


def padded(layouts: list[str], shapes: list[tuple[int, ...]], body: str) -> list[tuple[int, ...]]:
    """The padded shapes of the arguments of a program on four times three devices."""
    arguments = ", ".join(
        f"%{name}: tensor<{'x'.join(map(str, shape))}xf32> {{sdy.sharding = #sdy.sharding<@mesh, {layout}>}}"
        for name, shape, layout in zip("abc", shapes, layouts, strict=False)
    )
    module = parse_module(f'sdy.mesh @mesh = <["x"=4, "y"=3]>\nfunc.func public @main({arguments}) {{\n{body}\n}}')
    run_pipeline(module, ["import-sdy", "pad-uneven"], verify_each=True)
    function = next(op for op in module.ops if isinstance(op, FuncOp))
    return [shape_of(argument) for argument in function.args]


ADD = "%0 = stablehlo.add %a, %b : tensor<13xf32>\nreturn"


@pytest.mark.parametrize(
    ("layouts", "wanted"),
    [
        ((X, "{}"), 16),
        ((Y, "{?}"), 15),
        ((BOTH, "{}"), 24),
        ((X, Y), 24),  # what four and three parts divide
        (("{}", "{}"), 13),
    ],
)
def test_what_meets_is_padded_alike(layouts: tuple[str, str], wanted: int) -> None:
    assert padded([f"[{each}]" for each in layouts], [(13,), (13,)], ADD) == [(wanted,), (wanted,)]


def test_only_what_is_bound_to_an_uneven_dim_is_padded() -> None:
    body = """
      %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
          : (tensor<10x6xf32>, tensor<6x10xf32>) -> tensor<10x10xf32>
      return"""
    assert padded([f"[{X}, {{}}]", "[{}, {}]"], [(10, 6), (6, 10)], body) == [(12, 6), (6, 10)]


def test_dims_that_their_own_splits_divide_are_not_padded() -> None:
    """Six rows of twelve in three parts, the twelve in four: each divides, while the columns do not."""
    body = """
      %0 = stablehlo.slice %a [0:6, 0:13] : (tensor<12x13xf32>) -> tensor<6x13xf32>
      %1 = stablehlo.add %0, %b : tensor<6x13xf32>
      return"""
    assert padded([f"[{X}, {{}}]", f"[{Y}, {X}]"], [(12, 13), (6, 13)], body) == [(12, 16), (6, 16)]


def test_a_few_elements_of_many_are_not_padded() -> None:
    """Two of ten rows over twelve devices: as ten times as much they would be no better split."""
    module = parse_module(
        f"""
        sdy.mesh @mesh = <["x"=4, "y"=3]>
        func.func public @main(%a: tensor<10xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{BOTH}]>}}) -> tensor<2xf32> {{
          %0 = stablehlo.slice %a [3:5] : (tensor<10xf32>) -> tensor<2xf32>
          return %0 : tensor<2xf32>
        }}"""
    )
    run_pipeline(module, ["import-sdy", "pad-uneven"], verify_each=True)
    function = next(op for op in module.ops if isinstance(op, FuncOp))
    assert [shape_of(kind) for kind in function.function_type.outputs] == [(2,)]


LAST = """
sdy.mesh @mesh = <["x"=4]>
func.func public @main(%a: tensor<10x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<2xf32>, tensor<2xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0:2 = stablehlo.reduce(%a init: %zero), (%a init: %zero) across dimensions = [0]
      : (tensor<10x2xf32>, tensor<10x2xf32>, tensor<f32>, tensor<f32>) -> (tensor<2xf32>, tensor<2xf32>)
    reducer(%l: tensor<f32>, %x: tensor<f32>) (%m: tensor<f32>, %y: tensor<f32>) {
    %1 = stablehlo.maximum %m, %y : tensor<f32>
    stablehlo.return %x, %1 : tensor<f32>, tensor<f32>
  }
  return %0#0, %0#1 : tensor<2xf32>, tensor<2xf32>
}
"""


def test_a_body_that_takes_the_last_element_takes_no_padding() -> None:
    """Its initial values may stand before all elements, but not behind them."""
    rows = np.arange(-20, 0, dtype=np.float32).reshape(10, 2)
    found = compile_module(partitioned(LAST)[1]).run([rows])
    for one, other in zip(found, run_unsharded(LAST, [rows]), strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(found[0], rows[-1])


def test_what_is_infinite_in_padding_touches_no_product() -> None:
    """The logarithm of padding on one side, an infinity of the program's own on the other."""
    text = """
    sdy.mesh @mesh = <["x"=4]>
    func.func public @main(
        %a: tensor<5x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %b: tensor<5x2xf32>
      ) -> tensor<2x2xf32> {
      %0 = stablehlo.log %a : tensor<5x2xf32>
      %1 = stablehlo.dot_general %0, %b, contracting_dims = [0] x [0]
          : (tensor<5x2xf32>, tensor<5x2xf32>) -> tensor<2x2xf32>
      return %1 : tensor<2x2xf32>
    }"""
    left, right = np.full((5, 2), np.e, np.float32), np.ones((5, 2), np.float32)
    right[4, 1] = np.inf
    (found,) = compile_module(partitioned(text)[1]).run([left, right])
    np.testing.assert_allclose(found, np.log(left).T @ right)


@pytest.mark.parametrize("start", [0, 5])
@pytest.mark.parametrize("edges", [(9, 0), (0, 9)])
def test_sums_from_a_start_count_it_as_often_as_before(start: int, edges: tuple[int, int]) -> None:
    """What stands around the elements is the start, too."""
    text = f"""
    sdy.mesh @mesh = <["x"=4]>
    func.func public @main(%a: tensor<10xi32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}]>}}) -> tensor<10xi32> {{
      %start = stablehlo.constant dense<{start}> : tensor<i32>
      %0 = "stablehlo.reduce_window"(%a, %start) <{{
        window_dimensions = array<i64: 10>, padding = dense<[[{edges[0]}, {edges[1]}]]> : tensor<1x2xi64>
      }}> ({{
      ^bb0(%l: tensor<i32>, %r: tensor<i32>):
        %1 = stablehlo.add %l, %r : tensor<i32>
        stablehlo.return %1 : tensor<i32>
      }}) : (tensor<10xi32>, tensor<i32>) -> tensor<10xi32>
      return %0 : tensor<10xi32>
    }}"""
    whole = np.arange(1, 11, dtype=np.int32)
    around = np.concatenate([np.full(edges[0], start), whole, np.full(edges[1], start)])
    (found,) = compile_module(partitioned(text)[1]).run([whole])
    np.testing.assert_array_equal(found, [start + around[at : at + 10].sum() for at in range(10)])


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
def test_the_largest_are_found_among_all_that_is_valid(dtype: str) -> None:
    """As many as there are, with what comes after minus infinity among them."""
    element = {"float32": "f32", "float64": "f64", "int32": "i32"}[dtype]
    text = f"""
    sdy.mesh @mesh = <["x"=4]>
    func.func public @main(
        %a: tensor<5x{element}> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}]>}}
      ) -> (tensor<5x{element}>, tensor<5xi32>) {{
      %0:2 = chlo.top_k(%a, k = 5) : tensor<5x{element}> -> (tensor<5x{element}>, tensor<5xi32>)
      return %0#0, %0#1 : tensor<5x{element}>, tensor<5xi32>
    }}"""
    values = np.array([3, 1, 4, 1, 5]).astype(dtype)
    if dtype != "int32":
        values[[1, 3]] = -np.inf, np.copysign(np.nan, -1)
    planned, local = partitioned(text)
    found = compile_module(local).run([values])
    order = [4, 2, 0, 1, 3]
    np.testing.assert_array_equal(found[0], values[order])
    np.testing.assert_array_equal(found[1], order)
    assert "stablehlo.slice" not in [op.name for op in planned.walk()][:4]


def test_a_factor_that_is_a_part_of_a_dim_passes_no_padding() -> None:
    """Windows of two that do not overlap: six elements have three, and these three are split over two devices."""
    text = """
    sdy.mesh @mesh = <["x"=2]>
    func.func public @main(
        %a: tensor<6xf32>, %b: tensor<3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}
      ) -> tensor<6xf32> {
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %0 = "stablehlo.select_and_scatter"(%a, %b, %zero) <{
        window_dimensions = array<i64: 2>, window_strides = array<i64: 2>
      }> ({
      ^bb0(%l: tensor<f32>, %r: tensor<f32>):
        %1 = stablehlo.compare GE, %l, %r : (tensor<f32>, tensor<f32>) -> tensor<i1>
        stablehlo.return %1 : tensor<i1>
      }, {
      ^bb0(%l: tensor<f32>, %r: tensor<f32>):
        %1 = stablehlo.add %l, %r : tensor<f32>
        stablehlo.return %1 : tensor<f32>
      }) : (tensor<6xf32>, tensor<3xf32>, tensor<f32>) -> tensor<6xf32>
      return %0 : tensor<6xf32>
    }"""
    values = np.array([1, 2, 4, 3, 5, 6], np.float32)
    (found,) = compile_module(partitioned(text)[1]).run([values, np.array([7, 8, 9], np.float32)])
    np.testing.assert_array_equal(found, [0, 7, 8, 0, 0, 9])


def test_axes_that_are_free_in_a_manual_computation_may_leave_a_rest() -> None:
    text = """
    sdy.mesh @mesh = <["x"=2, "y"=4]>
    func.func public @main(%a: tensor<6x5xf32>) -> (tensor<6x5xf32>, tensor<2x5xf32>) {
      %0, %1 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}, {"y"}]>]
          out_shardings=[<@mesh, [{"x", "y"}, {}]>, <@mesh, [{"x"}, {"y"}]>] manual_axes={"x"} (%b: tensor<3x5xf32>) {
        %2 = stablehlo.cosine %b : tensor<3x5xf32>
        %z = stablehlo.constant dense<0.0> : tensor<f32>
        %3 = stablehlo.reduce(%2 init: %z) applies stablehlo.add across dimensions = [0]
          : (tensor<3x5xf32>, tensor<f32>) -> tensor<5xf32>
        %4 = stablehlo.reshape %3 : (tensor<5xf32>) -> tensor<1x5xf32>
        sdy.return %2, %4 : tensor<3x5xf32>, tensor<1x5xf32>
      } : (tensor<6x5xf32>) -> (tensor<6x5xf32>, tensor<2x5xf32>)
      return %0, %1 : tensor<6x5xf32>, tensor<2x5xf32>
    }
    """
    _, local = partitioned(text)
    a = np.random.default_rng(0).standard_normal((6, 5)).astype(np.float32)
    whole, summed = compile_module(local).run([a])
    np.testing.assert_allclose(whole, np.cos(a), rtol=1e-6)
    np.testing.assert_allclose(summed, np.cos(a).reshape(2, 3, 5).sum(1), rtol=1e-5)


def special(dtype: str, count: int) -> Array:
    """Few different elements, among them all that come first or last in some order."""
    limits = np.iinfo(dtype) if dtype[0] == "i" else np.finfo(dtype)
    ends = [limits.min, limits.max, *([np.nan, -np.nan, np.inf, -np.inf, -0.0] if dtype[0] == "f" else [])]
    return np.random.default_rng(count).choice(np.array([*ends, 0, 1, -1], dtype), count)


@pytest.mark.parametrize("dtype", ["int8", "float32"])
@pytest.mark.parametrize("count", [5, 61, 1001])
def test_uneven_rows_are_sorted_in_parts(dtype: str, count: int) -> None:
    """Elements that are behind all others, or equal to what fills the row, stay in front of what does, in order."""
    row, layout = special(dtype, count), Layout(["x"], Mesh(x=4), uneven=True)
    x = sw.relayout(row, layout)
    np.testing.assert_array_equal(sw.argsort(x).numpy(), np.argsort(row, kind="stable"))
    np.testing.assert_array_equal(sw.sort(x).numpy(), np.sort(row, kind="stable"))
    last = np.isnan(row) if dtype[0] == "f" else np.zeros(count, bool)
    falling = np.lexsort((np.arange(count), -np.where(last, 0, row).astype(float), ~last))
    np.testing.assert_array_equal(sw.argsort(x, descending=True).numpy(), falling)


@pytest.mark.parametrize("dtype", ["int32", "float32"])
def test_an_uneven_row_sends_what_the_next_even_one_does(dtype: str) -> None:
    sent = [
        sw.function(sort).trace(sw.TensorSpec((count,), dtype, Layout(["x"], Mesh(x=8), uneven=True))).partition()
        for sort in (sw.sort, sw.argsort)
        for count in (1001, 1008)
    ]
    found = [each.predicted_bytes for each in sent]
    assert found[0] == found[1] < 1008 * 7 / 8 * 4 / 2
    assert found[2] == found[3]


def test_uneven_rows_are_sorted_by_several_keys() -> None:
    """No element comes last of itself: where it stood says that it is padding."""
    text = """
    sdy.mesh @mesh = <["x"=4]>
    func.func public @main(
        %a: tensor<130xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>},
        %b: tensor<130xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}
      ) -> (tensor<130xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>},
            tensor<130xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
      %0:2 = "stablehlo.sort"(%a, %b) <{dimension = 0 : i64}> ({
      ^bb0(%l: tensor<i32>, %r: tensor<i32>, %m: tensor<i32>, %n: tensor<i32>):
        %1 = stablehlo.compare GT, %l, %r : (tensor<i32>, tensor<i32>) -> tensor<i1>
        %2 = stablehlo.compare EQ, %l, %r : (tensor<i32>, tensor<i32>) -> tensor<i1>
        %3 = stablehlo.compare LT, %m, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
        %4 = stablehlo.and %2, %3 : tensor<i1>
        %5 = stablehlo.or %1, %4 : tensor<i1>
        stablehlo.return %5 : tensor<i1>
      }) : (tensor<130xi32>, tensor<130xi32>) -> (tensor<130xi32>, tensor<130xi32>)
      return %0#0, %0#1 : tensor<130xi32>, tensor<130xi32>
    }"""
    first, second = special("int32", 130), special("int32", 130)[::-1].copy()
    planned, local = partitioned(text)
    found = compile_module(local).run([first, second])
    order = np.lexsort((second, -first.astype(np.int64)))
    np.testing.assert_array_equal(found, [first[order], second[order]])
    assert any(op.name == "dtensor.all_to_all" for op in planned.walk())
