"""Larger cases for the check of expansions: room to share out what is combined, several dims at once, odd windows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .op_case import Case, case
from .ops_linear_algebra import draw_dominant, draw_not_positive, draw_positive
from .ops_sorting import draw_ties
from .ops_windows import convolution, sizes, windowed

_PLACED = """  reducer(%p: tensor<{0}>, %q: tensor<{0}>) (%s: tensor<i32>, %t: tensor<i32>) {{
    %0 = stablehlo.compare GE, %p, %q, FLOAT : (tensor<{0}>, tensor<{0}>) -> tensor<i1>
    %1 = stablehlo.select %0, %p, %q : tensor<i1>, tensor<{0}>
    %2 = stablehlo.select %0, %s, %t : tensor<i1>, tensor<i32>
    stablehlo.return %1, %2 : tensor<{0}>, tensor<i32>
  }}"""


def _placed(shape: str, dims: Sequence[int], kept: str, element: str, used: Sequence[int]) -> Case:
    """The greatest element and its place, of which the program returns some."""
    inputs, outputs = [f"{shape}x{element}", f"{shape}xi32"], [f"{kept}x{element}", f"{kept}xi32"]
    types = ", ".join(f"tensor<{each}>" for each in (*inputs, element, "i32"))
    made = ", ".join(f"tensor<{each}>" for each in outputs)
    wanted = ", ".join(f"tensor<{outputs[at]}>" for at in used)
    start = {"f32": "0xFF800000", "f64": "0xFFF0000000000000"}[element]
    text = f"""func.func @main(%a: tensor<{inputs[0]}>, %b: tensor<{inputs[1]}>) -> ({wanted}) {{
  %k = stablehlo.constant dense<{start}> : tensor<{element}>
  %l = stablehlo.constant dense<0> : tensor<i32>
  %r:2 = stablehlo.reduce(%a init: %k), (%b init: %l) across dimensions = {list(dims)} : ({types}) -> ({made})
{_PLACED.format(element)}
  return {", ".join(f"%r#{at}" for at in used)} : {wanted}
}}"""
    return Case(f"greatest of {shape}x{element} {dims} {used}", text)


def _meetings() -> Iterator[Case]:
    for shape, k, short in (("4x12", 2, "4x2"), ("6x12", 4, "6x4"), ("2x8x12", 5, "2x8x5")):
        line = f"chlo.top_k(%a, k = {k}) : tensor<{shape}xf32> -> (tensor<{short}xf32>, tensor<{short}xi32>)"
        yield case(f"top {k} of {shape}", line, [f"{shape}xf32"], [f"{short}xf32", f"{short}xi32"], draw=draw_ties)
    yield _placed("4x6x4", [0, 2], "6", "f32", [0, 1])
    yield _placed("6x2x12", [2], "6x2", "f64", [0, 1])
    yield _placed("4x12", [1], "4", "f64", [1])
    yield _placed("12x4", [0], "4", "f32", [0])


def _joined() -> Iterator[Case]:
    line = "stablehlo.concatenate %a, %z, %b, dim = 0 : (tensor<2x4xf32>, tensor<6x4xf32>, tensor<4x4xf32>)"
    line += " -> tensor<12x4xf32>"
    for name, literal in (("splat", "7.0"), ("values", f"[{', '.join(['[1.0, 2.0, 3.0, 4.0]'] * 6)}]")):
        constant = f"%z = stablehlo.constant dense<{literal}> : tensor<6x4xf32>"
        yield case(f"join a constant of one {name}", line, ["2x4xf32", "4x4xf32"], ["12x4xf32"], [constant])
    line = "stablehlo.concatenate %a, %b, %c, dim = 0 : TYPES"
    yield case("join nothing and more", line, ["0x6xf32", "4x6xf32", "2x6xf32"], ["6x6xf32"])
    line = "stablehlo.slice %a [1:3, 0:4, 3:4] : TYPES"
    yield case("a part and a stretch", line, ["4x4x6xf32"], ["2x4x1xf32"])
    yield case("a few of many", "stablehlo.slice %a [3:7, 1:3] : TYPES", ["24x12xf32"], ["4x2xf32"])
    line = "dtensor.roll %a, dim = 1 by 5 : TYPES"
    yield case("roll the middle", line, ["4x12x2xf32"], ["4x12x2xf32"])


def _written() -> Iterator[Case]:
    for name, operand, update, places in (
        ("rows", "12x4", "4x4", (3, 0)),
        ("too far", "12x4", "6x4", (11, 0)),
        ("a corner", "12x12", "4x6", (3, 5)),
        ("rows of a column", "12x8", "4x1", (1, 5)),
    ):
        starts = [
            f"%{start} = stablehlo.constant dense<{at}> : tensor<i32>" for start, at in zip("st", places, strict=True)
        ]
        types = f"(tensor<{operand}xf32>, tensor<{update}xf32>, tensor<i32>, tensor<i32>) -> tensor<{operand}xf32>"
        line = f"stablehlo.dynamic_update_slice %a, %b, %s, %t : {types}"
        yield case(f"write {name}", line, [f"{operand}xf32", f"{update}xf32"], [f"{operand}xf32"], starts)


def _convolutions() -> Iterator[Case]:
    plain = "[b, 0, f]x[0, i, o]->[b, 0, f]"
    dilated = "stride = [2], pad = [[2, 1]], rhs_dilate = [2]"
    yield convolution("dilated", plain, dilated, ("2x12x4", "3x4x6", "2x6x6"))
    reverse = "pad = [[0, 2]], reverse = [true]"
    yield convolution("turned", plain, reverse, ("2x12x2", "3x2x4", "2x12x4"))
    yield convolution("stretched", plain, "pad = [[2, 1]], lhs_dilate = [2]", ("2x12x2", "3x2x4", "2x24x4"))
    numbers = "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]"
    yield convolution("both", numbers, "pad = [[1, 1], [2, 0]]", ("2x4x12x2", "3x3x2x4", "2x4x12x4"))
    kernel = "[f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f]"
    yield convolution("two kernels", kernel, "pad = [[1, 1], [0, 1]]", ("2x4x6x2", "2x4x6x2", "3x2x2x2"))
    yield convolution("batch groups", plain, "pad = [[1, 1]]", ("4x4x2", "6x2x4", "2x1x4"), (1, 2))


def _running(body: str, window: int, low: int, high: int, start: str) -> Case:
    around = f"[[{low}, {high}], [1, 0]]"
    return windowed(f"{body} {low} {high}", body, sizes(f"{window}, 2", padding=around), ("12x4", "12x4"), start)


def _windows() -> Iterator[Case]:
    yield _running("add", 12, 11, 0, "0.0")
    yield _running("add", 12, 0, 11, "0.0")
    yield _running("maximum", 14, 0, 13, "0.0")
    yield windowed("tiles", "add", sizes("3, 4", "2, 1", "[[1, 0], [1, 2]]"), ("12x8", "6x8"), "1.0")
    line = (
        '"stablehlo.reduce_window"(%a, %b, %s, %t) <{window_dimensions = array<i64: 1, 3>,'
        " padding = dense<[[0, 0], [1, 1]]> : tensor<2x2xi64>}> ({\n"
        "^bb0(%p: tensor<f32>, %i: tensor<i32>, %q: tensor<f32>, %j: tensor<i32>):\n"
        "  %c = stablehlo.compare GT, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
        "  %v = stablehlo.select %c, %p, %q : tensor<i1>, tensor<f32>\n"
        "  %k = stablehlo.select %c, %i, %j : tensor<i1>, tensor<i32>\n"
        "  stablehlo.return %v, %k : tensor<f32>, tensor<i32>\n})"
        " : (tensor<4x12xf32>, tensor<4x12xi32>, tensor<f32>, tensor<i32>) -> (tensor<4x12xf32>, tensor<4x12xi32>)"
    )
    starts = [
        "%s = stablehlo.constant dense<0xFF800000> : tensor<f32>",
        "%t = stablehlo.constant dense<7> : tensor<i32>",
    ]
    yield case("where the largest around is", line, ["4x12xf32", "4x12xi32"], ["4x12xf32", "4x12xi32"], starts)


def _chosen(name: str, window: str, shapes: tuple[str, str], element: str, direction: str = "GE") -> Case:
    scalar, (operand, source) = f"tensor<{element}>", shapes
    line = (
        f'"stablehlo.select_and_scatter"(%a, %b, %s) <{{{window}}}> ({{\n^bb0(%p: {scalar}, %q: {scalar}):\n'
        f"  %c = stablehlo.compare {direction}, %p, %q : ({scalar}, {scalar}) -> tensor<i1>\n"
        f"  stablehlo.return %c : tensor<i1>\n}}, {{\n^bb0(%p: {scalar}, %q: {scalar}):\n"
        f"  %m = stablehlo.add %p, %q : {scalar}\n  stablehlo.return %m : {scalar}\n}})"
        f" : (tensor<{operand}x{element}>, tensor<{source}x{element}>, {scalar}) -> tensor<{operand}x{element}>"
    )
    start = f"%s = stablehlo.constant dense<1.0> : {scalar}"
    return case(
        f"choose {name}", line, [f"{operand}x{element}", f"{source}x{element}"], [f"{operand}x{element}"], [start]
    )


def _selections() -> Iterator[Case]:
    yield _chosen("by steps", sizes("3, 1", "2, 1", "[[0, 1], [0, 0]]"), ("24x4", "12x4"), "f64")
    yield _chosen("far", sizes("5, 3", "2, 1", "[[2, 1], [1, 1]]"), ("24x4", "12x4"), "f32", "LE")
    yield _chosen("narrow", sizes("1, 4", padding="[[0, 0], [0, 3]]"), ("4x12", "4x12"), "bf16")
    yield _chosen("narrower", sizes("1, 4", padding="[[0, 0], [3, 0]]"), ("4x12", "4x12"), "f16", "LT")


def _transforms() -> Iterator[Case]:
    for shape, length in (("4x2x12", "2, 12"), ("8x12", "8, 12")):
        line = f"stablehlo.fft %a, type = FFT, length = [{length}] : TYPES"
        yield case(f"FFT {shape}", line, [f"{shape}xcomplex<f64>"], [f"{shape}xcomplex<f64>"])
    for kind, operand, length, result in (
        ("FFT", "8x3xcomplex<f64>", "8, 3", "8x3xcomplex<f64>"),  # no dim takes the axes of another evenly
        ("RFFT", "2x12x6xf64", "12, 6", "2x12x4xcomplex<f64>"),
        ("RFFT", "4x8x5xf32", "4, 8, 5", "4x8x3xcomplex<f32>"),
        ("IRFFT", "12x4xcomplex<f64>", "12, 7", "12x7xf64"),
        ("IRFFT", "8x4x3xcomplex<f32>", "8, 4, 4", "8x4x4xf32"),
    ):
        line = f"stablehlo.fft %a, type = {kind}, length = [{length}] : TYPES"
        yield case(f"{kind} {operand} {length}", line, [operand], [result])


def _triangles() -> Iterator[Case]:
    for left, lower, unit, transpose, a, b in (
        ("true", "false", "false", "NO_TRANSPOSE", "12x12xf64", "12x4xf64"),
        ("false", "true", "true", "NO_TRANSPOSE", "8x8xf64", "6x8xf64"),
        ("true", "true", "false", "TRANSPOSE", "2x12x12xf64", "2x12x1xf64"),
        ("false", "false", "false", "ADJOINT", "12x12xcomplex<f64>", "2x12xcomplex<f64>"),
    ):
        flags = f"left_side = {left}, lower = {lower}, unit_diagonal = {unit}"
        attributes = f"<{{{flags}, transpose_a = #stablehlo<transpose {transpose}>}}>"
        line = f'"stablehlo.triangular_solve"(%a, %b) {attributes} : TYPES'
        yield case(f"large solve {left} {lower} {transpose}", line, [a, b], [b], draw=draw_dominant)
    for shape, lower in (("12x12xf64", "true"), ("2x8x8xcomplex<f64>", "true"), ("12x12xcomplex<f64>", "false")):
        line = f"stablehlo.cholesky %a, lower = {lower} : tensor<{shape}>"
        yield case(f"large cholesky {shape}", line, [shape], [shape], draw=draw_positive)
        yield case(f"no cholesky {shape}", line, [shape], [shape], draw=draw_not_positive)
    for uplo, draw in ((76, draw_positive), (85, draw_not_positive)):
        line = f"stablehlo.custom_call @lapack_dpotrf_ffi(%a) {{mhlo.backend_config = {{uplo = {uplo} : ui8}}}} : TYPES"
        yield case(f"LAPACK's cholesky {uplo}", line, ["2x12x12xf64"], ["2x12x12xf64", "2xi32"], draw=draw)


def draw_normal(generator: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    """Numbers of which no two are as large."""
    return (generator.normal(size=shape) + (1j * generator.normal(size=shape) if dtype.kind == "c" else 0)).astype(
        dtype
    )


def draw_spread(generator: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    """Columns of very different sizes, of which one has nothing below its first element."""
    numbers = draw_normal(generator, shape, dtype)
    numbers[..., 1:, 0] = 0
    return (numbers * 10.0 ** (np.arange(shape[-1]) % 5 * 9 - 20)).astype(dtype)


def _elimination() -> Iterator[Case]:
    for letter, element, shape, few, one in (
        ("d", "f64", "12x12", "12", ""),
        ("c", "complex<f32>", "2x18x12", "2x12", "2x"),
        ("s", "f32", "2x7x12", "2x7", "2x"),
    ):
        line = f"stablehlo.custom_call @lapack_{letter}getrf_ffi(%a) {{mhlo.backend_config = {{}}}} : TYPES"
        results = [f"{shape}x{element}", f"{few}xi32", f"{one}i32"]
        yield case(f"eliminate {shape} {element}", line, results[:1], results, draw=draw_normal)


def _reflectors() -> Iterator[Case]:
    for letter, element, shape, count in (
        ("s", "f32", "24x4", "4"),
        ("z", "complex<f64>", "2x12x3", "2x3"),
        ("d", "f64", "6x12", "6"),
    ):
        line = f"stablehlo.custom_call @lapack_{letter}geqrf_ffi(%a) {{mhlo.backend_config = {{}}}} : TYPES"
        results = [f"{shape}x{element}", f"{count}x{element}"]
        yield case(f"reflectors {shape} {element}", line, results[:1], results, draw=draw_spread)
    for routine, element, shape, count in (
        ("dorgqr", "f64", "2x12x3", "2x3"),
        ("cungqr", "complex<f32>", "24x4", "4"),
        ("sorgqr", "f32", "12x12", "5"),
    ):
        line = f"stablehlo.custom_call @lapack_{routine}_ffi(%a, %b) {{mhlo.backend_config = {{}}}} : TYPES"
        operands = [f"{shape}x{element}", f"{count}x{element}"]
        yield case(f"basis {shape} {element}", line, operands, operands[:1])
    for letter, element, real, batch, rows, columns in (
        ("s", "f32", "f32", "", 24, 4),
        ("z", "complex<f64>", "f64", "2x", 12, 6),
    ):
        line = (
            f"stablehlo.custom_call @lapack_{letter}gesdd_ffi(%a) {{mhlo.backend_config = {{mode = 78 : ui8}}}} : TYPES"
        )
        given, square = f"{batch}{rows}x{columns}x{element}", f"{batch}{columns}x{columns}x{element}"
        results = [given, f"{batch}{columns}x{real}", f"{batch}{rows}x{rows}x{element}", square, f"{batch}i32"]
        yield case(f"singular values {given}", line, [given], results, draw=draw_normal)


def _sorts() -> Iterator[Case]:
    body = """({{
^bb0({0}):
  %z = stablehlo.compare {1}, %x, %y : (tensor<{2}>, tensor<{2}>) -> tensor<i1>
  stablehlo.return %z : tensor<i1>
}}) : TYPES"""
    pair, more = "%x: tensor<{0}>, %y: tensor<{0}>", ", %i: tensor<i32>, %j: tensor<i32>"
    first = '"stablehlo.sort"(%a) <{dimension = 0 : i64}> '
    yield case("sort numbers", first + body.format(pair.format("i8"), "GT", "i8"), ["12x2xi8"], ["12x2xi8"])
    both = '"stablehlo.sort"(%a, %n) <{dimension = 1 : i64, is_stable = true}> '
    types = "(tensor<2x12xf32>, tensor<2x12xi32>) -> (tensor<2x12xf32>, tensor<2x12xi32>)"
    line = (both + body.format(pair.format("f32") + more, "LT", "f32")).replace("TYPES", types)
    places, results = "%n = stablehlo.iota dim = 1 : tensor<2x12xi32>", ["2x12xf32", "2x12xi32"]
    yield case("sort with places", line, ["2x12xf32"], results, [places], draw=draw_ties)
    both = '"stablehlo.sort"(%a, %b) <{dimension = 0 : i64, is_stable = true}> '
    line = both + body.format(pair.format("f64") + more, "GT", "f64")
    yield case("sort with others", line, ["12xf64", "12xi32"], ["12xf64", "12xi32"], draw=draw_ties)
    yield case("deal and fill", line, ["180xf64", "180xi32"], ["180xf64", "180xi32"], draw=draw_ties)
    middle = first.replace("dimension = 0", "dimension = 1")
    yield case("deal numbers", middle + body.format(pair.format("i8"), "GT", "i8"), ["2x80x3xi8"], ["2x80x3xi8"])
    line = (both + body.format(pair.format("f32") + more, "LT", "f32")).replace('"(%a, %b)', '"(%a, %n)')
    line = line.replace("TYPES", "(tensor<144xf32>, tensor<144xi32>) -> (tensor<144xf32>, tensor<144xi32>)")
    places = "%n = stablehlo.iota dim = 0 : tensor<144xi32>"
    yield case("deal with places", line, ["144xf32"], ["144xf32", "144xi32"], [places], draw=draw_ties)


EXPANDING = [
    *(
        *_meetings(),
        *_joined(),
        *_written(),
        *_convolutions(),
        *_windows(),
        *_selections(),
        *_transforms(),
        *_triangles(),
        *_elimination(),
        *_reflectors(),
        *_sorts(),
    ),
]
