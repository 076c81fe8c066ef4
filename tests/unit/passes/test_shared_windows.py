"""Ops that need the same elements of their neighbours read one window, whatever padding they have."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import numpy as np
import pytest

from shardwright.compiler.pipelines import run_pipeline
from shardwright.compiler.report import predicted_bytes
from shardwright.dialects.dtensor import WindowOp
from shardwright.dialects.text.parsing import parse_module
from shardwright.runtime.executable import compile_module

LIMIT = "module attributes {dtensor.memory_limit = 100000 : i64}"
KINDS = {
    "add": ("0.0", 0.0, np.add),
    "maximum": ("0xFF800000", -np.inf, np.maximum),
    "minimum": ("0x7F800000", np.inf, np.minimum),
    "multiply": ("1.0", 1.0, np.multiply),
}


def pooled(kinds: list[str], edges: tuple[int, int], stride: int, head: str = "module") -> tuple[str, int]:
    """A program that sums what pools of three of 16 rows come to, whose rows are split, and how many rows that has."""
    low, high = edges
    rows = (16 + low + high - 3) // stride + 1
    pools = "\n".join(
        f"""%k{at} = stablehlo.constant dense<{KINDS[kind][0]}> : tensor<f32>
        %p{at} = "stablehlo.reduce_window"(%x, %k{at}) <{{window_dimensions = array<i64: 3, 1>,
          window_strides = array<i64: {stride}, 1>, padding = dense<[[{low}, {high}], [0, 0]]> : tensor<2x2xi64>}}> ({{
          ^bb0(%a: tensor<f32>, %b: tensor<f32>):
            %r = stablehlo.{kind} %a, %b : tensor<f32>
            stablehlo.return %r : tensor<f32>
        }}) : (tensor<16x3xf32>, tensor<f32>) -> tensor<{rows}x3xf32>"""
        for at, kind in enumerate(kinds)
    )
    results = ", ".join(f"%p{at}" for at in range(len(kinds)))
    types = ", ".join(f"tensor<{rows}x3xf32>" for _ in kinds)
    text = f"""{head} {{
      sdy.mesh @mesh = <["x"=4]>
      func.func public @main(
          %x: tensor<16x3xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}, {{}}]>}}
        ) -> ({types}) {{
        {pools}
        return {results} : {types}
      }}
    }}"""
    return text, rows


def expected(array: np.ndarray, kind: str, edges: tuple[int, int], stride: int, rows: int) -> np.ndarray:
    """What a pool gives, row by row."""
    _, neutral, combine = KINDS[kind]
    padded = np.pad(array, (edges, (0, 0)), constant_values=neutral)
    return np.stack([combine.reduce(padded[at * stride : at * stride + 3], axis=0) for at in range(rows)])


@pytest.mark.parametrize("seed", range(24))
def test_pools_share_a_window_and_keep_their_padding(seed: int) -> None:
    choose = Random(seed)
    kinds = [choose.choice(list(KINDS)) for _ in range(choose.randint(2, 3))]
    stride = choose.choice([1, 1, 2])
    edges = choose.choice([(1, 1), (2, 0), (0, 2)] if stride == 1 else [(0, 1), (1, 0)])
    text, rows = pooled(kinds, edges, stride)
    module = parse_module(text, "program.mlir")
    run_pipeline(module, ["partition"], verify_each=True)
    array = np.random.default_rng(seed).normal(size=(16, 3)).astype(np.float32)
    for kind, result in zip(kinds, compile_module(module).run([array]), strict=True):
        np.testing.assert_allclose(result, expected(array, kind, edges, stride, rows), rtol=1e-6)


def test_it_is_sent_once_unless_memory_is_limited() -> None:
    # Two rows of three floats for three of four devices, each.
    halo = Fraction(3, 4) * 2 * 3 * 4
    for head, times in (("module", 1), (LIMIT, 3)):
        module = parse_module(pooled(["add", "maximum", "multiply"], (1, 1), 1, head)[0], "program.mlir")
        run_pipeline(module, ["plan"], verify_each=True)
        assert sum(isinstance(op, WindowOp) for op in module.walk()) == times
        assert predicted_bytes(module) == halo * times


def test_what_is_read_before_and_in_a_branch_is_sent_once() -> None:
    text = """
    sdy.mesh @mesh = <["x"=4]>
    func.func public @main(
        %x: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %p: tensor<i1>
      ) -> (tensor<16xf32>, tensor<16xf32>) {
      %k = stablehlo.constant dense<0.0> : tensor<f32>
      %0 = stablehlo.pad %x, %k, low = [1], high = [-1], interior = [0]
        : (tensor<16xf32>, tensor<f32>) -> tensor<16xf32>
      %1 = "stablehlo.if"(%p) ({
        %l = stablehlo.constant dense<2.0> : tensor<f32>
        %2 = stablehlo.pad %x, %l, low = [1], high = [-1], interior = [0]
          : (tensor<16xf32>, tensor<f32>) -> tensor<16xf32>
        stablehlo.return %2 : tensor<16xf32>
      }, {
        stablehlo.return %x : tensor<16xf32>
      }) : (tensor<i1>) -> tensor<16xf32>
      return %0, %1 : tensor<16xf32>, tensor<16xf32>
    }"""
    module = parse_module(text, "program.mlir")
    run_pipeline(module, ["partition"], verify_each=True)
    array = np.arange(1, 17, dtype=np.float32)
    executable = compile_module(module)
    for taken in (True, False):
        shifted, branch = executable.run([array, np.array(taken)])
        assert shifted.tolist() == [0.0, *array[:-1]]
        assert branch.tolist() == ([2.0, *array[:-1]] if taken else array.tolist())
        assert executable.ledger.sent_bytes == Fraction(3, 4) * 4
