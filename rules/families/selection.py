"""Reductions by any body (argmax and its kin) and top-k: each device does its part, then the few that are left meet."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from xdsl.dialects.builtin import i32
from xdsl.ir import Operation, SSAValue

from shardwright.dialects import chlo, stablehlo
from shardwright.dialects.stablehlo.algebra.bodies import evaluated
from shardwright.dialects.stablehlo.sorting import descending
from shardwright.dialects.types import element_of, element_size, shape_of, tensor_type
from shardwright.rules.builder import SCALAR, RuleBuilder
from shardwright.rules.expansion import Dims, Site
from shardwright.rules.families.gathering import Meeting, in_parts
from shardwright.rules.rule import PASS, PERMUTE, REPLICATE, Rule
from shardwright.rules.sharding import Shape, add_row, operand_shapes


@dataclass(frozen=True)
class FoldExpansion:
    """
    A reduction by any body: each device reduces its part, and the results of all parts are reduced once more.

    `reduced` gives the factor of each reduced dim, `used` says which results anybody needs, and `share` what they
    weigh next to all results.
    """

    reduced: tuple[tuple[int, int], ...]
    meeting: Meeting
    used: tuple[bool, ...]
    share: float

    @property
    def factors(self) -> frozenset[int]:
        """The factors of the reduced dims."""
        return frozenset(factor for _, factor in self.reduced)

    def price(self, parts: Mapping[int, int], sizes: Sequence[int]) -> float | None:
        """What it takes to bring the results of all parts together, and then to whoever needs them."""
        count = math.prod(parts.get(factor, 1) for _, factor in self.reduced)
        others = math.prod(number for factor, number in parts.items() if factor not in self.factors)
        return self.meeting.price(parts, count, self.share, sum(sizes[-len(self.used) :]) / others)

    def expand(self, op: Operation, site: Site) -> Sequence[SSAValue]:
        """Each split dim becomes parts and what is in a part: what is in them is reduced first, the parts later."""
        assert isinstance(op, stablehlo.ReduceOp)
        count = len(op.outputs)
        cut = {dim: site.parts(factor) for dim, factor in self.reduced if factor in site.factors}
        cuts = [in_parts(site, value, site.operands[place], cut) for place, value in enumerate(op.inputs)]
        parts_at, inner = _numbered(len(shape_of(op.inputs[0])), op.dims, cut)
        dims = tuple(axes for dim, axes in enumerate(cuts[0][1]) if dim not in inner)
        partly = site.put(_again(op, [value for value, _ in cuts], inner), *[dims] * count)
        axes = tuple(axis for _, factor in self.reduced for axis in site.factors.get(factor, ()))
        place = self.meeting.place(site.numbers, math.prod(cut.values()), self.share)
        kept = self.meeting.spread([mine for dim, mine in enumerate(dims) if dim not in parts_at], place, axes)
        met = _merged(dims, kept, parts_at)
        wholes = [site.relayout(value, met) for value in partly]
        made = site.put(_again(op, wholes, parts_at), *[kept] * count)
        return [
            site.relayout(value, wanted) if used else value
            for value, wanted, used in zip(made, site.results, self.used, strict=True)
        ]


def _numbered(rank: int, reduced: Sequence[int], cut: Mapping[int, int]) -> tuple[list[int], list[int]]:
    """Where the parts are after reducing what is in them, and which dims that reduces."""
    parts_at: list[int] = []
    inner: list[int] = []
    before = after = 0
    for dim in range(rank):
        if dim in cut:
            parts_at.append(after)
            inner.append(before + 1)
            before, after = before + 2, after + 1
        elif dim in reduced:
            inner.append(before)
            before += 1
        else:
            before, after = before + 1, after + 1
    return parts_at, inner


def _merged(dims: Dims, kept: Dims, parts_at: Sequence[int]) -> Dims:
    """The dims with parts whole, and those that stay as in `kept`."""
    rest = iter(kept)
    return tuple(() if dim in parts_at else next(rest) for dim in range(len(dims)))


def _again(op: stablehlo.ReduceOp, inputs: Sequence[SSAValue], dims: Sequence[int]) -> stablehlo.ReduceOp:
    """The same reduction of other inputs over other dims."""
    return stablehlo.ReduceOp(inputs, op.init_values, tuple(dims), op.body.clone())


@cache
def _fold_rule(
    shapes: tuple[Shape, ...], dims: tuple[int, ...], used: tuple[bool, ...], share: float, expands: bool
) -> Rule:
    builder = RuleBuilder()
    kind = PERMUTE if expands else REPLICATE
    inputs = tuple(builder.factor(size, kind if dim in dims else PASS) for dim, size in enumerate(shapes[0]))
    kept = [dim for dim in range(len(inputs)) if dim not in dims]
    result = tuple(inputs[dim] for dim in kept)
    count = len(shapes) // 2
    reduced = tuple((dim, factor) for dim in dims for factor in inputs[dim])
    meeting = Meeting(tuple(shapes[0][dim] for dim in kept), tuple(next(iter(factors), None) for factors in result))
    expansion = FoldExpansion(tuple(sorted(reduced)), meeting, used, share) if expands and reduced else None
    return builder.rule([inputs] * count + [SCALAR] * count, [result] * count, expansion=expansion)


def fold_rule(op: stablehlo.ReduceOp) -> Rule:
    """The rule of a reduction whose body is no single combiner: reduced dims are done in parts, which then meet."""
    used = tuple(result.first_use is not None for result in op.outputs)
    weights = [element_size(element_of(result)) for result in op.outputs]
    share = sum(weight for weight, needed in zip(weights, used, strict=True) if needed) / sum(weights)
    shapes = operand_shapes(op)
    expands = starts_alike(op) and all(shapes[0][dim] for dim in op.dims)  # a dim without elements has no parts
    return _fold_rule(shapes, op.dims, used, share, expands)


def starts_alike(op: stablehlo.ReduceOp) -> bool:
    """Whether the initial values are constants that may take part any number of times: combined they are themselves."""
    owners = [value.owner for value in op.init_values]
    constants = [stablehlo.constant_value(owner) for owner in owners if isinstance(owner, stablehlo.ConstantOp)]
    if len(constants) != len(owners):
        return False
    combined = evaluated(op.body.block, [*constants, *constants])
    return combined is not None and all(a.tobytes() == b.tobytes() for a, b in zip(combined, constants, strict=True))


@dataclass(frozen=True)
class TopKExpansion:
    """Top-k along a split dim: the largest of each part, then the largest of those."""

    factor: int
    extent: int
    k: int
    weight: int
    """The bytes of an element and of its place."""
    meeting: Meeting

    @property
    def factors(self) -> frozenset[int]:
        """The factor of the last dim."""
        return frozenset((self.factor,))

    def price(self, parts: Mapping[int, int], sizes: Sequence[int]) -> float | None:
        """What it takes to bring the candidates of all parts together, and the results to whoever needs them."""
        count = parts[self.factor]
        rows = math.prod(self.meeting.sizes) / math.prod(n for factor, n in parts.items() if factor != self.factor)
        return self.meeting.price(parts, count, self._share(count), rows * self._taken(count) * self.weight)

    def _taken(self, count: int) -> int:
        """How many candidates each of `count` parts offers."""
        return min(self.k, self.extent // count)

    def _share(self, count: int) -> float:
        return self.k / self._taken(count)

    def expand(self, op: Operation, site: Site) -> Sequence[SSAValue]:
        """The parts of the last dim become a dim of their own; places in a part count from where it begins."""
        assert isinstance(op, chlo.TopKOp)
        count, last = site.parts(self.factor), len(self.meeting.sizes)
        value, dims = in_parts(site, op.operand, site.operands[0], {last: count})
        few = chlo.TopKOp(value, self._taken(count))
        values, places = site.put(few, dims, dims)
        places = _from_start(site, places, dims, self.extent // count)
        place = self.meeting.place(site.numbers, count, self._share(count))
        kept = self.meeting.spread(dims[:-2], place, site.factors[self.factor])
        flat = (*kept, ())
        candidates = [_flattened(site, site.relayout(each, (*kept, (), ())), flat) for each in (values, places)]
        block = descending([tensor_type(each) for each in candidates])
        ordered = site.put(stablehlo.SortOp(candidates, last, block), flat, flat)
        made = [_first(site, each, self.k, flat) for each in ordered]
        return [site.relayout(each, wanted) for each, wanted in zip(made, site.results, strict=True)]


def _from_start(site: Site, places: SSAValue, dims: Dims, extent: int) -> SSAValue:
    """Places in a part as places in the whole dim."""
    build, shape = site.building(dims), shape_of(places)
    part, size = build.iota(len(dims) - 2, shape), build.literal(extent, i32, shape)
    return build.add(places, build.multiply(part, size))


def _flattened(site: Site, value: SSAValue, dims: Dims) -> SSAValue:
    """The last two dims as one."""
    *rows, parts, few = shape_of(value)
    return site.building(dims).reshape(value, (*rows, parts * few))


def _first(site: Site, value: SSAValue, k: int, dims: Dims) -> SSAValue:
    """The first `k` elements of each row."""
    shape = shape_of(value)
    return site.building(dims).slice(value, (0,) * len(shape), (*shape[:-1], k))


@cache
def _top_k_rule(shape: Shape, k: int, weight: int) -> Rule:
    builder = RuleBuilder()
    rows, last = builder.tensor(shape[:-1]), builder.factor(shape[-1], PERMUTE)
    result = (*rows, builder.factor(k, PERMUTE))
    meeting = Meeting(shape[:-1], tuple(next(iter(factors), None) for factors in rows))
    expansion = TopKExpansion(last[0], shape[-1], k, weight, meeting) if last and k else None
    return builder.rule([(*rows, last)], [result, result], expansion=expansion)


def _top_k(op: chlo.TopKOp) -> Rule:
    """Rows pass; along the last dim each part offers its largest, of which the largest are taken."""
    return _top_k_rule(shape_of(op.operand), op.count, element_size(element_of(op.operand)) + 4)


add_row("chlo.top_k", _top_k)
