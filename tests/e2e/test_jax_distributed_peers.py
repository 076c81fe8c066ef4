"""`shardwright.jax.jit` over the devices of several processes: what one process computes, and what differs is said."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.peers
pytest.importorskip("jax")

CHILD = Path(__file__).resolve().parents[1] / "support" / "jax_child.py"
SECONDS = 180


@dataclass(frozen=True)
class Ended:
    """How a process ended, and what it wrote."""

    code: int
    output: str
    errors: str

    @property
    def report(self) -> Any:
        assert self.code == 0, self.errors
        return json.loads(self.output.splitlines()[-1])


def run(count: int, scenario: str) -> list[Ended]:
    """All processes of a job, to their end."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    commands = [[sys.executable, str(CHILD), port, str(count), str(place), scenario] for place in range(count)]
    started = [subprocess.Popen(each, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for each in commands]
    try:
        said = [each.communicate(timeout=SECONDS) for each in started]
        return [Ended(each.returncode, *texts) for each, texts in zip(started, said, strict=True)]
    finally:
        for each in started:
            each.kill()


@pytest.fixture(scope="module")
def alone() -> Any:
    """What one process reports."""
    return run(1, "train")[0].report


@pytest.mark.parametrize("count", [2, 4])
def test_several_processes_compute_what_one_does(count: int, alone: Any) -> None:
    reports = [each.report for each in run(count, "train")]
    for report in reports:  # sums of eight floats are added in another order over a network
        assert report["losses"] == pytest.approx(alone["losses"], rel=1e-6)
    assert [report["sent"] for report in reports] == [alone["sent"]] * count
    parts = {place: value for report in reports for place, value in report["parts"].items()}
    assert parts == pytest.approx(alone["parts"], rel=1e-4)
    assert all(len(report["parts"]) <= 8 // count for report in reports)


def test_a_mesh_that_differs_is_said_before_anything_runs() -> None:
    started = time.monotonic()
    ended = run(2, "apart")
    assert time.monotonic() - started < 60  # with the start of two processes
    assert [each.code for each in ended] == [1, 1]
    for place, each in enumerate(ended):
        assert f"error[SW0902]: program 1 of process {place} is another than on {1 - place}" in each.errors
        assert "jax_child.py" in each.errors


@pytest.mark.parametrize(
    ("who", "said"), [("peer", "process 1 of 2 is gone"), ("coordinator", "process 1 of 2 was ended")]
)
def test_the_end_of_another_process_is_said(who: str, said: str) -> None:
    """Within thirty seconds, and the time that two processes take to start."""
    started = time.monotonic()
    ended = run(2, f"{who} killed")
    assert time.monotonic() - started < 75
    victim, left = reversed(ended) if who == "peer" else ended
    assert victim.code == -signal.SIGKILL
    assert left.code not in (0, 1)
    assert f"error[SW0905]: {said}" in left.errors
    assert "SW0905" not in left.errors.partition("SW0905")[2]


def test_processes_that_come_to_their_end_say_nothing() -> None:
    assert all("SW0905" not in each.errors for each in run(2, "train"))
