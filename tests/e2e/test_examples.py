"""The small examples print what they promise and are right."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def main_of(name: str) -> Any:
    """The `main` function of an example."""
    return runpy.run_path(str(EXAMPLES / name))["main"]


def test_mlp(capsys: pytest.CaptureFixture[str]) -> None:
    assert main_of("mlp.py")() < 1e-5
    text = capsys.readouterr().out
    assert "f32[64@batch, 256@model]" in text
    sent = re.search(r"sent: (\d+) bytes per device, predicted (\d+)", text)
    assert sent is not None
    assert sent[1] == sent[2] != "0"


def test_attention_reduces_once_over_the_heads(capsys: pytest.CaptureFixture[str]) -> None:
    assert main_of("attention.py")() < 1e-5
    collectives = [line for line in capsys.readouterr().out.splitlines() if "bytes per device" in line]
    assert len(collectives) == 1
    assert "over heads" in collectives[0]


@pytest.mark.every(4)
@pytest.mark.parametrize("name", ["low_level", "strategy", "embedding", "embedding_strategy"])
def test_training_on_eight_devices_is_training_on_one(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main_of(f"train_{name}.py")() < 1e-5
    text = capsys.readouterr().out
    assert "one device: loss" in text
    assert "Mesh(batch=4, model=2)" in text


def test_training_on_one_device_learns() -> None:
    assert main_of("train_single_device.py")() < 1


def test_a_run_resumes_from_its_checkpoint_on_another_mesh(capsys: pytest.CaptureFixture[str]) -> None:
    assert main_of("checkpoint_and_resume.py")() < 1e-5
    text = capsys.readouterr().out
    assert "Mesh(batch=2, model=6) goes on from ckpt-6, step 6" in text
    assert "f32[384, 48@model]" in text


def test_what_is_loaded_trains_on(capsys: pytest.CaptureFixture[str]) -> None:
    assert main_of("save_and_load.py")() < 1e-5
    text = capsys.readouterr().out
    assert "four: x: f32[16@batch, 64]" in text
    found = re.search(r"trained on: loss ([\d.]+) to ([\d.]+)", text)
    assert found is not None
    assert 0 < float(found[2]) < float(found[1])


def test_a_graph_of_tensorflow_runs_on_eight_devices(capsys: pytest.CaptureFixture[str]) -> None:
    assert main_of("import_graph.py")() < 1e-6
    text = capsys.readouterr().out
    assert "GraphProgram(network.pb(x: TensorSpec(f32[32@batch, 64])) -> scores, 2 weights)" in text
    assert "stablehlo.dot_general at network.pb:logits:6:1 left it partial" in text


@pytest.mark.slow
def test_a_controller_trains_on_its_workers(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("mpi4py", reason="workers are connected by MPI")
    assert main_of("launch/controller.py")() < 1e-4
    text = capsys.readouterr().out
    assert "Workers(4), which hold" in text
    found = re.search(r"loss: ([\d.]+) to ([\d.]+)", text)
    assert found is not None
    assert 0 < float(found[2]) < float(found[1]) / 2


def test_a_pipeline_trains_as_numpy_does(capsys: pytest.CaptureFixture[str]) -> None:
    assert main_of("launch/pipeline.py")() < 1e-10
    losses = [float(number) for number in re.findall(r"\d\.\d{4}", capsys.readouterr().out)]
    assert len(losses) == 5
    assert losses[-1] < losses[0]


def test_a_program_for_any_number_of_processes_runs_in_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main_of("launch/train.py")() < 0.3
    losses = [float(found) for found in re.findall(r"loss ([\d.]+)", capsys.readouterr().out)]
    assert losses == sorted(losses, reverse=True)
    assert len(losses) == 5


@pytest.mark.peers
def test_keras_on_eight_devices_is_keras_on_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KERAS_BACKEND", "jax")
    pytest.importorskip("keras")
    assert main_of("train_keras.py")() < 1e-4


@pytest.mark.peers
def test_with_jax(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("jax")
    assert main_of("with_jax.py")() < 1e-5
    assert "all_reduce over batch, model" in capsys.readouterr().out
