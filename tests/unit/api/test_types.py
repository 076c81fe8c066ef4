"""Promotion against NumPy's within each kind, and the types that users name."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import shardwright as sw
from shardwright.compiler.tracing.dtypes import as_dtype, kind_of, promote, promote_scalar

INTEGERS = [np.dtype(f"{sign}int{width}") for sign in ("", "u") for width in (8, 16, 32, 64)]
INEXACT = [np.dtype(name) for name in ("float16", "float32", "float64", "complex64", "complex128")]


@pytest.mark.parametrize(("first", "second"), [*product(INTEGERS, INTEGERS), *product(INEXACT, INEXACT)])
def test_promotes_as_numpy_within_a_kind(first: np.dtype, second: np.dtype) -> None:
    expected = np.promote_types(first, second)
    if kind_of(first) == "integer" and expected.kind == "f":
        assert promote(first, second) is None  # int64 and uint64: the standard leaves it open
    else:
        assert promote(first, second) == expected


@pytest.mark.parametrize(("first", "second"), [*product(INTEGERS, INEXACT)])
def test_kinds_do_not_mix(first: np.dtype, second: np.dtype) -> None:
    assert promote(first, second) is promote(second, first) is None
    assert promote(first, sw.bool) is promote(sw.bool, second) is None


def test_bfloat16() -> None:
    assert promote(sw.bfloat16, sw.float32) == sw.float32
    assert promote(sw.bfloat16, sw.complex64) == sw.complex64
    assert promote(sw.bfloat16, sw.float16) is None
    assert as_dtype("bfloat16") == sw.bfloat16


def test_python_numbers() -> None:
    for dtype in INTEGERS:
        assert promote_scalar(dtype, "integer") == dtype
        assert promote_scalar(dtype, "float") is None
    for dtype in INEXACT[:3]:
        assert promote_scalar(dtype, "integer") == promote_scalar(dtype, "float") == dtype
        assert promote_scalar(dtype, "boolean") is None
        assert promote_scalar(dtype, "complex") == np.promote_types(dtype, "complex64")
    assert promote_scalar(sw.bool, "boolean") == sw.bool


def test_functions_on_types() -> None:
    assert sw.result_type(np.ones(2, "int8"), sw.int32, 3) == sw.int32
    assert sw.can_cast(sw.int8, sw.int16)
    assert not sw.can_cast(sw.int16, sw.int8)
    assert sw.isdtype(sw.uint8, ("unsigned integer", "bool"))
    assert not sw.isdtype(sw.float32, "integral")
    assert sw.iinfo(np.ones(1, "int16")).max == 32767
    assert float(sw.finfo(sw.bfloat16).eps) == 2**-7
    for wrong in (lambda: sw.isdtype(sw.int8, "whole"), lambda: sw.result_type(sw.int8, sw.float32)):
        with pytest.raises(TypeError, match="SW0506"):
            wrong()


@pytest.mark.parametrize("given", ["text", object, "str"])
def test_types_without_elements(given: object) -> None:
    with pytest.raises(TypeError, match="SW0506"):
        as_dtype(given)


@pytest.mark.parametrize(
    ("number", "dtype"),
    [(0.1, "float64"), (0.1, "complex128"), (1e39, "float64"), (2**40, "int64"), (2**40, "float64"), (1.7, "int32")],
)
def test_numbers_become_a_type_with_all_their_digits(number: float, dtype: str) -> None:
    expected = np.asarray(number).astype(dtype)
    for found in (sw.astype(number, dtype), sw.function(lambda: sw.astype(number, dtype))()):
        assert found.dtype == expected.dtype
        assert found == expected


def test_arguments_that_are_numbers_become_a_type_with_all_their_digits() -> None:
    found = sw.function(lambda number: sw.astype(number, "float64"))(0.1)
    assert found.dtype == np.float64
    assert found == 0.1


def test_numbers_that_do_not_fit_a_type() -> None:
    with pytest.raises(ValueError, match=r"SW0506.*300 does not fit ui8"):
        sw.astype(300, "uint8")


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x + 10**400,
        lambda x: x * -(10**400),
        lambda x: sw.where(x > 0, x, 10**400),
        lambda x: sw.full(3, 10**400, dtype="float64"),
        lambda x: sw.arange(10**400),
        lambda x: sw.linspace(0, 10**400, 3),
        lambda x: sw.astype(x, "complex128") - 10**400,
    ],
)
def test_integers_that_no_float_comes_near(call: Any) -> None:
    x = sw.relayout(np.ones(4), sw.Layout(["x"], sw.Mesh(x=2)))
    for function in (call, sw.function(call)):
        with pytest.raises(ValueError, match=r"SW0506\]: an integer of 1329 bits does not fit (f64|c128)"):
            function(x)
    assert np.array_equal(x + 10**308, np.full(4, 1e308))
