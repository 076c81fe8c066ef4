"""Every benchmark runs in its smallest form; without JAX it says so and still measures our side."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from shardwright.benchmarks import __main__ as command, xla
from shardwright.benchmarks.quality import bound
from shardwright.benchmarks.suites import NO_JAX, SMOKE, SUITES


@pytest.mark.every(3)
@pytest.mark.parametrize("name", ["compile", "step", "partition"])
def test_suite_without_jax(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xla, "available", lambda: False)
    report = SUITES[name](SMOKE)
    assert report.notes == [NO_JAX]
    assert len(report.rows) == 1
    assert report.rows[0]["shardwright ms"]
    assert "ratio" not in report.rows[0]


@pytest.mark.parametrize("name", ["depth", "devices", "through"])
def test_suite_that_is_all_jax_is_skipped_without_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xla, "available", lambda: False)
    report = SUITES[name](SMOKE)
    assert (report.rows, report.notes) == ([], [NO_JAX])


@pytest.mark.slow
def test_checkpoints_are_compared_with_others_and_devices_read_their_boxes() -> None:
    report = SUITES["checkpoints"](replace(SMOKE, storage_bytes=1 << 23))
    names = [str(row["program"]) for row in report.rows]
    assert names[0] == "one array of 4 MiB: write and fsync, next to plain"
    assert "1,000 arrays of 4 KiB: read, cold, next to files" in names
    assert all(float(row["cpu ratio"] or 0) > 0 for row in report.rows)
    (boxes,) = (part.rows for part in report.parts)
    assert [row["boxes"] for row in boxes] == [1, 4, 8, 8]
    assert [row["box bytes"] for row in boxes] == [1 << 22, 1 << 20, 1 << 19, 1 << 19]
    assert all(float(row["read over box"] or 0) == 1 for row in boxes)


@pytest.mark.slow
def test_storage_is_compared_with_plain_files_and_codecs() -> None:
    rows = SUITES["storage"](replace(SMOKE, storage_bytes=1 << 20)).rows
    names = [row["program"] for row in rows]
    assert names[:3] == ["write and fsync", "read, cold", "read, in cache"]
    assert names[3:9] == [f"{verb} {codec}" for codec in ("snappy", "zstd:3", "brotli:1") for verb in ("write", "read")]
    kinds = ("uncompressed", "zstd:3", "transpose,zstd:3")
    assert names[9:15] == [f"{verb} 1,024 messages, {kind}" for kind in kinds for verb in ("write", "read")]
    assert names[15:] == ["write a graph of 1,024 nodes"]
    assert all(float(row["throughput"] or 0) > 0 for row in rows)


def test_quality_compares_plans_with_layouts_by_hand_and_with_the_least(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xla, "available", lambda: False)
    report = SUITES["quality"](SMOKE)
    fitting = [row for row in report.rows if "chosen sent" in row]
    assert fitting
    for row in fitting:
        assert 0 <= float(row["chosen sent"] or 0) <= float(row["sent"] or 0)
        assert 0 < float(row["chosen held"] or 0) <= float(row["held"] or 0)
    assert all(0 <= float(row["bound"] or 0) <= float(row["sent"] or 0) for row in fitting)
    (products,) = report.parts
    assert products.rows == [{"products": 1, "at the least": 1, "worst, as a ratio": 1.0}]


def test_the_bound_is_that_of_one_sum() -> None:
    """A product that is summed up over four devices: a number goes around, in and out, whatever is split."""
    text = """sdy.mesh @mesh = <["x"=4]>
func.func public @main(%a: tensor<64x8xf32>, %w: tensor<8x2xf32>) -> tensor<f32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] :
    (tensor<64x8xf32>, tensor<8x2xf32>) -> tensor<64x2xf32>
  %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [0, 1]
    : (tensor<64x2xf32>, tensor<f32>) -> tensor<f32>
  return %1 : tensor<f32>
}
"""
    assert bound(text, "sum.mlir") == 2 * 3 / 4 * 4


@pytest.mark.slow
def test_layers_are_switched_off_one_at_a_time() -> None:
    report = SUITES["layers"](replace(SMOKE, program_count=1))
    (row,) = report.rows
    names = set(row) - {"program", "ms"}
    assert {"fusion", "chains", "threads", "the planned engine"} < names
    assert all(float(row[name] or 0) > 0 for name in names)
    assert len(report.notes) == len(names)


META = {"tol": {"rtol": 1e-6, "atol": 0}, "xla": {"sent_bytes": 900.0}, "shardy": {"sent_bytes": 500.0}}
SUM = """\
sdy.mesh @mesh = <["x"=8]>
func.func public @main(%a: tensor<8x100xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) \
-> (tensor<100xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0] \
: (tensor<8x100xf32>, tensor<f32>) -> tensor<100xf32>
  return %0 : tensor<100xf32>
}
"""


def write_programs(folder: Path, texts: dict[str, str]) -> None:
    """A folder of programs with their inputs, results and what other partitioners send."""
    array = np.arange(800, dtype=np.float32).reshape(8, 100)
    for name, text in texts.items():
        (folder / name).mkdir(parents=True)
        (folder / name / f"{name}.mlir").write_text(text)
        (folder / name / "meta.json").write_text(json.dumps(META))
        np.savez(folder / name / f"{name}.npz", in_0=array, out_0=array.sum(0))


def test_bytes_of_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A right program, and one that is refused: each says so, at once."""
    write_programs(tmp_path, {"a": SUM, "b": SUM.replace("stablehlo.reduce(", "stablehlo.nothing(")})
    report = SUITES["bytes"](replace(SMOKE, program_count=None, folder=tmp_path))
    assert [row["verdict"] for row in report.rows] == ["more than Shardy", "refused"]
    # An all-reduce of 400 bytes over eight devices: each sends 2 * 7/8 of it.
    assert [row["shardwright"] for row in report.rows] == [700.0, None]
    assert "SW0203" in report.notes[0]
    assert report.notes[-1] == "1 more than Shardy, 1 refused"
    assert capsys.readouterr().err.splitlines() == [
        "bytes: program a, shardwright 700, xla 900, shardy 500, of xla 0.778, verdict more than Shardy",
        "bytes: program b, shardwright -, xla 900, shardy 500, of xla -, verdict refused",
    ]


def test_unknown_benchmark_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        command.main(["speed"])
    assert "compile, step, partition" in capsys.readouterr().err


@pytest.mark.peers
def test_a_folder_without_programs_that_say_what_others_send(tmp_path: Path) -> None:
    report = SUITES["through"](replace(SMOKE, folder=tmp_path))
    assert (report.rows, report.notes) == ([], ["skipped: there is no program with a meta.json"])


@pytest.mark.peers
def test_everything_with_jax(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, programs = tmp_path / "figures.json", tmp_path / "programs"
    write_programs(programs, {"mlp_train_dptp": SUM})
    assert command.main(["--smoke", "--json", str(path), "--programs", str(programs)]) == 0
    figures = json.loads(path.read_text())
    assert set(figures) == {"machine", *SUITES}
    for name in ("compile", "step", "partition", "devices"):
        assert figures[name]["rows"], name
        assert all(row["ratio"] > 0 for row in figures[name]["rows"]), name
    assert "JAX is not installed" not in capsys.readouterr().out
