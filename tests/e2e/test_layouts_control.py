"""Loops and branches under even layouts of arguments and results on a 2x2 mesh, in both engines; sums are exact."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from harness import PLAIN, Array, run
from layout_cases import Case, combinations, shape_and_dtype

MOST, MOST_SLOW = 3, 250

HEAD = """
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %four = stablehlo.constant dense<4> : tensor<i32>
    %nought = stablehlo.constant dense<0.0> : tensor<f32>"""
TEST = """cond {
      %p = stablehlo.compare LT, %i, %LIMIT : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %j = stablehlo.add %i, %one : tensor<i32>"""
COUNT, FOUR = TEST.replace("LIMIT", "n"), TEST.replace("LIMIT", "four")
SQUARE = "tensor<4x4xf32>"


def powers(a: Array, b: Array) -> Array:
    for _ in range(3):
        b = np.sign(a @ b) + b
    return b


def rows(a: Array) -> tuple[Array, Array]:
    sums = np.cumsum(a, 0, dtype=np.float32)
    return sums[-1], sums


def turns(a: Array, b: Array) -> tuple[Array, Array]:
    for _ in range(3):
        a, b = b.T, a + b
    return a, b


def doubled(a: Array) -> tuple[Array, Array]:
    rounds = 0
    while np.abs(a).sum() < 2000:
        a, rounds = a + a, rounds + 1
    return a, np.int32(rounds)


def alternating(a: Array) -> Array:
    for i in range(4):
        a = a.T + 1 if i % 2 == 0 else a - a.sum(0, keepdims=True)
    return a


def nested(a: Array, b: Array) -> Array:
    for i in range(4):
        for _ in range(i, 4):
            a = a + b[i]
    return a


def chosen(a: Array, b: Array) -> Array:
    return [a, a + b.T, a * a.sum()][int(np.clip(b.sum(), -1, 2)) if 0 <= b.sum() < 3 else 2]


CASES: dict[str, Case] = {
    "powers": Case(
        ("4x4xf32", "4x4xf32"),
        ("4x4xf32",),
        f"""{HEAD}
    %n = stablehlo.constant dense<3> : tensor<i32>
    %w:2 = stablehlo.while(%i = %zero, %c = %b) : tensor<i32>, {SQUARE}
    {COUNT}
      %1 = stablehlo.dot_general %a, %c, contracting_dims = [1] x [0] : ({SQUARE}, {SQUARE}) -> {SQUARE}
      %2 = stablehlo.sign %1 : {SQUARE}
      %3 = stablehlo.add %2, %c : {SQUARE}
      stablehlo.return %j, %3 : tensor<i32>, {SQUARE}
    }}
    %r0 = stablehlo.optimization_barrier %w#1 : {SQUARE}""",
        powers,
    ),
    "scan over rows": Case(
        ("4x8xf32",),
        ("8xf32", "4x8xf32"),
        f"""{HEAD}
    %h = stablehlo.constant dense<0.0> : tensor<8xf32>
    %y = stablehlo.constant dense<0.0> : tensor<4x8xf32>
    %w:3 = stablehlo.while(%i = %zero, %s = %h, %o = %y) : tensor<i32>, tensor<8xf32>, tensor<4x8xf32>
    {FOUR}
      %1 = stablehlo.dynamic_slice %a, %i, %zero, sizes = [1, 8]
        : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
      %2 = stablehlo.reshape %1 : (tensor<1x8xf32>) -> tensor<8xf32>
      %3 = stablehlo.add %s, %2 : tensor<8xf32>
      %4 = stablehlo.reshape %3 : (tensor<8xf32>) -> tensor<1x8xf32>
      %5 = stablehlo.dynamic_update_slice %o, %4, %i, %zero
        : (tensor<4x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
      stablehlo.return %j, %3, %5 : tensor<i32>, tensor<8xf32>, tensor<4x8xf32>
    }}
    %r0 = stablehlo.optimization_barrier %w#1 : tensor<8xf32>
    %r1 = stablehlo.optimization_barrier %w#2 : tensor<4x8xf32>""",
        rows,
    ),
    "values trade places": Case(
        ("4x4xf32", "4x4xf32"),
        ("4x4xf32", "4x4xf32"),
        f"""{HEAD}
    %n = stablehlo.constant dense<3> : tensor<i32>
    %w:3 = stablehlo.while(%i = %zero, %c = %a, %d = %b) : tensor<i32>, {SQUARE}, {SQUARE}
    {COUNT}
      %1 = stablehlo.transpose %d, dims = [1, 0] : ({SQUARE}) -> {SQUARE}
      %2 = stablehlo.add %c, %d : {SQUARE}
      stablehlo.return %j, %1, %2 : tensor<i32>, {SQUARE}, {SQUARE}
    }}
    %r0 = stablehlo.optimization_barrier %w#1 : {SQUARE}
    %r1 = stablehlo.optimization_barrier %w#2 : {SQUARE}""",
        turns,
    ),
    "until a sum is large": Case(
        ("4x8xf32",),
        ("4x8xf32", "i32"),
        f"""{HEAD}
    %limit = stablehlo.constant dense<2000.0> : tensor<f32>
    %w:2 = stablehlo.while(%i = %zero, %c = %a) : tensor<i32>, tensor<4x8xf32>
    cond {{
      %1 = stablehlo.abs %c : tensor<4x8xf32>
      %2 = stablehlo.reduce(%1 init: %nought) applies stablehlo.add across dimensions = [0, 1]
        : (tensor<4x8xf32>, tensor<f32>) -> tensor<f32>
      %3 = stablehlo.compare LT, %2, %limit : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %3 : tensor<i1>
    }} do {{
      %j = stablehlo.add %i, %one : tensor<i32>
      %1 = stablehlo.add %c, %c : tensor<4x8xf32>
      stablehlo.return %j, %1 : tensor<i32>, tensor<4x8xf32>
    }}
    %r0 = stablehlo.optimization_barrier %w#1 : tensor<4x8xf32>
    %r1 = stablehlo.optimization_barrier %w#0 : tensor<i32>""",
        doubled,
    ),
    "branches by turns": Case(
        ("4x4xf32",),
        ("4x4xf32",),
        f"""{HEAD}
    %two = stablehlo.constant dense<2> : tensor<i32>
    %ones = stablehlo.constant dense<1.0> : {SQUARE}
    %w:2 = stablehlo.while(%i = %zero, %c = %a) : tensor<i32>, {SQUARE}
    {FOUR}
      %1 = stablehlo.remainder %i, %two : tensor<i32>
      %2 = "stablehlo.case"(%1) ({{
        %3 = stablehlo.transpose %c, dims = [1, 0] : ({SQUARE}) -> {SQUARE}
        %4 = stablehlo.add %3, %ones : {SQUARE}
        stablehlo.return %4 : {SQUARE}
      }}, {{
        %3 = stablehlo.reduce(%c init: %nought) applies stablehlo.add across dimensions = [0]
          : ({SQUARE}, tensor<f32>) -> tensor<4xf32>
        %4 = stablehlo.broadcast_in_dim %3, dims = [1] : (tensor<4xf32>) -> {SQUARE}
        %5 = stablehlo.subtract %c, %4 : {SQUARE}
        stablehlo.return %5 : {SQUARE}
      }}) : (tensor<i32>) -> {SQUARE}
      stablehlo.return %j, %2 : tensor<i32>, {SQUARE}
    }}
    %r0 = stablehlo.optimization_barrier %w#1 : {SQUARE}""",
        alternating,
    ),
    "a loop in a loop": Case(
        ("4x4xf32", "4x4xf32"),
        ("4x4xf32",),
        f"""{HEAD}
    %w:2 = stablehlo.while(%i = %zero, %c = %a) : tensor<i32>, {SQUARE}
    {FOUR}
      %row = stablehlo.dynamic_slice %b, %i, %zero, sizes = [1, 4]
        : ({SQUARE}, tensor<i32>, tensor<i32>) -> tensor<1x4xf32>
      %v:2 = stablehlo.while(%k = %i, %d = %c) : tensor<i32>, {SQUARE}
      cond {{
        %p = stablehlo.compare LT, %k, %four : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %p : tensor<i1>
      }} do {{
        %l = stablehlo.add %k, %one : tensor<i32>
        %1 = stablehlo.broadcast_in_dim %row, dims = [0, 1] : (tensor<1x4xf32>) -> {SQUARE}
        %2 = stablehlo.add %d, %1 : {SQUARE}
        stablehlo.return %l, %2 : tensor<i32>, {SQUARE}
      }}
      stablehlo.return %j, %v#1 : tensor<i32>, {SQUARE}
    }}
    %r0 = stablehlo.optimization_barrier %w#1 : {SQUARE}""",
        nested,
    ),
    "a branch by a sum": Case(
        ("4x4xf32", "4x4xf32"),
        ("4x4xf32",),
        f"""{HEAD}
    %sum = stablehlo.reduce(%b init: %nought) applies stablehlo.add across dimensions = [0, 1]
      : ({SQUARE}, tensor<f32>) -> tensor<f32>
    %index = stablehlo.convert %sum : (tensor<f32>) -> tensor<i32>
    %r0 = "stablehlo.case"(%index) ({{
      stablehlo.return %a : {SQUARE}
    }}, {{
      %1 = stablehlo.transpose %b, dims = [1, 0] : ({SQUARE}) -> {SQUARE}
      %2 = stablehlo.add %a, %1 : {SQUARE}
      stablehlo.return %2 : {SQUARE}
    }}, {{
      %1 = stablehlo.reduce(%a init: %nought) applies stablehlo.add across dimensions = [0, 1]
        : ({SQUARE}, tensor<f32>) -> tensor<f32>
      %2 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> {SQUARE}
      %3 = stablehlo.multiply %a, %2 : {SQUARE}
      stablehlo.return %3 : {SQUARE}
    }}) : (tensor<i32>) -> {SQUARE}""",
        chosen,
    ),
}


def check(name: str, most: int, engines: tuple[str, ...]) -> None:
    """Runs at most so many of a program's combinations of layouts, with different numbers each."""
    case, random = CASES[name], Random(name)
    every = combinations(case)
    for number, layouts in enumerate(random.sample(every, min(most, len(every)))):
        generator = np.random.default_rng(number)
        arrays = [generator.integers(-2, 3, shape_and_dtype(kind)[0]).astype(np.float32) for kind in case.arguments]
        arrays[0].flat[0] = 3  # not all zeros
        expected = case.numpy(*arrays)
        expected = expected if isinstance(expected, tuple) else (expected,)
        for namespace in engines:
            ran = run(case.text(layouts), arrays, namespace=namespace)
            for actual, wanted in zip(ran.results, expected, strict=True):
                assert actual.dtype == np.asarray(wanted).dtype
                np.testing.assert_array_equal(actual, wanted, err_msg=case.text(layouts))


@pytest.mark.every(2)
@pytest.mark.parametrize("name", CASES)
def test_layouts(name: str) -> None:
    check(name, MOST, ("numpy", PLAIN))


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_every_layout(name: str) -> None:
    check(name, MOST_SLOW, ("numpy",))
