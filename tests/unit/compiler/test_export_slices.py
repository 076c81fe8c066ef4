"""Slices that are sliced once more begin where they really do; looking for them is linear."""

from __future__ import annotations

from shardwright.compiler.stages import read_module
from shardwright.dialects.text.parsing import parse_module
from shardwright.frontends.functions.dtensor import BACKEND


def exported(count: int) -> str:
    """A slice, squared so many times, and a slice of that."""
    squares = [f"%{n + 1} = stablehlo.multiply %{n}, %{n} : tensor<8xf32>" for n in range(count)]
    text = f"""
    func.func @main(%x: tensor<12xf32>, %at: tensor<i32>) -> tensor<4xf32> {{
      %0 = stablehlo.dynamic_slice %x, %at, sizes = [8] : (tensor<12xf32>, tensor<i32>) -> tensor<8xf32>
      {" ".join(squares)}
      %part = stablehlo.dynamic_slice %{count}, %at, sizes = [4] : (tensor<8xf32>, tensor<i32>) -> tensor<4xf32>
      return %part : tensor<4xf32>
    }}"""
    return read_module(parse_module(text, "-"), "-", BACKEND).partition().to_stablehlo()


def test_a_slice_of_what_was_squared_many_times_is_found() -> None:
    """Each square has its operand twice: who followed both would follow 2**200."""
    assert exported(0).count("stablehlo.clamp") == 1
    assert exported(200).count("stablehlo.clamp") == 1
