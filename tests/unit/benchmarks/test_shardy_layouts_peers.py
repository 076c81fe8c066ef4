"""Layouts and bytes beside those of jaxlib's Shardy, where both agree and where they do not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from shardwright.benchmarks.shardy_layouts import main
from shardwright.rules.families.custom_calls import CALLS

pytestmark = pytest.mark.peers
pytest.importorskip("jax")

TEXT = """// RUN: sdy_opt %s -split-input-file -sdy-basic-propagate | FileCheck %s
sdy.mesh @mesh = <["a"=2, "b"=2]>
func.func @forwards(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}) -> tensor<8x8xf32> {
  %0 = stablehlo.negate %x : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
func.func @conflict(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}, %y: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}, {}]>}) -> tensor<8x8xf32> {
  %0 = stablehlo.add %x, %y : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
"""  # noqa: E501


def test_a_conflict_stays_whole_there_and_is_decided_by_bytes_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """
    There the sum is whole: half of the devices lack half of an operand (128 bytes), then all gather the other half.

    Here it is split by both axes: half of the devices lack the quarter of an operand that they need.
    """
    monkeypatch.setitem(CALLS, "sdy_testonly", None)
    tests = tmp_path / "transforms" / "propagation" / "test"
    tests.mkdir(parents=True)
    (tests / "two.mlir").write_text(TEXT)
    assert main([str(tmp_path), "--json", str(tmp_path / "found.json")]) == 0
    forwards, conflict = json.loads((tmp_path / "found.json").read_text())
    assert (forwards["state"], forwards["theirs"], forwards["ours"], forwards["values"]) == ("agrees", 0, 0, 3)
    assert (conflict["state"], conflict["theirs"], conflict["ours"]) == ("differs", 64 + 128, 32)
    assert {place for place, _, _ in conflict["differing"]} == {"result 0", "4:8 stablehlo.add"}
    assert "1 differs              fewer bytes" in capsys.readouterr().out
