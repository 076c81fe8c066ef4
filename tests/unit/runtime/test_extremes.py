"""Reductions to an extreme and its place: which bodies are known, and that they give what the body gives one by one."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from shardwright.dialects.text.parsing import parse_module
from shardwright.runtime.executable import Executable, compile_module

TEXT = """
func.func public @main(%x: tensor<3x7xKIND>, %p: tensor<3x7xi32>) -> (tensor<3xKIND>, tensor<3xi32>) {
  %worst = stablehlo.constant dense<START> : tensor<KIND>
  %first = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.reduce(%x init: %worst), (%p init: %first) across dimensions = [1]
    : (tensor<3x7xKIND>, tensor<3x7xi32>, tensor<KIND>, tensor<i32>) -> (tensor<3xKIND>, tensor<3xi32>)
   reducer(%v: tensor<KIND>, %w: tensor<KIND>) (%i: tensor<i32>, %j: tensor<i32>) {
    %1 = stablehlo.compare DIRECTION, %v, %w : (tensor<KIND>, tensor<KIND>) -> tensor<i1>
    %2 = stablehlo.compare NE, %v, %v : (tensor<KIND>, tensor<KIND>) -> tensor<i1>
    %3 = stablehlo.or %1, %2 : tensor<i1>
    %4 = stablehlo.compare EQ, %v, %w : (tensor<KIND>, tensor<KIND>) -> tensor<i1>
    %5 = stablehlo.compare TIE, %i, %j : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %6 = stablehlo.and %4, %5 : tensor<i1>
    %7 = stablehlo.or %3, %6 : tensor<i1>
    %8 = stablehlo.select %3, %v, %w : tensor<i1>, tensor<KIND>
    %9 = stablehlo.select %7, %i, %j : tensor<i1>, tensor<i32>
    stablehlo.return %8, %9 : tensor<KIND>, tensor<i32>
  }
  return %0#0, %0#1 : tensor<3xKIND>, tensor<3xi32>
}"""


WORST = {"f32": {"GT": "0xFF800000", "LT": "0x7F800000"}, "i32": {"GT": "-100", "LT": "100"}}
"""What every number comes before: an infinity, or what is far away."""


def compiled(kind: str = "f32", direction: str = "GT", tie: str = "LT", start: str | None = None) -> Executable:
    start = WORST[kind][direction] if start is None else start
    text = TEXT.replace("KIND", kind).replace("DIRECTION", direction).replace("TIE", tie).replace("START", start)
    return compile_module(parse_module(text, "test.mlir"), fused=False)


def one_by_one(values: list[float], places: list[int], direction: str, start: float) -> tuple[float, int]:
    """The reduction's body, element after element."""
    value, place = start, 0
    for other, other_place in [*zip(values, places, strict=True)]:
        left = (value > other if direction == "GT" else value < other) or value != value
        place = place if left or (value == other and place < other_place) else other_place
        value = value if left else other
    return value, place


@pytest.mark.parametrize("direction", ["GT", "LT"])
@pytest.mark.parametrize("kind", ["f32", "i32"])
def test_ties_and_nan(kind: str, direction: str) -> None:
    executable = compiled(kind, direction)
    assert "fold_extreme" in executable.source
    generator = np.random.default_rng(0)
    start = {"f32": np.inf, "i32": 100}[kind] * (-1 if direction == "GT" else 1)
    for trial, ordered in itertools.product(range(30), (True, False)):
        x = generator.integers(-2, 3, (3, 7)).astype({"f32": np.float32, "i32": np.int32}[kind])
        if kind == "f32" and trial % 3 == 0:
            x[generator.random((3, 7)) < 0.2] = np.nan
        p = np.broadcast_to(np.arange(7), (3, 7)) if ordered else generator.integers(0, 50, (3, 7))
        value, place = executable.run([x, p.astype(np.int32)])
        for row in range(3):
            wanted = one_by_one(x[row].tolist(), p[row].tolist(), direction, start)
            np.testing.assert_array_equal(value[row], wanted[0])
            assert place[row] == wanted[1]


@pytest.mark.parametrize("direction", ["GT", "LT"])
@pytest.mark.parametrize(
    ("kind", "text", "start"),
    [
        ("f32", "1.0", 1.0),
        ("f32", "0x7FC00000", np.nan),
        ("f32", "0xFF800000", -np.inf),
        ("f32", "0x7F800000", np.inf),
        ("i32", "1", 1),
    ],
)
def test_a_start_that_comes_first_or_is_as_good(kind: str, text: str, start: float, direction: str) -> None:
    executable = compiled(kind, direction, start=text)
    generator = np.random.default_rng(1)
    levels = [-np.inf, -1, 0, 1, 2, np.inf, np.nan] if kind == "f32" else [-1, 0, 1, 2]
    for few in (1, 2, 4):
        x = generator.choice(levels, (40, 3, few)).astype({"f32": np.float32, "i32": np.int32}[kind])
        for each in x:
            rows = np.concatenate([each] * 7, axis=1)[:, :7]
            value, place = executable.run([rows, np.broadcast_to(np.arange(3, 10), (3, 7)).astype(np.int32)])
            for row in range(3):
                wanted = one_by_one(rows[row].tolist(), list(range(3, 10)), direction, start)
                np.testing.assert_array_equal(value[row], wanted[0])
                assert place[row] == wanted[1]


def test_a_body_that_keeps_the_higher_place_is_another() -> None:
    executable = compiled(tie="GT")
    assert "fold_extreme" not in executable.source
    x = np.array([[1, 3, 3, 2, 3, 0, 0]] * 3, np.float32)
    value, place = executable.run([x, np.broadcast_to(np.arange(7, dtype=np.int32), (3, 7)).copy()])
    assert (value.tolist(), place.tolist()) == ([3.0] * 3, [4] * 3)
