"""What split windows send, by closed forms, and what their expansions are: ordinary programs on whole tensors."""

from __future__ import annotations

from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from harness import run, run_unsharded
from window_reference import naive_scatter

from shardwright.compiler.pipelines import PIPELINES, run_pipeline
from shardwright.dialects.text.parsing import parse_module
from shardwright.layout.planning.sweep import Sweep
from shardwright.passes.stages import stage_of
from shardwright.runtime.executable import compile_module

PARTS = 8


def program(arguments: list[tuple[str, str]], result: tuple[str, str], body: str) -> str:
    """A program over eight devices; each type comes with its layout, a body defines `%r`."""
    marked = [f"tensor<{kind}> {{sdy.sharding = #sdy.sharding<@mesh, {dims}>}}" for kind, dims in (*arguments, result)]
    names = ", ".join(f"%{name}: {text}" for name, text in zip("abc", marked[:-1], strict=False))
    return (
        f'sdy.mesh @mesh = <["x"={PARTS}]>\nfunc.func public @main({names}) -> ({marked[-1]}) {{\n'
        f"{body}\nreturn %r : tensor<{result[0]}>\n}}"
    )


def convolution(shapes: tuple[str, str, str], window: str, dims: str = "[b, 0, f]x[0, i, o]->[b, 0, f]") -> str:
    types = [f"tensor<{shape}xf32>" for shape in shapes]
    return (
        f"%r = stablehlo.convolution(%a, %b) dim_numbers = {dims}, window = {{{window}}} "
        f"{{batch_group_count = 1 : i64, feature_group_count = 1 : i64}} : ({types[0]}, {types[1]}) -> {types[2]}"
    )


def window(body: str, start: str, attributes: str, shapes: tuple[str, str]) -> str:
    return (
        f"%s = stablehlo.constant dense<{start}> : tensor<f32>\n"
        f'%r = "stablehlo.reduce_window"(%a, %s) <{{{attributes}}}> ({{\n^bb0(%p: tensor<f32>, %q: tensor<f32>):\n'
        f"%m = stablehlo.{body} %p, %q : tensor<f32>\nstablehlo.return %m : tensor<f32>\n}})"
        f" : (tensor<{shapes[0]}xf32>, tensor<f32>) -> tensor<{shapes[1]}xf32>"
    )


def selection(shape: str, source: str, attributes: str) -> str:
    return (
        "%s = stablehlo.constant dense<0.0> : tensor<f32>\n"
        f'%r = "stablehlo.select_and_scatter"(%a, %b, %s) <{{{attributes}}}> ({{\n'
        "^bb0(%p: tensor<f32>, %q: tensor<f32>):\n"
        "%c = stablehlo.compare GE, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
        "stablehlo.return %c : tensor<i1>\n}, {\n^bb0(%p: tensor<f32>, %q: tensor<f32>):\n"
        "%m = stablehlo.add %p, %q : tensor<f32>\nstablehlo.return %m : tensor<f32>\n})"
        f" : (tensor<{shape}xf32>, tensor<{source}xf32>, tensor<f32>) -> tensor<{shape}xf32>"
    )


SPLIT, WHOLE, FIRST = '[{}, {"x"}, {}]', "[{}, {}, {}]", '[{"x"}, {}]'
BORDERS = Fraction(PARTS - 1, PARTS)
"""How many devices have a neighbour on one side, per device."""

