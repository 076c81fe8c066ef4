"""What comes in from elsewhere: byte order, element types that have no place here, other libraries' arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import shardwright as sw
from shardwright.dialects.text.parsing import parse_module
from shardwright.runtime.executable import compile_module

MESH = sw.Mesh(batch=4)
ROWS = sw.Layout(["batch"], MESH)
WHOLE = np.arange(32).reshape(8, 4) / 8
FOREIGN = "<" if np.dtype("=f4").str[0] == ">" else ">"


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i2", "i4", "u8", "c8"])
def test_other_byte_orders_become_native(dtype: str) -> None:
    foreign = WHOLE.astype(FOREIGN + dtype)
    native = WHOLE.astype(dtype)
    x = sw.relayout(foreign, ROWS)
    assert x.dtype.isnative
    assert x.dtype == native.dtype
    zero = sw.relayout(np.zeros_like(native), ROWS)
    results: list[Any] = [
        x + 1,
        sw.function(lambda x, y: x + y)(foreign, zero) + 1,
        foreign + sw.ones_like(x),
        sw.function(lambda x: x + foreign - x)(x) + 1,
        sw.function(lambda x: x + 1)(foreign),
        sw.pack(list(foreign.reshape(4, 2, 4)), ROWS) + 1,
        sw.add(foreign, 1),
        sw.astype(native, FOREIGN + dtype) + 1,
    ]
    for result in results:
        assert np.asarray(result).dtype.isnative
        assert np.array_equal(np.asarray(result), native + 1)


def test_compiled_stages_take_other_byte_orders() -> None:
    compiled = sw.function(lambda x: x * 2).compiled(sw.relayout(WHOLE, ROWS))
    assert np.array_equal(compiled(WHOLE.astype(FOREIGN + "f8")), WHOLE * 2)


def test_executables_take_other_byte_orders() -> None:
    text = """
func.func public @main(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = stablehlo.add %x, %x : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
"""
    executable = compile_module(parse_module(text, "t.mlir"))
    (result,) = executable.run([WHOLE.astype(FOREIGN + "f4")])
    assert np.array_equal(result, 2 * WHOLE)


@pytest.mark.parametrize(
    "array",
    [
        np.array(["a", "b", "c", "d"]),
        np.array([None] * 4, dtype=object),
        np.array(["2026-01-01"] * 4, dtype="datetime64[D]"),
        np.ones(4, np.longdouble),
        np.zeros(4, dtype=[("a", "f4")]),
    ],
    ids=lambda array: array.dtype.kind,
)
def test_elements_that_are_no_numbers_are_refused_at_the_call(array: np.ndarray[Any, Any]) -> None:
    calls: list[Any] = [
        lambda: sw.relayout(array, ROWS),
        lambda: sw.pack(list(array.reshape(4, 1)), ROWS),
        lambda: sw.function(lambda x: x)(array),
        lambda: sw.exp(array),
    ]
    for call in calls:
        with pytest.raises(sw.ShardwrightTypeError, match="SW0506"):
            call()
