"""Which files are the package's, and which of them know which: read from the text, nothing is imported."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
ROOMS = (
    "diagnostics plugins networks layout dialects rules passes compiler runtime serialization proof engines views "
    "frontends saving tools"
).split()
"""The rooms of the house, lowest first."""

PACKAGE = "shardwright"


def package_files() -> dict[str, Path]:
    """The package's modules by their names, those that only build it left out."""
    paths = [path for path in ROOT.glob("*.py") if path.name != "setup.py"]
    paths += [path for room in ROOMS for path in sorted((ROOT / room).rglob("*.py"))]
    return {module_name(path): path for path in paths}


def module_name(path: Path) -> str:
    """
    The name under which a file is imported.

    >>> module_name(ROOT / "layout" / "mesh.py")
    'shardwright.layout.mesh'
    """
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join((PACKAGE, *(parts[:-1] if parts[-1] == "__init__" else parts)))


class Found(NamedTuple):
    """What tests ask of a file, of which no more is kept: the whole trees of all files take too much memory."""

    imports: list[ast.AST]
    functions: dict[str, int]


@cache
def found_in(path: Path) -> Found:
    """
    What imports in a file, and its functions.

    The first is at its top, in functions, for checkers only, or a call of `import_module`; the functions have their
    numbers of lines, decorators and docstrings left out.
    """
    found, kinds, text = Found([], {}), ast.Import | ast.ImportFrom | ast.Call, path.read_text()
    tree = ast.parse(text)
    for node in ast.walk(tree) if "import_module" in text else _statements(tree):
        if isinstance(node, kinds) and _imports(node):
            found.imports.append(node)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found.functions[f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"] = _length(node)
    return found


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """All statements in a node, those in functions and blocks included: a tenth of what there is in all."""
    for kind in ("body", "handlers", "orelse", "finalbody", "cases"):
        for inner in getattr(node, kind, ()):
            yield inner
            yield from _statements(inner)


def _length(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    first = node.body[1] if ast.get_docstring(node, clean=False) and len(node.body) > 1 else node.body[0]
    return (node.end_lineno or 0) - first.lineno + 1


def _imports(node: ast.Import | ast.ImportFrom | ast.Call) -> bool:
    return not isinstance(node, ast.Call) or (isinstance(node.func, ast.Name) and node.func.id == "import_module")


def imported_modules(path: Path, known: dict[str, Path]) -> set[str]:
    """The package's modules that a file names, also by `import_module`."""
    found = {name for node in found_in(path).imports for name in _named(node, known) if name in known}
    return found - {module_name(path)}


def _named(node: ast.AST, known: dict[str, Path]) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module is not None:
        for alias in node.names:  # a module of a package, or what the package itself has
            inner = f"{node.module}.{alias.name}"
            yield inner if inner in known else node.module
    elif isinstance(node, ast.Call):
        first = node.args[0] if node.args else None
        if isinstance(first, ast.Constant):
            yield str(first.value)
