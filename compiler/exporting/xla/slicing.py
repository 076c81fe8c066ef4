"""Slices that begin where they really do, before XLA makes one of two that follow each other."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from shardwright.compiler.exporting.writer import Writer
from shardwright.dialects import dtensor, stablehlo
from shardwright.dialects.building import ops_in
from shardwright.dialects.dtensor.manual import FetchOp
from shardwright.dialects.types import shape_of
from shardwright.layout.mesh import Mesh

_SHAPING = (stablehlo.ReshapeOp, stablehlo.TransposeOp, stablehlo.BroadcastInDimOp)
_SLICING = (stablehlo.DynamicSliceOp, dtensor.AllSliceOp, dtensor.WindowOp, dtensor.ExchangeOp, FetchOp)
"""What takes a part of its operand from a computed start, or becomes an op that does."""


def hold_starts(module: ModuleOp, mesh: Mesh) -> None:
    """
    Limits where a dynamic slice begins to where one of its size can, if what it gives is sliced once more.

    A slice that would reach over an edge begins earlier. XLA of jaxlib 0.10 adds up the two starts first, and limits
    the sum: of what begins too late, it takes the wrong elements. Of a program of one device there may be no second
    slice; the parts of devices bring it along.
    """
    writer, ops = Writer(mesh), ops_in(module)
    sliced = _sliced(ops)
    for op in ops:
        if isinstance(op, stablehlo.DynamicSliceOp) and op.results[0] in sliced:
            writer.anchor = op
            room = [whole - size for whole, size in zip(shape_of(op.operand), op.sizes, strict=True)]
            starts = zip(op.start_indices, room, strict=True)
            op.operands = [op.operand, *(_held(writer, start, most) for start, most in starts)]


def _sliced(ops: Sequence[Operation]) -> set[SSAValue]:
    """Values of which a part is taken, and those that XLA may know to be such a value in another form."""
    found: set[SSAValue] = set()
    for op in reversed(ops):
        if isinstance(op, _SLICING):
            found.update(op.operands[:1] if isinstance(op, stablehlo.DynamicSliceOp) else op.operands)
        elif not found.isdisjoint(op.results):
            found.update(value for value in set(op.operands) if _keeps_elements(op, value))
    return found


def _keeps_elements(op: Operation, value: SSAValue) -> bool:
    """Whether an op may leave the elements as they are: one of shapes, or of numbers such as a product with one."""
    others = [operand for operand in op.operands if operand is not value]
    return isinstance(op, _SHAPING) or (isinstance(op, stablehlo.ElementwiseOp) and all(map(_is_constant, others)))


def _is_constant(value: SSAValue) -> bool:
    op = value.owner
    if isinstance(op, stablehlo.BroadcastInDimOp):
        return _is_constant(op.operands[0])
    return isinstance(op, stablehlo.ConstantOp)


def _held(writer: Writer, start: SSAValue, most: int) -> SSAValue:
    if _is_constant(start):
        return start
    return writer.put(stablehlo.ClampOp(writer.splat(0, start, ()), start, writer.splat(most, start, ())))
