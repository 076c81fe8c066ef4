"""
Each op of the table with dims of 1 to 13 elements that layouts split over 2 to 6 devices, whether they divide or not.

Arguments come in with NaN behind their elements, so that who looks there is found out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from random import Random
from types import SimpleNamespace

import pytest
from property.layouts import rich_layout
from whole.build import Program, Style
from whole.draw import single
from whole.registry import STEPS
from whole.verdict import RIGHT, WRONG, verdict

from shardwright.compiler.layouts.automatic import chosen
from shardwright.diagnostics import ShardwrightError
from shardwright.dialects.text.parsing import parse_module
from shardwright.dialects.text.printing import print_module
from shardwright.passes.padding.site import Site

OPS = sorted({op for step in STEPS for op in step.ops})
MESHES = ({"x": 2}, {"x": 3}, {"x": 4}, {"x": 5}, {"x": 3, "y": 2})
SIZES = Style(extents=(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13), laid_out=0)


def programs(op: str, count: int) -> Iterator[Program]:
    """Programs of one step with the op."""
    for seed in range(count):
        random = Random(f"{op} {seed}")
        mesh = random.choice(MESHES)
        program = single(seed, op, mesh, SIZES)
        if not program.ops:  # drawn for dims that divide only
            continue
        named = {value.name: value for value in program.arguments}
        named |= {f"result {number}": value for number, value in enumerate(program.results)}
        layouts = {name: rich_layout(random, mesh, value.shape, uneven=0.8) for name, value in named.items()}
        yield replace(program, layouts=layouts)


@pytest.mark.every(7)
@pytest.mark.parametrize("op", OPS)
def test_some_programs(op: str) -> None:
    for program in programs(op, 3):
        assert verdict(program) == (RIGHT, ""), program.text


@pytest.mark.slow
@pytest.mark.parametrize("op", OPS)
def test_many_programs(op: str) -> None:
    for program in programs(op, 40):
        assert verdict(program) == (RIGHT, ""), program.text


@pytest.mark.every(17)
@pytest.mark.parametrize("op", OPS)
def test_layouts_are_chosen_around_those_of_some(op: str) -> None:
    for program in programs(op, 2):
        assert_chosen_around(program)


@pytest.mark.slow
@pytest.mark.parametrize("op", OPS)
def test_layouts_are_chosen_around_those_of_many(op: str) -> None:
    for program in programs(op, 12):
        assert_chosen_around(program)


def assert_chosen_around(program: Program) -> None:
    """Of three layouts two are left: without a limit, and within one, what is chosen for the third is right."""
    left = {name: each for at, (name, each) in enumerate(program.layouts.items()) if (program.seed + at) % 3}
    module = parse_module(replace(program, layouts=left).text, "program.mlir")
    for limit in (None, 1000):
        try:
            found = chosen(module, None, limit, recompute=True, microbatches=True)
        except ShardwrightError as error:
            codes = [each.code for each in error.diagnostics]
            assert codes == ["SW0468"] or (codes == ["SW0469"] and limit is not None), program.text
            continue
        laid_out = SimpleNamespace(
            seed=program.seed, text=print_module(found), inputs=program.inputs, results=program.results
        )
        assert verdict(laid_out) == (RIGHT, ""), laid_out.text


def test_padding_that_is_seen_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without masks a sum is wrong, so that the other tests say something."""
    monkeypatch.setattr(Site, "masked", lambda self, value, fill, dims=None: value)
    assert WRONG in {verdict(program)[0] for program in programs("stablehlo.reduce", 8)}
