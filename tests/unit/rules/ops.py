"""The ops whose rules are checked: one small program for each op, in the shapes and element types that matter."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from shardwright.dialects import chlo, stablehlo
from shardwright.dialects.types import element_type_named, tensor
from shardwright.rules.proof.trial import Draw, draw_small
from shardwright.runtime.executable import EMITTER_MODULES
from shardwright.runtime.kernels import table as pointwise
from shardwright.runtime.lowering.emitters import EMITTERS

from .op_case import Case, case
from .ops_indexing import GROUPS as INDEXING
from .ops_linear_algebra import GROUPS as LINEAR_ALGEBRA
from .ops_sorting import GROUPS as SORTING
from .ops_windows import GROUPS as WINDOWS

assert EMITTER_MODULES, "their import fills in the emitters"

REAL_FUNCTIONS = ("bessel_i1e", "digamma", "erf", "erf_inv", "erfc", "lgamma")
REAL_ONLY = {"stablehlo.atan2", "stablehlo.remainder", *(f"chlo.{name}" for name in REAL_FUNCTIONS)}
"""Ops that the runtime computes on real numbers only."""

ELEMENTS = {"b": "i1", "i": "i32", "f": "f32", "c": "complex<f32>"}
DTYPES = {"b": "bool", "i": "int32", "f": "float32", "c": "complex64"}
SHAPE = (4, 6)


def draw_with_infinities(generator: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    """What ops need that tell infinities from numbers."""
    infinities = np.where(generator.integers(0, 2, shape), np.inf, -np.inf)
    return np.where(generator.integers(0, 2, shape), infinities, draw_small(generator, shape, dtype)).astype(dtype)


def draw_shifts(generator: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    """Numbers of bits and other small integers."""
    return generator.integers(0, 6, shape).astype(dtype)


def draw_counts(generator: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    """Small counts: orders and exponents, where most other numbers make NaN."""
    return generator.integers(2, 7, shape).astype(dtype)


def draw_large(generator: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    """Integers of any size, whose products have a high half."""
    return generator.integers(-(2**31), 2**31, shape).astype(dtype)


def draw_few(generator: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    """Booleans that are mostly false, so that `or` over them is not always true."""
    return generator.random(shape) < 0.2 if dtype.kind == "b" else draw_small(generator, shape, dtype)


def draw_many(generator: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    """Booleans that are mostly true, so that `and` over them is not always false; integers with most bits set."""
    return generator.random(shape) < 0.8 if dtype.kind == "b" else draw_small(generator, shape, dtype)


DRAWS: dict[str, Draw] = {
    "stablehlo.is_finite": draw_with_infinities,
    "chlo.is_inf": draw_with_infinities,
    "chlo.is_neg_inf": draw_with_infinities,
    "chlo.is_pos_inf": draw_with_infinities,
    "stablehlo.shift_left": draw_shifts,
    "stablehlo.shift_right_arithmetic": draw_shifts,
    "stablehlo.shift_right_logical": draw_shifts,
    "stablehlo.power": draw_shifts,
    "chlo.polygamma": draw_counts,
    "chlo.zeta": draw_counts,
    "chlo.mulhi": draw_large,
}


def kernel(op: str) -> bool:
    """Whether the runtime computes the op at all."""
    return op in EMITTERS or pointwise.is_known(op.partition(".")[2])


def _pointwise() -> Iterator[Case]:
    """Every pointwise op whose types follow from its operands', for each kind of elements that it takes."""
    by_hand = ("convert", "bitcast_convert", "reduce_precision", "compare", "select", "clamp")
    for op, count in (stablehlo.ELEMENTWISE | chlo.ELEMENTWISE).items():
        if op.name.partition(".")[2] in by_hand or not kernel(op.name):
            continue
        for kind in op.KINDS if op.name not in REAL_ONLY else op.KINDS.replace("c", ""):
            operand = tensor(SHAPE, element_type_named(DTYPES[kind]))
            result = op.result_type([operand] * count)
            arguments = ", ".join(f"%{letter}" for letter in "ab"[:count])
            line = f"{op.name} {arguments} : {_signature(op.name, [str(operand)] * count, str(result))}"
            name = f"{op.name.partition('.')[2]} {ELEMENTS[kind]}"
            operands = [_inside(operand)] * count
            yield case(name, line, operands, [_inside(result)], draw=DRAWS.get(op.name, draw_few))


def _signature(name: str, operands: Sequence[str], result: str) -> str:
    if name.startswith("chlo"):
        return f"{', '.join(operands)} -> {result}"
    return f"({', '.join(operands)}) -> {result}"


