"""What comes back is what was saved, whoever saves at the same time, is killed, or has no room (issue 12, point 9)."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
import storm

OWN_DISK = 'mount -t tmpfs -o size=2m none "$0" && exec "$@"'
"""A disk of 2 MiB in a name space of its own."""


def done(mode: str, folder: Path, much: int, before: Sequence[str] = ()) -> dict[str, int]:
    """What a script's processes did in a folder."""
    command = [*before, sys.executable, storm.__file__, mode, str(folder), str(much)]
    found = subprocess.run(command, capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    return json.loads(found.stdout)


def check_storm(folder: Path, seconds: int) -> None:
    """Two writers and four readers: each reader has one version each time, and in the end there is the last one."""
    found = done("storm", folder, seconds)
    print(found)
    refused = found.pop("SW0880", 0)
    assert set(found) == {"rounds", *(load.__name__ for load in storm.STORM_LOAD)}
    assert refused <= sum(found.values()) // 100


def check_kills(folder: Path, count: int) -> None:
    found = done("kill", folder, count)
    print(found)
    assert found["kills"] == count
    assert found["saved"] > 1


def test_writers_and_readers_at_the_same_time(tmp_path: Path) -> None:
    check_storm(tmp_path, 1)


@pytest.mark.slow
def test_writers_and_readers_for_a_minute(tmp_path: Path) -> None:
    check_storm(tmp_path, 60)


@pytest.mark.slow
def test_three_hundred_killed_writers(tmp_path: Path) -> None:
    check_kills(tmp_path, 300)


@pytest.mark.slow
def test_a_full_disk_and_one_that_may_only_be_read(tmp_path: Path) -> None:
    before = ["unshare", "-rm", "sh", "-c", OWN_DISK, str(tmp_path)]
    if subprocess.run([*before, "true"], capture_output=True).returncode:
        pytest.skip("no disk of our own can be made here")
    found = done("fill", tmp_path, 60, before)
    print(found)
    assert set(found) >= {"SW0876", "SW0867", "read-only SW0876", "read-only SW0867"}
    assert found["SW0876"] > 20
