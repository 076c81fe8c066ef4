"""Layouts that `shardwright.jax.jit` chooses, where it is asked to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal

from xdsl.dialects.builtin import ModuleOp

from shardwright.compiler.stages import Backend, Traced
from shardwright.compiler.tracing.settings import setting
from shardwright.diagnostics.faults import value_error
from shardwright.dialects.dtensor import meshes
from shardwright.engines.one_process import OneProcess
from shardwright.frontends.functions.dtensor import tensor_of
from shardwright.layout import Mesh
from shardwright.layout.planning.topology import Topology
from shardwright.views.stages import StageViews


class _Xla(OneProcess):
    """XLA knows what it holds once it has compiled a program, and not before."""

    def held(self, module: ModuleOp, known: Sequence[Mesh]) -> int:
        return 0


XLA: Backend = _Xla(tensor_of, StageViews())
"""What stands for XLA with stages whose programs JAX's own devices run."""

Objective = Literal["bytes", "seconds"]

_KINDS: dict[str, Any] = {
    "memory_limit": int | str | None,
    "objective": Objective | None,
    "topology": Topology | None,
    "recompute": bool,
    "microbatches": bool,
}
"""What the fields of `Wanted` are given as."""


@dataclass(frozen=True)
class Wanted:
    """What layouts are chosen for; the fields are those of `Traced.lay_out`."""

    memory_limit: int | None
    objective: Objective
    topology: Topology | None
    recompute: bool
    microbatches: bool

    @classmethod
    def of(
        cls,
        what: str,
        *,
        memory_limit: int | str | None,
        objective: Objective | None,
        topology: Topology | None,
        recompute: bool = False,
        microbatches: bool = False,
    ) -> Wanted | None:
        """
        What somebody asked a function for, by whose name errors call it; None if it is nothing.

        Raises `TypeError` (SW0510) for what is of another kind, and `ValueError` for a limit that is no number of bytes
        (SW0582), another objective (SW0585), and what does nothing without another setting (SW0510).
        """
        given = {
            "memory_limit": memory_limit,
            "objective": objective,
            "topology": topology,
            "recompute": recompute,
            "microbatches": microbatches,
        }
        read: dict[str, Any] = {name: setting(what, name, kind)(given[name]) for name, kind in _KINDS.items()}
        if all(each is None or each is False for each in read.values()):
            return None
        from shardwright.compiler.layouts.automatic import limit_of  # only for who asks for it

        usual: Objective = "bytes" if read["topology"] is None else "seconds"
        read["objective"] = read["objective"] or usual
        read["memory_limit"] = limit_of(what, **read)
        return cls(**read)

    def lay_out(self, traced: Traced, known: Sequence[Any]) -> Traced:
        """
        The program with the layouts that do best; what has one keeps it.

        `known` are the shardings of JAX that there are.

        Raises SW0468 where there is no mesh, SW0469 where nothing fits, SW0586 for a mesh of explicit axes.
        """
        _refuse_explicit(known)
        if not any(found.sizes for found in meshes(traced.module).values()):
            raise value_error(
                "SW0468",
                "there is no mesh over which layouts could be chosen",
                help="call the function within `with jax.set_mesh(mesh):`, or give an argument a NamedSharding",
            )
        return traced.lay_out(
            memory_limit=self.memory_limit,
            objective=self.objective,
            topology=self.topology,
            recompute=self.recompute,
            microbatches=self.microbatches,
        )


def shardings_around() -> list[Any]:
    """A sharding on the mesh of `jax.set_mesh`, if there is one."""
    sharding = import_module("jax.sharding")
    mesh = sharding.get_mesh()
    return [sharding.NamedSharding(mesh, sharding.PartitionSpec())] if mesh.axis_names else []


def _refuse_explicit(known: Sequence[Any]) -> None:
    explicit = import_module("jax.sharding").AxisType.Explicit
    for sharding in known:
        mesh = getattr(sharding, "mesh", None)
        if mesh is not None and explicit in mesh.axis_types:
            raise value_error(
                "SW0586",
                f"the axes of {mesh!r} are explicit: each array has the sharding that its type says",
                help="make the mesh with axis_types=(jax.sharding.AxisType.Auto,) for each axis",
            )
