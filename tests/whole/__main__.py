"""
Random programs from the command line: `python tests/whole --seed 17 [--count 100] [--op stablehlo.gather] [--shrink]`.

With `--layouts 5000`, programs of one step under all even layouts on 2x2 and 2x2x2. Prints a line for each program
that does not come out right; with `--shrink`, the smallest one that fails alike.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))

from whole.build import Program
from whole.draw import random_program
from whole.layouts import count, instances, laid_out
from whole.registry import STEPS
from whole.reproducer import smallest
from whole.run_one import program_of
from whole.spread import examine_everywhere
from whole.styles import SHARES, STYLES
from whole.traced import Traced
from whole.verdict import RIGHT, examine


def random_ones(options: argparse.Namespace) -> Iterator[Program | Traced]:
    """The programs of consecutive seeds."""
    for seed in range(options.seed, options.seed + options.count):
        if options.op:
            yield random_program(seed, options.op, STYLES[options.style])
        else:
            yield program_of(options.style, seed)


def each_layout(options: argparse.Namespace) -> Iterator[Program]:
    """Programs of one step, under their layouts on 2x2 and on 2x2x2."""
    ops = [options.op] if options.op else sorted({op for step in STEPS for op in step.ops})
    for op in ops:
        for mesh in ({"x": 2, "y": 2}, {"x": 2, "y": 2, "z": 2}):
            for program in instances(op, mesh, options.count):
                print(f"{op} on {len(mesh)} axes: {count(program)} layouts", file=sys.stderr, flush=True)
                yield from laid_out(program, options.layouts, options.seed)


def main() -> int:
    """Check programs by seed, or ops by layout."""
    parser = argparse.ArgumentParser(description="Random programs over the whole table.")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=1, help="of programs; with --layouts, for each op and mesh")
    parser.add_argument("--op", default="", help="each program has this op, if it can")
    parser.add_argument("--layouts", type=int, default=0, help="one op at a time, under so many layouts at most")
    parser.add_argument("--style", choices=SHARES, default="small")
    parser.add_argument("--shrink", action="store_true")
    parser.add_argument("--print", action="store_true", help="print each program")
    options = parser.parse_args()
    if options.op and options.style not in STYLES:
        parser.error("--op goes with the styles that are drawn as text: " + ", ".join(STYLES))
    states: Counter[str] = Counter()
    judge = examine if options.layouts else examine_everywhere
    for number, program in enumerate(each_layout(options) if options.layouts else random_ones(options)):
        found = judge(program, round_trip=number % 4 == 0, exported=number % 5 == 0)
        states[found.state] += 1
        if options.print:
            print(program.text)
        if found.state != RIGHT:
            print(
                f"{program.seed}: {found.state} {found.detail} {program.layouts if options.layouts else ''}", flush=True
            )
            if options.shrink:
                print(smallest(program).text, flush=True)
    print(dict(states), file=sys.stderr)
    return int(states[RIGHT] < states.total())


if __name__ == "__main__":
    raise SystemExit(main())
