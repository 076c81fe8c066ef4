"""The controller's end of its connections: numbers for what workers hold, replies, faults, and the end of it all."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from itertools import count

from shardwright.diagnostics import Diagnostic, ShardwrightProcessError, SourceLocation
from shardwright.diagnostics.caller import caller
from shardwright.engines.workers.courier import Courier
from shardwright.engines.workers.faults import Fault, place_of
from shardwright.engines.workers.frames import Array, Buffer, Header, frame
from shardwright.engines.workers.starting.job import Job

GRACE = 3.0
"""Seconds after a call's first fault within which all workers have to fail alike; else they wait for each other."""

_LEAVING_SECONDS = 5.0


class Reply:
    """What some of the workers will say to one question."""

    def __init__(self, places: Sequence[int]) -> None:
        self._missing = set(places)
        self._said: dict[int, tuple[Header, list[Array]]] = {}
        self._there = threading.Event()
        self.error: ShardwrightProcessError | None = None

    def take(self, place: int, header: Header, arrays: list[Array]) -> None:
        """Notes what one of them says."""
        self._said[place] = header, arrays
        self._missing.discard(place)
        if not self._missing:
            self._there.set()

    def fail(self, error: ShardwrightProcessError) -> None:
        """No more will be said."""
        self.error = error
        self._there.set()

    def wait(self) -> dict[int, tuple[Header, list[Array]]]:
        """What each said, by its place; raises what keeps them from it."""
        self._there.wait()
        if self._missing:
            assert self.error is not None
            raise ShardwrightProcessError(self.error.diagnostics)
        return self._said


