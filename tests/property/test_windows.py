"""Random windows under random even layouts of arguments and results: what the definitions give, element by element."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from harness import run
from layout_cases import Case, combinations, shape_and_dtype
from window_cases import convolution, reduction, selection

from shardwright.layout.planning.sweep import Sweep


def random_sweep(choose: Random, size: int) -> Sweep:
    """Any window that fits: edges that cut, holes in the window and between the elements."""
    while True:
        move = Sweep(
            choose.choice([1, 2, 3, 4, 5, size]),
            choose.choice([1, 1, 2, 3]),
            choose.randint(-1, 4),
            choose.randint(-1, 4),
            choose.choice([1, 1, 2, 3]),
            choose.choice([1, 1, 2]),
            choose.random() < 0.3,
        )
        if move.padded(size) >= 0 and move.result(size) > 0:
            return move


def random_convolution(choose: Random, size: int) -> Case:
    move, groups = random_sweep(choose, size), choose.choice([(1, 1), (1, 1), (2, 1), (1, 2)])
    inputs, outputs = choose.choice([2, 4]), choose.choice([2, 4]) * max(groups)
    lhs = choose.choice([2, 4]), size, inputs * groups[0]
    return convolution(lhs, (move.size, inputs, outputs), move, groups=groups)


def random_reduction(choose: Random, size: int) -> Case:
    body, start = choose.choice(["add", "maximum", "multiply"]), choose.choice([0.0, 1.0, -3.0])
    return reduction((choose.choice([4, 8]), size), body, start, Sweep(1), random_sweep(choose, size))


def random_accumulation(choose: Random, size: int) -> Case:
    body, start = choose.choice(["add", "maximum", "minimum", "multiply"]), choose.choice([0.0, 1.0])
    window = size + choose.choice([0, 0, 3])
    edges = {"low": window - 1} if choose.random() < 0.5 else {"high": window - 1}
    other = choose.choice([Sweep(1), Sweep(2, 2), Sweep(3, low=1, high=1)])
    return reduction((size, 4), body, start, Sweep(window, **edges), other)


def random_selection(choose: Random, size: int) -> Case:
    stride, window = choose.choice([1, 2, 4]), choose.randint(1, 5)
    low = choose.randint(0, min(3, window - 1))
    high = max(0, (size // stride - 1) * stride + window - size - low)
    start = choose.choice([0.0, 2.0])
    return selection((choose.choice([2, 4]), size), Sweep(1), Sweep(window, stride, low, high), start=start)


KINDS = [random_convolution, random_convolution, random_reduction, random_accumulation, random_selection]


def check(seed: int) -> None:
    """One random program under random layouts."""
    choose, random = Random(seed), np.random.default_rng(seed)
    case = choose.choice(KINDS)(choose, choose.choice([4, 8, 12, 16]))
    text = case.text(choose.choice(combinations(case)))
    arrays = [random.integers(-2, 3, shape_and_dtype(kind)[0]).astype(np.float32) for kind in case.arguments]
    (found,) = run(text, arrays).results
    np.testing.assert_array_equal(found, case.numpy(*arrays), err_msg=f"seed {seed}\n{text}")


@pytest.mark.every(2)
@pytest.mark.parametrize("block", range(4))
def test_random_windows(block: int) -> None:
    for seed in range(15 * block, 15 * block + 15):
        check(seed)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(40))
def test_many_random_windows(block: int) -> None:
    for seed in range(1000 + 50 * block, 1000 + 50 * block + 50):
        check(seed)
