"""The ops that move elements along dims by one affine step per dim, or write them at a known place: their windows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

from xdsl.dialects.builtin import i32
from xdsl.ir import Attribute, Operation, SSAValue

from shardwright.dialects import dtensor, stablehlo
from shardwright.dialects.building import Builder
from shardwright.dialects.types import element_of, shape_of
from shardwright.layout.planning.window import Window, missing_elements
from shardwright.rules.expansion import Site


def windows_of(op: Operation) -> tuple[Window, ...] | None:
    """
    For each dim how the result of a slice, a reversal or a pad comes from its first operand.

    None for a pad whose padding is no constant.
    """
    assert isinstance(op, stablehlo.SliceOp | stablehlo.ReverseOp | stablehlo.PadOp)
    source, target = shape_of(op.operands[0]), shape_of(op.results[0])
    if isinstance(op, stablehlo.SliceOp):
        starts, _, strides = op.bounds
    elif isinstance(op, stablehlo.ReverseOp):
        starts = tuple(size - 1 if dim in op.dims else 0 for dim, size in enumerate(source))
        strides = tuple(-1 if dim in op.dims else 1 for dim in range(len(source)))
    else:
        low, _, interior = op.amounts
        if padding_of(op) is None:
            return None
        dilations = [gap + 1 for gap in interior]
        return tuple(map(Window, source, target, (-edge for edge in low), (1,) * len(source), dilations))
    return tuple(map(Window, source, target, starts, strides))


def padding_of(op: Operation) -> Attribute | None:
    """The literal of a pad's constant padding."""
    return literal(op.padding_value) if isinstance(op, stablehlo.PadOp) else None


def literal(value: SSAValue) -> Attribute | None:
    """The literal of a constant, or None."""
    return value.owner.value if isinstance(value.owner, stablehlo.ConstantOp) else None


@dataclass(frozen=True)
class WindowExpansion:
    """
    A slice, pad or reversal along split dims: the devices exchange what their windows lack, by `dtensor.window`.

    `moves` are the dims along which elements move: the factor by which one may be split, if any, dim and window.
    """

    moves: tuple[tuple[int | None, int, Window], ...]
    cuts: frozenset[int] = frozenset()
    """Factors of which each device gives what it holds, which no window can do at the same time."""

    @property
    def factors(self) -> frozenset[int]:
        """The factors of the dims that move."""
        return frozenset(factor for factor, _, _ in self.moves if factor is not None)

    def price(self, parts: Mapping[int, int], sizes: Sequence[int]) -> float | None:
        """What a device lacks of its block."""
        if any(parts.get(factor, 1) > 1 for factor in self.cuts):
            return None
        windows = [(window, 1 if factor is None else parts.get(factor, 1)) for factor, _, window in self.moves]
        if any(window.operand == 0 for window, _ in windows) or all(count == 1 for _, count in windows):
            return 0.0
        others = math.prod(count for factor, count in parts.items() if factor not in self.factors)
        elements = others * math.prod(window.operand for window, _ in windows)
        return float(missing_elements(windows)) * sizes[0] / elements

    def expand(self, op: Operation, site: Site) -> Sequence[SSAValue]:
        """One `dtensor.window`."""
        windows = windows_of(op)
        assert windows is not None
        axes = [axes if window.moves else () for window, axes in zip(windows, site.results[0], strict=True)]
        moved = dtensor.WindowOp(
            op.operands[0], op.results[0].type, site.mesh.name, axes, windows, padding_of(op), site.reason
        )
        return site.insert(moved).results


def places_of(op: stablehlo.DynamicUpdateSliceOp) -> tuple[Window, ...] | None:
    """How each dim of the result shows the update; None where its place is not known."""
    found: list[Window] = []
    for start, size, total in zip(op.start_indices, shape_of(op.update), shape_of(op.result), strict=True):
        if not isinstance(start.owner, stablehlo.ConstantOp):
            return None
        first = min(max(int(stablehlo.splat_value(start.owner)), 0), total - size)
        found.append(Window(size, total, -first))
    return tuple(found)


@dataclass(frozen=True)
class UpdateExpansion:
    """
    An update at a known place along split dims: each device receives what falls into its part, and chooses it there.

    `moves` are the dims that are written in part: the factor by which operand and update may be split alike, and dim.
    """

    moves: tuple[tuple[int, int], ...]
    windows: tuple[Window, ...]

    @property
    def factors(self) -> frozenset[int]:
        """The factors of the dims that are written in part."""
        return frozenset(factor for factor, _ in self.moves)

    def price(self, parts: Mapping[int, int], sizes: Sequence[int]) -> float | None:
        """What a device lacks of what falls into its part of the result."""
        windows = [(self.windows[dim], parts.get(factor, 1)) for factor, dim in self.moves]
        others = math.prod(count for factor, count in parts.items() if factor not in self.factors)
        elements = others * math.prod(window.operand for window, _ in windows)
        return float(missing_elements(windows)) * sizes[1] / elements

    def expand(self, op: Operation, site: Site) -> Sequence[SSAValue]:
        """The update as a window of the result, and a choice."""
        assert isinstance(op, stablehlo.DynamicUpdateSliceOp)
        (dims,) = site.results
        moving = {dim for _, dim in self.moves}
        axes = [mine if dim in moving else () for dim, mine in enumerate(dims)]
        padding = stablehlo.make_dense(0, element_of(op.result), ())
        moved = dtensor.WindowOp(op.update, op.result.type, site.mesh.name, axes, self.windows, padding, site.reason)
        (placed,) = site.put(moved, dims)
        build = site.building(dims)
        written = reduce(build.both, self._inside(build))
        return [build.select(written, placed, op.operand)]

    def _inside(self, build: Builder) -> Iterator[SSAValue]:
        """Where along each dim that is written in part the update lies."""
        shape = [window.result for window in self.windows]
        for dim, window in enumerate(self.windows):
            for border, direction in ((-window.start, "GE"), (window.operand - window.start, "LT")):
                if 0 < border < window.result:
                    yield build.compare(build.iota(dim, shape), direction, build.literal(border, i32, shape))
