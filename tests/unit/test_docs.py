"""Documents say what is so: their Python runs, their links lead somewhere, their commands exist."""

from __future__ import annotations

import doctest
import importlib
import re
from pathlib import Path
from typing import Any

import pytest
from rooms import ROOMS

from shardwright import passes
from shardwright.docs.generators.pages import PAGES as GENERATED
from shardwright.tools.main import COMMANDS, main

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").glob("*.md")])
NEEDS_JAX = ("benchmarks.export_programs", "benchmarks.models", "benchmarks.programs.")


def page_id(path: Path) -> str:
    """A page as pytest shows it."""
    return str(path.relative_to(ROOT))


def modules() -> list[str]:
    """Every module that can be imported without JAX and without running as a command."""
    paths = [path for room in (*ROOMS, "docs/generators", "benchmarks") for path in sorted((ROOT / room).rglob("*.py"))]
    names = [".".join(path.relative_to(ROOT).with_suffix("").parts) for path in [*ROOT.glob("*.py"), *paths]]
    names = [name.removesuffix(".__init__") for name in names if name != "__init__"]
    return [f"shardwright.{name}" for name in names if not name.startswith(NEEDS_JAX) and "__main__" not in name]


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_python_blocks_run(page: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """
    The blocks of a page are one program; it runs in the repository's root, as a reader's would.

    A block of text behind one of Python is what that prints. Nothing of it stays there.
    """
    monkeypatch.chdir(ROOT)
    before = set(ROOT.iterdir())
    for added in ("_ADDED", "_FOLLOWING"):
        monkeypatch.setattr(passes, added, {})
    namespace: dict[str, Any] = {"__name__": "page"}
    for block, printed in re.findall(r"(?ms)^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```)?", page.read_text()):
        capsys.readouterr()
        exec(compile(block, str(page), "exec"), namespace)
        assert not printed or capsys.readouterr().out.rstrip() == printed.rstrip()
    assert not [path for path in ROOT.iterdir() if path not in before and not path.name.startswith(".")]


@pytest.mark.parametrize("page", GENERATED, ids=page_id)
def test_generated_pages_are_current(page: Path) -> None:
    assert page.read_text() == GENERATED[page](), "write it with make pages"


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_links_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text())
    local = [target for target in targets if not re.match(r"[a-z]+:", target)]
    assert [target for target in local if not (page.parent / target).exists()] == []


def test_make_commands_exist() -> None:
    targets = set(re.findall(r"(?m)^([a-z-]+):", (ROOT / "Makefile").read_text()))
    for page in PAGES:
        assert set(re.findall(r"(?:`|\$ )make ([a-z-]+)", page.read_text())) <= targets, page


def test_shardwright_commands_exist() -> None:
    for page in PAGES:
        assert set(re.findall(r"\$ shardwright ([a-z]+)", page.read_text())) <= set(COMMANDS), page


def examples(name: str) -> list[doctest.DocTest]:
    """
    The docstrings of a module that have examples.

    Each run looks at the files of all lines that were ever quoted, so those without an example are left out.
    """
    return [found for found in doctest.DocTestFinder().find(importlib.import_module(name)) if found.examples]


def text_of(name: str) -> str:
    """The source of a module."""
    path = ROOT.joinpath(*name.split(".")[1:])
    return (path / "__init__.py" if path.is_dir() else path.with_suffix(".py")).read_text()


MODULES = modules()
SHOWN = [name for name in MODULES if ">>>" in text_of(name)]


@pytest.mark.parametrize("name", SHOWN)
def test_examples_in_docstrings_run(name: str) -> None:
    runner = doctest.DocTestRunner()
    for found in examples(name):
        runner.run(found)
    assert runner.failures == 0


def test_other_modules_can_be_imported_and_have_no_examples() -> None:
    assert [name for name in MODULES if name not in SHOWN and examples(name)] == []


def samples(page: Path) -> list[tuple[str, str]]:
    """The `shardwright` commands of a page that are shown with what they print."""
    blocks = re.findall(r"(?ms)^```console\n(.*?)^```", page.read_text())
    commands = [part for block in blocks for part in block.split("$ shardwright ")[1:]]
    pairs = [part.partition("\n") for part in commands]
    return [(command, printed) for command, _, printed in pairs if printed.strip()]


def lasting(text: str) -> list[str]:
    """The lines of `text` that hold anything, without what differs from machine to machine."""
    lines = [re.sub(r"(largest difference|time:).*", r"\1", line.rstrip()) for line in text.split("\n")]
    return [line for line in lines if line]


@pytest.mark.parametrize(("command", "printed"), samples(ROOT / "docs" / "commands.md"))
def test_samples_are_what_commands_print(
    command: str, printed: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    assert main(command.split()) == 0
    assert lasting(capsys.readouterr().out) == lasting(printed)
