"""While IR is built nobody looks for dead cycles, and afterwards nobody looks at what was built as if it were young."""

import gc
import threading
import weakref

import pytest

from shardwright import _collector
from shardwright._collector import collector_paused


class _Program:
    """What is part of itself, as IR is."""

    def __init__(self) -> None:
        self.ops = [[self] for _ in range(300)]


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever threads of other tests build."""
    monkeypatch.setattr(_collector, "_pauses", _collector._Pauses())
    gc.enable()


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
        built = [[number] for number in range(2 * _collector._MANY)]
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


def test_threads_that_build_at_once_leave_it_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is stopped between its look whether it is enabled and its stop, until the other has ended."""
    inside, looked, ended = threading.Event(), threading.Event(), threading.Event()
    during: list[bool] = []

    def first() -> None:
        with collector_paused():
            inside.set()
            looked.wait(0.2)  # the second one may have to wait for us
            during.append(gc.isenabled())
        ended.set()

    def look() -> bool:
        found = is_enabled()
        if threading.current_thread() is second and not looked.is_set():
            looked.set()
            ended.wait(0.2)
        return found

    def build() -> None:
        inside.wait()
        with collector_paused():
            during.append(gc.isenabled())

    is_enabled = gc.isenabled
    second = threading.Thread(target=build)
    monkeypatch.setattr(gc, "isenabled", look)
    second.start()
    first()
    second.join()
    assert is_enabled()
    assert during == [False, False]


def test_what_somebody_froze_stays_frozen() -> None:
    kept: list[list[int]] = [[]]
    gc.freeze()
    count = gc.get_freeze_count()
    with collector_paused():
        kept += [[number] for number in range(2 * _collector._MANY)]
    assert gc.get_freeze_count() >= count - 100  # some of it may have died


def test_programs_that_nobody_has_any_more_are_found(thawed: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """As after a thousand compilations: between them nothing is made for which Python itself would look."""
    monkeypatch.setattr(_collector, "_MANY", 100)
    monkeypatch.setattr(_collector, "_UNSEEN", 1000)
    gc.collect(0)  # what is new is counted from here
    found: list[weakref.ref[_Program]] = []
    for _ in range(6):
        with collector_paused():
            found.append(weakref.ref(_Program()))
    assert [program() for program in found[:3]] == [None] * 3
