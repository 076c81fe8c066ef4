"""
Each op of the table under even layouts of all its operands and results, on 2x2 and on 2x2x2.

Here so many of them are drawn; `python tests/whole --layouts 5000 --count 3` takes all.
"""

from __future__ import annotations

import pytest
from whole.layouts import instances, laid_out
from whole.registry import STEPS
from whole.verdict import RIGHT, verdict

OPS = sorted({op for step in STEPS for op in step.ops})
MESHES = {"2x2": {"x": 2, "y": 2}, "2x2x2": {"x": 2, "y": 2, "z": 2}}


def check(op: str, mesh: str, wanted: int, most: int) -> None:
    """So many programs with the op, under so many layouts each."""
    programs = instances(op, MESHES[mesh], wanted)
    assert len(programs) == wanted
    for program in programs:
        for one in laid_out(program, most):
            state, detail = verdict(one)
            assert state == RIGHT, f"{state} {detail}\n{one.text}"


@pytest.mark.every(12)
@pytest.mark.parametrize("op", OPS)
def test_some_layouts(op: str) -> None:
    check(op, "2x2x2", wanted=1, most=3)


@pytest.mark.slow
@pytest.mark.parametrize("mesh", MESHES)
@pytest.mark.parametrize("op", OPS)
def test_many_layouts(op: str, mesh: str) -> None:
    check(op, mesh, wanted=3, most=40)
