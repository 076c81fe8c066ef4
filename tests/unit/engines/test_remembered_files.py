"""A file whose program was compiled before is not read to run it, and is read for everything else."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import shardwright as sw
from shardwright.compiler import stages
from shardwright.compiler.reading import loading
from shardwright.compiler.stages import Traced, read_module
from shardwright.compiler.tracing.interface import interface_from, plain_interface
from shardwright.dialects import stablehlo
from shardwright.dialects.text.parsing import parse_module
from shardwright.engines import one_mesh
from shardwright.frontends.functions.dtensor import BACKEND
from shardwright.plugins import loading as plugins
from shardwright.runtime.codegen import memory
from shardwright.runtime.codegen.records import dump, load

PROGRAMS = Path(__file__).parents[2] / "data" / "programs"
TEXT = """
sdy.mesh @mesh = <["data"=4, "model"=2]>
func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>} loc("x"), %y: tensor<8x4xf32>
) -> (tensor<f32>, tensor<8x4xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.subtract %x, %y : tensor<8x4xf32>
  %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [0, 1]
    : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  return %1, %0 : tensor<f32>, tensor<8x4xf32>
}
"""
X, Y = np.arange(32, dtype=np.float32).reshape(8, 4), np.ones((8, 4), np.float32)


@pytest.fixture(autouse=True)
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SHARDWRIGHT_CACHE", str(tmp_path))
    monkeypatch.setattr(plugins._Loaded, "extended", False)  # other tests of this process load plugins
    for module, least in ((one_mesh, "FEWEST_OPS"), (one_mesh, "FEWEST_BYTES"), (memory, "LEAST_SECONDS")):
        monkeypatch.setattr(module, least, 0)
    path = tmp_path / "program.mlir"
    path.write_text(TEXT)
    return path


def is_read(path: Path, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether loading, compiling and running a program reads it."""
    read: list[object] = []
    with monkeypatch.context() as patched:
        whole = loading.read_module
        patched.setattr(loading, "read_module", lambda *given: read.append(given) or whole(*given))
        check(sw.load_mlir(path))
    return bool(read)


def check(traced: Traced) -> None:
    total, each = traced.compile()(X, Y)
    assert float(np.asarray(total)) == X.sum() - 32
    np.testing.assert_array_equal(np.asarray(each), X - Y)


def test_what_was_compiled_before_is_not_read(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert is_read(path, monkeypatch)
    assert not is_read(path, monkeypatch)


def test_another_text_or_place_is_read(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Errors and traces name the file, so the same text elsewhere is another program."""
    assert is_read(path, monkeypatch)
    path.write_text(TEXT + "\n")
    assert is_read(path, monkeypatch)
    other = path.rename(path.with_name("other.mlir"))
    assert is_read(other, monkeypatch)


def test_all_but_the_compiled_form_is_that_of_the_file(path: Path) -> None:
    first, anew = sw.load_mlir(path).compile(), sw.load_mlir(path)
    assert anew.interface.parameters[0].name == "x"
    assert anew.compile().interface == first.interface
    assert "stablehlo.subtract" in anew.as_text()
    np.testing.assert_array_equal(anew.partition().compile()(X, Y)[1], X - Y)
    check(anew.weigh_messages(256))


def test_who_only_looked_at_a_program_has_not_changed_it(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at = sw.load_mlir(path)
    assert "stablehlo.subtract" in looked_at.as_text()
    assert "3 operations" in repr(looked_at)
    check(looked_at)
    assert not is_read(path, monkeypatch)
    again = sw.load_mlir(path)
    assert repr(again) == repr(looked_at)
    monkeypatch.setattr(stages, "run_pipeline", None)  # no pass can run
    check(again)


def test_what_somebody_changed_is_not_what_the_file_holds(path: Path) -> None:
    check(sw.load_mlir(path))
    changed = sw.load_mlir(path)
    (subtract,) = (op for op in changed.module.walk() if isinstance(op, stablehlo.SubtractOp))
    subtract.operands = (subtract.operands[1], subtract.operands[0])
    np.testing.assert_array_equal(changed.compile()(X, Y)[1], Y - X)
    check(sw.load_mlir(path))


def test_what_is_changed_before_it_is_compiled_is_not_kept_as_the_file(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed = sw.load_mlir(path)
    (subtract,) = (op for op in changed.module.walk() if isinstance(op, stablehlo.SubtractOp))
    subtract.operands = (subtract.operands[1], subtract.operands[0])
    np.testing.assert_array_equal(changed.compile()(X, Y)[1], Y - X)
    assert is_read(path, monkeypatch)


def test_what_is_limited_or_proved_is_read(path: Path) -> None:
    check(sw.load_mlir(path))
    with sw.budget(max_bytes=1), pytest.raises(ValueError, match="SW0580"):
        sw.load_mlir(path).compile()
    proved = sw.load_mlir(path)
    proved.compile(certify=True)
    assert "module" in vars(proved)


def test_a_record_that_is_damaged_is_read_anew(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check(sw.load_mlir(path))
    (interface,) = (path.parent / "programs").glob("*-interface")
    interface.write_bytes(interface.read_bytes()[:-1])
    assert is_read(path, monkeypatch)


def test_without_its_image_a_program_is_read_when_it_is_compiled(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check(sw.load_mlir(path))
    (interface,) = (path.parent / "programs").glob("*-interface")
    interface.with_name(interface.name.removesuffix("-interface")).unlink()
    assert is_read(path, monkeypatch)


def test_mistakes_in_a_file_are_told_when_it_is_loaded(path: Path) -> None:
    path.write_text(TEXT.replace("stablehlo.subtract", "stablehlo.subtrakt"))
    for _ in range(2):
        with pytest.raises(sw.ShardwrightError, match="SW0203"):
            sw.load_mlir(path)


@pytest.mark.parametrize("name", sorted(path.name for path in PROGRAMS.iterdir() if path.is_dir()))
@pytest.mark.every(9)
def test_interfaces_come_back(name: str) -> None:
    text = (PROGRAMS / name / f"{name}.mlir").read_text()
    interface = read_module(parse_module(text, name), name, BACKEND).interface
    assert interface_from(json.loads(json.dumps(plain_interface(interface)))) == interface


def test_an_array_of_one_element_many_times_over_takes_its_memory_once() -> None:
    """A step that sends says how much by an array that has the shape alone."""
    executable = read_module(parse_module(TEXT, "-"), "-", BACKEND).compile().executable
    assert isinstance(executable, one_mesh.LocalExecutable)
    wide = np.broadcast_to(np.float32(3), (1 << 20, 1, 1 << 20))
    kept = dump(replace(executable.image, constants={"wide": wide}))
    assert kept is not None
    found = load(kept).constants["wide"]
    assert (found.shape, found.dtype, found.strides, found[5, 0, 7]) == (wide.shape, wide.dtype, (0, 0, 0), 3)
