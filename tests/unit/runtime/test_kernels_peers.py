"""Element-wise kernels against JAX on the CPU, at ordinary values and at the corners."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from shardwright.runtime.kernels import table as pointwise

pytestmark = pytest.mark.peers
jax = pytest.importorskip("jax")

FLOATS = np.array(
    [0.0, -0.0, 0.5, -0.5, 1.5, -1.5, 2.5, 1e-3, 3.7, -3.7, 0.49999997, 1e10, -1e10, np.inf, -np.inf, np.nan]
)
INTEGERS = np.array([0, 1, -1, 2, -2, 7, -7, 31, 100, -100, 127, -128])
UNARY_FLOAT = {
    "abs": "abs",
    "cbrt": "cbrt",
    "ceil": "ceil",
    "cosine": "cos",
    "exponential": "exp",
    "exponential_minus_one": "expm1",
    "floor": "floor",
    "is_finite": "is_finite",
    "log": "log",
    "log_plus_one": "log1p",
    "logistic": "logistic",
    "negate": "neg",
    "rsqrt": "rsqrt",
    "sign": "sign",
    "sine": "sin",
    "sqrt": "sqrt",
    "tan": "tan",
    "tanh": "tanh",
    "erf": "erf",
    "erfc": "erfc",
    "erf_inv": "erf_inv",
    "lgamma": "lgamma",
    "digamma": "digamma",
    "bessel_i1e": "bessel_i1e",
}
BINARY_FLOAT = {
    "add": "add",
    "atan2": "atan2",
    "divide": "div",
    "maximum": "max",
    "minimum": "min",
    "multiply": "mul",
    "next_after": "nextafter",
    "power": "pow",
    "remainder": "rem",
    "subtract": "sub",
}
UNARY_INTEGER = {"not": "bitwise_not", "popcnt": "population_count", "count_leading_zeros": "clz"}
BINARY_INTEGER = {
    "add": "add",
    "and": "bitwise_and",
    "divide": "div",
    "maximum": "max",
    "mulhi": "mulhi",
    "multiply": "mul",
    "or": "bitwise_or",
    "remainder": "rem",
    "shift_left": "shift_left",
    "shift_right_arithmetic": "shift_right_arithmetic",
    "shift_right_logical": "shift_right_logical",
    "xor": "bitwise_xor",
}


NEW = tuple(int(part) for part in jax.__version__.split(".")[:2]) >= (0, 12)
"""From then on XLA wraps numbers that an integer type does not hold, and `digamma` of zero is infinite."""


def compare(name: str, peer: str, operands: list[Any], rtol: float) -> None:
    expected = np.asarray(getattr(jax.lax, peer)(*operands))
    for index in np.ndindex(expected.shape):
        scalars = [operand[index] for operand in operands]
        if NEW and name in ("digamma", "polygamma") and not scalars[-1]:
            continue
        found = pointwise.evaluate(name, scalars, expected.dtype, ())
        np.testing.assert_allclose(
            np.float64(found), np.float64(expected[index]), rtol=rtol, atol=1e-6, err_msg=f"{name}{scalars}"
        )


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "peer"), UNARY_FLOAT.items())
@pytest.mark.parametrize(("dtype", "rtol"), [(np.float32, 2e-5), (ml_dtypes.bfloat16, 1e-2)])
def test_unary_floats(name: str, peer: str, dtype: Any, rtol: float) -> None:
    values = FLOATS[np.abs(FLOATS) < 100] if name in ("sine", "cosine", "tan", "lgamma", "digamma") else FLOATS
    compare(name, peer, [values.astype(dtype)], rtol)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "peer"), BINARY_FLOAT.items())
@pytest.mark.parametrize(("dtype", "rtol"), [(np.float32, 2e-5), (ml_dtypes.bfloat16, 1e-2)])
def test_binary_floats(name: str, peer: str, dtype: Any, rtol: float) -> None:
    values = FLOATS[np.abs(FLOATS) < 100] if name in ("power", "remainder") else FLOATS
    lhs, rhs = (grid.astype(dtype) for grid in np.meshgrid(values, values))
    compare(name, peer, [lhs, rhs], rtol)


@pytest.mark.parametrize(
    ("name", "firsts"), [("zeta", [0.5, 1, 1.5, 2, 3, 7, 30]), ("polygamma", [-1, 0, 0.5, 1, 2, 9])]
)
@pytest.mark.parametrize(("dtype", "rtol"), [(np.float32, 1e-4), (ml_dtypes.bfloat16, 2e-2)])
def test_zeta_and_polygamma(name: str, firsts: list[float], dtype: Any, rtol: float) -> None:
    """Down to where XLA's nine terms reach: of large negative numbers it makes something else."""
    seconds = np.array([1e-3, 0.25, 0.5, 1, 1.5, 3.7, 20, 1e3, 0, -1, -2, -0.5, -1.75, -4.25])
    lhs, rhs = (grid.astype(dtype) for grid in np.meshgrid(np.array(firsts), seconds))
    compare(name, name, [lhs, rhs], rtol)


