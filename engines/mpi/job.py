"""Processes that run one program on this machine: started together, and ended together when one fails."""

from __future__ import annotations

import contextlib
import ctypes
import os
import selectors
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from shardwright.diagnostics import ShardwrightError
from shardwright.diagnostics.registry import coded
from shardwright.engines.mpi.board import VARIABLE, Board
from shardwright.engines.mpi.ending import on_processes
from shardwright.engines.mpi.launching import Start, check_room
from shardwright.engines.mpi.watch import EXIT_CODE, STOPPED, state_of
from shardwright.engines.mpi.wireup import Wireup

_IS_STOPPED = "is stopped (SIGSTOP)"
_TICK = 0.05
_GRACE = 1.0
"""Seconds in which the others of a job may say what they know of the first fault, and again to end when told to."""

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True)
class Outcome:
    """What to exit with, and what to tell people."""

    code: int
    texts: tuple[str, ...] = ()


@dataclass(eq=False)
class _Process:
    """A process of the job, the sockets and pipes that are ours, and what it has sent that is no whole line yet."""

    place: int
    popen: subprocess.Popen[bytes]
    wire: socket.socket | None
    begun: dict[int, bytes] = field(default_factory=dict[int, bytes])

    @property
    def code(self) -> int | None:
        """What it exited with, as a shell says it; nothing while it runs."""
        found = self.popen.poll()
        return 128 - found if found is not None and found < 0 else found

    def send(self, number: int) -> None:
        """A signal to it and whatever it has started."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.popen.pid, number)


class Job:
    """All processes of a program; `run` starts them and waits for their end."""

    def __init__(self, start: Start) -> None:
        self._start = start
        self._processes: list[_Process] = []
        self._wireup = Wireup(start.count)
        self._board = Board.create(start.count)
        self._selector = selectors.DefaultSelector()
        self._signals: list[int] = []
        self._since: dict[str, float] = {}

    def run(self) -> Outcome:
        """
        The job from its start to its end; none of its processes is left when it returns or raises.

        Raises `ShardwrightError` (SW0913) where a process cannot be started, or there are more than could be.
        """
        check_room(self._start)
        with self._listening(), self._cleaning():
            for place in range(self._start.count if self._start.by_us else 1):
                if self._signals:
                    break
                self._processes.append(self._started(place))
            failed = self._watched()
            if failed is None:
                return Outcome(0)
            self._end()
            return self._interrupted() if self._signals else failed()

    def interrupt(self, number: int) -> None:
        """Ends the job as a signal to this process would; a second one hurries. Any thread may ask for it."""
        self._signals.append(number)

    def _watched(self) -> Callable[[], Outcome] | None:
        """Waits until all have ended well (nothing), or one has not: what makes the outcome, once all have ended."""
        while True:
            codes = {process: process.code for process in self._processes}
            # What they sent before they ended: it is all there.
            self._serve()
            if self._signals:
                return self._interrupted
            failed = [process for process, code in codes.items() if code]
            if failed:
                return partial(self._failed, failed[0], _stopped(codes))
            left = [each.place for each, code in codes.items() if code == 0 and self._wireup.has_left(each.place)]
            if left:
                return lambda: self._left(left[0])
            if all(code == 0 for code in codes.values()):
                self._drain()
                return None
            late = self._late(codes)
            if late is not None:
                return late

    def _late(self, codes: dict[_Process, int | None]) -> Callable[[], Outcome] | None:
        """Whether processes make the others wait for too long where these cannot see it themselves."""
        missing = self._wireup.missing()
        for places, what in ((_stopped(codes), _IS_STOPPED), (missing, "has not come to MPI's start")):
            if not places:
                self._since.pop(what, None)
            elif time.monotonic() - self._since.setdefault(what, time.monotonic()) > self._start.seconds:
                return partial(self._waited, places, what)
        return None

    def _serve(self, seconds: float = _TICK) -> bool:
        """Answers and shows what processes have sent, or waits a moment for it; whether there was any."""
        if not self._selector.get_map():
            time.sleep(seconds)
            return False
        ready = self._selector.select(seconds)
        for key, _ in ready:
            process, take = key.data
            data = _received(key.fd)
            if not data:
                self._selector.unregister(key.fileobj)
            *lines, process.begun[key.fd] = (process.begun.get(key.fd, b"") + data).split(b"\n")
            if not data and process.begun[key.fd]:
                lines.append(process.begun.pop(key.fd))
            for line in lines:
                take(process, line)
        return bool(ready)

    def _drain(self) -> None:
        """Shows what is left when all have ended."""
        while self._serve(0):
            pass

    def _answer(self, process: _Process, line: bytes) -> None:
        for place, text in self._wireup.answer(process.place, line.decode(errors="replace")):
            wire = self._processes[place].wire
            # Who has died needs no answer.
            with contextlib.suppress(OSError):
                assert wire is not None
                wire.sendall(text.encode() + b"\n")

    def _started(self, place: int) -> _Process:
        environment = {**os.environ, **self._start.environment}
        if not self._start.by_us:
            return _Process(place, self._spawn(environment, ()), None)
        ours, theirs = socket.socketpair()
        environment |= {"PMI_FD": str(theirs.fileno()), "PMI_RANK": str(place), "PMI_SIZE": str(self._start.count)}
        environment[VARIABLE] = self._board.variable()
        with theirs:
            popen = self._spawn(environment, (theirs.fileno(), self._board.file), place)
        process = _Process(place, popen, ours)
        self._selector.register(ours, selectors.EVENT_READ, (process, self._answer))
        for pipe, stream in ((popen.stdout, sys.stdout), (popen.stderr, sys.stderr)):
            if pipe is not None:
                self._selector.register(pipe, selectors.EVENT_READ, (process, _labelled(stream)))
        return process

    def _spawn(self, environment: dict[str, str], files: tuple[int, ...], place: int = 0) -> subprocess.Popen[bytes]:
        pipe = subprocess.PIPE if self._start.labelled else None
        # One process alone can read what we are given; who stands in a group of its own may not read a terminal.
        deaf = place > 0 or (sys.stdin is not None and sys.stdin.isatty())
        try:
            return subprocess.Popen(
                self._start.command,
                env=environment,
                pass_fds=files,
                stdin=subprocess.DEVNULL if deaf else None,
                stdout=pipe,
                stderr=pipe,
                process_group=0,
                preexec_fn=_bound(os.getpid()),
            )
        except OSError as error:
            raise ShardwrightError(
                coded("SW0913", f"process {place} of {self._start.count} cannot be started: {error.strerror or error}")
            ) from error

    @contextmanager
    def _listening(self) -> Generator[None]:
        """Notes signals instead of dying of them; whoever started us may have us ignore some."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        heard = [number for number in _SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
        before = {number: signal.signal(number, lambda got, _: self.interrupt(got)) for number in heard}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    @contextmanager
    def _cleaning(self) -> Generator[None]:
        try:
            yield
        finally:
            for process in self._processes:
                if process.code is None:
                    process.send(signal.SIGKILL)
                    process.popen.wait()
            self._selector.close()
            for process in self._processes:
                for each in (process.wire, process.popen.stdout, process.popen.stderr):
                    if each is not None:
                        each.close()
            self._board.close()

    def _end(self) -> None:
        """Ends all: they may say why, then are told to, then are killed; a second signal to us hurries."""
        shared = {file for process in self._processes for file in _shared_memory(process.popen.pid)}
        heard = len(self._signals)
        steps = [self._signals[0]] if heard else [0, signal.SIGTERM]
        for number in steps:
            for process in self._processes:
                if number and process.code is None:
                    process.send(number)
            end = time.monotonic() + _GRACE
            while time.monotonic() < end and len(self._signals) == heard:
                self._serve()
                if all(process.code is not None for process in self._processes):
                    break
        for process in self._processes:
            process.send(signal.SIGKILL)
            process.popen.wait()
        for file in shared:
            file.unlink(missing_ok=True)
        self._drain()

    def _failed(self, first: _Process, stopped: list[int]) -> Outcome:
        """
        One process has ended badly: what it said, and what the others say who have seen it, each text once.

        Where it waited for some that were stopped then, they are named, too: they say nothing.
        """
        assert first.code is not None
        if not self._start.by_us:
            said = f"the job ended with exit code {first.code}; what its processes and MPI say stands above"
            return Outcome(first.code, (str(coded("SW0911", said)),))
        texts: dict[str, list[int]] = {}
        for process in (first, *self._processes):
            report = self._board.report(process.place)
            if report is not None and process.place not in texts.get(report.text, []):
                texts.setdefault(report.text, []).append(process.place)
        if self._board.report(first.place) is None:
            texts = {self._silent(first): [first.place], **texts}
        if stopped:
            texts[self._waiting("others wait for", stopped, _IS_STOPPED)] = stopped
        count = self._start.count
        return Outcome(first.code, tuple(f"{text}\n{on_processes(sorted(at), count)}" for text, at in texts.items()))

    def _silent(self, process: _Process) -> str:
        """The text of a process that ended without one."""
        code = process.popen.returncode
        how = f"ended with exit code {code} without a word" if code >= 0 else f"was killed by {_signal_name(-code)}"
        return str(coded("SW0911", f"a process {how}", *self._last(process.place)))

    def _left(self, place: int) -> Outcome:
        said = coded("SW0911", "a process has ended, with exit code 0, that others count on", *self._last(place))
        return Outcome(1, (f"{said}\n{on_processes([place], self._start.count)}",))

    def _waited(self, places: list[int], what: str) -> Outcome:
        said = self._waiting(f"the job has waited {self._start.seconds:g} seconds for", places, what)
        return Outcome(EXIT_CODE, (f"{said}\n{on_processes(places, self._start.count)}",))

    def _waiting(self, who: str, places: list[int], what: str) -> str:
        notes = [note for place in places for note in self._last(place)][:8]
        return str(coded("SW0904", f"{who} a process that {what}", *notes))

    def _interrupted(self) -> Outcome:
        number = self._signals[0]
        notes = [f"process {place}{note[2:]}" for place in range(self._start.count) for note in self._last(place)][:8]
        said = f"{_signal_name(number)} ended the {self._start.count} processes on {socket.gethostname()}"
        return Outcome(128 + number, (str(coded("SW0912", said, *notes)),))

    def _last(self, place: int) -> tuple[str, ...]:
        seen = self._board.seen(place)
        return () if seen is None or not seen.where else (f"it was last seen at {seen}",)


