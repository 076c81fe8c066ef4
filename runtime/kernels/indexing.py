"""
Kernels of ops that find elements by computed indices: gather, scatter, dynamic_slice, dynamic_update_slice.

Arrays are stacked: `lead` leading dims, of size 1 where an array does not vary over the mesh, then the local dims.
*Positions* are arrays of integers that broadcast against each other, one for each dim along which elements are picked;
all other dims are taken whole.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from shardwright.dialects.stablehlo.indexing.numbers import GatherDimensions, ScatterDimensions
from shardwright.runtime.kernels.elementwise import Array, Arrays, Body, is_unsigned, narrow, widen
from shardwright.runtime.kernels.shape import REDUCTIONS

Positions = Mapping[int, Array]

WIDE_ROW, LONG_ROUND = 64, 4096
"""
From how many elements on a row is worth going through rounds of rows, and from how many on a round is.

In elements because that is what both ways cost: on rows of 256 rounds take 0.55 of the time of `ufunc.at`, whose index
has a number for each element. Rounds of fewer than 4096 elements are mostly calls.
"""

COMBINERS = REDUCTIONS | {"subtract": "subtract", "xor": "bitwise_xor"}
"""The ufunc by which a scatter combines the old element and the new one."""


def clamped(xp: Any, index: Array, highest: int) -> Array:
    """
    An index as int64, moved into 0 ... `highest`; unsigned indices that no int64 holds are high, not negative.

    >>> clamped(np, np.array([2**64 - 1, 3], np.uint64), 7).tolist(), clamped(np, np.array(-5, np.int8), 900).tolist()
    ([7, 3], 0)
    """
    if is_unsigned(index.dtype) and index.dtype.itemsize == 8:
        return xp.minimum(index, highest).astype(np.int64)
    return xp.clip(index.astype(np.int64), 0, highest)


def _count(xp: Any, count: int, place: int, rank: int) -> Array:
    """0 ... count - 1 along one dim of `rank`."""
    return xp.arange(count).reshape([count if dim == place else 1 for dim in range(rank)])


@dataclass(frozen=True)
class _Windows:
    """
    How windows lie in an operand, and in the tensor that holds them all: a gather's result, or a scatter's updates.

    `sizes` are a window's extents along the operand's dims. `places` says for each of these dims, where it has one, its
    dim in the tensor of windows; `batch_places` the same for each dim of the indices, without that of the components.
    """

    lead: int
    rank: int
    sizes: tuple[int, ...]
    places: Mapping[int, int]
    batching: Mapping[int, int]
    batch_places: tuple[int, ...]
    index_map: tuple[int, ...]
    vector_dim: int

    def starts(self, indices: Array) -> dict[int, Array]:
        """For each indexed dim of the operand where windows start, as an array that broadcasts over them."""
        lead = self.lead
        if lead + self.vector_dim == indices.ndim:
            indices = indices[..., None]
        front = (slice(None),) * (lead + self.vector_dim)
        found: dict[int, Array] = {}
        for at, dim in enumerate(self.index_map):
            component = indices[(*front, at)]
            shape = [1] * self.rank
            for place, extent in zip(self.batch_places, component.shape[lead:], strict=True):
                shape[place] = extent
            found[dim] = component.reshape((*component.shape[:lead], *shape))
        return found

    def positions(self, xp: Any, starts: Positions, shape: Sequence[int], dims: Sequence[int]) -> dict[int, Array]:
        """The positions of all elements of all windows along leading dims and `dims` of an operand of this shape."""
        lead, rank = self.lead, self.lead + self.rank
        found = {dim: _count(xp, shape[dim], dim, rank) for dim in range(lead)}
        for dim in dims:
            place = self.batching.get(dim, self.places.get(dim, 0))
            count = shape[lead + dim] if dim in self.batching else self.sizes[dim]
            found[lead + dim] = _count(xp, count, lead + place, rank) + starts.get(dim, 0)
        return found


def _gathered(lead: int, numbers: GatherDimensions, sizes: Sequence[int], index_rank: int) -> _Windows:
    inner = numbers.window_dims(len(sizes))
    rank = index_rank - (numbers.index_vector_dim < index_rank) + len(inner)
    batch, vector = numbers.batch_dims(rank), numbers.index_vector_dim
    batching = _batching(numbers.operand_batching_dims, numbers.start_indices_batching_dims, batch, vector)
    places = dict(zip(inner, numbers.offset_dims, strict=True))
    return _Windows(lead, rank, tuple(sizes), places, batching, batch, numbers.start_index_map, vector)


def _scattered(lead: int, numbers: ScatterDimensions, operand_rank: int, updates: Sequence[int]) -> _Windows:
    batch, vector = numbers.batch_dims(len(updates)), numbers.index_vector_dim
    batching = _batching(numbers.input_batching_dims, numbers.scatter_indices_batching_dims, batch, vector)
    places = dict(zip(numbers.window_dims(operand_rank), numbers.update_window_dims, strict=True))
    sizes = tuple(updates[places[dim]] if dim in places else 1 for dim in range(operand_rank))
    return _Windows(lead, len(updates), sizes, places, batching, batch, numbers.scatter_dims_to_operand_dims, vector)


def _batching(
    operand_dims: Sequence[int], index_dims: Sequence[int], places: Sequence[int], vector_dim: int
) -> dict[int, int]:
    """For each batching dim of the operand its dim in the tensor of windows."""
    return {dim: places[at - (at > vector_dim)] for dim, at in zip(operand_dims, index_dims, strict=True)}


def _pick(array: Array, positions: Positions) -> Array:
    """The elements at these positions: the dims of the positions, then those of the array that are whole."""
    dims = sorted(positions)
    moved = array.transpose([*dims, *(dim for dim in range(array.ndim) if dim not in positions)])
    if not moved.flags.c_contiguous:
        return moved[tuple(positions[dim] for dim in dims)]
    rows = moved.reshape((math.prod(moved.shape[: len(dims)]), *moved.shape[len(dims) :]))
    return rows[_linear(positions, array.shape)]


def _linear(positions: Positions, shape: Sequence[int]) -> Array:
    """One number for each position, row-major over the dims that have positions."""
    number: Any = 0
    for dim in sorted(positions):
        number = number * shape[dim] + positions[dim]
    return number


def gather(xp: Any, operand: Array, indices: Array, lead: int, numbers: Sequence[Any], sizes: Sequence[int]) -> Array:
    """
    StableHLO's gather; `numbers` are the fields of `GatherDimensions`.

    >>> gather(np, np.arange(6).reshape(3, 2), np.array([[2], [9]]), 0, ((1,), (0,), (), (), (0,), 1), (1, 2)).tolist()
    [[4, 5], [4, 5]]
    """
    windows = _gathered(lead, GatherDimensions(*numbers), sizes, indices.ndim - lead)
    shape = operand.shape[lead:]
    whole = [dim for dim in windows.places if sizes[dim] == shape[dim]]
    picked = [dim for dim in range(len(shape)) if dim not in whole]
    starts = {dim: clamped(xp, at, shape[dim] - sizes[dim]) for dim, at in windows.starts(indices).items()}
    positions = windows.positions(xp, starts, operand.shape, picked)
    found = _pick(operand, positions) if positions else operand.reshape((1,) * windows.rank + operand.shape)
    return _with_whole_dims(xp, found, windows, {dim: shape[dim] for dim in whole}, indices)


def _with_whole_dims(xp: Any, found: Array, windows: _Windows, whole: Mapping[int, int], indices: Array) -> Array:
    """The dims that were taken whole, which come last, in their places; dims along which all is the same, spread."""
    lead, rank = windows.lead, windows.rank
    places = [lead + windows.places[dim] for dim in whole]
    kept = [dim for dim in range(lead + rank) if dim not in places]
    found = found.reshape([found.shape[dim] for dim in kept] + list(whole.values()))
    found = found.transpose([[*kept, *places].index(dim) for dim in range(lead + rank)])
    batch = [extent for at, extent in enumerate(indices.shape[lead:]) if at != windows.vector_dim]
    shape = list(np.broadcast_shapes(found.shape[:lead], indices.shape[:lead])) + list(found.shape[lead:])
    for place, extent in zip(windows.batch_places, batch, strict=True):
        shape[lead + place] = extent
    return xp.broadcast_to(found, shape)


def _whole_tail(windows: _Windows, operand: Sequence[int]) -> int:
    """How many of the operand's last dims all windows have whole, and nothing indexes."""
    rank = len(operand)
    for count, dim in enumerate(reversed(range(rank))):
        if dim not in windows.places or dim in windows.index_map or windows.sizes[dim] != operand[dim]:
            return count
    return rank


