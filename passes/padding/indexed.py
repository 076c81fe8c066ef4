"""The padded forms of ops that find elements by computed indices: they are held to what is valid."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import DenseArrayBase
from xdsl.ir import SSAValue

from shardwright.dialects import stablehlo
from shardwright.dialects.types import element_dtype, element_of, integers, shape_of
from shardwright.passes.padding.site import Shape, Site


def _bounds(value: SSAValue) -> tuple[int, int]:
    """The lowest and the highest number of indices of a type."""
    limits = np.iinfo(element_dtype(element_of(value)))
    return int(limits.min), int(limits.max)


def _hold_starts(site: Site, starts: Sequence[SSAValue], valid: Shape, sizes: Shape, first: int) -> None:
    """Clamps the starts along padded dims, from operand number `first` on, as the op would without padding."""
    for dim in site.padded(site.op.operands[0]):
        if sizes[dim] != valid[dim]:
            start = starts[dim]
            high = min(valid[dim] - sizes[dim], _bounds(start)[1])
            site.op.operands[first + dim] = site.clamp(site.scalar(0, start), start, site.scalar(high, start))


def hold_slice(op: stablehlo.DynamicSliceOp, site: Site) -> None:
    """Dims that are taken whole stay whole; of others the start is clamped first."""
    valid, sizes = site.valid(op.operand), op.sizes
    whole = [dim for dim, size in enumerate(sizes) if size == valid[dim]]
    site.make_valid(op.results[0], set(range(len(sizes))) - set(whole))
    _hold_starts(site, op.start_indices, valid, sizes, 1)
    have = shape_of(op.operand)
    op.properties["slice_sizes"] = integers(tuple(have[d] if d in whole else size for d, size in enumerate(sizes)))


def hold_update(op: stablehlo.DynamicUpdateSliceOp, site: Site) -> None:
    """What is written in part is written without padding, from a start that is clamped first."""
    valid, sizes = site.valid(op.operand), site.valid(op.update)
    site.crop_operands(lambda place, dim: place == 0 or sizes[dim] == valid[dim])
    _hold_starts(site, op.start_indices, valid, sizes, 2)


def hold_gather(op: stablehlo.GatherOp, site: Site) -> None:
    """Dims that are taken whole stay whole; of others the indices are clamped first, and so is what padding says."""
    numbers, sizes = op.numbers, _sizes(op)
    valid, have = site.valid(op.operand), shape_of(op.operand)
    places = dict(zip(numbers.window_dims(len(have)), numbers.offset_dims, strict=True))
    whole = {dim for dim in places if sizes[dim] == valid[dim]}
    site.make_valid(op.results[0], {place for dim, place in places.items() if dim not in whole})
    site.crop_operands(lambda place, dim: place == 0 or dim != numbers.index_vector_dim)
    _promise_nothing(site, op.operands[1])
    indexed = numbers.start_index_map
    if any(dim not in whole for dim in site.padded(op.operand) if dim in indexed):
        highs = [valid[dim] - sizes[dim] for dim in indexed]
        op.operands[1] = _clamped(site, op.operands[1], highs, numbers.index_vector_dim)
    op.properties["slice_sizes"] = integers(tuple(have[d] if d in whole else size for d, size in enumerate(sizes)))


def _sizes(op: stablehlo.GatherOp) -> Shape:
    sizes: DenseArrayBase = op.slice_sizes
    return sizes.get_values()


def _components(site: Site, indices: SSAValue, numbers: Sequence[int], vector_dim: int) -> SSAValue:
    """A number for each component of indices, as far as their type goes, in their shape."""
    shape, element = shape_of(indices), element_of(indices)
    fitting = np.array([min(number, _bounds(indices)[1]) for number in numbers])
    if len(set(fitting.tolist())) == 1 or vector_dim == len(shape):
        return site.literal(int(fitting[0]), element, shape)
    return site.broadcast(site.literal(fitting, element, fitting.shape), shape, (vector_dim,))


def _clamped(site: Site, indices: SSAValue, highs: Sequence[int], vector_dim: int) -> SSAValue:
    clamped = site.clamp(site.scalar(0, indices), indices, _components(site, indices, highs, vector_dim))
    return site.note(clamped, site.valid(indices))


def hold_scatter(op: stablehlo.ScatterOp, site: Site) -> None:
    """
    An index that is padding, and one whose window does not fit into what is valid, points outside: it writes nothing.

    Windows that are written in part lose their padding.
    """
    numbers, count = op.numbers, len(op.inputs)
    valid, have = site.valid(op.operands[0]), shape_of(op.operands[0])
    window_dims = numbers.window_dims(len(have))
    places = dict(zip(window_dims, numbers.update_window_dims, strict=True))
    update = site.valid(op.operands[count + 1])
    part = {place for dim, place in places.items() if update[place] != valid[dim]}
    site.crop_operands(
        lambda place, dim: place < count or (dim not in part if place > count else dim != numbers.index_vector_dim)
    )
    indexed = numbers.scatter_dims_to_operand_dims
    if not indexed:
        _whole_indices(op, site, count, places)
        return
    indices = op.operands[count]
    _promise_nothing(site, indices)
    outside = -1 if _bounds(indices)[0] else _bounds(indices)[1]
    padded = set(site.padded(op.operands[0]))
    if any(dim in padded for dim in indexed):
        sizes = {dim: update[places[dim]] if dim in places else 1 for dim in indexed}
        highs = [valid[dim] - sizes[dim] for dim in indexed]
        fits = site.compare(indices, "LE", _components(site, indices, highs, numbers.index_vector_dim))
        held = site.select(fits, indices, site.constant(outside, indices))
        indices = site.note(held, site.valid(indices))
    literal = stablehlo.make_dense(outside, element_of(indices), ())
    op.operands[count] = site.masked(indices, literal)


def _promise_nothing(site: Site, indices: SSAValue) -> None:
    """Indices that are padding are in no order, and may be equal."""
    for name in ("indices_are_sorted", "unique_indices") if site.padded(indices) else ():
        site.op.properties.pop(name, None)


def _whole_indices(op: stablehlo.ScatterOp, site: Site, count: int, places: dict[int, int]) -> None:
    """Indices of no components cannot point outside: there must be none that are padding."""
    windows = set(places.values())
    site.crop_operands(lambda place, dim: place < count or (place > count and dim in windows))
