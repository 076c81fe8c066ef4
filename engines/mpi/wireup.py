"""
How processes find each other: what MPICH asks for when it starts, answered over a socket to each.

MPI's own `mpiexec` listens on every interface, whatever it is told. Processes of one machine need no port at all: each
has one end of a socket pair whose number the environment names (PMI, version 1: `PMI_FD`, `PMI_RANK`, `PMI_SIZE`).
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Sequence
from itertools import groupby

_CONSTANT = {
    "init": "cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=1",
    "get_maxes": "cmd=maxes rc=0 kvsname_max=256 keylen_max=64 vallen_max=1024",
    "get_appnum": "cmd=appnum rc=0 appnum=0",
    "finalize": "cmd=finalize_ack rc=0",
}


class Wireup:
    """
    What the processes have told, and which of them wait for the others.

    >>> wireup = Wireup(2)
    >>> wireup.answer(0, "cmd=put kvsname=job key=address value=a b")
    [(0, 'cmd=put_result rc=0 msg=success')]
    >>> wireup.answer(1, "cmd=barrier_in"), wireup.answer(0, "cmd=barrier_in")
    ([], [(0, 'cmd=barrier_out rc=0'), (1, 'cmd=barrier_out rc=0')])
    >>> wireup.answer(1, "cmd=get kvsname=job key=address")
    [(1, 'cmd=get_result rc=0 msg=success value=a b')]

    `machines` says for each process the number of its machine.

    >>> Wireup(3, [0, 0, 1]).answer(0, "cmd=get kvsname=job key=PMI_process_mapping")
    [(0, 'cmd=get_result rc=0 msg=success value=(vector,(0,1,2),(1,1,1))')]
    """

    def __init__(self, count: int, machines: Sequence[int] | None = None) -> None:
        self._count = count
        # MPICH names the memory that processes share after it: jobs must not meet, nor find what a killed one left.
        self._name = f"shardwright_{os.getpid()}_{secrets.token_hex(8)}"
        self._waiting, self._begun, self._ended = set[int](), set[int](), set[int]()
        # Who is on one machine shares memory; unless it is said, all are.
        runs = [(machine, len([*run])) for machine, run in groupby(machines or [0] * count)]
        self._values = {"PMI_process_mapping": f"(vector,{','.join(f'({at},1,{length})' for at, length in runs)})"}

    def missing(self) -> list[int]:
        """
        The processes that have not begun with MPI, where others have, which wait for them.

        >>> wireup = Wireup(3)
        >>> wireup.missing(), len(wireup.answer(1, "cmd=init pmi_version=1 pmi_subversion=1")), wireup.missing()
        ([], 1, [0, 2])
        """
        return [place for place in range(self._count) if place not in self._begun] if self._begun else []

    def has_left(self, place: int) -> bool:
        """Whether others count on a process that has ended: it has not begun with MPI as they have, or not ended it."""
        return bool(self._begun) and place not in self._ended

    def answer(self, place: int, line: str) -> list[tuple[int, str]]:
        """To whom what has to be sent after a process has sent this line."""
        command = _field(line, "cmd")
        if command == "barrier_in":
            return self._arrived(place)
        if command in ("init", "finalize"):
            (self._begun if command == "init" else self._ended).add(place)
        known: Callable[[str], str] | None = getattr(self, f"_answer_{command}", None)
        text = known(line) if known else _CONSTANT.get(command, f"cmd={command}_result rc=-1 msg=unknown_command")
        return [(place, text)]

    def _arrived(self, place: int) -> list[tuple[int, str]]:
        self._waiting.add(place)
        if len(self._waiting) < self._count:
            return []
        self._waiting.clear()
        return [(each, "cmd=barrier_out rc=0") for each in range(self._count)]

    def _answer_put(self, line: str) -> str:
        self._values[_field(line, "key")] = line.partition("value=")[2]
        return "cmd=put_result rc=0 msg=success"

    def _answer_get(self, line: str) -> str:
        found = self._values.get(_field(line, "key"))
        if found is None:
            return "cmd=get_result rc=-1 msg=key_not_found value=unknown"
        return f"cmd=get_result rc=0 msg=success value={found}"

    def _answer_get_my_kvsname(self, line: str) -> str:
        return f"cmd=my_kvsname rc=0 kvsname={self._name}"

    def _answer_get_universe_size(self, line: str) -> str:
        return f"cmd=universe_size rc=0 size={self._count}"


def _field(line: str, name: str) -> str:
    """The value of a field that holds no blank; empty where there is none."""
    return next((word.partition("=")[2] for word in line.split() if word.startswith(f"{name}=")), "")
