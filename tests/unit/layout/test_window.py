"""Windows, counted against the elements themselves."""

from fractions import Fraction
from itertools import product
from random import Random

import numpy as np
import pytest

from shardwright.layout.planning.window import Window, counts, floor_sum, missing_elements

WINDOWS = [
    Window(*sizes, start, stride)
    for sizes, start, stride in product(
        ((12, 12), (24, 8), (8, 24), (12, 4)), (-13, -5, -1, 0, 1, 3, 11, 23), (1, 2, -1, -3)
    )
]


def sources(window: Window, part: int, parts: int) -> np.ndarray:
    """The operand elements that a device's part of the result comes from."""
    size = window.result // parts
    found = np.arange(part * size, (part + 1) * size)
    frame = window.frame or window.result
    places = window.start + window.step * (found // frame) + window.stride * (found % frame)
    wanted = places[places % window.dilation == 0] // window.dilation
    return wanted[(wanted >= 0) & (wanted < window.operand)]


def expected(window: Window, parts: int) -> tuple[Fraction, Fraction]:
    size = window.operand // parts
    needed = [sources(window, part, parts) for part in range(parts)]
    held = [wanted[wanted // size == part] for part, wanted in enumerate(needed)]
    total, mine = (Fraction(sum(map(len, each)), parts) for each in (needed, held))
    return total, mine


@pytest.mark.every(4)
@pytest.mark.parametrize("parts", [1, 2, 4])
@pytest.mark.parametrize("window", WINDOWS, ids=str)
def test_counts_are_those_of_the_elements(window: Window, parts: int) -> None:
    assert counts(window, parts) == expected(window, parts)


@pytest.mark.parametrize("first", range(0, 400, 20))
def test_counts_of_halos_and_holes(first: int) -> None:
    for seed in range(first, first + 20):
        window, parts = random_window(Random(seed))
        assert counts(window, parts) == (expected(window, parts) if window.operand else (0, 0)), seed
        assert window.pads == (len(sources(window, 0, 1)) < window.result), seed


def random_window(choose: Random) -> tuple[Window, int]:
    """A window in frames or as one, and into how many parts it is split."""
    parts = choose.choice([1, 2, 3, 4, 8])
    dilation, stride = choose.randint(1, 4), choose.choice([-3, -2, -1, 1, 2, 3, 4])
    operand, frame = parts * choose.randint(0, 6), choose.randint(1, 9)
    if choose.random() < 0.7:
        frames = parts * choose.randint(1, 2)
        more = {"frame": frame, "step": choose.randint(-3, 9)}
        return Window(operand, frames * frame, choose.randint(-9, 20), stride, dilation, **more), parts
    return Window(operand, parts * frame, choose.randint(-9, 20), stride, dilation), parts


def test_counting_does_not_walk_over_the_parts() -> None:
    parts = 1 << 40
    # Three elements in each part, one more on both sides: all parts lack two, but those at the ends one.
    needed, held = counts(Window(3 * parts, 5 * parts, -1, frame=5, step=3), parts)
    assert (needed - held) * parts == 2 * parts - 2
    assert held == 3


@pytest.mark.parametrize("seed", range(50))
def test_floor_sum(seed: int) -> None:
    choose = Random(seed)
    count, divisor = choose.randint(0, 20), choose.randint(1, 12)
    slope, offset = choose.randint(0, 30), choose.randint(-40, 40)
    assert floor_sum(count, divisor, slope, offset) == sum((slope * i + offset) // divisor for i in range(count))


def test_missing_elements_of_two_dims_multiply() -> None:
    # Both dims shift by one over two devices each: of 2x2 blocks of 4 elements, count by brute force.
    window = Window(4, 4, -1)
    total = 0
    for row, column in product(range(2), repeat=2):
        wanted = product(sources(window, row, 2), sources(window, column, 2))
        total += sum((a // 2, b // 2) != (row, column) for a, b in wanted)
    assert missing_elements([(window, 2), (window, 2)]) == Fraction(total, 4)


def test_a_window_says_whether_it_moves_and_pads() -> None:
    assert not Window(8, 8, 0).moves
    assert Window(8, 8, 7, -1).moves
    assert Window(8, 15, 0, dilation=2).moves
    assert Window(8, 8, 0, frame=2, step=2).moves
    assert not Window(8, 8, 7, -1).pads
    assert Window(8, 8, -1).pads
    assert Window(8, 12, 0).common == 4


def test_frames_that_overlap_cross_blocks() -> None:
    assert Window(8, 8, 0).blocks == 8
    assert Window(8, 8, 0, frame=4, step=1).blocks is None
    assert Window(8, 8, 0, dilation=1, frame=4, step=4).blocks is None
    assert Window(4, 8, 0, dilation=2).blocks == 4
    assert Window(4, 8, 0, dilation=2, frame=4, step=1).blocks is None


def test_blocks_have_nothing_to_do_with_each_other() -> None:
    # Every other element, elements two apart, and a shift across all borders.
    assert [Window(8, 4, 1, 2).blocks, Window(8, 16, 0, dilation=2).blocks, Window(8, 8, 1).blocks] == [4, 8, None]
    # A step over the edge of the operand, and a hole in front of the first element.
    assert [Window(8, 4, 2, 2).blocks, Window(8, 16, -1, dilation=2).blocks] == [None, 8]
