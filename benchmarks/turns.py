"""Jobs of several processes that take turns: until its turn each waits in the system and takes nothing of others'."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

STEPS = 5
"""Steps of one turn, of which the figure is the mean. One goes before: by then all are awake, and caches warm."""

_ENDING_SECONDS = 30.0


class Job:
    """
    Processes that answer for a turn with seconds.

    They are started with commands to whose ends the folder is added through which they hear (see `serve`).
    """

    def __init__(self, commands: Sequence[Sequence[str]], folder: Path, count: int) -> None:
        self._gates = [folder / f"gate{place}" for place in range(count)]
        self._answer = folder / "answer"
        for pipe in (*self._gates, self._answer):
            os.mkfifo(pipe)
        self._processes = [subprocess.Popen([*command, str(folder)], stdout=subprocess.DEVNULL) for command in commands]
        self._open = [gate.open("w", buffering=1) for gate in self._gates]
        self._heard = self._answer.open()

    def turn(self) -> float:
        """The seconds of a step."""
        for gate in self._open:
            gate.write("go\n")
        return float(self._heard.readline())

    def end(self) -> None:
        """Lets the processes go."""
        for gate in self._open:
            gate.close()
        for process in self._processes:
            process.wait(_ENDING_SECONDS)


def turn_of(step: Callable[[], float]) -> float:
    """The mean seconds of a turn's steps, each of which gives its own."""
    step()
    return sum(step() for _ in range(STEPS)) / STEPS


def serve(folder: str, place: int, step: Callable[[], float]) -> None:
    """Runs turns of steps, each of which gives its seconds, as one of the processes of a job."""
    with (Path(folder) / f"gate{place}").open() as gate, (Path(folder) / "answer").open("w") as answer:
        for _ in iter(gate.readline, ""):
            seconds = turn_of(step)
            if place == 0:
                print(seconds, file=answer, flush=True)


def several(module: str, count: int, *arguments: str) -> list[list[str]]:
    """Commands that start so many processes of a module: its place, their number, and where the first one listens."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    start = [sys.executable, "-m", f"shardwright.benchmarks.{module}", *arguments]
    return [[*start, str(place), str(count), f"127.0.0.1:{port}"] for place in range(count)]
