"""
Trials: each mutant in a child process of its own, against the tests that reach it, until one fails.

Nothing is written to the tree. The code of a mutated function takes the place of the old one in a process that has
imported and collected everything before it was forked; what runs on import is imported anew from the mutated text.
"""

from __future__ import annotations

import gc
import importlib
import importlib.machinery
import json
import os
import resource
import signal
import sys
import tempfile
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FunctionType

import pytest

from mutants.edits import Mutant, mutated, source
from mutants.reached import OPTIONS, Reach, _silence, caches

KILLED, TIMED_OUT, SURVIVED, UNREACHED = "killed", "timed out", "survived", "no test"
SLOWER, AT_LEAST = 10.0, 2.0
"""A test may take so many times its processor seconds, and so many seconds more; then it counts as failed."""
MOST_MEMORY = 12 << 30


@dataclass(frozen=True)
class Verdict:
    """What became of a mutant, and the test that killed it."""

    mutant: Mutant
    state: str
    by: str = ""


class Judge:
    """Chooses the tests of each mutant and runs the trials, so many at a time."""

    def __init__(self, root: Path, reach: Reach, *, workers: int, budget: float):
        self.root, self.reach, self.workers, self.budget = root, reach, workers, budget
        self.folder = Path(tempfile.mkdtemp(prefix="shardwright-mutants-"))

    def judge(self, mutants: Sequence[Mutant], told: Callable[[Verdict], None]) -> None:
        """All verdicts, each `told` as soon as it is there."""
        warm = [each for each in mutants if each.function and self.tests(each)]
        cold = [each for each in mutants if not each.function and self.tests(each)]
        for each in mutants:
            if not self.tests(each):
                told(Verdict(each, UNREACHED))

        def settled(verdict: Verdict) -> None:
            """Survivors that have a part in importing are tried again with a new import."""
            mutant = verdict.mutant
            if verdict.state == SURVIVED and self.reach.runs_on_import(mutant.file, mutant.line):
                cold.append(mutant)
            else:
                told(verdict)

        if warm:
            self._warm(warm, settled)
        self._all(cold, self._cold, told)

    def tests(self, mutant: Mutant) -> list[str]:
        """
        The tests that reach a mutant, the quick ones of each file first, as many as the budget allows.

        Many quick tests of one file are alike: files take turns by the time that their tests have taken so far.
        """
        found = self.reach.of(mutant.file, mutant.line) if mutant.function else []
        found = found or (self.reach.of_file(mutant.file) if self._imported(mutant) else [])
        spent: dict[str, float] = {}
        ranked: list[tuple[float, str]] = []
        for test in sorted(found, key=lambda test: (self.reach.seconds[test], test)):
            file = test.partition("::")[0]
            spent[file] = spent.get(file, 0.0) + self.reach.seconds[test]
            ranked.append((spent[file], test))
        chosen: list[str] = []
        total = 0.0
        for _, test in sorted(ranked):
            total += self.reach.seconds[test]
            if chosen and total > self.budget:
                break
            chosen.append(test)
        return chosen

    def _imported(self, mutant: Mutant) -> bool:
        return not mutant.function or self.reach.runs_on_import(mutant.file, mutant.line)

    def _all(self, mutants: Sequence[Mutant], run: Callable[[Mutant], str], told: Callable[[Verdict], None]) -> None:
        """Forks a child for each mutant; a child writes the name of the test that failed, if any."""
        waiting, running = deque(mutants), dict[int, Mutant]()
        while waiting or running:
            while waiting and len(running) < self.workers:
                mutant = waiting.popleft()
                sys.stdout.flush()
                child = os.fork()
                if child == 0:
                    self._child(mutant, run)
                running[child] = mutant
            child, status = os.wait()
            told(self._verdict(running.pop(child), status))

    def _child(self, mutant: Mutant, run: Callable[[Mutant], str]) -> None:
        _silence()
        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
        try:
            failed = run(mutant)
        except BaseException:
            failed = f"error: {traceback.format_exc()}"
        self._note(mutant).write_text(failed)
        os._exit(0)

    def _note(self, mutant: Mutant) -> Path:
        return self.folder / f"{mutant.file.replace('/', '-')}-{mutant.number}"

    def _verdict(self, mutant: Mutant, status: int) -> Verdict:
        if os.WIFSIGNALED(status):
            return Verdict(mutant, TIMED_OUT, signal.Signals(os.WTERMSIG(status)).name)
        note = self._note(mutant)
        failed = note.read_text() if note.exists() else "error: the process ended"
        return Verdict(mutant, KILLED if failed else SURVIVED, failed)

    def _warm(self, mutants: Sequence[Mutant], told: Callable[[Verdict], None]) -> None:
        """In a child that has collected all tests: a grandchild for each mutant."""
        files = sorted({test.partition("::")[0] for mutant in mutants for test in self.tests(mutant)})
        results = self.folder / "verdicts"
        child = os.fork()
        if child == 0:
            code = 1
            _silence()
            try:
                with results.open("w") as out:
                    code = pytest.main([*OPTIONS, *files], plugins=[_Warm(self, mutants, out)])
            finally:
                os._exit(code)
        by_key = {(mutant.file, mutant.number): mutant for mutant in mutants}
        for file, number, state, by in _followed(results, child):
            told(Verdict(by_key[file, number], state, by))

    def _cold(self, mutant: Mutant) -> str:
        """The tests of one mutant in a process that has imported nothing of ours yet."""
        _import_instead(self.root, mutant)
        tests = self.tests(mutant)
        selected = _Cold(tests, self.reach)
        code = pytest.main([*OPTIONS, *sorted({test.partition("::")[0] for test in tests})], plugins=[selected])
        return selected.failed or ("" if code == 0 else f"exit code {code}")


