"""What comes in from elsewhere: byte order, element types that have no place here, other libraries' arrays."""

from __future__ import annotations

from collections.abc import Callable
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


SETTINGS: dict[str, tuple[Callable[..., Any], Any]] = {
    "sum": (lambda x, two, one: sw.sum(x, axis=one), np.sum(WHOLE, axis=1)),
    "dims": (lambda x, two, one: sw.sum(x, axis=(one, 0)), np.sum(WHOLE)),
    "reshape": (lambda x, two, one: sw.reshape(x, (two, 16)), WHOLE.reshape(2, 16)),
    "product": (lambda x, two, one: sw.reshape(x, (np.prod(x.shape),)), WHOLE.reshape(-1)),
    "roll": (lambda x, two, one: sw.roll(x, two, axis=one), np.roll(WHOLE, 2, axis=1)),
    "repeat": (lambda x, two, one: sw.repeat(x, two, axis=one), np.repeat(WHOLE, 2, axis=1)),
    "repeats": (
        lambda x, two, one: sw.repeat(x, np.array([1, 0, 2, 1]), axis=1),
        np.repeat(WHOLE, [1, 0, 2, 1], axis=1),
    ),
    "split": (lambda x, two, one: sw.split(x, two, axis=one)[1], WHOLE[:, 2:]),
    "places": (lambda x, two, one: sw.split(x, np.array([1, 3]), axis=one)[1], WHOLE[:, 1:3]),
    "zeros": (lambda x, two, one: sw.zeros(two), np.zeros(2)),
    "array": (lambda x, two, one: sw.zeros(np.array([2, 3])), np.zeros((2, 3))),
    "eye": (lambda x, two, one: sw.eye(two, k=one), np.eye(2, k=1)),
    "arange": (lambda x, two, one: sw.arange(np.float32(0), two, np.float32(0.25)), np.arange(0, 2, 0.25)),
    "linspace": (lambda x, two, one: sw.linspace(np.float64(0), one, two), np.linspace(0, 1, 2)),
    "one_hot": (lambda x, two, one: sw.one_hot(np.array([1, 0]), two), np.eye(2)[::-1]),
    "top_k": (lambda x, two, one: sw.top_k(x, two)[0], WHOLE[:, :1:-1]),
    "moveaxis": (lambda x, two, one: sw.moveaxis(x, one, np.int8(0)), WHOLE.T),
    "expand_dims": (lambda x, two, one: sw.expand_dims(x, axis=one), WHOLE[:, None]),
    "tril": (lambda x, two, one: sw.tril(x, k=one), np.tril(WHOLE, 1)),
    "std": (lambda x, two, one: sw.std(x, correction=np.float64(1)), WHOLE.std(ddof=1)),
    "uniform": (
        lambda x, two, one: (
            sw.random.stateless_random_uniform(two, (one, np.uint32(7))) - sw.random.stateless_random_uniform(2, (1, 7))
        ),
        np.zeros(2),
    ),
}
"""Settings in NumPy's numbers, and what NumPy makes of the same."""


@pytest.mark.parametrize("name", SETTINGS)
def test_settings_may_be_numbers_of_numpy(name: str) -> None:
    run, expected = SETTINGS[name]
    given = np.int64(2), np.int32(1)
    assert np.allclose(run(WHOLE, *given), expected)
    assert np.allclose(np.asarray(run(sw.relayout(WHOLE, ROWS), *given)), expected)
    assert np.allclose(sw.function(lambda x: run(x, *given))(WHOLE), expected)


def test_arguments_and_sizes_of_numpy_elsewhere() -> None:
    assert sw.Variable(sw.zeros, shape=np.int64(2)).shape == (2,)
    assert np.array_equal(sw.grad(lambda x, y: sw.sum(x * y), argnums=np.int64(1))(WHOLE, WHOLE + 1), WHOLE)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda x: sw.sum(x, axis=0.5),
        lambda x: sw.sum(x, axis=np.float64(1)),
        lambda x: sw.nn.softmax(x, axis=0.5),
        lambda x: sw.zeros(2.0),
        lambda x: sw.zeros((2.0,)),
        lambda x: sw.eye(2.5),
        lambda x: sw.linspace(0, 1, 2.5),
        lambda x: sw.one_hot(np.array([1]), 2.5),
        lambda x: sw.top_k(x, 1.5),
        lambda x: sw.repeat(x, 1.5),
        lambda x: sw.tile(x, (1.5,)),
        lambda x: sw.moveaxis(x, 0.5, 1),
        lambda x: sw.expand_dims(x, axis=0.5),
        lambda x: sw.roll(x, 1, axis=0.5),
        lambda x: sw.Variable(sw.zeros, shape=2.5),
        lambda x: sw.segment_sum(x, np.zeros(8, int), 2.5),
    ],
)
def test_dims_and_sizes_are_whole_numbers(wrong: Callable[[Any], Any]) -> None:
    with pytest.raises(TypeError, match="SW0510"):
        wrong(WHOLE)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda x: sw.eye(-1),
        lambda x: sw.linspace(0, 1, -1),
        lambda x: sw.one_hot(np.array([1]), -2),
        lambda x: sw.top_k(x, -1),
        lambda x: sw.repeat(x, -1),
    ],
)
def test_sizes_are_not_negative(wrong: Callable[[Any], Any]) -> None:
    with pytest.raises(ValueError, match="SW0510"):
        wrong(WHOLE)


@pytest.mark.parametrize(
    "take",
    [
        sw.asarray,
        sw.exp,
        sw.Variable,
        sw.function(lambda x: x + 1),
        sw.function(lambda x: x + 1, input_signature=[sw.TensorSpec((8,), "float64")]),
        lambda x: sw.function(lambda: sw.sum(x))(),
        lambda x: sw.relayout(x, ROWS),
        lambda x: sw.pack([x] * 4, ROWS),
        lambda x: sw.Variable(np.zeros(8)).assign(x),
        lambda x: sw.relayout(np.zeros(8), ROWS) + x,
    ],
)
def test_masks_are_not_lost(take: Callable[[Any], Any]) -> None:
    plain = np.arange(8.0)
    take(plain)
    with pytest.raises(TypeError, match=r"SW0507.*masked"):
        take(np.ma.masked_array(plain, plain < 3))
