"""
Small programs under every even layout of their arguments and results on a 2x2 mesh.

They are those that partitioners are known to get wrong: elements that change places along a split dim, dims that merge
or split, partial sums in front of ops that are not linear, one value used twice, reductions over two axes. Inputs are
whole numbers, so that sums are exact in any order.
"""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

import numpy as np
import pytest
from harness import Array, run
from layout_cases import Case, combinations, shape_and_dtype

MOST, MOST_SLOW = 8, 1400
"""Combinations of layouts that are taken of each program, spread over all, by the default run and by `slow`."""


def inputs(case: Case) -> list[Array]:
    """Small whole numbers, different everywhere."""
    random = np.random.default_rng(5)
    sizes = [shape_and_dtype(text) for text in case.arguments]
    return [random.integers(-9, 10, shape).astype(dtype) for shape, dtype in sizes]


def softmax(a: Array) -> Array:
    """Along the last dim."""
    e = np.exp(a - a.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


ZERO = "    %zero = stablehlo.constant dense<0.0> : tensor<f32>\n"
ROWSUM = (
    ZERO + "    %sum = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [1]"
    " : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>\n"
)
DOT = (
    "    %dot = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]"
    " : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>\n"
)

CASES: dict[str, Case] = {
    "strided slice": Case(
        ("8x8xf32",),
        ("4x4xf32",),
        "    %r0 = stablehlo.slice %a [0:8:2, 1:8:2] : (tensor<8x8xf32>) -> tensor<4x4xf32>",
        lambda a: a[0:8:2, 1:8:2],
    ),
    "slice in the middle": Case(
        ("8x8xf32",),
        ("4x8xf32",),
        "    %r0 = stablehlo.slice %a [3:7, 0:8] : (tensor<8x8xf32>) -> tensor<4x8xf32>",
        lambda a: a[3:7],
    ),
    "pad with negative edges": Case(
        ("8x4xf32",),
        ("4x8xf32",),
        "    %five = stablehlo.constant dense<5.0> : tensor<f32>\n"
        "    %r0 = stablehlo.pad %a, %five, low = [-1, 1], high = [-3, 3], interior = [0, 0]"
        " : (tensor<8x4xf32>, tensor<f32>) -> tensor<4x8xf32>",
        lambda a: np.pad(a[1:5], ((0, 0), (1, 3)), constant_values=5),
    ),
    "pad inside": Case(
        ("4x4xf32",),
        ("8x8xf32",),
        "    %five = stablehlo.constant dense<5.0> : tensor<f32>\n"
        "    %r0 = stablehlo.pad %a, %five, low = [1, 0], high = [0, 1], interior = [1, 1]"
        " : (tensor<4x4xf32>, tensor<f32>) -> tensor<8x8xf32>",
        lambda a: _spread(a),
    ),
    "reverse": Case(
        ("4x8xf32",),
        ("4x8xf32",),
        "    %r0 = stablehlo.reverse %a, dims = [0, 1] : tensor<4x8xf32>",
        lambda a: a[::-1, ::-1],
    ),
    "concatenate": Case(
        ("4x4xf32", "4x4xf32"),
        ("4x8xf32",),
        "    %r0 = stablehlo.concatenate %a, %b, dim = 1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x8xf32>",
        lambda a, b: np.concatenate([a, b], 1),
    ),
    "merge": Case(
        ("4x8xf32",),
        ("32xf32",),
        "    %r0 = stablehlo.reshape %a : (tensor<4x8xf32>) -> tensor<32xf32>",
        lambda a: a.reshape(32),
    ),
    "split": Case(
        ("32xf32",),
        ("2x4x4xf32",),
        "    %r0 = stablehlo.reshape %a : (tensor<32xf32>) -> tensor<2x4x4xf32>",
        lambda a: a.reshape(2, 4, 4),
    ),
    "regroup": Case(
        ("4x8xf32",),
        ("8x4xf32",),
        "    %r0 = stablehlo.reshape %a : (tensor<4x8xf32>) -> tensor<8x4xf32>",
        lambda a: a.reshape(8, 4),
    ),
    "regroup without common factors": Case(
        ("4x6xf32",),
        ("6x4xf32",),
        "    %r0 = stablehlo.reshape %a : (tensor<4x6xf32>) -> tensor<6x4xf32>",
        lambda a: a.reshape(6, 4),
    ),
    "square": Case(
        ("8x8xf32",),
        ("8x8xf32",),
        "    %r0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0]"
        " : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>",
        lambda a: a @ a,
    ),
    "gram": Case(
        ("4x8xf32",),
        ("4x4xf32",),
        "    %r0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [1]"
        " : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x4xf32>",
        lambda a: a @ a.T,
    ),
    "matmul": Case(
        ("4x8xf32", "8x4xf32"),
        ("4x4xf32",),
        DOT + "    %r0 = stablehlo.negate %dot : tensor<4x4xf32>",
        lambda a, b: -(a @ b),
    ),
    "matmul, then relu": Case(
        ("4x8xf32", "8x4xf32"),
        ("4x4xf32",),
        DOT + ZERO + "    %zeros = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<4x4xf32>\n"
        "    %r0 = stablehlo.maximum %dot, %zeros : tensor<4x4xf32>",
        lambda a, b: np.maximum(a @ b, 0),
    ),
    "matmul, squared": Case(
        ("4x8xf32", "8x4xf32"),
        ("4x4xf32",),
        DOT + "    %r0 = stablehlo.multiply %dot, %dot : tensor<4x4xf32>",
        lambda a, b: (a @ b) ** 2,
    ),
    "matmul plus matmul": Case(
        ("4x8xf32", "8x4xf32"),
        ("4x4xf32", "4x4xf32"),
        DOT + "    %turned = stablehlo.transpose %dot, dims = [1, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>\n"
        "    %r0 = stablehlo.add %dot, %turned : tensor<4x4xf32>\n"
        "    %r1 = stablehlo.abs %turned : tensor<4x4xf32>",
        lambda a, b: (a @ b + (a @ b).T, abs((a @ b).T)),
    ),
    "sum, then exponential and sum": Case(
        ("4x8xf32",),
        ("4xf32", "f32"),
        ROWSUM + "    %r0 = stablehlo.abs %sum : tensor<4xf32>\n"
        "    %r1 = stablehlo.reduce(%r0 init: %zero) applies stablehlo.add across dimensions = [0]"
        " : (tensor<4xf32>, tensor<f32>) -> tensor<f32>",
        lambda a: (abs(a.sum(1)), abs(a.sum(1)).sum()),
    ),
    "sum of everything": Case(
        ("4x8xf32",),
        ("f32",),
        ZERO + "    %r0 = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0, 1]"
        " : (tensor<4x8xf32>, tensor<f32>) -> tensor<f32>",
        lambda a: a.sum(),
    ),
    "sum from two": Case(
        ("4x8xf32",),
        ("8xf32",),
        "    %two = stablehlo.constant dense<2.0> : tensor<f32>\n"
        "    %r0 = stablehlo.reduce(%a init: %two) applies stablehlo.add across dimensions = [0]"
        " : (tensor<4x8xf32>, tensor<f32>) -> tensor<8xf32>",
        lambda a: a.sum(0) + 2,
    ),
    "greatest, negated and spread": Case(
        ("4x8xf32",),
        ("4x4xf32",),
        "    %least = stablehlo.constant dense<0xFF800000> : tensor<f32>\n"
        "    %max = stablehlo.reduce(%a init: %least) applies stablehlo.maximum across dimensions = [1]"
        " : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>\n"
        "    %spread = stablehlo.broadcast_in_dim %max, dims = [0] : (tensor<4xf32>) -> tensor<4x4xf32>\n"
        "    %r0 = stablehlo.negate %spread : tensor<4x4xf32>",
        lambda a: -np.broadcast_to(a.max(1)[:, None], (4, 4)),
    ),
    "integer mean": Case(
        ("4x8xi32",),
        ("4xi32",),
        "    %zero = stablehlo.constant dense<0> : tensor<i32>\n"
        "    %three = stablehlo.constant dense<3> : tensor<4xi32>\n"
        "    %sum = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [1]"
        " : (tensor<4x8xi32>, tensor<i32>) -> tensor<4xi32>\n"
        "    %r0 = stablehlo.divide %sum, %three : tensor<4xi32>",
        lambda a: np.trunc(a.sum(1) / 3).astype(np.int32),
    ),
    "product": Case(
        ("4x4xi32",),
        ("4xi32",),
        "    %one = stablehlo.constant dense<1> : tensor<i32>\n"
        "    %r0 = stablehlo.reduce(%a init: %one) applies stablehlo.multiply across dimensions = [0]"
        " : (tensor<4x4xi32>, tensor<i32>) -> tensor<4xi32>",
        lambda a: a.prod(0, dtype=np.int32),
    ),
    "softmax": Case(
        ("4x8xf32",),
        ("4x8xf32",),
        ZERO + "    %least = stablehlo.constant dense<0xFF800000> : tensor<f32>\n"
        "    %max = stablehlo.reduce(%a init: %least) applies stablehlo.maximum across dimensions = [1]"
        " : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>\n"
        "    %0 = stablehlo.broadcast_in_dim %max, dims = [0] : (tensor<4xf32>) -> tensor<4x8xf32>\n"
        "    %1 = stablehlo.subtract %a, %0 : tensor<4x8xf32>\n"
        "    %2 = stablehlo.exponential %1 : tensor<4x8xf32>\n"
        "    %3 = stablehlo.reduce(%2 init: %zero) applies stablehlo.add across dimensions = [1]"
        " : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>\n"
        "    %4 = stablehlo.broadcast_in_dim %3, dims = [0] : (tensor<4xf32>) -> tensor<4x8xf32>\n"
        "    %r0 = stablehlo.divide %2, %4 : tensor<4x8xf32>",
        softmax,
    ),
    "constant and iota": Case(
        ("4x4xf32",),
        ("4x4xf32",),
        "    %ramp = stablehlo.iota dim = 1 : tensor<4x4xf32>\n"
        "    %column = stablehlo.constant dense<[1.0, 2.0, 4.0, 8.0]> : tensor<4xf32>\n"
        "    %0 = stablehlo.broadcast_in_dim %column, dims = [0] : (tensor<4xf32>) -> tensor<4x4xf32>\n"
        "    %1 = stablehlo.multiply %0, %ramp : tensor<4x4xf32>\n"
        "    %r0 = stablehlo.add %1, %a : tensor<4x4xf32>",
        lambda a: np.array([[1], [2], [4], [8]], np.float32) * np.arange(4, dtype=np.float32) + a,
    ),
    "turned": Case(
        ("4x8xf32",),
        ("8x4xf32",),
        "    %r0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>",
        lambda a: a.T,
    ),
    "passed on": Case(
        ("4x8xf32",),
        ("4x8xf32", "4x8xf32"),
        "    %r0 = stablehlo.negate %a : tensor<4x8xf32>\n    %r1 = stablehlo.negate %r0 : tensor<4x8xf32>",
        lambda a: (-a, a),
    ),
}


def _spread(a: Array) -> Array:
    whole = np.full((8, 8), 5, np.float32)
    whole[1::2, 0::2] = a
    return whole


def check(case: Case, layouts: tuple[str, ...], arrays: list[Array], expected: tuple[Array, ...]) -> None:
    """Runs one combination of layouts."""
    text = case.text(layouts)
    ran = run(text, arrays)
    for actual, wanted in zip(ran.results, expected, strict=True):
        assert actual.dtype == wanted.dtype, text
        np.testing.assert_allclose(actual, wanted, rtol=1e-5, atol=1e-6, err_msg=text)


def run_case(case: Case, chosen: Iterable[tuple[str, ...]]) -> None:
    """Runs the chosen combinations of layouts."""
    arrays = inputs(case)
    results = case.numpy(*arrays)
    expected = tuple(map(np.asarray, results if isinstance(results, tuple) else (results,)))
    for layouts in chosen:
        check(case, layouts, arrays, expected)


def sampled(name: str, most: int) -> list[tuple[str, ...]]:
    """At most so many of a program's combinations."""
    every = combinations(CASES[name])
    return Random(name).sample(every, min(most, len(every)))


@pytest.mark.every(5)
@pytest.mark.parametrize("name", CASES)
def test_layouts(name: str) -> None:
    run_case(CASES[name], sampled(name, MOST))


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_every_layout(name: str) -> None:
    run_case(CASES[name], sampled(name, MOST_SLOW))
