"""`shardwright run --check` runs a program both ways: a collective that only fusion hides is found."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from shardwright.tools.main import main

PROGRAM = """
sdy.mesh @mesh = <["x"=2]>
func.func public @main(
    %a: tensor<2x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
    %b: tensor<4x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<2x2xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
      : (tensor<2x4xf32>, tensor<4x2xf32>) -> tensor<2x2xf32>
  %1 = stablehlo.tanh %0 : tensor<2x2xf32>
  return %1 : tensor<2x2xf32>
}
"""


def test_check_counts_the_unfused_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program, inputs = tmp_path / "p.mlir", tmp_path / "x.npz"
    program.write_text(PROGRAM)
    # Each device's partial product overflows, one upwards and one downwards; the global one does so only upwards.
    a, b = np.array([[3e38, 3e38, -3e38, -3e38]] * 2, np.float32), np.ones((4, 2), np.float32)
    np.savez(inputs, in_0=a, in_1=b)
    assert main(["run", str(program), "--inputs", str(inputs), "--check", "--json"]) == 1
    output = capsys.readouterr()
    assert json.loads(output.out)["ok"] is False
    assert "the unsharded run, with nothing fused" in output.err
    assert main(["run", str(program), "--inputs", str(inputs), "--json"]) == 0
    np.savez(inputs, in_0=a / 3e38, in_1=b)
    assert main(["run", str(program), "--inputs", str(inputs), "--check"]) == 0
