"""`shardwright certify`: proved, not proved, wrong; certificates that are read again."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest
from xdsl.dialects.builtin import ModuleOp

from shardwright.compiler import pipelines
from shardwright.tools.main import main

ROOT = Path(__file__).resolve().parents[3]
MLP = str(ROOT / "tests/lit/run/mlp.mlir")
MANUAL = str(ROOT / "tests/data/programs/smap_psum/smap_psum.mlir")

Capture = pytest.CaptureFixture[str]


def test_a_certificate_is_written_and_read_again(tmp_path: Path, capsys: Capture) -> None:
    kept = str(tmp_path / "mlp.cert")
    assert main(["certify", MLP, "-o", kept]) == 0
    assert capsys.readouterr().out.startswith("proved: ")
    assert main(["certify", "--verify", kept, MLP, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["proved"]
    assert {"op", "place", "types", "values"} == set(report["ops"][0])
    assert any(op["op"] == "dtensor.all_reduce" and "operand" in op["types"] for op in report["ops"])


@pytest.mark.parametrize("pipeline", ["plan", "partition"])
def test_a_certificate_is_for_the_planned_and_the_local_program_too(
    pipeline: str, tmp_path: Path, capsys: Capture
) -> None:
    from shardwright.tools import opt

    kept, partitioned = str(tmp_path / "mlp.cert"), str(tmp_path / "mlp.mlir")
    assert main(["certify", MLP, "-o", kept]) == 0
    assert opt.main([MLP, "-p", pipeline, "-o", partitioned]) == 0
    assert main(["certify", "--verify", kept, partitioned]) == 0
    text = Path(partitioned).read_text()
    Path(partitioned).write_text(text.replace("stablehlo.tanh", "stablehlo.negate").replace("maximum", "minimum"))
    assert Path(partitioned).read_text() != text
    capsys.readouterr()
    assert main(["certify", "--verify", kept, partitioned]) == 1
    assert "the certificate is of another program" in capsys.readouterr().err


ROWS = """func.func public @main(%w: tensor<8x16xf32>, %x: tensor<64x8xf32>) -> tensor<f32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<64x8xf32>, tensor<8x16xf32>) -> tensor<64x16xf32>
  %1 = stablehlo.tanh %0 : tensor<64x16xf32>
  %2 = stablehlo.multiply %1, %1 : tensor<64x16xf32>
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %3 = stablehlo.reduce(%2 init: %c) applies stablehlo.add across dimensions = [0, 1]
    : (tensor<64x16xf32>, tensor<f32>) -> tensor<f32>
  return %3 : tensor<f32>
}
"""


@pytest.mark.parametrize("options", [[], ["--memory-limit", "1600", "--microbatches"]])
def test_layouts_are_chosen_and_what_was_written_is_proved(options: list[str], tmp_path: Path, capsys: Capture) -> None:
    """Also where the batch is done in parts: the certificate is for the program of the file."""
    written, kept = tmp_path / "rows.mlir", str(tmp_path / "rows.cert")
    written.write_text(ROWS)
    assert main(["certify", str(written), "--auto", "data=4", *options, "-o", kept, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["proved"]
    assert "dtensor.all_reduce" in {op["op"] for op in report["ops"]}
    assert ("stablehlo.while" in {op["op"] for op in report["ops"]}) == bool(options)
    assert main(["certify", "--verify", kept, str(written)]) == 0
    written.write_text(ROWS.replace("tanh", "negate"))
    assert main(["certify", "--verify", kept, str(written)]) == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--memory-limit", "1GB"], "--memory-limit is for layouts to choose"),
        (["--verify", "rows.cert", "--auto", "data=4"], "--auto is for programs to partition"),
        (["--verify", "rows.cert", "--recompute"], "--recompute is for layouts to choose"),
    ],
)
def test_options_that_do_nothing(
    options: list[str], message: str, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["certify", MLP, "-o", "rows.cert"]) == 0
    assert main(["certify", MLP, *options]) == 1
    assert f"error[SW0701]: {message}" in capsys.readouterr().err


def test_what_is_not_proved_is_named(capsys: Capture) -> None:
    assert main(["certify", MANUAL]) == 1
    output = capsys.readouterr()
    assert output.out.startswith("not proved\n")
    assert "error[SW0332]: the program is not proved" in output.err
    assert "note: sdy.manual_computation has no meaning in exact numbers" in output.err


def test_a_certificate_with_another_local_program_does_not_hold(tmp_path: Path, capsys: Capture) -> None:
    kept = tmp_path / "mlp.cert"
    assert main(["certify", MLP, "-o", str(kept)]) == 0
    forged = json.loads(kept.read_text())
    forged["local"] = forged["local"].replace("stablehlo.maximum", "stablehlo.minimum").replace("tanh", "cosine")
    assert forged["local"] != json.loads(kept.read_text())["local"]
    kept.write_text(json.dumps(forged))
    capsys.readouterr()
    assert main(["certify", "--verify", str(kept), MLP]) == 1
    assert "note: result 0 differs from the program's" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("field", "text", "says"),
    [
        ("program", "module {}", "has no function @main"),
        ("local", "module {}", "has no function @main"),
        (
            "planned",
            "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }",
            "closed layout",
        ),
        ("planned", "nonsense", "is none"),
    ],
)
def test_a_forged_certificate_does_not_hold(field: str, text: str, says: str, tmp_path: Path, capsys: Capture) -> None:
    kept = tmp_path / "mlp.cert"
    assert main(["certify", MLP, "-o", str(kept)]) == 0
    kept.write_text(json.dumps(json.loads(kept.read_text()) | {field: text}))
    source = tmp_path / "program.mlir"
    source.write_text(text if field == "program" else Path(MLP).read_text())
    capsys.readouterr()
    assert main(["certify", "--verify", str(kept), str(source)]) == 1
    errors = capsys.readouterr().err
    assert "error[SW0332]: the certificate does not hold" in errors
    assert says in errors


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"format": "shardwright certificate 1"}', "[" * 100_000])
def test_what_is_no_certificate_is_refused(text: str, tmp_path: Path, capsys: Capture) -> None:
    kept = tmp_path / "no.cert"
    kept.write_text(text)
    assert main(["certify", "--verify", str(kept), MLP]) == 1
    assert f"{kept}:1:1: error[SW0331]: this is no certificate: " in capsys.readouterr().err


def test_a_wrong_program_is_our_fault(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Capture) -> None:
    """A pass that makes a well-formed program which computes something else: no verifier can tell."""
    made = pipelines.verify_ours

    def breaks(module: ModuleOp, maker: str) -> None:
        made(module, maker)
        for op in module.walk() if maker == "localize" else ():
            if op.name == "stablehlo.tanh":
                op.results[0].replace_all_uses_with(op.operands[0])

    monkeypatch.setattr(pipelines, "verify_ours", breaks)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    kept = tmp_path / "mlp.cert"
    assert main(["certify", MLP, "-o", str(kept)]) == 2
    errors = capsys.readouterr().err
    assert "error[SW0317]: the partitioned program computes something else: result 0 differs" in errors
    assert not kept.exists()
