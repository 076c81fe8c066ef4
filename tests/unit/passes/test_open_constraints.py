"""Constraints that leave every dim open, as JAX puts them on each value of a computation that is manual in part."""

from __future__ import annotations

import numpy as np
import pytest
from harness import partitioned

from shardwright.runtime.executable import compile_module

PRODUCT = """
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func public @main(
    %a: tensor<8x16xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{}}, {{"y"}}]>}},
    %b: tensor<16x8xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"y"}}, {{}}]>}}) -> tensor<f32> {{
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
      : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{0}]> : tensor<8x8xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %2 = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [0, 1]
      : (tensor<8x8xf32>, tensor<f32>) -> tensor<f32>
  return %2 : tensor<f32>
}}
"""


@pytest.mark.parametrize(
    ("asked", "sent"),
    [
        ("{?}, {?}", 2 * 3 / 4 * 4),  # the sum of all products alone is made of what devices have
        ("{}, {}", 2 * 3 / 4 * 4 * 32 + 1 / 2 * 4 * 64),  # half of the rows along x, and then the other half
    ],
)
def test_what_is_open_asks_for_nothing(asked: str, sent: float) -> None:
    _, local = partitioned(PRODUCT.format(asked))
    random = np.random.default_rng(0)
    a, b = (random.standard_normal(shape).astype(np.float32) for shape in [(8, 16), (16, 8)])
    executable = compile_module(local)
    (found,) = executable.run([a, b])
    np.testing.assert_allclose(found, (a @ b).sum(), rtol=1e-4)
    assert executable.ledger.sent_bytes == sent
