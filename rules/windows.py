"""The ops that move elements along dims by one affine step per dim: their windows, and their padding."""

from __future__ import annotations

from typing import cast

from xdsl.ir import Attribute, Operation

from shardwright.dialects import stablehlo
from shardwright.dialects.types import shape_of
from shardwright.layout.window import Window


def windows_of(op: Operation) -> tuple[Window, ...] | None:
    """
    For each dim how the op's result comes from its first operand; None for an op that is no such move.

    A pad is one when nothing goes between its elements and its padding is a constant.
    """
    if not isinstance(op, stablehlo.SliceOp | stablehlo.ReverseOp | stablehlo.PadOp):
        return None
    source, target = shape_of(op.operands[0]), shape_of(op.results[0])
    if isinstance(op, stablehlo.SliceOp):
        starts, _, strides = op.bounds
    elif isinstance(op, stablehlo.ReverseOp):
        starts = tuple(size - 1 if dim in op.dims else 0 for dim, size in enumerate(source))
        strides = tuple(-1 if dim in op.dims else 1 for dim in range(len(source)))
    else:
        low, _, interior = op.amounts
        if any(interior) or padding_of(op) is None:
            return None
        starts, strides = tuple(-edge for edge in low), (1,) * len(source)
    return tuple(map(Window, source, target, starts, strides))


def padding_of(op: Operation) -> Attribute | None:
    """The literal of a pad's constant padding."""
    if not isinstance(op, stablehlo.PadOp) or not isinstance(op.operands[1].owner, stablehlo.ConstantOp):
        return None
    return cast("Attribute", op.operands[1].owner.value)
