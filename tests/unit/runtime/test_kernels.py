"""Kernels against closed forms: the corners where NumPy and StableHLO differ."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from shardwright.dialects.text.parsing import parse_module
from shardwright.runtime.executable import compile_module
from shardwright.runtime.kernels import (
    elementwise as kernels,
    shape as kernels_shape,
    special as kernels_special,
    table as pointwise,
)

INT32_MIN = np.iinfo(np.int32).min


def test_integer_division_truncates_and_survives_its_corners() -> None:
    lhs = np.int32([7, -7, 7, -7, 5, INT32_MIN])
    rhs = np.int32([2, 2, -2, -2, 0, -1])
    np.testing.assert_array_equal(kernels.divide(np, lhs, rhs), [3, -3, -3, 3, -1, INT32_MIN])
    np.testing.assert_array_equal(kernels.remainder(np, lhs, rhs), [1, -1, 1, -1, 5, 0])


def test_unsigned_division_by_zero_gives_all_ones() -> None:
    lhs, rhs = np.uint8([9, 9]), np.uint8([2, 0])
    np.testing.assert_array_equal(kernels.divide(np, lhs, rhs), [4, 255])
    np.testing.assert_array_equal(kernels.remainder(np, lhs, rhs), [1, 9])


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint32])
def test_shifts_by_the_width_or_more(dtype: Any) -> None:
    width = np.dtype(dtype).itemsize * 8
    value = np.array([-8 & (2**width - 1)] * 3, np.uint64).astype(dtype)
    amount = np.array([1, width - 1, width], dtype)
    signed = np.array([-8] * 3, f"i{np.dtype(dtype).itemsize}")
    bits = 2**width - 8
    logical = np.array([bits >> 1, bits >> (width - 1), 0], np.uint64).astype(dtype)
    np.testing.assert_array_equal(kernels.shift_right_logical(np, value, amount), logical)
    arithmetic = np.array([-4, -1, -1], signed.dtype).view(dtype)
    np.testing.assert_array_equal(kernels.shift_right_arithmetic(np, value, amount), arithmetic)
    np.testing.assert_array_equal(kernels.shift_left(np, value, amount)[2], 0)


@pytest.mark.parametrize("name", ["int4", "uint4"])
def test_narrow_integers_shift_and_count_by_their_own_width(name: str) -> None:
    dtype = np.dtype(getattr(ml_dtypes, name))
    for pattern in range(16):
        for amount in range(6):
            value, by = (np.array(bits, np.int8).astype(dtype)[()] for bits in (pattern, amount))
            expected = {
                "shift_left": (pattern << amount) & 15 if amount < 4 else 0,
                "shift_right_logical": pattern >> amount if amount < 4 else 0,
                "shift_right_arithmetic": ((pattern - 16 * (pattern >> 3)) >> min(amount, 3)) & 15,
            }
            for op, bits in expected.items():
                assert int(pointwise.evaluate(op, [value, by], dtype, ()).astype(np.int8)) & 15 == bits
        counts = {"popcnt": pattern.bit_count(), "count_leading_zeros": 4 - pattern.bit_length()}
        for op, count in counts.items():
            assert int(pointwise.evaluate(op, [value], dtype, ()).astype(np.int8)) & 15 == count


def test_integer_powers() -> None:
    base, exponent = np.int32([2, 1, -1, -1, 3, 0]), np.int32([10, -5, -3, -2, -1, 0])
    np.testing.assert_array_equal(kernels.power(np, base, exponent), [1024, 1, -1, 1, 0, 1])


POWER = """func.func public @main(%x: tensor<8xf32>, %e: tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>) {{
  %h = stablehlo.constant dense<{half}> : tensor<8xf32>
  %0 = stablehlo.power %x, %h : tensor<8xf32>
  %1 = stablehlo.broadcast_in_dim %e, dims = [] : (tensor<f32>) -> tensor<8xf32>
  %2 = stablehlo.power %x, %1 : tensor<8xf32>
  return %0, %2 : tensor<8xf32>, tensor<8xf32>
}}"""


@pytest.mark.parametrize("fused", [False, True])
@pytest.mark.parametrize("exponent", [0.5, -0.5, -1.0, 0.0, 1.0, 2.0, 3.0])
def test_one_exponent_for_all_is_a_power_like_any_other(exponent: float, fused: bool) -> None:
    """`math.pow` is C's, which knows what infinities and zeros of both signs are to each exponent."""
    base = np.float32([-np.inf, np.inf, -0.0, 0.0, 4.0, 0.25, 1.0, 9.0])
    program = compile_module(parse_module(POWER.format(half=exponent)), fused=fused)
    expected = [np.inf if x == 0 and exponent < 0 else math.pow(x, exponent) for x in base]
    if exponent == -1:
        expected[2] = -np.inf
    for found in program.run([base, np.float32(exponent)]):
        np.testing.assert_allclose(found, expected, rtol=1e-6)
        np.testing.assert_array_equal(np.signbit(found), np.signbit(expected))


