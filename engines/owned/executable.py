"""A program on a mesh whose devices somebody else has: handles in, handles out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from shardwright.dialects.types import native_array
from shardwright.engines.dtensor_value import DTensorValue, Make, scatter
from shardwright.engines.owned.owners import layouts_of
from shardwright.engines.owned.parts import Owner, Parts
from shardwright.layout import Layout, Mesh


class OwnedExecutable:
    """A program that the owner of a mesh runs, called with distributed tensors and global arrays; it waits for none."""

    def __init__(self, module: ModuleOp, mesh: Mesh, owner: Owner, make: Make) -> None:
        from shardwright.runtime.executable import interface_of

        self._owner, self._mesh, self._make = owner, mesh, make
        interface = interface_of(module)
        self._inputs, self._outputs = layouts_of(interface.inputs, mesh), layouts_of(interface.outputs, mesh)
        self._shapes = [port.unpadded for port in interface.outputs]
        self._program = owner.program(module, mesh)

    @property
    def source(self) -> str:
        return self._program.source

    @property
    def ledger(self) -> Any:
        return self._program.ledger

    @property
    def peak_bytes(self) -> int:
        return self._program.peak_bytes

    def __call__(self, arguments: Sequence[Any]) -> list[Any]:
        inputs = [self._taken(*pair) for pair in zip(arguments, self._inputs, strict=True)]
        made = zip(self._program.run(inputs), self._outputs, self._shapes, strict=True)
        return [self._make(parts, layout, shape) for parts, layout, shape in made]

    def _taken(self, argument: Any, layout: Layout) -> Parts:
        if isinstance(argument, DTensorValue) and isinstance(argument.held, Parts):
            return argument.held
        return self._owner.hold(scatter(native_array(np.asarray(argument)), layout), self._mesh)
