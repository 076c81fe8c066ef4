"""
Which tests reach which lines: recorded once, kept in `.mutants/`, and taken anew for the test files that changed.

Lines are counted as reached by a test also when what they compute was remembered from an earlier one: caches are
emptied before each test.
"""

from __future__ import annotations

import functools
import gc
import hashlib
import json
import os
import sys
import time
from collections.abc import Generator, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

ON_IMPORT = "on import"
CODE = ("compiler", "diagnostics", "dialects", "engines", "frontends", "layout", "passes", "rules", "runtime")
"""The rooms whose change makes a record stale."""


@dataclass
class Reach:
    """The processor seconds of each test that passes, and the tests that reach each line, by file."""

    seconds: dict[str, float] = field(default_factory=dict[str, float])
    lines: dict[str, dict[int, list[str]]] = field(default_factory=dict[str, dict[int, list[str]]])

    def of(self, file: str, line: int) -> list[str]:
        """The tests that reach a line."""
        return [test for test in self.lines.get(file, {}).get(line, ()) if test != ON_IMPORT]

    def of_file(self, file: str) -> list[str]:
        """The tests that reach anything in a file."""
        tests = (test for found in self.lines.get(file, {}).values() for test in found if test != ON_IMPORT)
        return list(dict.fromkeys(tests))

    def runs_on_import(self, file: str, line: int) -> bool:
        """Whether a line runs when modules are imported and tests are collected."""
        return ON_IMPORT in self.lines.get(file, {}).get(line, ())


def reached(root: Path, rooms: Iterable[str], tests: Iterable[str], *, keep: bool) -> Reach:
    """The record of all tests below `tests`; what is there already is taken as it is where its files are the same."""
    folder = root / ".mutants"
    folder.mkdir(exist_ok=True)
    code = _digest(root, [path for room in CODE for path in (root / room).rglob("*.py")])
    files = [path for place in tests for path in _test_files(root / place)]
    support = _digest(root, [*(root / "tests").rglob("conftest.py"), *(root / "tests/support").rglob("*.py")])
    whole = Reach()
    for path in files:
        kept = folder / f"{'-'.join(path.relative_to(root).with_suffix('').parts)}.json"
        key = [_digest(root, [path]), code, support]
        known = json.loads(kept.read_text())["key"] if kept.exists() else []
        if known[:1] != key[:1] or (known != key and not keep):
            print(f"recording {path.relative_to(root)}", file=sys.stderr, flush=True)
            _in_child(root, tuple(rooms), path, kept, key)
        found = json.loads(kept.read_text())
        whole.seconds |= found["seconds"]
        for file, lines in found["lines"].items():
            mine = whole.lines.setdefault(file, {})
            for line, names in lines.items():
                mine.setdefault(int(line), []).extend(names)
    return whole


def _test_files(place: Path) -> list[Path]:
    """Files of Python tests; a folder of text tests counts as one file."""
    if place.is_file():
        return [place]
    folders = sorted({path.parent for path in place.rglob("*.mlir") if path.parent.name != "Inputs"})
    return sorted(place.rglob("test_*.py")) + (folders if "lit" in place.parts else [])


def _digest(root: Path, paths: Iterable[Path]) -> str:
    found = hashlib.sha256()
    for place in paths:
        for path in [place] if place.is_file() else sorted(place.rglob("*.mlir")):
            found.update(str(path.relative_to(root)).encode() + path.read_bytes())
    return found.hexdigest()[:16]


OPTIONS = ("-q", "-p", "no:cacheprovider", "-m", "not slow and not peers")
"""Which tests look for mutants, and how they are run: the default suite, and the further cases of its tests."""


def _in_child(root: Path, rooms: tuple[str, ...], path: Path, kept: Path, key: list[str]) -> None:
    child = os.fork()
    if child == 0:
        _silence()
        recorder = Recorder(root, rooms)
        sys.settrace(recorder.called)
        pytest.main([*OPTIONS, str(path)], plugins=[recorder])
        sys.settrace(None)
        kept.write_text(json.dumps({"key": key, "seconds": recorder.seconds, "lines": recorder.lines()}))
        os._exit(0)
    os.waitpid(child, 0)


def _silence() -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)


class Recorder:
    """A plugin of pytest that writes down what each test reaches."""

    def __init__(self, root: Path, rooms: tuple[str, ...]):
        self.prefixes = tuple(f"{root}/{extra}{room}/" for room in rooms for extra in ("", ".typing/shardwright/"))
        self.root = root
        self.seen: set[tuple[str, int]] = set()
        self.reach: dict[tuple[str, int], list[str]] = {}
        self.seconds: dict[str, float] = {}
        self.failed = False
        self.caches: list[Any] = []

    def called(self, frame: FrameType, event: str, argument: object) -> Any:
        """The trace function of calls: looks into those in the rooms only."""
        return self._stepped if frame.f_code.co_filename.startswith(self.prefixes) else None

    def _stepped(self, frame: FrameType, event: str, argument: object) -> Any:
        self.seen.add((frame.f_code.co_filename, frame.f_lineno))
        return self._stepped

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """What collecting reached is there before any test."""
        self._take(ON_IMPORT)
        self.caches = caches()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None]:
        """Records one test; a test that fails or is skipped judges nobody."""
        for cache in self.caches:
            cache.cache_clear()
        self.failed, start = False, time.process_time()
        self.seen.clear()
        sys.settrace(self.called)
        yield
        if not self.failed:
            self.seconds[item.nodeid] = round(time.process_time() - start, 4)
            self._take(item.nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Whether the test passed."""
        self.failed = self.failed or not report.passed

    def _take(self, test: str) -> None:
        for place in self.seen:
            self.reach.setdefault(place, []).append(test)

    def lines(self) -> dict[str, dict[int, list[str]]]:
        """The tests by file, below the root, and line."""
        found: dict[str, dict[int, list[str]]] = {}
        for (name, line), tests in self.reach.items():
            file = str(Path(name).resolve().relative_to(self.root))
            found.setdefault(file, {})[line] = tests
        return found


def caches() -> list[Any]:
    """Everything that our functions remember."""
    gc.unfreeze()
    remembering = [each for each in gc.get_objects() if isinstance(each, functools._lru_cache_wrapper)]
    gc.freeze()
    return [each for each in remembering if (each.__module__ or "").startswith("shardwright.")]
