"""`shardwright calibrate`: what it writes is what `price` takes, and what it says is what was measured."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import shardwright as sw
from shardwright.tools.main import main

pytest.importorskip("scipy")
PROGRAMS = Path(__file__).resolve().parents[2] / "data" / "programs"
NAMES = ["mlp_fwd", "softmax_sharded", "reshard_axis_swap", "matmul_2d", "embed_fwd", "layernorm_sharded"]
FILES = [str(PROGRAMS / name / f"{name}.mlir") for name in NAMES]


def test_what_is_fitted_is_what_price_takes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "machine.json"
    assert main(["calibrate", *FILES, "--out", str(out), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    topology = sw.Topology.from_dict(json.loads(out.read_text()))
    assert topology.as_dict() == data["topology"]
    assert [Path(each["program"]).name for each in data["programs"]] == [Path(path).name for path in FILES]
    assert main(["price", FILES[0], "--topology", str(out), "--json"]) == 0
    priced = json.loads(capsys.readouterr().out)
    assert priced["seconds"] == data["programs"][0]["foretold"]
    off = [abs(each["foretold"] / each["seconds"] - 1) for each in data["programs"]]
    assert data["mean_error"] == pytest.approx(sum(off) / len(off))


@pytest.mark.slow
def test_others_judge_it(capsys: pytest.CaptureFixture[str]) -> None:
    judge = str(PROGRAMS / "mlp_train_dptp" / "mlp_train_dptp.mlir")
    assert main(["calibrate", *FILES, "--judge", judge, FILES[0]]) == 0
    text = capsys.readouterr().out
    assert "2 programs, others as it was fitted to: " in text
    assert "any axis: " in text


def test_too_few_programs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["calibrate", *FILES[:5]]) == 1
    said = capsys.readouterr().err
    assert "error[SW0701]: 5 programs are too few to fit a topology to" in said
    assert "help: give 6 or more, of several sizes, which compute and send in several ways" in said


def test_axes_are_those_of_one_mesh(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    texts = [f'dtensor.mesh @mesh = <["{axis}"=2]>\n{IDENTITY}' for axis in "xxxxxy"]
    for number, text in enumerate(texts):
        (tmp_path / f"{number}.mlir").write_text(text)
    paths = [str(tmp_path / f"{number}.mlir") for number in range(6)]
    assert main(["calibrate", *paths, "--by-axis"]) == 1
    said = capsys.readouterr().err
    assert "error[SW0701]: the programs' meshes have different axes: x and y" in said
    assert "help: leave --by-axis out for one link, or give programs on one mesh" in said


IDENTITY = """func.func public @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.negate %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""


@pytest.mark.slow
@pytest.mark.parametrize("several", ["processes", "jax"])
def test_other_engines(several: str, tmp_path: Path) -> None:
    """One process of two prints; and JAX's devices are those of the command's environment."""
    pytest.importorskip("mpi4py" if several == "processes" else "jax")
    command = [sys.executable, "-m", "shardwright"]
    command += ["launch", "-n", "2", "-m", "shardwright"] if several == "processes" else []
    options = [] if several == "processes" else ["--engine", "jax"]
    environment = {"XLA_FLAGS": "--xla_force_host_platform_device_count=8", "JAX_PLATFORMS": "cpu"}
    done = subprocess.run(
        [*command, "calibrate", *FILES, *options, "--json"],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | environment,
    )
    assert done.returncode == 0, done.stderr
    data = json.loads(done.stdout)
    assert len(data["programs"]) == len(FILES)
    assert all(each["seconds"] > 0 for each in data["programs"])
