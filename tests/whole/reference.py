"""
What StableHLO's ops mean, in NumPy, as plainly as the specification says it: loops over elements, no cleverness.

Written apart from the runtime, so that expected values never come from it; a peers test compares it with XLA.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
Index = tuple[int, ...]
Ints = Sequence[int]


def clamped(start: int, size: int, extent: int) -> int:
    """Where a window of a size starts, moved so that it lies inside."""
    return min(max(int(start), 0), extent - size)


def dynamic_slice(operand: Array, starts: Ints, sizes: Ints) -> Array:
    """The window at a start that is moved inside."""
    places = [clamped(start, size, extent) for start, size, extent in zip(starts, sizes, operand.shape, strict=True)]
    return operand[tuple(slice(place, place + size) for place, size in zip(places, sizes, strict=True))]


def dynamic_update_slice(operand: Array, update: Array, starts: Ints) -> Array:
    """The operand with a window replaced, at a start that is moved inside."""
    result = operand.copy()
    places = [clamped(s, size, extent) for s, size, extent in zip(starts, update.shape, operand.shape, strict=True)]
    result[tuple(slice(place, place + size) for place, size in zip(places, update.shape, strict=True))] = update
    return result


def pad(operand: Array, fill: Any, low: Ints, high: Ints, interior: Ints) -> Array:
    """Elements spread, then edges added, or cut off where negative."""
    spread = dilated(operand, fill, [amount + 1 for amount in interior])
    edges = [(max(a, 0), max(b, 0)) for a, b in zip(low, high, strict=True)]
    grown = np.pad(spread, edges, constant_values=fill)
    cuts = tuple(slice(max(-a, 0), size - max(-b, 0)) for a, b, size in zip(low, high, grown.shape, strict=True))
    return grown[cuts]


def dilated(operand: Array, fill: Any, steps: Ints) -> Array:
    """Elements at every so many places, the fill between them."""
    result = np.full([(n - 1) * s + 1 if n else 0 for n, s in zip(operand.shape, steps, strict=True)], fill)
    result = result.astype(operand.dtype)
    result[tuple(slice(None, None, step) for step in steps)] = operand
    return result


@dataclass(frozen=True)
class GatherDims:
    """The dimension numbers of a gather, or of a scatter, whose updates are in the role of the result."""

    offset: Ints
    collapsed: Ints
    start_map: Ints
    vector: int
    operand_batching: Ints = ()
    indices_batching: Ints = ()

    def start(self, indices: Array, batch: Index, rank: int) -> list[int]:
        """Where the window of a batch index starts, before clamping; places of batching dims included."""
        at: list[Any] = list(batch)
        if self.vector < indices.ndim:
            at.insert(self.vector, slice(None))
        vector = np.atleast_1d(indices[tuple(at)])
        full = [0] * rank
        for value, dim in zip(vector, self.start_map, strict=True):
            full[dim] = int(value)
        for dim, source in zip(self.operand_batching, self.indices_batching, strict=True):
            full[dim] = batch[source - (source > self.vector)]
        return full

    def window(self, offset: Index, rank: int) -> list[int]:
        """The place inside a window, over all dims of the operand."""
        absent = {*self.collapsed, *self.operand_batching}
        rest = iter(offset)
        return [0 if dim in absent else next(rest) for dim in range(rank)]


def gather(operand: Array, indices: Array, dims: GatherDims, sizes: Ints) -> Array:
    """A window of the operand for each start index, moved inside."""
    batch_shape = [n for d, n in enumerate(indices.shape) if d != dims.vector]
    absent = {*dims.collapsed, *dims.operand_batching}
    offset_shape = [size for d, size in enumerate(sizes) if d not in absent]
    rank = len(batch_shape) + len(offset_shape)
    batch_dims = [d for d in range(rank) if d not in dims.offset]
    shape = [0] * rank
    for group, extents in ((dims.offset, offset_shape), (batch_dims, batch_shape)):
        for d, extent in zip(group, extents, strict=True):
            shape[d] = extent
    result = np.zeros(shape, operand.dtype)
    for index in np.ndindex(*shape):
        start = dims.start(indices, tuple(index[d] for d in batch_dims), operand.ndim)
        window = dims.window(tuple(index[d] for d in dims.offset), operand.ndim)
        full = [
            (s if d in dims.operand_batching else clamped(s, sizes[d], operand.shape[d])) + w
            for d, (s, w) in enumerate(zip(start, window, strict=True))
        ]
        result[index] = operand[tuple(full)]
    return result


def scatter(
    operand: Array, indices: Array, updates: Array, dims: GatherDims, combine: Callable[[Any, Any], Any]
) -> Array:
    """The operand with every update combined into its place; updates outside are left out."""
    result = operand.copy()
    batch_dims = [d for d in range(updates.ndim) if d not in dims.offset]
    for index in np.ndindex(*updates.shape):
        start = dims.start(indices, tuple(index[d] for d in batch_dims), operand.ndim)
        window = dims.window(tuple(index[d] for d in dims.offset), operand.ndim)
        full = tuple(s + w for s, w in zip(start, window, strict=True))
        if all(0 <= place < extent for place, extent in zip(full, operand.shape, strict=True)):
            result[full] = combine(result[full], updates[index])
    return result


@dataclass(frozen=True)
class Window:
    """Windows that slide over an operand, one entry for each dim."""

    sizes: Ints
    strides: Ints
    padding: Sequence[tuple[int, int]]
    base: Ints
    window: Ints

    def padded(self, operand: Array, fill: Any) -> Array:
        """The operand, spread and padded."""
        lows, highs = zip(*self.padding, strict=True)
        return pad(operand, fill, lows, highs, [step - 1 for step in self.base])

    def counts(self, shape: Ints) -> list[int]:
        """How many windows fit into a padded operand."""
        spans = [(size - 1) * step + 1 for size, step in zip(self.sizes, self.window, strict=True)]
        return [
            max((extent - span) // stride + 1, 0) if extent >= span else 0
            for extent, span, stride in zip(shape, spans, self.strides, strict=True)
        ]

    def at(self, index: Index) -> tuple[slice, ...]:
        """The elements of one window."""
        firsts = [place * stride for place, stride in zip(index, self.strides, strict=True)]
        return tuple(
            slice(first, first + (size - 1) * step + 1, step)
            for first, size, step in zip(firsts, self.sizes, self.window, strict=True)
        )


def reduce_window(operand: Array, start: Any, window: Window, combine: Any) -> Array:
    """Each window folded with a ufunc."""
    padded = window.padded(operand, start)
    result = np.zeros(window.counts(padded.shape), operand.dtype)
    for index in np.ndindex(*result.shape):
        result[index] = functools.reduce(combine, padded[window.at(index)].ravel(), start)
    return result


def select_and_scatter(operand: Array, source: Array, start: Any, window: Window) -> Array:
    """Each element of the source added where its window is largest, the first such place."""
    result = np.full(operand.shape, start).astype(operand.dtype)
    lows = [low for low, _ in window.padding]
    for index in np.ndindex(*source.shape):
        best: tuple[Any, Index] | None = None
        for offset in np.ndindex(*window.sizes):
            place = tuple(
                i * stride + o - low for i, stride, o, low in zip(index, window.strides, offset, lows, strict=True)
            )
            inside = all(0 <= p < extent for p, extent in zip(place, operand.shape, strict=True))
            if inside and (best is None or operand[place] > best[0]):
                best = operand[place], place
        if best is not None:
            result[best[1]] += source[index]
    return result


@dataclass(frozen=True)
class Convolution:
    """Strides and so on of a convolution in the order batch, features, spatial x output, input features, spatial."""

    strides: Ints
    padding: Sequence[tuple[int, int]]
    base: Ints
    window: Ints
    reverse: Sequence[bool]
    feature_groups: int = 1
    batch_groups: int = 1

    def __call__(self, operand: Array, kernel: Array) -> Array:
        """The convolution as [batch, feature, spatial...]."""
        if self.batch_groups > 1:
            parts = zip(np.split(operand, self.batch_groups), np.split(kernel, self.batch_groups), strict=True)
            return np.concatenate([self._grouped(left, right) for left, right in parts], axis=1)
        return self._grouped(operand, kernel)

    def _grouped(self, operand: Array, kernel: Array) -> Array:
        groups = self.feature_groups
        parts = zip(np.split(operand, groups, axis=1), np.split(kernel, groups), strict=True)
        return np.concatenate([self._one(left, right) for left, right in parts], axis=1)

    def _one(self, operand: Array, kernel: Array) -> Array:
        spatial = operand.ndim - 2
        sizes = kernel.shape[2:]
        flip = tuple(slice(None, None, -1 if turned else 1) for turned in self.reverse)
        kernel = kernel[(slice(None), slice(None), *flip)]
        window = Window(sizes, self.strides, self.padding, self.base, self.window)
        plane = pad(
            operand,
            0,
            [0, 0, *(low for low, _ in self.padding)],
            [0, 0, *(high for _, high in self.padding)],
            [0, 0, *(step - 1 for step in self.base)],
        )
        counts = window.counts(plane.shape[2:])
        result = np.zeros((operand.shape[0], kernel.shape[0], *counts), operand.dtype)
        axes = tuple(range(1, spatial + 2))
        for index in np.ndindex(*counts):
            seen = plane[(slice(None), slice(None), *window.at(index))]
            result[(slice(None), slice(None), *index)] = np.tensordot(seen, kernel, (axes, axes))
        return result


def top_k(operand: Array, count: int) -> tuple[Array, Array]:
    """The largest of the last dim and where they were; of equal ones the first, but 0 is larger than -0, as in XLA."""
    order = np.lexsort((np.signbit(operand), -operand), axis=-1)[..., :count]
    return np.take_along_axis(operand, order, -1), order


def sort(keys: Array, others: Sequence[Array], dim: int, *, descending: bool) -> tuple[Array, ...]:
    """Keys in order, others in the order of the keys; equal keys stay in order."""
    order = np.argsort(-keys if descending else keys, axis=dim, kind="stable")
    return tuple(np.take_along_axis(array, order, dim) for array in (keys, *others))


def arg_extreme(operand: Array, dim: int, *, largest: bool) -> tuple[Array, Array]:
    """The extreme along a dim, and where it was first."""
    places = (np.argmax if largest else np.argmin)(operand, axis=dim)
    return np.take_along_axis(operand, np.expand_dims(places, dim), dim).squeeze(dim), places


def bitcast(array: Array, source: np.dtype[Any], target: np.dtype[Any]) -> Array:
    """The same bits as other elements; a narrower target has a dim more, a wider one a dim less."""
    bits = np.ascontiguousarray(array.astype(source))
    if target.itemsize == source.itemsize:
        return bits.view(target)
    if target.itemsize < source.itemsize:
        return bits[..., None].view(target)
    return bits.view(target)[..., 0]
