"""The `shardwright` command and its subcommands, run in this process."""

from __future__ import annotations

import io
import json
import logging
import subprocess
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from ml_dtypes import bfloat16

from shardwright.diagnostics.registry import ENTRIES
from shardwright.tools.main import main
from shardwright.tools.programs import files
from shardwright.tools.terminal.guard import CommandState, guarded
from shardwright.tools.terminal.logs import LOGGER

Capture = pytest.CaptureFixture[str]

PROGRAM = """\
sdy.mesh @mesh = <["x"=4]>
func.func public @main(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, \
%b: tensor<16x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) \
-> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] \
: (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %1 = stablehlo.tanh %0 : tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}
"""


@pytest.fixture
def path(tmp_path: Path) -> str:
    """The program in a file."""
    target = tmp_path / "program.mlir"
    target.write_text(PROGRAM)
    return str(target)


@pytest.mark.parametrize("arguments", [[], ["--help"], ["-h"], ["help"]])
def test_help_names_every_command(arguments: list[str], capsys: Capture) -> None:
    assert main(arguments) == 0
    out = capsys.readouterr().out
    assert "run " in out
    assert "explain " in out
    assert "exit codes" in out


@pytest.mark.parametrize("command", ["run", "explain"])
def test_help_of_commands_has_examples(command: str, capsys: Capture) -> None:
    with pytest.raises(SystemExit) as left:
        main([command, "--help"])
    assert left.value.code == 0
    assert f"shardwright {command} model.mlir" in capsys.readouterr().out


def test_version(capsys: Capture) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("shardwright ")


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["rnu", "f"], "SW0715", "did you mean 'run'?"),
        (
            ["zzz"],
            "SW0715",
            "the commands are run, explain, report, price, calibrate, solve, check, certify, export, inspect",
        ),
        (["run"], "SW0701", "required: file"),
        (["run", "f", "--chekc"], "SW0701", "did you mean '--check'?"),
        (["run", "f", "--rtol", "-1"], "SW0701", "is not a tolerance"),
        (["run", "f", "--rtol", "nan"], "SW0701", "is not a tolerance"),
        (["run", "f", "--seed", "x"], "SW0701", "is not a seed"),
        (["certify", "f", "--seed", "-1"], "SW0701", "is not a seed"),
        (["calibrate", *["f"] * 6], "SW0701", "1 programs are too few"),
        (["explain", "f", "--why", "0"], "SW0701", "lines count from 1"),
    ],
)
def test_wrong_command_lines(arguments: list[str], code: str, says: str, capsys: Capture) -> None:
    assert main(arguments) == 1
    output = capsys.readouterr()
    assert output.out == ""
    assert f"error[{code}]" in output.err
    assert says in output.err


