"""The padded forms of ops that move elements along dims: slices, pads, reversals, concatenations, reshapes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import accumulate

from xdsl.ir import Operation

from shardwright.dialects import stablehlo
from shardwright.dialects.dtensor.roll import RollOp
from shardwright.dialects.types import integers, shape_of
from shardwright.passes.padding.site import Shape, Site
from shardwright.rules.families.computed import stretches

Bond = tuple[tuple[int, int], tuple[int, int]]
"""Two dims that shall be padded alike, each by the place of its tensor among operands and results."""


def bonds_along(op: Operation) -> Iterator[Bond]:
    """Each dim of the first operand and the same one of the first result, of several elements both."""
    sizes = zip(shape_of(op.operands[0]), shape_of(op.results[0]), strict=True)
    return (((0, dim), (len(op.operands), dim)) for dim, pair in enumerate(sizes) if min(pair) > 1)


def cut_slice(op: stablehlo.SliceOp, site: Site) -> None:
    """A slice of as many elements as the padded result has; where the operand has no more, it is padded first."""
    starts, limits, strides = op.bounds
    wanted, have = shape_of(op.results[0]), shape_of(op.operand)
    padded = site.padded(op.results[0])
    ends = list(limits)
    needed = list(have)
    for dim in padded:
        ends[dim] = starts[dim] + (wanted[dim] - 1) * strides[dim] + 1
        # Whatever divides operand and result divides what is between them, too.
        step = math.gcd(have[dim], wanted[dim])
        needed[dim] = max(have[dim], -(-ends[dim] // step) * step)
    if needed != list(have) and set(strides) == {1}:
        site.replace(site.resized(op.operand, wanted, [-start for start in starts]))
        return
    op.operands[0] = site.resized(op.operand, needed)
    op.properties["limit_indices"] = integers(tuple(ends))


def widen_pad(op: stablehlo.PadOp, site: Site) -> None:
    """The high edges make up for padding; what of it comes to stand in the valid part has the value of the edges."""
    low, _, interior = op.amounts
    valid, ends = site.valid(op.operand), site.valid(op.results[0])
    seen = [
        dim for dim in site.padded(op.operand) if valid[dim] and low[dim] + valid[dim] * (interior[dim] + 1) < ends[dim]
    ]
    op.operands[0] = site.masked(op.operand, op.padding_value, seen)
    high = [
        size - edge - ((own - 1) * (gap + 1) + 1 if own else 0)
        for size, edge, own, gap in zip(shape_of(op.results[0]), low, shape_of(op.operand), interior, strict=True)
    ]
    op.properties["edge_padding_high"] = integers(tuple(high))


def shift_reverse(op: stablehlo.ReverseOp, site: Site) -> None:
    """Padding comes to stand in front, so what is behind moves up."""
    whole, valid = shape_of(op.operand), site.valid(op.operand)
    low = [valid[dim] - size if dim in op.dims else 0 for dim, size in enumerate(whole)]
    if any(low):
        site.replace(site.resized(site.put(stablehlo.ReverseOp(op.operand, op.dims)), whole, low))


def roll_valid(op: RollOp, site: Site) -> None:
    """Two moves: of what stays behind the amount, and of what comes around to stand before it."""
    dim, amount, shape = op.dim, op.amount, shape_of(op.results[0])
    if dim not in site.padded(op.operand):
        return
    size = site.valid(op.operand)[dim]
    around, behind = (site.resized(op.operand, shape, _only(dim, low, shape)) for low in (amount - size, amount))
    site.replace(site.select(site.before(dim, amount, shape), around, behind))


def bonds_of_concatenate(op: stablehlo.ConcatenateOp) -> Iterator[Bond]:
    """The joined dim of all operands and of the result."""
    count, dim = len(op.operands), op.dim
    if shape_of(op.results[0])[dim] > 1:
        yield from (((place, dim), (count, dim)) for place, value in enumerate(op.operands) if shape_of(value)[dim] > 1)


def place_operands(op: stablehlo.ConcatenateOp, site: Site) -> None:
    """Each operand moved to where it stands in the result, and chosen by position, past the padding of others."""
    dim, shape = op.dim, shape_of(op.results[0])
    if not any(dim in site.padded(value) for value in (*op.operands, *op.results)):
        return
    offsets = accumulate((site.valid(value)[dim] for value in op.operands), initial=0)
    found = [(value, at) for value, at in zip(op.operands, offsets, strict=False) if site.valid(value)[dim]]
    pieces = [(site.resized(value, shape, _only(dim, at, shape)), at) for value, at in found]
    made, start = pieces[-1]
    for piece, at in reversed(pieces[:-1]):
        made, start = site.select(site.before(dim, start, shape), piece, made), at
    # Of one operand that is there already, only what it is called may change.
    site.replace(site.put(stablehlo.ConcatenateOp([made], dim)) if made in op.operands else made)


def _only(dim: int, low: int, shape: Shape) -> list[int]:
    return [low if at == dim else 0 for at in range(len(shape))]


def bonds_of_reshape(op: stablehlo.ReshapeOp) -> Iterator[Bond]:
    """The outermost dims of stretches of both shapes that have the same elements."""
    for left, right in _leads(op):
        if left is not None and right is not None:
            yield (0, left), (1, right)


def _leads(
    op: stablehlo.ReshapeOp, source: Shape | None = None, target: Shape | None = None
) -> Iterator[tuple[int | None, int | None]]:
    """For each stretch the first dims of both sides that have several elements."""
    i = j = 0
    for left, right in stretches(source or shape_of(op.operand), target or shape_of(op.results[0])):
        yield _lead(left, i), _lead(right, j)
        i, j = i + len(left), j + len(right)


def _lead(sizes: Sequence[int], start: int) -> int | None:
    return next((start + at for at, size in enumerate(sizes) if size > 1), None)


def reshape_in_stretches(op: stablehlo.ReshapeOp, site: Site) -> None:
    """
    Padding of the outermost dim of a stretch stands behind all of its elements, and so it may be cut or added there.

    Inner dims lose theirs before, and get it afterwards.
    """
    (result,) = op.results
    source, target = site.valid(op.operand), site.valid(result)
    leads = list(_leads(op, source, target)) if 0 not in source else []
    site.crop_operands(lambda _, dim: any(dim == left for left, _ in leads))
    site.make_valid(result, {*range(len(target))} - {right for _, right in leads})
    between: list[int] = []
    after: list[int] = []
    i = j = 0
    for left, right in stretches(source, target):
        mine, wanted = shape_of(op.operand)[i : i + len(left)], shape_of(result)[j : j + len(right)]
        same = math.prod(mine) == math.prod(wanted)
        between += mine if same else [math.prod(mine)]
        after += mine if same else [math.prod(wanted)]
        i, j = i + len(left), j + len(right)
    if between != after:
        op.operands[0] = site.resized(site.reshape(op.operand, between), after)
