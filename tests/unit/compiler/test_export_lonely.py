"""Collectives over axes of one device, as a `shard_map` has them where one kind of parallelism is switched off."""

from __future__ import annotations

import numpy as np
import pytest
from harness import partitioned

from shardwright.compiler.exporting.manual import export_stablehlo
from shardwright.dialects.text.printing import print_module
from shardwright.runtime.executable import compile_module

TEXT = """
sdy.mesh @mesh = <["x"=4, "y"=1]>
func.func @main(%a: tensor<8x8xi32>) -> tensor<8x8xi32> {{
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{{"x"}}, {{}}]>] out_shardings=[<@mesh, [{{"x"}}, {{}}]>]
      manual_axes={{"x", "y"}} (%b: tensor<2x8xi32>) {{
    %c = "stablehlo.{name}"(%b) <{{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, {more},
        replica_groups = dense<[[0], [1], [2], [3]]> : tensor<4x1xi64>, use_global_device_ids}}> {body}
        : (tensor<2x8xi32>) -> tensor<2x8xi32>
    sdy.return %c : tensor<2x8xi32>
  }} : (tensor<8x8xi32>) -> tensor<8x8xi32>
  return %0 : tensor<8x8xi32>
}}
"""
SUM = """({
    ^bb0(%p: tensor<i32>, %q: tensor<i32>):
      %s = stablehlo.add %p, %q : tensor<i32>
      stablehlo.return %s : tensor<i32>
    })"""


@pytest.mark.parametrize(
    ("name", "more", "body"),
    [("all_gather", "all_gather_dim = 1 : i64", ""), ("reduce_scatter", "scatter_dimension = 0 : i64", SUM)],
)
def test_what_goes_to_nobody_is_left_out(name: str, more: str, body: str) -> None:
    local = partitioned(TEXT.format(name=name, more=more, body=body))[1]
    export_stablehlo(local)
    text = print_module(local)
    assert name not in text
    a = np.arange(64, dtype=np.int32).reshape(8, 8)
    np.testing.assert_array_equal(compile_module(partitioned(text)[1]).run([a])[0], a)