def test_a_root_of_a_scalar_known_beforehand() -> None:
    roots = [pointwise.evaluate("power", [x, np.float32(0.5)], x.dtype, ()) for x in np.float32([-np.inf, -0.0])]
    assert [str(root) for root in roots] == ["inf", "0.0"]


ZEROS = """func.func public @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {{
  %z = stablehlo.constant dense<{zero}> : tensor<4xf32>
  %0 = stablehlo.{name} %x, %z : tensor<4xf32>
  %1 = stablehlo.{name} %z, %x : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}}"""


@pytest.mark.parametrize("fused", [False, True])
@pytest.mark.parametrize("zero", [0.0, -0.0])
@pytest.mark.parametrize("name", ["maximum", "minimum"])
def test_the_greater_of_two_zeros_is_the_positive_one(name: str, zero: float, fused: bool) -> None:
    """IEEE 754-2019; in both orders."""
    x = np.float32([0.0, -0.0, 0.0, -0.0])
    negative = [all, any][name == "minimum"]
    expected = [negative((bool(np.signbit(item)), bool(np.signbit(zero)))) for item in x]
    for found in compile_module(parse_module(ZEROS.format(name=name, zero=zero)), fused=fused).run([x]):
        assert np.signbit(found).tolist() == expected


CANCELLED = complex(2**-55, math.atan2(2**-13, 1 - 2**-27))
COMPLEX_EDGES = [
    ("logistic", [-104 + 1j, 120, -1e30 + 5j, complex(-math.inf, 2)], [0, 1, 0, 0]),
    ("exponential_minus_one", [1000, 1e-5, 1e-5j, -1e30 + 3j], [math.inf, math.expm1(1e-5), -5e-11 + 1e-5j, -1]),
    ("log_plus_one", [1e-20, 1e-5j, 1j * 2**-13 - 2**-27, -2], [1e-20, 5e-11 + 1e-5j, CANCELLED, math.pi * 1j]),
    ("rsqrt", [complex(0, math.inf), complex(math.inf, 3), 4, -4], [0, 0, 0.5, -0.5j]),
    ("sign", [1e-42 + 0j, 3e38 + 3e38j, 3 - 4j, 0], [1, math.sqrt(0.5) * (1 + 1j), 0.6 - 0.8j, 0]),
    ("tanh", [200, -200 + 1j, 1e-20j, 0.5], [1, -1, 1e-20j, math.tanh(0.5)]),
    ("tan", [200j, 1 - 200j, 1e-20, 0.5], [1j, -1j, 1e-20, math.tan(0.5)]),
    ("cbrt", [8, -8, 27j, 1e-30], [2, 1 + math.sqrt(3) * 1j, 3 * (math.sqrt(0.75) + 0.5j), 1e-10]),
]


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
@pytest.mark.parametrize(("name", "values", "expected"), COMPLEX_EDGES, ids=[name for name, *_ in COMPLEX_EDGES])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_complex_functions_at_their_edges(name: str, values: list[Any], expected: list[Any], dtype: Any) -> None:
    """Closed forms; the parts for themselves, since one may be infinite."""
    wanted = np.array(expected, dtype)
    type_ = f"tensor<{len(values)}xcomplex<f{4 * np.dtype(dtype).itemsize}>>"
    op = f"%0 = stablehlo.{name} %x : {type_}"
    text = f"func.func public @main(%x: {type_}) -> {type_} {{ {op}\n return %0 : {type_} }}"
    for fused in (False, True):
        found = compile_module(parse_module(text), fused=fused).run([np.array(values, dtype)])[0]
        for part, other in ((found.real, wanted.real), (found.imag, wanted.imag)):
            np.testing.assert_allclose(part, other, rtol=2e-6, atol=1e-18)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_complex_squares_overflow_in_the_part_that_is_large() -> None:
    found = pointwise.evaluate("square", [np.complex64(3e38 + 3e38j)], np.dtype(np.complex64), ())
    assert found == complex(0, math.inf)
    assert kernels.square(np, np.complex64([3 + 4j]))[0] == -7 + 24j


