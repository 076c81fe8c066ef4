"""Programs whose ops have a meaning only once they are written out are proved as what they are written out to."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import ModuleOp

from shardwright.compiler.pipelines import LOCALIZE, run_pipeline
from shardwright.dialects.text.parsing import parse_module
from shardwright.dialects.text.printing import print_module
from shardwright.proof import Certificate, certify, check
from shardwright.proof.prover import defined

READS_OUTSIDE = """
  %0 = stablehlo.reduce(%a init: %s) across dimensions = [0] : (tensor<16xf32>, tensor<f32>) -> tensor<f32>
   reducer(%p: tensor<f32>, %q: tensor<f32>)  {
    %1 = stablehlo.maximum %p, %q : tensor<f32>
    %2 = stablehlo.maximum %1, %s : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }
  return %0 : tensor<f32>"""

SORTED = """
  %0 = "stablehlo.sort"(%a) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %1 = stablehlo.maximum %p, %s : tensor<f32>
    %2 = stablehlo.compare LT, %1, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %2 : tensor<i1>
  }) : (tensor<16xf32>) -> tensor<16xf32>
  %3 = stablehlo.reduce(%0 init: %s) applies stablehlo.add across dimensions = [0]
      : (tensor<16xf32>, tensor<f32>) -> tensor<f32>
  return %3 : tensor<f32>"""

MAPPED = """
  %0 = stablehlo.dot %a, %a : (tensor<16xf32>, tensor<16xf32>) -> tensor<f32>
  %1 = "stablehlo.map"(%0) <{dimensions = array<i64>}> ({
  ^bb0(%p: tensor<f32>):
    %2 = stablehlo.tanh %p : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) : (tensor<f32>) -> tensor<f32>
  return %1 : tensor<f32>"""

NAMED = """
  %0 = sdy.named_computation<"f">(%a) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{}]>]
      (%b: tensor<16xf32>) {
    %1 = stablehlo.tanh %b : tensor<16xf32>
    sdy.return %1 : tensor<16xf32>
  } : (tensor<16xf32>) -> tensor<16xf32>
  %2 = sdy.all_slice [{"x"}] %0 out_sharding=<@mesh, [{"x"}]> : tensor<16xf32>
  %3 = sdy.constant dense<2.0> : tensor<16xf32>
  %4 = stablehlo.dot_general %2, %3, contracting_dims = [0] x [0] : (tensor<16xf32>, tensor<16xf32>) -> tensor<f32>
  return %4 : tensor<f32>"""

MANUAL = """
  %0 = sdy.constant dense<2.0> : tensor<16xf32>
  %1 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>]
      manual_axes={"x"} (%b: tensor<4xf32>) {
    %2 = stablehlo.tanh %b : tensor<4xf32>
    sdy.return %2 : tensor<4xf32>
  } : (tensor<16xf32>) -> tensor<16xf32>
  %3 = stablehlo.dot_general %1, %0, contracting_dims = [0] x [0] : (tensor<16xf32>, tensor<16xf32>) -> tensor<f32>
  return %3 : tensor<f32>"""


def stages(body: str) -> tuple[ModuleOp, ModuleOp, ModuleOp]:
    head = """sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %s: tensor<f32>) -> tensor<f32> {"""
    return partitioned(f"{head}{body}\n}}")


def partitioned(text: str) -> tuple[ModuleOp, ModuleOp, ModuleOp]:
    """A program as it was written, planned and local."""
    traced = parse_module(text, "test.mlir")
    planned = traced.clone()
    run_pipeline(planned, ["plan"])
    local = planned.clone()
    run_pipeline(local, LOCALIZE)
    return traced, planned, local


@pytest.mark.parametrize("body", [READS_OUTSIDE, SORTED, MAPPED, NAMED])
def test_what_is_written_out_is_proved(body: str) -> None:
    proof = certify(*stages(body))
    assert (proof.faults, proof.unproved) == ([], [])


def test_what_is_written_out_is_still_compared() -> None:
    traced, planned, local = stages(READS_OUTSIDE)
    program, plan, parts = (print_module(module) for module in (defined(traced), planned, local))
    wrong = parts.replace("stablehlo.maximum", "stablehlo.minimum")
    assert wrong != parts
    assert check(Certificate(program, plan, wrong, "", "", 0)).faults


def test_a_manual_computation_is_not_proved_and_says_so() -> None:
    proof = certify(*stages(MANUAL))
    assert not proof.faults
    assert proof.unproved == [
        "the program as it was written cannot run here: the runtime has no kernel for dtensor.to_manual"
    ]


def test_a_local_program_without_memory_is_not_proved_and_says_so() -> None:
    text = """sdy.mesh @mesh = <["x"=1099511627776]>
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8xf32> {
  %0 = stablehlo.constant dense<0.0> : tensor<f32>
  %1 = stablehlo.reduce(%a init: %0) applies stablehlo.add across dimensions = [0]
      : (tensor<16x8xf32>, tensor<f32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}"""
    proof = certify(*partitioned(text))
    assert not proof.faults
    assert proof.unproved == ["this machine has too little memory to run the program in exact numbers"]
