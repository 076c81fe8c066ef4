"""Plugins: packages by entry points, files by `--load`, and what xDSL's own driver finds of ours."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from rooms import ROOT
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Attribute
from xdsl.passes import ModulePass

import shardwright as sw
from shardwright import passes
from shardwright.diagnostics import ShardwrightError
from shardwright.dialects import add_dialect
from shardwright.engines import add_engine
from shardwright.passes import add_pass, all_passes
from shardwright.plugins import GROUP, VARIABLE, load_file
from shardwright.tools.main import main

PLUGIN = ROOT / "examples" / "plugin"
PROGRAM = str(PLUGIN / "ramp.mlir")
PLAIN = str(ROOT / "tests/lit/run/mlp.mlir")

COUNTED = "ramp.ops = {func.func = 1 : i64, func.return = 1 : i64, ramp.multiply = 1 : i64"
NAMED = "broken.py:1:1: error[SW0732]: the plugin 'bad' of broken cannot be loaded"

BEHAVES = """
import numpy as np
import shardwright as sw
from shardwright_ramp import ramp
from shardwright_ramp.engine import ENGINE

a, factors = np.arange(32, dtype="float32").reshape(4, 8), 3 + np.arange(8, dtype="float32")
np.testing.assert_array_equal(ramp(a, 3), a * factors)
doubled = sw.function(lambda x: ramp(x * 2, 3, dim=1))
slope = sw.function(sw.grad(lambda x: sw.sum(ramp(x, 3, dim=1))))
for devices in (None, "counting"):
    x = sw.relayout(a, sw.Layout(["y", "x"], sw.Mesh(x=2, y=2, devices=devices)))
    np.testing.assert_array_equal(np.asarray(doubled(x)), 2 * a * factors)
    np.testing.assert_array_equal(np.asarray(slope(x)), np.broadcast_to(factors, (4, 8)))
assert ENGINE.runs == 2, ENGINE.runs
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the example package is installed, from a wheel."""
    pytest.importorskip("setuptools")
    folder = tmp_path_factory.mktemp("plugin")
    copied = folder / "source"
    subprocess.run(["cp", "-r", str(PLUGIN), str(copied)], check=True)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q"]
    wheels = str(folder / "wheels")
    subprocess.run([*pip, "wheel", "--no-deps", "--no-build-isolation", "-w", wheels, str(copied)], check=True)
    (wheel,) = Path(wheels).iterdir()
    subprocess.run([*pip, "install", "--no-deps", "--target", str(folder / "site"), str(wheel)], check=True)
    return folder / "site"


def ran(site: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path, **variables}
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, env=environment, check=False)


@pytest.mark.slow
def test_an_installed_package_is_loaded(site: Path) -> None:
    done = ran(site, "-m", "shardwright", "run", PROGRAM, "--check")
    assert done.stdout.startswith("ok: 1 results against the unsharded run"), done.stderr
    done = ran(site, "-m", "shardwright.tools.opt", PROGRAM, "-p", "count-ops")
    assert COUNTED in done.stdout


@pytest.mark.slow
def test_what_it_adds_works_in_python(site: Path) -> None:
    done = ran(site, "-c", BEHAVES)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_plugins_can_be_left_out(site: Path) -> None:
    done = ran(site, "-m", "shardwright", "run", PROGRAM, **{VARIABLE: ""})
    assert (done.returncode, "SW0203" in done.stderr) == (1, True)
    done = ran(site, "-m", "shardwright", "run", PROGRAM, **{VARIABLE: "ram"})
    assert (done.returncode, "SW0733" in done.stderr, "did you mean 'ramp'?" in done.stderr) == (1, True, True)
    assert ran(site, "-m", "shardwright", "run", PROGRAM, **{VARIABLE: "ramp"}).returncode == 0


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("-m", "shardwright", "run", PROGRAM), 1, NAMED),
        pytest.param(("-c", "import shardwright.passes as p; p.all_passes()"), 1, NAMED, marks=pytest.mark.slow),
        pytest.param(("-m", "shardwright", "doctor"), 1, "!!  plugins", marks=pytest.mark.slow),
    ],
)
def test_a_package_that_fails_is_named(arguments: tuple[str, ...], code: int, said: str, tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("import a_package_that_there_is_not\n")
    information = tmp_path / "broken-1.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1\n")
    (information / "entry_points.txt").write_text(f"[{GROUP}]\nbad = broken\n")
    done = ran(tmp_path, *arguments)
    assert (done.returncode, said in done.stdout + done.stderr) == (code, True)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("shardwright", "run", PROGRAM, "--check"), "ok: 1 results against the unsharded run"),
        pytest.param(("shardwright.tools.opt", PROGRAM, "-p", "count-ops"), COUNTED, marks=pytest.mark.slow),
    ],
)
def test_a_file_is_loaded(arguments: tuple[str, ...], said: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(f"import sys\nsys.path.insert(0, {str(PLUGIN / 'src')!r})\nimport shardwright_ramp\n")
    done = ran(tmp_path, "-m", *arguments, "--load", str(file))
    assert said in done.stdout, done.stderr


def test_what_the_example_adds_works() -> None:
    done = ran(PLUGIN / "src", "-c", BEHAVES)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("text", "name", "said"),
    [
        ("x = 1\n1 / 0\n", "wrong.py", "wrong.py:2:1: error[SW0732]: the plugin"),
        ("def f(:\n", "wrong.py", "wrong.py:1:7: error[SW0732]: the plugin"),
        ("x = 1\n", "wrong.txt", "is no Python file"),
        (None, "absent.py", "error[SW0702]: cannot read"),
    ],
)
def test_a_file_that_fails(
    text: str | None, name: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if text is not None:
        (tmp_path / name).write_text(text)
    assert main(["run", PROGRAM, "--load", str(tmp_path / name)]) == 1
    assert said in capsys.readouterr().err


FAILS_LATER = """
from xdsl.passes import ModulePass

