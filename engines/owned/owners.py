"""Who has the devices of a mesh: this process, the workers of a controller, or other processes of the job."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from shardwright.diagnostics import Diagnostic, ShardwrightError, ShardwrightValueError
from shardwright.diagnostics.caller import caller
from shardwright.engines.owned.parts import Owner, Parts, Program
from shardwright.layout import Layout, Mesh
from shardwright.layout.forms.devices import ENGINES, JAX
from shardwright.runtime.ledger import Ledger
from shardwright.runtime.stacking import local_shape

if TYPE_CHECKING:
    from shardwright.runtime.ports import Port


def layouts_of(ports: Sequence[Port], mesh: Mesh) -> list[Layout]:
    """The layouts of what a program takes or gives, on a mesh."""
    return [Layout.from_spec(port.spec, mesh, uneven=port.unpadded is not None) for port in ports]


def owner_of(mesh: Mesh) -> Owner | None:
    """
    Who holds the devices of a mesh, if this process does not.

    >>> owner_of(Mesh(x=2)) is None
    True
    """
    if not mesh.clients.is_here:
        return _OTHERS
    if mesh.owner == JAX:
        from shardwright.engines.jax.devices import JAX_DEVICES

        return JAX_DEVICES
    if isinstance(mesh.owner, str):
        return _ADDED[mesh.owner]
    return cast("Owner | None", mesh.owner)


def add_engine(name: str, owner: Owner) -> None:
    """
    Lets meshes name an engine from outside, which holds their devices and runs what is on them: `devices="name"`.

    Raises SW0732 where there is another one of that name.
    """
    if name in ENGINES:
        raise ShardwrightError(Diagnostic("SW0732", f"there is an engine '{name}' already"))
    ENGINES.add(name)
    _ADDED[name] = owner


_ADDED: dict[str, Owner] = {}
"""The engines of plugins."""


class Absent(Parts):
    """A stacked array of which this process has nothing."""

    __slots__ = ("_mesh",)

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype[Any], mesh: Mesh) -> None:
        super().__init__(shape, dtype)
        self._mesh = mesh

    def here(self) -> np.ndarray[Any, Any]:
        """Raises `ValueError` (SW0903): nobody can look at it here."""
        clients = self._mesh.clients
        last = clients.first + clients.count - 1
        where = f"process {last}" if clients.count == 1 else f"processes {clients.first} to {last}"
        raise ShardwrightValueError(
            Diagnostic(
                "SW0903",
                f"a tensor on {self._mesh!r} lies on {where} of {clients.job}: this one, number "
                f"{clients.everyone.place}, has nothing of it",
                caller(),
                help="shardwright.fetch(x) brings it to every process, and shardwright.relayout(x, layout) to those of "
                "another mesh",
            )
        )


class _Others(Owner):
    """Other processes of the job, which run the same Python program: they do by themselves what is asked of them."""

    def hold(self, stacked: np.ndarray[Any, Any], mesh: Mesh) -> Parts:
        return Absent(stacked.shape, stacked.dtype, mesh)

    def program(self, module: ModuleOp, mesh: Mesh) -> Program:
        return _TheirProgram(module, mesh)

    def held(self, module: ModuleOp) -> int:
        from shardwright.runtime.executable import held_by_each

        return held_by_each(module)


class _TheirProgram(Program):
    def __init__(self, module: ModuleOp, mesh: Mesh) -> None:
        from shardwright.runtime.executable import interface_of

        self._mesh = mesh
        lead, outputs = (1,) * len(mesh.axis_names), interface_of(module).outputs
        self._results = [((*lead, *local_shape(port.shape, port.spec, mesh)), port.dtype) for port in outputs]

    def run(self, inputs: Sequence[Parts]) -> list[Parts]:
        return [Absent(shape, dtype, self._mesh) for shape, dtype in self._results]

    @property
    def source(self) -> str:
        return f"# other processes run this, on {self._mesh!r}\n"

    @property
    def ledger(self) -> Ledger:
        return Ledger()

    @property
    def peak_bytes(self) -> int:
        return 0


_OTHERS = _Others()