def _targets(
    xp: Any,
    windows: _Windows,
    indices: Array,
    front: Sequence[int],
    operand: Sequence[int],
    updates: Sequence[int],
    tail: int,
) -> tuple[Array, Array | None]:
    """
    For each row of updates, windows major, the number of its row in the operand, and which rows count.

    A row has the elements along the last `tail` dims of the operand. Windows that do not fit into the operand do not
    count; None when all do. Fronts are the leading dims of everything.
    """
    rank = len(operand) - tail
    within = {windows.places[dim] for dim in range(rank, len(operand))}
    updates = [1 if place in within else extent for place, extent in enumerate(updates)]
    starts = windows.starts(indices)
    shape = (*front, *operand)
    counts: Any = None
    for dim, start in starts.items():
        start = starts[dim] = start.astype(np.int64)
        fits = (start >= 0) & (start <= operand[dim] - windows.sizes[dim])
        counts = fits if counts is None else counts & fits
    positions = windows.positions(xp, starts, shape, range(rank))
    numbers = _flat_windows(xp, _linear(positions, shape), windows, front, updates)
    if counts is None or bool(counts.all()):
        return numbers, None
    return numbers, _flat_windows(xp, counts, windows, front, updates)


def _flat_windows(xp: Any, array: Array, windows: _Windows, front: Sequence[int], updates: Sequence[int]) -> Array:
    """All elements of a stacked tensor of windows in one row, window by window."""
    lead = windows.lead
    places = sorted(windows.places.values())
    order = [*range(lead), *(lead + at for at in windows.batch_places), *(lead + at for at in places)]
    return xp.broadcast_to(array, (*front, *updates)).transpose(order).reshape(-1)


