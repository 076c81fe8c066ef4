"""What editors and checkers see: results have types, and each method of what users hold has a page of its own."""

from __future__ import annotations

import inspect
import json
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import shardwright as sw
from shardwright.compiler.stages import Compiled, Partitioned, Propagated, Traced
from shardwright.frontends.functions.function import Function

ROOT = Path(__file__).resolve().parents[3]
NAMESPACES = ["nn", "linalg", "fft", "random", "metrics", "optimizers", "distribute", "jax", "dtensor"]
HELD = [sw.Array, sw.DTensor, sw.Variable, sw.Layout, sw.Mesh, Function, Traced, Propagated, Partitioned, Compiled]

REASONS = {
    "Compiled.__call__": "the tree of arrays that the traced function returned, whose form only it knows",
    "Compiled.run": "the tree of arrays that the traced function returned",
    "GradientTape.gradient": "a tree shaped like the sources; overloads say it for arrays, sequences and dicts",
    "LayoutMap.get": "a layout, or whatever default was given",
    "Reference.held": "of the implementation: a distributed tensor or a NumPy array, as it was given",
    "Variable.held": "of the implementation: a distributed tensor or a NumPy array, as it was given",
    "load": "whatever was saved: a tree, a module, a function, a stage",
}
"""What returns `Any`, and why."""


def methods(kind: type) -> Iterator[tuple[str, Any]]:
    """The public functions in a class and those of ours that it is derived from, with what they are called by."""
    for base in kind.__mro__:
        for name, value in vars(base).items() if base.__module__.startswith("shardwright") else ():
            function = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
            if inspect.isfunction(function) and (name == "__call__" or not name.startswith("_")):
                yield f"{base.__name__}.{name}", function


def public() -> dict[str, Any]:
    """All public functions and methods."""
    found = dict(pair for kind in HELD for pair in methods(kind))
    for space in [sw, *(getattr(sw, name) for name in NAMESPACES)]:
        for name in space.__all__:
            thing = getattr(space, name)
            if inspect.isclass(thing):
                found.update(methods(thing))
            elif inspect.isfunction(thing):
                found[name if space is sw else f"{space.__name__.rpartition('.')[2]}.{name}"] = inspect.unwrap(thing)
    return found


def test_what_returns_any_has_a_reason() -> None:
    returns = {name: function.__annotations__.get("return", "nothing said") for name, function in public().items()}
    assert len(returns) > 350
    assert {name for name, said in returns.items() if said in ("Any", Any, "nothing said")} == set(REASONS)


@pytest.mark.parametrize("kind", HELD, ids=lambda kind: kind.__name__)
def test_methods_have_examples(kind: type) -> None:
    documents = {name: inspect.getdoc(getattr(kind, name)) or "" for name in dir(kind) if not name.startswith("_")}
    without = [name for name, text in documents.items() if text.count("\n") < 1 or ">>>" not in text]
    assert sorted(set(without) - set(UNTOLD.get(kind.__name__, ()))) == []


UNTOLD = {
    kind.__name__: [*getattr(kind, "__dataclass_fields__", ()), "devices", "UNSHARDED", "name", "trainable"]
    for kind in HELD
}
"""Names that are fields, which have no text of their own."""

PROGRAM = """
import numpy
import shardwright as sw

rows = sw.Layout(["batch"], sw.Mesh(batch=4, model=2))


class Model(sw.Module):
    def __init__(self) -> None:
        self.w1 = sw.Variable(numpy.ones((8, 16), "float32"), layout=sw.Layout([None, "model"], rows.mesh))
        self.w2 = sw.Variable(numpy.ones((16, 2), "float32"))

    @sw.function
    def __call__(self, x: sw.Array) -> sw.Array:
        return sw.nn.relu(x @ self.w1) @ self.w2

    @sw.function(static=["times"])
    def scaled(self, x: sw.Array, times: int = 1) -> sw.Array:
        return sw.sum(self(x) * times, axis=0)


model = Model()
optimizer = sw.optimizers.Adam(1e-3)


@sw.function
def step(x: sw.Array, y: sw.Array) -> sw.Array:
    with sw.GradientTape() as tape:
        loss = sw.mean((model(x) - y) ** 2)
    variables = model.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return loss


def loss_of(params: dict[str, sw.Array], x: sw.Array) -> sw.Array:
    return sw.sum(x @ params["w"])


x = sw.relayout(numpy.ones((16, 8), "float32"), rows)
y = sw.zeros((16, 2), layout=rows)
print([float(step(x, y)) for _ in range(3)])
gradient: dict[str, sw.Array] = sw.grad(loss_of)({"w": sw.ones((8, 4), layout=sw.Layout([], rows.mesh))}, x)
layout: sw.Layout = (x @ x.T).layout
mesh: sw.Mesh = x.mesh
shape: tuple[int, ...] = sw.nn.softmax(1 - x).shape
kind: "numpy.dtype[numpy.float32]" = x.numpy().dtype
held: sw.Array = model.w1.value[0, 1:, None]
scaled: sw.Array = model.scaled(x, times=2)
larger: sw.Array = sw.cond(sw.sum(x) > 1, lambda a: a + 1, lambda a: a, x)
doubled: sw.Array = sw.while_loop(lambda a: sw.sum(a) < 200, lambda a: a * 2, x)
q, r = sw.linalg.qr(sw.eye(3))
"""

