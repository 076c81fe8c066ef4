"""
Convolutions, windows and selections under even layouts of arguments and results on a 2x2 mesh.

Expected is what the definitions give, element by element. Inputs are small whole numbers, so that sums are exact in any
order.
"""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from harness import run
from layout_cases import Case, combinations, shape_and_dtype
from window_cases import convolution, largest, reduction, selection

from shardwright.dialects.stablehlo.windows import ConvDimensions
from shardwright.layout.planning.sweep import Sweep

MOST, MOST_SLOW = 3, 400

FIRST = ConvDimensions(0, 1, (2,), 1, 0, (2,), 0, 1, (2,))
IMAGES = ConvDimensions(0, 3, (1, 2), 2, 3, (0, 1), 0, 3, (1, 2))
GRADIENT = ConvDimensions(2, 0, (1,), 0, 2, (1,), 1, 2, (0,))
ONE = Sweep(1)

CASES: dict[str, Case] = {
    "same": convolution((2, 8, 2), (3, 2, 4), Sweep(3, low=1, high=1)),
    "same, even window": convolution((2, 8, 2), (4, 2, 2), Sweep(4, low=1, high=2)),
    "valid, features first": convolution((2, 2, 12), (4, 2, 5), Sweep(5), numbers=FIRST),
    "a window over three parts": convolution((1, 8, 2), (7, 2, 2), Sweep(7, low=3, high=3)),
    "causal": convolution((2, 8, 2), (3, 2, 2), Sweep(3, low=2)),
    "cut edges": convolution((2, 12, 2), (3, 2, 2), Sweep(3, low=-1, high=-1)),
    "strides": convolution((2, 8, 2), (3, 2, 4), Sweep(3, stride=2, high=1)),
    "strides as wide as the window": convolution((2, 8, 2), (2, 2, 4), Sweep(2, stride=2)),
    "every other pixel": convolution((2, 8, 2), (1, 2, 4), Sweep(1, stride=2)),
    "holes in the window": convolution((2, 8, 2), (3, 2, 2), Sweep(3, low=2, high=2, dilation=2)),
    "holes in the input": convolution((2, 4, 2), (3, 2, 2), Sweep(3, low=1, high=2, base=2)),
    "holes in the input, reversed": convolution((2, 8, 2), (3, 2, 2), Sweep(3, low=2, high=1, base=2, reverse=True)),
    "three holes, strides of two": convolution((2, 8, 2), (4, 2, 2), Sweep(4, 2, 3, 3, base=3)),
    "up, each its own block": convolution((2, 4, 2), (2, 2, 2), Sweep(2, low=1, high=1, base=2)),
    "groups of features": convolution((2, 8, 4), (3, 2, 4), Sweep(3, low=1, high=1), groups=(2, 1)),
    "depthwise": convolution((2, 8, 4), (3, 1, 8), Sweep(3, low=1, high=1), groups=(4, 1)),
    "groups of the batch": convolution((4, 4, 2), (3, 2, 4), Sweep(3, low=1, high=1), groups=(1, 2)),
    "no window": convolution((4, 8), (4, 2), numbers=ConvDimensions(0, 1, (), 0, 1, (), 1, 0, ()), groups=(2, 1)),
    "images": convolution((2, 8, 4, 2), (3, 3, 2, 2), Sweep(3, 2, 1), Sweep(3, low=1, high=1), numbers=IMAGES),
    "gradient of a kernel": convolution((2, 8, 4), (2, 8, 2), Sweep(8, low=1, high=1), numbers=GRADIENT),
    "gradient of a strided kernel": convolution((2, 8, 4), (2, 4, 2), Sweep(4, high=1, dilation=2), numbers=GRADIENT),
    "gradient, reversed": convolution((2, 8, 4), (2, 8, 2), Sweep(8, low=1, reverse=True), numbers=GRADIENT),
    "gradient of a depthwise kernel": convolution(
        (2, 8, 4), (2, 8, 4), Sweep(8, low=1, high=1), numbers=GRADIENT, groups=(1, 4)
    ),
    "gradient of a kernel of images": convolution(
        (4, 8, 4, 2), (4, 8, 2, 2), Sweep(4, low=1, high=1), Sweep(8, low=1, high=1), numbers=IMAGES
    ),
    "pool": reduction((4, 8), "maximum", -np.inf, ONE, Sweep(3, low=1, high=1)),
    "pool both dims": reduction((8, 8), "maximum", -np.inf, Sweep(3, 2, high=1), Sweep(2)),
    "mean": reduction((8, 8), "add", 0.0, Sweep(2, 2), Sweep(4, 4)),
    "sum from one": reduction((4, 8), "add", 1.0, ONE, Sweep(3, low=1, high=1)),
    "holes everywhere": reduction((4, 8), "minimum", 3.0, ONE, Sweep(3, 1, 3, 2, base=2, dilation=2)),
    "sliding sum": reduction((4, 8), "add", 0.0, ONE, Sweep(5, low=4)),
    "cumsum": reduction((8, 4), "add", 0.0, Sweep(8, low=7), ONE),
    "cumsum from the end": reduction((4, 8), "add", 0.0, ONE, Sweep(8, high=7)),
    "cumsum of a longer window": reduction((8, 4), "add", 0.0, Sweep(11, low=10), ONE),
    "cumsum from one": reduction((8, 4), "add", 1.0, Sweep(8, low=7), ONE),
    "cumsum of both dims": reduction((4, 8), "add", 0.0, Sweep(4, low=3), Sweep(8, high=7)),
    "cummax": reduction((4, 8), "maximum", -np.inf, ONE, Sweep(8, low=7)),
    "cummin from three": reduction((4, 8), "minimum", 3.0, ONE, Sweep(8, high=7)),
    "largest of each window": largest((4, 8), ONE, Sweep(3, low=1, high=1)),
    "largest of blocks": largest((4, 8), ONE, Sweep(2, 2)),
    "gradient of a pool": selection((4, 8), ONE, Sweep(3, low=1, high=1)),
    "gradient of a strided pool": selection((8, 8), Sweep(3, 2, high=1), Sweep(2, 2)),
    "gradient of a pool on two": selection((4, 16), ONE, Sweep(3, 2, low=1), start=2.0),
    "gradient of a pool with gaps": selection((4, 16), ONE, Sweep(2, 4, low=1, high=1)),
}


def sampled(name: str, most: int) -> list[tuple[str, ...]]:
    """At most so many of a program's combinations of layouts."""
    every = combinations(CASES[name])
    return Random(name).sample(every, min(most, len(every)))


def check(name: str, most: int) -> None:
    """Runs a program under so many combinations of layouts, each with other inputs."""
    case = CASES[name]
    for seed, layouts in enumerate(sampled(name, most)):
        random = np.random.default_rng(seed)
        arrays = [random.integers(-4, 5, shape_and_dtype(text)[0]).astype(np.float32) for text in case.arguments]
        found = case.numpy(*arrays)
        results = found if type(found) is tuple else (found,)
        text = case.text(layouts)
        for actual, wanted in zip(run(text, arrays).results, results, strict=True):
            np.testing.assert_array_equal(actual, wanted, err_msg=text, strict=True)


@pytest.mark.every(4)
@pytest.mark.parametrize("name", CASES)
def test_layouts(name: str) -> None:
    check(name, MOST)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_every_layout(name: str) -> None:
    check(name, MOST_SLOW)
