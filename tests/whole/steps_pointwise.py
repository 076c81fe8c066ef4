"""Element-wise steps, of every element type."""

# pyright: reportUnknownLambdaType=false

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from whole.build import ELEMENTS, FLOATS, INTEGERS, SIGNED, Array, Builder, UnfitError
from whole.reference import bitcast
from whole.registry import step

REAL = (*FLOATS, *INTEGERS)
NUMBERS = (*REAL, "complex<f32>")
RANKS = (0, 1, 2, 3)

UNARY: tuple[tuple[str, tuple[str, ...], Callable[..., Any]], ...] = (
    ("negate", (*FLOATS, *SIGNED, "complex<f32>"), np.negative),
    ("abs", (*FLOATS, *SIGNED), np.abs),
    ("sign", (*FLOATS, *SIGNED), np.sign),
    ("floor", FLOATS, np.floor),
    ("ceil", FLOATS, np.ceil),
    ("round_nearest_even", FLOATS, np.round),
    ("round_nearest_afz", FLOATS, lambda a: np.trunc(a + np.copysign(0.5, a))),
    ("not", ("i1", *INTEGERS), np.invert),
)

ROUNDED: tuple[tuple[str, Callable[..., Any]], ...] = (
    ("tanh", np.tanh),
    ("sine", np.sin),
    ("cosine", np.cos),
    ("logistic", lambda a: 1 / (1 + np.exp(-a))),
    ("cbrt", np.cbrt),
    ("exponential", np.exp),
    ("exponential_minus_one", np.expm1),
    ("tan", np.tan),
)

POSITIVE: tuple[tuple[str, Callable[..., Any]], ...] = (
    ("sqrt", np.sqrt),
    ("rsqrt", lambda a: 1 / np.sqrt(a)),
    ("log", np.log),
    ("log_plus_one", np.log1p),
)

CHLO: tuple[tuple[str, Callable[..., Any]], ...] = (
    ("erf", lambda a: np.vectorize(math.erf)(a)),
    ("erfc", lambda a: np.vectorize(math.erfc)(a)),
    ("lgamma", lambda a: np.vectorize(math.lgamma)(np.abs(a) + 0.5)),
    ("asinh", np.arcsinh),
    ("atan", np.arctan),
    ("sinh", np.sinh),
    ("cosh", np.cosh),
    ("square", np.square),
)

BINARY: tuple[tuple[str, tuple[str, ...], Callable[..., Any]], ...] = (
    ("add", NUMBERS, np.add),
    ("subtract", NUMBERS, np.subtract),
    ("multiply", NUMBERS, np.multiply),
    ("maximum", REAL, np.maximum),
    ("minimum", REAL, np.minimum),
    ("and", ("i1", *INTEGERS), np.bitwise_and),
    ("or", ("i1", *INTEGERS), np.bitwise_or),
    ("xor", ("i1", *INTEGERS), np.bitwise_xor),
)

COMPARISONS = {
    "EQ": np.equal, "NE": np.not_equal, "GT": np.greater, "GE": np.greater_equal, "LT": np.less, "LE": np.less_equal
}  # fmt: skip


@step("negate", "abs", "sign", "floor", "ceil", "round_nearest_even", "round_nearest_afz", "not", weight=2)
def unary(build: Builder) -> None:
    name, elements, function = build.pick(UNARY)
    value = build.some(elements, RANKS, exact=name not in ("negate", "abs"))
    build.emit(f"stablehlo.{name} {value.name} : RESULT", [value], function)


@step("popcnt", "count_leading_zeros", weight=0.5)
def bits(build: Builder) -> None:
    value = build.some(("ui8", "ui32", "i32"), RANKS)
    width = ELEMENTS[value.element].itemsize * 8
    texts = np.vectorize(lambda n: format(int(n) % 2**width, f"0{width}b"), otypes=[object])
    name, count = build.pick(
        (
            ("popcnt", lambda text: text.count("1")),
            ("count_leading_zeros", lambda text: len(text) - len(text.lstrip("0"))),
        )
    )
    function = np.vectorize(count, otypes=[np.int64])
    build.emit(f"stablehlo.{name} {value.name} : RESULT", [value], lambda a: function(texts(a)))


@step(*(name for name, _ in ROUNDED))
def rounded(build: Builder) -> None:
    name, function = build.pick(ROUNDED)
    value = build.some(("f32", "f32", "f64"), RANKS)
    size = np.abs(value.array)
    # Near 0 a cube root makes much of what was rounded before.
    if size.max(initial=0) > 4 or (name == "cbrt" and not value.exact and size.min(initial=1) < 1e-3):
        raise UnfitError
    build.emit(f"stablehlo.{name} {value.name} : RESULT", [value], function, exact=False)


@step(*(name for name, _ in POSITIVE))
def positive(build: Builder) -> None:
    name, function = build.pick(POSITIVE)
    value = build.some(("f32", "f64"), RANKS)
    size = build.emit(f"stablehlo.abs {value.name} : RESULT", [value], np.abs)
    one = build.splat(value.shape, value.element, 1)
    above = build.emit(f"stablehlo.add {size.name}, {one.name} : RESULT", [size, one], np.add)
    build.emit(f"stablehlo.{name} {above.name} : RESULT", [above], function, exact=False)


