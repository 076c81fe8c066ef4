"""What each pass did to a program: the lines that it took away and those that it made."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from itertools import islice

from xdsl.dialects.builtin import ModuleOp

from shardwright.compiler.pipelines import PIPELINES, run_pipeline
from shardwright.dialects.text.printing import print_module

MOST_LINES = 160
"""How many lines of a difference are shown at most."""

MOST_OPS = 1500
"""How large a program may be for its passes to be run again and compared, which takes as long as partitioning it."""


@dataclass(frozen=True)
class PassChange:
    """What one pass changed: how many lines it took away and made, and the first of them, each with its sign."""

    name: str
    removed: int
    added: int
    lines: tuple[str, ...]
    left_out: int


def pass_changes(traced: ModuleOp) -> list[PassChange] | None:
    """What each pass of a partitioning changes; None where the program is too large to do it again for this."""
    if sum(1 for _ in islice(traced.walk(), MOST_OPS + 1)) > MOST_OPS:
        return None
    module = traced.clone()
    found: list[PassChange] = []
    before = print_module(module).splitlines()

    def observe(name: str, module: ModuleOp) -> None:
        nonlocal before
        after = print_module(module).splitlines()
        found.append(_change(name, before, after))
        before = after

    run_pipeline(module, PIPELINES["partition"], observer=observe)
    return found


def _change(name: str, before: list[str], after: list[str]) -> PassChange:
    lines = list(difflib.unified_diff(before, after, n=1, lineterm=""))[2:]
    removed, added = (sum(line.startswith(sign) for line in lines) for sign in "-+")
    shown = tuple("⋯" if line.startswith("@@") else line for line in lines[:MOST_LINES])
    return PassChange(name, removed, added, shown, max(len(lines) - MOST_LINES, 0))