class Link:
    """
    Sends commands to all workers, in one order, and hears what they say.

    All that users wait for is in `ask`. After the end of the job everything raises what ended it.
    """

    def __init__(self, job: Job) -> None:
        self._job = job
        self.count = len(job.sockets)
        self.freed: deque[int] = deque()
        """Numbers of what nobody needs any more; workers hear of them with the next command."""
        self._numbers = count(1)
        self._replies: dict[int, Reply] = {}
        self._faults: dict[int, dict[int, Fault]] = {}
        self._unseen: list[Fault] = []
        self._ended: ShardwrightProcessError | None = None
        self._leaving = False
        self._lock = threading.Lock()
        self._resolved = threading.Condition(self._lock)
        """Notified when a fault no longer keeps workers from what follows it, and at the end of the job."""
        self._courier = Courier(job.sockets, self._hear, self._lost)

    def number(self) -> int:
        """A number that nothing had yet."""
        return next(self._numbers)

    def check(self) -> None:
        """Raises what ended the job, if it has ended."""
        if self._ended is not None:
            raise ShardwrightProcessError(self._ended.diagnostics)

    def post(self, header: Header, arrays: Sequence[Sequence[Array]] | None = None) -> None:
        """Puts a command in line, with arrays for each worker, or without any; does not wait."""
        self.check()
        header["free"] = self._taken()
        if arrays is None:
            self._courier.put([frame(header)] * self.count)
            return
        made: dict[int, list[Buffer]] = {}
        for given in arrays:  # what is the same for all is turned into bytes once
            if id(given) not in made:
                made[id(given)] = frame(header, given)
        self._courier.put([made[id(given)] for given in arrays])

    def ask(self, header: Header, places: Sequence[int]) -> dict[int, tuple[Header, list[Array]]]:
        """
        What some of the workers say when they have done all before; raises the fault that keeps them from it.

        Who is told of a fault can go on at once: all workers do by then, or the job has ended.
        """
        number, reply = self.number(), Reply(places)
        self._replies[number] = reply
        try:
            self.post({**header, "to": number, "by": list(places)})
            said = reply.wait()
        finally:
            del self._replies[number]
        for answer, _ in said.values():
            if "fault" in answer:
                raise self._seen(Fault.of_record(answer["fault"])).error(self.count, *_asked_at(caller()))
        return said

    @property
    def process_ids(self) -> list[int]:
        """The numbers that the system has for the workers' processes."""
        return self._job.process_ids

    def unseen(self) -> Fault | None:
        """The first fault that nobody has been told of, if there is one, as soon as calls can go on."""
        return self._seen(self._unseen[0]) if self._unseen else None

    def leave(self, at: SourceLocation | None) -> None:
        """Lets the workers end: those that do not do so within a few seconds are ended."""
        with self._lock:
            if self._ended is not None or self._leaving:
                return
            self._leaving = True
        with suppress(ShardwrightProcessError):
            self.post({"do": "leave"})
        self._job.wait(_LEAVING_SECONDS)
        self._end(_gone("they were closed", at))

    def kill(self, at: SourceLocation | None) -> None:
        """Ends the workers at once."""
        self._end(_gone("they were closed", at))

    def _taken(self) -> list[int]:
        found: list[int] = []
        while self.freed:
            found.append(self.freed.popleft())
        return found

    def _seen(self, fault: Fault) -> Fault:
        """A fault that somebody is told of; waits until all workers have failed alike, raises what ended the job."""
        with self._resolved:
            self._resolved.wait_for(lambda: fault.call not in self._faults or self._ended is not None)
        self.check()
        self._unseen = [other for other in self._unseen if other.call != fault.call]
        return fault

    def _hear(self, place: int, header: Header, arrays: list[Array]) -> None:
        if "to" not in header:
            self._failed(Fault.of_record(header["fault"]))
        elif (reply := self._replies.get(int(header["to"]))) is not None:
            reply.take(place, header, arrays)

    def _failed(self, fault: Fault) -> None:
        """A worker has stopped at a call; when all have, at the same point, they can go on."""
        with self._lock:
            found = self._faults.setdefault(fault.call, {})
            found[fault.place] = fault
            if len(found) == 1:
                self._unseen.append(fault)
                self._judge_later(fault.call)
            alike = len(found) == self.count and len({each.steps for each in found.values()}) == 1
            if alike:
                self._courier.add([frame({"do": "resume"})] * self.count)
                del self._faults[fault.call]
                self._resolved.notify_all()

    def _judge_later(self, call: int) -> None:
        timer = threading.Timer(GRACE, self._judge, [call])
        timer.daemon = True
        timer.start()

    def _judge(self, call: int) -> None:
        """Ends the job if a call has not failed alike everywhere, unless a worker has yet to come to it."""
        found = self._faults.get(call)
        if not found or self._ended is not None:
            return
        missing = set(range(self.count)) - set(found)
        if any(0 < self._job.progress(place)[0] < call for place in missing):
            self._judge_later(call)
            return
        fault = next(iter(found.values()))
        self._end(fault.error(self.count, "the other workers wait for it: all were ended, with what they held"))

    def _lost(self, place: int, why: str) -> None:
        """Ends the job because a worker is gone: where it was, and what the processes wrote."""
        if self._ended is not None or self._leaving:
            return
        call, at = self._job.progress(place)
        notes = self._job.epitaph()
        doing = "while it ran this call" if call else "between two calls"
        self._end(
            _gone(
                f"worker {place} of {self.count}, on {self._job.hosts[place]}, is gone {doing}: {why}",
                place_of(at),
                *notes,
            )
        )

    def _end(self, error: ShardwrightProcessError) -> None:
        with self._lock:
            first = self._ended is None
            self._ended = self._ended or error
            self._resolved.notify_all()
        if first:
            self._courier.end()
            self._job.end()
        for reply in list(self._replies.values()):
            reply.fail(self._ended)


def _gone(why: str, at: SourceLocation | None, *notes: str) -> ShardwrightProcessError:
    help_text = "start new ones with shardwright.Workers, and make the arrays again"
    return ShardwrightProcessError(Diagnostic("SW0922", f"the workers are gone: {why}", at, notes, help_text))


def _asked_at(place: SourceLocation | None) -> list[str]:
    return [] if place is None else [f"noticed at {place}"]