def _followed(path: Path, child: int) -> Iterator[tuple[str, int, str, str]]:
    """The lines that a child writes, as they come; ends with the child."""
    import time

    position, over = 0, False
    while not over:
        over = os.waitpid(child, os.WNOHANG)[0] != 0
        if path.exists():
            with path.open() as lines:
                lines.seek(position)
                for line in iter(lines.readline, ""):
                    if line.endswith("\n"):
                        position = lines.tell()
                        yield tuple(json.loads(line))
        time.sleep(0 if over else 0.5)


class _Warm:
    """A plugin that runs trials in place of tests."""

    def __init__(self, judge: Judge, mutants: Sequence[Mutant], out: object):
        self.judge, self.mutants, self.out = judge, mutants, out
        self.failed = ""
        self.items: dict[str, pytest.Item] = {}

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """One trial for each mutant."""
        self.items = {item.nodeid: item for item in session.items}
        # Some modules load on use: those that change must be there before.
        for file in sorted({mutant.file for mutant in self.mutants}):
            importlib.import_module("shardwright." + file.removesuffix(".py").replace("/", "."))
        self.caches, self.functions = caches(), _functions()
        self.judge._all(self.mutants, self._trial, self._told)
        return True

    def _told(self, verdict: Verdict) -> None:
        mutant = verdict.mutant
        self.out.write(json.dumps([mutant.file, mutant.number, verdict.state, verdict.by]) + "\n")  # type: ignore[attr-defined]
        self.out.flush()  # type: ignore[attr-defined]

    def _trial(self, mutant: Mutant) -> str:
        _exchange(self.judge.root, mutant, self.functions.get(mutant.file, []))
        for cache in self.caches:
            cache.cache_clear()
        items = [self.items[test] for test in self.judge.tests(mutant) if test in self.items]
        for item, after in zip(items, [*items[1:], None], strict=True):
            _limit(self.judge.reach.seconds[item.nodeid])
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
            if self.failed:
                break
        return self.failed

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """The first test that fails ends the trial."""
        if report.failed:
            self.failed = report.nodeid


class _Cold:
    """A plugin that runs chosen tests, in their order, until one fails."""

    def __init__(self, tests: Sequence[str], reach: Reach):
        self.tests, self.reach = tests, reach
        self.failed = ""

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A file that cannot be collected has noticed."""
        if report.failed:
            self.failed = report.nodeid

    def pytest_collection_modifyitems(self, session: pytest.Session, items: list[pytest.Item]) -> None:
        """Only the chosen tests; one that has gone missing has noticed too."""
        by_name = {item.nodeid: item for item in items}
        items[:] = [by_name[test] for test in self.tests if test in by_name]
        missing = [test for test in self.tests if test not in by_name]
        if missing:
            self.failed = self.failed or missing[0]

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Each test has its limit."""
        _limit(self.reach.seconds[item.nodeid])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """The first test that fails ends the trial."""
        if report.failed:
            self.failed = self.failed or report.nodeid
            pytest.exit("killed", 1)


def _limit(seconds: float) -> None:
    """Ends the process when the next test takes much longer than it did."""
    signal.setitimer(signal.ITIMER_PROF, seconds * SLOWER + AT_LEAST)
    signal.alarm(int(seconds * SLOWER * 10 + 60))


def _functions() -> dict[str, list[FunctionType]]:
    """All functions of ours by file."""
    found: dict[str, list[FunctionType]] = {}
    gc.unfreeze()
    for each in gc.get_objects():
        if isinstance(each, FunctionType) and (each.__module__ or "").startswith("shardwright."):
            name = each.__code__.co_filename.partition("/.typing/shardwright/")[2]
            found.setdefault(name, []).append(each)
    gc.freeze()
    return found


def _exchange(root: Path, mutant: Mutant, functions: Sequence[FunctionType]) -> None:
    """Gives the functions of a file the code of its mutant."""
    name = f"{root}/.typing/shardwright/{mutant.file}"
    before = list(_codes(compile(source(root / mutant.file), name, "exec", dont_inherit=True)))
    after = dict(_numbered(_codes(compile(mutated(root, mutant), name, "exec", dont_inherit=True))))
    changed = [(code, after[key]) for key, code in _numbered(before) if key in after and after[key] != code]
    for function in functions:
        for old, new in changed:
            if function.__code__ == old:
                function.__code__ = new
                break


def _codes(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _codes(constant)


def _numbered(codes: Sequence[CodeType] | Iterator[CodeType]) -> Iterator[tuple[tuple[str, int, int], CodeType]]:
    """Code objects by name and line; several of one name on one line in their order."""
    counts: dict[tuple[str, int], int] = {}
    for code in codes:
        key = code.co_qualname, code.co_firstlineno
        counts[key] = counts.get(key, -1) + 1
        yield (*key, counts[key]), code


def _import_instead(root: Path, mutant: Mutant) -> None:
    """From now on the file of a mutant is imported with its edit."""
    loader = importlib.machinery.SourceFileLoader
    usual = loader.get_code
    target = (root / mutant.file).resolve()

    def get_code(self: importlib.machinery.SourceFileLoader, name: str) -> CodeType | None:
        path = Path(self.get_filename(name))
        if path.resolve() != target:
            return usual(self, name)
        return compile(mutated(root, mutant), str(path), "exec", dont_inherit=True)

    loader.get_code = get_code  # type: ignore[method-assign]
