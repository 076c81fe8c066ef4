"""What a reduction leaves on each device, and which constants are their own partial sums."""

from __future__ import annotations

import pytest

from shardwright.dialects import stablehlo
from shardwright.dialects.text.parsing import parse_module
from shardwright.rules.reductions import is_zero, splits


@pytest.mark.parametrize(
    ("literal", "zero"),
    [("dense<0.0>", True), ("dense<-0.0>", True), ("dense<1.0>", False), ("dense<[0.0, 1.0]>", False)],
)
def test_zeros(literal: str, zero: bool) -> None:
    text = f"""
func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {{
  %0 = stablehlo.constant {literal} : tensor<2xf32>
  %1 = stablehlo.negate %x : tensor<2xf32>
  return %0, %1 : tensor<2xf32>, tensor<2xf32>
}}"""
    function = next(iter(parse_module(text).ops))
    constant, negated = (op.results[0] for op in list(function.body.block.ops)[:2])
    assert is_zero(constant) is zero
    assert not is_zero(negated)
    assert not is_zero(function.body.block.args[0])


@pytest.mark.parametrize(
    ("name", "init", "kind"),
    [
        ("add", "0.0", "sum"),
        ("add", "1.0", None),  # started on each device, the one would be counted again and again
        ("multiply", "1.0", "prod"),
        ("multiply", "0.0", None),
        ("maximum", "0xFF800000", "max"),
        ("maximum", "3.0", "max"),  # the larger of three and three is three
        ("minimum", "3.0", "min"),
        ("subtract", "0.0", None),
    ],
)
def test_what_shards_may_reduce_alone(name: str, init: str, kind: str | None) -> None:
    text = f"""
func.func @main(%x: tensor<8xf32>) -> tensor<f32> {{
  %init = stablehlo.constant dense<{init}> : tensor<f32>
  %0 = "stablehlo.reduce"(%x, %init) <{{dimensions = array<i64: 0>}}> ({{
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.{name} %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }}) : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}}"""
    (reduce,) = [op for op in parse_module(text).walk() if isinstance(op, stablehlo.ReduceOp)]
    assert splits(reduce) == kind
