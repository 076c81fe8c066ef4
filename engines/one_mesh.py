"""A program on one mesh, all or some of whose devices are in this process: stacked arrays in, stacked arrays out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from shardwright.compiler.running import RememberedFile
from shardwright.compiler.tracing.interface import Interface, interface_from, plain_interface
from shardwright.dialects.dtensor import meshes
from shardwright.dialects.text.printing import print_module
from shardwright.dialects.types import native_array
from shardwright.engines.dtensor_value import DTensorValue, Make, scatter
from shardwright.engines.jobs.timeline import span
from shardwright.engines.owned.owners import layouts_of, owner_of
from shardwright.engines.processes import communicator_of
from shardwright.layout import Layout, Mesh

if TYPE_CHECKING:
    from shardwright.engines.owned.executable import OwnedExecutable
    from shardwright.runtime.codegen.images import Image
    from shardwright.runtime.executable import Executable
    from shardwright.runtime.ports import Port


def executable(module: ModuleOp, known: Sequence[Mesh], make: Make) -> LocalExecutable | OwnedExecutable:
    """What runs a program on one mesh, wherever its devices are; `known` are meshes with their devices, by name."""
    declared, mesh = _mesh_of(module, known)
    owner = None if mesh is None else owner_of(mesh)
    if mesh is not None and owner is not None:
        # Only whose devices somebody else has needs it.
        from shardwright.engines.owned.executable import OwnedExecutable

        return OwnedExecutable(module, mesh, owner, make)
    # Only what runs needs the code generator.
    from shardwright.runtime.executable import compile_module

    here = declared if mesh is None else mesh
    return LocalExecutable(compile_module(module, communicator=communicator_of(here)), here, mesh is not None, make)


def held(module: ModuleOp, known: Sequence[Mesh]) -> int:
    """The bytes that each device holds at the most while a program runs; 0 where that is not known beforehand."""
    from shardwright.runtime.executable import held_by_each

    declared, mesh = _mesh_of(module, known)
    owner = owner_of(declared if mesh is None else mesh)
    return held_by_each(module) if owner is None else owner.held(module)


def _mesh_of(module: ModuleOp, known: Sequence[Mesh]) -> tuple[Mesh, Mesh | None]:
    """The mesh that a module declares, and the one of that name whose devices are known, if there is one."""
    declared = next(iter(meshes(module).values()), Mesh())
    return declared, next((mesh for mesh in known if mesh.name == declared.name), None)


def remembered(
    module: ModuleOp, known: Sequence[Mesh], make: Make, file: RememberedFile | None
) -> RememberedProgram | None:
    """What may be remembered of a traced program: of one whose devices are all here, and that takes long to compile."""
    declared, mesh = _mesh_of(module, known)
    here = declared if mesh is None else mesh
    if len(meshes(module)) > 1 or not _is_all_here(here):
        return None
    if sum(1 for _ in islice(module.walk(), FEWEST_OPS)) < FEWEST_OPS:
        return None
    from shardwright.runtime.codegen.memory import remembers

    if not remembers():
        return None
    name = _name_of(print_module(module, debuginfo=True)) if file is None else file.name
    return RememberedProgram(name, here, mesh is not None, make, file is not None)


def remembered_file(content: bytes, make: Make, facts: Sequence[object]) -> ProgramFile | None:
    """What may be remembered of a program in a file, which is named by what it holds; `facts` say how it is read."""
    from shardwright.runtime.codegen.memory import remembers

    if len(content) < FEWEST_BYTES or not remembers():
        return None
    return ProgramFile(_name_of(sha256(content).hexdigest(), "file", *facts), make)


def _name_of(text: str, *facts: object) -> str:
    from shardwright.runtime.codegen.crew import shared_crew
    from shardwright.runtime.codegen.memory import key_of

    return key_of(text, *facts, shared_crew(None).size)


def _is_all_here(mesh: Mesh) -> bool:
    return owner_of(mesh) is None and communicator_of(mesh) is None


@dataclass(frozen=True)
class RememberedProgram:
    """The record of a program on a mesh, under its name; see `compiler.stages.Remembered`."""

    name: str
    mesh: Mesh
    known: bool
    make: Make
    is_file: bool
    """Whether the name is that of a file, whose interface is kept, too, so that it need not be read to be called."""

    def recall(self) -> tuple[LocalExecutable, Sequence[Layout]] | None:
        from shardwright.runtime.codegen.memory import recall
        from shardwright.runtime.codegen.records import load
        from shardwright.runtime.executable import Executable

        image = recall(self.name, load)
        if image is None:
            return None
        found = LocalExecutable(Executable(image), self.mesh, self.known, self.make)
        return found, found.layouts

    def keep(self, executable: object, interface: Interface, seconds: float) -> None:
        from shardwright.runtime.codegen.memory import LEAST_SECONDS, remember
        from shardwright.runtime.codegen.records import dump

        if seconds >= LEAST_SECONDS and isinstance(executable, LocalExecutable):
            content = dump(executable.image)
            if content is not None:
                remember(self.name, content)
                if self.is_file:
                    remember(_interface_name(self.name), json.dumps(plain_interface(interface)).encode())


@dataclass(frozen=True)
class ProgramFile:
    """The record of the program that a file holds, under its name; see `compiler.stages.RememberedFile`."""

    name: str
    make: Make

    def interface(self) -> Interface | None:
        from shardwright.runtime.codegen.memory import recall

        return recall(_interface_name(self.name), lambda content: interface_from(json.loads(content)))

    def recall(self) -> tuple[LocalExecutable, Sequence[Layout]] | None:
        interface = self.interface()
        if interface is None or not _is_all_here(interface.mesh):
            return None
        return RememberedProgram(self.name, interface.mesh, known=False, make=self.make, is_file=True).recall()


def _interface_name(name: str) -> str:
    return f"{name}-interface"


FEWEST_OPS = 300
"""Programs of fewer operations are compiled about as fast as they would be found."""

FEWEST_BYTES = 1 << 15
"""Files of programs with fewer operations are smaller."""


class LocalExecutable:
    """A program on those devices of a mesh that are here, called with distributed tensors and global arrays."""

    def __init__(self, inner: Executable, mesh: Mesh, known: bool, make: Make) -> None:
        self._make = make
        self._mesh = mesh
        self._inner = inner
        self._lead = len(self._mesh.axis_names)
        self._distributed = bool(self._lead) or known
        self._inputs = layouts_of(self._inner.inputs, self._mesh)
        self._outputs = layouts_of(self._inner.outputs, self._mesh)

    @property
    def image(self) -> Image:
        """All of it but its memory."""
        return self._inner.image

    @property
    def layouts(self) -> Sequence[Layout]:
        """The layouts of the arguments."""
        return self._inputs

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
            results = self._inner.run_stacked(inputs) if self._distributed else self._inner.run(inputs)
        given = zip(results, self._outputs, self._inner.outputs, strict=True)
        return [self._given(result, layout, port) for result, layout, port in given]

    def _taken(self, argument: Any, layout: Layout) -> Any:
        stacked = (
            argument.stacked
            if isinstance(argument, DTensorValue)
            else scatter(native_array(np.asarray(argument)), layout)
        )
        # A program that names no axis runs on plain arrays.
        return stacked if self._inner.mesh is not None else stacked.reshape(stacked.shape[self._lead :])

    def _given(self, result: Any, layout: Layout, port: Port) -> Any:
        array = np.asarray(result)
        if not self._distributed:
            return self._make(array, None, None)
        stacked = array if self._inner.mesh is not None else array.reshape((1,) * self._lead + array.shape)
        return self._make(stacked, layout, port.unpadded)
