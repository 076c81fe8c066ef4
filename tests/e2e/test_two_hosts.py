"""Processes on two hosts, which are network namespaces of this machine: what they compute, and a cable that is cut."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hosts import Hosts, two_hosts

pytest.importorskip("mpi4py", reason="several processes need the extra mpi")

SUPPORT = Path(__file__).resolve().parents[1] / "support"
PROGRAM = SUPPORT / "cut_off.py"
EXAMPLE = SUPPORT.parents[1] / "examples" / "launch" / "train.py"
NUMBER = re.compile(r"\d+\.\d+")
LINE = next(number for number, line in enumerate(PROGRAM.read_text().split("\n"), 1) if line == "    total(x)")
FOREVER, LONGEST = "1000000000", 60
"""Seconds in which a loaded machine has ended all processes: on an idle one it takes about five."""

LAUNCH = (sys.executable, "-m", "shardwright.tools.main", "launch", "--timeout", "3")
MPIEXEC = (str(Path(sys.executable).parent / "mpiexec"),)
STARTERS = {
    "launch": lambda hosts, count: (*LAUNCH, "-n", str(count), "--hosts", str(hosts.file)),
    "mpiexec": lambda hosts, count: (*MPIEXEC, "-f", str(hosts.file), "-n", str(count), sys.executable, "-m", "mpi4py"),
}

pytestmark = [pytest.mark.slow]


@pytest.fixture
def hosts(tmp_path: Path) -> Iterator[Hosts]:
    with two_hosts(tmp_path) as found:
        yield found


def said(hosts: Hosts, place: int) -> str:
    """What a process said when it ended."""
    return (hosts.file.parent / f"said.{place}").read_text()


@pytest.mark.parametrize("count", [2, 4])
@pytest.mark.parametrize("starter", STARTERS)
def test_a_lost_link_ends_all_and_a_later_run_works(hosts: Hosts, starter: str, count: int) -> None:
    start = (*STARTERS[starter](hosts, count), str(PROGRAM), str(count))
    due = (np.arange(2.0 * count).reshape(-1, 2) ** 2).sum(0).tolist()
    with hosts.started(*start, FOREVER, str(hosts.file.parent), SHARDWRIGHT_TIMEOUT="3") as process:
        assert process.stdout is not None
        # MPICH's network library warns there of devices that went between two questions.
        lines = (line for line in process.stdout if " UCX " not in line)
        assert next(lines) == f"{due}\n"
        hosts.cut()
        assert hosts.emptied(LONGEST)
        out, errors = process.communicate()
    assert process.returncode == 70, out + errors
    for place in range(count):
        text, host = said(hosts, place), ("left", "right")[place % 2]
        assert f"cut_off.py:{LINE}:" in text
        assert "error[SW0904]: the process has waited 3 seconds for the others" in text
        assert f"note: on process {place} of {count}, on {host}" in text
    hosts.mend()
    with hosts.started(*start, "3", str(hosts.file.parent)) as process:
        out, errors = process.communicate(timeout=LONGEST)
    assert (process.returncode, out.startswith(f"{due}\n")) == (0, True), out + errors
    assert hosts.emptied(LONGEST)


@pytest.mark.parametrize("count", [2, 4])
def test_an_example_says_the_same_on_two_hosts_as_on_one(hosts: Hosts, count: int) -> None:
    """As `examples/launch/README.md` has it, with the shell of this test in place of ssh."""
    here = subprocess.run([sys.executable, str(EXAMPLE)], capture_output=True, text=True, check=True)
    with hosts.started(*STARTERS["launch"](hosts, count), str(EXAMPLE)) as process:
        out, errors = process.communicate(timeout=LONGEST)
    assert process.returncode == 0, errors
    words = [NUMBER.sub("#", text) for text in (out, here.stdout)]
    assert words[0] == words[1]
    losses = [[float(found) for found in NUMBER.findall(text)] for text in (out, here.stdout)]
    np.testing.assert_allclose(*losses, rtol=1e-3)
    assert hosts.emptied(LONGEST)


def test_what_listens_does_so_on_the_cable(hosts: Hosts) -> None:
    """But for the port of `mpiexec`, which is on every interface whatever it is told."""
    program = (str(PROGRAM), "2", FOREVER, str(hosts.file.parent))
    with hosts.started(*STARTERS["launch"](hosts, 2), *program) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "[4.0, 10.0]\n"
        places = hosts.listening()
    assert {"192.0.2.1", "192.0.2.2"} <= places
    assert places <= {"192.0.2.1", "192.0.2.2", "0.0.0.0"}
    hosts.cut()
    assert hosts.emptied(LONGEST)


def test_a_host_that_cannot_be_reached_ends_all(hosts: Hosts) -> None:
    hosts.cut()
    with hosts.started(*STARTERS["launch"](hosts, 2), str(PROGRAM), "2", "3", str(hosts.file.parent)) as process:
        _, errors = process.communicate(timeout=LONGEST)
    assert process.returncode != 0
    assert "SW0911" in errors
    assert "right" in errors
    assert hosts.emptied(LONGEST)
