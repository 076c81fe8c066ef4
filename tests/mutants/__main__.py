"""
Mutation testing from the command line: `python tests/mutants --rooms layout --sample 300 --seed 0`.

Prints each mutant that no test notices and that `docs/mutants.md` does not argue to be equivalent; then a table.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import shutil
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / ".typing"))

from mutants.edits import Mutant, mutants
from mutants.reached import reached
from mutants.trials import KILLED, SURVIVED, TIMED_OUT, UNREACHED, Judge, Verdict

ROOT = Path(__file__).resolve().parent.parent.parent
ROOMS = ("layout", "passes", "rules")
TESTS = (
    *(f"tests/unit/{room}" for room in ("layout", "passes", "rules", "gradients", "dialects", "compiler")),
    *(f"tests/unit/api/test_{name}.py" for name in ("distribute", "dtensor", "first_mistakes", "meshes")),
    "tests/unit/saving/test_directories_meshes.py",
    "tests/unit/test_docs.py",
    "tests/lit",
    "tests/property",
)
"""The tests that judge; those from end to end take long, and reach nothing that these do not."""
EQUIVALENT = "equivalent"


def main() -> int:
    """Plants, judges, reports; the exit code says whether something survived that nobody argued away."""
    options = _options()
    os.environ["TMPDIR"] = str(_scratch())
    os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = str(_scratch() / "hypothesis")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    _import_what_is_not_ours()
    os.chdir(ROOT)
    reach = reached(ROOT, ROOMS, options.tests or TESTS, keep=options.keep)
    chosen = _chosen(options)
    argued = _argued()
    verdicts: list[Verdict] = []
    start = time.time()

    def told(verdict: Verdict) -> None:
        equal = verdict.state in (SURVIVED, UNREACHED) and str(verdict.mutant) in argued
        verdicts.append(Verdict(verdict.mutant, EQUIVALENT, "") if equal else verdict)
        if options.verbose or (verdict.state in (SURVIVED, UNREACHED) and not equal):
            print(_line(verdict), flush=True)

    Judge(ROOT, reach, workers=options.workers, budget=options.budget).judge(chosen, told)
    print(_table(verdicts, time.time() - start))
    shutil.rmtree(_scratch(), ignore_errors=True)
    return int(any(verdict.state in (SURVIVED, UNREACHED) for verdict in verdicts))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Plants small mistakes in our code and looks which tests notice.")
    parser.add_argument("--rooms", default=",".join(ROOMS), help="folders or files, with commas between them")
    parser.add_argument("--sample", type=int, default=300, help="how many mutants; 0 for all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--budget", type=float, default=60.0, help="processor seconds of tests for each mutant")
    parser.add_argument("--tests", nargs="*", help="the test files that judge; without, all that may reach the rooms")
    parser.add_argument(
        "--keep", action="store_true", help="record only the test files that changed, not all when code did"
    )
    parser.add_argument("--lines", default="", help="only mutants whose text holds this")
    parser.add_argument("--again", type=Path, help="only the mutants that stand in this file, say an earlier output")
    parser.add_argument("--verbose", action="store_true", help="the mutants that were killed as well, and by what")
    return parser.parse_args()


def _scratch() -> Path:
    folder = Path(f"/tmp/shardwright-mutants-{os.getpid()}")
    folder.mkdir(exist_ok=True)
    return folder


def _import_what_is_not_ours() -> None:
    """Children share what is imported before they are forked."""
    import filecheck.matcher  # noqa: F401
    import hypothesis  # noqa: F401
    import ml_dtypes  # noqa: F401
    import networkx  # noqa: F401
    import numpy  # noqa: F401
    import pytest  # noqa: F401
    import xdsl.dialects.builtin
    import xdsl.dialects.func
    import xdsl.parser  # noqa: F401


def _chosen(options: argparse.Namespace) -> list[Mutant]:
    """A sample of all mutants in the rooms, the same for the same seed and code."""
    paths = [path for room in options.rooms.split(",") for path in sorted(_python_files(ROOT / room))]
    found = [each for path in paths for each in mutants(ROOT, str(path.relative_to(ROOT)))]
    found = [each for each in found if options.lines in f"{each.line} {each}"]
    if options.again is not None:
        text = options.again.read_text()
        found = [each for each in found if str(each) in text]
    if 0 < options.sample < len(found):
        found = random.Random(options.seed).sample(found, options.sample)
    return sorted(found, key=lambda each: (each.file, each.number))


def _python_files(place: Path) -> list[Path]:
    return [place] if place.is_file() else list(place.rglob("*.py"))


def _argued() -> frozenset[str]:
    """The mutants that the page argues to be equivalent."""
    page = ROOT / "docs" / "mutants.md"
    found = re.findall(r"(?m)^- (`.*?` `.*?`: `.*?` → `.*?`)", page.read_text() if page.exists() else "")
    return frozenset(found)


def _line(verdict: Verdict) -> str:
    by = f"  by {verdict.by.splitlines()[-1]}" if verdict.by else ""
    return f"{verdict.state}: {verdict.mutant.line}: {verdict.mutant}{by}"


def _table(verdicts: list[Verdict], seconds: float) -> str:
    """Counts by room; the share is of what is not equivalent."""
    lines = [f"{'room':24} mutants  killed  timed out  equivalent  survived  no test   share"]
    by_room: dict[str, Counter[str]] = {}
    for verdict in verdicts:
        for room in (str(Path(verdict.mutant.file).parent), "all"):
            by_room.setdefault(room, Counter())[verdict.state] += 1
    for room, count in sorted(by_room.items(), key=lambda item: (item[0] == "all", item[0])):
        dead, total = count[KILLED] + count[TIMED_OUT], count.total()
        share = 100 * dead / max(total - count[EQUIVALENT], 1)
        lines.append(
            f"{room:24} {total:7} {count[KILLED]:7} {count[TIMED_OUT]:10} {count[EQUIVALENT]:11} "
            f"{count[SURVIVED]:9} {count[UNREACHED]:8} {share:6.1f}%"
        )
    return "\n".join([*lines, f"{seconds:.0f} s"])


if __name__ == "__main__":
    sys.exit(main())