def scatter(
    xp: Any,
    operand: Array,
    indices: Array,
    updates: Array,
    lead: int,
    kind: str,
    numbers: Sequence[Any],
    over: Sequence[int] = (),
    out: Array | None = None,
) -> Array:
    """
    StableHLO's scatter of one operand, whose elements become the new ones (`set`) or are combined with them.

    Along the leading dims `over`, which have size 1 in the result, the updates of all devices go to the same operand.
    The result is in `out`, where that is given.

    `numbers` are the fields of `ScatterDimensions`. A window that does not fit into the operand is left out, as XLA
    does. Narrow floats are summed in float32.

    >>> numbers = ((), (0,), (), (), (0,), 1)
    >>> scatter(np, np.zeros(3, int), np.array([[1], [1], [7]]), np.array([2, 3, 4]), 0, "sum", numbers).tolist()
    [0, 5, 0]
    """
    if over:
        operand = operand[tuple(slice(0, 1) if dim in over else slice(None) for dim in range(lead))]
        indices, updates, numbers = _together(xp, indices, updates, lead, numbers, over)
    found = _Flat(xp, [operand], indices, [updates], lead, numbers, out)
    (flat,), (new,) = found.operands, found.updates
    if kind == "set":
        flat[found.targets] = new
    else:
        wide = widen(xp, flat)
        _combine(xp, getattr(xp, COMBINERS[kind]), wide, found, widen(xp, new))
        flat = narrow(xp, wide, operand.dtype)
    made = flat.reshape(found.shape)
    if out is None:
        return made
    if not xp.may_share_memory(made, out):
        out[...] = made
    return out


