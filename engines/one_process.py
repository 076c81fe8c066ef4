"""What runs a program: all devices in this process, its block of them, or whoever owns the mesh."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp

from shardwright.compiler.running import Executable, RememberedFile
from shardwright.compiler.stages import Views
from shardwright.dialects.dtensor import meshes
from shardwright.engines.dtensor_value import Make
from shardwright.engines.one_mesh import ProgramFile, RememberedProgram, executable, held, remembered, remembered_file
from shardwright.layout import Mesh

if TYPE_CHECKING:
    from shardwright.proof import Proof


@dataclass(frozen=True)
class OneProcess:
    """Runs programs in this process, and proves them; `make` makes their users' distributed tensors, `views` shows."""

    make: Make
    views: Views

    def __call__(self, module: ModuleOp, known: Sequence[Mesh]) -> Executable:
        """What runs a local program, or a traced one on several meshes."""
        if len(meshes(module)) > 1:
            from shardwright.engines.several_meshes import SeveralMeshes

            return SeveralMeshes(module, known, self.make)
        return executable(module, known, self.make)

    def held(self, module: ModuleOp, known: Sequence[Mesh]) -> int:
        """The bytes that each device holds at the most while a local program runs; 0 where that is not known."""
        return held(module, known)

    def remembered(
        self, traced: ModuleOp, known: Sequence[Mesh], file: RememberedFile | None
    ) -> RememberedProgram | None:
        """What may be remembered of a traced program, as it stands in a file if this is said."""
        return remembered(traced, known, self.make, file)

    def remembered_file(self, content: bytes, *facts: object) -> ProgramFile | None:
        """What may be remembered of what a file holds."""
        return remembered_file(content, self.make, facts)

    def certify(self, traced: ModuleOp, planned: ModuleOp, local: ModuleOp) -> Proof:
        """The proof that a local program computes what the traced one does."""
        from shardwright.proof import certify

        return certify(traced, planned, local)