MISTAKES = {
    "y.reshpae((4, 8))": 'Cannot access attribute "reshpae" for class "Array"',
    "model.scaled(x, times='2')": '"Literal[\'2\']" is not assignable to "int"',
    "step(x)": 'Argument missing for parameter "y"',
    "x.layout.meshes": 'Cannot access attribute "meshes" for class "Layout"',
    "sw.summ(x)": '"summ" is not a known attribute of module "shardwright"',
}
"""A last line of the program, and what is said of it."""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an environment, in which the package lies as its wheel would install it."""
    place = tmp_path_factory.mktemp("installed")
    shutil.copytree(ROOT, place / "source", ignore=shutil.ignore_patterns(".*", "build", "tests", "*.egg-info"))
    wheel = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", place]
    subprocess.run([*wheel, place / "source"], check=True, timeout=300)
    venv.create(place / "environment")
    (site,) = (place / "environment").glob("lib/python*/site-packages")
    (path,) = place.glob("*.whl")
    zipfile.ZipFile(path).extractall(site)
    (site / "others.pth").write_text(sysconfig.get_path("purelib"))
    return place


def namespaces() -> list[str]:
    """The names of the public modules."""
    return [name for name in sw.__all__ if isinstance(getattr(sw, name), ModuleType)]


def every_name() -> Iterator[str]:
    """A line of a program for each public name, those of public modules too."""
    modules = [("sw", sw), *((f"shardwright.{name}", getattr(sw, name)) for name in namespaces())]
    for path, module in modules:
        for name in module.__all__:
            yield f"{path}.{name}"
            if isinstance(found := getattr(module, name), ModuleType):
                modules.append((f"{path}.{name}", found))


@pytest.mark.parametrize("name", namespaces())
def test_a_namespace_is_imported_by_its_name(name: str) -> None:
    """In a process that has loaded nothing else; and it is one module, whichever way it is found."""
    lines = [
        "import sys",
        f"import shardwright.{name}",
        f"light = 'shardwright._public' not in sys.modules or {name!r} == 'dtensor'",
        f"assert light and not hasattr(sys.modules['shardwright.{name}'], '__wrapped__')",
        f"from shardwright.{name} import *",
        f"from shardwright.{name} import {getattr(sw, name).__all__[0]} as first",
        "from importlib import import_module",
        f"import shardwright as sw, shardwright.{name} as found",
        f"assert found is sw.{name} is shardwright.{name} is import_module('shardwright.{name}')",
        "assert all(globals()[each] is getattr(found, each) for each in found.__all__)",
        "assert first is getattr(found, found.__all__[0])",
    ]
    subprocess.run([sys.executable, "-c", "\n".join(lines)], check=True)


def test_a_namespace_has_no_other_names() -> None:
    with pytest.raises(ImportError, match="cannot import name 'inverse'"):
        exec("from shardwright.linalg import inverse")
    with pytest.raises(ModuleNotFoundError, match="No module named"):
        import_module("shardwright.linear")


@pytest.mark.slow
def test_a_program_on_the_wheel_is_checked_strictly(installed: Path) -> None:
    checker = shutil.which("pyright", path=Path(sys.executable).parent)
    if checker is None:
        pytest.skip("pyright is not installed")
    (installed / "program.py").write_text(PROGRAM)
    for number, line in enumerate(MISTAKES):
        (installed / f"mistake{number}.py").write_text(f"{PROGRAM}\n{line}\n")
    lines = ["import shardwright as sw", *(f"import shardwright.{name}" for name in namespaces()), *every_name()]
    (installed / "names.py").write_text("\n".join(lines))
    settings = {
        "typeCheckingMode": "strict",
        "include": ["*.py"],
        "reportUnusedExpression": False,
        "reportUnusedImport": False,
    }
    (installed / "pyrightconfig.json").write_text(json.dumps(settings))
    command = [checker, "--pythonpath", installed / "environment/bin/python", "--outputjson"]
    ran = subprocess.run(command, cwd=installed, capture_output=True, text=True, timeout=300)
    found: dict[str, list[str]] = {}
    for fault in json.loads(ran.stdout)["generalDiagnostics"]:
        # What follows of an attribute that there is not; and `shardwright.random` is a stub.
        if fault["rule"] not in ("reportUnknownMemberType", "reportMissingModuleSource"):
            found.setdefault(Path(fault["file"]).name, []).append(fault["message"])
    assert sorted(found) == [f"mistake{number}.py" for number in range(len(MISTAKES))]
    for number, says in enumerate(MISTAKES.values()):
        (message,) = found[f"mistake{number}.py"]
        assert re.search(re.escape(says), message)


def test_the_program_runs(capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(PROGRAM, "program.py", "exec"), {"__name__": "program"})
    first, *_, last = json.loads(capsys.readouterr().out)
    assert first == 128.0**2  # each element is the sum of 16 sums of 8 ones
    assert last < first
