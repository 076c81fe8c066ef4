"""A reduction of values and places to an extreme and its place, as JAX writes it, and what it gives."""

from __future__ import annotations

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

WORST = {
    "f32": {"GT": "0xFF800000", "LT": "0x7F800000"},
    "bf16": {"GT": "0xFF80", "LT": "0x7F80"},
    "i32": {"GT": "-100", "LT": "100"},
}
"""What every number comes before: an infinity, or what is far away."""


def reduction(kind: str = "f32", direction: str = "GT", tie: str = "LT", start: str | None = None) -> str:
    """A program of 3 by 7 elements and their places, reduced along the rows; `start` is written as a literal."""
    start = WORST[kind][direction] if start is None else start
    return TEXT.replace("KIND", kind).replace("DIRECTION", direction).replace("TIE", tie).replace("START", start)


def one_by_one(values: list[float], places: list[int], direction: str, start: float) -> tuple[float, int]:
    """The reduction's body, element after element."""
    value, place = start, 0
    for other, other_place in [*zip(values, places, strict=True)]:
        left = (value > other if direction == "GT" else value < other) or value != value
        place = place if left or (value == other and place < other_place) else other_place
        value = value if left else other
    return value, place