@step(*(f"chlo.{name}" for name, _ in CHLO), weight=0.7)
def chlo(build: Builder) -> None:
    name, function = build.pick(CHLO)
    value = build.some(("f32",), RANKS)
    if np.abs(value.array).max(initial=0) > 4:
        raise UnfitError
    if name == "lgamma":
        size = build.emit(f"stablehlo.abs {value.name} : RESULT", [value], np.abs)
        half = build.scalar(0.5, "f32")
        text = f"stablehlo.broadcast_in_dim {half.name}, dims = [] : (tensor<f32>) -> RESULT"
        spread = build.emit(text, [half], lambda a: np.broadcast_to(a, value.shape), exact=False)
        text = f"stablehlo.add {size.name}, {spread.name} : RESULT"
        moved = build.emit(text, [size, spread], np.add, exact=False)
        function = np.vectorize(math.lgamma)
        build.emit(f"chlo.lgamma {moved.name} : {moved.type} -> RESULT", [moved], function, exact=False)
        return
    build.emit(f"chlo.{name} {value.name} : {value.type} -> RESULT", [value], function, exact=name == "square")


@step("add", "subtract", "multiply", "maximum", "minimum", "and", "or", "xor", weight=6)
def binary(build: Builder) -> None:
    name, elements, function = build.pick((*BINARY, *BINARY[:3]))
    value = build.some(elements, RANKS)
    left, right = build.random.sample((value, build.partner(value)), 2)
    build.emit(f"stablehlo.{name} {left.name}, {right.name} : RESULT", [left, right], function)


@step("divide", "remainder", weight=0.7)
def divided(build: Builder) -> None:
    """Integers by a number other than zero; both round towards zero."""
    value = build.some(("i32", "i64", "ui32", "ui8"), RANKS)
    by = build.splat(value.shape, value.element, build.pick((1, 2, 3, 7)))
    name, function = build.pick((("divide", _quotient), ("remainder", _remainder)))
    build.emit(f"stablehlo.{name} {value.name}, {by.name} : RESULT", [value, by], function)


