"""
Many random programs of every style on all cores: `make fuzz RUNS=1000`, or `python tests/whole/fuzz.py --runs 1000`.

A number stands for a program. Batches of numbers run in processes of their own, each under another hash seed; every
eighth program is compiled once more under a second one, and its texts must be the same. What fails is made smaller
and written into a folder.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))

from whole.reproducer import write_reproducer
from whole.run_one import Record, digests, records
from whole.verdict import CRASHED, REFUSALS, REFUSED, RIGHT, WRONG

BATCH = 100
"""The most programs that one process runs."""

SECOND = 8
"""Every so many-th program is compiled under two hash seeds."""

WRITTEN = 10
"""The most failures that are made smaller and written down."""


@dataclass
class Tally:
    """What was seen so far."""

    started: float = field(default_factory=time.monotonic)
    styles: Counter[str] = field(default_factory=Counter[str])
    states: Counter[str] = field(default_factory=Counter[str])
    refusals: Counter[str] = field(default_factory=Counter[str])
    devices: Counter[int] = field(default_factory=Counter[int])
    ops: Counter[str] = field(default_factory=Counter[str])
    twice: int = 0
    failures: list[Record] = field(default_factory=list[Record])

    @property
    def runs(self) -> int:
        """Programs that ran."""
        return self.states.total()

    def take(self, record: Record) -> None:
        """Count a program."""
        self.styles[record.style] += 1
        self.states[record.state] += 1
        self.devices[record.devices] += 1
        self.ops.update(record.ops)
        if record.state == REFUSED:
            self.refusals[record.detail.partition("error[")[2][:6]] += 1
        elif record.state != RIGHT:
            self.failures.append(record)
            print(f"{record.style} {record.seed}: {record.state} {record.detail}", flush=True)

    def line(self) -> str:
        """Where it stands."""
        rest = ", ".join(f"{self.states[state]} {state}" for state in (WRONG, CRASHED, REFUSED))
        return f"{self.runs} runs, {rest}, {time.monotonic() - self.started:.0f} s"

    def table(self) -> str:
        """All counts."""
        by_style = ", ".join(f"{name} {count}" for name, count in sorted(self.styles.items()))
        by_devices = ", ".join(f"{count} on {size}" for size, count in sorted(self.devices.items()))
        seldom = ", ".join(f"{name} {count}" for name, count in sorted(self.ops.items(), key=lambda item: item[1])[:5])
        refused = "".join(f"\n  {code} {n}: {REFUSALS.get(code, '')}" for code, n in sorted(self.refusals.items()))
        return "\n".join(
            (
                f"runs             {self.runs}",
                f"wrong            {self.states[WRONG]}",
                f"internal errors  {self.states[CRASHED]}",
                f"refused          {self.states[REFUSED]}{refused}",
                f"two hash seeds   {self.twice}",
                f"styles           {by_style}",
                f"op kinds         {len(self.ops)}; the rarest: {seldom}",
                f"devices          {by_devices}",
                f"seconds          {time.monotonic() - self.started:.0f}",
            )
        )


def process(arguments: Sequence[str], hash_seed: int) -> tuple[list[dict[str, Any]], str]:
    """The lines that a process of this script prints, and how it ended, if not well."""
    command = [sys.executable, str(Path(__file__).resolve()), *arguments]
    environment = {**os.environ, "PYTHONHASHSEED": str(hash_seed), "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    ran = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    lines = [json.loads(line) for line in ran.stdout.splitlines() if line.startswith("{")]
    return lines, "" if ran.returncode == 0 else f"exit {ran.returncode}: {ran.stderr.strip()[-300:]}"


def batch(first: int, count: int, styles: str) -> tuple[list[Record], int]:
    """The records of a batch, and how many programs were compiled under two hash seeds."""
    found: list[Record] = []
    at = first
    while at < first + count:
        lines, ended = process(["--batch", str(at), str(first + count - at), "--styles", styles], first % 1000)
        found += [Record(**line) for line in lines]
        at += len(lines)
        if ended:  # the process itself died of a program
            found.append(Record(at, "?", CRASHED, f"the process ended with {ended}", 0, [], ""))
            at += 1
    again, _ = process(["--digests", str(first), str(count), "--styles", styles], first % 1000 + 1)
    other = {line["seed"]: line["digest"] for line in again}
    for record in found:
        if record.digest and record.digest != other.get(record.seed, record.digest):
            record.state, record.detail = WRONG, "text differs under another hash seed"
    return found, len(other)


def fuzz(options: argparse.Namespace) -> Tally:
    """Run batches until there were enough, or time is up."""
    tally, reported = Tally(), time.monotonic()
    ends = time.monotonic() + options.seconds if options.seconds else float("inf")
    most = BATCH // 2 if options.seconds else BATCH
    spans = _spans(options.seed, options.runs, min(most, -(-options.runs // options.workers)))
    with ThreadPoolExecutor(options.workers) as pool:
        waiting: set[Future[tuple[list[Record], int]]] = set()
        while True:
            while len(waiting) < options.workers and time.monotonic() < ends and (span := next(spans, None)):
                waiting.add(pool.submit(batch, *span, options.styles))
            if not waiting:
                return tally
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            for one in done:
                found, twice = one.result()
                tally.twice += twice
                for record in found:
                    tally.take(record)
            if time.monotonic() - reported > 20:
                reported = time.monotonic()
                print(tally.line(), file=sys.stderr, flush=True)


def _spans(first: int, runs: int, size: int) -> Iterator[tuple[int, int]]:
    for start in range(first, first + runs, size):
        yield start, min(size, first + runs - start)


def main() -> int:
    """Fuzz; or be one of the processes that do the work."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=0, help="stop beginning batches after so long")
    parser.add_argument("--seed", type=int, default=-1, help="the first number; by default the time decides")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--styles", default="", help="some styles only, with commas between them")
    parser.add_argument("--out", type=Path, default=Path("fuzz-failures"), help="where reproducers go")
    parser.add_argument("--batch", nargs=2, type=int, metavar=("FIRST", "COUNT"), help="run and print records")
    parser.add_argument("--digests", nargs=2, type=int, metavar=("FIRST", "COUNT"), help="print digests of texts")
    options = parser.parse_args()
    if options.batch:
        for record in records(*options.batch, options.styles):
            print(json.dumps(vars(record)), flush=True)
        return 0
    if options.digests:
        for seed, text in digests(*options.digests, SECOND, options.styles):
            print(json.dumps({"seed": seed, "digest": text}), flush=True)
        return 0
    options.seed = options.seed if options.seed >= 0 else int(time.time()) % 10**7 * 100
    print(f"programs from number {options.seed} on", file=sys.stderr)
    tally = fuzz(options)
    print(tally.table())
    for record in tally.failures[:WRITTEN]:
        print(f"made smaller: {write_reproducer(record, options.out)}", flush=True)
    return int(bool(tally.failures))


if __name__ == "__main__":
    raise SystemExit(main())
