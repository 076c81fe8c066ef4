"""One process of a job goes wrong: all end, with a coded text that names the process, its host and the user's line."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mpi4py", reason="several processes need the extra mpi")
if not sys.platform.startswith("linux"):
    pytest.skip("looks for processes in /proc", allow_module_level=True)

from jobs import LONGEST, PROGRAM, gone, launched, left_of, line_of, line_with, outcome_of
from ports import listening

MOMENTS = ("start", "called", "inside", "end")
"""Before MPI, between two programs, in the midst of one, and after the last."""

FAULTS = {
    "kill": (137, "SW0911"),
    "stop": (70, "SW0904"),
    "crash": (139, "SW0911"),
    "raise": (1, "SW0910"),
    "memory": (1, "SW0910"),
    "oom": (1, "SW0910"),
    "interrupt": (130, "SW0912"),
    "coded": (1, "SW0101"),
    "exit": (3, "SW0911"),
    "vanish": (5, "SW0911"),
    "mute": (1, "SW0910"),
}
"""For each fault of one process what the job exits with, and the code of its text."""

DISAGREEMENTS = ("elements", "shape", "program", "mesh", "versions", "order")
QUICK = {("kill", "called"), ("raise", "inside")}
SILENT = {"kill", "stop", "crash", "vanish"}
"""Faults whose line is where the process was last seen: there is none before the first program."""


ENDS_SLOWLY = """
import builtins, time
import numpy as np
import shardwright as sw

class Slow:
    def __del__(self, sleep=time.sleep):
        sleep(7)

