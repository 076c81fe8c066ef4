"""Halos of windows that move over a split dim, element by element against the window over the whole dim."""

from __future__ import annotations

from itertools import product

import pytest

from shardwright.layout.planning.sweep import Halo, Sweep, result_halo, spread_back, window_halo

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


@pytest.mark.every(4)
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


def test_frames_of_spread_elements_hold_no_holes() -> None:
    # Elements stand at 0, 2, 4 ...; part p passes over the places from 4p - 1 to 4p + 4: the elements 2p to 2p + 2.
    window = result_halo(Sweep(3, low=1, high=2, base=2), 8, 4).window
    assert (window.start, window.frame, window.step, window.dilation) == (0, 3, 2, 1)
    # Places 2p and 2p + 1: one element alone.
    window = result_halo(Sweep(1, high=1, base=2), 8, 8).window
    assert (window.start, window.frame, window.step, window.dilation) == (0, 1, 1, 1)


def test_windows_that_leave_no_rest_are_blocks() -> None:
    # Windows of 1 and 3 elements, 3 apart; one that reaches into the next leaves less than a stride at the end.
    assert [Sweep(size, stride=3).blocks(9) for size in (1, 3, 4)] == [3, 3, None]


def test_blocks_of_spread_elements_hold_one_each() -> None:
    # Elements at 1, 3, 5 ... (padding first), windows over 2 and over 3 places: the latter reach the next element.
    assert [Sweep(2, low=1, high=1, base=2).blocks(8), Sweep(3, low=1, high=2, base=2).blocks(8)] == [8, None]
    # Steps of 2 over elements 2 apart: each result is an element, and the last four are padding.
    assert Sweep(1, stride=2, high=8, base=2).blocks(4) is None


@pytest.mark.every(4)
@pytest.mark.parametrize("sweep", SWEEPS, ids=str)
def test_spread_back_reads_what_the_window_wrote(sweep: Sweep) -> None:
    size = 12
    results = sweep.result(size)
    back = spread_back(sweep, size)
    assert back.result(results) == size
    there = {(result, read(sweep, size, result, tap)) for result, tap in product(range(results), range(sweep.size))}
    again = {(read(back, results, element, tap), element) for element, tap in product(range(size), range(back.size))}
    assert {pair for pair in there if pair[1] is not None} == {pair for pair in again if pair[0] is not None}
