"""`shardwright launch`: what it would run, what its processes see, and what they print."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from shardwright.diagnostics import ShardwrightError
from shardwright.engines.mpi.job import Job
from shardwright.engines.mpi.launching import Start, Wanted, places, start_of
from shardwright.tools.main import main

MPICH, OPEN_MPI = "MPICH Version: 5.0.2", "Open MPI v5.0.11"


@pytest.fixture
def program(tmp_path: Path) -> str:
    """A program that exists."""
    path = tmp_path / "train.py"
    path.write_text("")
    return str(path)


def with_mpi(library: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes every new interpreter find an MPI that says that it is this."""
    package = tmp_path / "packages" / "mpi4py"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("class rc:\n    pass\n")
    (package / "MPI.py").write_text(library and f"def Get_library_version():\n    return {library!r}\n")
    monkeypatch.setenv("PYTHONPATH", str(package.parent), prepend=os.pathsep)


def planned(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, object]:
    """What `launch` says that it would run."""
    assert main(["launch", "--dry-run", "--json", *arguments]) == 0
    return json.loads(capsys.readouterr().out)


def test_what_would_be_run(
    program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with_mpi(MPICH, tmp_path, monkeypatch)
    for name in ("OMP_NUM_THREADS", "MPIR_CVAR_ENABLE_HEAVY_YIELD"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("UCX_TLS", "all")
    found = planned(capsys, "-n", "1000", "--timeout", "7.5", program, "--n", "3")
    runner = [sys.executable, "-P", "-m", "shardwright.engines.mpi.runner"]
    assert (found["command"], found["processes"]) == ([*runner, program, "--n", "3"], 1000)
    settings = found["environment"]
    assert isinstance(settings, dict)
    assert (settings["OMP_NUM_THREADS"], settings["SHARDWRIGHT_TIMEOUT"]) == ("1", "7.5")
    assert (settings["MPIR_CVAR_ENABLE_HEAVY_YIELD"], "UCX_TLS" in settings) == ("1", False)


def test_threads_share_the_cores(
    program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with_mpi(MPICH, tmp_path, monkeypatch)
    monkeypatch.setattr("shardwright.engines.mpi.launching.usable_cores", lambda: 8)
    monkeypatch.setenv("OMP_NUM_THREADS", "5")
    monkeypatch.delenv("SHARDWRIGHT_THREADS", raising=False)
    settings = planned(capsys, "-n", "3", program)["environment"]
    assert isinstance(settings, dict)
    assert (settings["SHARDWRIGHT_THREADS"], "OMP_NUM_THREADS" in settings) == ("2", False)
    assert "MPIR_CVAR_ENABLE_HEAVY_YIELD" not in settings
    settings = planned(capsys, "-n", "3", "--threads", "4", program)["environment"]
    assert isinstance(settings, dict)
    assert (settings["SHARDWRIGHT_THREADS"], settings["OMP_NUM_THREADS"]) == ("4", "4")


@pytest.mark.parametrize(
    ("library", "hosts", "flags"),
    [
        (MPICH, True, ["-f", "HOSTS", "-prepend-rank", "-n", "2"]),
        (OPEN_MPI, True, ["--host", "one:1,two:3", "--oversubscribe", "-x", "VARIABLES", "--tag-output", "-n", "2"]),
        (OPEN_MPI, False, ["--oversubscribe", "--tag-output", "-n", "2"]),
    ],
)
def test_other_hosts_and_other_mpis_have_mpiexec(
    library: str,
    hosts: bool,
    flags: list[str],
    program: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with_mpi(library, tmp_path, monkeypatch)
    file, folder = tmp_path / "hosts", tmp_path / "bin"
    file.write_text("one\n\ntwo:3  # it has more cores\n")
    folder.mkdir()
    (folder / "mpiexec").write_text("#!/bin/sh\n")
    (folder / "mpiexec").chmod(0o755)
    (folder / "python").symlink_to(sys.executable)
    monkeypatch.setattr(sys, "executable", str(folder / "python"))
    given = ["--hosts", str(file)] if hosts else []
    found = planned(capsys, "-n", "2", "--output", "labelled", *given, "-m", "package.train", "x")
    names = sorted({*dict(found["environment"]), "PYTHONPATH"})
    variables = [word for name in names for word in ("-x", name)][1:]
    meant = {"HOSTS": [str(file)], "VARIABLES": variables}
    expected = [str(folder / "mpiexec"), *(word for flag in flags for word in meant.get(flag, [flag]))]
    runner = [sys.executable, "-P", "-m", "shardwright.engines.mpi.runner", "-m", "package.train", "x"]
    assert found["command"] == [*expected, *runner]
    assert "UCX_TLS" not in str(found["environment"])


@pytest.mark.parametrize("library", [MPICH, OPEN_MPI])
@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("one\n-oProxyCommand=touch${IFS}here\n", "line 2, '-oProxyCommand=touch${IFS}here', is no host"),
        ("-l@one", "line 1, '-l@one', is no host"),
        ("one:two", "line 1, 'one:two', is no host"),
        ("one:0", "line 1, 'one:0', is no host"),
        ("one two", "line 1, 'one two', is no host"),
        ("# nobody\n\n", "it names no host"),
    ],
)
def test_files_of_hosts_that_are_none(
    text: str, says: str, library: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What begins with a hyphen would be an option of ssh."""
    with_mpi(library, tmp_path, monkeypatch)
    (tmp_path / "hosts").write_text(text)
    with pytest.raises(ShardwrightError, match=r"SW0702.*cannot read") as caught:
        start_of(Wanted(("train.py",), 2, str(tmp_path / "hosts")), {})
    assert says in str(caught.value)


def test_hosts_with_users_and_counts(tmp_path: Path) -> None:
    (tmp_path / "hosts").write_text("one\n\nme@two.example.org:3  # the large one\n10.0.0.7\n")
    assert places(str(tmp_path / "hosts")) == ["one:1", "me@two.example.org:3", "10.0.0.7:1"]


def test_without_mpi(program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with_mpi("", tmp_path, monkeypatch)
    with pytest.raises(ShardwrightError, match=r"SW0913[\s\S]*Get_library_version[\s\S]*pip install 'shardwright\[mpi"):
        start_of(Wanted((program,), 2), {})


def test_without_mpiexec(program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with_mpi(OPEN_MPI, tmp_path, monkeypatch)
    (tmp_path / "python").symlink_to(sys.executable)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ShardwrightError, match=r"SW0913.*there is no mpiexec"):
        start_of(Wanted((program,), 2), {})


def test_a_time_to_wait_that_is_none(program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with_mpi(MPICH, tmp_path, monkeypatch)
    with pytest.raises(ShardwrightError, match=r"SW0914.*'soon' is no number of seconds"):
        start_of(Wanted((program,), 2), {"SHARDWRIGHT_TIMEOUT": "soon"})


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["train.py"], "SW0701", "required: -n"),
        (["-n", "0", "train.py"], "SW0701", "'0' is no number from 1 on"),
        (["-n", "2", "--timeout", "0", "train.py"], "SW0701", "'0' is no number of seconds"),
        (["-n", "2", "--json", "train.py"], "SW0701", "--json is for --dry-run"),
        (["-n", "2", "/nowhere/train.py"], "SW0702", "cannot read '/nowhere/train.py'"),
        (["-n", "2", "--hosts", "/nowhere/hosts", "-m", "train"], "SW0702", "cannot read '/nowhere/hosts'"),
    ],
)
def test_wrong_command_lines(arguments: list[str], code: str, says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["launch", *arguments]) == 1
    said = capsys.readouterr().err
    assert f"error[{code}]" in said
    assert says in said


def plain_job(text: str, count: int, labelled: bool = False) -> Job:
    """Processes of plain Python, which need no MPI."""
    return Job(Start((sys.executable, "-S", "-c", text), {}, count, labelled=labelled))


def test_labelled_lines_are_whole(capsys: pytest.CaptureFixture[str]) -> None:
    text = "import os, sys; print('a\\nb'); print('of', os.environ['PMI_RANK'], end=''); print('e', file=sys.stderr)"
    assert plain_job(text, 2, labelled=True).run().code == 0
    shown = capsys.readouterr()
    expected = [f"[{place}] {line}" for place in (0, 1) for line in ("a", "b", f"of {place}")]
    assert sorted(shown.out.split("\n")) == sorted(["", *expected])
    assert sorted(shown.err.split("\n")) == ["", "[0] e", "[1] e"]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks for a process in /proc")
def test_the_first_that_fails_decides_and_takes_all_along(tmp_path: Path) -> None:
    mark = tmp_path / "child"
    text = f"""
import os, subprocess, sys, time
if os.environ['PMI_RANK'] == '0':
    child = subprocess.Popen(['sleep', '600'])
    open({str(mark)!r} + '.part', 'w').write(str(child.pid))
    os.rename({str(mark)!r} + '.part', {str(mark)!r})
    time.sleep(600)
while not os.path.exists({str(mark)!r}):
    time.sleep(0.01)
sys.exit(4)
"""
    found = plain_job(text, 2).run()
    assert found.code == 4
    assert "error[SW0911]: a process ended with exit code 4 without a word" in found.texts[0]
    assert "note: on process 1 of 2, on " in found.texts[0]
    assert ends(int(mark.read_text()))


def ends(pid: int) -> bool:
    """Whether a process that was told to end does; a zombie has."""
    state = Path(f"/proc/{pid}/stat")
    for _ in range(600):
        try:
            if state.read_text().rpartition(") ")[2][0] == "Z":
                return True
        except OSError:
            return True
        time.sleep(0.05)
    return False


@pytest.mark.parametrize(
    ("files", "labelled", "text"),
    [
        (
            1 << 20,
            [],
            "error[SW0913]: 100,000 processes are more than this machine can hold: "
            "each takes 16.0 MiB before the program begins, and there are 1.0 GiB\n"
            "  help: start 64 at most, or give more machines with --hosts\n",
        ),
        (
            92,
            ["--output", "labelled"],
            "error[SW0913]: 100,000 processes are more than this machine can hold: "
            "of 92 files that may be open (ulimit -n) each takes 3\n"
            "  help: start 20 at most, or give more machines with --hosts\n",
        ),
    ],
)
def test_more_processes_than_there_is_room_for_are_not_begun(
    files: int,
    labelled: list[str],
    text: str,
    program: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with_mpi(MPICH, tmp_path, monkeypatch)
    monkeypatch.setattr("shardwright.engines.mpi.launching.machine_bytes", lambda: 1 << 30)
    monkeypatch.setattr("shardwright.engines.mpi.launching.resource.getrlimit", lambda _: (files, files))
    monkeypatch.setattr(Job, "_started", None)
    assert main(["launch", "-n", "100000", *labelled, program]) == 1
    assert capsys.readouterr().err == text


def test_what_cannot_be_started() -> None:
    with pytest.raises(ShardwrightError, match=r"SW0913.*process 0 of 2 cannot be started"):
        Job(Start(("/nowhere/python",), {}, 2)).run()


def test_a_signal_ends_a_job_that_is_still_starting(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[int] = []
    job = Job(Start((sys.executable, "-S", "-c", "import time; time.sleep(60)"), {}, 8))
    start = job._started

    def interrupted(place: int) -> Any:
        started.append(place)
        job.interrupt(signal.SIGTERM)
        return start(place)

    monkeypatch.setattr(job, "_started", interrupted)
    assert job.run().code == 128 + signal.SIGTERM
    assert started == [0]


def run_alone(*program: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """The runner with a program, in a process that nobody else is with."""
    command = (sys.executable, "-P", "-m", "shardwright.engines.mpi.runner", *program)
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)


def test_a_program_runs_as_python_runs_it(tmp_path: Path) -> None:
    folder = tmp_path / "programs"
    folder.mkdir()
    (folder / "beside.py").write_text("NAME = 'found'\n")
    text = "import beside, sys\nprint(__name__, sys.argv[1:], beside.NAME, sys.path[0])\nsys.exit(7)\n"
    (folder / "train.py").write_text(text)
    for program, place in ((("programs/train.py",), tmp_path), (("-m", "train"), folder)):
        found = run_alone(*program, "-x", "y", folder=place)
        assert found.stdout == f"__main__ ['-x', 'y'] found {folder}\n", found.stderr
        assert found.returncode == 7
        assert "train.py:3:1: error[SW0911]: the program ended with exit code 7\n" in found.stderr


def test_an_exception_has_its_traceback_from_the_first_line_of_the_program(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("def step():\n    raise KeyError('x')\n\nstep()\n")
    found = run_alone("train.py", folder=tmp_path)
    lines = found.stderr.split("\n")
    assert lines[0] == "Traceback (most recent call last):"
    assert 'train.py", line 4, in <module>' in lines[1]
    assert "train.py:2:5: error[SW0910]: the program raised KeyError: 'x'" in lines
    assert "  note: on process 0 of 1, on " in found.stderr
    assert found.returncode == 1
