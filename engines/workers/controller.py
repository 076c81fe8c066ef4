"""`Workers`: processes, here or on a cluster, that hold meshes and run programs for this one."""

from __future__ import annotations

import atexit
import math
from collections.abc import Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any, Self
from weakref import WeakValueDictionary

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from shardwright.diagnostics.caller import caller
from shardwright.diagnostics.faults import value_error
from shardwright.dialects.text.printing import print_module
from shardwright.engines.owned.parts import Owner, Parts
from shardwright.engines.workers.link import Link
from shardwright.engines.workers.remote import RemoteParts, RemoteProgram, RemoteText, blocks, index_of
from shardwright.engines.workers.starting.here import start
from shardwright.engines.workers.starting.job import Job
from shardwright.layout import Mesh
from shardwright.layout.boxes import Box

START_SECONDS = 60.0
"""How long workers may take to start, unless it is said."""


class Workers(Owner):
    """
    So many processes on this machine, which hold the devices of meshes; this process is their one controller.

    Programs are sent once and stay there, and so do arrays: a distributed tensor on such a mesh is a handle here.
    Calls are put in line and not waited for. What looks at elements (`numpy()`, `float(x)`, `fetch`, `components()`)
    waits for those it needs, and raises what went wrong on the way: `RuntimeError` SW0921, with the worker, its host
    and the line of the call that failed, or SW0922 once the workers are gone. Needs the extra `mpi`.

    Raises `ValueError` (SW0116) for a number below one, and `RuntimeError` (SW0920) when they do not start within
    `seconds` (SW0914 where these are no number above 0).

    ```python
    with shardwright.Workers(4) as workers:
        mesh = workers.mesh(batch=2, model=2)
        x = shardwright.relayout(array, shardwright.Layout(["batch"], mesh))
        total = float(shardwright.sum(x))
    ```
    """

    def __init__(self, count: int, *, seconds: float = START_SECONDS) -> None:
        self._begin(start(_checked(count), _checked_seconds(seconds)))

    @classmethod
    def ray(
        cls,
        count: int,
        *,
        address: str | None = None,
        listen: str | None = None,
        cpus: float = 1.0,
        seconds: float = START_SECONDS,
    ) -> Self:
        """
        So many actors of a Ray cluster as workers; everything else is as with `Workers(count)`. Needs the extra `ray`.

        `address` is the cluster's, as `ray.init` takes it (`"auto"` finds one that runs on this machine). Without it
        the cluster is the one that this process has joined, else that of `RAY_ADDRESS`, else a Ray that is started on
        this machine, listens on loopback alone, and ends with the workers. Each actor gets `cpus` cores of the cluster
        and computes with as many threads. Without `listen` all have to be on this machine, and come to a socket in a
        folder of this user's. With it they may be anywhere, and come to a port of that address (or name) of this
        machine, with the token that they were given; between machines MPI opens ports of its own.

        Raises `ValueError` (SW0116) for a number below one, and `RuntimeError` where Ray is missing or cannot be joined
        (SW0923), or the workers do not fit into the cluster or do not start within `seconds` (SW0920).

        ```python
        with shardwright.Workers.ray(4, address="auto", listen="10.0.0.5") as workers:
            mesh = workers.mesh(batch=2, model=2)
        ```
        """
        from shardwright.engines.workers.ray.job import Wanted, start as start_actors

        workers = cls.__new__(cls)
        workers._begin(start_actors(Wanted(_checked(count), address, listen, cpus, _checked_seconds(seconds))))
        return workers

    def _begin(self, job: Job) -> None:
        self._link = Link(job)
        self._texts: WeakValueDictionary[str, RemoteText] = WeakValueDictionary()
        self._closed = False
        atexit.register(self.close)

    def __repr__(self) -> str:
        return f"Workers({self.count}{', closed' if self._closed else ''})"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            if error is not None:
                self._link.kill(caller())
            elif not self._closed:
                self.wait()
        finally:
            self.close()

    @property
    def count(self) -> int:
        """The number of workers."""
        return self._link.count

    @property
    def process_ids(self) -> list[int]:
        """The numbers that the system has for the workers' processes, in the order of the workers."""
        return self._link.process_ids

    @property
    def held_bytes(self) -> list[int]:
        """The bytes of the arrays that each worker holds; waits until it has done what it was asked for."""
        said = self._link.ask({"do": "weigh"}, range(self.count))
        return [said[place][0]["bytes"] for place in range(self.count)]

    def mesh(
        self,
        dims: Mapping[str, int] | Iterable[tuple[str, int]] = (),
        devices: Sequence[object] | None = None,
        *,
        name: str = "mesh",
        **axes: int,
    ) -> Mesh:
        """
        A mesh whose devices the workers hold, each a box of them; the arguments are those of `Mesh`.

        Raises `ValueError` (SW0120) where the devices of a worker are no box of the mesh.
        """
        mesh = Mesh(dims, devices, name=name, **axes).owned_by(self)
        mesh.client_borders(self.count)
        return mesh

    def wait(self) -> None:
        """Waits until the workers have done all that was asked for, and raises the first fault that nobody has seen."""
        self._link.ask({"do": "give", "of": None}, range(self.count))
        fault = self._link.unseen()
        if fault is not None:
            raise fault.error(self.count)

    def close(self) -> None:
        """Ends the workers after what they were asked for, or after a few seconds; what they hold is gone."""
        if not self._closed:
            self._closed = True
            atexit.unregister(self.close)
            self._link.leave(caller())

    def hold(self, stacked: np.ndarray[Any, Any], mesh: Mesh) -> Parts:
        parts = RemoteParts(self._link, mesh, stacked.shape, stacked.dtype)
        same: dict[Box, list[np.ndarray[Any, Any]]] = {}
        given: list[list[np.ndarray[Any, Any]]] = []
        for block in blocks(mesh, self.count, stacked.shape):
            if block not in same:
                same[block] = [np.array(stacked[index_of(block)], order="C")]  # a copy: it may be sent later
            given.append(same[block])
        self._link.post({"do": "hold", "as": parts.number}, given)
        return parts

    def program(self, module: ModuleOp, mesh: Mesh) -> RemoteProgram:
        text = print_module(module, debuginfo=True)
        known = self._texts.get(text)
        if known is None:
            known = RemoteText(self._link)
            data = [np.frombuffer(text.encode(), np.uint8)]
            self._link.post({"do": "load", "as": known.number}, [data] * self.count)
            self._texts[text] = known
        return RemoteProgram(self._link, known, module, mesh)

    def held(self, module: ModuleOp) -> int:
        from shardwright.runtime.executable import held_by_each

        return held_by_each(module)


def _checked(count: int) -> int:
    if type(count) is not int or count < 1:
        raise value_error("SW0116", f"there cannot be {count!r} workers", help="give a whole number of at least 1")
    return count


def _checked_seconds(seconds: object) -> float:
    if not isinstance(seconds, int | float) or not 0 < seconds < math.inf:
        raise value_error("SW0914", f"seconds={seconds!r} is no number of seconds", help="give one such as 60")
    return seconds
