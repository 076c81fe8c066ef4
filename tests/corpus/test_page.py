"""`docs/corpus.md` lists every program of the corpus, under its library, and no other."""

from __future__ import annotations

import re
from pathlib import Path

from corpus.catalogue import LIBRARIES, programs

PAGE = Path(__file__).resolve().parents[2] / "docs" / "corpus.md"


def test_the_page_lists_the_programs() -> None:
    rows = re.findall(r"(?m)^\| ([\w.]+) \| `(\w+)` \|", PAGE.read_text())
    assert rows == [(LIBRARIES[module], name) for module, name in programs(*LIBRARIES)]


def test_every_module_has_programs_and_every_library_is_installed_by_the_extra() -> None:
    folder = Path(__file__).parent / "libraries"
    assert {path.stem for path in folder.glob("*.py")} - {"__init__"} == set(LIBRARIES)
    assert {module for module, _ in programs(*LIBRARIES)} == set(LIBRARIES)
    assert len(programs(*LIBRARIES)) >= 25
    extra = re.search(r"(?s)\ncorpus = \[(.*?)\n\]", (PAGE.parents[1] / "pyproject.toml").read_text())
    assert extra is not None
    wanted = {library.partition(".")[0] for library in LIBRARIES.values()}
    assert {name for name in wanted if name not in extra[1]} == set()
