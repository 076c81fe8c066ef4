"""Random gathers and scatters, and their definitions element by element."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import Any, NamedTuple

import numpy as np

from shardwright.dialects.stablehlo import GatherDimensions

Array = np.ndarray[Any, Any]


class Windows(NamedTuple):
    """Random windows into an operand: dimension numbers, slice sizes, and the shapes around them."""

    numbers: GatherDimensions
    sizes: tuple[int, ...]
    operand: tuple[int, ...]
    indices: tuple[int, ...]
    batch: tuple[int, ...]


def draw_windows(random: Random, extents: Sequence[int]) -> Windows:
    """Dims that are collapsed, batching, indexed or not, and kept whole or in part, in any order."""
    rank = random.randint(1, 3)
    operand = tuple(random.choice(extents) for _ in range(rank))
    roles = [random.choice(["collapsed", "batching", "window", "window"]) for _ in operand]
    batching = tuple(dim for dim, role in enumerate(roles) if role == "batching")
    collapsed = tuple(dim for dim, role in enumerate(roles) if role == "collapsed")
    inner = [dim for dim, role in enumerate(roles) if role == "window"]
    sizes = tuple(random.randint(1, operand[dim]) if dim in inner else 1 for dim in range(rank))
    mapped = [dim for dim in range(rank) if dim not in batching and (dim in collapsed or random.random() < 0.7)]
    random.shuffle(mapped)
    batch = [operand[dim] for dim in batching] + [random.choice(extents) for _ in range(random.randint(0, 2))]
    order = list(range(len(batch)))
    random.shuffle(order)
    batch = [batch[at] for at in order]
    vector = random.randint(0, len(batch)) if len(mapped) != 1 or random.random() < 0.7 else len(batch)
    implicit = len(mapped) == 1 and vector == len(batch) and random.random() < 0.5
    indices = tuple(batch) if implicit else (*batch[:vector], len(mapped), *batch[vector:])
    places = [order.index(at) for at in range(len(batching))]
    index_dims = tuple(place + (not implicit and place >= vector) for place in places)
    offset = tuple(sorted(random.sample(range(len(batch) + len(inner)), len(inner))))
    numbers = GatherDimensions(offset, collapsed, batching, index_dims, tuple(mapped), vector)
    return Windows(numbers, sizes, operand, indices, tuple(batch))


def elements(windows: Windows, indices: Array, clamp: bool) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """For each element of all windows, in the order of the indices, its place there and in the operand."""
    numbers, sizes, operand, _, batch = windows
    inner = numbers.window_dims(len(operand))
    rank = len(batch) + len(inner)
    for at in np.ndindex(*batch):
        vector = numbers.index_vector_dim
        index = (
            indices[at] if len(windows.indices) == len(batch) else indices[(*at[:vector], slice(None), *at[vector:])]
        )
        corner = [0] * len(operand)
        for dim, component in zip(numbers.start_index_map, np.atleast_1d(index), strict=True):
            corner[dim] = int(component)
        if clamp:
            corner = [min(max(c, 0), n - s) for c, n, s in zip(corner, operand, sizes, strict=True)]
        for dim, index_dim in zip(numbers.operand_batching_dims, numbers.start_indices_batching_dims, strict=True):
            hidden = len(windows.indices) > len(batch) and index_dim > vector
            corner[dim] = at[index_dim - hidden]
        if any(not 0 <= c <= n - s for c, n, s in zip(corner, operand, sizes, strict=True)):
            continue
        for inside in np.ndindex(*(sizes[dim] for dim in inner)):
            source = list(corner)
            for dim, step in zip(inner, inside, strict=True):
                source[dim] += step
            rest, own = iter(at), iter(inside)
            place = tuple(next(own) if dim in numbers.offset_dims else next(rest) for dim in range(rank))
            yield place, tuple(source)


def windows_shape(windows: Windows) -> tuple[int, ...]:
    """The shape of the tensor of all windows."""
    numbers, sizes, operand, _, batch = windows
    rest, own = iter(batch), iter(sizes[dim] for dim in numbers.window_dims(len(operand)))
    rank = len(batch) + len(numbers.offset_dims)
    return tuple(next(own) if dim in numbers.offset_dims else next(rest) for dim in range(rank))