def test_complex_angles() -> None:
    """`-i log((x + i y) / sqrt(x x + y y))`; of real numbers the angle."""
    y, x = np.complex64([1, 1, -1, 2j]), np.complex64([1, -1, 0, 3])
    expected = [math.pi / 4, 3 * math.pi / 4, -math.pi / 2, 1j * math.atanh(2 / 3)]
    np.testing.assert_allclose(kernels.atan2(np, y, x), expected, rtol=1e-6, atol=1e-6)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_complex_powers_that_overflow_are_infinite() -> None:
    found = kernels.power(np, np.complex64([-710 - 0.5j, 2j]), np.complex64([80, 4]))
    assert np.isinf(found[0])
    assert not np.isnan(found[0])
    np.testing.assert_allclose(found[1], 16)


@pytest.mark.parametrize(
    ("target", "expected"),
    [("int8", [127, -128, 0, -1, 127]), ("uint8", [255, 0, 0, 0, 255]), ("int32", [300, -300, 0, -1, 2**31 - 1])],
)
def test_floats_convert_to_integers_by_saturation(target: str, expected: list[int]) -> None:
    source = np.float32([300.7, -300.7, np.nan, -1.9, 3e9])
    np.testing.assert_array_equal(kernels.convert(np, source, np.dtype(target)), expected)


def test_converts_between_narrow_types() -> None:
    int4, bfloat16 = np.dtype(ml_dtypes.int4), np.dtype(ml_dtypes.bfloat16)
    wrapped = kernels.convert(np, np.int32([7, 8, -9]), int4)
    np.testing.assert_array_equal(wrapped.astype(np.int32), [7, -8, 7])
    np.testing.assert_array_equal(kernels.convert(np, np.float32([100.0]), int4).astype(np.int32), [7])
    np.testing.assert_array_equal(kernels.convert(np, np.float32([1.00390625]), bfloat16), np.array([1], bfloat16))
    np.testing.assert_array_equal(kernels.convert(np, np.float32([0.5, 0, np.nan]), np.dtype(bool)), [1, 0, 1])
    np.testing.assert_array_equal(kernels.convert(np, np.complex64([1 + 2j]), np.dtype("float32")), [1])


def test_rounding_and_sign() -> None:
    value = np.float32([0.5, 1.5, -0.5, -2.5, 0.49999997, 8388609.0])
    np.testing.assert_array_equal(kernels.round_nearest_afz(np, value), np.float32([1, 2, -1, -3, 0, 8388609]))
    result = kernels.sign(np, np.float32([-0.0, np.nan, -3]))
    assert math.copysign(1, result[0]) == -1
    assert math.isnan(result[1])
    np.testing.assert_allclose(kernels.sign(np, np.complex64([3 + 4j, 0])), [0.6 + 0.8j, 0])


def test_bit_counts() -> None:
    np.testing.assert_array_equal(kernels.count_leading_zeros(np, np.int32([0, 1, -1, 256])), [32, 31, 0, 23])
    np.testing.assert_array_equal(kernels.popcnt(np, np.int16([0, -1, 5])), [0, 16, 2])


def test_total_order() -> None:
    ordered = np.float32([-np.nan, -np.inf, -1, -0.0, 0.0, 1, np.inf, np.nan])
    ordered[0] = np.int32([-1]).view(np.float32)[0]
    keys = kernels.total_order_key(np, ordered)
    assert (np.diff(keys.astype(np.int64)) > 0).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8, np.bool_, np.complex64])
def test_select_by_bits_is_where(dtype: Any) -> None:
    generator = np.random.default_rng(0)
    predicate = generator.random((5, 7)) > 0.5
    first, second = (generator.integers(0, 2, (5, 7)).astype(dtype) for _ in range(2))
    np.testing.assert_array_equal(kernels.select(np, predicate, first, second), np.where(predicate, first, second))


@pytest.mark.parametrize("alias", ["none", "true", "false"])
def test_blend_may_write_over_an_operand(alias: str) -> None:
    generator = np.random.default_rng(0)
    predicate = generator.random(50) > 0.5
    first, second = generator.standard_normal((2, 50)).astype(np.float32)
    expected = np.where(predicate, first, second)
    out = {"none": np.empty(50, np.float32), "true": first, "false": second}[alias]
    kernels.blend(np, predicate, first, second, out, np.empty(50, np.int32))
    np.testing.assert_array_equal(out, expected)


