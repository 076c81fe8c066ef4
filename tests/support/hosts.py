"""
Two hosts on one machine: network namespaces that a virtual cable joins, each with a name and memory of its own.

Only root can make them. All that is sent goes from one to the other, between addresses that mean nothing elsewhere.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

ADDRESSES = {"left": "192.0.2.1", "right": "192.0.2.2"}
"""What nobody has in the world: addresses for documentation."""

CABLE = "sw0"

PATIENCE = 30
"""Seconds in which a cable comes up on a machine however loaded."""

SHELL = """#!/bin/sh
# In place of ssh: options, a host, and a command that goes on there whatever happens to this one.
while [ "${1#-}" != "$1" ]; do shift; done
host=$1; shift
case $host in %s *) echo "there is no host $host" >&2; exit 1;; esac
own="hostname $name; mount -t tmpfs tmpfs /dev/shm"
exec setsid --fork --wait ip netns exec "$space" unshare --uts --ipc --mount sh -c "$own; $*"
"""


class Hosts:
    """`left`, from which commands are started, and `right`; `environment` lets MPI start processes on both."""

    def __init__(self, folder: Path) -> None:
        mark = secrets.token_hex(3)
        self.spaces = {name: f"swt-{mark}-{name}" for name in ADDRESSES}
        self.file, self.shell = folder / "hosts", folder / "shell"
        self.environment = {
            "HYDRA_LAUNCHER_EXEC": str(self.shell),
            "HYDRA_IFACE": CABLE,
            "UCX_NET_DEVICES": CABLE,
            "OMPI_MCA_plm_rsh_agent": str(self.shell),
        }

    def make(self) -> None:
        """The namespaces, the cable, and the files that name them."""
        left, right = self.spaces.values()
        for space in self.spaces.values():
            _ip("netns", "add", space)
        _ip("link", "add", CABLE, "netns", left, "type", "veth", "peer", "name", CABLE, "netns", right)
        for name, space in self.spaces.items():
            _ip("-n", space, "address", "add", f"{ADDRESSES[name]}/24", "dev", CABLE)
            _ip("-n", space, "link", "set", "lo", "up")
            _ip("-n", space, "link", "set", CABLE, "up")
        self._wait_for_the_cable()
        cases = "".join(f"{ADDRESSES[name]}) name={name} space={space};; " for name, space in self.spaces.items())
        self.shell.write_text(SHELL % cases)
        self.shell.chmod(0o755)
        self.file.write_text("".join(f"{address}\n" for address in ADDRESSES.values()))

    def remove(self) -> None:
        """Ends what still runs there, which is nothing if all is well."""
        for number in self.left_over():
            with contextlib.suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)
        for space in self.spaces.values():
            subprocess.run(["ip", "netns", "delete", space], capture_output=True, check=False)

    def cut(self) -> None:
        """Nothing gets through any more, and nobody is told."""
        _ip("-n", self.spaces["left"], "link", "set", CABLE, "down")

    def mend(self) -> None:
        """As it was."""
        _ip("-n", self.spaces["left"], "link", "set", CABLE, "up")
        self._wait_for_the_cable()

    def _wait_for_the_cable(self) -> None:
        """
        Waits until both ends say that it carries: Linux tells a moment later, where much else runs a longer one.

        Until then MPI's network library has no device on which the other host could be.
        """
        end = time.monotonic() + PATIENCE
        while not all(
            "LOWER_UP" in (shown := self._end(space)) and "state UP" in shown for space in self.spaces.values()
        ):
            if time.monotonic() > end:
                raise OSError("the cable between two network namespaces does not come up")
            time.sleep(0.01)

    @staticmethod
    def _end(space: str) -> str:
        return _ip("-n", space, "link", "show", "dev", CABLE)

    @contextmanager
    def started(self, *command: str, on: str = "left", **variables: str) -> Iterator[subprocess.Popen[str]]:
        """A command on one of them; it is killed at the end."""
        wrapped = [str(self.shell), ADDRESSES[on], " ".join(command)]
        environment = {**os.environ, **self.environment, **variables}
        pipe = subprocess.PIPE
        with subprocess.Popen(wrapped, env=environment, stdout=pipe, stderr=pipe, text=True) as process:
            try:
                yield process
            finally:
                process.kill()

    def left_over(self) -> list[int]:
        """The processes that run there."""
        return [int(each) for space in self.spaces.values() for each in _ip("netns", "pids", space).split()]

    def listening(self) -> set[str]:
        """The addresses at which something there takes connections over TCP."""
        rows = [
            line.split()
            for space in self.spaces.values()
            for table in ("tcp", "tcp6")
            for line in _ip("netns", "exec", space, "cat", f"/proc/net/{table}").splitlines()
        ]
        return {_address(row[1]) for row in rows if row[3] == "0A"}

    def emptied(self, seconds: float) -> bool:
        """Whether all of them end within so long."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if not self.left_over():
                return True
            time.sleep(0.1)
        return False


@contextmanager
def two_hosts(folder: Path) -> Iterator[Hosts]:
    """The hosts; skips the test where nobody may make them."""
    if not sys.platform.startswith("linux") or os.geteuid() != 0:
        pytest.skip("only root on Linux can make network namespaces")
    hosts = Hosts(folder)
    try:
        try:
            hosts.make()
        except (OSError, subprocess.CalledProcessError) as error:
            pytest.skip(f"no network namespaces here: {getattr(error, 'stderr', '') or error}")
        yield hosts
    finally:
        with contextlib.suppress(OSError, subprocess.CalledProcessError):
            hosts.remove()


def _address(row: str) -> str:
    """
    An address as people write it, of one as the kernel does.

    >>> _address("010200C0:1F90")
    '192.0.2.1'
    """
    digits = row.partition(":")[0]
    return ".".join(str(byte) for byte in reversed(bytes.fromhex(digits))) if len(digits) == 8 else digits


def _ip(*arguments: str) -> str:
    return subprocess.run(["ip", *arguments], capture_output=True, text=True, check=True).stdout
