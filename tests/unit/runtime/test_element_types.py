"""
Every element type through the ops that take it, down to two bits: all values where there are few, corners elsewhere.

Narrow floats are computed in float32 and rounded once; integers wrap around. The expected values come from NumPy's
float64 and from Python's integers.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from shardwright.dialects.text.parsing import parse_module
from shardwright.dialects.types import element_type_named
from shardwright.runtime.executable import compile_module

Array = Any
EIGHT_BITS = "e3m4 e4m3 e4m3b11fnuz e4m3fn e4m3fnuz e5m2 e5m2fnuz e8m0fnu".split()
FLOATS = [
    *(f"float8_{kind}" for kind in EIGHT_BITS),
    *"float6_e2m3fn float6_e3m2fn float4_e2m1fn bfloat16 float16 float32 float64".split(),
]
INTEGERS = "int2 int4 int8 int16 int32 int64 uint2 uint4 uint8 uint16 uint32 uint64".split()
OTHERS = ["bool", "complex64", "complex128"]
BITS = {"float6": 6, "float4": 4, "int2": 2, "uint2": 2, "int4": 4, "uint4": 4}


def dtype_of(name: str) -> np.dtype[Any]:
    """The dtype of a name."""
    return np.dtype(getattr(ml_dtypes, name, name))


def element(name: str) -> str:
    """The element type as text."""
    return str(element_type_named(name))


def bit_count(name: str) -> int:
    """The bits of an integer type."""
    return int("".join(filter(str.isdigit, name)))


def wrapped(name: str, values: Sequence[int]) -> Array:
    """Python's integers in an integer type, wrapped around."""
    bits = bit_count(name)
    low = [int(value) & (2**bits - 1) for value in values]
    signed = [value - 2**bits if name[0] == "i" and value >= 2 ** (bits - 1) else value for value in low]
    return np.array(signed, np.uint64 if name == "uint64" else np.int64).astype(dtype_of(name))


def exact(name: str, array: Array) -> list[int]:
    """The elements of an integer array as Python's integers."""
    return [int(one) for one in array.reshape(-1).astype(np.uint64 if name == "uint64" else np.int64)]


