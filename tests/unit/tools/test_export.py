"""`shardwright export`: what it writes, how, and what reading it back gives."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from stored_programs import RUNNABLE, TEXTS, inputs, text
from xdsl.dialects.builtin import ModuleOp

from shardwright.compiler.exporting.manual import export_stablehlo
from shardwright.compiler.exporting.sdy import export_sdy
from shardwright.compiler.pipelines import ALIGN, PLAN, run_pipeline
from shardwright.compiler.report import prediction
from shardwright.dialects.dtensor import layout_of
from shardwright.dialects.stablehlo import WhileOp
from shardwright.dialects.text.parsing import parse_module
from shardwright.dialects.text.printing import print_module
from shardwright.dialects.text.verify import verify_module
from shardwright.runtime.executable import compile_module
from shardwright.tools.main import main

Capture = pytest.CaptureFixture[str]
ROOT = Path(__file__).resolve().parents[3]
MLP = ROOT / "tests" / "lit" / "run" / "mlp.mlir"
PARTS = """\
sdy.mesh @mesh = <["x"=8, "y"=2]>
func.func public @main(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)2}, {"x":(2)4}]>}, \
%b: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y", "x":(1)4}]>}) -> tensor<8x16xf32> {
  %0 = stablehlo.tanh %b : tensor<8x16xf32>
  %1 = stablehlo.add %a, %0 : tensor<8x16xf32>
  %2 = sdy.sharding_constraint %1 <@mesh, [{"y"}, {"x"}]> : tensor<8x16xf32>
  %3 = stablehlo.exponential %2 : tensor<8x16xf32>
  return %3 : tensor<8x16xf32>
}
"""
"""Layouts over parts of an axis."""


def propagated(text: str) -> ModuleOp:
    """The program with a layout on every value."""
    module = parse_module(text, "program.mlir")
    run_pipeline(module, ["propagate"])
    return module


def decided(module: ModuleOp) -> list[tuple[str, list[str]]]:
    """Each op with the layouts of its results, in program order."""
    return [(op.name, [str(layout_of(result)) for result in op.results]) for op in module.walk()]


@pytest.mark.parametrize("text", [MLP.read_text(), PARTS, (ROOT / "examples" / "transformer_train.mlir").read_text()])
def test_sdy_reads_back_with_the_same_layouts(text: str) -> None:
    module = propagated(text)
    wanted = decided(module)
    export_sdy(module)
    verify_module(module)
    assert decided(propagated(print_module(module))) == wanted
    assert decided(propagated(print_module(module, generic=True))) == wanted


DECIDED_AGAIN = {"kmeans_steps"}
"""Programs whose loop carries what it only makes new: Shardy's text has no place for its layout inside of the loop."""


@pytest.mark.slow
@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.stem)
def test_sdy_reads_back_with_the_same_bytes(path: Path) -> None:
    """Ops may come in another order, but what is sent stays."""
    module = propagated(path.read_text())
    first = module.clone()
    export_sdy(module)
    again = propagated(print_module(module))
    for one in (first, again):
        run_pipeline(one, [*ALIGN, *PLAN])
    assert (prediction(first).total() == prediction(again).total()) == (path.stem not in DECIDED_AGAIN)


@pytest.mark.slow
@pytest.mark.parametrize("name", RUNNABLE)
def test_the_program_of_a_device_sends_the_same_bytes(name: str) -> None:
    """Read back, it is a manual computation whose collectives are the user's: the ledger counts them."""
    module = parse_module(text(name), name)
    run_pipeline(module, ["partition"])
    ours = compile_module(module)
    wanted = ours.run(inputs(name))
    export_stablehlo(module)
    again = parse_module(print_module(module), "device.mlir")
    run_pipeline(again, ["partition"])
    executable = compile_module(again)
    for actual, expected in zip(executable.run(inputs(name)), wanted, strict=True):
        rounding = 0.05 if expected.dtype.name == "bfloat16" else 1e-4
        pair = [array.astype(np.float64) for array in (actual, expected)]
        np.testing.assert_allclose(*pair, rtol=rounding, atol=rounding)
    assert executable.ledger.sent_bytes == ours.ledger.sent_bytes


def test_sdy_says_what_was_chosen(capsys: Capture) -> None:
    assert main(["export", str(MLP), "--to", "sdy"]) == 0
    text = capsys.readouterr().out
    assert "dtensor" not in text
    assert 'sdy.mesh @mesh = <["batch"=4, "model"=2]>' in text
    assert '%w: tensor<64x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}' in text
    assert 'stablehlo.tanh %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"batch"}, {"model"}]>]>}' in text


