"""Slices that begin where they really do, before XLA makes one of two that follow each other."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from shardwright.compiler.exporting.writer import Writer
from shardwright.dialects import dtensor, stablehlo
from shardwright.dialects.building import ops_in
from shardwright.dialects.dtensor.kinds import highest
from shardwright.dialects.dtensor.manual import FetchOp
from shardwright.dialects.types import element_dtype, element_of, shape_of
from shardwright.layout.mesh import Mesh

_SHAPING = (stablehlo.ReshapeOp, stablehlo.TransposeOp, stablehlo.BroadcastInDimOp)
_OURS = (dtensor.AllSliceOp, dtensor.WindowOp, dtensor.ExchangeOp, FetchOp)
"""What becomes ops that take a part of their operand from a computed start, which is never too late."""

_BRANCHING = (stablehlo.WhileOp, stablehlo.CaseOp, stablehlo.IfOp)


def hold_starts(module: ModuleOp, mesh: Mesh) -> None:
    """
    Limits where slices begin to where one of their size can, if one is taken of the other, in place.

    A slice that would reach over an edge begins earlier. XLA of jaxlib 0.10 makes one slice of two, adds up their
    starts and limits the sum: where either begins too late, it takes the wrong elements. So it does with gathers and
    scatters of one index, which are such slices for it; a scatter leaves out what does not fit, and so gets its
    operand from behind a barrier. Of a program of one device there may be no second slice; the parts of devices bring
    it along.
    """
    writer, ops = Writer(mesh), ops_in(module)
    sliced, parts = _sliced(ops), _parts(ops)
    for op in ops:
        if not _slices(op) or isinstance(op, _OURS):
            continue
        writer.anchor = op
        if isinstance(op, stablehlo.ScatterOp):
            taken = [value in parts and place < len(op.inputs) for place, value in enumerate(op.operands)]
            op.operands = [
                writer.put(stablehlo.OptimizationBarrierOp([value])) if is_part else value
                for value, is_part in zip(op.operands, taken, strict=True)
            ]
        elif op.operands[0] in parts or op.results[0] in sliced:
            _limit(writer, op)


def _slices(op: Operation) -> bool:
    """Whether an op takes a part of its first operand from a computed start, or becomes one that does."""
    if isinstance(op, stablehlo.GatherOp):
        return _is_one(op.start_indices, op.numbers.index_vector_dim)
    if isinstance(op, stablehlo.ScatterOp):
        return _is_one(op.scatter_indices, op.numbers.index_vector_dim)
    return isinstance(op, (stablehlo.DynamicSliceOp, *_OURS))


def _is_one(indices: SSAValue, vector: int) -> bool:
    """Whether indices, of which each lies along this dim, are a single one."""
    return math.prod(extent for dim, extent in enumerate(shape_of(indices)) if dim != vector) == 1


def _taken(op: Operation) -> Sequence[SSAValue]:
    """The values of which an op takes a part."""
    if isinstance(op, stablehlo.ScatterOp):
        return op.inputs
    return op.operands if isinstance(op, _OURS) else op.operands[:1]


def _sliced(ops: Sequence[Operation]) -> set[SSAValue]:
    """Values of which a part is taken, and those that XLA may know to be such a value in another form."""
    found: set[SSAValue] = set()
    for op in reversed(ops):
        if _slices(op):
            found.update(_taken(op))
        found.update(source for source, target in _forms(op) if target in found)
    return found


def _parts(ops: Sequence[Operation]) -> set[SSAValue]:
    """Values that are parts of others, and what XLA may know to be such a value in another form."""
    found: set[SSAValue] = set()
    for op in ops:
        if _slices(op) and not isinstance(op, stablehlo.ScatterOp):
            found.update(op.results)
        found.update(target for source, target in _forms(op) if source in found)
    return found


def _forms(op: Operation) -> Iterator[tuple[SSAValue, SSAValue]]:
    """Pairs of values of which the second may be the first in another form: a loop may have one round, or none."""
    if isinstance(op, stablehlo.WhileOp):
        yield from zip(op.inputs, op.outputs, strict=True)
        yield from zip(op.inputs, op.body.block.args, strict=True)
    elif isinstance(op, stablehlo.ReturnOp):
        owner = op.parent_op()
        if isinstance(owner, _BRANCHING) and len(op.operands) == len(owner.results):
            yield from zip(op.operands, owner.results, strict=True)
    elif len(op.results) == 1:
        yield from ((value, op.results[0]) for value in op.operands if _keeps_elements(op, value))


def _keeps_elements(op: Operation, value: SSAValue) -> bool:
    """Whether an op may leave the elements as they are: one of shapes, or of numbers such as a product with one."""
    if isinstance(op, stablehlo.ReduceOp):
        return value in op.inputs and all(shape_of(value)[dim] == 1 for dim in op.dims)
    if not isinstance(op, stablehlo.ElementwiseOp):
        return isinstance(op, _SHAPING)
    return all(_is_constant(operand) for operand in op.operands if operand is not value)


def _is_constant(value: SSAValue) -> bool:
    op = value.owner
    if isinstance(op, stablehlo.BroadcastInDimOp):
        return _is_constant(op.operands[0])
    return isinstance(op, stablehlo.ConstantOp)


def _limit(writer: Writer, op: Operation) -> None:
    """Limits the starts of a slice, or of a gather of one index."""
    whole = shape_of(op.operands[0])
    if isinstance(op, stablehlo.GatherOp):
        room = [whole[dim] - op.sizes[dim] for dim in op.numbers.start_index_map]
        op.operands = [op.operands[0], _held(writer, op.start_indices, room, op.numbers.index_vector_dim)]
    elif isinstance(op, stablehlo.DynamicSliceOp):
        room = [extent - size for extent, size in zip(whole, op.sizes, strict=True)]
        starts = zip(op.start_indices, room, strict=True)
        op.operands = [op.operands[0], *(_held(writer, start, [most], 0) for start, most in starts)]


def _held(writer: Writer, start: SSAValue, room: Sequence[int], vector: int) -> SSAValue:
    """Starts, of which those of all dims lie along one, between zero and what there is room for."""
    shape = shape_of(start)
    largest = np.minimum(room, int(highest(element_dtype(element_of(start)))))
    constant = start.owner if not shape and isinstance(start.owner, stablehlo.ConstantOp) else None
    if constant is not None and 0 <= int(stablehlo.constant_value(constant)) <= largest[0]:
        return start
    most = largest.reshape([-1 if dim == vector else 1 for dim in range(len(shape))])
    most = writer.put(stablehlo.make_constant(np.broadcast_to(most, shape), element_of(start)))
    return writer.put(stablehlo.ClampOp(writer.splat(0, start, ()), start, most))