PROGRAMS: dict[str, tuple[str, Fraction | int]] = {
    "a window of five": (
        program(
            [("2x64x4xf32", SPLIT), ("5x4x6xf32", WHOLE)],
            ("2x64x6xf32", SPLIT),
            convolution(("2x64x4", "5x4x6", "2x64x6"), "pad = [[2, 2]]"),
        ),
        BORDERS * 4 * (2 * 4 * 4),
    ),
    "a window of five with holes": (
        program(
            [("2x64x4xf32", SPLIT), ("5x4x6xf32", WHOLE)],
            ("2x64x6xf32", SPLIT),
            convolution(("2x64x4", "5x4x6", "2x64x6"), "pad = [[6, 6]], rhs_dilate = [3]"),
        ),
        BORDERS * 12 * (2 * 4 * 4),
    ),
    "steps of two": (
        program(
            [("2x64x4xf32", SPLIT), ("3x4x6xf32", WHOLE)],
            ("2x32x6xf32", SPLIT),
            convolution(("2x64x4", "3x4x6", "2x32x6"), "stride = [2], pad = [[0, 1]]"),
        ),
        BORDERS * (2 * 4 * 4),
    ),
    "blocks": (
        program(
            [("2x64x4xf32", SPLIT), ("2x4x6xf32", WHOLE)],
            ("2x32x6xf32", SPLIT),
            convolution(("2x64x4", "2x4x6", "2x32x6"), "stride = [2]"),
        ),
        0,
    ),
    "twice as many": (
        program(
            [("2x64x4xf32", SPLIT), ("4x4x6xf32", WHOLE)],
            ("2x128x6xf32", SPLIT),
            convolution(("2x64x4", "4x4x6", "2x128x6"), "pad = [[2, 2]], lhs_dilate = [2]"),
        ),
        BORDERS * 2 * (2 * 4 * 4),
    ),
    "gradient of a kernel": (
        program(
            [("2x64x4xf32", SPLIT), ("2x64x6xf32", SPLIT)],
            ("3x4x6xf32", WHOLE),
            convolution(("2x64x4", "2x64x6", "3x4x6"), "pad = [[1, 1]]", "[f, 0, b]x[i, 0, o]->[0, b, f]"),
        ),
        BORDERS * 2 * (2 * 4 * 4) + 2 * BORDERS * (3 * 4 * 6 * 4),
    ),
    "pool": (
        program(
            [("64x4xf32", FIRST)],
            ("64x4xf32", FIRST),
            window(
                "maximum",
                "0xFF800000",
                "window_dimensions = array<i64: 3, 1>, padding = dense<[[1, 1], [0, 0]]> : tensor<2x2xi64>",
                ("64x4", "64x4"),
            ),
        ),
        BORDERS * 2 * (4 * 4),
    ),
    "pool of blocks": (
        program(
            [("64x4xf32", FIRST)],
            ("16x4xf32", FIRST),
            window(
                "add",
                "0.0",
                "window_dimensions = array<i64: 4, 1>, window_strides = array<i64: 4, 1>",
                ("64x4", "16x4"),
            ),
        ),
        0,
    ),
    "cumsum": (
        program(
            [("64x4xf32", FIRST)],
            ("64x4xf32", FIRST),
            window(
                "add",
                "0.0",
                "window_dimensions = array<i64: 64, 1>, padding = dense<[[63, 0], [0, 0]]> : tensor<2x2xi64>",
                ("64x4", "64x4"),
            ),
        ),
        (PARTS - 1) * 4 * 4,
    ),
    "gradient of a pool": (
        program(
            [("64x4xf32", FIRST), ("32x4xf32", FIRST)],
            ("64x4xf32", FIRST),
            selection(
                "64x4",
                "32x4",
                "window_dimensions = array<i64: 3, 1>, window_strides = array<i64: 2, 1>, "
                "padding = dense<[[0, 1], [0, 0]]> : tensor<2x2xi64>",
            ),
        ),
        # From the left the last window and the two elements under it, from the right the last element of a window.
        BORDERS * (1 + 2 + 1) * (4 * 4),
    ),
    "pad inside": (
        program(
            [("64x4xf32", FIRST)],
            ("128x4xf32", FIRST),
            "%v = stablehlo.constant dense<0.0> : tensor<f32>\n"
            "%r = stablehlo.pad %a, %v, low = [2, 0], high = [-1, 0], interior = [1, 0]"
            " : (tensor<64x4xf32>, tensor<f32>) -> tensor<128x4xf32>",
        ),
        BORDERS * (4 * 4),
    ),
}


