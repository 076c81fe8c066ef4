"""Programs are compiled once: what was remembered runs alike, and what is not ours is not believed."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

import numpy as np
import pytest

import shardwright as sw
from shardwright.compiler import stages
from shardwright.compiler.stages import Compiled, Traced, read_module
from shardwright.dialects.text.parsing import parse_module
from shardwright.engines import one_mesh
from shardwright.frontends.functions.dtensor import BACKEND
from shardwright.plugins import loading
from shardwright.runtime.codegen import memory
from shardwright.runtime.codegen.records import dump, load

MESH = sw.Mesh(data=4, model=2)
ROOT = Path(__file__).parents[3]
PROGRAMS = ROOT / "tests" / "data" / "programs"
X = np.arange(64, dtype=np.float32).reshape(16, 4)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SHARDWRIGHT_CACHE", str(tmp_path))
    monkeypatch.setattr(loading._Loaded, "extended", False)  # other tests of this process load plugins
    monkeypatch.setattr(one_mesh, "FEWEST_OPS", 0)
    monkeypatch.setattr(memory, "LEAST_SECONDS", 0.0)
    return tmp_path / "programs"


def centred(x: sw.Array) -> sw.Array:
    return x - sw.sum(x, axis=0) / 16


def traced() -> Traced:
    return sw.function(centred).trace(sw.relayout(X, sw.Layout(["data", None], MESH)))


def compiled_anew(monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether compiling runs passes."""
    ran: list[object] = []
    with monkeypatch.context() as patched:
        whole = stages.run_pipeline
        patched.setattr(stages, "run_pipeline", lambda *given: ran.append(given) or whole(*given))
        check(traced().compile())
    return bool(ran)


def check(compiled: Compiled) -> None:
    found = compiled(sw.relayout(X, sw.Layout(["data", None], MESH)))
    np.testing.assert_allclose(found.numpy(), X - X.mean(axis=0))
    assert compiled.ledger.sent_bytes == 4 * 4 * 2 * 3 // 4  # an all-reduce of four numbers among four devices


def record(folder: Path) -> Path:
    (found,) = (path for path in folder.iterdir() if path.name != "key")
    return found