def _together(
    xp: Any, indices: Array, updates: Array, lead: int, numbers: Sequence[Any], over: Sequence[int]
) -> tuple[Array, Array, tuple[Any, ...]]:
    """Indices and updates in which leading dims became the first of those that count updates, and their numbers."""
    sizes = np.broadcast_shapes(indices.shape[:lead], updates.shape[:lead])
    count, moved = len(over), list[Array]()
    for array in (indices, updates):
        shape = [sizes[dim] if dim in over else extent for dim, extent in enumerate(array.shape)]
        behind = xp.moveaxis(xp.broadcast_to(array, shape), over, range(lead - count, lead))
        moved.append(xp.expand_dims(behind, tuple(over)))
    return moved[0], moved[1], _shifted(tuple(numbers), count)


@cache
def _shifted(numbers: tuple[Any, ...], count: int) -> tuple[Any, ...]:
    """The numbers of a scatter whose indices and updates have so many more dims in front."""
    found = ScatterDimensions(*numbers)
    moved = replace(
        found,
        update_window_dims=tuple(dim + count for dim in found.update_window_dims),
        scatter_indices_batching_dims=tuple(dim + count for dim in found.scatter_indices_batching_dims),
        index_vector_dim=found.index_vector_dim + count,
    )
    return astuple(moved)


def _combine(xp: Any, combiner: Any, rows: Array, found: _Flat, new: Array) -> None:
    """Combines rows with new ones, those of one target in their order; rounds of rows as long as these are long."""
    rest: Any = slice(None)
    if found.width >= WIDE_ROW and new.size >= LONG_ROUND:
        by_turn, ends = found.rounds(xp)
        start = 0
        for stop in ends:
            if (stop - start) * found.width < LONG_ROUND:
                break
            chosen = by_turn[start:stop]
            targets = found.targets[chosen]
            rows[targets] = combiner(rows[targets], new[chosen])
            start = stop
        rest = by_turn[start:]
    elements = found.targets[rest][:, None] * found.width + xp.arange(found.width)
    combiner.at(rows.reshape(-1), elements.reshape(-1), new[rest].reshape(-1))


class _Flat:
    """A scatter on rows of `width` elements: copies of the operands, the updates that count, and their targets."""

    def __init__(
        self,
        xp: Any,
        operands: Arrays,
        indices: Array,
        updates: Arrays,
        lead: int,
        numbers: Sequence[Any],
        out: Array | None = None,
    ) -> None:
        front = np.broadcast_shapes(*(array.shape[:lead] for array in (*operands, indices, *updates)))
        shape, window_shape = operands[0].shape[lead:], updates[0].shape[lead:]
        windows = _scattered(lead, ScatterDimensions(*numbers), len(shape), window_shape)
        self.shape = (*front, *shape)
        tail = _whole_tail(windows, shape) if 0 not in shape else 0
        self.width = math.prod(shape[len(shape) - tail :])
        self.targets, counts = _targets(xp, windows, indices, front, shape, window_shape, tail)
        # In C order, or the flat views that combiners write through would be copies.
        self.operands = [self._rows(self._copied(xp, array, out)) for array in operands]
        self.updates = [self._rows(_flat_windows(xp, array, windows, front, window_shape)) for array in updates]
        if counts is not None:
            self.targets = self.targets[counts]
            self.updates = [array[counts] for array in self.updates]

    def _copied(self, xp: Any, array: Array, out: Array | None) -> Array:
        """A copy of an operand, in the memory of the result where elements lie there one after the other."""
        whole = xp.broadcast_to(array, self.shape)
        if out is None or out.shape != self.shape or not out.flags.c_contiguous:
            return xp.array(whole, order="C")
        out[...] = whole
        return out.reshape(self.shape)

    def _rows(self, array: Array) -> Array:
        return array.reshape(-1, self.width)

    def rounds(self, xp: Any) -> tuple[Array, list[int]]:
        """
        The updates in rounds, one after the other, and where rounds end.

        None has a target twice, and those of one target come in their order.
        """
        count = self.targets.shape[0]
        order = xp.argsort(self.targets, kind="stable")
        target = self.targets[order]
        first = xp.concatenate([xp.ones(min(count, 1), bool), target[1:] != target[:-1]])
        places = xp.arange(count)
        turn = places - xp.maximum.accumulate(xp.where(first, places, 0))
        by_turn = order[xp.argsort(turn, kind="stable")]
        return by_turn, [int(end) for end in xp.cumsum(xp.bincount(turn))]


