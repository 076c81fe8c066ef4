"""A worker: does what the controller asks for, in order, until it says goodbye or is gone."""

from __future__ import annotations

import os
import select
import socket
import sys
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from io import BufferedReader
from typing import TypeAlias, cast

from shardwright.dialects.dtensor import meshes
from shardwright.dialects.text.parsing import parse_module
from shardwright.engines.mpi.communicator import MpiCommunicator
from shardwright.engines.mpi.watch import watch
from shardwright.engines.mpi.world import World, world
from shardwright.engines.workers.faults import Fault, what_of
from shardwright.engines.workers.figures import figures_of
from shardwright.engines.workers.frames import Array, FrameError, Header, Readable, frame, read_frame
from shardwright.engines.workers.kept import Kept
from shardwright.layout import Mesh
from shardwright.runtime.executable import Executable, compile_module
from shardwright.runtime.processes.crossing import Exchange, Reduction

Note: TypeAlias = "Callable[[int, str], None]"
"""Says that a worker runs the call of a number, at a place of the user's source; 0 is none."""

REFUSED, ORPHANED = 71, 72
"""What a worker exits with that was sent something else than a frame, and one whose controller is gone."""


class Counting(MpiCommunicator):
    """
    Counts how often this worker has communicated: `steps`.

    That all workers run the same programs in the same order is the controller's doing: they need not agree on it.
    """

    def __init__(self, found: World) -> None:
        super().__init__(found)
        self.steps = 0

    @contextmanager
    def running(self, program: str) -> Generator[None]:
        with watch(f"program {program}", self.clients):
            yield

    def exchange(self, plan: Exchange, array: Array, out: Array | None = None) -> Array:
        self.steps += 1
        return super().exchange(plan, array, out)

    def reduce_scatter(self, plan: Reduction, array: Array, out: Array | None = None) -> Array:
        self.steps += 1
        return super().reduce_scatter(plan, array, out)

    def all_reduce(self, plan: Reduction, array: Array, out: Array | None = None) -> Array:
        self.steps += 1
        return super().all_reduce(plan, array, out)


class Loaded:
    """A program that was sent, compiled when it first runs."""

    def __init__(self, text: str, communicator: Counting, threads: int) -> None:
        self._text, self._communicator, self._threads = text, communicator, threads
        self._executable: Executable | None = None
        self._lead = 0

    @property
    def executable(self) -> Executable:
        """The program, compiled for this worker."""
        if self._executable is None:
            module = parse_module(self._text, "program")
            communicator = self._communicator if self._communicator.clients.count > 1 else None
            self._lead = len(next(iter(meshes(module).values()), Mesh()).axis_names)
            self._executable = compile_module(module, communicator=communicator, threads=self._threads)
        return self._executable

    def run(self, inputs: Sequence[Kept]) -> list[Kept]:
        """The results for arrays that this worker has."""
        executable = self.executable
        bases = [kept.base(port, self._lead) for kept, port in zip(inputs, executable.inputs, strict=True)]
        results = executable.run_bases(bases)
        return [Kept.made(*pair, self._lead) for pair in zip(results, executable.outputs, strict=True)]


Item: TypeAlias = "Kept | Loaded | Fault"
"""What a number of the controller stands for; a fault stands for what it kept from being made."""


class Worker:
    """
    What one worker has, by the controller's numbers.

    After a call has failed, no other runs until the controller says so: it waits to hear whether all failed alike.
    """

    def __init__(self, controller: socket.socket, communicator: Counting, note: Note, threads: int) -> None:
        self._controller, self._communicator, self._note, self._threads = controller, communicator, note, threads
        self._place = communicator.clients.place
        self._items: dict[int, Item] = {}
        self._stopped: Fault | None = None

    def obey(self, stream: Readable) -> None:
        """Does what the frames of a stream say; raises `FrameError` for what is none."""
        while (found := read_frame(stream)) is not None:
            header, arrays = found
            for number in header.get("free", ()):
                self._items.pop(number, None)
            match header.get("do"):
                case "hold":
                    self._items[header["as"]] = Kept(arrays[0])
                case "load":
                    self._items[header["as"]] = Loaded(arrays[0].tobytes().decode(), self._communicator, self._threads)
                case "run":
                    self._run(header)
                case "give" | "tell" | "weigh" if self._place not in header["by"]:
                    pass
                case "give":
                    self._give(header["of"], header["to"])
                case "tell":
                    self._tell(cast(Loaded, self._items[header["of"]]), header["to"])
                case "weigh":
                    kept = [item for item in self._items.values() if isinstance(item, Kept)]
                    self._send({"to": header["to"], "bytes": sum(item.nbytes for item in kept)})
                case "resume":
                    self._stopped = None
                case "leave":
                    return
                case other:
                    raise FrameError(f"there is no command {other!r}")
        os._exit(ORPHANED)

    def _run(self, header: Header) -> None:
        inputs = [self._items[number] for number in header["in"]]
        lost = next((item for item in inputs if isinstance(item, Fault)), self._stopped)
        results: Sequence[Item] = [] if lost is not None else self._results(header, cast("list[Kept]", inputs))
        for place, number in enumerate(header["out"]):
            fault = lost or self._stopped
            self._items[number] = results[place] if fault is None else fault

    def _results(self, header: Header, inputs: Sequence[Kept]) -> Sequence[Kept]:
        """What a call gives; nothing when it fails, which the controller is told."""
        program = cast(Loaded, self._items[header["program"]])
        self._note(header["call"], header["at"])
        try:
            return program.run(inputs)
        except Exception as error:
            self._stopped = self._fault(error, header["call"], header["at"])
            self._send({"fault": self._stopped.record()})
            return []
        finally:
            self._note(0, "")

    def _fault(self, error: Exception, call: int, at: str) -> Fault:
        return Fault(call, self._place, socket.gethostname(), what_of(error), at, self._communicator.steps)

    def _give(self, number: int | None, reply: int) -> None:
        """Sends an array, or why there is none; without a number, just says that all before it is done."""
        item = None if number is None else self._items[number]
        if isinstance(item, Fault):
            self._send({"to": reply, "fault": item.record()})
        else:
            self._send({"to": reply}, [] if item is None else [cast(Kept, item).stacked])

    def _tell(self, program: Loaded, reply: int) -> None:
        """Sends the text and figures of a program."""
        try:
            self._send({"to": reply, "figures": figures_of(program.executable)})
        except Exception as error:
            self._send({"to": reply, "fault": self._fault(error, 0, "").record()})

    def _send(self, header: Header, arrays: Sequence[Array] = ()) -> None:
        for buffer in frame(header, arrays):
            self._controller.sendall(buffer)


def serve(controller: socket.socket, note: Note, threads: int) -> None:
    """Serves the controller at the other end of a socket; a program computes with so many threads."""
    communicator, left = Counting(world()), threading.Event()
    threading.Thread(target=_leave_behind, args=(controller, left), name="shardwright controller", daemon=True).start()
    try:
        worker = Worker(controller, communicator, note, threads)
        worker.obey(cast(BufferedReader, controller.makefile("rb", buffering=1 << 16)))
        left.set()
    except FrameError as error:
        print(f"worker {communicator.clients.place} refuses what it was sent: {error}", file=sys.stderr, flush=True)
        os._exit(REFUSED)


def _leave_behind(controller: socket.socket, left: threading.Event) -> None:
    """Ends this process when the controller is gone, whatever it does or waits for, unless it was told to leave."""
    hung_up = select.poll()
    hung_up.register(controller, select.POLLRDHUP)
    hung_up.poll()
    if not left.is_set():
        os._exit(ORPHANED)
