"""Concatenation and roll: along a split dim each device receives what it lacks, and chooses by position."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate

from xdsl.dialects.builtin import i32
from xdsl.ir import Operation, SSAValue

from shardwright.dialects import dtensor, stablehlo
from shardwright.dialects.dtensor.roll import RollOp
from shardwright.dialects.types import element_of, shape_of, tensor
from shardwright.layout.planning.window import Window, missing_elements
from shardwright.rules.builder import RuleBuilder
from shardwright.rules.expansion import Dims, Site
from shardwright.rules.rule import ANY, PASS, PERMUTE, Rule
from shardwright.rules.sharding import Shape, add_row, operand_shapes


@dataclass(frozen=True)
class JoinExpansion:
    """
    Operands laid end to end along a split dim: each as a window of the whole result, chosen by position.

    Nothing is summed, so zeros keep their signs and NaN its bits. `sources` are the operands that are laid end to end,
    `windows` say how the result comes from each, `offsets` where each begins; one that is a `splat` costs nothing.
    """

    factor: int
    dim: int
    sources: tuple[int, ...]
    windows: tuple[Window, ...]
    offsets: tuple[int, ...]
    splats: tuple[bool, ...]

    @property
    def factors(self) -> frozenset[int]:
        """The factor of the dim along which operands are joined."""
        return frozenset((self.factor,))

    def price(self, parts: Mapping[int, int], sizes: Sequence[int]) -> float | None:
        """What a device lacks of its block."""
        others = math.prod(count for factor, count in parts.items() if factor != self.factor)
        return sum(
            float(missing_elements([(window, parts[self.factor])])) * sizes[source] / (window.operand * others)
            for source, window, splat in zip(self.sources, self.windows, self.splats, strict=True)
            if window.operand and not splat
        )

    def expand(self, op: Operation, site: Site) -> Sequence[SSAValue]:
        """Windows, and one choice less than there are operands."""
        (dims,) = site.results
        shape = shape_of(op.results[0])
        pieces = [
            self._piece(site, op.operands[source], shape, dims, window)
            for source, window in zip(self.sources, self.windows, strict=True)
        ]
        made = pieces[-1]
        for piece, offset in zip(pieces[-2::-1], self.offsets[:0:-1], strict=True):
            made = site.building(dims).select(self._before(site, offset, shape, dims), piece, made)
        return [made]

    def _piece(self, site: Site, value: SSAValue, shape: Shape, dims: Dims, window: Window) -> SSAValue:
        """An operand where it stands in the result; what is elsewhere does not matter."""
        element, owner = element_of(value), value.owner
        if isinstance(owner, stablehlo.ConstantOp) and stablehlo.is_splat(owner):
            return site.building(dims).literal(stablehlo.splat_value(owner), element, shape)
        padding = stablehlo.make_dense(0, element, ())
        whole = self._whole(site, value)
        if whole is not None:
            return self._padded(site, whole, shape, dims, window)
        windows = [window if dim == self.dim else Window(size, size, 0) for dim, size in enumerate(shape)]
        axes = [mine if dim == self.dim else () for dim, mine in enumerate(dims)]
        moved = dtensor.WindowOp(value, tensor(shape, element), site.mesh.name, axes, windows, padding, site.reason)
        return site.put(moved, dims)[0]

    def _whole(self, site: Site, value: SSAValue) -> SSAValue | None:
        """The operand with the joined dim whole on every device, if it is there: then nothing has to move."""
        source = value.owner.operands[0] if isinstance(value.owner, dtensor.RelayoutOp) else None
        if source is None:
            return None
        before, after = site.spec(source), site.spec(value)
        rest = [axes for dim, axes in enumerate(after.dims) if dim != self.dim]
        same = not before.partial and [axes for dim, axes in enumerate(before.dims) if dim != self.dim] == rest
        return source if same and not before.dims[self.dim] else None

    def _padded(self, site: Site, value: SSAValue, shape: Shape, dims: Dims, window: Window) -> SSAValue:
        """The same as a window, on a device that has it all: padded, then its own part of it."""
        zero = site.building(()).scalar(0, value)
        low = [-window.start if dim == self.dim else 0 for dim in range(len(shape))]
        high = [total - size - edge for total, size, edge in zip(shape, shape_of(value), low, strict=True)]
        padded = site.building(site.spec(value).dims).pad(value, zero, low, high)
        return site.relayout(padded, dims)

    def _before(self, site: Site, offset: int, shape: Shape, dims: Dims) -> SSAValue:
        """Where positions along the joined dim are before an offset."""
        size, axes = shape[self.dim], dims[self.dim]
        build = site.building((axes,))
        before = build.compare(build.iota(0, (size,)), "LT", build.literal(offset, i32, (size,)))
        return site.building(dims).broadcast(before, shape, (self.dim,))


@cache
def _joined_rule(shapes: tuple[Shape, ...], result: Shape, dim: int, splats: tuple[bool, ...]) -> Rule:
    """The joined dim may be split into parts whose number divides the dim of every operand and of the result."""
    builder = RuleBuilder()
    offsets = tuple(accumulate((shape[dim] for shape in shapes), initial=0))[:-1]
    windows = tuple(Window(shape[dim], result[dim], -start) for shape, start in zip(shapes, offsets, strict=True))
    moves = any(0 < shape[dim] < result[dim] for shape in shapes)
    common = math.gcd(result[dim], *(shape[dim] for shape in shapes))
    dims = tuple(
        builder.factor(common, PERMUTE) if at == dim and moves else builder.factor(size)
        for at, size in enumerate(result)
    )
    everyone = tuple(range(len(shapes)))
    expansion = JoinExpansion(dims[dim][0], dim, everyone, windows, offsets, splats) if moves and dims[dim] else None
    return builder.rule([dims] * len(shapes), (dims,), ((ANY, everyone),), expansion=expansion)


def _concatenate(op: stablehlo.ConcatenateOp) -> Rule:
    """Dims are split alike; along the one that is joined, a device receives what it lacks of its part."""
    splats = tuple(isinstance(value.owner, Operation) and stablehlo.is_splat(value.owner) for value in op.operands)
    return _joined_rule(operand_shapes(op), shape_of(op.results[0].type), op.dim, splats)


@cache
def _roll_rule(shape: Shape, dim: int, amount: int) -> Rule:
    builder = RuleBuilder()
    size = shape[dim]
    dims = tuple(builder.factor(extent, PERMUTE if at == dim else PASS) for at, extent in enumerate(shape))
    windows = (Window(size, size, size - amount), Window(size, size, -amount))
    expansion = JoinExpansion(dims[dim][0], dim, (0, 0), windows, (0, amount), (False, False))
    return builder.rule([dims], (dims,), ((ANY, (0,)),), expansion=expansion)


def _roll(op: RollOp) -> Rule:
    """A dim that rolls and is split receives what comes from elsewhere; all others pass."""
    return _roll_rule(operand_shapes(op)[0], op.dim, op.amount)


add_row("stablehlo.concatenate", _concatenate)
add_row("dtensor.roll", _roll)
