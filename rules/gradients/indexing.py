"""Gradients of ops that find elements by computed indices."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from xdsl.dialects.builtin import i32
from xdsl.ir import Block, Operation, Region, SSAValue

from shardwright.dialects import stablehlo
from shardwright.dialects.stablehlo.algebra.contractions import combiner
from shardwright.dialects.stablehlo.indexing.numbers import GatherDimensions, ScatterDimensions
from shardwright.dialects.types import element_of, shape_of, tensor
from shardwright.rules.families.indexing import scatter_kind
from shardwright.rules.gradients.vjp import Gradient, Site, vjp_of_one
from shardwright.rules.rule import ANY


@vjp_of_one("stablehlo.dynamic_slice")
def _dynamic_slice(op: stablehlo.DynamicSliceOp, gradient: SSAValue, site: Site) -> Sequence[Gradient]:
    """Zeros, with the gradient where the slice was."""
    spread = site.update(site.zeros(op.operand), gradient, op.start_indices)
    return [spread, *[None] * len(op.start_indices)]


@vjp_of_one("stablehlo.dynamic_update_slice")
def _dynamic_update_slice(op: stablehlo.DynamicUpdateSliceOp, gradient: SSAValue, site: Site) -> Sequence[Gradient]:
    """To the update what lies in its window, to the operand the rest."""
    starts, size = op.start_indices, shape_of(op.update)
    rest = site.update(gradient, site.zeros(op.update), starts) if site.needed(op.operand) else None
    mine = site.window(gradient, starts, size) if site.needed(op.update) else None
    return [rest, mine, *[None] * len(starts)]


@vjp_of_one("stablehlo.gather")
def _gather(op: stablehlo.GatherOp, gradient: SSAValue, site: Site) -> Sequence[Gradient]:
    """A scatter that adds to zeros, at the indices as the gather clamps them."""
    numbers = op.numbers
    indices = _clamped(op.start_indices, numbers, shape_of(op.operand), op.sizes, site)
    scattered = ScatterDimensions(
        numbers.offset_dims,
        numbers.collapsed_slice_dims,
        numbers.operand_batching_dims,
        numbers.start_indices_batching_dims,
        numbers.start_index_map,
        numbers.index_vector_dim,
    )
    zeros = site.zeros(op.operand)
    return [site.put(stablehlo.ScatterOp([zeros], indices, [gradient], scattered, stablehlo.AddOp)), None]


def _clamped(
    indices: SSAValue, numbers: GatherDimensions, shape: Sequence[int], sizes: Sequence[int], site: Site
) -> SSAValue:
    """Indices whose slices lie within the operand."""
    limits = [shape[dim] - sizes[dim] for dim in numbers.start_index_map]
    whole, vector = shape_of(indices), numbers.index_vector_dim
    zero = site.zeros(indices)
    if vector == len(whole):
        return site.clamp(zero, indices, site.constant(limits[0], indices))
    row = site.literal(np.asarray(limits), element_of(indices), (len(limits),))
    return site.clamp(zero, indices, site.broadcast(row, whole, (vector,)))


def _is_plain_scatter(op: stablehlo.ScatterOp, needed: Callable[[SSAValue], bool]) -> bool:
    """One input, updates that replace, are added, or compared."""
    return len(op.inputs) == 1 and scatter_kind(op) in (ANY, "sum", "max", "min")


@vjp_of_one("stablehlo.scatter", when=_is_plain_scatter)
def _scatter(op: stablehlo.ScatterOp, gradient: SSAValue, site: Site) -> Sequence[Gradient]:
    """
    Of additions: to the operand the gradient as it is, to the updates what is gathered of it where they went.

    Of replacements: to the operand zeros where it was replaced, to the updates what lies where each one stayed. Of
    extremes: shared among all that reach the result.
    """
    kind = scatter_kind(op)
    if kind == "sum":
        theirs = _found(op, gradient, site) if site.needed(op.updates[0]) else None
        subtracts = isinstance(op.update_computation.block.first_op, stablehlo.SubtractOp)
        return [gradient, None, site.negate(theirs) if subtracts and theirs is not None else theirs]
    return _replaced(op, gradient, site) if kind == ANY else _extreme(op, gradient, site)


def _replaced(op: stablehlo.ScatterOp, gradient: SSAValue, site: Site) -> Sequence[Gradient]:
    (update,), mine, theirs = op.updates, None, None
    if site.needed(op.inputs[0]):
        mine = site.put(_again(op, gradient, site.zeros(update), op.update_computation.clone()))
    if site.needed(update):
        names = _numbered(update, site)
        nobody = site.literal(0, i32, shape_of(gradient))
        stayed = site.put(_again(op, nobody, names, None))
        own = site.compare(site.put(_gather_back(op, stayed)), "EQ", names)
        theirs = site.select(own, _found(op, gradient, site), site.zeros(update))
    return [mine, None, theirs]


def _numbered(update: SSAValue, site: Site) -> SSAValue:
    """A number from 1 on for each element."""
    shape = shape_of(update)
    row = site.iota(0, (math.prod(shape),))
    return site.reshape(site.add(row, site.constant(1, row)), shape)


def _extreme(op: stablehlo.ScatterOp, gradient: SSAValue, site: Site) -> Sequence[Gradient]:
    (operand,), (update,), result = op.inputs, op.updates, op.results[0]
    kept = site.convert(site.compare(operand, "EQ", result), gradient)
    reached = site.convert(site.compare(update, "EQ", _found(op, result, site)), gradient)
    adds = combiner(stablehlo.AddOp, element_of(gradient))
    share = site.divide(gradient, site.put(_again(op, kept, reached, adds)))
    return [site.multiply(kept, share), None, site.multiply(reached, _found(op, share, site))]


def _again(op: stablehlo.ScatterOp, target: SSAValue, updates: SSAValue, body: Region | None) -> Operation:
    """The same scatter of other elements; without a body they are replaced."""
    if body is None:
        scalar = tensor((), element_of(target))
        block = Block(arg_types=[scalar, scalar])
        block.add_op(stablehlo.ReturnOp(block.args[1]))
        body = Region(block)
    return stablehlo.ScatterOp([target], op.scatter_indices, [updates], op.numbers, body)


def _gather_back(op: stablehlo.ScatterOp, value: SSAValue) -> stablehlo.GatherOp:
    """What lies where the updates went; those that lay outside find something else."""
    numbers = op.numbers
    dims = GatherDimensions(
        numbers.update_window_dims,
        numbers.inserted_window_dims,
        numbers.input_batching_dims,
        numbers.scatter_indices_batching_dims,
        numbers.scatter_dims_to_operand_dims,
        numbers.index_vector_dim,
    )
    window = iter(numbers.update_window_dims)
    single = {*numbers.inserted_window_dims, *numbers.input_batching_dims}
    sizes = [1 if dim in single else shape_of(op.updates[0])[next(window)] for dim in range(len(shape_of(value)))]
    return stablehlo.GatherOp(value, op.scatter_indices, dims, sizes)


def _found(op: stablehlo.ScatterOp, value: SSAValue, site: Site) -> SSAValue:
    """What lies where the updates went; zero for those that lay outside and were left out."""
    found = site.put(_gather_back(op, value))
    inside = _inside(op, site)
    return found if inside is None else site.select(inside, found, site.constant(0, found))


def _inside(op: stablehlo.ScatterOp, site: Site) -> SSAValue | None:
    """For each element of the updates whether its window lies within the operand; None when there is no index."""
    numbers, indices, shape = op.numbers, op.scatter_indices, shape_of(op.inputs[0])
    whole, vector = shape_of(indices), numbers.index_vector_dim
    window = dict(zip(numbers.window_dims(len(shape)), numbers.update_window_dims, strict=True))
    updates = shape_of(op.updates[0])
    limits = [
        shape[dim] - (updates[window[dim]] if dim in window else 1) for dim in numbers.scatter_dims_to_operand_dims
    ]
    if not limits:
        return None
    row = site.literal(np.asarray(limits), element_of(indices), (len(limits),))
    spread = [] if vector == len(whole) else [vector]
    bound = site.broadcast(row if spread else site.reshape(row, ()), whole, spread)
    fits = site.both(site.compare(indices, "GE", site.zeros(indices)), site.compare(indices, "LE", bound))
    if spread:
        fits = site.every(fits, [vector])
    return site.broadcast(fits, updates, numbers.batch_dims(len(updates)))
