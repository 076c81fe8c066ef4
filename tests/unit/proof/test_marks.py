"""The NaNs by which the compiler marks what is not there keep their bits in exact numbers, and mean what they mean."""

from __future__ import annotations

import math

import numpy as np
import pytest

from shardwright.compiler.pipelines import LOCALIZE, run_pipeline
from shardwright.dialects.text.parsing import parse_module
from shardwright.dialects.text.printing import print_module
from shardwright.proof import Certificate, Proof, certify, check
from shardwright.proof.exact import PRIME, residue
from shardwright.proof.prover import defined

SELECTION = """
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %s: tensor<8xf32>)
    -> tensor<16xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.select_and_scatter"(%a, %s, %z) <{padding = dense<[[0, 1]]> : tensor<1x2xi64>,
      window_dimensions = array<i64: 3>, window_strides = array<i64: 2>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %c = stablehlo.compare GE, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %c = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<16xf32>, tensor<8xf32>, tensor<f32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}"""

CANDIDATES = """
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<10x7xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<7x4xf32>, tensor<7x4xi32>) {
  %t = stablehlo.transpose %a, dims = [1, 0] : (tensor<10x7xf32>) -> tensor<7x10xf32>
  %0:2 = chlo.top_k(%t, k = 4) : tensor<7x10xf32> -> (tensor<7x4xf32>, tensor<7x4xi32>)
  return %0#0, %0#1 : tensor<7x4xf32>, tensor<7x4xi32>
}"""


def proof_of(text: str, old: str = "", new: str = "") -> Proof:
    """The proof of a program; what the local one has of `old` is `new` before it is looked at."""
    traced = parse_module(text, "test.mlir")
    planned = traced.clone()
    run_pipeline(planned, ["plan"])
    local = planned.clone()
    run_pipeline(local, LOCALIZE)
    if not old:
        return certify(traced, planned, local)
    program, plan, parts = (print_module(module) for module in (defined(traced), planned, local))
    assert old in parts
    certificate = Certificate(program, plan, parts.replace(old, new), "", "", 0)
    return Proof(certificate, check(certificate))


def test_a_mark_stays_and_a_plain_nan_is_a_number() -> None:
    marks = np.array([0x7FC0DEAD, 0xFFFFFFFF, 0xFFC00001], np.uint32).view(np.float32)
    for mark in marks.astype(np.float64).tolist():
        found = residue(mark)
        assert math.isnan(found)
        assert math.copysign(1, found) == math.copysign(1, mark)
    assert all(0 < residue(number) < PRIME for number in (math.nan, -math.nan))


@pytest.mark.parametrize("element", ["f16", "bf16", "f32", "f64"])
@pytest.mark.parametrize("combined", ["stablehlo.add", "stablehlo.maximum"])
def test_a_selection_whose_windows_cross_parts_is_proved(element: str, combined: str) -> None:
    proof = proof_of(SELECTION.replace("f32", element).replace("stablehlo.add", combined))
    assert (proof.faults, proof.unproved) == ([], [])


def test_a_selection_that_takes_what_is_outside_is_refused() -> None:
    assert proof_of(SELECTION, "padding = dense<0x7FC0DEAD>", "padding = dense<9.0>").faults == [
        "result 0 differs from the program's"
    ]


@pytest.mark.parametrize("element", ["f16", "bf16", "f32", "f64"])
def test_the_largest_of_a_padded_dim_are_proved(element: str) -> None:
    proof = proof_of(CANDIDATES.replace("f32", element))
    assert (proof.faults, proof.unproved) == ([], [])


@pytest.mark.parametrize("fill", ["0x7FFFFFFF", "0x7F800000", "0.0"])
def test_padding_that_is_among_the_largest_is_refused(fill: str) -> None:
    assert proof_of(CANDIDATES, "0xFFFFFFFF", fill).faults
