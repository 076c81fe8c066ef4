"""The recipes of CONTRIBUTING.md, each followed to the letter in a copy of the tree."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from rooms import ROOT

RECIPES = re.split(r"(?m)^### ", (ROOT / "CONTRIBUTING.md").read_text().partition("\n## Figures")[0])[1:]
BLOCK = re.compile(r"(?ms)^( *)```(?:python|text|mlir) (\S+) (below|above|at the end|new)(?: (.+?))?\n(.*?)^\1```")
COMMANDS = re.compile(r"(?ms)^```console\n(.*?)^```")


def title(recipe: str) -> str:
    """The recipe's heading."""
    return recipe.splitlines()[0]


def statement_end(text: str, line: int) -> int:
    """The last line of the statement of the module that begins on a line; of what is no statement the line itself."""
    ends = {node.lineno: node.end_lineno for node in ast.parse(text).body}
    return ends.get(line) or line


def put(tree: Path, name: str, place: str, anchor: str | None, block: str) -> None:
    """Puts a block into a file, where the recipe says."""
    path = tree / name
    if place == "new":
        assert not path.exists()
        path.write_text(block)
        return
    text = path.read_text()
    if place == "at the end":
        path.write_text(f"{text.rstrip()}\n\n\n{block}")
        return
    lines = text.splitlines(keepends=True)
    assert anchor is not None
    at = next(number for number, line in enumerate(lines, 1) if line.strip().startswith(anchor))
    after = statement_end(text, at) if place == "below" else at - 1
    path.write_text("".join([*lines[:after], block, *lines[after:]]))


def follow(recipe: str, tree: Path) -> None:
    """All blocks of a recipe, in order."""
    for indent, name, place, anchor, block in BLOCK.findall(recipe):
        put(tree, name, place, anchor or None, re.sub(rf"(?m)^{indent}", "", block))


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    """A copy of what git knows, or of all but caches where there is no git."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        hidden = shutil.ignore_patterns(".*", "__pycache__", "build")
        shutil.copytree(ROOT, tmp_path / "tree", ignore=hidden)
    for name in listed.stdout.split():
        if (ROOT / name).is_file() and not name.startswith("tests/data/"):
            target = tmp_path / "tree" / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, target)
    (tmp_path / "tree" / "tests" / "data").symlink_to(ROOT / "tests" / "data")
    packages = tmp_path / "packages"
    packages.mkdir()
    (packages / "shardwright").symlink_to(tmp_path / "tree")
    return tmp_path / "tree"


def run(command: str, tree: Path) -> None:
    """One command of a recipe, on the copy."""
    environment = os.environ | {"PYTHONPATH": str(tree.parent / "packages"), "PYTHONDONTWRITEBYTECODE": "1"}
    command = command.replace("make pages", "python -m shardwright.docs.generators")
    command = re.sub(r"\bpython\b", sys.executable, command)
    done = subprocess.run(command, shell=True, cwd=tree, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, f"$ {command}\n{done.stdout[-4000:]}\n{done.stderr[-2000:]}"


@pytest.mark.parametrize("recipe", RECIPES, ids=title)
def test_blocks_have_their_places(recipe: str, scratch: Path) -> None:
    """And the files that they are put into know all names."""
    follow(recipe, scratch)
    changed = sorted({name for _, name, *_ in BLOCK.findall(recipe) if name.endswith(".py")})
    run(f"python -m ruff check --select F821,E9 {' '.join(changed)}", scratch)


@pytest.mark.slow
@pytest.mark.parametrize("recipe", RECIPES, ids=title)
def test_recipe(recipe: str, scratch: Path) -> None:
    follow(recipe, scratch)
    commands = [line[2:] for block in COMMANDS.findall(recipe) for line in block.splitlines() if line.startswith("$ ")]
    assert commands
    for command in commands:
        run(command, scratch)


def test_a_pointwise_op_takes_five_places() -> None:
    """And a case; each of them is one block in one file."""
    files = [
        name for _, name, *_ in BLOCK.findall(next(recipe for recipe in RECIPES if "pointwise op" in title(recipe)))
    ]
    assert len({name for name in files if not name.startswith("tests/")}) <= 5
    assert len(files) <= 6
