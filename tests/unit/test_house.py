"""The house itself: rooms, sizes, names that lead somewhere. What a linter cannot say."""

from __future__ import annotations

import ast
import re
import statistics
import subprocess
import symtable
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import networkx
import pytest
from rooms import PACKAGE, ROOMS, ROOT, found_in, imported_modules, package_files

from shardwright.passes import all_passes
from shardwright.tools.main import COMMANDS

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())

MAX_FILE_LINES = 800
LONG_FUNCTION = 45
LONG_FUNCTIONS_SHARE = 0.03
MEDIAN_FUNCTION = 12
ON_A_SHELF = 13
"""The most files and folders side by side, the one that says what the folder is for included."""


def sources() -> list[Path]:
    """Every Python file of the package, its tests, examples and benchmarks that people wrote."""
    folders = (*ROOMS, "tests", "examples", "benchmarks")
    found = [*ROOT.glob("*.py"), *(path for folder in folders for path in sorted((ROOT / folder).rglob("*.py")))]
    return [path for path in found if not path.name.endswith("_pb2.py")]


def test_no_circle_of_imports() -> None:
    """Arrows run downwards for files as well, also for those in functions and those for checkers only."""
    files = package_files()
    graph = networkx.DiGraph((name, other) for name, path in files.items() for other in imported_modules(path, files))
    circles = [sorted(group) for group in networkx.strongly_connected_components(graph) if len(group) > 1]
    assert circles == []


def test_nothing_below_knows_the_package_itself() -> None:
    files = package_files()
    assert [name for name, path in files.items() if PACKAGE in imported_modules(path, files)] == []


def test_a_folder_reads_like_a_shelf() -> None:
    folders = {path.parent for name, path in package_files().items() if path.parent != ROOT}
    folders |= {folder.parent for folder in folders} - {ROOT}
    crowded = {
        str(folder.relative_to(ROOT)): len(items)
        for folder in folders
        if len(items := [item for item in folder.iterdir() if item.suffix == ".py" or (item / "__init__.py").exists()])
        > ON_A_SHELF
        and folder.name != "protos"  # generated, one for each schema
    }
    assert crowded == {}


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_names_what_is_public(room: str) -> None:
    assert re.search(r"(?m)^__all__\b", (ROOT / room / "__init__.py").read_text())


def test_files_are_short() -> None:
    long = {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in sources()}
    assert {name: lines for name, lines in long.items() if lines > MAX_FILE_LINES} == {}


def test_functions_are_short() -> None:
    files = [path for path in sources() if "tests" not in path.parts]
    lengths = {name: length for path in files for name, length in found_in(path).functions.items()}
    long = sorted((length, name) for name, length in lengths.items() if length > LONG_FUNCTION)
    assert statistics.median(lengths.values()) <= MEDIAN_FUNCTION
    assert len(long) <= LONG_FUNCTIONS_SHARE * len(lengths), long


def lost_names(table: symtable.SymbolTable) -> Iterator[str]:
    """What functions have from around them and a comprehension in them calls its own by the same name."""
    inside = list(table.get_children())
    if isinstance(table, symtable.Function):
        loops = [each for each in inside if each.get_name() in ("listcomp", "setcomp", "dictcomp")]
        own = {name.get_name() for each in loops for name in each.get_symbols() if name.is_local()}
        yield from own.intersection(table.get_frees())
    for each in inside:
        yield from lost_names(each)


def test_no_comprehension_takes_the_name_of_what_is_around() -> None:
    """Python 3.13.0 loses what a function inside uses then: "cannot access free variable"."""
    found = {str(path): [*lost_names(symtable.symtable(path.read_text(), str(path), "exec"))] for path in sources()}
    assert {path: names for path, names in found.items() if names} == {}
    text = "def f(one):\n def g():\n  some = [one for one in ()]\n  def h(): return one, some\n  return h\n return g"
    assert list(lost_names(symtable.symtable(text, "text", "exec"))) == ["one"]


def test_modules_say_what_they_are_for() -> None:
    assert [str(path) for path in sources() if not re.match(r"(#.*\n|\s)*(r?\"\"\"\s*\S|$)", path.read_text())] == []


def test_every_package_is_installed_and_layered() -> None:
    found = {
        ".".join(("shardwright", *path.parent.relative_to(ROOT).parts))
        for room in ROOMS
        for path in (ROOT / room).rglob("__init__.py")
    }
    assert set(PROJECT["tool"]["setuptools"]["packages"]) == found | {"shardwright"}
    layers = " ".join(PROJECT["tool"]["importlinter"]["contracts"][0]["layers"])
    assert set(re.findall(r"shardwright\.(\w+)", layers)) == set(ROOMS)


def test_every_file_beside_the_code_is_installed() -> None:
    data = PROJECT["tool"]["setuptools"]["package-data"]
    files = [path for room in ROOMS for path in (ROOT / room).rglob("*.*") if path.suffix != ".py"]
    files = [path for path in files if path.parent.name != "__pycache__"]
    packages = {path: ".".join(("shardwright", *path.parent.relative_to(ROOT).parts)) for path in files}
    assert [path for path in files if not any(path.match(each) for each in data.get(packages[path], ()))] == []


def test_every_folder_with_code_is_a_package() -> None:
    folders = {path.parent for room in ROOMS for path in (ROOT / room).rglob("*.py")}
    assert [str(folder) for folder in folders if not (folder / "__init__.py").exists()] == []


def imported(path: Path) -> set[str]:
    """The packages from elsewhere that a file imports, inside of functions too."""
    names: set[str] = set()
    for node in found_in(path).imports:
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.partition(".")[0])
    return names - sys.stdlib_module_names - {"shardwright"}


