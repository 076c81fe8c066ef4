"""The driver `shardwright-opt`, run in this process."""

from __future__ import annotations

import io
import json
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from shardwright.passes.canonical.dce import DcePass
from shardwright.tools import main, opt

PROGRAM = """\
func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.negate %x : tensor<4xf32>
  %1 = stablehlo.negate %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""
BROKEN = "func.func public @f(%x: tensor<4xf32>) {\n  %0 = stablehlo.add %x : tensor<4xf32>\n  return\n}\n"


@pytest.fixture
def program(tmp_path: Path) -> Callable[[str], str]:
    """Writes a program, gives its path."""

    def write(text: str) -> str:
        path = tmp_path / "f.mlir"
        path.write_text(text)
        return str(path)

    return write


Program = Callable[[str], str]
Capture = pytest.CaptureFixture[str]


def test_prints_the_program(program: Program, capsys: Capture) -> None:
    assert opt.main([program(PROGRAM)]) == 0
    output = capsys.readouterr()
    assert output.out == f"module {{\n{''.join(f'  {line}' for line in PROGRAM.splitlines(keepends=True))}}}\n"
    assert output.err == ""


def test_reads_standard_input(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(PROGRAM.encode())))
    assert opt.main(["-p", "dce"]) == 0
    assert capsys.readouterr().out.count("negate") == 1


def test_names_standard_input_in_errors(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\n %0 oops")))
    assert opt.main(["-"]) == 1
    errors = capsys.readouterr().err
    assert errors.startswith("<stdin>:2:")
    assert "  2 |  %0 oops" in errors


def test_forms_of_output(program: Program, capsys: Capture) -> None:
    path = program(PROGRAM)
    assert opt.main([path, "--print-op-generic"]) == 0
    assert '"stablehlo.negate"(%x) : (tensor<4xf32>) -> tensor<4xf32>' in capsys.readouterr().out
    assert opt.main([path, "--print-debuginfo"]) == 0
    assert f'loc("{path}":2:8)' in capsys.readouterr().out
    assert opt.main([path, "--emit=python"]) == 0
    source = capsys.readouterr().out
    compile(source, "emitted", "exec")
    assert "def main(" in source


def headings(text: str) -> list[str]:
    """The lines that say which program follows."""
    return [line for line in text.splitlines() if line.startswith(("// after", "// before"))]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--print-ir-after-all"], ["// after cse:", "// after dce:"]),
        (["--print-ir-before-all"], ["// before cse:", "// before dce:"]),
        (["--print-ir-after", "cse", "--print-ir-before=dce"], ["// after cse:", "// before dce:"]),
        (["--print-ir-after=cse", "--print-ir-after=dce"], ["// after cse:", "// after dce:"]),
        ([], []),
    ],
)
def test_prints_programs_around_passes(
    options: list[str], expected: list[str], program: Program, capsys: Capture
) -> None:
    assert opt.main([program(PROGRAM), "-p", "cse,dce", *options]) == 0
    output = capsys.readouterr()
    assert headings(output.err) == expected
    assert output.err.count("func.func") == len(expected)
    assert output.out.count("func.func") == 1
    assert headings(output.out) == []


def test_prints_what_passes_change(program: Program, capsys: Capture) -> None:
    text = """\
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.tanh %a : tensor<4xf32>
  return %a : tensor<4xf32>
}
"""
    assert opt.main([program(text), "-p", "dce,cse", "--print-ir-diff"]) == 0
    lines = capsys.readouterr().err.splitlines()
    assert lines[:2] == ["--- before dce", "+++ after dce"]
    (removed,) = [line for line in lines[2:] if line.startswith("-")]
    assert "stablehlo.tanh" in removed
    assert [line for line in lines[2:] if line.startswith("+")] == []
    assert lines[-1] == "// cse changes nothing"


def test_writes_what_each_pass_makes_to_files(program: Program, tmp_path: Path, capsys: Capture) -> None:
    folder = tmp_path / "a" / "tree"
    assert opt.main([program(PROGRAM), "-p", "cse,dce", f"--print-ir-tree-dir={folder}"]) == 0
    printed = capsys.readouterr().out
    files = sorted(folder.iterdir())
    assert [path.name for path in files] == ["000_input.mlir", "001_cse.mlir", "002_dce.mlir"]
    assert files[-1].read_text() == printed
    assert opt.main([str(files[0]), "-p", "cse,dce"]) == 0
    assert capsys.readouterr().out == printed


def test_a_program_is_shown_though_a_later_pass_fails(
    program: Program, capsys: Capture, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def fail(self: DcePass, ctx: Context, op: ModuleOp) -> None:
        raise IndexError("deep inside")

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(DcePass, "apply", fail)
    assert opt.main([program(PROGRAM), "-p", "cse,dce", "--print-ir-after-all"]) == 2
    assert headings(capsys.readouterr().err) == ["// after cse:"]


def test_passes_to_print_around_must_run(program: Program, tmp_path: Path, capsys: Capture) -> None:
    path = program(PROGRAM)
    assert opt.main([path, "-p", "cse,dce", "--print-ir-after=cs"]) == 1
    errors = capsys.readouterr().err
    assert "error[SW0701]: --print-ir-after: no pass 'cs' runs here" in errors
    assert "did you mean 'cse'?" in errors
    assert opt.main([path, "-p", "cse", f"--print-ir-tree-dir={path}"]) == 1
    assert "error[SW0704]: cannot write to the folder" in capsys.readouterr().err


def test_times_passes_on_standard_error(program: Program, capsys: Capture) -> None:
    assert opt.main([program(PROGRAM), "-p", "cse,dce", "--time-passes"]) == 0
    output = capsys.readouterr()
    assert [line.split()[0] for line in output.err.splitlines()] == ["cse", "dce"]
    assert "ms" not in output.out


def test_passes_in_several_options_run_in_order(program: Program, capsys: Capture) -> None:
    assert opt.main([program(PROGRAM), "-p", "cse", "-p", "", "-p", "dce,canonicalize", "--time-passes"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().err.splitlines()] == ["cse", "dce", "canonicalize"]


def test_a_dash_is_standard_output(
    program: Program, capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = program(PROGRAM)
    assert opt.main([path, "-o", "-"]) == main.main(["export", path, "--to", "sdy", "-o", "-"]) == 0
    assert capsys.readouterr().out.count("func.func public @main") == 2
    assert main.main(["report", path, "-o", "-"]) == main.main(["export", path, "--to", "graphdef", "-o", "-"]) == 0
    assert capsys.readouterr().out.startswith("<!")
    assert os.listdir() == ["f.mlir"]


def test_writes_in_one_step_and_only_what_is_right(program: Program, tmp_path: Path, capsys: Capture) -> None:
    target = tmp_path / "out.mlir"
    assert opt.main([program(PROGRAM), "-o", str(target)]) == 0
    assert "func.func" in target.read_text()
    assert capsys.readouterr().out == ""
    assert opt.main([program(PROGRAM), "-o", str(tmp_path / "no" / "out")]) == 1
    assert "error[SW0704]" in capsys.readouterr().err


def test_chunks_are_separate_programs_with_their_own_lines(program: Program, capsys: Capture) -> None:
    path = program(f"{PROGRAM}// -----\n{BROKEN}// -----\n{PROGRAM}")
    assert opt.main([path, "--split-input-file"]) == 1
    output = capsys.readouterr()
    assert output.out.count("func.func") == 2
    assert output.out.count("// -----") == 1
    assert output.err.startswith(f"{path}:8:")
    assert "  8 |   %0 = stablehlo.add %x : tensor<4xf32>" in output.err


def test_verify_diagnostics(program: Program, capsys: Capture) -> None:
    right = BROKEN.replace("  %0", "  // expected-error @+1 {{expected}}\n  %0")
    assert opt.main([program(f"{PROGRAM}// -----\n{right}"), "--split-input-file", "--verify-diagnostics"]) == 0
    assert capsys.readouterr().err == ""
    assert opt.main([program(right.replace("@+1", "@+2")), "--verify-diagnostics"]) == 1
    assert "on line 4 was not produced" in capsys.readouterr().err


def test_lists_passes_for_people_and_programs(capsys: Capture) -> None:
    assert opt.main(["--list-passes"]) == 0
    text = capsys.readouterr().out
    assert opt.main(["--list-passes", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    names = [row["name"] for row in data["passes"]]
    assert names == sorted(names)
    assert {"cse", "localize", "propagate-layouts"} <= set(names)
    assert "partition" in [row["name"] for row in data["pipelines"]]
    assert all(row["doc"] in text for row in data["passes"])


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["--pases=x"], "SW0701", "did you mean '--passes'?"),
        (["a", "b"], "SW0701", "shardwright-opt --help"),
        (["--emit", "c"], "SW0701", "invalid choice"),
        (["-p"], "SW0701", "expected one argument"),
        (["-p", "csee"], "SW0705", "did you mean 'cse'?"),
        (["-p", "propagate-layouts{refin=true}"], "SW0707", "did you mean 'refine'?"),
    ],
)
def test_wrong_command_lines(arguments: list[str], code: str, says: str, capsys: Capture) -> None:
    assert opt.main(arguments) == 1
    output = capsys.readouterr()
    assert output.out == ""
    assert f"error[{code}]" in output.err
    assert says in output.err
    assert "usage:" not in output.err


def test_help_is_no_error(capsys: Capture) -> None:
    with pytest.raises(SystemExit) as left:
        opt.main(["--help"])
    assert left.value.code == 0
    assert "--print-ir-after-all" in capsys.readouterr().out


def test_a_failing_pass_leaves_a_reproducer(
    program: Program, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(self: DcePass, ctx: Context, op: ModuleOp) -> None:
        raise IndexError("deep inside")

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(DcePass, "apply", fail)
    path = program(PROGRAM)
    target = tmp_path / "out"
    assert opt.main([path, "-p", "cse,dce", "-o", str(target)]) == 2
    errors = capsys.readouterr().err
    assert "error[SW0799]: internal error: IndexError: deep inside" in errors
    assert "Traceback" not in errors
    assert not target.exists()
    (saved,) = tmp_path.glob("shardwright-reproducer-*.mlir")
    monkeypatch.undo()
    assert f"// command: shardwright-opt {path} -p cse,dce" in saved.read_text()
    assert opt.main([str(saved), "-p", "cse,dce"]) == 0


def test_verifies_after_each_pass(program: Program, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    def break_stage(self: DcePass, ctx: Context, op: ModuleOp) -> None:
        from shardwright.passes.stages import set_stage

        set_stage(op, "aligned")

    monkeypatch.setattr(DcePass, "apply", break_stage)
    assert opt.main([program(PROGRAM), "-p", "dce"]) == 2
    errors = capsys.readouterr().err
    assert errors.startswith("error[SW0317]: what dce made is wrong\n  note: SW0313: ")
    assert opt.main([program(PROGRAM), "-p", "dce", "--disable-verify"]) == 0