@pytest.mark.parametrize(("name", "peer"), UNARY_INTEGER.items())
@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.uint16])
def test_unary_integers(name: str, peer: str, dtype: Any) -> None:
    compare(name, peer, [INTEGERS.astype(dtype)], 0)


@pytest.mark.parametrize(("name", "peer"), BINARY_INTEGER.items())
@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.uint16])
def test_binary_integers(name: str, peer: str, dtype: Any) -> None:
    lhs, rhs = (grid.astype(dtype) for grid in np.meshgrid(INTEGERS, INTEGERS))
    compare(name, peer, [lhs, rhs], 0)


@pytest.mark.parametrize("target", [np.int8, np.uint8, np.int32, np.uint32, ml_dtypes.bfloat16, np.float16, np.bool_])
def test_conversions(target: Any) -> None:
    values = FLOATS.astype(np.float32)
    if NEW and np.dtype(target).kind in "iu":
        limits = np.iinfo(target)
        values = values[(values > limits.min - 1.0) & (values < limits.max + 1.0)]
    expected = np.asarray(jax.lax.convert_element_type(values, target))
    found = [pointwise.evaluate("convert", [value], np.dtype(target), ()) for value in values]
    np.testing.assert_array_equal(np.array(found).astype(np.float64), expected.astype(np.float64))


COMPLEX_PARTS = [0.0, 1e-5, 0.5, 1.5, 20, 88, 104, 1e10, np.inf]
COMPLEX = {
    "exponential": "exp",
    "exponential_minus_one": "expm1",
    "log_plus_one": "log1p",
    "logistic": "logistic",
    "rsqrt": "rsqrt",
    "sign": "sign",
    "square": "square",
    "tan": "tan",
    "tanh": "tanh",
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("name", "peer"), COMPLEX.items())
@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_complex_numbers(name: str, peer: str, dtype: Any) -> None:
    """Small, large and infinite parts. Where both are infinite, and for tangents where one is, XLA has NaN alone."""
    parts = np.array([*COMPLEX_PARTS, *(-part for part in COMPLEX_PARTS[1:])])
    real, imaginary = (part.ravel() for part in np.meshgrid(parts, parts))
    values = np.empty(real.size, dtype)
    values.real, values.imag = real, imaginary
    known = np.logical_and if name in ("tan", "tanh") else np.logical_or
    values = values[known(np.isfinite(real), np.isfinite(imaginary))]
    with jax.enable_x64(True):
        expected = np.asarray(jax.jit(getattr(jax.lax, peer))(values))
    scope = {"x": values} | pointwise.runtime_scope(np)
    found = eval(pointwise.expression(name, [("x", values.dtype)], values.dtype, ()), scope)
    size = np.where(np.isfinite(expected), np.abs(expected), 0)
    for part, other in ((found.real, expected.real), (found.imag, expected.imag)):
        both = np.isfinite(part) & np.isfinite(other)
        error = np.abs(np.where(both, part - other, 0))
        assert (error <= 1e-4 * size + 1e-30).all()
        np.testing.assert_array_equal(part[~both], other[~both])
