"""Whose line an error is about: never one of ours."""

from __future__ import annotations

import pytest
from rooms import ROOMS, ROOT

import shardwright as sw
from shardwright.diagnostics.caller import _is_own


@pytest.mark.parametrize("room", ROOMS)
def test_no_room_of_ours_is_the_users(room: str) -> None:
    assert _is_own(str(ROOT / room / "module.py"))
    assert not _is_own(str(ROOT / "tests" / room / "module.py"))


def test_a_name_that_there_is_not_is_missed_at_the_users_line() -> None:
    with pytest.raises(AttributeError, match="SW0516") as caught:
        _ = sw.no_such_name  # pyright: ignore
    assert isinstance(caught.value, sw.ShardwrightError)
    (found,) = caught.value.diagnostics
    assert found.location is not None
    assert found.location.file == __file__