def test_the_second_time_nothing_is_compiled(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert compiled_anew(monkeypatch)
    assert not compiled_anew(monkeypatch)
    first, second = traced().partition().compile(), traced().compile()
    assert (first.source, first.peak_bytes) == (second.source, second.peak_bytes)
    assert first.interface.parameters == second.interface.parameters


OPEN = """
sdy.mesh @mesh = <["data"=4, "model"=2]>
func.func @main(
  %x: tensor<16x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}, %y: tensor<16x4xf32>
) -> tensor<16x4xf32> {
  %0 = stablehlo.add %x, %y : tensor<16x4xf32>
  return %0 : tensor<16x4xf32>
}
"""


def test_the_layouts_that_were_decided_are_those_of_the_arguments() -> None:
    programs = [read_module(parse_module(OPEN), "open", BACKEND).compile() for _ in range(2)]
    found = [program.interface.parameters[1].layout for program in programs]
    assert found == [sw.Layout(["data", "model"], MESH)] * 2


def test_a_program_with_uneven_results_is_the_same_the_second_time(folder: Path) -> None:
    rows = sw.Layout(["data"], MESH, uneven=True)
    x = np.arange(10.0)
    for _ in range(2):
        program = sw.function(lambda x: sw.relayout(x * 2, rows))
        found = program(sw.relayout(x, rows))
        np.testing.assert_array_equal(found.numpy(), x * 2)
        assert [part.shape for part in found.components()] == [(3,)] * 6 + [(1,)] * 2
    assert record(folder)


@pytest.mark.parametrize("name", sorted(path.name for path in PROGRAMS.iterdir() if path.is_dir()))
@pytest.mark.every(14)
def test_every_image_comes_back(name: str) -> None:
    text = (PROGRAMS / name / f"{name}.mlir").read_text()
    executable = read_module(parse_module(text, name), name, BACKEND).compile().executable
    assert isinstance(executable, one_mesh.LocalExecutable)
    image = executable.image
    kept = dump(image)
    assert kept is not None
    again = load(kept)
    assert (again.source, again.inputs, again.outputs) == (image.source, image.inputs, image.outputs)
    assert (again.mesh, again.peak_bytes, again.largest) == (image.mesh, image.peak_bytes, image.largest)
    assert (again.arena_bytes, again.scratch_bytes) == (image.arena_bytes, image.scratch_bytes)
    assert again.constants.keys() == image.constants.keys()
    for key, value in image.constants.items():
        np.testing.assert_equal(again.constants[key], value)
        assert type(again.constants[key]) is type(value)
        assert getattr(again.constants[key], "dtype", None) == getattr(value, "dtype", None)


@pytest.mark.parametrize("at", [0, 30, 60, -1])
def test_a_damaged_record_is_compiled_anew(at: int, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled_anew(monkeypatch)
    content = bytearray(record(folder).read_bytes())
    content[at] ^= 1
    record(folder).write_bytes(content)
    assert compiled_anew(monkeypatch)
    assert not compiled_anew(monkeypatch)  # it was written again


def test_a_record_that_is_cut_short_is_compiled_anew(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled_anew(monkeypatch)
    record(folder).write_bytes(record(folder).read_bytes()[:40])
    assert compiled_anew(monkeypatch)


def test_what_somebody_else_signed_is_not_run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled_anew(monkeypatch)
    (folder / "key").write_bytes(bytes(32))
    assert compiled_anew(monkeypatch)


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="modes of files are POSIX's")
def test_a_key_that_others_can_read_is_no_key(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled_anew(monkeypatch)
    (folder / "key").chmod(0o644)
    assert compiled_anew(monkeypatch)


def test_no_record_stands_for_another(folder: Path) -> None:
    memory.remember("one", b"a record")
    assert memory.recall("one", bytes) == b"a record"
    (folder / "one").rename(folder / "two")
    assert memory.recall("two", bytes) is None


def test_what_is_limited_or_proved_is_compiled(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled_anew(monkeypatch)
    with sw.budget(max_bytes=1), pytest.raises(ValueError, match="SW0580"):
        traced().compile()
    check(traced().compile(certify=True))


def test_nothing_is_remembered_of_what_others_extended(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading._Loaded, "extended", True)
    assert compiled_anew(monkeypatch)
    assert not folder.exists()


def test_all_rooms_that_decide_what_a_program_becomes_are_in_its_name() -> None:
    """Rooms that only look at programs, prove or store them may change, and what is remembered is still right."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layers = [
        room.strip().removeprefix("shardwright.") for layer in contracts[0]["layers"] for room in layer.split("|")
    ]
    decide = set(layers[layers.index("frontends") :]) - {"views", "proof", "serialization", "plugins"}
    assert set(memory._ROOMS) == decide


def test_a_file_of_ours_that_changes_gives_programs_another_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = tmp_path / "networks" / "solving.py"
    ours.parent.mkdir()
    monkeypatch.setattr(memory, "__file__", str(tmp_path / "runtime" / "codegen" / "memory.py"))
    names: list[str] = []
    for text in ("a = 1\n", "a = 10\n"):
        ours.write_text(text)
        memory._versions.cache_clear()
        names.append(memory.key_of("a program"))
    memory._versions.cache_clear()
    assert names[0] != names[1]


def test_what_we_add_ourselves_extends_nothing() -> None:
    traced().compile()
    assert not loading._Loaded.extended
    exec("from shardwright.plugins import extend\n(lambda: extend())()", {"__name__": "somebody.elses"})
    assert loading._Loaded.extended


def test_without_a_folder_nothing_is_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHARDWRIGHT_CACHE", "")
    assert compiled_anew(monkeypatch)
    assert compiled_anew(monkeypatch)


def test_a_folder_that_cannot_be_written_keeps_nobody_from_compiling(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("SHARDWRIGHT_CACHE", str(tmp_path / "file"))
    assert compiled_anew(monkeypatch)


def test_the_record_that_nobody_asked_for_the_longest_goes_first(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for age, name in enumerate("abc"):
        memory.remember(name, b"a record")
        os.utime(folder / name, (age, age))
    assert memory.recall("a", bytes) is not None  # now it is the last that was asked for
    size = (folder / "a").stat().st_size
    monkeypatch.setattr(memory, "KEPT_BYTES", 3 * size)
    memory.remember("d", b"a record")
    assert sorted(path.name for path in folder.iterdir()) == ["a", "c", "d", "key"]
