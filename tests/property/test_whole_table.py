"""
Random programs over the whole table: right on all devices, bytes as predicted, and nothing refused that is drawn.

A seed stands for a program; `python tests/whole --seed N --shrink` prints the smallest one that fails alike.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from whole.build import Program
from whole.draw import random_program
from whole.registry import STEPS
from whole.shrink import shrink
from whole.verdict import REFUSED, RIGHT, WRONG, verdict

from shardwright.rules import ROWS

OPS = sorted({op for step in STEPS for op in step.ops})
UNDRAWN = {
    "chlo.acos", "chlo.acosh", "chlo.asin", "chlo.atanh", "chlo.bessel_i1e", "chlo.conj", "chlo.digamma",
    "chlo.erf_inv", "chlo.is_inf", "chlo.is_neg_inf", "chlo.is_pos_inf", "chlo.next_after", "chlo.polygamma",
    "chlo.tan", "chlo.zeta", "stablehlo.rng_bit_generator",
}  # fmt: skip
"""Ops with a row that no step draws: element-wise functions like those that are drawn, and what JAX alone explains."""


def check(program: Program, *, round_trip: bool = False, fused: bool = True) -> None:
    """The program comes out right."""
    state, detail = verdict(program, round_trip=round_trip, fused=fused)
    assert state == RIGHT, f"seed {program.seed}: {state} {detail}\n{program.text}"


@pytest.mark.every(6)
@pytest.mark.parametrize("block", range(6))
def test_random_programs(block: int) -> None:
    for seed in range(10 * block, 10 * block + 10):
        check(random_program(seed), round_trip=seed % 5 == 0, fused=seed % 2 == 0)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(40))
def test_two_thousand_programs(block: int) -> None:
    for seed in range(10_000 + 50 * block, 10_050 + 50 * block):
        check(random_program(seed), fused=seed % 3 > 0)


@pytest.mark.slow
@pytest.mark.parametrize("op", OPS)
def test_programs_with_each_op(op: str) -> None:
    drawn = [random_program(seed, op) for seed in range(25)]
    assert any(op in program.text for program in drawn), f"no program has {op}"
    for program in drawn:
        check(program)


def test_every_op_with_a_row_is_drawn() -> None:
    rows = {name for name in ROWS if name.startswith(("stablehlo.", "chlo."))}
    assert rows - set(OPS) == UNDRAWN & rows


def test_a_wrong_element_is_noticed() -> None:
    program = next(p for p in (random_program(seed) for seed in range(20)) if p.results[0].array.size)
    value = program.results[0]
    array = value.array.copy()
    array.flat[-1] = ~array.flat[-1] if value.element == "i1" else array.flat[-1] + 1
    program.results[0] = replace(value, array=array)
    assert verdict(program)[0] == WRONG


def test_a_seed_stands_for_one_program() -> None:
    assert random_program(7).text == random_program(7).text != random_program(8).text


@pytest.mark.parametrize("op", ["stablehlo.sort", "stablehlo.while", "stablehlo.scatter"])
def test_shrinking_keeps_what_fails(op: str) -> None:
    program = next(p for p in (random_program(seed, op) for seed in range(100)) if len(p.ops) > 5 and op in p.text)
    small = shrink(program, lambda one: "fails" if op in one.text else "")
    assert [op in line.text for line in small.ops] == [True]
    assert not any('"' in layout for layout in small.layouts.values())
    assert verdict(small)[0] in (RIGHT, REFUSED)
