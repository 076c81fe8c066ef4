"""What each op of a device's program costs it in seconds on a topology, before anything runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Operation, SSAValue

from shardwright.compiler.report import AnyCollective, CollectiveRow, axes_of, is_collective, repeated_operations
from shardwright.dialects import dtensor, stablehlo
from shardwright.dialects.dtensor.manual import UnvaryingOp
from shardwright.dialects.types import element_dtype, shape_of
from shardwright.layout import Mesh
from shardwright.layout.planning.topology import Topology, Traffic
from shardwright.layout.planning.traffic import exchange_traffic, window_traffic

__all__ = ["Work", "operations_of", "works_of"]

_FREE = (stablehlo.ConstantOp, stablehlo.IotaOp, stablehlo.BroadcastInDimOp, stablehlo.ReshapeOp)
_OUTSIDE = ("builtin.", "func.", "dtensor.", "stablehlo.while", "stablehlo.case", "stablehlo.if", "stablehlo.return")
"""What holds operations, or is priced as a collective."""


@dataclass(frozen=True)
class Work:
    """
    What a device does for one op, all its runs together: it computes, or it takes part in a collective (`row`).

    `flops` are operations on numbers, `touched_bytes` what it reads and writes of its memory, and `launches` how often
    it begins: never, where what it makes takes no work. `traffic` is what it sends along each axis.
    """

    op: Operation
    seconds: float
    flops: int = 0
    touched_bytes: int = 0
    launches: int = 0
    row: CollectiveRow | None = None
    traffic: tuple[Traffic, ...] = ()


def works_of(
    rows: Sequence[CollectiveRow], local: ModuleOp, mesh: Mesh, topology: Topology
) -> tuple[tuple[Work, ...], tuple[str, ...]]:
    """
    What each op of a device's program does, whose collectives are `rows`, in their order.

    And what is counted as if it ran once: loops and branches that depend on data.
    """
    waiting, parts = iter(rows), 0
    works: list[Work] = []
    once: dict[str, None] = {}
    for op, repetition in repeated_operations(local):
        if repetition.within:
            once[repetition.within] = None
        if isinstance(op, UnvaryingOp):
            continue  # says something of a value, and sends nothing
        if is_collective(op) and parts:
            parts -= 1  # what the user gathers together, a device gathers value by value
        elif is_collective(op):
            row = next(waiting)
            parts = len(row.tensors) - len(op.operands)
            traffic = _traffic(op, row, mesh, topology)
            works.append(Work(op, topology.seconds(traffic), row=row, traffic=traffic))
        elif not op.name.startswith(_OUTSIDE) and not _is_in_body(op):
            flops, touched, times = _operations(op), _touched(op), repetition.times
            launches = 0 if isinstance(op, _FREE) else times
            seconds = max(flops / topology.flops, touched / topology.memory) * times + launches * topology.launch
            works.append(Work(op, seconds, flops * times, touched * times, launches))
    return tuple(works), tuple(once)


def operations_of(local: ModuleOp) -> int:
    """The operations on numbers that a device does, what loops and branches that depend on data do counted once."""
    found = repeated_operations(local)
    return sum(
        _operations(op) * repetition.times
        for op, repetition in found
        if not (is_collective(op) or op.name.startswith(_OUTSIDE) or _is_in_body(op))
    )


def _traffic(op: AnyCollective, row: CollectiveRow, mesh: Mesh, topology: Topology) -> tuple[Traffic, ...]:
    """What a device sends along each axis in all runs of a collective."""
    sent, times = float(row.bytes_per_device or 0), row.repetition.times
    if isinstance(op, dtensor.ExchangeOp):
        found = exchange_traffic(op.source.data, op.target.data, mesh, topology, sent)
    elif isinstance(op, dtensor.WindowOp):
        moving = zip(op.windows(mesh), op.dim_axes.data, strict=True)
        found = window_traffic([(window, axes) for window, axes in moving if window.moves], mesh, topology, sent)
    else:
        groups = [(axis.name, mesh.axis_size(axis)) for axis in axes_of(op, mesh)]
        found = topology.traffic(row.kind, groups, sent)
    return tuple((axis, messages * times, part * times) for axis, messages, part in found)


def _is_in_body(op: Operation) -> bool:
    """Whether an operation says what a reduction or a sort does with two elements."""
    parent = op.parent_op()
    return parent is not None and not parent.name.startswith(_OUTSIDE)


def _operations(op: Operation) -> int:
    """The operations on numbers of an op: two for each product that is added up, one for each element else."""
    if isinstance(op, _FREE):
        return 0
    made = sum(map(_size, op.results))
    match op:
        case stablehlo.DotGeneralOp():
            lhs = shape_of(op.operands[0])
            return 2 * made * math.prod(lhs[dim] for dim in op.contracting_dims[0])
        case stablehlo.ConvolutionOp():
            kernel = op.operands[1]
            return 2 * made * (_size(kernel) // max(shape_of(kernel)[op.numbers.kernel_output], 1))
        case stablehlo.ReduceOp():
            return sum(map(_size, op.operands))
        case stablehlo.SortOp() | stablehlo.FftOp():
            longest = max((max(shape_of(value), default=1) for value in op.operands), default=1)
            return made * max(math.ceil(math.log2(max(longest, 1))), 1)
        case _:
            return made if isinstance(op, stablehlo.ElementwiseOp) else 0


def _touched(op: Operation) -> int:
    """The bytes of memory that an op reads and writes, where elementwise operations pass elements on unwritten."""
    if isinstance(op, _FREE):
        return 0
    read = sum(_bytes(value) for value in op.operands if not (_passes_on(op) and _is_passed(value)))
    kept = not _passes_on(op) or any(not _passes_on(use.operation) for result in op.results for use in result.uses)
    return read + (sum(map(_bytes, op.results)) if kept else 0)


def _passes_on(op: Operation) -> bool:
    return isinstance(op, stablehlo.ElementwiseOp | stablehlo.BroadcastInDimOp)


def _is_passed(value: SSAValue) -> bool:
    """Whether a value comes from an elementwise operation before, or is known without reading."""
    return isinstance(value.owner, Operation) and (_passes_on(value.owner) or isinstance(value.owner, _FREE))


def _size(value: SSAValue) -> int:
    return math.prod(shape_of(value)) if isinstance(value.type, TensorType) else 0


def _bytes(value: SSAValue) -> int:
    return _size(value) * element_dtype(value.type).itemsize if isinstance(value.type, TensorType) else 0
