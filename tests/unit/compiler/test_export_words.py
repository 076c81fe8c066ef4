"""What XLA compiles for several devices in other words only: bits of integers combined, upper halves of products."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from harness import partitioned

from shardwright.compiler.exporting.manual import export_stablehlo
from shardwright.compiler.stages import read_module
from shardwright.dialects.text.parsing import parse_module
from shardwright.dialects.text.printing import print_module
from shardwright.dialects.types import element_type_named
from shardwright.frontends.functions.dtensor import BACKEND
from shardwright.runtime.executable import compile_module

COMBINED = """
sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func @main(%a: tensor<8x{n}x{t}> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}, {{}}]>}})
    -> (tensor<{n}x{t}> {{sdy.sharding = #sdy.sharding<@mesh, [{out}]>}}) {{
  %z = stablehlo.constant dense<{start}> : tensor<{t}>
  %0 = stablehlo.reduce(%a init: %z) applies stablehlo.{kind} across dimensions = [0]
    : (tensor<8x{n}x{t}>, tensor<{t}>) -> tensor<{n}x{t}>
  return %0 : tensor<{n}x{t}>
}}
"""
PRODUCT = """
sdy.mesh @mesh = <["x"={parts}]>
func.func @main(%a: tensor<16x{t}> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}]>}}, %b: tensor<16x{t}>)
    -> tensor<16x{t}> {{
  %0 = chlo.mulhi %a, %b : tensor<16x{t}>, tensor<16x{t}> -> tensor<16x{t}>
  return %0 : tensor<16x{t}>
}}
"""


def exported(text: str) -> str:
    local = partitioned(text)[1]
    export_stablehlo(local)
    return print_module(local)


def read_again(text: str, *inputs: Any) -> Any:
    return compile_module(partitioned(text)[1]).run(list(inputs))[0]


@pytest.mark.parametrize("kind", ["or", "and"])
@pytest.mark.parametrize(("size", "out"), [(8, '{"x"}'), (8, "{}"), (5, "{}"), (1, "{}"), (8, '{"y"}')])
def test_bits_of_integers_are_combined_where_they_are_sent(kind: str, size: int, out: str) -> None:
    a = np.random.default_rng(0).integers(-(2**31), 2**31, (8, size)).astype(np.int32)
    text = exported(COMBINED.format(n=size, t="i32", out=out, start=-1 if kind == "and" else 0, kind=kind))
    assert not any(name in text for name in ("all_reduce", "reduce_scatter"))
    ufunc = np.bitwise_or if kind == "or" else np.bitwise_and
    np.testing.assert_array_equal(read_again(text, a), ufunc.reduce(a))


def test_what_xla_combines_itself_stays() -> None:
    for kind, element, start in (("or", "i1", "false"), ("add", "i32", 0), ("maximum", "i32", 0)):
        text = exported(COMBINED.format(n=8, t=element, out="{}", start=start, kind=kind))
        assert "all_reduce" in text
        assert "all_to_all" not in text


def test_they_take_the_bytes_of_a_sum() -> None:
    """Eight integers on four devices: three quarters of them twice; each device gives its part, and gets all."""
    text = exported(COMBINED.format(n=8, t="i32", out="{}", start=0, kind="or"))
    read = read_module(parse_module(text, "-"), "-", BACKEND).partition()
    assert read.predicted_bytes == 2 * 8 * 4 * 3 / 4


@pytest.mark.parametrize("dtype", [f"{sign}int{bits}" for sign in ("", "u") for bits in (4, 8, 16, 32, 64)])
def test_upper_halves_of_products(dtype: str) -> None:
    name = str(element_type_named(dtype))
    limits = ml_dtypes.iinfo(dtype)
    low, high = int(limits.min), int(limits.max)
    some = [low, high, low + 1, high - 1, 0, 1, 3, high // 2, high // 3 + 1, low // 2, 7, 5, high // 5, 2, 6, high]
    a, b = (np.array(each, object).astype(dtype) for each in (some, some[5:] + some[:5]))
    text = exported(PRODUCT.format(t=name, parts=4))
    assert "mulhi" not in text
    wanted = [int(x) * int(y) >> limits.bits for x, y in zip(a, b, strict=True)]
    assert [int(each) for each in read_again(text, a, b)] == wanted
    assert "mulhi" in exported(PRODUCT.format(t=name, parts=1))


def test_shardy_is_given_them_in_the_same_words() -> None:
    stage = read_module(parse_module(PRODUCT.format(t="i32", parts=4), "-"), "-", BACKEND)
    assert "mulhi" not in stage.propagate().to_sdy()
