"""One program by its number: its style, what came of it, and what the fuzzer counts about it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from whole.build import Program
from whole.draw import random_program
from whole.registry import STEPS
from whole.styles import SHARES, STYLES
from whole.traced import Traced, random_traced
from whole.verdict import CRASHED, digest, examine, last_frame

TRACED = "traced"
"""The style of Python functions."""

EACH = "each"
"""The style of small programs that have a certain op: any is as likely as any other."""

ROUND_TRIP = 4
"""Every so many-th program is printed and read back after each pass."""

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


def records(first: int, count: int, styles: str = "") -> Iterator[Record]:
    """What comes of the programs of consecutive numbers."""
    for seed in range(first, first + count):
        style = style_of(seed, styles)
        try:
            program = program_of(style, seed)
        except Exception:  # the fuzzer's own fault, but no reason to stop
            yield Record(seed, style, CRASHED, f"the fuzzer: {last_frame()}", 0, [], "")
            continue
        found = examine(program, round_trip=seed % ROUND_TRIP == 0)
        text = program.text if found.digest else ""
        yield Record(
            seed, style, found.state, found.detail, math.prod(program.mesh.values()), op_names(text), found.digest
        )


def digests(first: int, count: int, every: int, styles: str = "") -> Iterator[tuple[int, str]]:
    """The digests of the texts of some of the programs of consecutive numbers."""
    for seed in range(first, first + count):
        if seed % every == 0 and (text := digest(program_of(style_of(seed, styles), seed))):
            yield seed, text
