"""Gradients of ops that move elements, of reductions and of products."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from xdsl.ir import Operation, SSAValue

from shardwright.dialects import dtensor, stablehlo
from shardwright.dialects.dtensor.gradients import PrimalOp
from shardwright.dialects.dtensor.roll import RollOp
from shardwright.dialects.dtensor.transfers import TransferOp
from shardwright.dialects.types import shape_of
from shardwright.layout.spec import LayoutSpec
from shardwright.rules.gradients.vjp import Gradient, Site, vjp_of_one
from shardwright.rules.reductions import monoid_of


@vjp_of_one("stablehlo.reshape")
def _reshape(op: Operation, gradient: SSAValue, site: Site) -> Sequence[Gradient]:
    return [site.reshape(gradient, shape_of(op.operands[0]))]


@vjp_of_one("stablehlo.transpose")
def _transpose(op: stablehlo.TransposeOp, gradient: SSAValue, site: Site) -> Sequence[Gradient]:
    return [site.transpose(gradient, [op.dims.index(dim) for dim in range(len(op.dims))])]


@vjp_of_one("stablehlo.broadcast_in_dim")
def _broadcast(op: stablehlo.BroadcastInDimOp, gradient: SSAValue, site: Site) -> Sequence[Gradient]:
    """The sum over all repetitions."""
    source, target = shape_of(op.operands[0]), shape_of(op.results[0])
    kept = [dim for size, dim in zip(source, op.dims, strict=True) if size == target[dim]]
    summed = site.sum(gradient, [dim for dim in range(len(target)) if dim not in kept])
    order = sorted(kept)
    summed = site.transpose(summed, [order.index(dim) for dim in kept])
    return [site.reshape(summed, source)]


@vjp_of_one("stablehlo.reverse")
def _reverse(op: stablehlo.ReverseOp, gradient: SSAValue, site: Site) -> Sequence[Gradient]:
    return [site.put(stablehlo.ReverseOp(gradient, op.dims))]


@vjp_of_one("dtensor.roll")
def _roll(op: RollOp, gradient: SSAValue, site: Site) -> Sequence[Gradient]:
    """Rolled back."""
    return [site.put(RollOp(gradient, op.dim, shape_of(op.operand)[op.dim] - op.amount))]


@vjp_of_one("stablehlo.slice")
def _slice(op: stablehlo.SliceOp, gradient: SSAValue, site: Site) -> Sequence[Gradient]:
    """Padded back to where it was, with zeros between the elements of a stride."""
    starts, _, strides = op.bounds
    shape, taken = shape_of(op.operands[0]), shape_of(op.results[0])
    reached = [start + max(0, (size - 1) * step + 1) for start, size, step in zip(starts, taken, strides, strict=True)]
    high = [size - end for size, end in zip(shape, reached, strict=True)]
    interior = [step - 1 for step in strides]
    return [site.pad(gradient, site.scalar(0, gradient), starts, high, interior)]


@vjp_of_one("stablehlo.pad")
def _pad(op: stablehlo.PadOp, gradient: SSAValue, site: Site) -> Sequence[Gradient]:
    """The padding taken away again; the padding value gets the sum of what it filled."""
    operand, _ = op.operands
    low, high, interior = op.amounts
    none = [0] * len(low)
    cut = site.pad(gradient, site.scalar(0, gradient), [-edge for edge in low], [-edge for edge in high], none)
    limits = [
        size if not inner or not size else (size - 1) * (inner + 1) + 1
        for size, inner in zip(shape_of(operand), interior, strict=True)
    ]
    inside = site.slice(cut, none, limits, [inner + 1 for inner in interior])
    if not site.needed(op.operands[1]):
        return [inside, None]
    every = range(len(low))
    return [inside, site.subtract(site.sum(gradient, every), site.sum(inside, every))]


@vjp_of_one("stablehlo.concatenate")
def _concatenate(op: stablehlo.ConcatenateOp, gradient: SSAValue, site: Site) -> Sequence[Gradient]:
    found: list[Gradient] = []
    start = 0
    for operand in op.operands:
        shape = shape_of(operand)
        starts = [start if dim == op.dim else 0 for dim in range(len(shape))]
        limits = [start + size if dim == op.dim else size for dim, size in enumerate(shape)]
        start += shape[op.dim]
        found.append(site.slice(gradient, starts, limits) if site.needed(operand) else None)
    return found


@vjp_of_one("dtensor.primal")
def _primal(op: PrimalOp, gradient: SSAValue, site: Site) -> Sequence[Gradient]:
    """The operand's own: it is the same value."""
    return [gradient]


@vjp_of_one("dtensor.relayout")
def _relayout(op: dtensor.RelayoutOp, gradient: SSAValue, site: Site) -> Sequence[Gradient]:
    """Back to where the operand was, when that is known."""
    source = dtensor.layout_of(op.operand)
    if source is None or source.partial or source.open_dims:
        return [gradient]
    return [site.put(dtensor.RelayoutOp(gradient, source, "gradient of a relayout"))]


