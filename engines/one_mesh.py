"""A program on one mesh, all or some of whose devices are in this process: stacked arrays in, stacked arrays out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from shardwright.dialects.dtensor import meshes
from shardwright.dialects.types import native_array
from shardwright.engines.dtensor_value import DTensorValue, Make, scatter
from shardwright.engines.jobs.timeline import span
from shardwright.engines.owned.owners import owner_of
from shardwright.engines.processes import communicator_of
from shardwright.layout import Layout, Mesh

if TYPE_CHECKING:
    from shardwright.engines.owned.executable import OwnedExecutable


def executable(module: ModuleOp, known: Sequence[Mesh], make: Make) -> LocalExecutable | OwnedExecutable:
    """What runs a program on one mesh, wherever its devices are; `known` are meshes with their devices, by name."""
    declared = next(iter(meshes(module).values()), Mesh())
    mesh = next((mesh for mesh in known if mesh.name == declared.name), None)
    owner = None if mesh is None else owner_of(mesh)
    if mesh is not None and owner is not None:
        # Only whose devices somebody else has needs it.
        from shardwright.engines.owned.executable import OwnedExecutable

        return OwnedExecutable(module, mesh, owner, make)
    return LocalExecutable(module, declared if mesh is None else mesh, mesh is not None, make)


class LocalExecutable:
    """A program on those devices of a mesh that are here, called with distributed tensors and global arrays."""

    def __init__(self, module: ModuleOp, mesh: Mesh, known: bool, make: Make) -> None:
        # Only what runs needs the code generator.
        from shardwright.runtime.executable import compile_module

        self._make = make
        self._mesh = mesh
        self._inner = compile_module(module, communicator=communicator_of(self._mesh))
        self._lead = len(self._mesh.axis_names)
        self._distributed = bool(self._lead) or known
        self._inputs = [Layout.from_spec(port.spec, self._mesh) for port in self._inner.inputs]
        self._outputs = [Layout.from_spec(port.spec, self._mesh) for port in self._inner.outputs]

    @property
    def source(self) -> str:
        return self._inner.source

    @property
    def ledger(self) -> Any:
        return self._inner.ledger

    @property
    def peak_bytes(self) -> int:
        return self._inner.peak_bytes

    def __call__(self, arguments: Sequence[Any]) -> list[Any]:
        inputs = [self._taken(*pair) for pair in zip(arguments, self._inputs, strict=True)]
        with span("a program", "run"):
            results = self._inner.run_stacked(inputs)
        return [self._given(*pair) for pair in zip(results, self._outputs, strict=True)]

    def _taken(self, argument: Any, layout: Layout) -> Any:
        stacked = (
            argument.stacked
            if isinstance(argument, DTensorValue)
            else scatter(native_array(np.asarray(argument)), layout)
        )
        # A program that names no axis runs on plain arrays.
        return stacked if self._inner.mesh is not None else stacked.reshape(stacked.shape[self._lead :])

    def _given(self, result: Any, layout: Layout) -> Any:
        array = np.asarray(result)
        if not self._distributed:
            return array
        stacked = array if self._inner.mesh is not None else array.reshape((1,) * self._lead + array.shape)
        return self._make(stacked, layout)
