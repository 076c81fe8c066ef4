"""When processes ran and waited: where the file cannot be written, and what killed jobs leave."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from shardwright.diagnostics import ShardwrightError
from shardwright.engines.jobs.timeline import joined
from shardwright.tools.main import main

PROGRAM = """
import numpy as np, shardwright as sw
mesh = sw.Mesh(x=2)
sw.relayout(sw.pack([np.ones(2)] * 2, sw.Layout(["x"], mesh)), sw.Layout([None], mesh))
"""


def written(path: Path, *names: str) -> None:
    path.write_text(json.dumps({"traceEvents": [{"name": name} for name in names]}))


def test_the_files_of_processes_become_one_and_those_of_an_earlier_job_are_gone(tmp_path: Path) -> None:
    trace = tmp_path / "trace.json"
    written(tmp_path / "trace.json.1", "of a job that was killed")
    with joined(trace, 2):
        assert [each.name for each in tmp_path.iterdir()] == ["trace.json"]
        written(tmp_path / "trace.json.0", "mine")
    assert [event["name"] for event in json.loads(trace.read_text())["traceEvents"]] == ["mine"]
    assert [each.name for each in tmp_path.iterdir()] == ["trace.json"]


def test_a_job_that_is_ended_leaves_one_file(tmp_path: Path) -> None:

    def interrupted() -> None:
        with joined(tmp_path / "trace.json", 2):
            written(tmp_path / "trace.json.1", "mine")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert "mine" in (tmp_path / "trace.json").read_text()
    assert [each.name for each in tmp_path.iterdir()] == ["trace.json"]


@pytest.mark.parametrize("name", ["no/such/folder/trace.json", "file/trace.json", ""])
def test_what_cannot_be_written_is_said_before_anything_starts(name: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ShardwrightError, match="SW0704"), joined(tmp_path / name, 2):
        pytest.fail("it started")


def test_the_command_says_so_without_running_the_program(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = tmp_path / "train.py"
    program.write_text("print('it ran')")
    pytest.importorskip("mpi4py")
    assert main(["launch", "-n", "2", "--trace", str(tmp_path / "no" / "trace.json"), str(program)]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert "error[SW0704]: cannot write" in said.err


@pytest.mark.parametrize(("folder", "code"), [("", 0), ("no", 1)])
def test_one_process_writes_its_own(folder: str, code: int, tmp_path: Path) -> None:
    trace = tmp_path / folder / "trace.json"
    environment = {**os.environ, "SHARDWRIGHT_TRACE": str(trace)}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    if code:
        assert f"error[SW0704]: cannot write '{trace}': No such file or directory" in done.stderr
    else:
        assert "run" in {event.get("cat") for event in json.loads(trace.read_text())["traceEvents"]}


def test_a_file_that_cannot_be_written_any_more_is_said_in_a_line(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    lost = PROGRAM + "import shutil; shutil.rmtree('folder')"
    environment = {**os.environ, "SHARDWRIGHT_TRACE": "folder/trace.json"}
    command = [sys.executable, "-c", lost]
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert done.stderr.startswith("error[SW0704]: cannot write")
    assert "Traceback" not in done.stderr