def test_parts_of_axes_are_written(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "parts.mlir"
    path.write_text(PARTS)
    assert main(["export", str(path), "--to", "sdy"]) == 0
    text = capsys.readouterr().out
    assert '%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)2}, {"x":(2)4}]>}' in text


def test_json_has_layouts_and_bytes(capsys: Capture) -> None:
    assert main(["export", str(MLP), "--to", "sdy", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["mesh"] == {"batch": 4, "model": 2}
    assert report["arguments"] == ["f32[16@batch, 64]", "f32[64, 128@model]", "f32[128@model, 64]"]
    assert report["results"] == ["f32[16@batch, 64]"]
    # One all-reduce over two devices of 4x64 floats: each sends half of the buffer twice.
    assert report["bytes_per_device"] == 4 * 64 * 4
    assert report["text"].startswith("module")


def test_a_file_is_written_in_one_step(tmp_path: Path, capsys: Capture) -> None:
    target = tmp_path / "out.mlir"
    assert main(["export", str(MLP), "--to", "sdy", "-o", str(target)]) == 0
    assert capsys.readouterr().out == ""
    assert [path.name for path in tmp_path.iterdir()] == ["out.mlir"]
    assert main(["export", str(MLP), "--to", "sdy"]) == 0
    assert capsys.readouterr().out == target.read_text()


PARTIAL = """\
dtensor.mesh @mesh = <["x"=2]>
func.func public @main(%a: tensor<4xf32, #dtensor.layout<@mesh, [{}], unreduced=sum{"x"}>>) \
-> tensor<4xf32, #dtensor.layout<@mesh, [{}]>> {
  %0 = dtensor.relayout %a : tensor<4xf32, #dtensor.layout<@mesh, [{}], unreduced=sum{"x"}>> \
-> tensor<4xf32, #dtensor.layout<@mesh, [{}]>>
  return %0 : tensor<4xf32, #dtensor.layout<@mesh, [{}]>>
}
"""


def test_parts_of_a_sum_are_no_argument_of_a_device(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "partial.mlir"
    path.write_text(PARTIAL)
    assert main(["export", str(path), "--to", "stablehlo"]) == 1
    assert "error[SW0720]" in capsys.readouterr().err
    assert main(["export", str(path), "--to", "sdy"]) == 0
    assert '#sdy.sharding<@mesh, [{}], unreduced={"x"}>' in capsys.readouterr().out


LOOP = """\
sdy.mesh @mesh = <["x"=2]>
func.func public @main(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %n: tensor<i32>) \
-> tensor<4xf32> {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0:2 = stablehlo.while(%i = %c, %b = %a) : tensor<i32>, tensor<4xf32>
  cond {
    %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.add %b, %a : tensor<4xf32>
    %2 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %2, %1 : tensor<i32>, tensor<4xf32>
  }
  return %0#1 : tensor<4xf32>
}
"""


@pytest.mark.parametrize("form", [["--to", "stablehlo"], ["--to", "stablehlo", "--bare"], ["--to", "sdy"]])
@pytest.mark.parametrize("text", [MLP.read_text(), PARTS, LOOP])
def test_what_is_written_can_be_read(text: str, form: list[str], tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "program.mlir"
    path.write_text(text)
    assert main(["export", str(path), *form]) == 0
    written = capsys.readouterr().out
    module = parse_module(written, "written.mlir")
    verify_module(module)
    assert "dtensor" not in written
    assert print_module(module) == written


def test_a_loop_carries_what_it_uses(tmp_path: Path, capsys: Capture) -> None:
    """XLA's loops see only what they carry; a constant is made inside."""
    path = tmp_path / "loop.mlir"
    path.write_text(LOOP)
    assert main(["export", str(path), "--to", "stablehlo"]) == 0
    loop = next(op for op in parse_module(capsys.readouterr().out).walk() if isinstance(op, WhileOp))
    assert len(loop.operands) == len(loop.results) == len(loop.next_values) == 4
    for region in loop.regions:
        inside = {value for op in region.walk() for value in op.results} | set(region.block.args)
        assert all(value in inside for op in region.walk() for value in op.operands)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["export", str(MLP)], "SW0701"),
        (["export", str(MLP), "--to", "hlo"], "SW0701"),
        (["export", "missing.mlir", "--to", "sdy"], "SW0702"),
        (["export", str(MLP), "--to", "sdy", "-o", "/no/such/folder/out.mlir"], "SW0704"),
    ],
)
def test_mistakes(arguments: list[str], code: str, capsys: Capture) -> None:
    assert main(arguments) == 1
    assert f"error[{code}]" in capsys.readouterr().err


@pytest.mark.parametrize("option", [["--bare"], ["--platform", "cpu"]])
def test_what_is_said_of_stablehlo_alone(option: list[str], capsys: Capture) -> None:
    assert main(["export", str(MLP), "--to", "sdy", *option]) == 1
    assert "error[SW0701]: shardwright export: --bare and --platform are for --to stablehlo" in capsys.readouterr().err


def test_a_platform_that_jax_has_not(capsys: Capture) -> None:
    assert main(["export", str(MLP), "--to", "stablehlo", "--platform", "cup"]) == 1
    assert "error[SW0701]: shardwright export: argument --platform: invalid choice: 'cup'" in capsys.readouterr().err


@pytest.mark.parametrize("options", [["--to", "graphdef"], ["--to", "stablehlo", "--bare"]])
def test_xla_is_asked_of_what_it_compiles(options: list[str], capsys: Capture) -> None:
    assert main(["export", str(MLP), "--ask-xla", *options]) == 1
    assert "error[SW0701]: shardwright export: --ask-xla is for what XLA compiles" in capsys.readouterr().err
