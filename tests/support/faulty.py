"""A program for several processes that goes wrong: on the last of them, in one way, at one moment."""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import sys
import time
from pathlib import Path
from typing import Any

KIND, MOMENT = sys.argv[1:3]
COUNT, PLACE = (
    int(next(os.environ[name] for name in names if name in os.environ))
    for names in (("PMI_SIZE", "OMPI_COMM_WORLD_SIZE"), ("PMI_RANK", "OMPI_COMM_WORLD_RANK"))
)
FAULTY = COUNT - 1 == PLACE


def limit_memory(spare: int) -> None:
    """Lets this process take so many bytes more."""
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + spare, used + spare))


def strike(moment: str) -> None:
    """What goes wrong, if it does so here and now."""
    if not FAULTY or moment != MOMENT:
        return
    if KIND == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    elif KIND == "stop":
        os.kill(os.getpid(), signal.SIGSTOP)
    elif KIND == "crash":
        ctypes.string_at(0)
    elif KIND == "raise":
        raise ArithmeticError("the fault")
    elif KIND == "memory":
        raise MemoryError("the fault")
    elif KIND == "oom":
        limit_memory(64 << 20)
        bytearray(1 << 32)
    elif KIND == "interrupt":
        raise KeyboardInterrupt
    elif KIND == "coded":
        sw.Mesh(x=0)
    elif KIND == "exit":
        sys.exit(3)
    elif KIND == "leave":
        sys.exit()
    elif KIND == "vanish":
        os._exit(5)
    elif KIND == "mute":
        os.close(2)
        raise ArithmeticError("the fault")
    elif KIND == "slow":
        time.sleep(2)


if FAULTY and KIND == "versions":
    from shardwright import _version

    _version.__version__ = "0.0.0"

import numpy as np  # noqa: E402

import shardwright as sw  # noqa: E402
from shardwright.engines.mpi.communicator import MpiCommunicator  # noqa: E402

communicate = MpiCommunicator.all_reduce


def all_reduce(self: Any, *arguments: Any) -> Any:
    """The collective, and before it what goes wrong in the midst of a program."""
    strike("inside")
    if FAULTY and KIND == "mismatch":  # the others wait for it in this one, and it for them in the next
        return arguments[1]
    return communicate(self, *arguments)


MpiCommunicator.all_reduce = all_reduce

strike("start")
clients = COUNT + 1 if KIND == "many" else COUNT
mesh = sw.Mesh.distributed({"y" if FAULTY and KIND == "mesh" else "x": clients}, num_clients=clients, client_id=PLACE)
axis = mesh.axis_names[0]


@sw.function
def total(x: Any) -> Any:
    """A sum over all devices."""
    return sw.sum(x * x, axis=0)


@sw.function
def largest(x: Any) -> Any:
    """Another program."""
    return sw.sum(x + x, axis=0)


if MOMENT != "inside":
    x = sw.relayout(np.arange(4.0 * clients).reshape(-1, 2), sw.Layout([axis], mesh))
    total(x)
strike("called")
rows = 4 if FAULTY and KIND == "shape" else 2
start = 1.0 if FAULTY and KIND == "elements" else 0.0
x = sw.relayout(np.arange(start, start + 2.0 * rows * clients).reshape(-1, 2), sw.Layout([axis], mesh))
first, second = (largest, total) if FAULTY and KIND == "order" else (total, largest)
found = sw.fetch(first(x))
if FAULTY and KIND == "program":
    largest(x * x)
second(x)
if KIND == "wait":
    print("ready", flush=True)
    time.sleep(600)
strike("end")
if PLACE == 0:
    print(found.tolist(), flush=True)
