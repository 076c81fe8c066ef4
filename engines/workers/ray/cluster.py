"""The Ray cluster of this process: joined when workers need one, or started, and left with the last of them."""

from __future__ import annotations

import importlib
import math
import os
import socket
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from shardwright.diagnostics.caller import caller
from shardwright.engines.workers.faults import process_error

INSTALL = "pip install 'shardwright[ray]'"

TOLD_LINES = 8

_OBJECT_STORE_BYTES = 80 << 20
"""What a Ray of our own keeps for objects: arrays never go through it, and this is about the least that it takes."""

_REACH_SECONDS, _LEAVING_SECONDS = 5.0, 8.0


@dataclass
class _Users:
    """How many sets of workers are on the cluster that this module has joined or started; none where it has not."""

    count: int = 0


_users, _lock = _Users(), threading.Lock()


def join(address: str | None, cores: float) -> Any:
    """
    Ray, with this process as one of a cluster: that which it has joined, that of an address, or one of its own.

    `leave` has to follow. One that is started here has at least so many cores, as it counts them. Raises `RuntimeError`
    (SW0923) where Ray is missing or the cluster cannot be joined.
    """
    ray = _ray()
    with _lock:
        if _users.count == 0 and not ray.is_initialized():
            _begin(ray, address or os.environ.get("RAY_ADDRESS") or "local", cores)
            _users.count = 1
        elif _users.count:
            _users.count += 1
    return ray


def leave(ray: Any) -> None:
    """Leaves the cluster, or ends it if it was started here, unless others need it; whoever had joined before stays."""
    with _lock:
        if _users.count == 0:
            return
        _users.count -= 1
        if _users.count == 0:
            # Where the cluster is gone, Ray may wait for it.
            bounded(ray.shutdown, _LEAVING_SECONDS)


def lines_of(error: BaseException) -> list[str]:
    """
    What Ray says in an error, without what is of no use here.

    >>> lines_of(ValueError("\\n  It has died. Some common causes include: rain.\\n"))
    ['It has died.']
    """
    lines = [line.partition("Some common causes")[0].strip() for line in str(error).splitlines()]
    return [line for line in lines if line.strip(" ^")][-TOLD_LINES:]


def bounded(work: Callable[[], object], seconds: float) -> None:
    """Does something that may never end, or fail, in a thread that is not waited for longer than this."""

    def run() -> None:
        with suppress(Exception):
            work()

    thread = threading.Thread(target=run, name="shardwright ray", daemon=True)
    thread.start()
    thread.join(seconds)


def _ray() -> Any:
    try:
        return importlib.import_module("ray")
    except ImportError as error:
        why = f"workers on a Ray cluster need Ray, which does not load: {error}"
        raise process_error("SW0923", why, caller(), help=INSTALL) from error


def _begin(ray: Any, address: str, cores: float) -> None:
    own: dict[str, Any] = {}
    if address == "local":
        most = max(os.cpu_count() or 1, math.ceil(cores))
        own = {"include_dashboard": False, "object_store_memory": _OBJECT_STORE_BYTES, "num_cpus": most}
    try:
        _reach(address)
        # On macOS a Ray of one machine listens on loopback alone: so it does here. Elsewhere it tries once, for 40 s.
        with _ray_constants(**({"ENABLE_RAY_CLUSTER": False} if own else {"NUM_REDIS_GET_RETRIES": 1})):
            ray.init(address=address, log_to_driver=False, logging_level="ERROR", **own)
    except (OSError, RuntimeError, ValueError) as error:
        # Half a start would keep the next one from working.
        bounded(ray.shutdown, _LEAVING_SECONDS)
        what = "a Ray on this machine cannot be started" if own else f"the Ray cluster at {address!r} cannot be joined"
        help_text = "look into /tmp/ray/session_latest/logs" if own else "start one with: ray start --head"
        raise process_error("SW0923", what, caller(), *lines_of(error), help=help_text) from error


def _reach(address: str) -> None:
    """Raises `OSError` where nothing answers at an address with a port: Ray would try for many minutes."""
    host, _, port = address.rpartition("://")[2].rpartition(":")
    if host and port.isdecimal():
        socket.create_connection((host.strip("[]"), int(port)), _REACH_SECONDS).close()


@contextmanager
def _ray_constants(**changed: object) -> Generator[None]:
    """Lets Ray start with other constants; it has environment variables for them, which it reads when it loads."""
    constants = importlib.import_module("ray._private.ray_constants")
    before = {name: getattr(constants, name) for name in changed}
    for name, value in changed.items():
        setattr(constants, name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(constants, name, value)
