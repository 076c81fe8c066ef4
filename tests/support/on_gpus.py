"""Processes with a GPU each, as threads of this one: CuPy and NCCL are the stand-ins."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TypeVar

import cupy_stand_in
import nccl_stand_in
import pytest
from cupy_stand_in import cupy, seeing
from gpu_child import Make
from processes import on_processes

from shardwright.engines.cupy import gpus
from shardwright.layout import Mesh
from shardwright.layout.forms.clients import ALONE
from shardwright.runtime.processes.communicator import Communicator

T = TypeVar("T")

FIRST, IDLE = 2, 99
"""The machine's numbers of the first process' device, and of one that every process sees and none has."""


def installed(patch: pytest.MonkeyPatch, version: str = "14.2.0", *, nccl: bool = True) -> None:
    """Whoever imports CuPy gets the stand-in."""
    patch.setitem(sys.modules, "cupy", cupy)
    patch.setitem(sys.modules, "cupy.cuda", cupy.cuda)
    patch.setitem(sys.modules, "cupy.cuda.nccl", nccl_stand_in)
    patch.setattr(cupy.cuda, "nccl", nccl_stand_in, raising=False)
    patch.setattr(cupy, "__version__", version)
    patch.setattr(nccl_stand_in, "available", nccl)
    patch.setattr(gpus, "_known", {})


def on_gpus(patch: pytest.MonkeyPatch, count: int, work: Callable[[Make], T]) -> list[T]:
    """What `work` gives on each of so many processes, each with a device of its own; all that was sent came in."""
    hosts: dict[Any, Communicator] = {}

    def process(host: Communicator) -> T:
        hosts[host.clients] = host
        with seeing(IDLE, FIRST + host.clients.place):
            mine = gpus.Gpus(1, host if count > 1 else None)
            return work(lambda dims: Mesh(dims).seen_by(host.clients).owned_by(mine))

    nccl_stand_in.forget()
    with patch.context() as patched:
        installed(patched)
        patched.setattr(gpus, "communicator_of", lambda mesh: None if mesh.clients == ALONE else hosts[mesh.clients])
        found = on_processes(count, process)
    assert nccl_stand_in.quiet(), "a process sent what nobody took"
    assert cupy_stand_in.PLACE.current == 0
    return found
