"""Convolutions, reductions over windows and selections, for the check of their rules."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from .op_case import Case, case


def convolution(
    name: str,
    dims: str,
    window: str,
    shapes: tuple[str, str, str],
    groups: tuple[int, int] = (1, 1),
    elements: tuple[str, str] = ("f32", "f32"),
) -> Case:
    """The program of one convolution; `elements` are those of the operands and of the result."""
    counts = f"{{batch_group_count = {groups[1]} : i64, feature_group_count = {groups[0]} : i64}}"
    line = f"stablehlo.convolution(%a, %b) dim_numbers = {dims}, window = {{{window}}} {counts} : TYPES"
    lhs, rhs, out = shapes
    return case(name, line, [f"{lhs}x{elements[0]}", f"{rhs}x{elements[0]}"], [f"{out}x{elements[1]}"])


def _convolutions() -> Iterator[Case]:
    plain = "[b, 0, f]x[0, i, o]->[b, 0, f]"
    yield convolution("of nothing", plain, "pad = [[1, 1]]", ("0x8x4", "3x4x6", "0x8x6"))
    yield convolution("same", plain, "pad = [[1, 1]]", ("2x8x4", "3x4x6", "2x8x6"))
    yield convolution("valid", "[f, b, 0]x[o, i, 0]->[0, b, f]", "", ("4x2x8", "6x4x3", "6x2x6"))
    yield convolution("blocks", plain, "stride = [2]", ("2x8x2", "2x2x4", "2x4x4"))
    yield convolution("up", plain, "pad = [[1, 1]], lhs_dilate = [2]", ("2x4x2", "2x2x4", "2x8x4"))
    yield convolution("none", "[b, f]x[i, o]->[b, f]", "", ("4x6", "6x2", "4x2"))
    yield convolution("point", plain, "", ("2x4x6", "1x6x4", "2x4x4"), elements=("i8", "i32"))
    yield convolution("narrow", plain, "pad = [[1, 1]]", ("2x8x4", "3x4x6", "2x8x6"), elements=("bf16", "bf16"))
    yield convolution("kernel", "[f, 0, b]x[i, 0, o]->[0, b, f]", "pad = [[1, 1]]", ("2x8x4", "2x8x6", "3x4x6"))
    grouped = "[b, 0, f]x[0, i, o]->[b, 0, f]"
    yield convolution("depthwise", grouped, "pad = [[1, 1]]", ("2x8x4", "3x1x8", "2x8x8"), (4, 1))
    yield convolution("feature groups", grouped, "", ("2x4x8", "1x4x4", "2x4x4"), (2, 1))
    yield convolution("batch groups", grouped, "", ("8x4x2", "1x2x4", "4x4x4"), (1, 2))
    numbers = "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]"
    yield convolution("image", numbers, "stride = [2, 1], pad = [[0, 0], [1, 1]]", ("2x4x4x2", "2x3x2x2", "2x2x4x2"))


def windowed(
    name: str, body: str, window: str, shapes: tuple[str, str], start: str = "0.0", element: str = "f32"
) -> Case:
    """The program of a reduction over windows by one op on constant padding."""
    scalar = f"tensor<{element}>"
    line = (
        f'"stablehlo.reduce_window"(%a, %s) <{{{window}}}> ({{\n^bb0(%p: {scalar}, %q: {scalar}):\n'
        f"  %m = stablehlo.{body} %p, %q : {scalar}\n  stablehlo.return %m : {scalar}\n}})"
        f" : (tensor<{shapes[0]}x{element}>, {scalar}) -> tensor<{shapes[1]}x{element}>"
    )
    constant = f"%s = stablehlo.constant dense<{start}> : {scalar}"
    return case(name, line, [f"{shapes[0]}x{element}"], [f"{shapes[1]}x{element}"], [constant])


def sizes(size: str, stride: str = "", padding: str = "", base: str = "") -> str:
    """The attributes of windows on two dims."""
    found = [f"window_dimensions = array<i64: {size}>"]
    found += [f"window_strides = array<i64: {stride}>"] if stride else []
    found += [f"base_dilations = array<i64: {base}>"] if base else []
    found += [f"padding = dense<{padding}> : tensor<2x2xi64>"] if padding else []
    return ", ".join(found)


def _windows() -> Iterator[Case]:
    around = "[[0, 0], [1, 1]]"
    yield windowed("pool", "maximum", sizes("1, 3", padding=around), ("4x8", "4x8"), "0xFF800000")
    yield windowed("mean", "add", sizes("2, 2", "2, 2"), ("4x8", "2x4"))
    yield windowed("mean of one", "add", sizes("2, 2", "2, 2"), ("4x8", "2x4"), "1.0")
    yield windowed("integers", "add", sizes("1, 2", "1, 2"), ("4x8", "4x4"), "0", "i32")
    yield windowed("running", "add", sizes("1, 8", padding="[[0, 0], [7, 0]]"), ("4x8", "4x8"))
    yield windowed("up", "minimum", sizes("1, 2", padding=around, base="1, 2"), ("4x4", "4x8"), "0x7F800000")
    line = (
        '"stablehlo.reduce_window"(%a, %b, %s, %t) <{window_dimensions = array<i64: 1, 2>,'
        " window_strides = array<i64: 1, 2>}> ({\n"
        "^bb0(%p: tensor<f32>, %i: tensor<i32>, %q: tensor<f32>, %j: tensor<i32>):\n"
        "  %c = stablehlo.compare GT, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
        "  %v = stablehlo.select %c, %p, %q : tensor<i1>, tensor<f32>\n"
        "  %k = stablehlo.select %c, %i, %j : tensor<i1>, tensor<i32>\n"
        "  stablehlo.return %v, %k : tensor<f32>, tensor<i32>\n})"
        " : (tensor<4x8xf32>, tensor<4x8xi32>, tensor<f32>, tensor<i32>) -> (tensor<4x4xf32>, tensor<4x4xi32>)"
    )
    starts = [
        "%s = stablehlo.constant dense<0xFF800000> : tensor<f32>",
        "%t = stablehlo.constant dense<0> : tensor<i32>",
    ]
    yield case("where the largest is", line, ["4x8xf32", "4x8xi32"], ["4x4xf32", "4x4xi32"], starts)
    pool = windowed("pool", "maximum", sizes("1, 3", padding=around), ("4x8", "4x8"))
    line = re.sub("%s", "%b", pool.text[pool.text.index('"stablehlo') : pool.text.index("\nreturn")])
    yield case("pool from an argument", line, ["4x8xf32", "f32"], ["4x8xf32"])


def _selections() -> Iterator[Case]:
    around = "window_dimensions = array<i64: 1, 3>, padding = dense<[[0, 0], [1, 1]]> : tensor<2x2xi64>"
    for name, window, source, element, start in (
        ("blocks", "window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 2>", "4x4", "f32", "0.0"),
        ("overlapping", around, "4x8", "f32", "0.0"),
        ("overlapping integers", around, "4x8", "i32", "0"),
    ):
        scalar = f"tensor<{element}>"
        line = (
            f'"stablehlo.select_and_scatter"(%a, %b, %s) <{{{window}}}> ({{\n^bb0(%p: {scalar}, %q: {scalar}):\n'
            f"  %c = stablehlo.compare GE, %p, %q : ({scalar}, {scalar}) -> tensor<i1>\n"
            f"  stablehlo.return %c : tensor<i1>\n}}, {{\n^bb0(%p: {scalar}, %q: {scalar}):\n"
            f"  %m = stablehlo.add %p, %q : {scalar}\n  stablehlo.return %m : {scalar}\n}})"
            f" : (tensor<4x8x{element}>, tensor<{source}x{element}>, {scalar}) -> tensor<4x8x{element}>"
        )
        constant = f"%s = stablehlo.constant dense<{start}> : {scalar}"
        yield case(name, line, [f"4x8x{element}", f"{source}x{element}"], [f"4x8x{element}"], [constant])


GROUPS: dict[str, Callable[[], Iterator[Case]]] = {
    "convolutions": _convolutions,
    "windows": _windows,
    "selections": _selections,
}
