"""
Convolutions, reductions over windows and selections by their definitions: loops over single elements.

Test modules reach it through `pyproject.toml`, which puts this folder on the path.
"""

import itertools

import numpy as np


def element(array, places, start):
    """The element of a padded array: `start` where a place, counted in padded and dilated steps, holds none."""
    found = []
    for (place, move), size in zip(places, array.shape, strict=True):
        source, rest = divmod(place - move.low, move.base)
        if rest or not 0 <= source < size:
            return start
        found.append(source)
    return array[tuple(found)]


def window(array, index, moves, start):
    """The elements of one window, in order."""
    for tap in itertools.product(*(range(move.size) for move in moves)):
        places = [
            (at * move.stride + offset * move.dilation, move)
            for at, offset, move in zip(index, tap, moves, strict=True)
        ]
        yield element(array, places, start)


def naive_convolution(lhs, rhs, numbers, moves, groups):
    """By the definition, for each element of the result."""
    (batch, feature, *space), (inputs, outputs, *taps), (out_batch, out_feature, *places) = numbers
    image = lhs.transpose([batch, feature, *space])
    kernel = rhs.transpose([inputs, outputs, *taps])
    flips = (slice(None), slice(None), *(slice(None, None, -1 if move.reverse else 1) for move in moves))
    kernel = kernel[flips]
    counts = [move.result(size) for move, size in zip(moves, image.shape[2:], strict=True)]
    shape = (image.shape[0] // groups[1], kernel.shape[1], *counts)
    result = np.zeros(shape, np.result_type(lhs, rhs, np.float64))
    each = kernel.shape[1] // max(groups)
    for b, o, *index in np.ndindex(*result.shape):
        group = o // each
        row = group * result.shape[0] + b if groups[1] > 1 else b
        first = group * kernel.shape[0] if groups[0] > 1 else 0
        for i in range(kernel.shape[0]):
            mine = window(image[row, first + i], index, moves, 0)
            result[(b, o, *index)] += sum(x * w for x, w in zip(mine, kernel[i, o].ravel(), strict=True))
    order = np.argsort([out_batch, out_feature, *places])
    return result.transpose(order)


def naive_reduce(array, start, combine, moves):
    result = np.empty([move.result(size) for move, size in zip(moves, array.shape, strict=True)], array.dtype)
    for index in np.ndindex(*result.shape):
        value = start
        for item in window(array, index, moves, start):
            value = combine(value, item)
        result[index] = value
    return result


def naive_scatter(operand, source, start, moves):
    """Max-pool's gradient: the first of the largest elements of each window gets the source's element."""
    result = np.full_like(operand, start)
    for index in np.ndindex(*source.shape):
        best = None
        for tap in itertools.product(*(range(move.size) for move in moves)):
            place = tuple(i * m.stride + t - m.low for i, t, m in zip(index, tap, moves, strict=True))
            if all(0 <= p < n for p, n in zip(place, operand.shape, strict=True)) and (
                best is None or operand[place] > operand[best]
            ):
                best = place
        if best is not None:
            result[best] += source[index]
    return result