def _quotient(a: Array, b: Array) -> Array:
    if a.dtype.kind == "u":
        return a // b
    return np.sign(a) * (np.abs(a) // b)


def _remainder(a: Array, b: Array) -> Array:
    return a - _quotient(a, b) * b


@step("divide", "power", "atan2", weight=0.7)
def rounded_pairs(build: Builder) -> None:
    value = build.some(("f32", "f64"), RANKS)
    by = build.splat(value.shape, value.element, 3)
    name, function = build.pick((("divide", np.divide), ("atan2", np.arctan2), ("power", np.power)))
    if name == "power" and np.abs(value.array).max(initial=0) > 8:
        raise UnfitError
    build.emit(f"stablehlo.{name} {value.name}, {by.name} : RESULT", [value, by], function, exact=False)


@step("shift_left", "shift_right_logical", "shift_right_arithmetic", weight=0.7)
def shifted(build: Builder) -> None:
    value = build.some(("i32", "ui32", "ui8"), RANKS)
    by = build.splat(value.shape, value.element, build.pick((0, 1, 3, 7)))
    width = ELEMENTS[value.element].itemsize * 8
    unsigned = lambda a: a.astype(np.int64) % 2**width  # noqa: E731
    table: tuple[tuple[str, Callable[..., Any]], ...] = (
        ("shift_left", lambda a, b: a.astype(np.int64) << b.astype(np.int64)),
        ("shift_right_logical", lambda a, b: unsigned(a) >> b.astype(np.int64)),
        ("shift_right_arithmetic", lambda a, b: a.astype(ELEMENTS[value.element]) >> b.astype(np.int8)),
    )
    name, function = build.pick(table)
    if name == "shift_right_arithmetic" and value.element != "i32":
        raise UnfitError
    build.emit(f"stablehlo.{name} {value.name}, {by.name} : RESULT", [value, by], function)


@step("chlo.mulhi", weight=0.3)
def high_halves(build: Builder) -> None:
    """The upper 32 bits of products by a large number."""
    value = build.some(("i32", "ui32"), RANKS)
    by = build.splat(value.shape, value.element, build.pick((2**30, 2**31 - 1, 12345)))
    text = f"chlo.mulhi {value.name}, {by.name} : {value.type}, {by.type} -> RESULT"
    build.emit(text, [value, by], lambda a, b: (a * b) >> (a.dtype.type(32)))


@step("compare", "select", weight=2)
def compared(build: Builder) -> None:
    value = build.some((*REAL, "i1"), RANKS, exact=True)
    other = build.partner(value)
    if not other.exact:
        raise UnfitError
    direction = build.pick(list(COMPARISONS))
    kind = "FLOAT" if value.element in FLOATS else "SIGNED" if value.element in SIGNED else "UNSIGNED"
    both = f"({value.type}, {other.type}) -> RESULT"
    text = f"stablehlo.compare {direction}, {value.name}, {other.name}, {kind} : {both}"
    predicate = build.emit(text, [value, other], COMPARISONS[direction], "i1")
    if build.chance(0.7):
        text = f"stablehlo.select {predicate.name}, {value.name}, {other.name} : {predicate.type}, RESULT"
        build.emit(text, [predicate, value, other], np.where, value.element)


@step("select")
def selected_by_scalar(build: Builder) -> None:
    value = build.some(NUMBERS, (1, 2, 3))
    other = build.partner(value)
    predicate = build.scalar(build.random.randint(0, 1), "i1")
    text = f"stablehlo.select {predicate.name}, {value.name}, {other.name} : tensor<i1>, RESULT"
    build.emit(text, [predicate, value, other], np.where, value.element)


@step("clamp")
def clamped(build: Builder) -> None:
    value = build.some(REAL, RANKS)
    low = -1 if value.element not in ("ui8", "ui32") else 1
    spread = build.chance(0.5)
    bounds = [
        build.splat(value.shape, value.element, n) if spread else build.scalar(n, value.element) for n in (low, 2)
    ]
    types = ", ".join(one.type for one in (bounds[0], value, bounds[1]))
    text = f"stablehlo.clamp {bounds[0].name}, {value.name}, {bounds[1].name} : ({types}) -> RESULT"
    function = lambda a, b, c: np.minimum(np.maximum(b, a), c)  # noqa: E731
    build.emit(text, [bounds[0], value, bounds[1]], function, value.element)


@step("convert", weight=1.5)
def converted(build: Builder) -> None:
    value = build.some((*REAL, "i1"), RANKS, exact=True)
    target = build.pick((*FLOATS, *INTEGERS, "i1", "complex<f32>"))
    if target in INTEGERS and value.element in FLOATS:
        limits, numbers = np.iinfo(ELEMENTS[target]), value.array.astype(np.float64)
        if numbers.min(initial=0) < limits.min or numbers.max(initial=0) > limits.max:
            raise UnfitError
    function = (lambda a: a != 0) if target == "i1" else (lambda a: a + 0) if value.element != "i1" else _counted
    build.emit(f"stablehlo.convert {value.name} : ({value.type}) -> RESULT", [value], function, target)


def _counted(a: Array) -> Array:
    return a.astype(np.int64)


@step("complex", "real", "imag", weight=1)
def complex_parts(build: Builder) -> None:
    if build.chance(0.5):
        value = build.some(("complex<f32>",), RANKS)
        name, function = build.pick((("real", np.real), ("imag", np.imag)))
        build.emit(f"stablehlo.{name} {value.name} : ({value.type}) -> RESULT", [value], function, "f32")
        return
    value = build.some(("f32",), RANKS)
    other = build.partner(value)
    text = f"stablehlo.complex {value.name}, {other.name} : RESULT"
    build.emit(text, [value, other], lambda a, b: a + 1j * b, "complex<f32>")


@step("is_finite", weight=0.3)
def finite(build: Builder) -> None:
    value = build.some(FLOATS, RANKS)
    text = f"stablehlo.is_finite {value.name} : ({value.type}) -> RESULT"
    build.emit(text, [value], np.isfinite, "i1")


@step("reduce_precision", weight=0.3)
def less_precise(build: Builder) -> None:
    """To bf16's bits: whole numbers up to 256 stay as they are."""
    value = build.some(("f32",), RANKS, exact=True)
    if np.abs(value.array).max(initial=0) > 256:
        raise UnfitError
    build.emit(f"stablehlo.reduce_precision {value.name}, format = e8m7 : RESULT", [value], lambda a: a)


@step("bitcast_convert", weight=0.7)
def bits_as(build: Builder) -> None:
    source, target = build.pick((("f32", "i32"), ("f32", "ui32"), ("i32", "ui8"), ("ui32", "i32"), ("i8", "ui8")))
    value = build.some((source,), (1, 2), exact=True)
    text = f"stablehlo.bitcast_convert {value.name} : ({value.type}) -> RESULT"
    build.emit(text, [value], lambda a: bitcast(a, ELEMENTS[source], ELEMENTS[target]), target)


@step("bitcast_convert", weight=0.3)
def bytes_as(build: Builder) -> None:
    """Four bytes of a last dim as one number."""
    value = build.some(("ui8",), (1, 2, 3))
    if value.shape[-1] != 4:
        value = build.argument((*value.shape[:-1], 4), "ui8")
    text = f"stablehlo.bitcast_convert {value.name} : ({value.type}) -> RESULT"
    build.emit(text, [value], lambda a: bitcast(a, ELEMENTS["ui8"], ELEMENTS["ui32"]), "ui32")


@step("optimization_barrier", weight=0.5)
def barrier(build: Builder) -> None:
    first, second = build.some(NUMBERS, RANKS), build.some(NUMBERS, RANKS)
    if first.exact != second.exact:
        raise UnfitError
    text = f"stablehlo.optimization_barrier {first.name}, {second.name} : {first.type}, {second.type}"
    build.emit_all(text, [first, second], lambda a, b: (a, b), [first.element, second.element])
