"""Counters of loops whose rounds are known, against the same loops in Python."""

from __future__ import annotations

import re

import numpy as np
import pytest

from shardwright.dialects.text.parsing import parse_module
from shardwright.runtime.executable import Executable, compile_module

LOOP = """
func.func public @main(%x: tensor<9xf32>, %g: tensor<{kind}>) -> (tensor<{kind}>, tensor<9xf32>, tensor<{kind}>) {{
  %start = stablehlo.constant dense<{start}> : tensor<{kind}>
  %step = stablehlo.constant dense<{step}> : tensor<{kind}>
  %limit = stablehlo.constant dense<{limit}> : tensor<{kind}>
  %zero = stablehlo.constant dense<0> : tensor<{kind}>
  %nine = stablehlo.constant dense<9> : tensor<{kind}>
  %two = stablehlo.constant dense<2> : tensor<{kind}>
  %y = stablehlo.constant dense<0.0> : tensor<9xf32>
  %0:4 = stablehlo.while(%i = %start, %k = %two, %a = %y, %s = %g)
      : tensor<{kind}>, tensor<{kind}>, tensor<9xf32>, tensor<{kind}>
  cond {{
    %p = stablehlo.compare {direction}, %i, %limit : (tensor<{kind}>, tensor<{kind}>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }} do {{
    %1 = stablehlo.compare LT, %i, %zero : (tensor<{kind}>, tensor<{kind}>) -> tensor<i1>
    %2 = stablehlo.add %i, %nine : tensor<{kind}>
    %3 = stablehlo.select %1, %2, %i : tensor<i1>, tensor<{kind}>
    %4 = stablehlo.dynamic_slice %x, %3, sizes = [2] : (tensor<9xf32>, tensor<{kind}>) -> tensor<2xf32>
    %5 = stablehlo.multiply %k, %two : tensor<{kind}>
    %6 = stablehlo.subtract %5, %two : tensor<{kind}>
    %7 = stablehlo.dynamic_update_slice %a, %4, %6 : (tensor<9xf32>, tensor<2xf32>, tensor<{kind}>) -> tensor<9xf32>
    %8 = stablehlo.add %s, %3 : tensor<{kind}>
    %j = stablehlo.add %step, %i : tensor<{kind}>
    %l = stablehlo.subtract %k, %step : tensor<{kind}>
    stablehlo.return %j, %l, %7, %8 : tensor<{kind}>, tensor<{kind}>, tensor<9xf32>, tensor<{kind}>
  }}
  return %0#0, %0#2, %0#3 : tensor<{kind}>, tensor<9xf32>, tensor<{kind}>
}}"""


def compiled(fused: bool = True, **options: object) -> Executable:
    return compile_module(parse_module(LOOP.format(**options), "test.mlir"), fused=fused)


@pytest.mark.parametrize("fused", [True, False], ids=["fused", "plain"])
@pytest.mark.parametrize("kind", ["i32", "i64", "i8"])
@pytest.mark.parametrize(
    ("start", "step", "limit", "direction"),
    [(0, 1, 5, "LT"), (-4, 1, 5, "LT"), (7, -2, -6, "GT"), (3, 3, 100, "LE"), (5, 1, 5, "LT"), (-9, 3, 0, "NE")],
)
def test_values_are_those_of_python(start: int, step: int, limit: int, direction: str, kind: str, fused: bool) -> None:
    dtype = np.dtype({"i32": "int32", "i64": "int64", "i8": "int8"}[kind])
    holds = {"LT": int.__lt__, "GT": int.__gt__, "LE": int.__le__, "NE": int.__ne__}[direction]
    x, y, total, i, k = np.arange(9, dtype=np.float32) + 1, np.zeros(9, np.float32), 1, start, 2
    while holds(i, limit):
        at = i + 9 if i < 0 else i
        doubled = int(np.array(2 * k).astype(dtype))  # 8 bits wrap around
        target, source = min(max(int(np.array(doubled - 2).astype(dtype)), 0), 7), min(max(at, 0), 7)
        y[target : target + 2] = x[source : source + 2]
        total, i, k = total + at, i + step, k - step
    executable = compiled(fused, kind=kind, start=start, step=step, limit=limit, direction=direction)
    found = executable.run([x, dtype.type(1)])
    wanted = np.array(i, dtype), y, np.array(total).astype(dtype)
    for one, other in zip(found, wanted, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)


def test_nothing_is_left_of_a_counter_that_only_places_slices() -> None:
    source = compiled(kind="i32", start=0, step=1, limit=5, direction="LT").source
    loop = source[source.index("for ") :]
    assert "less" not in loop
    assert "blend" not in loop
    assert loop.count("xp.add") == 1  # the sum of what the user adds up


def test_a_counter_that_changes_sign_is_looked_at_in_each_round() -> None:
    assert "less" in compiled(kind="i32", start=-4, step=1, limit=5, direction="LT").source


NESTED = """
func.func public @main(%x: M) -> M {
  %zero = stablehlo.constant dense<0> : I
  %one = stablehlo.constant dense<1> : I
  %four = stablehlo.constant dense<4> : I
  %0:2 = stablehlo.while(%i = %zero, %a = %x) : I, M
  cond {
    %p = stablehlo.compare LT, %i, %four : (I, I) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %1:2 = stablehlo.while(%j = INNER, %b = %a) : I, M
    cond {
      %p = stablehlo.compare LT, %j, %four : (I, I) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %2 = stablehlo.dynamic_slice %b, %j, %i, sizes = [1, 1] : (M, I, I) -> E
      %3 = stablehlo.convert %i : (I) -> tensor<f32>
      %4 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<f32>) -> E
      %5 = stablehlo.add %2, %4 : E
      %6 = stablehlo.dynamic_update_slice %b, %5, %i, %j : (M, E, I, I) -> M
      %k = stablehlo.add %j, %one : I
      stablehlo.return %k, %6 : I, M
    }
    %l = stablehlo.add %i, %one : I
    stablehlo.return %l, %1#1 : I, M
  }
  return %0#1 : M
}"""
for short, long in {"M": "4x4xf32", "E": "1x1xf32", "I": "i32"}.items():
    NESTED = re.sub(rf"\b{short}\b", f"tensor<{long}>", NESTED)


@pytest.mark.parametrize("inner", ["%zero", "%i"])
@pytest.mark.parametrize("fused", [True, False], ids=["fused", "plain"])
def test_counters_of_outer_loops_place_slices_of_inner_ones(inner: str, fused: bool) -> None:
    executable = compile_module(parse_module(NESTED.replace("INNER", inner), "test.mlir"), fused=fused)
    x = np.arange(16, dtype=np.float32).reshape(4, 4)
    wanted = x.copy()
    for i in range(4):
        for j in range(0 if inner == "%zero" else i, 4):
            wanted[i, j] = wanted[j, i] + i
    np.testing.assert_array_equal(executable.run([x])[0], wanted)
    np.testing.assert_array_equal(executable.run([x])[0], wanted)