def _stopped(codes: dict[_Process, int | None]) -> list[int]:
    """The processes that a signal has stopped."""
    return [each.place for each, code in codes.items() if code is None and state_of(each.popen.pid) == STOPPED]


def _signal_name(number: int) -> str:
    """
    A signal as people know it.

    >>> _signal_name(9), _signal_name(40)
    ('SIGKILL', 'signal 40')
    """
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _shared_memory(pid: int) -> set[Path]:
    """The files of MPICH's by which a process shares memory, which it leaves behind when it is killed (on Linux)."""
    try:
        lines = Path(f"/proc/{pid}/maps").read_text().split("\n")
    except OSError:
        return set()
    return {Path(line[line.index("/dev/shm/") :]) for line in lines if "/dev/shm/mpich_shm_" in line}


def _received(file: int) -> bytes:
    try:
        return os.read(file, 1 << 16)
    except OSError:  # a socket whose other end died
        return b""


def _labelled(stream: Any) -> Callable[[_Process, bytes], None]:
    """Shows a line with the number of its process."""

    def show(process: _Process, line: bytes) -> None:
        stream.write(f"[{process.place}] {line.decode(errors='replace')}\n")
        stream.flush()

    return show


def _bound(launcher: int) -> Callable[[], None] | None:
    """What a new process does first, so that it dies with us however we die (on Linux)."""
    if not sys.platform.startswith("linux"):
        return None
    process_control, on_death = ctypes.CDLL(None).prctl, 1

    def bind() -> None:
        process_control(on_death, signal.SIGKILL)
        if os.getppid() != launcher:  # it died before we could ask
            os._exit(1)

    return bind
