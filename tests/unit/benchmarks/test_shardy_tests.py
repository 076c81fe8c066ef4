"""Shardy's own tests: functions are cut out of their files whole, with what they name and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from shardwright.benchmarks.shardy_tests import CALLED, DECLARED, DRIVER, PARTITIONED, main, outcomes, program
from shardwright.rules.families.custom_calls import CALLS

FIRST = """// RUN: sdy_opt %s -split-input-file | FileCheck %s
sdy.mesh @used = <["a"=2]>
sdy.mesh @other = <["b"=3]>
// CHECK: func @adds( {
func.func @adds(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@used, [{"a"}]>}) -> tensor<4xf32> {
  // CHECK-NEXT: }
  %0 = call @main(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @main(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }
func.func private @bare(%x: tensor<4xf32>) -> (tensor<4xf32>)
func.func @token(%t: !stablehlo.token) -> !stablehlo.token attributes {a = "}"} {
  return %t : !stablehlo.token
}
// -----
func.func @calls(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @manual(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @manual(%x: tensor<4xf32>) -> tensor<4xf32> attributes {sdy.func_manual_axes = #sdy<manual_axes{}>} {
  return %x : tensor<4xf32>
}
func.func @drives(%x: tensor<4xf32>) {
  check.expect_eq %x, %x : tensor<4xf32>
  return
}
// -----
// expected-error@+1 {{no}}
func.func @wrong(%x: tensor<4xf32>) { return }
"""

SECOND = """
func.func @dynamic(%x: tensor<?xf32>) -> tensor<?xf32> {
  return %x : tensor<?xf32>
}
// -----
func.func @stands_for_anything(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.custom_call @sdy_testonly(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setitem(CALLS, "sdy_testonly", None)
    (tmp_path / "first.mlir").write_text(FIRST)
    (tmp_path / "second.mlir").write_text(SECOND)
    return tmp_path


def test_each_function_is_a_program_with_what_it_reaches(folder: Path) -> None:
    found = {(outcome.part, outcome.function): outcome.state for outcome in outcomes(folder)}
    assert found == {
        (0, "@adds"): PARTITIONED,
        (0, "@main"): PARTITIONED,
        (0, "@bare"): DECLARED,
        (0, "@token"): PARTITIONED,
        (1, "@calls"): PARTITIONED,
        (1, "@manual"): CALLED,
        (1, "@drives"): DRIVER,
        (0, "@dynamic"): "SW0305",
        (0, "@stands_for_anything"): PARTITIONED,
    }


def test_a_program_has_its_own_meshes_and_callees_alone() -> None:
    text = program(FIRST.split("// -----")[0], "@adds")
    assert text.count("func.func") == 2
    assert "func.func public @main(%x: tensor<4xf32> {sdy" in text
    assert "call @main_(%x)" in text
    assert "@used" in text
    assert "@other" not in text


def test_the_command_counts(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(folder), "--json", str(folder / "found.json")]) == 0
    assert "5 partitioned" in capsys.readouterr().out
    assert (folder / "found.json").read_text().count("SW0305") == 1
