"""Whose line an error is about: never one of ours."""

from __future__ import annotations

from typing import Any

import pytest
from rooms import ROOMS, ROOT

import shardwright as sw
from shardwright.diagnostics.caller import caller, is_own


@pytest.mark.parametrize("room", ROOMS)
def test_no_room_of_ours_is_the_users(room: str) -> None:
    assert is_own(str(ROOT / room / "module.py"))
    assert not is_own(str(ROOT / "tests" / room / "module.py"))


def test_a_name_that_there_is_not_is_missed_at_the_users_line() -> None:
    with pytest.raises(AttributeError, match="SW0516") as caught:
        _ = sw.no_such_name  # pyright: ignore
    assert isinstance(caught.value, sw.ShardwrightError)
    (found,) = caught.value.diagnostics
    assert found.location is not None
    assert found.location.file == __file__


def test_equal_code_in_two_files_is_told_apart() -> None:
    """Python calls two such functions equal, wherever they stand."""
    places: list[str] = []
    for name in ("first.py", "second.py"):
        space: dict[str, Any] = {"caller": caller}
        exec(compile("def place():\n    return caller()\n", name, "exec"), space)
        places.append(str(space["place"]()))
    assert places == ["first.py:2:12", "second.py:2:12"]


def test_files_whose_names_are_no_text_have_places_as_others() -> None:
    scope: dict[str, Any] = {}
    exec(compile("def double(x):\n    return x * 2\n", "/there/caf\udce9.py", "exec"), scope)
    traced = sw.function(scope["double"]).trace(sw.TensorSpec((2,)))
    assert 'loc("/there/caf\\\\udce9.py":2:' in traced.as_text(debuginfo=True)
