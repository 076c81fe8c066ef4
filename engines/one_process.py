"""All devices in this process: what runs a program there."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp

from shardwright.compiler.stages import Executable
from shardwright.dialects.dtensor import meshes
from shardwright.engines.one_mesh import LocalExecutable, Make
from shardwright.layout import Mesh


def executable(module: ModuleOp, known: Sequence[Mesh], make: Make) -> Executable:
    """What runs a local program, or a traced one on several meshes."""
    if len(meshes(module)) > 1:
        from shardwright.engines.several_meshes import SeveralMeshes

        return SeveralMeshes(module, known, make)
    return LocalExecutable(module, known, make)
