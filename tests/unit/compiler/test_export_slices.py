"""Slices that are sliced once more begin where they really do; looking for them is linear."""

from __future__ import annotations

import numpy as np
import pytest
from part_cases import FIRST, SECOND, sliced_twice

from shardwright.compiler.stages import read_module
from shardwright.dialects.text.parsing import parse_module
from shardwright.frontends.functions.dtensor import BACKEND
from shardwright.runtime.executable import compile_module


def exported(text: str) -> str:
    return read_module(parse_module(text, "-"), "-", BACKEND).partition().to_stablehlo()


def squared(count: int) -> str:
    """A slice, squared so many times, and a slice of that."""
    squares = [f"%{n + 1} = stablehlo.multiply %{n}, %{n} : tensor<8xf32>" for n in range(count)]
    return exported(f"""
    func.func @main(%x: tensor<12xf32>, %at: tensor<i32>) -> tensor<4xf32> {{
      %0 = stablehlo.dynamic_slice %x, %at, sizes = [8] : (tensor<12xf32>, tensor<i32>) -> tensor<8xf32>
      {" ".join(squares)}
      %part = stablehlo.dynamic_slice %{count}, %at, sizes = [4] : (tensor<8xf32>, tensor<i32>) -> tensor<4xf32>
      return %part : tensor<4xf32>
    }}""")


def test_a_slice_of_what_was_squared_many_times_is_found() -> None:
    """Each square has its operand twice: who followed both would follow 2**200."""
    assert squared(0).count("stablehlo.clamp") == 2
    assert squared(200).count("stablehlo.clamp") == 2


@pytest.mark.parametrize("second", SECOND)
@pytest.mark.parametrize("first", FIRST)
def test_both_are_held_and_give_what_they_gave(first: str, second: str) -> None:
    text = sliced_twice(first, second)
    held = exported(text)
    assert (held.count("stablehlo.clamp"), held.count("optimization_barrier")) == {"scatter": (1, 1)}.get(
        second, (2, 0)
    )
    before, after = (compile_module(parse_module(each, "-")) for each in (text, held))
    x, u = np.arange(12, dtype=np.int32), np.ones(3, np.int32)
    for i, j in ((-4, 2), (5, 3), (3, 9), (100, 100)):
        inputs = [x, np.int32(i), np.int32(j), u]
        np.testing.assert_array_equal(after.run(inputs)[0], before.run(inputs)[0])


@pytest.mark.parametrize("first", FIRST)
def test_a_slice_alone_is_left_as_it_is(first: str) -> None:
    text = exported(sliced_twice(first, "none"))
    assert "clamp" not in text


def test_starts_of_few_bits_keep_within_them() -> None:
    """An index of eight bits cannot say 292, where the last slice begins."""
    text = exported("""
    func.func @main(%x: tensor<300xi32>, %at: tensor<i8>) -> tensor<2xi32> {
      %0 = stablehlo.dynamic_slice %x, %at, sizes = [8] : (tensor<300xi32>, tensor<i8>) -> tensor<8xi32>
      %1 = stablehlo.dynamic_slice %0, %at, sizes = [2] : (tensor<8xi32>, tensor<i8>) -> tensor<2xi32>
      return %1 : tensor<2xi32>
    }""")
    assert "dense<127> : tensor<i8>" in text
    (found,) = compile_module(parse_module(text, "-")).run([np.arange(300, dtype=np.int32), np.int8(100)])
    np.testing.assert_array_equal(found, [106, 107])