@vjp_of_one("dtensor.transfer")
def _transfer(op: TransferOp, gradient: SSAValue, site: Site) -> Sequence[Gradient]:
    """Back to the operand's mesh, in the operand's layout where that is known."""
    there, here = dtensor.layout_of(op.result), dtensor.layout_of(op.operand)
    assert op.source is not None
    assert there is not None
    rank = len(shape_of(op.operand))
    name = op.source.root_reference.data
    back = here if here is not None else LayoutSpec(name, ((),) * rank, frozenset(range(rank)))
    return [site.put(TransferOp(gradient, back, there.mesh, "gradient of a transfer"))]


@vjp_of_one("stablehlo.dot_general")
def _dot_general(op: stablehlo.DotGeneralOp, gradient: SSAValue, site: Site) -> Sequence[Gradient]:
    return [
        _dot_operand(op, gradient, side, site) if site.needed(operand) else None
        for side, operand in enumerate(op.operands)
    ]


def _dot_operand(op: stablehlo.DotGeneralOp, gradient: SSAValue, side: int, site: Site) -> SSAValue:
    """The gradient times the other side, contracted over the other side's free dims, dims put back in order."""
    mine, other = op.operands[side], op.operands[1 - side]
    batching, contracting = op.batching_dims, op.contracting_dims
    batch = len(batching[0])
    free = [
        [dim for dim in range(len(shape_of(op.operands[at]))) if dim not in (*batching[at], *contracting[at])]
        for at in (0, 1)
    ]
    first = batch + (len(free[0]) if side == 0 else 0)
    theirs = tuple(range(first, first + len(free[1 - side])))
    dims = stablehlo.DotDimensions(tuple(range(batch)), tuple(batching[1 - side]), theirs, tuple(free[1 - side]))
    product = site.put(stablehlo.DotGeneralOp(gradient, site.convert(other, gradient), dims))
    # batch dims, my free dims, then the other's contracted dims, in the order in which they stand there
    rest = sorted(range(len(contracting[0])), key=lambda place: contracting[1 - side][place])
    standing = [*batching[side], *free[side], *(contracting[side][place] for place in rest)]
    order = [standing.index(dim) for dim in range(len(shape_of(mine)))]
    return site.convert(site.transpose(product, order), mine)


def _is_plain_reduction(op: stablehlo.ReduceOp, needed: Callable[[SSAValue], bool]) -> bool:
    """By one op, whose start counts for nothing, or is added."""
    monoid = monoid_of(op)
    return monoid is not None and (monoid.kind == "sum" or not needed(op.operands[1]))


@vjp_of_one("stablehlo.reduce", when=_is_plain_reduction)
def _reduce(op: stablehlo.ReduceOp, gradient: SSAValue, site: Site) -> Sequence[Gradient]:
    """Sums repeat the gradient, products scale it, extremes share it among those who reach it; all have a start."""
    monoid = monoid_of(op)
    assert monoid is not None, "the pass asked whether there is a rule"
    operand, result = op.operands[0], op.results[0]
    shape = shape_of(operand)
    kept = [dim for dim in range(len(shape)) if dim not in op.dims]
    wide = site.broadcast(gradient, shape, kept)
    if monoid.kind == "sum":
        start = site.sum(gradient, range(len(kept))) if site.needed(op.operands[1]) else None
        return [wide, start]
    repeated = site.broadcast(result, shape, kept)
    if monoid.kind == "prod":
        return [site.multiply(wide, _others(operand, op.dims, site)), None]
    reached = site.convert(site.compare(operand, "EQ", repeated), operand)
    count = site.broadcast(site.sum(reached, op.dims), shape, kept)
    return [site.multiply(wide, site.divide(reached, count)), None]


def _others(operand: SSAValue, dims: Sequence[int], site: Site) -> SSAValue:
    """For each element the product of all others along the reduced dims, right where one of them is zero."""
    if not dims:
        return site.constant(1, operand)
    shape = shape_of(operand)
    order = [*(dim for dim in range(len(shape)) if dim not in dims), *dims]
    flat_size = math.prod(shape[dim] for dim in dims)
    front = [shape[dim] for dim in order[: len(shape) - len(dims)]]
    flat = site.reshape(site.transpose(operand, order), [*front, flat_size])
    spread = site.broadcast(flat, [*front, flat_size, flat_size], [*range(len(front)), len(front) + 1])
    rank = len(front) + 2
    square = shape_of(spread)
    mine = site.compare(site.iota(rank - 2, square), "EQ", site.iota(rank - 1, square))
    masked = site.select(mine, site.constant(1, spread), spread)
    product = site.put(stablehlo.ReduceOp([masked], [site.scalar(1, operand)], (rank - 1,), stablehlo.MultiplyOp))
    back = site.reshape(product, [shape[dim] for dim in order])
    return site.transpose(back, [order.index(dim) for dim in range(len(shape))])