def arrays_of(text: str) -> list[np.ndarray]:
    """Small whole numbers for each argument."""
    function = parse_module(text).body.block.last_op
    random = np.random.default_rng(0)
    types = function.function_type.inputs.data  # pyright: ignore
    return [random.integers(-4, 5, type_.get_shape()).astype(np.float32) for type_ in types]


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_split_window_sends_what_is_lacking(name: str) -> None:
    text, expected = PROGRAMS[name]
    arrays = arrays_of(text)
    ran = run(text, arrays, round_trip=True)
    np.testing.assert_array_equal(ran.results[0], run_unsharded(text, arrays)[0])
    assert ran.predicted == expected


@pytest.mark.parametrize("name", PROGRAMS)
def test_an_expansion_is_an_ordinary_program(name: str) -> None:
    text, _ = PROGRAMS[name]
    module = parse_module(text)
    run_pipeline(module, PIPELINES["align"], verify_each=True)
    assert stage_of(module) == "aligned"
    arrays = arrays_of(text)
    (found,) = compile_module(module, namespace="plain_numpy").run(arrays)
    np.testing.assert_array_equal(found, run_unsharded(text, arrays)[0])


@pytest.mark.parametrize("edge", ["[[0, 1], [0, 0]]", "[[1, 0], [0, 0]]"])
def test_padding_is_never_selected(edge: str) -> None:
    """Nor where a window has nothing but the smallest numbers, or NaN."""
    attributes = (
        "window_dimensions = array<i64: 3, 1>, window_strides = array<i64: 2, 1>, "
        f"padding = dense<{edge}> : tensor<2x2xi64>"
    )
    text = program(
        [("64x4xf32", FIRST), ("32x4xf32", FIRST)], ("64x4xf32", FIRST), selection("64x4", "32x4", attributes)
    )
    operand, source = arrays_of(text)
    operand[::3], operand[:2], operand[-2:] = -np.inf, -np.inf, -np.inf
    low = 1 if edge.startswith("[[1") else 0
    (found,) = run(text, [operand, source]).results
    np.testing.assert_array_equal(found, naive_scatter(operand, source, 0, [Sweep(3, 2, low, 1 - low), Sweep(1)]))
    operand[1::5], operand[-1], operand[0] = np.nan, np.nan, np.nan
    ran = run(text, [operand, source])
    np.testing.assert_array_equal(ran.results[0], run_unsharded(text, [operand, source])[0])
    assert ran.collectives == ["window", "window"]


@pytest.mark.parametrize("element", ["f16", "bf16", "f64"])
def test_padding_is_told_from_numbers_of_every_width(element: str) -> None:
    attributes = (
        "window_dimensions = array<i64: 3, 1>, window_strides = array<i64: 2, 1>, "
        "padding = dense<[[1, 0], [0, 0]]> : tensor<2x2xi64>"
    )
    text = program(
        [("64x4xf32", FIRST), ("32x4xf32", FIRST)], ("64x4xf32", FIRST), selection("64x4", "32x4", attributes)
    )
    text = text.replace("f32>", f"{element}>")
    dtype = np.dtype({"f16": "float16", "bf16": ml_dtypes.bfloat16, "f64": "float64"}[element])
    random = np.random.default_rng(3)
    operand, source = (random.integers(-4, 5, (size, 4)).astype(dtype) for size in (64, 32))
    operand[:3] = -np.inf
    ran = run(text, [operand, source], round_trip=True)
    np.testing.assert_array_equal(ran.results[0], naive_scatter(operand, source, 0, [Sweep(3, 2, 1, 0), Sweep(1)]))
    assert ran.collectives == ["window", "window"]


def test_parts_that_do_not_divide_the_result_take_the_whole_dim() -> None:
    text = program(
        [("2x64x4xf32", SPLIT), ("4x4x6xf32", WHOLE)],
        ("2x61x6xf32", WHOLE),
        convolution(("2x64x4", "4x4x6", "2x61x6"), ""),
    )
    arrays = arrays_of(text)
    ran = run(text, arrays)
    np.testing.assert_array_equal(ran.results[0], run_unsharded(text, arrays)[0])
    assert "window" not in ran.collectives
