"""Functions that read scalars from outside, on four devices: what NumPy computes."""

from __future__ import annotations

import numpy as np
import pytest
from harness import run

from shardwright.compiler.pipelines import run_pipeline
from shardwright.diagnostics import ShardwrightInternalError
from shardwright.dialects.text.parsing import parse_module

X = np.random.default_rng(0).permutation(32).reshape(4, 8).astype(np.float32)
S = np.float32(13)
MESH = 'sdy.mesh @mesh = <["x"=2, "y"=2]>'
SPLIT = '{sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}'


def results(body: str, result: str) -> list[np.ndarray]:
    """What a program of `%x`, split by both axes, and of the scalar `%s` gives."""
    text = f"""{MESH}
    func.func public @main(%x: tensor<4x8xf32> {SPLIT}, %s: tensor<f32>) -> {result} {{
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      {body}
      return %0 : {result}
    }}"""
    return run(text, [X, S]).results


def test_a_sort_by_the_distance_from_a_scalar() -> None:
    (found,) = results(
        """%0 = "stablehlo.sort"(%x) <{dimension = 1 : i64, is_stable = true}> ({
           ^bb0(%a: tensor<f32>, %b: tensor<f32>):
             %1 = stablehlo.subtract %a, %s : tensor<f32>
             %2 = stablehlo.abs %1 : tensor<f32>
             %3 = stablehlo.subtract %b, %s : tensor<f32>
             %4 = stablehlo.abs %3 : tensor<f32>
             %5 = stablehlo.compare LT, %2, %4 : (tensor<f32>, tensor<f32>) -> tensor<i1>
             stablehlo.return %5 : tensor<i1>
           }) : (tensor<4x8xf32>) -> tensor<4x8xf32>""",
        "tensor<4x8xf32>",
    )
    order = np.argsort(np.abs(X - S), axis=1, kind="stable")
    np.testing.assert_array_equal(found, np.take_along_axis(X, order, 1))


CAPPED = """%1 = stablehlo.add %a, %b : tensor<f32>
            %2 = stablehlo.minimum %1, %s : tensor<f32>
            %3 = stablehlo.maximum %2, %zero : tensor<f32>
            stablehlo.return %3 : tensor<f32>"""
"""A sum of numbers that are not negative, which stops at the scalar: in whatever order they are added."""


def test_a_reduction_up_to_a_scalar() -> None:
    (found,) = results(
        f"""%0 = stablehlo.reduce(%x init: %zero) across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>)
             -> tensor<4xf32> reducer(%a: tensor<f32>, %b: tensor<f32>) {{
               {CAPPED}
             }}""",
        "tensor<4xf32>",
    )
    np.testing.assert_array_equal(found, np.minimum(X.sum(1), S))


def test_windows_up_to_a_scalar() -> None:
    (found,) = results(
        f"""%0 = "stablehlo.reduce_window"(%x, %zero) <{{
              window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 2>
            }}> ({{
            ^bb0(%a: tensor<f32>, %b: tensor<f32>):
              {CAPPED}
            }}) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x4xf32>""",
        "tensor<4x4xf32>",
    )
    np.testing.assert_array_equal(found, np.minimum(X.reshape(4, 4, 2).sum(2), S))


def test_a_scatter_up_to_a_scalar() -> None:
    (found,) = results(
        f"""%i = stablehlo.constant dense<[[1], [3], [1]]> : tensor<3x1xi32>
            %u = stablehlo.constant dense<2.0> : tensor<3x8xf32>
            %0 = "stablehlo.scatter"(%x, %i, %u) <{{
              scatter_dimension_numbers = #stablehlo.scatter<
                update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0],
                index_vector_dim = 1>
            }}> ({{
            ^bb0(%a: tensor<f32>, %b: tensor<f32>):
              {CAPPED}
            }}) : (tensor<4x8xf32>, tensor<3x1xi32>, tensor<3x8xf32>) -> tensor<4x8xf32>""",
        "tensor<4x8xf32>",
    )
    wanted = X.copy()
    for row in (1, 3, 1):
        wanted[row] = np.minimum(wanted[row] + 2, S)
    np.testing.assert_array_equal(found, wanted)


def test_a_map_with_a_scalar() -> None:
    (found,) = results(
        """%0 = "stablehlo.map"(%x) <{dimensions = array<i64: 0, 1>}> ({
           ^bb0(%a: tensor<f32>):
             %1 = stablehlo.multiply %a, %s : tensor<f32>
             %2 = stablehlo.maximum %1, %zero : tensor<f32>
             stablehlo.return %2 : tensor<f32>
           }) : (tensor<4x8xf32>) -> tensor<4x8xf32>""",
        "tensor<4x8xf32>",
    )
    np.testing.assert_array_equal(found, X * S)


def test_a_reduction_to_a_number_that_no_element_says() -> None:
    (found,) = results(
        """%0 = stablehlo.reduce(%x init: %s) across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
            reducer(%a: tensor<f32>, %b: tensor<f32>) {
              stablehlo.return %zero : tensor<f32>
            }""",
        "tensor<4xf32>",
    )
    np.testing.assert_array_equal(found, np.zeros(4))


def test_a_pass_that_lets_a_function_read_from_outside_is_at_fault() -> None:
    text = """module attributes {dtensor.stage = "traced"} {
      func.func public @main(%x: tensor<4xf32>, %s: tensor<f32>) -> tensor<f32> {
        %0 = stablehlo.reduce(%x init: %s) across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
         reducer(%a: tensor<f32>, %b: tensor<f32>) {
          stablehlo.return %s : tensor<f32>
        }
        return %0 : tensor<f32>
      }
    }"""
    with pytest.raises(ShardwrightInternalError, match=r"SW0312: 'stablehlo.reduce' op has a function that reads"):
        run_pipeline(parse_module(text, "f.mlir"), ["dce"], verify_each=True)
