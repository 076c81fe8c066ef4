"""Reductions by a body of one's own over dims without elements, split or not: every result is the start."""

from __future__ import annotations

import numpy as np
import pytest
from harness import run

CASES = [
    ((1, 0), (1,), '{}, {"x"}'),
    ((0, 1, 0), (2,), '{}, {}, {"x"}'),
    ((0, 1, 0), (2,), '{}, {}, {"x", "y"}'),
    ((0, 3, 0), (0, 2), '{"y"}, {}, {"x"}'),
    ((3, 0, 0), (1,), '{}, {"x"}, {}'),
    ((4, 2, 0), (2,), '{"x"}, {}, {"y"}'),
]


@pytest.mark.parametrize(("shape", "dims", "split"), CASES)
def test_results_are_the_start(shape: tuple[int, ...], dims: tuple[int, ...], split: str) -> None:
    left = tuple(extent for dim, extent in enumerate(shape) if dim not in dims)
    whole, kept = "x".join(map(str, (*shape, "i32"))), "x".join(map(str, (*left, "i32")))
    text = f"""
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func public @main(%a: tensor<{whole}> {{sdy.sharding = #sdy.sharding<@mesh, [{split}]>}}) -> tensor<{kept}> {{
  %start = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.reduce(%a init: %start) applies stablehlo.xor across dimensions = [{", ".join(map(str, dims))}] :
      (tensor<{whole}>, tensor<i32>) -> tensor<{kept}>
  return %0 : tensor<{kept}>
}}
"""
    found = run(text, [np.ones(shape, np.int32)]).results[0]
    np.testing.assert_array_equal(np.asarray(found), np.bitwise_xor.reduce(np.ones(shape, np.int32), axis=dims))
