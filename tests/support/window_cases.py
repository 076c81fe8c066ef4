"""
Small programs of windows, each with what its definition gives: what tests of layouts share.

Test modules reach it through `pyproject.toml`, which puts this folder on the path.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from layout_cases import Case
from window_reference import naive_convolution, naive_reduce, naive_scatter

from shardwright.dialects.stablehlo.windows import ConvDimensions, conv_text
from shardwright.layout.planning.sweep import Sweep

Array = np.ndarray

NUMBERS = ConvDimensions(0, 2, (1,), 1, 2, (0,), 0, 2, (1,))
"""`[b, 0, f]x[0, i, o]->[b, 0, f]`, the layout of most programs."""


def shaped(shape: Iterable[int]) -> str:
    return "x".join(map(str, (*shape, "f32")))


def convolution(
    lhs: tuple[int, ...],
    rhs: tuple[int, ...],
    *moves: Sweep,
    groups: tuple[int, int] = (1, 1),
    numbers: ConvDimensions = NUMBERS,
) -> Case:
    """The case of one convolution."""
    sides = [dims for dims, _ in numbers.sides]

    def expected(a: Array, b: Array) -> Array:
        return naive_convolution(a, b, sides, moves, groups).astype(np.float32)

    out = expected(np.zeros(lhs), np.zeros(rhs)).shape
    fields = (
        f"stride = {[move.stride for move in moves]}, pad = {[[move.low, move.high] for move in moves]}, "
        f"lhs_dilate = {[move.base for move in moves]}, rhs_dilate = {[move.dilation for move in moves]}, "
        f"reverse = {str([move.reverse for move in moves]).lower()}"
    )
    counts = f"{{batch_group_count = {groups[1]} : i64, feature_group_count = {groups[0]} : i64}}"
    types = [f"tensor<{shaped(shape)}>" for shape in (lhs, rhs, out)]
    line = (
        f"    %r0 = stablehlo.convolution(%a, %b) dim_numbers = {conv_text(numbers)}, window = {{{fields}}} {counts}"
        f" : ({types[0]}, {types[1]}) -> {types[2]}"
    )
    return Case((shaped(lhs), shaped(rhs)), (shaped(out),), line, expected)


NUMPY = {"add": np.add, "maximum": np.maximum, "minimum": np.minimum, "multiply": np.multiply}


def window_fields(moves: Iterable[Sweep], *, dilations: bool = True) -> str:
    moves = list(moves)
    found = {
        "window_dimensions": [move.size for move in moves],
        "window_strides": [move.stride for move in moves],
        **({"base_dilations": [move.base for move in moves]} if dilations else {}),
        **({"window_dilations": [move.dilation for move in moves]} if dilations else {}),
    }
    numbers = ", ".join(f"{name} = array<i64: {str(values)[1:-1]}>" for name, values in found.items())
    edges = [[move.low, move.high] for move in moves]
    return f"<{{{numbers}, padding = dense<{edges}> : tensor<{len(moves)}x2xi64>}}>"


def reduction(shape: tuple[int, ...], body: str, start: float, *moves: Sweep) -> Case:
    """The case of one reduction over windows by one op."""

    def expected(a: Array) -> Array:
        return naive_reduce(a, np.float32(start), NUMPY[body], moves)

    out = expected(np.zeros(shape, np.float32)).shape
    literal = {np.inf: "0x7F800000", -np.inf: "0xFF800000"}.get(start, start)
    line = (
        f"    %s = stablehlo.constant dense<{literal}> : tensor<f32>\n"
        f'    %r0 = "stablehlo.reduce_window"(%a, %s) {window_fields(moves)} ({{\n'
        f"    ^bb0(%p: tensor<f32>, %q: tensor<f32>):\n      %m = stablehlo.{body} %p, %q : tensor<f32>\n"
        f"      stablehlo.return %m : tensor<f32>\n"
        f"    }}) : (tensor<{shaped(shape)}>, tensor<f32>) -> tensor<{shaped(out)}>"
    )
    return Case((shaped(shape),), (shaped(out),), line, expected)


def largest(shape: tuple[int, ...], *moves: Sweep) -> Case:
    """The case of a reduction of two arrays: the largest number of each window, and what stands in its place."""

    def expected(a: Array, b: Array) -> tuple[Array, Array]:
        values = naive_reduce(a, np.float32(-np.inf), np.maximum, moves)
        pairs = naive_reduce((a * 4096 + b).astype(np.float32), np.float32(-np.inf), np.maximum, moves)
        return values, pairs - 4096 * values

    out = expected(np.zeros(shape, np.float32), np.zeros(shape, np.float32))[0].shape
    scalars = "%p: tensor<f32>, %i: tensor<f32>, %q: tensor<f32>, %j: tensor<f32>"
    line = (
        "    %s = stablehlo.constant dense<0xFF800000> : tensor<f32>\n"
        "    %t = stablehlo.constant dense<-4000.0> : tensor<f32>\n"
        f'    %both:2 = "stablehlo.reduce_window"(%a, %b, %s, %t) {window_fields(moves)} ({{\n    ^bb0({scalars}):\n'
        "      %more = stablehlo.compare GT, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
        "      %same = stablehlo.compare EQ, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
        "      %high = stablehlo.compare GT, %i, %j : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
        "      %tie = stablehlo.and %same, %high : tensor<i1>\n"
        "      %left = stablehlo.or %more, %tie : tensor<i1>\n"
        "      %v = stablehlo.select %left, %p, %q : tensor<i1>, tensor<f32>\n"
        "      %w = stablehlo.select %left, %i, %j : tensor<i1>, tensor<f32>\n"
        "      stablehlo.return %v, %w : tensor<f32>, tensor<f32>\n"
        f"    }}) : (tensor<{shaped(shape)}>, tensor<{shaped(shape)}>, tensor<f32>, tensor<f32>)"
        f" -> (tensor<{shaped(out)}>, tensor<{shaped(out)}>)\n"
        f"    %r0 = stablehlo.optimization_barrier %both#0 : tensor<{shaped(out)}>\n"
        f"    %r1 = stablehlo.optimization_barrier %both#1 : tensor<{shaped(out)}>"
    )
    return Case((shaped(shape),) * 2, (shaped(out),) * 2, line, expected)


def selection(shape: tuple[int, ...], *moves: Sweep, start: float = 0.0) -> Case:
    """The case of max-pool's gradient."""
    source = tuple(move.result(size) for move, size in zip(moves, shape, strict=True))
    line = (
        f"    %s = stablehlo.constant dense<{start}> : tensor<f32>\n"
        f'    %r0 = "stablehlo.select_and_scatter"(%a, %b, %s) {window_fields(moves, dilations=False)} ({{\n'
        "    ^bb0(%p: tensor<f32>, %q: tensor<f32>):\n"
        "      %c = stablehlo.compare GE, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
        "      stablehlo.return %c : tensor<i1>\n    }, {\n    ^bb0(%p: tensor<f32>, %q: tensor<f32>):\n"
        "      %m = stablehlo.add %p, %q : tensor<f32>\n      stablehlo.return %m : tensor<f32>\n"
        f"    }}) : (tensor<{shaped(shape)}>, tensor<{shaped(source)}>, tensor<f32>) -> tensor<{shaped(shape)}>"
    )
    return Case((shaped(shape), shaped(source)), (shaped(shape),), line, lambda a, b: naive_scatter(a, b, start, moves))
