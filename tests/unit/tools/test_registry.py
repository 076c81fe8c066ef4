"""Every code in the tree is registered, every registered code is used, and the index is in step."""

from __future__ import annotations

import re
from pathlib import Path

from rooms import ROOMS

from shardwright.diagnostics.registry import AREAS, CODE_PATTERN, ENTRIES

ROOT = Path(__file__).resolve().parents[3]
RETIRED = {code for code, entry in ENTRIES.items() if entry.explanation.startswith("No longer raised")}
"""Codes that stay on the page of errors, as docs/compatibility.md says."""

CODE_LITERAL = re.compile(r"[\"'](SW\d{4})[\"']")


def used_codes() -> dict[str, str]:
    """Each code that the code base can report, with a file that does."""
    files = [path for room in ROOMS for path in (ROOT / room).rglob("*.py")]
    return {
        code: str(path.relative_to(ROOT))
        for path in files
        if path.exists()
        for code in CODE_LITERAL.findall(path.read_text(encoding="utf-8"))
    }


def test_every_code_in_the_code_base_is_registered() -> None:
    missing = {code: path for code, path in used_codes().items() if code not in ENTRIES}
    assert not missing, f"register these in diagnostics/registry.py: {missing}"


def test_every_registered_code_has_a_test() -> None:
    tests = (path for path in (ROOT / "tests").rglob("*") if path.suffix in (".py", ".mlir"))
    tested = {code for path in tests for code in CODE_PATTERN.findall(path.read_text(encoding="utf-8"))}
    untested = sorted(set(ENTRIES) - RETIRED - tested)
    assert not untested, f"no test names these codes; tests/lit/diagnostics has one file for each text: {untested}"


def test_every_registered_code_is_used() -> None:
    assert not RETIRED & set(used_codes())
    unused = sorted(set(ENTRIES) - RETIRED - set(used_codes()))
    assert not unused, f"nothing reports these codes: {unused}"


def test_entries_are_whole_sentences_in_a_known_area() -> None:
    for code, entry in ENTRIES.items():
        assert code[:4] in AREAS, code
        assert entry.title, code
        assert not entry.title.endswith("."), code
        assert entry.explanation.endswith("."), code
        assert entry.help, code
        assert not entry.help.endswith("."), code
