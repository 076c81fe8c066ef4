"""What is made again to hold less waits, in an export, for what its readers wait for: XLA makes it once otherwise."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from shardwright.compiler.exporting.xla.again import hold_apart
from shardwright.compiler.pipelines import run_pipeline
from shardwright.dialects.text.parsing import parse_module
from shardwright.passes.program import entry_function
from shardwright.runtime.executable import compile_module

AGAIN = """
module attributes {LIMITdtensor.stage = "local"} {
  func.func public @main(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
    %0 = stablehlo.exponential %x : tensor<8xf32>
    %1 = stablehlo.tanh %0 : tensor<8xf32>
    %2 = stablehlo.negate %y : tensor<8xf32>
    %3 = stablehlo.multiply %2, %1 : tensor<8xf32>
    %4 = stablehlo.exponential %x {dtensor.recompute} : tensor<8xf32>
    %5 = stablehlo.tanh %4 {dtensor.recompute} : tensor<8xf32>
    %6 = stablehlo.subtract %3, %5 : tensor<8xf32>
    return %6 : tensor<8xf32>
  }
}
"""

GATHERED = """
module attributes {LIMITdtensor.stage = "local"} {
  dtensor.mesh @mesh = <["x"=2]>
  func.func public @main(%w: tensor<4xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
    %0 = dtensor.all_gather @mesh [{"x"}] %w {reason = "asked"} : (tensor<4xf32>) -> tensor<8xf32>
    %1 = stablehlo.multiply %0, %y : tensor<8xf32>
    %2 = dtensor.all_gather @mesh [{"x"}] %w {reason = "asked by another"} : (tensor<4xf32>) -> tensor<8xf32>
    %3 = stablehlo.subtract %1, %2 : tensor<8xf32>
    return %3 : tensor<8xf32>
  }
}
"""


def held(text: str, limit: str = "dtensor.memory_limit = 100 : i64, ") -> ModuleOp:
    module = parse_module(text.replace("LIMIT", limit), "test.mlir")
    hold_apart(module)
    return module


def named(module: ModuleOp, name: str) -> list[Operation]:
    return [op for op in module.walk() if op.name == name]


@pytest.mark.parametrize(
    ("text", "name", "reader"), [(AGAIN, "exponential", "multiply"), (GATHERED, "gather", "multiply")]
)
def test_what_is_made_again_is_made_of_what_comes_out_of_a_barrier(text: str, name: str, reader: str) -> None:
    """The barrier takes the operand, and what the reader reads besides; the first time nothing waits."""
    module = held(text)
    (barrier,) = named(module, "stablehlo.optimization_barrier")
    source = entry_function(module).args[0]
    (waiting,) = named(module, f"stablehlo.{reader}")
    assert list(barrier.operands) == [source, waiting.results[0]]
    first, again = (op for op in module.walk() if op.name.endswith(name))
    assert (first.operands[0], again.operands[0]) == (source, barrier.results[0])
    (difference,) = named(module, "stablehlo.subtract")
    assert difference.operands[0] is barrier.results[1]


def test_the_barrier_stays_and_changes_no_value() -> None:
    module = held(AGAIN)
    run_pipeline(module, ["dce"])
    (barrier,) = named(module, "stablehlo.optimization_barrier")
    assert len(barrier.results) == 2
    x, y = np.random.default_rng(0).standard_normal((2, 8), "float32")
    (found,) = [compile_module(module).run([x, y])]
    wave = np.tanh(np.exp(x))
    np.testing.assert_allclose(np.asarray(found).reshape(8), -y * wave - wave, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("text", [AGAIN, GATHERED])
def test_without_a_limit_nothing_is_made_again_on_purpose(text: str) -> None:
    assert not named(held(text, ""), "stablehlo.optimization_barrier")
