"""What a program costs each device in seconds on a topology, before it runs, and in memory."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from shardwright.compiler.layouts.memory import memory_of
from shardwright.compiler.layouts.timing import Work, works_of
from shardwright.compiler.report import CollectiveRow, collective_rows
from shardwright.compiler.stages import Partitioned
from shardwright.diagnostics.figures import exact_bytes, readable_bytes, readable_seconds
from shardwright.layout import Mesh
from shardwright.layout.planning.topology import Topology

_TOGETHER = ("collective_permute", "fetch")
"""Collectives of which nobody looks where each block comes from."""


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
        """The seconds of computing, and of starting to."""
        return self.topology.start + sum(work.seconds for work in self.works if work.row is None)

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
        """
        What each device sends, by axis; what crosses several goes to the slowest of them (see `docs/views.md`).

        Of whole blocks that are sent around, along several axes, these are named together.
        """
        return {axes: sent for axes, (_, sent) in self._by_axes().items()}

    def _by_axes(self) -> dict[str, tuple[float, float]]:
        """The seconds and the bytes of what is sent along the same axes."""
        found: dict[str, tuple[float, float]] = {}
        for work in self.works:
            for axis, messages, sent in work.traffic:
                axes = ", ".join(work.row.axes) if work.row is not None and work.row.kind in _TOGETHER else axis
                seconds, before = found.get(axes, (0.0, 0.0))
                found[axes] = seconds + self.topology.link(axis).seconds(messages, sent), before + sent
        return {axes: each for axes, each in found.items() if each[1]}

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
    held = stage.backend.held(stage.module, stage.interface.meshes)
    return priced(collective_rows(stage.planned), stage.module, stage.interface.mesh, topology, held)


def priced(
    rows: Sequence[CollectiveRow], local: ModuleOp, mesh: Mesh, topology: Topology | None = None, held: int = 0
) -> Price:
    """
    The price of each device's program, whose collectives are `rows`, in their order; what runs it holds so much.

    Raises `ValueError` (SW0121) where the topology has no link for an axis of the mesh.
    """
    topology = Topology.of(mesh) if topology is None else topology.on(mesh)
    works, once = works_of(rows, local, mesh, topology)
    return Price(topology, works, max(memory_of(local).peak, held), once)
