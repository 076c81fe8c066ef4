"""One program by its number: its style, what came of it, and what the fuzzer counts about it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from random import Random

from harness import partitioned

from shardwright.runtime.executable import compile_module
from whole.build import Program
from whole.draw import random_program
from whole.registry import STEPS
from whole.spread import can_share, examine_everywhere
from whole.styles import SHARES, STYLES
from whole.traced import Traced, random_traced
from whole.verdict import CRASHED, digest, examine, last_frame

TRACED = "traced"
"""The style of Python functions."""

EACH = "each"
"""The style of small programs that have a certain op: any is as likely as any other."""

ROUND_TRIP = 4
"""Every so many-th program is printed and read back after each pass."""

EXPORTED = 5
"""Every so many-th program is exported, read again, and run as what it is then."""

SPREAD = 8
"""Every so many-th program also runs on several processes."""

OP_NAME = re.compile(r"\b(?:stablehlo|chlo|sdy|func)\.[a-z_0-9]+")
NOT_OPS = {"func.func", "stablehlo.return", "sdy.return", "func.return", "sdy.mesh", "sdy.sharding"}


@dataclass
class Record:
    """What came of a program."""

    seed: int
    style: str
    state: str
    detail: str
    devices: int
    ops: list[str]
    digest: str


def style_of(seed: int, styles: str = "") -> str:
    """The style of a number: by share, or one of those asked for."""
    names = styles.split(",") if styles else list(SHARES)
    return Random(f"style {seed}").choices(names, [SHARES[name] for name in names])[0]


def program_of(style: str, seed: int) -> Program | Traced:
    """The program of a number in a style."""
    if style == TRACED:
        return random_traced(seed)
    if style == EACH:
        ops = sorted({op for step in STEPS for op in step.ops})
        return random_program(seed, Random(f"op {seed}").choice(ops))
    return random_program(seed, style=STYLES[style])


def op_names(text: str) -> list[str]:
    """The kinds of ops in a text."""
    return sorted(set(OP_NAME.findall(text)) - NOT_OPS)


def records(first: int, number: int, styles: str = "") -> Iterator[Record]:
    """What comes of the programs of consecutive numbers."""
    for seed in range(first, first + number):
        style = style_of(seed, styles)
        try:
            program = program_of(style, seed)
        except Exception:  # the fuzzer's own fault, but no reason to stop
            yield Record(seed, style, CRASHED, f"the fuzzer: {last_frame()}", 0, [], "")
            continue
        ask = examine if seed % SPREAD else examine_everywhere
        found = ask(program, round_trip=seed % ROUND_TRIP == 0, exported=seed % EXPORTED == 0)
        text = program.text if found.digest else ""
        yield Record(
            seed, style, found.state, found.detail, math.prod(program.mesh.values()), op_names(text), found.digest
        )


def digests(first: int, number: int, every: int, styles: str = "") -> Iterator[tuple[int, str]]:
    """The digests of the texts of some of the programs of consecutive numbers."""
    for seed in range(first, first + number):
        if seed % every == 0 and (text := digest(program_of(style_of(seed, styles), seed))):
            yield seed, text


def spreadable(processes: int, most: int) -> list[Program | Traced]:
    """The first random programs on meshes of so many devices, and as many on larger ones that so many can share."""
    exact, larger = list[Program | Traced](), list[Program | Traced]()
    for seed in count():
        program = program_of(style_of(seed), seed)
        size = math.prod(program.mesh.values())
        if can_share(program, processes) and compile_module(partitioned(program.text)[1]).mesh is not None:
            (exact if size == processes else larger).append(program)
        if min(len(exact), len(larger)) >= (most + 1) // 2:
            return [*exact[: (most + 1) // 2], *larger[: most // 2]]
    raise AssertionError("numbers do not end")