def test_reduce_precision_to_bfloat16_is_a_round_trip() -> None:
    value = np.random.default_rng(0).standard_normal(1000).astype(np.float32)
    expected = value.astype(ml_dtypes.bfloat16).astype(np.float32)
    np.testing.assert_array_equal(kernels.reduce_precision(np, value, 8, 7), expected)
    np.testing.assert_array_equal(kernels.reduce_precision(np, np.float32([1e6, 1e-9]), 5, 10), [np.inf, 0])


def test_bitcasts_change_the_last_dim() -> None:
    value = np.arange(6, dtype=np.int32).reshape(2, 3)
    narrow = kernels.bitcast_convert(np, value, np.dtype(np.int8))
    assert narrow.shape == (2, 3, 4)
    np.testing.assert_array_equal(kernels.bitcast_convert(np, narrow, np.dtype(np.int32)), value)


def bits_of(value: Any, width: int) -> list[int]:
    """The bits of each element, the lowest first, in a row."""
    return [int(number) >> at & 1 for number in np.ravel(value).view(np.uint8) for at in range(width)]


@pytest.mark.parametrize("narrow", ["int2", "uint2", "int4", "uint4", "float4_e2m1fn"])
@pytest.mark.parametrize("wide", ["int2", "uint4", "int8", "uint16", "float32"])
def test_bitcasts_of_less_than_a_byte(narrow: str, wide: str) -> None:
    """The bits of all elements in a row are the same, and casting back gives what was."""
    types = [np.dtype(getattr(ml_dtypes, name, name)) for name in (narrow, wide)]
    small, large = sorted(types, key=kernels.bit_count)
    width, other = kernels.bit_count(small), kernels.bit_count(large)
    count = other // width
    pattern = np.random.default_rng(0).integers(0, 2**width, (3, 5, count), np.uint8)
    if kernels.is_integer(small) and not kernels.is_unsigned(small):
        pattern = np.where(pattern >= 2 ** (width - 1), pattern.astype(np.int16) - 2**width, pattern).astype(np.int8)
    value = pattern.astype(small) if kernels.is_integer(small) else pattern.view(small)
    value = value if count > 1 else value[..., 0]
    joined = kernels.bitcast_convert(np, value, large)
    assert (joined.shape, joined.dtype) == ((3, 5), large)
    assert bits_of(joined, min(other, 8)) == bits_of(value, width)
    back = kernels.bitcast_convert(np, joined, small)
    assert (back.shape, back.dtype) == (value.shape, small)
    np.testing.assert_array_equal(back.astype(np.float32), value.astype(np.float32))
    assert kernels.bitcast_convert(np, value[:0], large).shape == (0, 5)


@pytest.mark.parametrize("wide", ["bool", "uint8", "int64", "float32"])
def test_bitcasts_of_truth_values(wide: str) -> None:
    """A truth value is one bit, as StableHLO has it: NumPy packs them alike."""
    dtype = np.dtype(wide)
    bits = np.random.default_rng(0).integers(0, 2, (3, kernels.bit_count(dtype))).astype(np.bool_)
    value = bits if wide != "bool" else bits[:, 0]
    joined = kernels.bitcast_convert(np, value, dtype)
    expected = value if wide == "bool" else np.packbits(bits, axis=-1, bitorder="little").view(dtype)[:, 0]
    assert joined.dtype == dtype
    np.testing.assert_array_equal(joined.view(np.uint8), expected.view(np.uint8))
    np.testing.assert_array_equal(kernels.bitcast_convert(np, joined, np.dtype(np.bool_)), value)