def scatter_fold(
    xp: Any, body: Body, operands: Arrays, indices: Array, updates: Arrays, lead: int, numbers: Sequence[Any]
) -> tuple[Array, ...]:
    """
    A scatter by any body, which takes the old elements of all operands, then the new ones.

    Updates of one element follow each other in the order of the indices; all elements take their next one at once.
    """
    found = _Flat(xp, operands, indices, updates, lead, numbers)
    by_turn, ends = found.rounds(xp)
    for start, stop in zip([0, *ends], ends, strict=False):
        chosen = by_turn[start:stop]
        targets = found.targets[chosen]
        old = [rows[targets].reshape(-1) for rows in found.operands]
        new = [rows[chosen].reshape(-1) for rows in found.updates]
        for rows, made in zip(found.operands, body(*old, *new), strict=True):
            rows[targets] = xp.broadcast_to(made, old[0].shape).reshape(-1, found.width)
    return tuple(flat.reshape(found.shape) for flat in found.operands)


class _Box:
    """A box of a stacked array: slices, or positions where its start varies over the mesh."""

    def __init__(self, xp: Any, shape: Sequence[int], starts: Sequence[Array], sizes: Sequence[int], lead: int) -> None:
        dims = range(len(sizes))
        self.lead = lead
        self.part = [dim for dim in dims if sizes[dim] != shape[lead + dim]]
        clear = [clamped(xp, starts[dim], shape[lead + dim] - sizes[dim]) for dim in self.part]
        self.varies = any(start.size > 1 for start in clear)
        if not self.varies:
            corner = dict(zip(self.part, (int(start.reshape(())) for start in clear), strict=True))
            inner = [slice(corner.get(dim, 0), corner.get(dim, 0) + sizes[dim]) for dim in dims]
            self.where: tuple[Any, ...] = (*[slice(None)] * lead, *inner)
            return
        rank = lead + len(self.part)
        front = [_count(xp, shape[dim], dim, rank) for dim in range(lead)]
        inner = [
            start.reshape(start.shape + (1,) * len(self.part)) + _count(xp, sizes[dim], lead + at, rank)
            for at, (dim, start) in enumerate(zip(self.part, clear, strict=True))
        ]
        self.where = (*front, *inner)

    def order(self, array: Array) -> list[int]:
        """The dims of an array of this many dims, those that the box takes whole last."""
        picked = [*range(self.lead), *(self.lead + dim for dim in self.part)]
        return [*picked, *(dim for dim in range(array.ndim) if dim not in picked)]


def dynamic_slice(xp: Any, operand: Array, *starts_and_sizes: Any) -> Array:
    """
    A box of the operand; `starts_and_sizes` are one start for each dim, then the box's sizes and the leading dims.

    >>> dynamic_slice(np, np.arange(5), np.array(9), (2,), 0).tolist()
    [3, 4]
    """
    *starts, sizes, lead = starts_and_sizes
    box = _Box(xp, operand.shape, starts, sizes, lead)
    if not box.varies:
        return operand[box.where]
    order = box.order(operand)
    found = operand.transpose(order)[box.where]
    return found.transpose([order.index(dim) for dim in range(operand.ndim)])


def dynamic_update_slice(xp: Any, operand: Array, update: Array, *starts_and_lead: Any) -> Array:
    """
    The operand with a box overwritten; `starts_and_lead` are one start for each dim, then the leading dims.

    >>> dynamic_update_slice(np, np.arange(5), np.array([7, 8]), np.array(-1), 0).tolist()
    [7, 8, 2, 3, 4]
    """
    *starts, lead = starts_and_lead
    front = np.broadcast_shapes(*(array.shape[:lead] for array in (operand, update, *starts)))
    result = xp.array(xp.broadcast_to(operand, (*front, *operand.shape[lead:])))
    box = _Box(xp, result.shape, starts, update.shape[lead:], lead)
    if box.varies:
        result.transpose(box.order(result))[box.where] = update.transpose(box.order(update))
    else:
        result[box.where] = update
    return result
