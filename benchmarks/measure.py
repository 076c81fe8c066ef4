"""Timing: several contenders in turn, so that a change of the machine's pace meets all of them alike."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

Timed = Callable[[], float]
"""Does its work once and returns the seconds of the part that counts."""


@dataclass(frozen=True)
class Sample:
    """
    The times of one contender.

    >>> Sample((3.0, 1.0, 2.0)).median
    2.0
    """

    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        """The middle time."""
        return statistics.median(self.seconds)

    @property
    def low(self) -> float:
        """The first quartile: below it lie a quarter of the times."""
        return self._quartile(0)

    @property
    def high(self) -> float:
        """The third quartile: above it lie a quarter of the times."""
        return self._quartile(2)

    def _quartile(self, index: int) -> float:
        if len(self.seconds) == 1:
            return self.seconds[0]
        return statistics.quantiles(self.seconds, n=4, method="inclusive")[index]


def interleave(contenders: Mapping[str, Timed], repetitions: int, warmups: int = 1) -> dict[str, Sample]:
    """
    Call each contender `repetitions` times, in turn, each round in the opposite order of the round before.

    >>> interleave({"slow": lambda: 2.0, "fast": lambda: 1.0}, 3)["fast"].seconds
    (1.0, 1.0, 1.0)
    """
    times: dict[str, list[float]] = {name: [] for name in contenders}
    order = list(contenders.items())
    gc.collect()
    gc.freeze()  # what is there already is not walked before each run, which would take longer than most of them
    for round_index in range(-warmups, repetitions):
        for name, run in order:
            gc.collect()
            seconds = run()
            if round_index >= 0:
                times[name].append(seconds)
        order.reverse()
    gc.unfreeze()
    return {name: Sample(tuple(values)) for name, values in times.items()}


def timed(run: Callable[[], object]) -> Timed:
    """A contender all of whose work counts."""

    def once() -> float:
        start = time.perf_counter()
        run()
        return time.perf_counter() - start

    return once


def in_a_row(run: Timed, count: int = 5) -> Timed:
    """
    A contender that runs several times in a row, as a training loop does; the time in the middle counts.

    A single run between those of others finds neither its code nor its arrays in a cache.

    >>> times = iter([9.0, 1.0, 2.0])
    >>> in_a_row(lambda: next(times), 3)()
    2.0
    """
    return lambda: statistics.median(run() for _ in range(count))
