"""Fourier transforms: batch dims pass, and transformed dims take turns in being whole."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from xdsl.ir import Operation, SSAValue

from shardwright.dialects import stablehlo
from shardwright.dialects.stablehlo import FftType
from shardwright.dialects.types import shape_of, tensor_type
from shardwright.layout.axes import Axis
from shardwright.rules.builder import RuleBuilder
from shardwright.rules.expansion import Dims, Site
from shardwright.rules.rule import PERMUTE, REPLICATE, Dim, Rule, Tensor, Way
from shardwright.rules.sharding import Shape, add_row


@dataclass(frozen=True)
class TransformExpansion:
    """
    A transform of split dims, one dim after the other: a dim's axes move to another dim while it is transformed.

    `shape` is that of the complex side, operand or result, `side` its place among both, `dims` the transformed dims
    that may be split by their factors, `others` all dims by theirs. `handed` are factors of which the axes split one
    transformed dim of the operand and another one of the result: these are moved once, when all dims but the first one
    are done. A real transform has the last dim whole, and does it while that is real: first, or last.
    """

    shape: Shape
    side: int
    dims: Mapping[int, int]
    others: Mapping[int, int]
    handed: Mapping[int, tuple[int, int]]

    @property
    def factors(self) -> frozenset[int]:
        """The factors of the transformed dims."""
        return frozenset((*self.dims, *self.handed))

    def price(self, parts: Mapping[int, int], sizes: Sequence[int]) -> float | None:
        """Each split dim exchanges a device's elements twice, or once; None where no other dim can take its axes."""
        split = {self.others[factor]: count for factor, count in parts.items() if factor in self.others}
        local, total = sizes[self.side] / math.prod(parts.values()), 0.0
        for dim in self.dims.values():
            count = split.get(dim, 1)
            host = self._host(dim, count, split)
            if host is None:
                return None
            total += 2 * local * self._filled(host, count, split) / self.shape[host] * (count - 1) / count
        return total + sum(local * (parts[each] - 1) / parts[each] for each in self.handed if each in parts)

    def messages(self, parts: Mapping[int, int]) -> int:
        """Two for each dim that is split before and after, one for what splits another one after."""
        return sum(2 if factor in self.dims else 1 for factor in self.factors if factor in parts)

    def _host(self, dim: int, count: int, split: Mapping[int, int]) -> int | None:
        """The other dim that grows least to divide evenly when it takes so many more parts: a split one may not."""
        hosts = [
            at
            for at, size in enumerate(self.shape)
            if at != dim and size and (at not in split or self._filled(at, count, split) == size)
        ]
        return min(hosts, key=lambda at: self._filled(at, count, split) / self.shape[at], default=None)

    def _filled(self, dim: int, count: int, split: Mapping[int, int]) -> int:
        """How many elements a dim has that takes so many more parts, with what fills the last one."""
        parts = split.get(dim, 1) * count
        return -(-self.shape[dim] // parts) * parts

    def expand(self, op: Operation, site: Site) -> Sequence[SSAValue]:
        """One dim after the other, each split one between two relayouts, or all but the one behind one."""
        assert isinstance(op, stablehlo.FftOp)
        (dims,) = site.results
        handed = [source for factor, (source, _) in self.handed.items() if factor in site.factors]
        value, kind = op.operands[0], _COMPLEX[op.kind]
        if op.kind == FftType.RFFT:
            value = site.building(site.spec(value).dims).put(stablehlo.FftOp(value, op.kind, op.length[-1:]))
        for dim in self.dims.values():
            if dim not in handed:
                value = self._in_turn(kind, site, value, dim)
        for dim in handed:
            value = _transformed(kind, site, site.relayout(value, dims), dim)
        if op.kind == FftType.IRFFT:
            value = site.building(dims).put(stablehlo.FftOp(value, op.kind, op.length[-1:]))
        return [value]

    def _in_turn(self, kind: FftType, site: Site, value: SSAValue, dim: int) -> SSAValue:
        """The transform of one dim, whose axes are lent to another one if there are any."""
        dims = site.spec(value).dims
        if not dims[dim]:
            return _transformed(kind, site, value, dim)
        split = {at: site.mesh.group_size(axes) for at, axes in enumerate(dims) if axes}
        host = self._host(dim, split[dim], split)
        assert host is not None, "the price was asked before"
        more = self._filled(host, split[dim], split) - self.shape[host]
        if more:
            value = self._padded(site, value, host, more)
        moved = site.relayout(value, _moved(dims, dim, host))
        value = site.relayout(_transformed(kind, site, moved, dim), dims)
        return site.building(dims).slice(value, [0] * len(dims), self.shape) if more else value

    def _padded(self, site: Site, value: SSAValue, dim: int, more: int) -> SSAValue:
        """The value with zeros at the end of a dim that is whole: of what they become nobody asks."""
        dims = site.spec(value).dims
        zero, high = site.building(()).scalar(0, value), [more if at == dim else 0 for at in range(len(dims))]
        return site.building(dims).pad(value, zero, [0] * len(dims), high)


_COMPLEX = {
    FftType.FFT: FftType.FFT,
    FftType.IFFT: FftType.IFFT,
    FftType.RFFT: FftType.FFT,
    FftType.IRFFT: FftType.IFFT,
}
"""How the dims in front of the last one are transformed."""


def _moved(dims: Dims, source: int, target: int) -> Dims:
    """The axes of one dim as minor axes of another."""
    nothing: tuple[Axis, ...] = ()
    places = {source: nothing, target: dims[target] + dims[source]}
    return tuple(places.get(at, axes) for at, axes in enumerate(dims))


def _transformed(kind: FftType, site: Site, value: SSAValue, dim: int) -> SSAValue:
    """The transform of one dim, which is last while it is done."""
    dims, rank = site.spec(value).dims, len(shape_of(value))
    order = [*(at for at in range(rank) if at != dim), dim]
    turned = tuple(dims[at] for at in order)
    build = site.building(turned)
    value = build.transpose(value, order)
    value = build.put(stablehlo.FftOp(value, kind, shape_of(value)[-1:]))
    return site.building(dims).transpose(value, sorted(range(rank), key=lambda at: order[at]))


@cache
def _fft_rule(source: Shape, target: Shape, transformed: int, kind: FftType) -> Rule:
    builder = RuleBuilder()
    first, real = len(source) - transformed, kind in (FftType.RFFT, FftType.IRFFT)
    batch, ends = builder.tensor(source[:first]), len(source) - real
    if transformed == 1:
        operand, result = (batch + builder.tensor(shape[first:], REPLICATE) for shape in (source, target))
        return builder.rule([operand], [result], [("sum", (0,))], heavy=True)
    dims = batch + builder.tensor(source[first:ends], PERMUTE)
    factors = {factors[0]: dim for dim, factors in enumerate(dims) if factors}
    moving = {factor: dim for factor, dim in factors.items() if dim >= first}
    handed, ways = dict[int, tuple[int, int]](), list[Way]()
    for one, other in itertools.permutations(moving.values(), 2):
        common = builder.factor(math.gcd(source[one], source[other]), PERMUTE)
        if common:
            handed[common[0]] = one, other
            given = _split(builder, source, batch, one, common)
            ways.append(((given,), (_split(builder, target, batch, other, common),)))
    operand, result = (dims + builder.tensor(shape[ends:], REPLICATE) for shape in (source, target))
    shapes = source, target
    expansion = TransformExpansion(shapes[side := int(kind == FftType.RFFT)], side, moving, factors, handed)
    return builder.rule([operand], [result], [("sum", (0,))], heavy=True, expansion=expansion, others=ways)


def _split(builder: RuleBuilder, shape: Shape, batch: Tensor, dim: int, factor: Dim) -> Tensor:
    """A tensor of which, beside the batch, one dim is split by a factor, and all others are whole."""
    rest = [
        factor + builder.factor(size // builder.sizes[factor[0]], REPLICATE)
        if at == dim
        else builder.factor(size, REPLICATE)
        for at, size in enumerate(shape[len(batch) :], len(batch))
    ]
    return (*batch, *rest)


def _fft(op: stablehlo.FftOp) -> Rule:
    """
    Batch dims pass; of several transformed dims each may be split, at a price; partial sums may be transformed.

    The last dim of a real transform is whole.
    """
    source, target = (tensor_type(value).get_shape() for value in (op.operands[0], op.results[0]))
    return _fft_rule(source, target, len(op.length), op.kind)


add_row("stablehlo.fft", _fft)
