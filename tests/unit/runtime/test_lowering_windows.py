"""Windows of every kind of element, run from text by both engines, against the definitions."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from window_reference import naive_convolution, naive_reduce, naive_scatter

from shardwright.dialects.text.parsing import parse_module
from shardwright.dialects.types import dtype_element
from shardwright.layout.planning.sweep import Sweep
from shardwright.runtime.executable import compile_module

PLAIN = [(0, 2, 1), (1, 2, 0), (0, 2, 1)]
SAME = Sweep(3, low=1, high=1)


def run(text: str, *arrays: np.ndarray) -> list[np.ndarray]:
    """The results, the same from both engines."""
    module = parse_module(text, "windows.mlir")
    fused, plain = (compile_module(module, fused=each).run(list(arrays)) for each in (True, False))
    for one, other in zip(fused, plain, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)
    return fused


def draw(seed: int, shape: tuple[int, ...], name: str) -> np.ndarray:
    """Small whole numbers of any dtype; complex ones have imaginary parts."""
    random = np.random.default_rng(seed)
    numbers = random.integers(0 if name.startswith("u") or name == "bool" else -3, 2 if name == "bool" else 4, shape)
    if name.startswith("complex"):
        numbers = numbers + 1j * random.integers(-3, 4, shape)
    return numbers.astype(getattr(ml_dtypes, name, name))


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("float32", "float32"),
        ("float64", "float64"),
        ("bfloat16", "bfloat16"),
        ("float16", "float32"),
        ("float8_e4m3fn", "float32"),
        ("int8", "int32"),
        ("uint8", "uint8"),
        ("int4", "int8"),
        ("int64", "int64"),
        ("complex64", "complex64"),
        ("complex128", "complex128"),
    ],
)
def test_convolutions_of_every_kind_of_element(source: str, target: str) -> None:
    lhs, rhs = draw(1, (2, 6, 2), source), draw(2, (3, 2, 4), source)
    result = np.dtype(getattr(ml_dtypes, target, target))
    element, made = dtype_element(lhs.dtype), dtype_element(result)
    types = f"(tensor<2x6x2x{element}>, tensor<3x2x4x{element}>) -> tensor<2x6x4x{made}>"
    (found,) = run(
        f"""
        func.func @main(%a: tensor<2x6x2x{element}>, %b: tensor<3x2x4x{element}>) -> tensor<2x6x4x{made}> {{
          %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {{pad = [[1, 1]]}}
            {{batch_group_count = 1 : i64, feature_group_count = 1 : i64}} : {types}
          return %0 : tensor<2x6x4x{made}>
        }}""",
        lhs,
        rhs,
    )
    wide = np.complex128 if result.kind == "c" else np.float64
    expected = naive_convolution(lhs.astype(wide), rhs.astype(wide), PLAIN, [SAME], (1, 1))
    assert found.dtype == result
    np.testing.assert_array_equal(found, expected.astype(np.int64 if result.kind in "iu" else wide).astype(result))


def test_convolutions_of_nothing_are_zeros() -> None:
    text = """
        func.func @main(%a: tensor<2x6x0xf32>, %b: tensor<3x0x4xf32>, %c: tensor<2x2x4xf32>) -> (tensor<2x4x4xf32>, tensor<2x0x4xf32>) {
          %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {}
            {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x6x0xf32>, tensor<3x0x4xf32>) -> tensor<2x4x4xf32>
          %k = stablehlo.constant dense<1.0> : tensor<3x4x4xf32>
          %1 = stablehlo.convolution(%c, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {}
            {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4xf32>, tensor<3x4x4xf32>) -> tensor<2x0x4xf32>
          return %0, %1 : tensor<2x4x4xf32>, tensor<2x0x4xf32>
        }"""  # noqa: E501
    arrays = [np.ones(shape, np.float32) for shape in ((2, 6, 0), (3, 0, 4), (2, 2, 4))]
    zeros, nothing = run(text, *arrays)
    assert zeros.tolist() == np.zeros((2, 4, 4)).tolist()
    assert nothing.shape == (2, 0, 4)


def reduction(element: str, body: str, start: str, window: str, result: str) -> str:
    """A reduction over windows of eight elements."""
    return f"""
        func.func @main(%a: tensor<8x{element}>) -> tensor<{result}x{element}> {{
          %s = stablehlo.constant dense<{start}> : tensor<{element}>
          %0 = "stablehlo.reduce_window"(%a, %s) <{{{window}}}> ({{
            ^bb0(%x: tensor<{element}>, %y: tensor<{element}>):
              %1 = stablehlo.{body} %x, %y : tensor<{element}>
              stablehlo.return %1 : tensor<{element}>
          }}) : (tensor<8x{element}>, tensor<{element}>) -> tensor<{result}x{element}>
          return %0 : tensor<{result}x{element}>
        }}"""


@pytest.mark.parametrize(
    ("name", "body", "start", "function"),
    [
        ("bool", "or", "false", np.logical_or),
        ("bool", "and", "true", np.logical_and),
        ("bool", "maximum", "false", np.logical_or),
        ("int8", "add", "0", np.add),
        ("int32", "multiply", "2", np.multiply),
        ("uint8", "maximum", "0", np.maximum),
        ("int64", "xor", "5", np.bitwise_xor),
        ("bfloat16", "maximum", "0xFF80", np.maximum),
        ("bfloat16", "add", "0.0", np.add),
        ("float16", "minimum", "2.0", np.minimum),
        ("float64", "add", "0.5", np.add),
        ("complex64", "add", "(1.0, -1.0)", np.add),
        ("int4", "maximum", "-8", np.maximum),
    ],
)
def test_windows_of_every_kind_of_element(name: str, body: str, start: str, function: np.ufunc) -> None:
    array = draw(3, (8,), name)
    element = str(dtype_element(array.dtype))
    window = "window_dimensions = array<i64: 3>, window_strides = array<i64: 2>, padding = dense<1> : tensor<1x2xi64>"
    (found,) = run(reduction(element, body, start, window, "4"), array)
    first = {"false": False, "true": True, "0xFF80": -np.inf, "(1.0, -1.0)": 1 - 1j}.get(start)
    value = np.asarray(float(start) if first is None else first).astype(array.dtype)
    expected = naive_reduce(array, value, lambda a, b: function(a, b), [Sweep(3, 2, 1, 1)])
    assert found.dtype == array.dtype
    np.testing.assert_array_equal(found, expected)


def test_the_largest_of_a_window_with_nan_is_nan() -> None:
    array = np.array([1, np.nan, 2, 3, 4, 5, np.nan, 6], np.float32)
    (found,) = run(reduction("f32", "maximum", "0xFF800000", "window_dimensions = array<i64: 2>", "7"), array)
    np.testing.assert_array_equal(found, np.array([np.nan, np.nan, 3, 4, 5, np.nan, np.nan], np.float32))


@pytest.mark.parametrize("name", ["float32", "float64", "bfloat16", "float16", "int32"])
def test_selections_of_every_kind_of_element(name: str) -> None:
    operand, source = draw(4, (8,), name), draw(5, (4,), name)
    element = dtype_element(operand.dtype)
    (found,) = run(
        f"""
        func.func @main(%a: tensor<8x{element}>, %b: tensor<4x{element}>, %s: tensor<{element}>)
            -> tensor<8x{element}> {{
          %0 = "stablehlo.select_and_scatter"(%a, %b, %s) <{{window_dimensions = array<i64: 3>,
              window_strides = array<i64: 2>, padding = dense<[[0, 1]]> : tensor<1x2xi64>}}> ({{
            ^bb0(%x: tensor<{element}>, %y: tensor<{element}>):
              %1 = stablehlo.compare GE, %x, %y : (tensor<{element}>, tensor<{element}>) -> tensor<i1>
              stablehlo.return %1 : tensor<i1>
          }}, {{
            ^bb0(%x: tensor<{element}>, %y: tensor<{element}>):
              %1 = stablehlo.add %x, %y : tensor<{element}>
              stablehlo.return %1 : tensor<{element}>
          }}) : (tensor<8x{element}>, tensor<4x{element}>, tensor<{element}>) -> tensor<8x{element}>
          return %0 : tensor<8x{element}>
        }}""",
        operand,
        source,
        np.asarray(1).astype(operand.dtype),
    )
    np.testing.assert_array_equal(found, naive_scatter(operand, source, 1, [Sweep(3, 2, 0, 1)]))
