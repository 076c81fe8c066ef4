"""Single-edit mutants of planned and local programs: each that changes a result is refused, and no right program is."""

from __future__ import annotations

from pathlib import Path

import pytest
from mutated.judging import HARMLESS, REFUSED, WRONG, Judged, Program
from mutated.programs import PROGRAMS, ROUNDED, SIGNS

from shardwright.proof import certify

SLICE = ("axis_swap", "reduce_scatter", "windows", "vocabulary", "branch_that_sends")


def program(name: str) -> Program:
    return Program.read(next(path for path in PROGRAMS if path.stem == name))


def judged(one: Program, planned: int, local: int) -> list[Judged]:
    """The mutants of a program; what must not be is asserted."""
    found = [one.judge(mutant) for mutant in one.mutants(planned, local)]
    wrong = [each.mutant.name for each in found if each.outcome == WRONG]
    assert [name for name in wrong if (one.name, name) not in ROUNDED] == []
    refused = [each.mutant.name for each in found if each.outcome == REFUSED]
    assert [name for name in refused if (one.name, name) not in SIGNS] == []
    return found


@pytest.mark.parametrize("name", SLICE)
def test_wrong_mutants_are_refused(name: str) -> None:
    found = judged(program(name), 4, 8)
    assert len(found) == 12
    assert any(each.outcome != HARMLESS for each in found)


@pytest.mark.slow
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_more_wrong_mutants_are_refused(path: Path) -> None:
    one = Program.read(path)
    assert certify(one.traced, one.planned, one.local).proved
    assert judged(one, 12, 18)


@pytest.mark.slow
def test_there_are_many_mutants_of_many_programs() -> None:
    programs = [Program.read(path) for path in PROGRAMS]
    mutants = [mutant for one in programs for mutant in one.mutants(12, 18)]
    assert len(programs) >= 40
    assert len(mutants) >= 1000
    assert len({mutant.kind for mutant in mutants}) >= 30


def test_the_same_mutants_are_made_again() -> None:
    first, second = (program("vocabulary").mutants(6, 9) for _ in range(2))
    assert [mutant.name for mutant in first] == [mutant.name for mutant in second]
