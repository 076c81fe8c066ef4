"""While IR is built nobody looks for dead cycles, and afterwards nobody looks at what was built as if it were young."""

import gc
import weakref

import pytest

from shardwright.dialects import collector
from shardwright.dialects.collector import collector_paused


class _Program:
    """What is part of itself, as IR is."""

    def __init__(self) -> None:
        self.ops = [[self] for _ in range(300)]


@pytest.fixture
def thawed():
    """
    Without what the tests themselves have frozen.

    That may be a heap of millions of objects: to count them takes a tenth of a second, and to look at them a second.
    """
    gc.unfreeze()
    yield
    gc.freeze()


def young() -> set[int]:
    return {id(each) for generation in (0, 1) for each in gc.get_objects(generation)}


def test_what_was_built_is_old_afterwards(thawed: None) -> None:
    with collector_paused():
        assert not gc.isenabled()
        built = [[number] for number in range(2 * collector._MANY)]
        assert id(built[0]) in young()
    assert gc.isenabled()
    assert not {id(each) for each in built} & young()
    assert gc.get_freeze_count() == 0


def test_pauses_within_pauses_end_with_the_outer_one(thawed: None) -> None:
    with collector_paused():
        with collector_paused():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()


def test_what_somebody_froze_stays_frozen() -> None:
    kept: list[list[int]] = [[]]
    gc.freeze()
    count = gc.get_freeze_count()
    with collector_paused():
        kept += [[number] for number in range(2 * collector._MANY)]
    assert gc.get_freeze_count() >= count - 100  # some of it may have died


def test_programs_that_nobody_has_any_more_are_found(thawed: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """As after a thousand compilations: between them nothing is made for which Python itself would look."""
    monkeypatch.setattr(collector, "_MANY", 100)
    monkeypatch.setattr(collector, "_UNSEEN", 1000)
    monkeypatch.setattr(collector, "_old", collector._Old())
    gc.collect(0)  # what is new is counted from here
    found: list[weakref.ref[_Program]] = []
    for _ in range(6):
        with collector_paused():
            found.append(weakref.ref(_Program()))
    assert [program() for program in found[:3]] == [None] * 3
