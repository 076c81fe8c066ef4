"""Halos of windows that move over a split dim, element by element against the window over the whole dim."""

from __future__ import annotations

from itertools import product

import pytest

from shardwright.layout.planning.sweep import Halo, Sweep, result_halo, window_halo

SWEEPS = [
    Sweep(size, stride, low, high, base, dilation, reverse)
    for size, stride, (low, high), base, dilation, reverse in product(
        (2, 4), (1, 2, 3), ((0, 0), (1, 2), (3, -1)), (1, 2), (1, 2, 3), (False, True)
    )
]


def read(sweep: Sweep, operand: int, result: int, tap: int) -> int | None:
    """The element that a window's `tap` reads for a result; None in a hole or outside."""
    place = result * sweep.stride + (sweep.size - 1 - tap if sweep.reverse else tap) * sweep.dilation - sweep.low
    element, hole = divmod(place, sweep.base)
    return element if not hole and 0 <= element < operand else None


def read_in_part(halo: Halo, operand: int, part: int, result: int, tap: int) -> int | None:
    """The same in the frame of one part, as an element of the whole dim."""
    window = halo.window
    found = read(halo.sweep, window.frame, result, tap)
    if found is None:
        return None
    element, hole = divmod(window.start + part * window.step + found * window.stride, window.dilation)
    return element if not hole and 0 <= element < operand else None


@pytest.mark.parametrize("sweep", SWEEPS, ids=str)
def test_frames_hold_what_windows_read(sweep: Sweep) -> None:
    operand, parts = 12, 2
    results = sweep.result(operand)
    # Parts of the window: each passes over all results.
    halo, size = window_halo(sweep, operand, parts), sweep.size // parts
    for part, result, tap in product(range(parts), range(results), range(size)):
        assert read_in_part(halo, operand, part, result, tap) == read(sweep, operand, result, part * size + tap)
    # Parts of the result: each takes all of the window.
    halo, count = result_halo(sweep, operand, parts), results // parts
    for part, result, tap in product(range(parts), range(count), range(sweep.size)):
        assert read_in_part(halo, operand, part, result, tap) == read(sweep, operand, part * count + result, tap)
