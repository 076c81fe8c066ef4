"""The ops that move elements along dims by one affine step per dim: their windows, and their padding."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.ir import Attribute, Operation, SSAValue

from shardwright.dialects import dtensor, stablehlo
from shardwright.dialects.types import shape_of
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
