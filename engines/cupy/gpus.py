"""`gpu_mesh`: meshes whose devices are held by GPUs, one for each process of the job."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import ModuleOp, TensorType

from shardwright.diagnostics import Diagnostic, ShardwrightTypeError, SourceLocation
from shardwright.diagnostics.caller import caller
from shardwright.dialects.text.locations import where
from shardwright.dialects.types import element_dtype
from shardwright.engines.cupy import namespace
from shardwright.engines.cupy.communicator import NcclCommunicator
from shardwright.engines.cupy.device import chosen, nccl
from shardwright.engines.owned.parts import Owner, Parts, Program
from shardwright.engines.processes import communicator_of, job_of
from shardwright.engines.workers.kept import Kept
from shardwright.layout import Mesh
from shardwright.layout.forms.clients import Clients
from shardwright.runtime.executable import compile_module, held_by_each
from shardwright.runtime.ledger import Ledger
from shardwright.runtime.ports import Port
from shardwright.runtime.processes.communicator import Communicator


def gpu_mesh(
    dims: Mapping[str, int] | Iterable[tuple[str, int]],
    devices: Sequence[object] | None = None,
    *,
    name: str = "mesh",
) -> Mesh:
    """
    A mesh over all processes of the job, as `Mesh.distributed` makes it, whose devices are held by GPUs.

    Each process has one GPU, which holds the process's box of the mesh: arrays stay there from call to call. A process
    that is alone holds the whole mesh on its GPU. Several start as for `Mesh.distributed`, and NCCL connects their
    GPUs; of those that the processes of a host see (`CUDA_VISIBLE_DEVICES`) each takes one. Needs the extra `cupy`, and
    `mpi` for several processes. Every process calls it, in the same order as whatever they do together.

    Raises `ValueError` where a process lacks CuPy, CUDA or NCCL (SW0930), or the processes of a host have fewer GPUs
    than they are (SW0931), and as `Mesh.distributed` does.

    ```python
    mesh = shardwright.gpu_mesh({"batch": 4, "model": 2})
    x = shardwright.relayout(array, shardwright.Layout(["batch"], mesh))
    total = float(shardwright.sum(x))
    ```
    """
    mesh = Mesh.distributed(dims, devices, name=name)
    return mesh.owned_by(_gpus_of(mesh))


_known: dict[Clients, Gpus] = {}
"""The GPUs of a job's processes, which choose them once, together."""


def _gpus_of(mesh: Mesh) -> Gpus:
    host, job = communicator_of(mesh), job_of([mesh])
    if mesh.clients not in _known:
        _known[mesh.clients] = Gpus(chosen(job), host)
    return _known[mesh.clients]


class Gpus(Owner):
    """This process's GPU, by its number among those that it sees; `host` connects it to the others' processes."""

    def __init__(self, number: int, host: Communicator | None = None) -> None:
        self.device = namespace.library().cuda.Device(number)
        self.communicator: Communicator | None = None
        if host is not None:
            self.communicator = NcclCommunicator(host, nccl())

    def __repr__(self) -> str:
        return f"Gpus({self.device.id})"

    def hold(self, stacked: np.ndarray[Any, Any], mesh: Mesh) -> Parts:
        if not namespace.is_held(stacked.dtype):
            raise _not_held(stacked.dtype, caller())
        with self.device:
            return OnDevice(Kept(namespace.library().array(stacked)), stacked.shape, stacked.dtype, self)

    def program(self, module: ModuleOp, mesh: Mesh) -> Program:
        _check_types(module)
        return DeviceProgram(module, mesh, self)

    def held(self, module: ModuleOp) -> int:
        return held_by_each(module, fused=False)


class OnDevice(Parts):
    """An array on this process's GPU."""

    __slots__ = ("_gpus", "kept")

    def __init__(self, kept: Kept, shape: tuple[int, ...], dtype: np.dtype[Any], gpus: Gpus) -> None:
        super().__init__(shape, dtype)
        self.kept, self._gpus = kept, gpus

    def here(self) -> np.ndarray[Any, Any]:
        with self._gpus.device:
            return self.kept.stacked.get()


class DeviceProgram(Program):
    """A program that runs on this process's GPU, together with the others."""

    def __init__(self, module: ModuleOp, mesh: Mesh, gpus: Gpus) -> None:
        self._gpus, self._lead = gpus, len(mesh.axis_names)
        communicator = gpus.communicator if communicator_of(mesh) is not None else None
        with gpus.device:
            self._executable = compile_module(module, namespace=namespace.__name__, communicator=communicator)
        self._shapes = [_stacked_shape(port, self._lead) for port in self._executable.outputs]

    def run(self, inputs: Sequence[Parts]) -> list[Parts]:
        ports = zip(inputs, self._executable.inputs, strict=True)
        with self._gpus.device:
            bases = [cast(OnDevice, part).kept.base(port, self._lead) for part, port in ports]
            made = zip(self._executable.run_bases(bases), self._executable.outputs, self._shapes, strict=True)
            return [
                OnDevice(Kept.made(base, port, self._lead), shape, port.dtype, self._gpus) for base, port, shape in made
            ]

    @property
    def source(self) -> str:
        return self._executable.source

    @property
    def ledger(self) -> Ledger:
        return self._executable.ledger

    @property
    def peak_bytes(self) -> int:
        return self._executable.peak_bytes


def _stacked_shape(port: Port, lead: int) -> tuple[int, ...]:
    """The shape of a result's stacked form, found on an array that takes no memory."""
    kept = Kept.made(np.broadcast_to(np.False_, port.base_shape), port, lead)
    return kept.stacked.shape


def _check_types(module: ModuleOp) -> None:
    """Raises `TypeError` (SW0933) where an op makes elements that CuPy has no arrays of."""
    for op in module.walk():
        for result in op.results:
            if isinstance(result.type, TensorType):
                dtype = element_dtype(result.type)
                if not namespace.is_held(dtype):
                    raise _not_held(dtype, where(op))


def _not_held(dtype: np.dtype[Any], place: SourceLocation | None) -> ShardwrightTypeError:
    return ShardwrightTypeError(
        Diagnostic(
            "SW0933",
            f"CuPy has no arrays of {dtype.name}, so no GPU can hold one",
            place,
            help="convert to bfloat16, float16 or a wider type first",
        )
    )