@pytest.mark.parametrize(
    ("name", "reference", "low", "high"),
    [
        ("erf", math.erf, -6, 6),
        ("erfc", math.erfc, -3, 10),
        ("lgamma", math.lgamma, 0.1, 30),
        ("lgamma", math.lgamma, -9.7, -0.1),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_special_functions(name: str, reference: Any, low: float, high: float) -> None:
    x = np.linspace(low, high, 197)
    expected = [reference(item) for item in x]
    function = getattr(kernels_special, name)
    np.testing.assert_allclose(function(np, x), expected, rtol=1e-11, atol=1e-12)
    single = x.astype(np.float32)
    expected = [reference(float(item)) for item in single]
    np.testing.assert_allclose(function(np, single), expected, rtol=3e-6, atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("name", "ulps"), [("erf", 3), ("erfc", 10)])
def test_error_functions_to_the_last_bits(name: str, ulps: int, dtype: Any) -> None:
    """From where they are the argument to where they are one, or nothing; math's are right to the last bit but one."""
    x = np.concatenate([np.linspace(-9.1, 9.1, 9001), np.geomspace(1e-30, 1, 99), [0.0, -0.0]]).astype(dtype)
    found = getattr(kernels_special, name)(np, x)
    expected = np.array([getattr(math, name)(float(item)) for item in x])
    assert found.dtype == dtype
    assert np.max(np.abs(found - expected) / np.spacing(np.abs(expected).astype(dtype))) < ulps
    ends = dtype([np.inf, -np.inf, np.nan, 30, -30])
    np.testing.assert_array_equal(
        getattr(kernels_special, name)(np, ends), [getattr(math, name)(float(item)) for item in ends]
    )
    np.testing.assert_array_equal(np.signbit(kernels_special.erf(np, dtype([0.0, -0.0]))), [False, True])


@pytest.mark.filterwarnings("ignore:divide by zero")
def test_erf_inv_inverts_erf() -> None:
    x = np.linspace(-0.9999, 0.9999, 401)
    np.testing.assert_allclose([math.erf(item) for item in kernels_special.erf_inv(np, x)], x, rtol=1e-11, atol=1e-17)
    single = kernels_special.erf_inv(np, x.astype(np.float32))
    np.testing.assert_allclose([math.erf(item) for item in single], x, atol=3e-7)
    np.testing.assert_array_equal(kernels_special.erf_inv(np, np.float32([1, -1])), [np.inf, -np.inf])


@pytest.mark.filterwarnings("ignore:divide by zero")
def test_digamma_is_the_slope_of_lgamma() -> None:
    x = np.array([0.3, 1.0, 4.5, 20.0, -0.7, -3.2])
    step = 1e-6
    slope = [(math.lgamma(item + step) - math.lgamma(item - step)) / (2 * step) for item in x]
    np.testing.assert_allclose(kernels_special.digamma(np, x), slope, rtol=1e-6)
    assert np.isnan(kernels_special.digamma(np, np.array([-2.0, 0.0]))).all()


@pytest.mark.parametrize(
    ("low", "high", "interior"),
    [((1, 0), (0, 2), (0, 0)), ((-1, 1), (1, -2), (0, 0)), ((0, -2), (3, 1), (2, 1)), ((-3, 0), (0, 0), (1, 0))],
)
def test_pad(low: tuple[int, ...], high: tuple[int, ...], interior: tuple[int, ...]) -> None:
    array = np.arange(1, 13).reshape(3, 4)
    spread = np.zeros([n + (n - 1) * gap for n, gap in zip(array.shape, interior, strict=True)], int)
    spread[tuple(slice(None, None, gap + 1) for gap in interior)] = array
    grown = np.pad(spread, [(max(a, 0), max(b, 0)) for a, b in zip(low, high, strict=True)])
    cut = tuple(slice(max(-a, 0), n - max(-b, 0)) for a, b, n in zip(low, high, grown.shape, strict=True))
    np.testing.assert_array_equal(kernels_shape.pad(np, array, np.array(0), low, high, interior), grown[cut])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_special_functions_of_more_elements_than_a_block_has(dtype: type[np.floating[Any]]) -> None:
    """What holds between them holds at every element, far from zero and at the ends too."""
    y = np.linspace(-1, 1, 50_001, dtype=dtype)
    x, close = np.linspace(0.5, 9, 40_000, dtype=dtype).reshape(4, -1), 40 * float(np.finfo(dtype).eps)
    with np.errstate(all="ignore"):  # as in a run
        inverse = kernels_special.erf_inv(np, y)
    assert (inverse[0], inverse[25_000], inverse[-1]) == (-np.inf, 0, np.inf)
    np.testing.assert_allclose(kernels_special.erf(np, inverse), y, rtol=close, atol=close)
    np.testing.assert_allclose(kernels_special.erf(np, x) + kernels_special.erfc(np, x), 1, rtol=close)
    np.testing.assert_allclose(
        kernels_special.lgamma(np, x + 1) - kernels_special.lgamma(np, x), np.log(x), rtol=0, atol=close * 12
    )
    np.testing.assert_allclose(
        kernels_special.digamma(np, x + 1) - kernels_special.digamma(np, x), 1 / x, rtol=0, atol=close
    )
    np.testing.assert_array_equal(kernels_special.erf(np, x.T), kernels_special.erf(np, x).T)