def _inside(type_: object) -> str:
    return str(type_).removeprefix("tensor<").removesuffix(">")


def _bf16() -> Iterator[Case]:
    for name in ("add", "multiply", "maximum", "divide"):
        yield case(f"{name} bf16", f"stablehlo.{name} %a, %b : tensor<4x6xbf16>", ["4x6xbf16"] * 2, ["4x6xbf16"])
    yield case("negate u8", "stablehlo.negate %a : tensor<4x6xui8>", ["4x6xui8"], ["4x6xui8"])
    yield case("divide u8", "stablehlo.divide %a, %b : tensor<4x6xui8>", ["4x6xui8"] * 2, ["4x6xui8"])
    yield case("add ones", "stablehlo.add %a, %b : tensor<1x6x1xf32>", ["1x6x1xf32"] * 2, ["1x6x1xf32"])
    yield case("add scalars", "stablehlo.add %a, %b : tensor<f32>", ["f32"] * 2, ["f32"])
    yield case("add empty", "stablehlo.add %a, %b : tensor<0x4xf32>", ["0x4xf32"] * 2, ["0x4xf32"])
    yield case("add constant", "stablehlo.add %a, %k : tensor<f32>", ["f32"], ["f32"], [_scalar(2.0, "f32")])


def _converts() -> Iterator[Case]:
    pairs = [
        ("f32", "f64"),
        ("bf16", "f32"),
        ("f16", "f32"),
        ("f32", "bf16"),
        ("f32", "i32"),
        ("i32", "f32"),
        ("i32", "i8"),
        ("i8", "i32"),
        ("i1", "f32"),
        ("f32", "i1"),
        ("f32", "complex<f32>"),
        ("f32", "f32"),
        ("i32", "ui32"),
        ("f8E4M3FN", "bf16"),
        ("bf16", "f16"),
    ]
    for source, target in pairs:
        draw = draw_sevenths if source in ("f32", "f64") else draw_few
        yield case(
            f"convert {source} {target}",
            "stablehlo.convert %a : TYPES",
            [f"4x6x{source}"],
            [f"4x6x{target}"],
            draw=draw,
        )