def values(name: str) -> Array:
    """All values of a type of one byte, or corners and random values of a wider one."""
    dtype, generator = dtype_of(name), np.random.default_rng(0)
    if dtype.kind == "b":
        return np.array([True, False])
    if dtype.kind == "c":
        return (np.arange(6) - 2 + 1j * np.arange(6)).astype(dtype)
    if dtype.itemsize == 1:
        bits = BITS.get(name.split("_")[0], 8)
        return wrapped(name, range(2**bits)) if "int" in name else np.arange(2**bits, dtype=np.uint8).view(dtype)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        corners = np.array([limits.min, limits.max, 0, 1, 2], dtype)
        return np.concatenate([corners, generator.integers(limits.min // 3, limits.max // 3, 30, dtype)])
    corners = [0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 1e-30, 3.5, 2.5, -2.5]
    return np.concatenate([corners, generator.standard_normal(40) * 10, generator.standard_normal(20) * 1e4]).astype(
        dtype
    )


def pairs(name: str) -> tuple[Array, Array]:
    """Each of some values with each other one."""
    found = values(name)
    if len(found) > 40:
        found = found[np.random.default_rng(1).permutation(len(found))[:40]]
    return np.repeat(found, len(found)), np.tile(found, len(found))


def run(arguments: Sequence[tuple[Array, str]], lines: Sequence[tuple[str, str, tuple[int, ...]]]) -> list[Array]:
    """The results of several ops, each a line of text, an element type and a shape, on `%a`, `%b` and so on."""
    types = ["x".join([*map(str, array.shape), element(name)]) for array, name in arguments]
    results = ["x".join([*map(str, shape), element(name)]) for _, name, shape in lines]
    declared = ", ".join(f"%{letter}: tensor<{type_}>" for letter, type_ in zip("abc", types, strict=False))
    outputs = ", ".join(f"tensor<{result}>" for result in results)
    body = "\n".join(line.replace("%r", f"%r{number}") for number, (line, _, _) in enumerate(lines))
    names = ", ".join(f"%r{number}" for number in range(len(lines)))
    text = f"func.func @main({declared}) -> ({outputs}) {{\n{body}\nreturn {names} : {outputs}\n}}"
    arrays = [array for array, _ in arguments]
    fused, plain = (compile_module(parse_module(text), fused=fused).run(arrays) for fused in (True, False))
    for left, right in zip(fused, plain, strict=True):
        np.testing.assert_array_equal(left.view(np.uint8), right.view(np.uint8))
    return plain


def same(found: Array, expected: Array, what: str, units: int = 0) -> None:
    """Equal, or within some units in the last place."""
    assert found.dtype == expected.dtype, what
    if "int" in found.dtype.name or found.dtype.kind == "b":
        assert found.astype(object).tolist() == expected.astype(object).tolist(), what
        return
    wide = np.complex128 if found.dtype.kind == "c" else np.float64
    eps = float(ml_dtypes.finfo(found.dtype).eps)
    np.testing.assert_allclose(found.astype(wide), expected.astype(wide), units * eps, 0, err_msg=what)


def converted(array: Array, source: str, target: str) -> Array:
    """Toward zero and saturating to integers, wrapping between them, and rounding otherwise."""
    dtype = dtype_of(target)
    if source in INTEGERS:
        if target in INTEGERS:
            return wrapped(target, exact(source, array))
        if target == "bool":
            return np.array([value != 0 for value in exact(source, array)])
        wide = array.astype(np.uint64 if source == "uint64" else np.int64)
        return wide.astype(np.float32 if target == "float32" else np.float64).astype(dtype)
    wide = array.astype(np.complex128 if "complex" in source + target else np.float64)
    if target in INTEGERS:
        limits = ml_dtypes.iinfo(dtype)
        low, high = int(limits.min), int(limits.max)
        numbers = [
            0 if np.isnan(one) else low if one < low else high if one > high else int(one) for one in map(float, wide)
        ]
        return wrapped(target, numbers)
    return wide != 0 if target == "bool" else wide.astype(dtype)


@pytest.fixture(autouse=True)
def quiet() -> Any:
    """Overflow and NaN are part of what is tested."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.mark.every(2)
@pytest.mark.parametrize("source", [*FLOATS, *INTEGERS, *OTHERS])
def test_converts_between_all_pairs(source: str) -> None:
    array = values(source)
    targets = [t for t in [*FLOATS, *INTEGERS, *OTHERS] if "complex" not in source or "complex" in t]
    size = len(array)
    lines = [
        (f"%r = stablehlo.convert %a : (tensor<{size}x{element(source)}>) -> tensor<{size}x{element(t)}>", t, (size,))
        for t in targets
    ]
    for target, found in zip(targets, run([(array, source)], lines), strict=True):
        same(found, converted(array, source, target), f"{source} to {target}")


EXACT: dict[str, Callable[[Array], Array]] = {
    "abs": np.abs,
    "negate": np.negative,
    "floor": np.floor,
    "ceil": np.ceil,
    "round_nearest_even": np.rint,
    "sign": lambda x: np.where(x == 0, x, np.sign(x)),
}
ROUNDED: dict[str, Callable[[Array], Array]] = {
    "sqrt": np.sqrt,
    "exponential": np.exp,
    "log": np.log,
    "tanh": np.tanh,
    "logistic": lambda x: 1 / (1 + np.exp(-x)),
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "log_plus_one": np.log1p,
    "exponential_minus_one": np.expm1,
    "cbrt": np.cbrt,
}
FLOAT_PAIRS: dict[str, Callable[[Array, Array], Array]] = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": np.divide,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "remainder": np.fmod,
    "power": np.power,
    "atan2": np.arctan2,
}
COMPARED: dict[str, Callable[[Any, Any], Any]] = {
    "LT": lambda x, y: x < y,
    "GE": lambda x, y: x >= y,
    "EQ": lambda x, y: x == y,
    "NE": lambda x, y: x != y,
}


@pytest.mark.parametrize("name", FLOATS)
def test_functions_of_floats(name: str) -> None:
    array = values(name)
    wide = array.astype(np.float64)
    computed = np.float64 if name == "float64" else np.float32
    ops = [*EXACT, *ROUNDED]
    kind = f"tensor<{len(array)}x{element(name)}>"
    lines = [(f"%r = stablehlo.{op} %a : {kind}", name, array.shape) for op in ops]
    for op, found in zip(ops, run([(array, name)], lines), strict=True):
        expected = {**EXACT, **ROUNDED}[op](wide).astype(computed).astype(dtype_of(name))
        same(found, expected, f"{op} {name}", units=0 if op in EXACT else 2)


@pytest.mark.parametrize("name", FLOATS)
def test_pairs_of_floats(name: str) -> None:
    a, b = pairs(name)
    kind = f"tensor<{len(a)}x{element(name)}>"
    lines = [(f"%r = stablehlo.{op} %a, %b : {kind}", name, a.shape) for op in FLOAT_PAIRS]
    lines += [
        (f"%r = stablehlo.compare {op}, %a, %b, FLOAT : ({kind}, {kind}) -> tensor<{len(a)}xi1>", "bool", a.shape)
        for op in COMPARED
    ]
    results = run([(a, name), (b, name)], lines)
    wide = [one.astype(np.float64 if name == "float64" else np.float32) for one in (a, b)]
    for (op, function), found in zip(FLOAT_PAIRS.items(), results[: len(FLOAT_PAIRS)], strict=True):
        same(found, function(*wide).astype(dtype_of(name)), f"{op} {name}", units=2 if op in ("power", "atan2") else 0)
    for (op, function), found in zip(COMPARED.items(), results[len(FLOAT_PAIRS) :], strict=True):
        same(found, function(*wide), f"{op} {name}")


def quotient(a: int, b: int) -> int:
    """Toward zero; all ones where there is none."""
    return -1 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def rest(a: int, b: int) -> int:
    """With the dividend's sign."""
    return a if b == 0 else abs(a) % abs(b) * (-1 if a < 0 else 1)


INTEGER_PAIRS: dict[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "maximum": max,
    "minimum": min,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "divide": quotient,
    "remainder": rest,
}


@pytest.mark.parametrize("name", INTEGERS)
def test_pairs_of_integers(name: str) -> None:
    a, b = pairs(name)
    bits, kind = bit_count(name), f"tensor<{len(a)}x{element(name)}>"
    shifts = ("shift_left", "shift_right_logical", "shift_right_arithmetic")
    ops = [*INTEGER_PAIRS, *shifts]
    lines = [(f"%r = stablehlo.{op} %a, %b : {kind}", name, a.shape) for op in ops]
    lines += [
        (f"%r = stablehlo.compare {op}, %a, %b : ({kind}, {kind}) -> tensor<{len(a)}xi1>", "bool", a.shape)
        for op in COMPARED
    ]
    results = run([(a, name), (b, name)], lines)
    numbers = list(zip(exact(name, a), exact(name, b), strict=True))
    for (op, function), found in zip(INTEGER_PAIRS.items(), results, strict=False):
        same(found, wrapped(name, [function(x, y) for x, y in numbers]), f"{op} {name}")
    unsigned = [(x % 2**bits, y % 2**bits) for x, y in numbers]
    signed = [x - 2**bits if x >= 2 ** (bits - 1) else x for x, _ in unsigned]
    by = [min(y, bits) for _, y in unsigned]
    expected = {
        "shift_left": [x << y for (x, _), y in zip(unsigned, by, strict=True)],
        "shift_right_logical": [x >> y for (x, _), y in zip(unsigned, by, strict=True)],
        "shift_right_arithmetic": [x >> y for x, y in zip(signed, by, strict=True)],
    }
    for op, found in zip(shifts, results[len(INTEGER_PAIRS) :], strict=False):
        same(found, wrapped(name, expected[op]), f"{op} {name}")
    for (op, function), found in zip(COMPARED.items(), results[len(ops) :], strict=True):
        same(found, np.array([function(x, y) for x, y in numbers]), f"{op} {name}")


@pytest.mark.parametrize("name", INTEGERS)
def test_functions_of_integers(name: str) -> None:
    array = values(name)
    bits, kind = bit_count(name), f"tensor<{len(array)}x{element(name)}>"
    functions: dict[str, Callable[[int], int]] = {
        "negate": lambda x: -x,
        "not": lambda x: ~x,
        "popcnt": lambda x: (x % 2**bits).bit_count(),
        "count_leading_zeros": lambda x: bits - (x % 2**bits).bit_length(),
    }
    if name[0] == "i":
        functions |= {"abs": abs, "sign": lambda x: (x > 0) - (x < 0)}
    lines = [(f"%r = stablehlo.{op} %a : {kind}", name, array.shape) for op in functions]
    for (op, function), found in zip(functions.items(), run([(array, name)], lines), strict=True):
        same(found, wrapped(name, [function(x) for x in exact(name, array)]), f"{op} {name}")


def small(name: str) -> Array:
    """A matrix of values that every type has: 0, 1 and their like."""
    numbers = np.arange(24).reshape(4, 6) % 3
    if name == "float8_e8m0fnu":
        return (2.0**numbers).astype(dtype_of(name))
    return (numbers - (0 if name[0] == "u" or name == "bool" else 1)).astype(dtype_of(name))


@pytest.mark.parametrize("name", [*FLOATS, *INTEGERS, "complex64", "complex128"])
def test_sums_and_products(name: str) -> None:
    array = small(name)
    kind = element(name)
    literal = {"complex64": "(1.0, 0.0)", "complex128": "(1.0, 0.0)"}.get(name, "1" if name in INTEGERS else "1.0")
    one = f"%one = stablehlo.constant dense<{literal}> : tensor<{kind}>\n"
    turned = f"%t = stablehlo.transpose %a, dims = [1, 0] : (tensor<4x6x{kind}>) -> tensor<6x4x{kind}>\n"
    reduced = f"across dimensions = [1] : (tensor<4x6x{kind}>, tensor<{kind}>) -> tensor<4x{kind}>"
    contracted = f"contracting_dims = [1] x [0] : (tensor<4x6x{kind}>, tensor<6x4x{kind}>) -> tensor<4x4x{kind}>"
    lines = [
        (f"{one}%r = stablehlo.reduce(%a init: %one) applies stablehlo.add {reduced}", name, (4,)),
        (f"%r = stablehlo.reduce(%a init: %one) applies stablehlo.multiply {reduced}", name, (4,)),
        (f"{turned}%r = stablehlo.dot_general %a, %t, {contracted}", name, (4, 4)),
    ]
    wide = array.astype(complex if "complex" in name else np.int64 if name in INTEGERS else np.float64)
    expected = [wide.sum(1) + 1, wide.prod(1), wide @ wide.T]
    for what, found, wanted in zip(("sum", "product", "dot"), run([(array, name)], lines), expected, strict=True):
        whole = wrapped(name, wanted.reshape(-1)).reshape(wanted.shape) if name in INTEGERS else wanted
        same(found, whole.astype(dtype_of(name)), f"{what} {name}")


@pytest.mark.parametrize("name", [*FLOATS, *INTEGERS, *OTHERS])
def test_elements_that_move(name: str) -> None:
    array = small(name)
    kind = element(name)
    literal = {"bool": "true", "complex64": "(1.0, 0.0)", "complex128": "(1.0, 0.0)"}.get(
        name, "1" if name in INTEGERS else "1.0"
    )
    lines = [
        (
            f"%b = stablehlo.reverse %a, dims = [1] : tensor<4x6x{kind}>\n"
            f"%c = stablehlo.concatenate %a, %b, dim = 1 :"
            f" (tensor<4x6x{kind}>, tensor<4x6x{kind}>) -> tensor<4x12x{kind}>\n"
            f"%s = stablehlo.slice %c [0:4, 1:12:2] : (tensor<4x12x{kind}>) -> tensor<4x6x{kind}>\n"
            f"%one = stablehlo.constant dense<{literal}> : tensor<{kind}>\n"
            f"%r = stablehlo.pad %s, %one, low = [1, 1], high = [1, 2], interior = [0, 0] :"
            f" (tensor<4x6x{kind}>, tensor<{kind}>) -> tensor<6x9x{kind}>",
            name,
            (6, 9),
        ),
        (
            f"%p = stablehlo.compare EQ, %a, %s : (tensor<4x6x{kind}>, tensor<4x6x{kind}>) -> tensor<4x6xi1>\n"
            f"%r = stablehlo.select %p, %a, %b : tensor<4x6xi1>, tensor<4x6x{kind}>",
            name,
            (4, 6),
        ),
    ]
    wide = array.astype(complex if "complex" in name else np.float64)
    picked = np.concatenate([wide, wide[:, ::-1]], 1)[:, 1::2]
    padded, selected = run([(array, name)], lines)
    same(padded, np.pad(picked, ((1, 1), (1, 2)), constant_values=1).astype(array.dtype), f"moved {name}")
    same(selected, np.where(wide == picked, wide, wide[:, ::-1]).astype(array.dtype), f"selected {name}")