builtins.slow = Slow()
mesh = sw.Mesh.distributed({"x": 2})
x = sw.relayout(np.arange(4.0), sw.Layout(["x"], mesh))
sw.sum(x)
time.sleep(0.7 * mesh.clients.place)
assert float(sw.sum(x)) == 6
"""
"""A wait that is watched, and then an interpreter that takes longer to end than a process may wait."""


def cases() -> list[object]:
    """All faults at all moments; a few of them in the default suite."""
    every = [(kind, moment, count) for kind in FAULTS for moment in MOMENTS for count in (2, 4)]
    quick = [(kind, moment) in QUICK and count == 2 for kind, moment, count in every]
    marks = [() if now else (pytest.mark.slow,) for now in quick]
    return [pytest.param(*case, marks=mark) for case, mark in zip(every, marks, strict=True)]


@pytest.mark.parametrize(("kind", "moment", "count"), cases())
def test_one_fault_ends_all(kind: str, moment: str, count: int) -> None:
    code, known = FAULTS[kind]
    line = line_of(kind)
    if (kind, moment) in {("memory", "inside"), ("oom", "inside")}:  # said of the call, by the program's own figures
        known, line = "SW0609", line_with("first(x)")
    found = outcome_of(count, str(PROGRAM), kind, moment, seconds=5 if kind == "stop" else 60)
    text = "\n".join(found.texts)
    assert (found.code, known in text) == (code, True), text
    assert f"process {count - 1}" in text
    assert socket.gethostname() in text
    if kind not in SILENT:
        assert f"faulty.py:{line}:" in text
    elif moment != "start":
        assert "last seen at" in text
        assert "faulty.py:" in text


@pytest.mark.slow
@pytest.mark.parametrize("count", [2, 4])
def test_a_stopped_process_is_named_also_where_the_others_lose_patience_first(count: int) -> None:
    found = outcome_of(count, str(PROGRAM), "stop", "inside", seconds=3, job_seconds=60)
    assert found.code == 70
    others, stopped = found.texts
    assert "the process has waited 3 seconds for the others in" in others
    assert stopped.startswith("error[SW0904]: others wait for a process that is stopped (SIGSTOP)\n")
    assert "last seen at" in stopped
    assert f"on process {count - 1} of {count}, on {socket.gethostname()}" in stopped


@pytest.mark.parametrize("count", [2, pytest.param(4, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "kind", ["elements", *(pytest.param(each, marks=pytest.mark.slow) for each in DISAGREEMENTS[1:])]
)
def test_processes_that_disagree_all_say_so(kind: str, count: int) -> None:
    found = outcome_of(count, str(PROGRAM), kind, "never", seconds=60)
    text = "\n".join(found.texts)
    assert (found.code, "SW0902" in text) == (1, True), text
    assert f"note: process {count - 1}: " in text
    assert kind != "elements" or f"; given float64[{4 * count // 2}, 2] with check " in text
    assert "faulty.py:" in text


@pytest.mark.slow
@pytest.mark.parametrize("count", [2, 4])
def test_a_process_that_never_begins(count: int) -> None:
    found = outcome_of(count, str(PROGRAM), "leave", "start", seconds=60)
    assert (found.code, "SW0911" in found.texts[0]) == (1, True), found.texts
    assert f"on process {count - 1} of {count}" in found.texts[0]


@pytest.mark.slow
@pytest.mark.parametrize("count", [2, 4])
def test_a_process_that_leaves_early(count: int) -> None:
    found = outcome_of(count, str(PROGRAM), "leave", "called", seconds=60)
    text = "\n".join(found.texts)
    assert (found.code, "SW0902" in text) == (1, True), text
    assert f"note: process {count - 1}: has come to its end" in text
    assert "faulty.py:" in text


@pytest.mark.slow
@pytest.mark.parametrize("count", [2, 4])
def test_a_process_that_leaves_in_the_midst_of_a_program(count: int) -> None:
    found = outcome_of(count, str(PROGRAM), "leave", "inside", seconds=5)
    text = "\n".join(found.texts)
    assert (found.code, "SW0904" in text) == (70, True), text


@pytest.mark.parametrize("count", [2, pytest.param(4, marks=pytest.mark.slow)])
def test_a_collective_that_one_process_leaves_out(count: int) -> None:
    found = outcome_of(count, str(PROGRAM), "mismatch", "inside", seconds=2)
    text = "\n".join(found.texts)
    assert (found.code, "SW0904" in text) == (70, True), text
    assert socket.gethostname() in text
    assert "faulty.py:" in text


@pytest.mark.slow
@pytest.mark.parametrize("count", [2, 4])
def test_another_number_of_processes(count: int) -> None:
    found = outcome_of(count, str(PROGRAM), "many", "never")
    assert (found.code, "SW0901" in found.texts[0]) == (1, True), found.texts
    assert "faulty.py:" in found.texts[0]


@pytest.mark.slow
@pytest.mark.parametrize("moment", MOMENTS)
def test_a_slow_process_is_waited_for_and_the_next_job_runs(moment: str) -> None:
    assert outcome_of(2, str(PROGRAM), "vanish", "start").code == 5
    found = outcome_of(2, str(PROGRAM), "slow", moment, seconds=60)
    assert (found.code, found.texts) == (0, ())


def test_an_interpreter_that_ends_slowly_after_a_wait_is_let_end(tmp_path: Path) -> None:
    program = tmp_path / "ends_slowly.py"
    program.write_text(ENDS_SLOWLY)
    found = outcome_of(2, str(program), seconds=5)
    assert (found.code, found.texts) == (0, ()), found.texts


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), pytest.param(signal.SIGTERM, 143, marks=pytest.mark.slow)]
)
def test_a_signal_to_the_launcher_ends_all(number: int, code: int) -> None:
    with launched(2, str(PROGRAM), "wait", "never") as (launcher, mark):
        assert launcher.stdout is not None
        assert launcher.stdout.readline() == "ready\n"
        assert listening(left_of(mark)) == []
        launcher.send_signal(number)
        _, said = launcher.communicate()
    assert launcher.returncode == code
    assert "SW0912" in said
    assert "process 1 was last seen at" in said
    assert gone(mark)


@pytest.mark.slow
def test_who_kills_the_launcher_kills_all() -> None:
    with launched(2, str(PROGRAM), "wait", "never") as (launcher, mark):
        assert launcher.stdout is not None
        assert launcher.stdout.readline() == "ready\n"
        launcher.kill()
    assert gone(mark)


def plain(*command: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """A command with the program, without our launcher."""
    environment = {**os.environ, "SHARDWRIGHT_TIMEOUT": "60", **variables}
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=LONGEST, check=False)


def test_a_mesh_over_processes_that_nobody_started() -> None:
    text = "import numpy, shardwright as sw; mesh = sw.Mesh.distributed({'x': 2}); "
    text += "sw.sum(sw.relayout(numpy.ones(4), sw.Layout(['x'], mesh)))"
    found = plain(sys.executable, "-c", text, DTENSOR_NUM_CLIENTS="2", DTENSOR_CLIENT_ID="0")
    assert found.returncode == 1
    assert "SW0901" in found.stderr


@pytest.mark.slow
@pytest.mark.parametrize("starter", [(), ("-m", "mpi4py"), ("-m", "shardwright.engines.mpi.runner")])
@pytest.mark.parametrize("kind", ["raise", "leave", "exit"])
def test_faults_under_plain_mpiexec(starter: tuple[str, ...], kind: str) -> None:
    """An early end is seen by all, whoever started them."""
    mpiexec = Path(sys.executable).parent / "mpiexec"
    if not mpiexec.exists():
        pytest.skip("there is no mpiexec beside the interpreter")
    found = plain(str(mpiexec), "-n", "2", sys.executable, *starter, str(PROGRAM), kind, "called")
    assert found.returncode != 0
    assert "ArithmeticError" in found.stderr if kind == "raise" else "exit" in found.stderr or "SW0902" in found.stderr


@pytest.mark.slow
def test_a_job_without_faults_under_plain_mpiexec() -> None:
    mpiexec = Path(sys.executable).parent / "mpiexec"
    if not mpiexec.exists():
        pytest.skip("there is no mpiexec beside the interpreter")
    found = plain(str(mpiexec), "-n", "2", sys.executable, "-m", "mpi4py", str(PROGRAM), "none", "never")
    assert (found.returncode, found.stdout) == (0, "[56.0, 84.0]\n"), found.stderr
