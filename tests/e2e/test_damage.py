"""Damaged inputs: each gives a coded message with its place and help, exit code 1, and no traceback."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from shardwright.tools import main as shardwright, opt

PROGRAM = """\
module @jit_step attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["batch"=4, "model"=2]>
  func.func public @main(%arg0: tensor<16x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}]>}, \
%arg1: tensor<64x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, \
%arg2: tensor<128x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}) -> (tensor<16x64xf32>, tensor<f32>) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] \
: (tensor<16x64xf32>, tensor<64x128xf32>) -> tensor<16x128xf32>
    %1 = call @relu(%0) : (tensor<16x128xf32>) -> tensor<16x128xf32>
    %2 = sdy.sharding_constraint %1 <@mesh, [{"batch"}, {"model"}]> : tensor<16x128xf32>
    %3 = stablehlo.dot_general %2, %arg2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] \
: (tensor<16x128xf32>, tensor<128x64xf32>) -> tensor<16x64xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.reduce(%3 init: %cst) applies stablehlo.add across dimensions = [0, 1] \
: (tensor<16x64xf32>, tensor<f32>) -> tensor<f32>
    %5 = stablehlo.transpose %3, dims = [1, 0] : (tensor<16x64xf32>) -> tensor<64x16xf32>
    %6 = stablehlo.reshape %5 : (tensor<64x16xf32>) -> tensor<1024xf32>
    %7 = stablehlo.reshape %6 : (tensor<1024xf32>) -> tensor<16x64xf32>
    %8 = stablehlo.add %3, %7 : tensor<16x64xf32>
    return %8, %4 : tensor<16x64xf32>, tensor<f32>
  }
  func.func private @relu(%arg0: tensor<16x128xf32>) -> tensor<16x128xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<16x128xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<16x128xf32>
    return %1 : tensor<16x128xf32>
  }
}
"""


@dataclass(frozen=True)
class Damage:
    """
    One way to break the program: `old` becomes `new`.

    The error must say `says` and stand on the line of the change, or on `line` where that is another one.
    """

    name: str
    old: str
    new: str
    says: str = ""
    line: int = 0

    def expected_line(self) -> int:
        """The line on which the error must stand."""
        pairs = enumerate(zip(self.old, self.new, strict=False))
        kept = next((place for place, (old, new) in pairs if old != new), 0)
        return self.line or PROGRAM.count("\n", 0, PROGRAM.index(self.old) + kept) + 1


RELU_CALL = "call @relu(%0) : (tensor<16x128xf32>) -> tensor<16x128xf32>"
MAXIMUM = "stablehlo.maximum %arg0, %0 : tensor<16x128xf32>"
CONSTRAINT = '<@mesh, [{"batch"}, {"model"}]> : '
RETURN = "return %8, %4 : tensor<16x64xf32>, tensor<f32>"
FLAT = "(tensor<64x16xf32>) -> tensor<1024xf32>"
TRANSPOSED = "-> tensor<64x16xf32>\n    %6 = stablehlo.reshape %5 : (tensor<64x16xf32>)"

DAMAGES = [
    # Text that is no MLIR.
    Damage("missing equals sign", "%0 = stablehlo.dot_general %arg0", "%0 stablehlo.dot_general %arg0"),
    Damage("brace too many", "    return %8, %4", "  }\n    return %8, %4", line=15),
    Damage("unclosed string", '["batch"=4', '["batch=4'),
    Damage("stray character", "    %5 = stablehlo", "    $%5 = stablehlo"),
    Damage("unclosed type", FLAT, FLAT.removesuffix(">"), line=12),
    Damage("malformed number", "dense<0.000000e+00>", "dense<zero>", "zero"),
    Damage("unknown element type", FLAT, FLAT.replace("1024xf32", "1024xf33")),
    # Names.
    Damage("unknown op", "stablehlo.transpose", "stablehlo.transposed", "transpose"),
    Damage("unknown dialect", "stablehlo.add %3, %7", "tosa.add %3, %7", "tosa"),
    Damage("undefined value", "stablehlo.add %3, %7", "stablehlo.add %3, %99", "%99"),
    Damage("use before definition", "stablehlo.transpose %3", "stablehlo.transpose %8", "%8"),
    Damage("value defined twice", "%6 = stablehlo.reshape", "%5 = stablehlo.reshape", "%5"),
    Damage("duplicate symbol", "private @relu", "private @main", "main"),
    Damage("call to a missing function", "call @relu", "call @gelu", "gelu"),
    Damage("recursive call", MAXIMUM, "func.call @relu(%arg0) : (tensor<16x128xf32>) -> tensor<16x128xf32>", "relu"),
    Damage("no main function", "public @main", "public @start", "main"),
    Damage("unknown attribute", "dims = [1, 0] :", "dimensions = [1, 0] :"),
    # Types and shapes.
    Damage("wrong contracting sizes", "tensor<64x128xf32>) -> tensor<16", "tensor<32x128xf32>) -> tensor<16"),
    Damage("wrong result type", "-> tensor<64x16xf32>", "-> tensor<16x64xf32>", line=11),
    Damage("wrong result shape", TRANSPOSED, TRANSPOSED.replace("64x16", "16x64"), "transpose"),
    Damage("reshape to another size", FLAT, FLAT.replace("1024", "1000"), line=12),
    Damage("type mismatch of operands", "tensor<f32>) -> tensor<f32>\n", "tensor<i32>) -> tensor<f32>\n"),
    Damage("bad permutation", "dims = [1, 0]", "dims = [1, 1]"),
    Damage("reduce over a dim that is not there", "dimensions = [0, 1]", "dimensions = [0, 2]"),
    Damage("wrong number of results", RETURN, "return %8 : tensor<16x64xf32>"),
    Damage("call with wrong types", RELU_CALL, "call @relu(%arg0) : (tensor<16x64xf32>) -> tensor<16x128xf32>"),
    Damage("huge dim", "-> (tensor<16x64xf32>, ", "-> (tensor<99999999999999x64xf32>, ", line=14),
    Damage("negative dim", FLAT, FLAT.replace("1024", "-1024")),
    Damage("dynamic dim", FLAT, FLAT.replace("1024", "?"), "SW0305"),
    Damage("dynamic argument", "%arg0: tensor<16x64xf32>", "%arg0: tensor<?x64xf32>", "SW0305"),
    Damage("unranked result", FLAT, FLAT.replace("1024x", "*x"), "SW0305"),
    # Meshes and layouts.
    Damage("axis used twice", CONSTRAINT, CONSTRAINT.replace("model", "batch"), "batch"),
    Damage("missing mesh", '  sdy.mesh @mesh = <["batch"=4, "model"=2]>\n', "\n", "@mesh", line=6),
    Damage("unknown mesh", CONSTRAINT, CONSTRAINT.replace("@mesh", "@grid"), "@grid"),
    Damage("unknown axis", CONSTRAINT, CONSTRAINT.replace("model", "data"), "data"),
    Damage("layout of another rank", CONSTRAINT, '<@mesh, [{"batch"}]> : '),
    Damage("repeated mesh axis", '"batch"=4, "model"=2', '"batch"=4, "batch"=2', "batch"),
    Damage("mesh axis of size zero", '"batch"=4', '"batch"=0', "give each axis a size of at least 1"),
    Damage("negative mesh axis", '"batch"=4', '"batch"=-4', "negative size -4"),
    Damage("huge mesh axis", '"batch"=4', '"batch"=99999999999999999999', "64 bits"),
    Damage("mesh without the axis", '<["batch"=4, "model"=2]>', "<[]>", "it has no axes", line=6),
    Damage("infinity by name", "dense<0.000000e+00>", "dense<-inf>", "0xFF800000"),
    Damage(
        "misspelt sharding",
        "%arg1: tensor<64x128xf32> {sdy.sharding",
        "%arg1: tensor<64x128xf32> {sdy.shardin",
        "did you mean 'sdy.sharding'?",
    ),
    Damage("layout that is no layout", '#sdy.sharding<@mesh, [{}, {"model"}]>', '"model"'),
]

HUGE = """\
func.func public @main(%arg0: tensor<99999999999999xf32>) -> tensor<99999999999999xf32> {
  %0 = stablehlo.add %arg0, %arg0 : tensor<99999999999999xf32>
  return %0 : tensor<99999999999999xf32>
}
"""


def assert_coded(err: str, path: Path, line: int | None = None) -> None:
    """The shape of every message: place, code, help; no traceback and no dump of the module."""
    first = err.split("\n")[0]
    assert re.match(rf"{re.escape(str(path))}:\d+:\d+: error\[SW\d{{4}}\]: \S", first), err
    assert "help: " in err
    assert "Traceback" not in err
    assert len(err) < 3000, "too long to read"
    if line is not None:
        assert first.startswith(f"{path}:{line}:"), f"expected line {line}: {err}"


Runner = Callable[[Path], int]
RUNNERS: dict[str, Runner] = {
    "run": lambda path: shardwright.main(["run", str(path)]),
    "explain": lambda path: shardwright.main(["explain", str(path)]),
    "opt": lambda path: opt.main([str(path), "-p", "partition"]),
}


def test_the_program_itself_is_right(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "program.mlir"
    path.write_text(PROGRAM)
    assert shardwright.main(["run", str(path), "--check"]) == 0, capsys.readouterr().err
    assert opt.main([str(path), "-p", "partition"]) == 0
    assert shardwright.main(["explain", str(path)]) == 0


@pytest.mark.parametrize("runner", RUNNERS)
@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.name.replace(" ", "-"))
def test_damaged_text(damage: Damage, runner: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert damage.old in PROGRAM
    path = tmp_path / "program.mlir"
    path.write_text(PROGRAM.replace(damage.old, damage.new, 1))
    code = RUNNERS[runner](path)
    err = capsys.readouterr().err
    assert code == 1, err
    assert_coded(err, path, damage.expected_line())
    assert damage.says in err


@pytest.mark.parametrize("runner", RUNNERS)
@pytest.mark.parametrize("share", [0.05, 0.2, 0.35, 0.5, 0.65, 0.8, 0.95])
def test_truncated_text(share: float, runner: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "program.mlir"
    path.write_text(PROGRAM[: int(len(PROGRAM) * share)])
    assert RUNNERS[runner](path) == 1
    assert_coded(capsys.readouterr().err, path)


@pytest.mark.parametrize("runner", RUNNERS)
@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n\n",
        b"// only a comment\n",
        b"module {}\n",
        b"ML\xefR\r\x00",
        b"\x00\x01\x02",
        bytes(range(256)) * 8,
        b"PK\x03\x04" * 20,
    ],
    ids=["empty", "blank", "comment", "empty-module", "bytecode", "zeros", "every-byte", "zip"],
)
def test_what_is_no_program(data: bytes, runner: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "program.mlir"
    path.write_bytes(data)
    assert RUNNERS[runner](path) == 1
    assert_coded(capsys.readouterr().err, path)


@pytest.mark.parametrize("runner", RUNNERS)
@pytest.mark.parametrize("name", ["missing.mlir", "folder"])
def test_files_that_cannot_be_read(name: str, runner: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "folder").mkdir()
    assert RUNNERS[runner](tmp_path / name) == 1
    assert_coded(capsys.readouterr().err, tmp_path / name)


def test_a_tensor_larger_than_memory(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "program.mlir"
    path.write_text(HUGE)
    assert shardwright.main(["run", str(path)]) == 1
    err = capsys.readouterr().err
    assert "error[SW0717]" in err
    assert_coded(err, path, 1)
    assert opt.main([str(path), "-p", "partition"]) == 0, "partitioning alone needs no memory"


def arrays() -> dict[str, np.ndarray]:
    """Right inputs of the program."""
    shapes = {"in_0": (16, 64), "in_1": (64, 128), "in_2": (128, 64)}
    return {key: np.ones(shape, np.float32) for key, shape in shapes.items()}


def run_with(path: Path, inputs: Path, *more: str) -> int:
    """Run the program with these inputs."""
    path.write_text(PROGRAM)
    return shardwright.main(["run", str(path), "--inputs", str(inputs), *more])


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"in_1": None}, "SW0710"),
        ({"in_0": np.ones((16, 63), np.float32)}, "SW0711"),
        ({"in_0": np.ones((1024,), np.float32)}, "SW0711"),
        ({"in_2": np.ones((128, 64), np.float64)}, "SW0712"),
        ({"in_2": np.ones((128, 64), np.int32)}, "SW0712"),
        ({"in_2": np.full((128, 64), "text")}, "SW0712"),
    ],
)
def test_arrays_that_do_not_fit(
    change: dict[str, np.ndarray | None], code: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    inputs = tmp_path / "x.npz"
    np.savez(inputs, **{key: array for key, array in (arrays() | change).items() if array is not None})
    path = tmp_path / "program.mlir"
    assert run_with(path, inputs) == 1
    err = capsys.readouterr().err
    assert f"error[{code}]" in err
    assert_coded(err, path, 3)


@pytest.mark.parametrize("kind", ["missing", "text", "truncated", "pickle", "single", "directory", "empty"])
def test_archives_that_cannot_be_read(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    inputs = tmp_path / "x.npz"
    if kind == "text":
        inputs.write_text("in_0 = 3")
    elif kind == "truncated":
        np.savez(inputs, **arrays())
        inputs.write_bytes(inputs.read_bytes()[:5000])
    elif kind == "pickle":
        np.savez(inputs, in_0=np.array([object()], dtype=object))
    elif kind == "single":
        with inputs.open("wb") as stream:
            np.save(stream, np.ones(3))
    elif kind == "directory":
        inputs.mkdir()
    elif kind == "empty":
        inputs.write_bytes(b"")
    assert run_with(tmp_path / "program.mlir", inputs) == 1
    err = capsys.readouterr().err
    assert_coded(err, inputs)
    assert ("SW0702" if kind in ("missing", "directory") else "SW0709") in err


def test_wrong_expected_results_exit_with_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    inputs, expected = tmp_path / "x.npz", tmp_path / "y.npz"
    np.savez(inputs, **arrays())
    np.savez(expected, out_0=np.zeros((16, 64), np.float32), out_1=np.float32(0))
    path = tmp_path / "program.mlir"
    assert run_with(path, inputs, "--expect", str(expected)) == 1
    err = capsys.readouterr().err
    assert "error[SW0713]" in err
    assert_coded(err, path, 13)
