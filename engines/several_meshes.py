"""Runs programs on several meshes: segment after segment, with transfers from mesh to mesh in between."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from shardwright.compiler.layouts.segments import Segments
from shardwright.dialects.dtensor.transfers import TransferOp
from shardwright.engines.dtensor_value import Make
from shardwright.engines.one_mesh import executable as executable_on_one_mesh
from shardwright.engines.transfer import count_transfer, moved
from shardwright.layout import Mesh
from shardwright.runtime.ledger import Ledger


class SeveralMeshes:
    """A program on several meshes, called like any other."""

    def __init__(self, module: ModuleOp, known: Sequence[Mesh], make: Make) -> None:
        self._segments, self._make = Segments(module, known), make
        self._parts = [
            (part.segment, executable_on_one_mesh(part.local, [self._segments.meshes[part.mesh]], make))
            for part in self._segments.parts
        ]
        self._transfers = Ledger()

    @property
    def ledger(self) -> Ledger:
        """What the last run sent, within meshes and between them."""
        whole = Ledger()
        for _, executable in self._parts:
            whole.include(executable.ledger)
        whole.include(self._transfers)
        return whole

    @property
    def source(self) -> str:
        """The programs of all segments, one after the other."""
        return "\n".join(
            f"# segment {number}, on @{segment.mesh}\n{executable.source}"
            for number, (segment, executable) in enumerate(self._parts)
        )

    @property
    def peak_bytes(self) -> int:
        """The most bytes that one segment holds at once."""
        return max((executable.peak_bytes for _, executable in self._parts), default=0)

    def __call__(self, arguments: Sequence[Any]) -> list[Any]:
        known: dict[SSAValue, Any] = dict(zip(self._segments.function.args, arguments, strict=True))
        self._transfers = Ledger()
        for segment, executable in self._parts:
            inputs = [self._value(value, known) for value in segment.inputs]
            known.update(zip(segment.outputs, executable(inputs), strict=True))
        return [self._value(value, known) for value in self._segments.results]

    def _value(self, value: SSAValue, known: dict[SSAValue, Any]) -> Any:
        """A value for whoever needs it: as it was made, or moved from its mesh, once."""
        if value not in known:
            transfer = value.owner
            assert isinstance(transfer, TransferOp), "segments run in the order of what they need"
            source = self._value(transfer.operand, known)
            layout = self._segments.transfer(transfer).target
            count_transfer(source, layout, self._transfers)
            known[value] = self._make(moved(source, layout), layout, source.shape)
        return known[value]
