"""What a reduction leaves on each device, and which constants are their own partial sums."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from shardwright.dialects import stablehlo
from shardwright.dialects.dtensor.kinds import highest, lowest
from shardwright.dialects.text.parsing import parse_module
from shardwright.rules import rule_for
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


@pytest.mark.parametrize(
    ("body", "init", "alike"),
    [
        ("%r = stablehlo.xor %a, %b : tensor<i32>", "dense<0>", True),
        ("%r = stablehlo.xor %a, %b : tensor<i32>", "dense<1>", False),  # the second time it is undone
        ("%s = stablehlo.maximum %a, %b : tensor<i32>\n%r = stablehlo.negate %s : tensor<i32>", "dense<0>", True),
        ("%s = stablehlo.maximum %a, %b : tensor<i32>\n%r = stablehlo.negate %s : tensor<i32>", "dense<1>", False),
        # Nobody here knows what this op computes.
        ("%s = stablehlo.popcnt %a : tensor<i32>\n%r = stablehlo.multiply %s, %b : tensor<i32>", "dense<0>", False),
        ("%r = stablehlo.xor %a, %b : tensor<i32>", None, False),
    ],
)
def test_what_other_reductions_may_start_from_in_parts(body: str, init: str | None, alike: bool) -> None:
    start = f"%init = stablehlo.constant {init} : tensor<i32>" if init else "%init = stablehlo.negate %i : tensor<i32>"
    text = f"""
func.func @main(%x: tensor<8xi32>, %i: tensor<i32>) -> tensor<i32> {{
  {start}
  %0 = "stablehlo.reduce"(%x, %init) <{{dimensions = array<i64: 0>}}> ({{
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    {body}
    stablehlo.return %r : tensor<i32>
  }}) : (tensor<8xi32>, tensor<i32>) -> tensor<i32>
  return %0 : tensor<i32>
}}"""
    (reduce,) = [op for op in parse_module(text).walk() if isinstance(op, stablehlo.ReduceOp)]
    assert (rule_for(reduce).expansion is not None) == alike


@pytest.mark.parametrize(
    ("dtype", "low", "high"),
    [
        ("bool", False, True),
        ("int8", -128, 127),
        ("uint16", 0, 65535),
        ("float32", -np.inf, np.inf),
        (ml_dtypes.bfloat16, -np.inf, np.inf),
        # A type without an inf: its largest numbers.
        (ml_dtypes.float8_e4m3fn, -448, 448),
    ],
)
def test_neutral_elements_of_max_and_min(dtype: object, low: float, high: float) -> None:
    found = lowest(np.dtype(dtype)), highest(np.dtype(dtype))
    assert [float(each) for each in found] == [low, high]
