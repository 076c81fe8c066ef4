"""Windows, counted against the elements themselves."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from shardwright.layout.window import Window, counts, missing_elements

WINDOWS = [
    Window(*sizes, start, stride)
    for sizes, start, stride in product(
        ((12, 12), (24, 8), (8, 24), (12, 4)), (-13, -5, -1, 0, 1, 3, 11, 23), (1, 2, -1, -3)
    )
]


def sources(window: Window, part: int, parts: int) -> np.ndarray:
    """The operand elements that a device's part of the result comes from."""
    size = window.result // parts
    wanted = window.start + window.stride * np.arange(part * size, (part + 1) * size)
    return wanted[(wanted >= 0) & (wanted < window.operand)]


@pytest.mark.parametrize("parts", [1, 2, 4])
@pytest.mark.parametrize("window", WINDOWS, ids=str)
def test_counts_are_those_of_the_elements(window: Window, parts: int) -> None:
    size = window.operand // parts
    needed = [sources(window, part, parts) for part in range(parts)]
    held = [wanted[wanted // size == part] for part, wanted in enumerate(needed)]
    expected = tuple(Fraction(sum(map(len, each)), parts) for each in (needed, held))
    assert counts(window, parts) == expected


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
    assert not Window(8, 8, 7, -1).pads
    assert Window(8, 8, -1).pads
    assert Window(8, 12, 0).common == 4
