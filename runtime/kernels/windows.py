"""Kernels that move a window: convolution, reductions over windows, and sums into the elements that windows select."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from shardwright.layout.planning.sweep import Sweep
from shardwright.runtime.kernels.elementwise import Array, Arrays, Body, narrow, widen
from shardwright.runtime.kernels.shape import REDUCTIONS, pad

BLOCK_BYTES = 1 << 21
"""The bytes of window contents that are laid out at once for a matrix product: so many stay in the cache."""

FEW = 8
"""A window of so many elements is combined one by one; longer ones by doubling."""

FEW_TAPS = 128
"""The window positions up to which a convolution without input features to sum goes through them one by one."""

Dims = Sequence[int]
Sweeps = Sequence[tuple[Any, ...]]
Combine = Callable[[list[Array], list[Array]], list[Array]]


def frames(xp: Any, array: Array, padding: Array, axis: int, count: int, *fields: int) -> Array:
    """
    `count` elements along a dim, in frames that start `step` places behind each other; `fields` are a `Window`'s start,
    stride, dilation, frame and step.

    >>> frames(np, np.array([1, 2, 3, 4]), np.array(0), 0, 8, -1, 1, 1, 4, 2).tolist()
    [0, 1, 2, 3, 2, 3, 4, 0]
    """
    start, stride, dilation, frame, step = fields
    index = xp.arange(count)
    places = start + step * (index // max(frame, 1)) + stride * (index % max(frame, 1))
    source = places // dilation
    outside = (places % dilation != 0) | (source < 0) | (source >= array.shape[axis])
    if not array.shape[axis]:
        shape = tuple(count if dim == axis else extent for dim, extent in enumerate(array.shape))
        return xp.broadcast_to(_spread(xp, padding, array.ndim), shape)
    result = xp.take(array, xp.where(outside, 0, source), axis=axis)
    if outside.any():
        at = (slice(None),) * axis + (outside,)
        result[at] = xp.asarray(padding).reshape(-1)[0]
    return result


def convolution(
    xp: Any, lhs: Array, rhs: Array, numbers: Sequence[Dims], sweeps: Sweeps, groups: tuple[int, int]
) -> Array:
    """
    A convolution of two arrays of one dtype; `numbers` lists batch, feature and spatial dims of operands and result.

    `sweeps` are the fields of each spatial dim's `Sweep`, `groups` those of features and of the batch. Leading dims
    broadcast.

    >>> image, kernel = np.arange(4.0).reshape(1, 4, 1), np.ones((2, 1, 1))
    >>> convolution(np, image, kernel, [(0, 2, 1), (1, 2, 0), (0, 2, 1)], [(2, 1, 1, 0)], (1, 1)).ravel().tolist()
    [0.0, 1.0, 3.0, 5.0]
    """
    moves = [Sweep(*each) for each in sweeps]
    lead = lhs.ndim - len(numbers[0])
    image = _grouped_image(_padded_image(xp, lhs, numbers[0], moves, lead), lead, groups)
    kernel = _grouped_kernel(rhs, numbers[1], moves, lead, max(groups))
    view = _windows(xp, image, lead + 2, moves)
    taps = math.prod(move.size for move in moves)
    if kernel.shape[-2] == 1 and max(groups) > 1 and taps <= FEW_TAPS:
        product = _by_tap(xp, view, kernel, lead, moves)
    else:
        product = _by_matrix(xp, view, kernel, lead, len(moves))
    moved = xp.moveaxis(product, lead, -2)
    whole = moved.reshape((*moved.shape[:-2], moved.shape[-2] * moved.shape[-1]))
    batch, feature, *spatial = numbers[2]
    order = [0] * len(numbers[2])
    for place, dim in enumerate((batch, *spatial, feature)):
        order[dim] = lead + place
    return whole.transpose([*range(lead), *order])


def _padded_image(xp: Any, lhs: Array, dims: Dims, moves: Sequence[Sweep], lead: int) -> Array:
    """`[lead, batch, space..., features]`, with edges and holes of zeros."""
    batch, feature, *spatial = (lead + dim for dim in dims)
    image = lhs.transpose([*range(lead), batch, *spatial, feature])
    return _padded(xp, image, xp.zeros((1,) * image.ndim, image.dtype), [Sweep(1), *moves, Sweep(1)])


def _grouped_image(image: Array, lead: int, groups: tuple[int, int]) -> Array:
    """`[lead, group, batch, space..., features]`, whether features or the batch fall into groups."""
    features, batches = groups
    shape = image.shape
    if batches > 1:
        return image.reshape((*shape[:lead], batches, shape[lead] // batches, *shape[lead + 1 :]))
    return _groups_first(image, lead, features)


def _grouped_kernel(rhs: Array, dims: Dims, moves: Sequence[Sweep], lead: int, groups: int) -> Array:
    """`[lead, group, space..., inputs, outputs]`, back to front where a window is reversed."""
    inputs, outputs, *spatial = (lead + dim for dim in dims)
    kernel = rhs.transpose([*range(lead), *spatial, inputs, outputs])
    flips = [slice(None, None, -1 if move.reverse else 1) for move in moves]
    return _groups_first(kernel[(slice(None),) * lead + tuple(flips)], lead, groups)


def _groups_first(array: Array, lead: int, groups: int) -> Array:
    """The last dim cut into groups, whose dim goes behind the leading ones; a view."""
    apart = array.reshape((*array.shape[:-1], groups, array.shape[-1] // groups))
    rank = apart.ndim
    return apart.transpose([*range(lead), rank - 2, *range(lead, rank - 2), rank - 1])


def _windows(xp: Any, image: Array, first: int, moves: Sequence[Sweep]) -> Array:
    """The dims from `first` on as places of the window, then dims for the elements inside it; a view."""
    places: list[tuple[int, int]] = []
    inside: list[tuple[int, int]] = []
    for dim, move in enumerate(moves, first):
        count = max(0, (image.shape[dim] - move.reach) // move.stride + 1)
        places.append((count, image.strides[dim] * move.stride))
        inside.append((move.size, image.strides[dim] * move.dilation))
    last = first + len(moves)
    before = list(zip(image.shape[:first], image.strides[:first], strict=True))
    after = list(zip(image.shape[last:], image.strides[last:], strict=True))
    shape, strides = zip(*before, *places, *inside, *after, strict=True)
    if 0 in shape:
        return xp.zeros(shape, image.dtype)
    return xp.lib.stride_tricks.as_strided(image, shape, strides)


def _by_tap(xp: Any, view: Array, kernel: Array, lead: int, moves: Sequence[Sweep]) -> Array:
    """Nothing is summed but the elements of the window: one product for each of them."""
    result: Any = None
    count = len(moves)
    for tap in itertools.product(*(range(move.size) for move in moves)):
        part = view[(..., *tap, slice(None))]
        weight = kernel[(slice(None),) * (lead + 1) + tap]
        weight = weight.reshape((*weight.shape[: lead + 1], *(1,) * (count + 1), weight.shape[-1]))
        result = part * weight if result is None else xp.add(result, part * weight, out=result)
    return result


def _by_matrix(xp: Any, view: Array, kernel: Array, lead: int, count: int) -> Array:
    """One matrix product: a row for each place of the window, whose contents are laid out block by block."""
    batch = lead + 1
    outputs, depth = kernel.shape[-1], math.prod(kernel.shape[batch:-1])
    matrix = kernel.reshape((*kernel.shape[:batch], depth, outputs))
    fronts = np.broadcast_shapes(view.shape[:batch], matrix.shape[:batch])
    extents = view.shape[batch : batch + 1 + count]
    result = xp.empty((*fronts, *extents, outputs), view.dtype)
    if math.prod(matrix.shape[:batch]) == 1:  # then the leading dims are rows like any other
        matrix, extents, fronts, batch = matrix.reshape((depth, outputs)), view.shape[: batch + 1 + count], (), 0
    row = math.prod(view.shape[:batch]) * depth * view.dtype.itemsize
    space: Any = None  # one piece of memory for all blocks: new memory costs more than what is done in it
    for block in _blocks(extents, row):
        at = (slice(None),) * batch + block
        part = view[at]
        rows = part.shape[batch : batch + len(extents)]
        if not part.flags.c_contiguous:
            space = xp.empty(part.size, part.dtype) if space is None else space
            laid = space[: part.size].reshape(part.shape)
            laid[...] = part
            part = laid
        columns = part.reshape((*part.shape[:batch], math.prod(rows), depth))
        if batch:
            result[at] = xp.matmul(columns, matrix).reshape((*fronts, *rows, outputs))
        else:  # the block of the result is one piece of memory, too
            xp.matmul(columns, matrix, out=result[at].reshape((math.prod(rows), outputs)))
    return result


def _blocks(extents: Sequence[int], item: int) -> Iterator[tuple[slice, ...]]:
    """Slices that cut an array of items of so many bytes into blocks that fit `BLOCK_BYTES`."""
    if not extents:
        yield ()
        return
    rest = math.prod(extents[1:]) * item
    if rest > BLOCK_BYTES:
        for index in range(extents[0]):
            for tail in _blocks(extents[1:], item):
                yield (slice(index, index + 1), *tail)
        return
    step = max(1, BLOCK_BYTES // max(rest, 1))
    for start in range(0, extents[0], step):
        yield (slice(start, min(start + step, extents[0])),)


def reduce_window(xp: Any, array: Array, start: Array, kind: str, sweeps: Sweeps, neutral: bool) -> Array:
    """
    The elements of each window combined, `start` too; with `neutral`, more of `start` changes nothing.

    >>> reduce_window(np, np.array([1, 5, 2, 4]), np.array(0), "max", [(2, 1)], True).tolist()
    [5, 5, 4]
    >>> reduce_window(np, np.array([1, 5, 2, 4]), np.array(0), "sum", [(4, 1, 3)], True).tolist()
    [1, 6, 8, 12]
    """
    function = getattr(xp, REDUCTIONS[kind])
    moves = [Sweep(*each) for each in sweeps]
    lead = array.ndim - len(moves)
    seed = _spread(xp, widen(xp, start), array.ndim)
    result = widen(xp, array)
    if not neutral:  # a start value that counts comes in once for each place of the padding, and no more
        result = _padded(xp, result, seed, moves)
        moves = [Sweep(move.size, move.stride, dilation=move.dilation) for move in moves]
    for axis, move in enumerate(moves, lead):
        if not move.trivial:
            result = _swept(xp, function, result, seed, axis, move)
    return narrow(xp, function(seed, result), array.dtype)


def _spread(xp: Any, start: Array, rank: int) -> Array:
    """A start value, which has leading dims only, with dims of size 1 for the others."""
    start = xp.asarray(start)
    return start.reshape(start.shape + (1,) * (rank - start.ndim))


def _swept(xp: Any, function: Any, array: Array, seed: Array, axis: int, move: Sweep) -> Array:
    """One dim's windows combined by a ufunc, to which the start value is neutral."""
    size = array.shape[axis]
    steps, edges = (move.stride, move.base, move.dilation), (move.low, move.high)
    if steps == (1, 1, 1) and move.size >= size > 0 and edges in ((move.size - 1, 0), (0, move.size - 1)):
        if not move.high:
            return function.accumulate(array, axis=axis, dtype=array.dtype)
        return xp.flip(function.accumulate(xp.flip(array, axis), axis=axis, dtype=array.dtype), axis)
    padded = _padded(xp, array, seed, [Sweep(1)] * axis + [move] + [Sweep(1)] * (array.ndim - axis - 1))
    count = move.result(size)
    if move.size > FEW and count * move.size <= 4 * padded.shape[axis]:
        moved = _windows(xp, xp.moveaxis(padded, axis, -1), padded.ndim - 1, [move])
        return xp.moveaxis(function.reduce(moved, axis=-1, dtype=array.dtype), -1, axis)
    return _slide(lambda left, right: [function(left[0], right[0])], [padded], axis, move)[0]