from shardwright.passes import add_pass


class FailingPass(ModulePass):
    name = "failing"

    def apply(self, ctx, op):
        raise RuntimeError("it does not like this program")


add_pass(FailingPass, after="insert-relayouts")
"""


def test_a_pass_that_fails_is_the_plugins_fault(tmp_path: Path) -> None:
    file = tmp_path / "failing.py"
    file.write_text(FAILS_LATER)
    done = ran(tmp_path, "-m", "shardwright", "run", PLAIN, "--load", str(file))
    said = f"{file}:11:9: error[SW0732]: the plugin '{file}' failed: RuntimeError: it does not like this program"
    assert (done.returncode, said in done.stderr) == (1, True), done.stderr


def test_a_file_may_be_called_as_a_module_of_ours(tmp_path: Path) -> None:
    file = tmp_path / "a" / "shardwright.py"
    file.parent.mkdir()
    file.write_text("from shardwright.passes import add_pass\n")
    done = ran(tmp_path, "-m", "shardwright", "run", PLAIN, "--load", str(file), "--check")
    assert "ok: 1 results against the unsharded run" in done.stdout, done.stderr


def test_nothing_takes_the_place_of_what_is_there() -> None:
    from shardwright.dialects import DTensor

    with pytest.raises(ShardwrightError, match=r"SW0732.*there is a dialect 'dtensor' already"):
        add_dialect(DTensor)
    with pytest.raises(ShardwrightError, match=r"SW0732.*there is a pass 'cse' already"):
        add_pass(all_passes()["cse"]())
    with pytest.raises(ShardwrightError, match=r"SW0732.*there is an engine 'jax' already"):
        add_engine("jax", None)  # pyright: ignore[reportArgumentType]


def test_a_pass_that_follows_one_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    stages: list[Attribute | None] = []

    class SeenPass(ModulePass):
        name = "seen"

        def apply(self, ctx: Context, op: ModuleOp) -> None:
            stages.append(op.attributes.get("dtensor.stage"))

    for added in ("_ADDED", "_FOLLOWING"):
        monkeypatch.setattr(passes, added, {})
    add_pass(SeenPass, after="insert-relayouts")
    sw.function(lambda x: x + 1)(sw.zeros(4, layout=sw.Layout(["x"], sw.Mesh(x=2))))
    assert set(stages) == {StringAttr("aligned")}


def test_a_file_is_named_by_its_fault() -> None:
    with pytest.raises(ShardwrightError, match="no such file"):
        load_file("/no/such/file.py")
    with pytest.raises(ShardwrightError, match=r"SW0702.*cannot read 'a+': File name too long"):
        load_file("a" * 400)
    assert sw.Mesh(x=2).owner is None


def test_a_file_that_ends_the_process_fails(tmp_path: Path) -> None:
    (tmp_path / "ending.py").write_text("import sys\n\nsys.exit(0)\n")
    with pytest.raises(ShardwrightError, match=r"ending.py:3:1: error\[SW0732\].*cannot be loaded: SystemExit: 0"):
        load_file(str(tmp_path / "ending.py"))


def test_xdsl_opt_knows_our_dialects_and_passes() -> None:
    program = """
    func.func public @main(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
      %0 = stablehlo.add %a, %a : tensor<4x8xf32>
      %1 = stablehlo.add %a, %a : tensor<4x8xf32>
      %2 = stablehlo.multiply %0, %1 : tensor<4x8xf32>
      return %2 : tensor<4x8xf32>
    }"""
    command = [sys.executable, "-m", "xdsl.tools.xdsl_opt", "-p", "shardwright-cse"]
    done = subprocess.run(command, input=program, capture_output=True, text=True, check=True)
    assert done.stdout.count("stablehlo.add") == 1
    assert "stablehlo.multiply %0, %0" in done.stdout