@pytest.mark.parametrize(
    "command",
    ["run", "explain", "report -o r", "price", "check", "certify", "verify", "inspect", "split -o s", "launch -n 2"],
)
@pytest.mark.parametrize("name", ["x" * 300, "x" * 300 + ".pb", "x" * 300 + ".safetensors"])
def test_a_name_longer_than_files_have(
    command: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """Asking whether such a file is there is an error of the system itself, and no fault of ours."""
    monkeypatch.chdir(tmp_path)
    verb, *rest = command.split()
    arguments = [verb, name, *rest] if rest != ["-n", "2"] else [verb, *rest, name]
    assert main(arguments) == 1
    output = capsys.readouterr()
    assert "error[SW" in output.err
    assert "SW0799" not in output.err
    assert list(tmp_path.iterdir()) == []


def test_run_reports_exact_figures_as_json(path: str, capsys: Capture) -> None:
    assert main(["run", path, "--check", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["ok"] is True
    assert data["max_abs_error"] < 1e-5
    # One all-reduce of 8 x 4 floats over 4 devices: 2 x 3/4 of 128 bytes; tanh does not let partial sums through.
    assert data["sent_bytes"] == data["predicted_bytes"] == 192
    assert data["messages"] == 1
    assert data["collectives"] == [{"kind": "all_reduce", "axes": ["x"], "messages": 1, "sent_bytes": 192}]
    assert data["peak_bytes"] > 0
    assert list(data["seconds"]) == ["parse", "partition", "compile", "run"]


def test_run_takes_inputs_and_expected_results(path: str, tmp_path: Path, capsys: Capture) -> None:
    generator = np.random.default_rng(7)
    a, b = (generator.standard_normal(shape).astype(np.float32) for shape in ((8, 16), (16, 4)))
    inputs = tmp_path / "x.npz"
    np.savez(inputs, in_0=a, in_1=b, out_0=np.tanh(a @ b))
    assert main(["run", path, "--inputs", str(inputs), "--expect", str(inputs), "--check"]) == 0
    assert capsys.readouterr().out.startswith(f"ok: 1 results against '{inputs}' and the unsharded run")
    np.savez(inputs, in_0=a, in_1=b, out_0=np.tanh(a @ b) + np.float32(0.01))
    assert main(["run", path, "--inputs", str(inputs), "--expect", str(inputs), "--json"]) == 1
    output = capsys.readouterr()
    assert json.loads(output.out)["ok"] is False
    assert json.loads(output.out)["max_abs_error"] == pytest.approx(0.01, rel=1e-3)
    assert "error[SW0713]: out_0 differs from" in output.err
    assert main(["run", path, "--inputs", str(inputs), "--expect", str(inputs), "--atol", "0.02"]) == 0


def test_run_takes_bfloat16_as_bits(path: str, tmp_path: Path, capsys: Capture) -> None:
    Path(path).write_text(PROGRAM.replace("f32", "bf16"))
    a, b = np.ones((8, 16), bfloat16), np.full((16, 4), 0.0625, bfloat16)
    inputs = tmp_path / "x.npz"
    expected = np.full((8, 4), np.tanh(1.0), bfloat16)
    np.savez(inputs, in_0=a.view(np.uint16), in_1=b.view(np.uint16), out_0=expected.view(np.uint16))
    assert main(["run", path, "--inputs", str(inputs), "--expect", str(inputs)]) == 0, capsys.readouterr().err


def test_run_without_a_reference_says_so(path: str, capsys: Capture) -> None:
    assert main(["run", path]) == 0
    assert capsys.readouterr().out.startswith("ran; nothing to compare with")
    assert main(["run", path, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["max_abs_error"] is None


def test_inputs_of_nothing_but_nan_are_named(path: str, tmp_path: Path, capsys: Capture) -> None:
    a, b = np.full((8, 16), np.nan, np.float32), np.full((16, 4), np.nan, np.float32)
    inputs = tmp_path / "x.npz"
    np.savez(inputs, in_0=a, in_1=b)
    assert main(["run", path, "--inputs", str(inputs), "--json"]) == 0
    output = capsys.readouterr()
    assert json.loads(output.out)["all_nan"] == ["in_0", "in_1", "out_0"]
    assert "warning[SW0728]: every floating element of all inputs is NaN: in_0, in_1" in output.err
    b[3, 2] = 1.0
    np.savez(inputs, in_0=a, in_1=b)
    assert main(["run", path, "--inputs", str(inputs), "--json"]) == 0
    output = capsys.readouterr()
    assert json.loads(output.out)["all_nan"] == ["out_0"]
    assert "all inputs" not in output.err


def test_a_check_says_what_it_compared(path: str, tmp_path: Path, capsys: Capture) -> None:
    inputs = tmp_path / "x.npz"
    a, b = np.ones((8, 16), np.float32), np.ones((16, 4), np.float32)
    np.savez(inputs, in_0=a, in_1=b, out_0=np.full((8, 4), np.tanh(16.0) - 0.25, np.float32))
    arguments = ["run", path, "--inputs", str(inputs), "--expect", str(inputs), "--check", "--atol", "0.5"]
    assert main([*arguments, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["compared"]
    unsharded = "the unsharded run"
    assert [row["against"] for row in rows] == [f"'{inputs}'", unsharded, f"{unsharded}, with nothing fused"]
    assert [row["max_abs_error"] for row in rows] == [0.25, 0.0, 0.0]
    assert all(row["dtype"] == "float32" and row["results"] == 1 and row["elements"] == 32 for row in rows)
    assert all((row["rtol"], row["atol"], row["nan_in_both"]) == (1e-4, 0.5, 0) for row in rows)
    assert main([*arguments, "--rtol", "0"]) == 0
    first = f"compared: 32 elements of 1 float32 result against '{inputs}': rtol 0, atol 0.5, largest difference 0.25"
    assert first in capsys.readouterr().out.splitlines()


def test_seeds_change_inputs_not_figures(path: str, capsys: Capture) -> None:
    assert main(["run", path, "--json", "--check", "--seed", "1"]) == 0
    first = json.loads(capsys.readouterr().out)
    assert main(["run", path, "--json", "--check", "--seed", "2"]) == 0
    second = json.loads(capsys.readouterr().out)
    assert first["collectives"] == second["collectives"]


def test_a_wrong_prediction_is_an_internal_error(
    path: str, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    import tempfile

    from shardwright.compiler import report

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(report, "prediction", lambda _: report.Prediction(((Fraction(1), report.Repetition()),)))
    assert main(["run", path]) == 2
    assert "predicted 1 bytes per device, but the ledger counts 192" in capsys.readouterr().err


def test_explain_as_text_and_json(path: str, capsys: Capture) -> None:
    assert main(["explain", path]) == 0
    text = capsys.readouterr().out
    assert "%a: f32[8, 16@x]" in text
    assert "all_reduce x" in text
    assert "stablehlo.tanh at line 4" in " ".join(text.split())
    assert text.rstrip().endswith("1 collective, 192 bytes sent per device")
    assert main(["explain", path, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    (row,) = data["collectives"]
    assert (row["op"], row["axes"], row["bytes_per_device"]) == ("all_reduce", ["x"], 192)
    assert row["source"].startswith(f"{path}:4:")
    assert row["reasons"][0]["asked_by"].startswith("stablehlo.tanh at ")
    assert data["bytes_per_device"] == 192
    assert [value["layout"] for value in data["arguments"]] == ["f32[8, 16@x]", "f32[16@x, 4]"]


def test_explain_why(path: str, capsys: Capture) -> None:
    assert main(["explain", path, "--why", "3"]) == 0
    assert capsys.readouterr().out.startswith("line 3: stablehlo.dot_general gives f32[8, 4]")
    assert main(["explain", path, "--why", "4", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["values"][0]["op"] == "stablehlo.tanh"
    assert data["collectives"][0]["op"] == "all_reduce"
    assert main(["explain", path, "--why", "40"]) == 1
    errors = capsys.readouterr().err
    assert f"{path}:40:1: error[SW0714]" in errors
    assert "lines nearby that define values: 2, 3, 4" in errors


def test_explain_why_of_an_argument_that_has_a_name_and_no_place(tmp_path: Path, capsys: Capture) -> None:
    """As JAX writes arguments."""
    program = tmp_path / "named.mlir"
    program.write_text(PROGRAM.replace(">}, %b", ">} loc(\"p['w']\"), %b"))
    assert main(["explain", str(program), "--why", "p['w']"]) == 0
    assert capsys.readouterr().out.startswith("argument gives f32[8, 16@x] (p['w'])")


def test_explain_of_what_the_text_calls_by_numbers(path: str, capsys: Capture) -> None:
    assert main(["explain", path, "--why", "%0"]) == 0
    assert capsys.readouterr().out.startswith("line 3: stablehlo.dot_general gives f32[8, 4]")
    assert main(["explain", path, "--why", "%7"]) == 1
    errors = capsys.readouterr().err
    assert "error[SW0714]: no value is called '%7'" in errors
    assert "help: numbers come from printing: ask for the line that defines the value, an argument, or '#1'" in errors


def test_explain_of_a_program_that_sends_nothing(path: str, capsys: Capture) -> None:
    text = """\
dtensor.mesh @mesh = <["x"=4]>
func.func public @main(%a: tensor<8xf32, #dtensor.layout<@mesh, [{"x"}]>>) -> tensor<8xf32> {
  %0 = stablehlo.tanh %a : (tensor<8xf32, #dtensor.layout<@mesh, [{"x"}]>>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
"""
    Path(path).write_text(text)
    assert main(["explain", path]) == 0
    assert "no collectives: nothing is sent" in capsys.readouterr().out


FRACTIONS = """\
sdy.mesh @mesh = <["x"=3]>
func.func public @main(%a: tensor<3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, \
%b: tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) \
-> (tensor<f32> {sdy.sharding = #sdy.sharding<@mesh, []>}, \
tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0] \
: (tensor<3xf32>, tensor<f32>) -> tensor<f32>
  return %0, %b : tensor<f32>, tensor<6xf32>
}
"""


def test_fractions_of_bytes_and_collectives_that_send_nothing(path: str, capsys: Capture) -> None:
    # All-reduce of 4 bytes over 3 devices: 2 x 2/3 x 4 bytes each. Keeping one's part of a copy sends nothing.
    Path(path).write_text(FRACTIONS)
    assert main(["run", path, "--check"]) == 0
    lines = capsys.readouterr().out.split("\n")
    assert lines[1] == "sent per device: 5.33 bytes in 1 messages, as predicted"
    assert lines[2].split() == ["all_reduce", "over", "x", "5.33", "bytes", "in", "1"]
    assert main(["explain", path]) == 0
    last = capsys.readouterr().out.rstrip().split("\n")[-1]
    assert last == "2 collectives (1 of them sends nothing), 5.33 bytes sent per device"


@pytest.mark.parametrize("text", ["SW0104", "sw0104", "0104", "error[SW0104]:"])
def test_codes_are_explained(text: str, capsys: Capture) -> None:
    assert main(["explain-code", text]) == 0
    out = capsys.readouterr().out
    assert out.startswith("SW0104: ")
    assert "help: " in out


def test_every_code_is_explained_as_data(capsys: Capture) -> None:
    assert main(["explain-code", "--all", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert [entry["code"] for entry in data] == sorted(ENTRIES)
    assert all(entry["title"] and entry["explanation"] and entry["help"] for entry in data)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["SW0140"], "SW0730", "there is no code 'SW0140'"),
        ([], "SW0701", "give a code, or --all"),
        (["SW0104", "--all"], "SW0701", "give a code, or --all"),
    ],
)
def test_codes_that_there_are_not(arguments: list[str], code: str, message: str, capsys: Capture) -> None:
    assert main(["explain-code", *arguments]) == 1
    errors = capsys.readouterr().err
    assert f"error[{code}]" in errors
    assert message in errors


def test_the_package_is_the_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "shardwright", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("shardwright ")


def test_interrupted_in_one_line(capsys: Capture) -> None:
    def interrupted(state: CommandState) -> int:
        raise KeyboardInterrupt

    assert guarded(CommandState("shardwright run f"), interrupted) == 130
    assert capsys.readouterr().err == "interrupted\n"


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="there is no /dev/zero")
def test_what_never_ends_is_no_program(capsys: Capture) -> None:
    assert main(["run", "/dev/zero"]) == 1
    assert "error[SW0703]: '/dev/zero' is not UTF-8 text: a NUL byte at offset 0" in capsys.readouterr().err


def test_a_stream_without_an_end(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    class Endless(io.RawIOBase):
        def read(self, size: int = -1) -> bytes:
            assert size > 0, "all of it would be more than there is memory"
            return b"y\n" * (size // 2)

    monkeypatch.setattr(files, "STREAM_LIMIT", 5 << 20)
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=Endless()))
    assert main(["run", "-"]) == 1
    assert "error[SW0702]: '<stdin>' has no end: 5,242,880 bytes were read" in capsys.readouterr().err


@pytest.fixture
def silent_again() -> Iterator[None]:
    yield
    LOGGER.handlers.clear()
    LOGGER.setLevel(logging.NOTSET)


@pytest.mark.usefixtures("silent_again")
def test_commands_say_what_they_do_when_asked(path: str, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    assert main(["explain", path]) == 0
    assert capsys.readouterr().err == ""
    assert main(["explain", path, "-v"]) == 0
    told = capsys.readouterr().err.splitlines()
    assert any(line.startswith("shardwright.passes: propagate-layouts: ") and line.endswith(" ms") for line in told)
    assert not any(line.endswith(" ops") for line in told)
    monkeypatch.setenv("SHARDWRIGHT_LOG", "debug")
    assert main(["explain", path]) == 0
    assert any(line.endswith(" ops") for line in capsys.readouterr().err.splitlines())
    monkeypatch.setenv("SHARDWRIGHT_LOG", "inof")
    assert main(["explain", path]) == 1
    assert "error[SW0731]: SHARDWRIGHT_LOG=inof is no level" in capsys.readouterr().err
