"""Which GPU a process has: of those that it sees, one that no other process of its host has."""

from __future__ import annotations

import json
import platform
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from typing import Any

from shardwright.diagnostics.faults import value_error
from shardwright.engines.jobs.job import Job

OLDEST = 14
"""The first version of CuPy that has bfloat16, and communicators by the bytes of their name."""

_ASKED = "what GPUs there are"

_INSTALL = "pip install 'shardwright[cupy,mpi]' where there is an NVIDIA GPU with a driver for CUDA 13"


@dataclass(frozen=True)
class Seen:
    """What a process sees: its host, the names of its devices (the same in every process), and what it lacks."""

    host: str
    devices: tuple[str, ...] = ()
    lacks: str = ""


def look(many: bool) -> Seen:
    """What this process sees; `many` says whether it needs NCCL."""
    host = platform.node()
    try:
        cupy: Any = import_module("cupy")
        if many and not nccl().available:
            return Seen(host, lacks="NCCL does not load")
    except ImportError as error:
        return Seen(host, lacks=f"CuPy does not load: {error}")
    if int(cupy.__version__.partition(".")[0]) < OLDEST:
        return Seen(host, lacks=f"CuPy is of version {cupy.__version__}, and {OLDEST} is the first that will do")
    runtime = cupy.cuda.runtime
    try:
        names = [_name(runtime.getDeviceProperties(number)) for number in range(runtime.getDeviceCount())]
    except runtime.CUDARuntimeError as error:
        return Seen(host, lacks=f"CUDA finds no device: {error}")
    return Seen(host, tuple(names))


def nccl() -> Any:
    """CuPy's module of NCCL, which has nothing but `available` where there is none."""
    with warnings.catch_warnings():  # what is not there is said in our words
        warnings.simplefilter("ignore")
        return import_module("cupy.cuda.nccl")


def _name(properties: Any) -> str:
    return bytes(properties["uuid"]).hex()


def chosen(job: Job) -> int:
    """
    The device of this process, by its number among those that it sees (`CUDA_VISIBLE_DEVICES`); all processes ask.

    Raises `ValueError` on each of them where one lacks CuPy, CUDA or NCCL (SW0930), or the processes of a host have
    fewer devices together than they are (SW0931).
    """
    mine = look(job.clients.count > 1)
    told = job.gather(json.dumps(asdict(mine)).encode(), "what GPUs there are")
    everyone = json.loads(
        job.broadcast(json.dumps([json.loads(each) for each in told]).encode(), "what GPUs there are")
    )
    return assigned([Seen(each["host"], tuple(each["devices"]), each["lacks"]) for each in everyone])[job.clients.place]


def assigned(seen: Sequence[Seen]) -> list[int]:
    """
    For each process the number of its device.

    Where all processes of a host see the same devices the first one has the first, and so on; where each sees its own,
    that one. Raises as `chosen` does.

    >>> assigned([Seen("a", ("p", "q")), Seen("a", ("p", "q")), Seen("b", ("r",))])
    [0, 1, 0]
    >>> assigned([Seen("a", ("p", "q")), Seen("a", ("p",))])
    [1, 0]
    """
    for place, one in enumerate(seen):
        if one.lacks:
            raise value_error("SW0930", f"process {place} on {one.host} has no GPU: {one.lacks}", help=_INSTALL)
    taken: dict[tuple[str, str], int] = {}
    for place, one in enumerate(seen):
        if not _take(place, seen, taken, set()):
            raise _too_few(one.host, seen)
    numbers = {place: seen[place].devices.index(device) for (_, device), place in taken.items()}
    return [numbers[place] for place in range(len(seen))]


def _take(place: int, seen: Sequence[Seen], taken: dict[tuple[str, str], int], asked: set[tuple[str, str]]) -> bool:
    """Gives a process a device; whoever has it takes another one, if there is one (an augmenting path)."""
    keys = [(seen[place].host, device) for device in seen[place].devices]
    for key in keys:
        if key not in taken:
            taken[key] = place
            return True
    for key in keys:
        if key not in asked:
            asked.add(key)
            if _take(taken[key], seen, taken, asked):
                taken[key] = place
                return True
    return False


def _too_few(host: str, seen: Sequence[Seen]) -> Exception:
    places = [place for place, one in enumerate(seen) if one.host == host]
    devices = {device for place in places for device in seen[place].devices}
    return value_error(
        "SW0931",
        f"{len(places)} processes on {host} see {len(devices)} GPUs, and each needs one of its own",
        *(f"process {place} sees {len(seen[place].devices)}" for place in places[:8]),
        help="start as many processes on a host as it has GPUs, and let CUDA_VISIBLE_DEVICES name as many; a process "
        "holds as many devices of a mesh as its box has, on its one GPU",
    )