def draw_sevenths(generator: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    """Floats that no narrower type holds."""
    return (generator.integers(-3000, 3000, shape) / 7).astype(dtype)


def _attributed() -> Iterator[Case]:
    """Pointwise ops with attributes or with scalar operands."""
    yield from _converts()
    for kind, element in (("GT", "f32"), ("EQ", "i32"), ("NE", "i1")):
        line = f"stablehlo.compare {kind}, %a, %b : TYPES"
        draw = draw_shifts if element == "i32" else draw_small
        yield case(f"compare {kind} {element}", line, [f"4x6x{element}"] * 2, ["4x6xi1"], draw=draw)
    line = "stablehlo.compare LT, %a, %b, TOTALORDER : TYPES"
    yield case("compare total", line, ["4x6xf32"] * 2, ["4x6xi1"])
    line = "stablehlo.reduce_precision %a, format = e5m2 : tensor<4x6xf32>"
    yield case("reduce_precision", line, ["4x6xf32"], ["4x6xf32"], draw=draw_sevenths)
    for predicate in ("4x6xi1", "i1"):
        for element in ("f32", "i32", "i1"):
            types = [predicate, f"4x6x{element}", f"4x6x{element}"]
            line = f"stablehlo.select %a, %b, %c : tensor<{predicate}>, tensor<4x6x{element}>"
            yield case(f"select {predicate} {element}", line, types, [f"4x6x{element}"])
    for low, high in (("4x6", "4x6"), ("", ""), ("", "4x6"), ("4x6", "")):
        types = [f"{low}xf32".removeprefix("x"), "4x6xf32", f"{high}xf32".removeprefix("x")]
        yield case(f"clamp {types[0]} {types[2]}", "stablehlo.clamp %a, %b, %c : TYPES", types, ["4x6xf32"])
    for source, target in (("4x6xf32", "4x6xi32"), ("4x6xf32", "4x6x4xui8"), ("4x6x4xui8", "4x6xf32")):
        line = "stablehlo.bitcast_convert %a : TYPES"
        yield case(f"bitcast {source} {target}", line, [source], [target])


def _scalar(value: object, element: str, name: str = "%k") -> str:
    return f"{name} = stablehlo.constant dense<{value}> : tensor<{element}>"


def _creation() -> Iterator[Case]:
    yield case("constant splat", "stablehlo.constant dense<2.5> : tensor<4x6xf32>", [], ["4x6xf32"])
    yield case("constant bool", "stablehlo.constant dense<true> : tensor<4x6xi1>", [], ["4x6xi1"])
    yield case("constant values", "stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>", [], ["4xi32"])
    for element in ("f32", "i32", "i64", "ui8", "bf16", "complex<f32>"):
        for dim in (0, 1):
            line = f"stablehlo.iota dim = {dim} : tensor<4x6x{element}>"
            yield case(f"iota {dim} {element}", line, [], [f"4x6x{element}"])


def _broadcasts() -> Iterator[Case]:
    for source, dims, target in (
        ("f32", "[]", "4x6xf32"),
        ("4xf32", "[0]", "4x6xf32"),
        ("6xf32", "[1]", "4x6xf32"),
        ("1x6xf32", "[0, 1]", "4x6xf32"),
        ("4x1xf32", "[0, 2]", "4x2x6xf32"),
        ("4x6xf32", "[1, 0]", "6x4xf32"),
        ("4x6xf32", "[2, 0]", "6x2x4xf32"),
        ("4x6xi1", "[0, 1]", "4x6xi1"),
        ("1x1xf32", "[0, 1]", "1x1xf32"),
        ("0x4xf32", "[1, 2]", "2x0x4xf32"),
    ):
        line = f"stablehlo.broadcast_in_dim %a, dims = {dims} : TYPES"
        yield case(f"broadcast {source} {dims} {target}", line, [source], [target], draw=draw_few)


def _reshapes() -> Iterator[Case]:
    for source, target in (
        ("4x6", "8x3"),
        ("2x3", "3x2"),
        ("8x4", "32"),
        ("32", "8x4"),
        ("24", "2x3x4"),
        ("2x3x4", "24"),
        ("2x3x4", "6x4"),
        ("2x3x4", "2x12"),
        ("4x6x2", "8x6"),
        ("4x6", "24x1"),
        ("1x4x1x6", "4x6"),
        ("4x6", "4x1x6"),
        ("4x3", "6x2"),
        ("4x6", "6x4"),
        ("2x6x4", "4x3x4"),
        ("8x6x5", "4x4x15"),
        ("4x9", "6x6"),
        ("1", ""),
        ("1x1", "1"),
        ("0x4", "4x0"),
        ("0x4", "0x2x2"),
        ("0x4", "0"),
        ("4x6", "4x6"),
        ("16", "4x4"),
    ):
        types = [f"{shape}xf32" if shape else "f32" for shape in (source, target)]
        yield case(f"reshape {source} {target}", "stablehlo.reshape %a : TYPES", types[:1], types[1:])
    yield case("reshape i1", "stablehlo.reshape %a : TYPES", ["4x6xi1"], ["24xi1"], draw=draw_few)


def _movers() -> Iterator[Case]:
    for source, dims, target in (
        ("4x6", "[1, 0]", "6x4"),
        ("4x4", "[1, 0]", "4x4"),
        ("2x4x6", "[2, 0, 1]", "6x2x4"),
        ("4x1x6", "[1, 2, 0]", "1x6x4"),
        ("", "[]", ""),
    ):
        types = [f"{shape}xf32" if shape else "f32" for shape in (source, target)]
        line = f"stablehlo.transpose %a, dims = {dims} : TYPES"
        yield case(f"transpose {source} {dims}", line, types[:1], types[1:])
    for ranges, target in (
        ("[0:4, 0:6]", "4x6"),
        ("[0:2, 0:6]", "2x6"),
        ("[2:4, 0:6]", "2x6"),
        ("[0:4, 1:5]", "4x4"),
        ("[0:4, 0:6:2]", "4x3"),
        ("[0:4:2, 0:6]", "2x6"),
        ("[1:4:2, 0:6]", "2x6"),
        ("[0:3:2, 0:6]", "2x6"),
        ("[1:4:2, 0:6:3]", "2x2"),
        ("[0:4:3, 2:6:2]", "2x2"),
        ("[0:0, 0:6]", "0x6"),
        ("[3:4, 0:6]", "1x6"),
    ):
        line = f"stablehlo.slice %a {ranges} : TYPES"
        yield case(f"slice {ranges}", line, ["4x6xf32"], [f"{target}xf32"])
    for dims in ("[0]", "[1]", "[0, 1]", "[]"):
        line = f"stablehlo.reverse %a, dims = {dims} : tensor<4x6xf32>"
        yield case(f"reverse {dims}", line, ["4x6xf32"], ["4x6xf32"])
    yield case("reverse ones", "stablehlo.reverse %a, dims = [0] : tensor<1x6xf32>", ["1x6xf32"], ["1x6xf32"])
    for dim, operands, target in (
        (0, ["4x6", "2x6"], "6x6"),
        (0, ["4x6", "4x6"], "8x6"),
        (1, ["4x6", "4x2", "4x4"], "4x12"),
        (0, ["4x6"], "4x6"),
        (0, ["1x6", "1x6"], "2x6"),
        (0, ["0x6", "4x6"], "4x6"),
    ):
        line = f"stablehlo.concatenate {', '.join(['%a', '%b', '%c'][: len(operands)])}, dim = {dim} : TYPES"
        yield case(f"concatenate {dim} {operands}", line, [f"{shape}xf32" for shape in operands], [f"{target}xf32"])


def _pads() -> Iterator[Case]:
    for low, high, interior, target in (
        ([0, 0], [0, 0], [0, 0], "4x6"),
        ([1, 0], [1, 0], [0, 0], "6x6"),
        ([0, 2], [0, 0], [0, 0], "4x8"),
        ([0, 0], [0, -2], [0, 0], "4x4"),
        ([-1, 0], [1, 0], [0, 0], "4x6"),
        ([0, 0], [0, 0], [1, 0], "7x6"),
        ([0, 0], [1, 0], [1, 0], "8x6"),
        ([1, 0], [0, 2], [1, 2], "8x18"),
        ([0, -1], [0, 3], [0, 2], "4x18"),
        ([-1, 0], [-1, 0], [0, 0], "2x6"),
    ):
        attributes = f"low = {low}, high = {high}, interior = {interior}"
        for fill in (0.0, 1.5):
            line = f"stablehlo.pad %a, %k, {attributes} : (tensor<4x6xf32>, tensor<f32>) -> tensor<{target}xf32>"
            yield case(f"pad {attributes} {fill}", line, ["4x6xf32"], [f"{target}xf32"], [_scalar(fill, "f32")])
    line = "stablehlo.pad %a, %b, low = [1, 0], high = [1, 0], interior = [0, 0] : TYPES"
    yield case("pad argument", line, ["4x6xf32", "f32"], ["6x6xf32"])


def _dots() -> Iterator[Case]:
    for operands, options, target in (
        (["4x6", "6x2"], "contracting_dims = [1] x [0]", "4x2"),
        (["6x4", "2x6"], "contracting_dims = [0] x [1]", "4x2"),
        (["2x4x6", "2x6x4"], "batching_dims = [0] x [0], contracting_dims = [2] x [1]", "2x4x4"),
        (["4x2x6", "6x2x4"], "batching_dims = [1] x [1], contracting_dims = [2] x [0]", "2x4x4"),
        (["2x4x6", "4x6x2"], "contracting_dims = [1, 2] x [0, 1]", "2x2"),
        (["2x4x6", "6x4"], "contracting_dims = [2] x [0]", "2x4x4"),
        (["4", "6"], "contracting_dims = [] x []", "4x6"),
        (["4", "4"], "contracting_dims = [0] x [0]", ""),
        (["2x4", "4x2"], "batching_dims = [0, 1] x [1, 0], contracting_dims = [] x []", "2x4"),
        (["1x4", "4x1"], "contracting_dims = [1] x [0]", "1x1"),
        (["4x1", "1x2"], "contracting_dims = [1] x [0]", "4x2"),
        (["4x0", "0x2"], "contracting_dims = [1] x [0]", "4x2"),
        (["2x2x4x6", "2x2x6x2"], "batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2]", "2x2x4x2"),
    ):
        line = f"stablehlo.dot_general %a, %b, {options} : TYPES"
        result = f"{target}xf32" if target else "f32"
        yield case(f"dot {operands} {options}", line, [f"{shape}xf32" for shape in operands], [result])
    for element, result in (
        ("i32", "i32"),
        ("i8", "i32"),
        ("complex<f32>", "complex<f32>"),
        ("bf16", "f32"),
        ("bf16", "bf16"),
    ):
        line = "stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : TYPES"
        yield case(f"dot {element} {result}", line, [f"4x6x{element}", f"6x2x{element}"], [f"4x2x{result}"])


MONOIDS = (
    ("add", "f32", "0.0"),
    ("multiply", "f32", "1.0"),
    ("maximum", "f32", "0xFF800000"),
    ("minimum", "f32", "0x7F800000"),
    ("add", "i32", "0"),
    ("maximum", "i32", "-2147483648"),
    ("minimum", "ui8", "255"),
    ("and", "i32", "-1"),
    ("or", "i32", "0"),
    ("and", "i1", "true"),
    ("or", "i1", "false"),
    ("add", "i1", "false"),
    ("maximum", "i1", "false"),
    ("add", "bf16", "0.0"),
    ("maximum", "bf16", "0xFF80"),
    ("add", "complex<f32>", "(0.0, 0.0)"),
)
"""Reducers with their neutral elements: the recognised monoids."""

OTHER_STARTS = (("add", "f32", "1.0"), ("maximum", "f32", "0.0"), ("multiply", "i32", "2"), ("xor", "i32", "0"))
"""Reducers that start elsewhere, or that no kind of partial results stands for."""

_ARGMAX = """stablehlo.reduce(%a init: %k), (%b init: %l) across dimensions = [1] :
    (tensor<4x6xf32>, tensor<4x6xi32>, tensor<f32>, tensor<i32>) -> (tensor<4xf32>, tensor<4xi32>)
  reducer(%p: tensor<f32>, %q: tensor<f32>) (%s: tensor<i32>, %t: tensor<i32>) {
    %0 = stablehlo.compare GE, %p, %q, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %1 = stablehlo.select %0, %p, %q : tensor<i1>, tensor<f32>
    %2 = stablehlo.select %0, %s, %t : tensor<i1>, tensor<i32>
    stablehlo.return %1, %2 : tensor<f32>, tensor<i32>
  }"""

_EITHER = """stablehlo.reduce(%a init: %k) across dimensions = [0] : (tensor<4x6xf32>, tensor<f32>) -> tensor<6xf32>
  reducer(%p: tensor<f32>, %q: tensor<f32>) {
    %0 = stablehlo.multiply %p, %q : tensor<f32>
    %1 = stablehlo.add %p, %q : tensor<f32>
    %2 = stablehlo.subtract %1, %0 : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }"""
"""The probability of either: it combines in any order, but no kind of partial results says how."""


def _reductions() -> Iterator[Case]:
    targets = {"[0]": "6x", "[1]": "4x", "[0, 1]": "", "[]": "4x6x"}
    for name, element, start in (*MONOIDS, *OTHER_STARTS):
        for dims, target in targets.items() if (name, start) == ("add", "0.0") else [("[1]", "4x")]:
            line = (
                f"stablehlo.reduce(%a init: %k) applies stablehlo.{name} across dimensions = {dims} : "
                f"(tensor<4x6x{element}>, tensor<{element}>) -> tensor<{target}{element}>"
            )
            constants = [_scalar(start, element)]
            operands, results = [f"4x6x{element}"], [f"{target}{element}"]
            yield case(
                f"reduce {name} {element} {dims} {start}",
                line,
                operands,
                results,
                constants,
                draw_many if name == "and" else draw_few,
            )
    line = "stablehlo.reduce(%a init: %b) applies stablehlo.add across dimensions = [1] : TYPES"
    yield case("reduce from an argument", line, ["4x6xf32", "f32"], ["4xf32"])
    line = "stablehlo.reduce(%a init: %k) applies stablehlo.add across dimensions = [1] : "
    line += "(tensor<4x1xf32>, tensor<f32>) -> tensor<4xf32>"
    yield case("reduce a dim of one", line, ["4x1xf32"], ["4xf32"], [_scalar(0.0, "f32")])
    starts = [_scalar("0xFF800000", "f32"), _scalar(0, "i32", "%l")]
    yield case("reduce to the greatest with its place", _ARGMAX, ["4x6xf32", "4x6xi32"], ["4xf32", "4xi32"], starts)
    yield case("reduce to the probability of either", _EITHER, ["4x6xf32"], ["6xf32"], [_scalar(0.0, "f32")])


def _others() -> Iterator[Case]:
    line = "stablehlo.optimization_barrier %a, %b : tensor<4x6xf32>, tensor<2xf32>"
    yield case("barrier", line, ["4x6xf32", "2xf32"], ["4x6xf32", "2xf32"])
    for name in ("relayout", "constraint"):
        yield case(name, f"dtensor.{name} %a : tensor<4x6xf32> -> tensor<4x6xf32>", ["4x6xf32"], ["4x6xf32"])


GROUPS: dict[str, Callable[[], Iterator[Case]]] = {
    "pointwise": _pointwise,
    "types": _bf16,
    "attributed": _attributed,
    "creation": _creation,
    "broadcasts": _broadcasts,
    "reshapes": _reshapes,
    "movers": _movers,
    "pads": _pads,
    "dots": _dots,
    "reductions": _reductions,
    "others": _others,
    **INDEXING,
    **LINEAR_ALGEBRA,
    **SORTING,
    **WINDOWS,
}

CASES = [case for group in GROUPS.values() for case in group()]
