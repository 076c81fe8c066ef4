"""
Mutants of programs from the command line: `python tests/mutated [NAME ...] [--planned 12] [--local 18]`.

Prints what became of the mutants of each kind, and each one that came out otherwise than it should.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
os.environ["SHARDWRIGHT_CACHE"] = ""  # nothing is remembered

from mutated.judging import HARMLESS, OUTCOMES, TYPES, VALUES, Judged, Program
from mutated.programs import PROGRAMS


def table(judged: Sequence[Judged]) -> str:
    """What became of the mutants, one line for each kind."""
    counts = Counter((one.mutant.kind, one.outcome) for one in judged)
    kinds = sorted({kind for kind, _ in counts})
    lines = ["| kind | mutants | " + " | ".join(OUTCOMES) + " |", "|---|" + "--:|" * (1 + len(OUTCOMES))]
    for kind in (*kinds, "all"):
        row = [sum(n for (k, o), n in counts.items() if kind in (k, "all") and o == outcome) for outcome in OUTCOMES]
        lines.append(f"| {kind} | {sum(row)} | " + " | ".join(map(str, row)) + " |")
    return "\n".join(lines)


def main() -> int:
    """Judges the mutants of the programs named, or of all."""
    parser = argparse.ArgumentParser(description="Single-edit mutants of planned and local programs.")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--planned", type=int, default=12, help="mutants of each planned program, at most")
    parser.add_argument("--local", type=int, default=18, help="mutants of each local program, at most")
    parser.add_argument("--print", action="store_true", help="print each mutant")
    options = parser.parse_args()
    judged: list[Judged] = []
    for path in PROGRAMS:
        if options.names and path.stem not in options.names:
            continue
        started, program = time.perf_counter(), Program.read(path)
        found = [program.judge(mutant) for mutant in program.mutants(options.planned, options.local)]
        judged += found
        print(f"{path.stem}: {len(found)} mutants, {time.perf_counter() - started:.1f} s", file=sys.stderr, flush=True)
        for one in found:
            if options.print or one.outcome not in (TYPES, VALUES, HARMLESS):
                print(f"{one.program}: {one.mutant.name}: {one.outcome}: {one.why}", flush=True)
    print(table(judged))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
