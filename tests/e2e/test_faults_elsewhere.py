"""
One process goes wrong where not we but MPI's or Slurm's own command started them: all end, and say why and where.

Whoever is killed says nothing then, nor can we: who started it names the host, and Slurm's `srun` waits for the others.
"""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mpi4py", reason="several processes need the extra mpi")
if not sys.platform.startswith("linux"):
    pytest.skip("looks for processes in /proc", allow_module_level=True)

from jobs import LONGEST, MARK, PROGRAM, gone, line_of, line_with

pytestmark = [pytest.mark.slow]

RUNNER = (sys.executable, "-m", "shardwright.engines.mpi.runner", str(PROGRAM))
MPIEXEC = Path(sys.executable).parent / "mpiexec"

SAID = {
    "raise": "SW0910",
    "oom": "SW0910",
    "interrupt": "SW0912",
    "coded": "SW0101",
    "exit": "SW0911",
}
"""Faults that a process can speak of, and the code of what it says."""

MOMENTS = ("start", "called", "inside", "end")
DISAGREEMENTS = ("shape", "program", "mesh", "versions", "order")


def starter(name: str) -> tuple[str, ...]:
    """The command in front of a program; skips where there is none."""
    if name == "mpiexec":
        if not MPIEXEC.exists():
            pytest.skip("there is no mpiexec beside the interpreter")
        return (str(MPIEXEC), "-n", "2")
    if shutil.which("srun") is None or subprocess.run(["sinfo"], capture_output=True, check=False).returncode:
        pytest.skip("no Slurm runs here")
    return ("srun", "--mpi=pmi2", "-n", "2")


def ended(name: str, kind: str, moment: str, seconds: float = 30) -> tuple[int, str]:
    """What a job exits with, and all that was said; none of its processes is left."""
    mark = secrets.token_hex(8)
    environment = {**os.environ, "SHARDWRIGHT_TIMEOUT": str(seconds), MARK: mark}
    command = (*starter(name), *RUNNER, kind, moment)
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=LONGEST, check=False)
    assert gone(mark)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("kind", SAID)
@pytest.mark.parametrize("name", ["mpiexec", "srun"])
def test_who_fails_says_so(name: str, kind: str, moment: str) -> None:
    code, text = ended(name, kind, moment, 5)
    assert code != 0
    known, line = SAID[kind], line_of(kind)
    if (kind, moment) == ("oom", "inside"):  # said of the call, by the program's own figures
        known, line = "SW0609", line_with("first(x)")
    assert f"faulty.py:{line}:" in text
    assert f"error[{known}]" in text
    assert f"note: on process 1 of 2, on {socket.gethostname()}" in text


@pytest.mark.parametrize("moment", ["called", "inside"])
@pytest.mark.parametrize("kind", ["stop", "kill"])
@pytest.mark.parametrize("name", ["mpiexec", "srun"])
def test_who_says_nothing_is_not_waited_for(name: str, kind: str, moment: str) -> None:
    """What another process says, which waited; it is not even asked where MPI's command sees that one is dead."""
    code, text = ended(name, kind, moment, 3)
    assert code != 0
    assert socket.gethostname() in text
    if (name, kind) == ("mpiexec", "kill"):
        assert "(signal 9)" in text
        return
    assert "error[SW0904]: the process has waited 3 seconds for the others" in text
    assert "note: on process 0 of 2" in text
    assert "faulty.py:" in text


@pytest.mark.parametrize("name", ["mpiexec", "srun"])
def test_a_collective_that_one_process_leaves_out(name: str) -> None:
    code, text = ended(name, "mismatch", "inside", 3)
    assert code != 0
    assert "error[SW0904]: the process has waited 3 seconds for the others" in text
    assert socket.gethostname() in text
    assert "faulty.py:" in text


@pytest.mark.parametrize("kind", DISAGREEMENTS)
@pytest.mark.parametrize("name", ["mpiexec", "srun"])
def test_who_disagrees_says_so(name: str, kind: str) -> None:
    code, text = ended(name, kind, "never")
    assert (code, "error[SW0902]" in text) == (1, True), text
    assert "note: process 1: " in text
    assert "faulty.py:" in text


@pytest.mark.parametrize("name", ["mpiexec", "srun"])
def test_nothing_goes_wrong_after_a_fault(name: str) -> None:
    assert ended(name, "raise", "inside", 5)[0] != 0
    code, text = ended(name, "none", "never")
    assert (code, "[56.0, 84.0]\n" in text) == (0, True), text
