"""What a program costs each device in seconds on a topology, before it runs, and in memory."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Operation, SSAValue

from shardwright.compiler.layouts.memory import memory_of
from shardwright.compiler.report import CollectiveRow, collective_rows, is_collective, repeated_operations
from shardwright.compiler.stages import Partitioned
from shardwright.diagnostics.figures import exact_bytes, readable_bytes, readable_seconds
from shardwright.dialects import stablehlo
from shardwright.dialects.dtensor.manual import UnvaryingOp
from shardwright.dialects.types import element_dtype, shape_of
from shardwright.layout import Mesh
from shardwright.layout.axes import parse_axis
from shardwright.layout.planning.topology import Topology

_FREE = (stablehlo.ConstantOp, stablehlo.IotaOp, stablehlo.BroadcastInDimOp, stablehlo.ReshapeOp)
_OUTSIDE = ("builtin.", "func.", "dtensor.", "stablehlo.while", "stablehlo.case", "stablehlo.if", "stablehlo.return")
"""What holds operations, or is priced as a collective."""


@dataclass(frozen=True)
class Work:
    """
    What a device does for one op, all its runs together: it computes, or it takes part in a collective (`row`).

    `flops` are operations on numbers, `touched_bytes` what it reads and writes of its memory.
    """

    op: Operation
    seconds: float
    flops: int = 0
    touched_bytes: int = 0
    row: CollectiveRow | None = None


@dataclass(frozen=True)
class Price:
    """
    What one run of a program costs each device: seconds, operations on numbers, bytes of its memory touched and held.

    Computing and sending follow each other: nothing is taken to overlap. An operation takes as long as its arithmetic
    or its memory does, whichever is longer; chains of elementwise operations touch memory where they begin and end. A
    loop whose rounds depend on the data counts as one round, and of branches all count: `once` names them.
    """

    topology: Topology
    works: tuple[Work, ...]
    peak_bytes: int
    once: tuple[str, ...]

    @property
    def compute_seconds(self) -> float:
        """The seconds of computing."""
        return sum(work.seconds for work in self.works if work.row is None)

    @property
    def collective_seconds(self) -> float:
        """The seconds of all collectives."""
        return sum(work.seconds for work in self.works if work.row is not None)

    @property
    def flops(self) -> int:
        """The operations on numbers."""
        return sum(work.flops for work in self.works)

    @property
    def touched_bytes(self) -> int:
        """The bytes of its memory that a device reads and writes."""
        return sum(work.touched_bytes for work in self.works)

    @property
    def seconds(self) -> float:
        """The seconds of one run."""
        return self.compute_seconds + self.collective_seconds

    @property
    def bytes_by_axes(self) -> dict[str, float]:
        """What each device sends, by the axes along which it goes."""
        return {axes: sent for axes, (_, sent) in self._by_axes().items()}

    def _by_axes(self) -> dict[str, tuple[float, float]]:
        """The seconds and the bytes of what is sent along the same axes."""
        found: dict[str, tuple[float, float]] = {}
        for work in self.works:
            if work.row is not None and (sent := _sent(work.row)):
                seconds, before = found.get(axes := ", ".join(work.row.axes), (0.0, 0.0))
                found[axes] = seconds + work.seconds, before + sent
        return found

    def data(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "seconds": self.seconds,
            "compute_seconds": self.compute_seconds,
            "collective_seconds": self.collective_seconds,
            "bytes_by_axes": self.bytes_by_axes,
            "flops": self.flops,
            "touched_bytes": self.touched_bytes,
            "peak_bytes": self.peak_bytes,
            "counted_once": list(self.once),
            "topology": self.topology.as_dict(),
        }

    def text(self, *, width: int | None = None, colour: bool = False) -> str:
        """For people: a line for what is computed, one for each axis along which something is sent, and the sums."""
        from rich import box
        from rich.table import Table

        from shardwright.views.explanation.text import written

        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        for heading in ("", "seconds", "of each device"):
            table.add_column(heading, justify="right" if heading == "seconds" else "left", overflow="fold")
        work = f"{self.flops:,} operations, {readable_bytes(self.touched_bytes)} of memory touched"
        table.add_row("computing", readable_seconds(self.compute_seconds), work)
        for axes, (seconds, sent) in self._by_axes().items():
            table.add_row(f"sending along {axes}", readable_seconds(seconds), f"{exact_bytes(sent)} bytes")
        held = f"{readable_bytes(self.peak_bytes)} held at once"
        table.add_row("a run", readable_seconds(self.seconds), held)
        text = io.StringIO()
        written(text, width, colour).print(table)
        lines = [line.rstrip() for line in text.getvalue().splitlines()]
        lines += [f"counted as if it ran once: {each}" for each in self.once]
        return "\n".join(line for line in lines if line) + "\n"

    def __str__(self) -> str:
        return self.text()

    __repr__ = __str__


def price_of(stage: Partitioned, topology: Topology | None = None) -> Price:
    """The price of a partitioned program, on the usual orders of magnitude if no topology is given."""
    return priced(collective_rows(stage.planned), stage.module, stage.interface.mesh, topology)


def priced(rows: Sequence[CollectiveRow], local: ModuleOp, mesh: Mesh, topology: Topology | None = None) -> Price:
    """The price of each device's program, whose collectives are `rows`, in their order."""
    topology = topology or Topology.of(mesh)
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
            works.append(Work(op, row_seconds(row, mesh, topology), row=row))
        elif not op.name.startswith(_OUTSIDE) and not _is_in_body(op):
            flops, touched, times = _operations(op), _touched(op), repetition.times
            seconds = max(flops / topology.flops, touched / topology.memory)
            works.append(Work(op, seconds * times, flops * times, touched * times))
    return Price(topology, tuple(works), memory_of(local).peak, tuple(once))


def row_seconds(row: CollectiveRow, mesh: Mesh, topology: Topology) -> float:
    """How long all runs of a collective take."""
    groups = [(text, mesh.sizes[text]) if text in mesh.sizes else _part(text) for text in row.axes]
    sent = float(row.bytes_per_device or 0)
    return topology.collective_seconds(row.kind, groups, sent) * row.repetition.times


def _part(text: str) -> tuple[str, int]:
    """The axis of which a part is meant, and the size of the part."""
    axis = parse_axis(text)
    return axis.name, axis.size


def _sent(row: CollectiveRow) -> float:
    """What a device sends in all runs of a collective."""
    return float(row.bytes_per_device or 0) * row.repetition.times


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