def _padded(xp: Any, array: Array, seed: Array, moves: Sequence[Sweep]) -> Array:
    """The array with the edges and holes of its last dims filled with the start value."""
    if all((move.low, move.high, move.base) == (0, 0, 1) for move in moves):
        return array
    low, high, holes = zip(*((move.low, move.high, move.base - 1) for move in moves), strict=True)
    return pad(xp, array, seed, low, high, holes)


def _slide(combine: Combine, arrays: list[Array], axis: int, move: Sweep) -> list[Array]:
    """
    The windows of one dim combined, elements in order: one by one, or by windows of 1, 2, 4, ... elements.

    Each step of the doubling joins two neighbouring windows, so that it takes as many steps as the size has bits.
    """
    count = max(0, (arrays[0].shape[axis] - move.reach) // move.stride + 1)

    def cut(found: list[Array], first: int, step: int, length: int) -> list[Array]:
        at = (slice(None),) * axis + (slice(first, first + (length - 1) * step + 1 if length else first, step),)
        return [array[at] for array in found]

    total: list[Array] | None = None
    if move.size <= FEW:
        for place in range(move.size):
            part = cut(arrays, place * move.dilation, move.stride, count)
            total = part if total is None else combine(total, part)
        return total or []
    starts, taken, power = (count - 1) * move.stride + 1 if count else 0, 0, arrays
    for bit in range(move.size.bit_length()):
        if move.size >> bit & 1:
            part = cut(power, taken * move.dilation, 1, starts)
            total = part if total is None else combine(total, part)
            taken += 1 << bit
        shift = (1 << bit) * move.dilation
        length = max(0, power[0].shape[axis] - shift)
        power = combine(cut(power, 0, 1, length), cut(power, shift, 1, length))
    return cut(total or [], 0, move.stride, count)


def fold_window(xp: Any, body: Body, inputs: Arrays, starts: Arrays, sweeps: Sweeps) -> tuple[Array, ...]:
    """Windows of several arrays combined by any body that may be applied in any grouping, the start values first."""
    moves = [Sweep(*each) for each in sweeps]
    rank = inputs[0].ndim
    lead = rank - len(moves)
    shape = np.broadcast_shapes(*(array.shape for array in inputs))
    seeds = [_spread(xp, start, rank) for start in starts]
    current = [
        _padded(xp, xp.broadcast_to(array, shape), seed, moves) for array, seed in zip(inputs, seeds, strict=True)
    ]
    for axis, move in enumerate(moves, lead):
        if (move.size, move.stride) != (1, 1):
            current = _slide(lambda left, right: list(body(*left, *right)), current, axis, move)
    return body(*seeds, *current)


def select_and_scatter(
    xp: Any, select: Body, scatter: Body, operand: Array, source: Array, start: Array, sweeps: Sweeps
) -> Array:
    """
    Each element of `source` combined into the element that its window of `operand` selects; padding is never selected.

    `select` says whether the element chosen so far stays in place of the next one, `scatter` combines.
    """
    moves = [Sweep(*each) for each in sweeps]
    lead = operand.ndim - len(moves)
    taps = itertools.product(*(range(move.size) for move in moves))
    windows = [_tap_slices(operand.shape[lead:], source.shape[lead:], tap, moves) for tap in taps]
    chosen = _chosen(xp, select, operand, source.shape[lead:], windows)
    fronts = np.broadcast_shapes(operand.shape[:lead], source.shape[:lead], start.shape[:lead])
    result = xp.empty((*fronts, *operand.shape[lead:]), operand.dtype)
    result[...] = _spread(xp, start, operand.ndim)
    for number, (places, elements) in enumerate(windows):
        hit = chosen[(..., *places)] == number
        old = result[(..., *elements)]
        (combined,) = scatter(old, xp.broadcast_to(source[(..., *places)], old.shape))
        result[(..., *elements)] = xp.where(hit, combined, old)
    return result


Slices = tuple[slice, ...]


def _tap_slices(operand: Dims, source: Dims, tap: Dims, moves: Sequence[Sweep]) -> tuple[Slices, Slices]:
    """For one element of the window: the places of the window where it is no padding, and the operand's elements."""
    places: list[slice] = []
    elements: list[slice] = []
    for size, count, offset, move in zip(operand, source, tap, moves, strict=True):
        first = max(0, -((offset - move.low) // move.stride))
        last = max(first, min(count, (size - 1 - offset + move.low) // move.stride + 1))
        begin = first * move.stride + offset - move.low
        places.append(slice(first, last))
        elements.append(
            slice(begin, begin + (last - first - 1) * move.stride + 1 if last > first else begin, move.stride)
        )
    return tuple(places), tuple(elements)


def _chosen(xp: Any, select: Body, operand: Array, counts: Dims, windows: Sequence[tuple[Slices, Slices]]) -> Array:
    """For each place of the window the number of the element that it selects, or -1 where all is padding."""
    fronts = operand.shape[: operand.ndim - len(counts)]
    chosen = xp.full((*fronts, *counts), -1, np.int64)
    best = xp.zeros((*fronts, *counts), operand.dtype)
    for number, (places, elements) in enumerate(windows):
        old, new = best[(..., *places)], operand[(..., *elements)]
        (stays,) = select(old, new)
        takes = xp.logical_or(chosen[(..., *places)] < 0, xp.logical_not(stays))
        best[(..., *places)] = xp.where(takes, new, old)
        chosen[(..., *places)] = xp.where(takes, number, chosen[(..., *places)])
    return chosen
