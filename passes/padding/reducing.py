"""The padded forms of ops that combine elements: padding is masked by what changes nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import cast

import numpy as np
from xdsl.ir import Attribute, SSAValue

from shardwright.dialects import chlo, stablehlo
from shardwright.dialects.dtensor.kinds import lowest
from shardwright.dialects.stablehlo.algebra.bodies import evaluated
from shardwright.dialects.text.literals import DenseAttr
from shardwright.dialects.types import element_dtype, element_of, is_integer, shape_of
from shardwright.layout.planning.sweep import Sweep
from shardwright.passes.padding.moving import Bond
from shardwright.passes.padding.site import Site
from shardwright.rules.families.selection import starts_alike
from shardwright.rules.reductions import combiner_of, identity_of, monoid_of, splits
from shardwright.rules.windows.selecting import guarded_select, may_guard, outside
from shardwright.rules.windows.windowed import accumulates


def mask_products(op: stablehlo.DotGeneralOp, site: Site) -> None:
    """Zeros on both sides: on one alone, padding that is infinite would make them NaN."""
    for place, dims in enumerate(op.contracting_dims):
        op.operands[place] = with_zeros(site, op.operands[place], dims)


def with_zeros(site: Site, value: SSAValue, dims: Sequence[int]) -> SSAValue:
    return site.masked(value, stablehlo.make_dense(0, element_of(value), ()), dims)


def mask_reduced(op: stablehlo.ReduceOp, site: Site) -> None:
    """The neutral element; of a body that is no single op, initial values that change nothing at the end."""
    monoid, count = monoid_of(op), len(op.inputs)
    closes = monoid is None and _may_close(op)
    for place in range(count):
        value, start = op.operands[place], op.operands[count + place]
        if monoid is not None:
            neutral = stablehlo.make_dense(identity_of(monoid, value), element_of(value), ())
            op.operands[place] = site.masked(value, neutral, op.dims)
        elif closes:
            op.operands[place] = site.masked(value, start, op.dims)
        else:
            op.operands[place] = site.crop(value, op.dims)


def mask_candidates(op: chlo.TopKOp, site: Site) -> None:
    """What comes last in the order of all elements; of equal ones those in front are larger, so none is ever taken."""
    last = len(shape_of(op.operand)) - 1
    for result in op.results:
        site.make_valid(result, [last])
    fill = _last_of_all(element_of(op.operand))
    if fill is None:
        op.operands[0] = site.crop(op.operand, [last])
    else:
        op.operands[0] = site.masked(op.operand, fill, [last])


def _last_of_all(element: Attribute) -> DenseAttr | None:
    """The smallest integer; of the usual floats that with all bits set, a NaN below minus infinity."""
    dtype = element_dtype(element)
    if is_integer(element):
        return stablehlo.make_dense(lowest(dtype), element, ())
    if dtype.name not in ("float16", "bfloat16", "float32", "float64"):
        return None
    return stablehlo.make_dense(np.asarray(-1, f"int{8 * dtype.itemsize}").view(dtype), element, ())


SAMPLES = (0, 1, -1, 2, -3, 5)
"""Elements on which a body is tried out."""


def _may_close(op: stablehlo.ReduceOp) -> bool:
    """Whether initial values behind all elements change nothing: they do where a body takes the last element."""
    if not starts_alike(op):
        return False
    starts = [stablehlo.constant_value(cast("stablehlo.ConstantOp", value.owner)) for value in op.init_values]
    for sample in SAMPLES:
        elements = [np.asarray(sample + place).astype(start.dtype) for place, start in enumerate(starts)]
        reached = evaluated(op.body.block, [*starts, *elements])
        closed = None if reached is None else evaluated(op.body.block, [*reached, *starts])
        if reached is None or closed is None:
            return False
        if any(before.tobytes() != after.tobytes() for before, after in zip(reached, closed, strict=True)):
            return False
    return True


def bonds_of_reduce_window(op: stablehlo.ReduceWindowOp) -> Iterator[Bond]:
    """Each dim of all inputs and of all results."""
    count = len(op.inputs)
    source, target = shape_of(op.inputs[0]), shape_of(op.results[0])
    for dim, pair in enumerate(zip(source, target, strict=True)):
        if min(pair) > 1:
            yield from (((0, dim), (2 * count + place, dim)) for place in range(count))
        yield from (((0, dim), (place, dim)) for place in range(1, count))
        yield from (((2 * count, dim), (2 * count + place, dim)) for place in range(1, count))


def mask_windows(op: stablehlo.ReduceWindowOp, site: Site) -> None:
    """Padding has the initial value, which is what stands around the elements, too; the edges make up for its size."""
    count, valid = len(op.inputs), site.valid(op.inputs[0])
    crossed = [dim for dim, sweep in enumerate(op.sweeps) if not sweep.trivial]
    inputs = [site.masked(op.operands[place], op.operands[count + place], crossed) for place in range(count)]
    have, wanted = shape_of(inputs[0]), shape_of(op.results[0])
    neutral = splits(op) is not None  # of others each initial value around the elements counts
    sweeps = [
        _longer(sweep, size, own) if neutral and accumulates(sweep, size) else edged(sweep, own, result)
        for sweep, size, own, result in zip(op.sweeps, valid, have, wanted, strict=True)
    ]
    if tuple(sweeps) != op.sweeps:
        site.swap(stablehlo.ReduceWindowOp(inputs, op.init_values, sweeps, op.body.clone()))
    else:
        for place, value in enumerate(inputs):
            op.operands[place] = value


def _longer(sweep: Sweep, size: int, padded: int) -> Sweep:
    """The window of an accumulation over a padded dim: all elements up to a place, or from it on."""
    more = padded - size
    return replace(
        sweep,
        size=sweep.size + more,
        low=sweep.low + more if sweep.low else 0,
        high=sweep.high + more if sweep.high else 0,
    )


def edged(sweep: Sweep, size: int, result: int) -> Sweep:
    """The window with the high edge that makes it fit so many times."""
    if sweep.result(size) == result:
        return sweep
    have = replace(sweep, high=0).padded(size)
    return replace(sweep, high=(result - 1) * sweep.stride + sweep.reach - have)


def bonds_of_selection(op: stablehlo.SelectAndScatterOp) -> Iterator[Bond]:
    """Each dim of operand and result, which are of one shape, and of the source, where it has one for each window."""
    for dim, pair in enumerate(zip(shape_of(op.operand), shape_of(op.source), strict=True)):
        yield (0, dim), (3, dim)
        if may_guard(op) and min(pair) > 1:
            yield (0, dim), (1, dim)


def mask_selected(op: stablehlo.SelectAndScatterOp, site: Site) -> None:
    """Windows of padding add what changes nothing; those that end behind the elements pass over padding there."""

    def edges() -> list[Sweep]:
        sizes = zip(op.sweeps, shape_of(op.operand), shape_of(op.source), strict=True)
        return [edged(sweep, size, windows) for sweep, size, windows in sizes]

    monoid = combiner_of(op.scatter.block)
    crossed = [dim for dim, sweep in enumerate(op.sweeps) if not sweep.trivial]
    closed = {dim for dim in crossed if not may_guard(op) or edges()[dim].high < 0}
    site.crop_operands(lambda _, dim: dim not in closed)
    site.make_valid(op.results[0], closed)
    operand, source, select = op.operand, op.source, op.select.clone()
    if monoid is not None:
        nothing = stablehlo.make_dense(identity_of(monoid, source), element_of(source), ())
        source = site.masked(source, nothing, crossed)
    met = [dim for dim in site.padded(operand) if op.sweeps[dim].high > 0]
    if met:
        operand, select = site.masked(operand, outside(operand), met), guarded_select(op)
    site.swap(stablehlo.SelectAndScatterOp(operand, source, op.init_value, edges(), select, op.scatter.clone()))