def test_every_import_is_a_declared_dependency() -> None:
    declared = {re.split(r"[^\w-]", line)[0].replace("-", "_") for line in PROJECT["project"]["dependencies"]}
    used = {name for room in ROOMS for path in (ROOT / room).rglob("*.py") for name in imported(path)}
    optional = {"cupy", "mpi4py", "jaxlib", "filecheck", "lit", "numba", "llvmlite", "google", "tensorstore"}
    assert used - optional == declared


@pytest.mark.parametrize("name", sorted(all_passes()))
def test_every_pass_has_its_module_and_its_lit_file(name: str) -> None:
    assert all_passes()[name]().name == name
    lit_file = ROOT / "tests" / "lit" / "passes" / f"{name.replace('-', '_')}.mlir"
    runs = [line for line in lit_file.read_text().splitlines() if "RUN:" in line]
    assert any(re.search(rf"\b{re.escape(name)}\b", line) for line in runs)


FIRST_STEPS = """
import gc, sys, shardwright as sw
sw.Mesh
print(gc.isenabled(), *sorted({getattr(module, "__name__", name) for name, module in sys.modules.items()}))
rows = sw.TensorSpec((8, 4), layout=sw.Layout(["x", None], sw.Mesh(x=2)))
sent = sw.function(lambda x: sw.sum(sw.tanh(x) @ x.T)).trace(rows).partition().predicted_bytes
print(sent > 0, *{"networkx", "scipy", "numba", "rich", "jax"} & set(sys.modules))
"""


@pytest.fixture(scope="module")
def first_steps() -> list[str]:
    """What a process says after its first name of `shardwright`, and after its first program."""
    done = subprocess.run([sys.executable, "-c", FIRST_STEPS], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def test_import_is_light(first_steps: list[str]) -> None:
    """Counted, not timed: what the first name of `shardwright` loads is what it costs."""
    collects, *names = first_steps[0].split()
    assert collects == "True"  # it is paused while we load
    loaded = set(names)
    heavy = {
        "rich",
        "networkx",
        "jax",
        "cupy",
        "hypothesis",
        "scipy",
        "numba",
        "google.protobuf",
        "xdsl.interpreters",
        "xdsl.universe",
    }
    assert loaded & heavy == set()
    own = {name for name in loaded if name.partition(".")[0] == PACKAGE}
    assert len(loaded - own) < 300
    assert len(own) < 225


def test_a_first_program_loads_no_more_than_it_needs(first_steps: list[str]) -> None:
    """A sixth of what a process takes until its first program has run went to networkx, which it does not need."""
    assert first_steps[1:] == ["True"]


HELPED = ["", *COMMANDS, "opt"]


def helped(*commands: str) -> tuple[str, set[str]]:
    """What a process says to whoever asks for help about these commands, and what it has loaded by then."""
    lines = ["import contextlib, runpy, sys"]
    for command in commands:
        module, arguments = ("shardwright.tools.opt", ()) if command == "opt" else ("shardwright", command.split())
        lines.append(f"sys.argv = ['x', *{arguments!r}, '--help']")
        lines.append("with contextlib.suppress(SystemExit):")
        lines.append(f"    runpy.run_module({module!r}, run_name='__main__')")
    lines.append(
        "print(*(name for name, each in sys.modules.items() if getattr(each, '__spec__', None)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, check=True)
    return done.stdout, set(done.stderr.split())


def test_help_loads_nothing_heavy() -> None:
    said, loaded = helped(*HELPED)
    assert said.count("usage: shardwright") == len(HELPED)
    assert loaded & {"numpy", "xdsl", "rich", "jinja2", "networkx", "google.protobuf"} == set()


@pytest.mark.every(5)
@pytest.mark.parametrize("command", HELPED)
def test_help_is_light(command: str) -> None:
    """Counted as well: nothing but the options is loaded to show them."""
    _, loaded = helped(command)
    assert len(loaded) < 300
    assert len([name for name in loaded if name.partition(".")[0] == PACKAGE]) < 60


@pytest.mark.parametrize("first", ["shardwright.dtensor", "shardwright.jax"])
def test_what_is_imported_first_needs_nothing_else(first: str) -> None:
    code = f"import {first} as found, numpy as np; t = found.relayout if hasattr(found, 'relayout') else found.jit; "
    code += "from shardwright.layout import Layout, Mesh; "
    code += "x = found.relayout(np.ones(2), Layout(['x'], Mesh(x=2))) if t.__name__ == 'relayout' else None; "
    code += "assert x is None or float(np.asarray(x @ x)) == 2"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_what_jax_does_not_promise_stands_in_two_files() -> None:
    private = re.compile(r"jax\._src|_mlir_libs|\b_lowering\b(?!\()")
    files = [path for path in sources() if path.relative_to(ROOT).parts[0] in ROOMS]
    found = {str(path.relative_to(ROOT)) for path in files if private.search(path.read_text())}
    assert found == {"compiler/reading/bytecode_child.py", "engines/jax/internals.py"}


def test_no_mark_of_unfinished_work() -> None:
    marks = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|X" + r"XX|HA" + r"CK)\b")
    assert [str(path) for path in sources() if marks.search(path.read_text())] == []


def test_a_release_has_one_version() -> None:
    """What is imported, the newest release in the changelog, and what people are asked to cite."""
    from shardwright import __version__

    released = re.findall(r"(?m)^## (\d+\.\d+\.\d+) - (\d{4}-\d\d-\d\d)$", (ROOT / "CHANGELOG.md").read_text())
    cited = dict(re.findall(r"(?m)^(version|date-released): (\S+)$", (ROOT / "CITATION.cff").read_text()))
    assert released[0] == (__version__, cited["date-released"])
    assert cited["version"] == __version__
