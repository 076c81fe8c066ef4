"""Programs on real MPI processes; what does not need MPI is tested in `tests/unit/runtime/test_processes.py`."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from stored_programs import RUNNABLE

pytest.importorskip("mpi4py", reason="the extra mpi is not installed")

TESTS = Path(__file__).resolve().parents[1]
CHILD = TESTS / "support" / "mpi_child.py"
ARRAYS = TESTS / "support" / "mpi_arrays.py"
SECONDS = 300
NUMBER = re.compile(r"(?<![\w@])\d+(?:\.\d+)?(?:e[+-]\d+)?")


def run(count: int, *arguments: str, script: Path = CHILD) -> str:
    """What so many processes print; one that waits for a minute ends them all."""
    mpiexec = Path(sys.executable).parent / "mpiexec"
    if not mpiexec.exists():
        pytest.skip("mpiexec is not beside the interpreter: pip install mpich")
    paths = [str(TESTS), str(TESTS / "support"), os.environ.get("PYTHONPATH", "")]
    added = {"PYTHONPATH": os.pathsep.join(paths), "SHARDWRIGHT_TIMEOUT": "60", "OPENBLAS_NUM_THREADS": "1"}
    command = [str(mpiexec), "-n", str(count), sys.executable, "-m", "mpi4py", str(script), *arguments]
    done = subprocess.run(
        command,
        env=os.environ | added | {"MPIR_CVAR_ENABLE_HEAVY_YIELD": "1"},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_mpi_combines_as_numpy_does_and_moves_pieces_however_they_lie() -> None:
    assert run(3, script=ARRAYS).count("done") == 3


def test_the_api_stages_and_programs_on_two_processes(tmp_path: Path) -> None:
    """All in one job: to start it takes longer than what it does."""
    said = run(2, "some", str(tmp_path), "heat_stencil", "smap_pipeline")
    assert [said.count(f"{scenario} is done\n") for scenario in ("api", "stages", "programs")] == [2, 2, 2]


@pytest.mark.slow
def test_the_api_on_several_processes() -> None:
    assert run(4, "api").count("done") == 4


@pytest.mark.slow
@pytest.mark.parametrize("count", [2, 4, 8])
def test_every_program_on_several_processes(count: int) -> None:
    assert run(count, "programs", *RUNNABLE).count("done") == count


@pytest.mark.slow
def test_stages_on_processes_of_their_own(tmp_path: Path) -> None:
    assert run(4, "stages", str(tmp_path)).count("done") == 4


WAITS_IN_VAIN = """
import time
import numpy as np
import shardwright as sw

mesh = sw.Mesh.distributed({"x": 2})
x = sw.relayout(np.arange(4.0), sw.Layout(["x"], mesh))
sw.sum(x)
time.sleep(600 * mesh.clients.place)
sw.sum(x)
"""


@pytest.mark.slow
def test_a_trace_of_a_job_that_fails_shows_what_was_waited_for(tmp_path: Path) -> None:
    program, trace = tmp_path / "waits.py", tmp_path / "trace.json"
    program.write_text(WAITS_IN_VAIN)
    options = ["-n", "2", "--timeout", "4", "--trace", str(trace)]
    command = [sys.executable, "-m", "shardwright.tools.main", "launch", *options, str(program)]
    assert subprocess.run(command, capture_output=True, timeout=120).returncode == 70
    events = {each["name"]: each for each in json.loads(trace.read_text())["traceEvents"] if each["pid"] == 0}
    done, last = (next(event for name, event in events.items() if f"waits.py:{line}" in name) for line in (8, 10))
    assert done["ts"] + done["dur"] < last["ts"]
    assert last["dur"] > 3e6
    assert sorted(each.name for each in tmp_path.iterdir()) == ["trace.json", "waits.py"]


def test_a_trace_shows_all_processes(tmp_path: Path) -> None:
    example, trace = str(TESTS.parent / "examples" / "launch" / "pipeline.py"), tmp_path / "trace.json"
    command = [sys.executable, "-m", "shardwright.tools.main", "launch", "-n", "2", "--trace", str(trace), example]
    subprocess.run(command, capture_output=True, timeout=SECONDS, check=True)
    assert [each.name for each in tmp_path.iterdir()] == ["trace.json"]
    events = json.loads(trace.read_text())["traceEvents"]
    assert {event["args"]["name"] for event in events if event["ph"] == "M"} == {"process 0", "process 1"}
    spans = [event for event in events if event["ph"] == "X"]
    assert all(event["dur"] >= 0 and event["ts"] > 1e15 for event in spans)
    # Four microbatches in each of five steps, and each loss to the process that does not have it.
    waits = [event["pid"] for event in spans if event["cat"] == "wait"]
    assert (waits.count(0), waits.count(1)) == (20 + 5, 20)
    sends = [event["pid"] for event in spans if event["cat"] == "send"]
    assert (sends.count(0), sends.count(1)) == (20, 20 + 5)
    assert any("pipeline.py" in event["name"] for event in spans if event["cat"] == "run")
    # Each stage has its tasks, in the order of its schedule, and one is at work while the other is.
    tasks = [[event for event in spans if event["cat"] == "stage" and event["pid"] == place] for place in (0, 1)]
    names = [[event["name"].partition(" at ")[0] for event in own] for own in tasks]
    first = ["forward 0", "forward 1", "backward 0", "forward 2", "backward 1", "forward 3", "backward 2", "backward 3"]
    assert names[0] == [f"{task} of stage 0" for task in first] * 5
    assert names[1] == [f"backward {number} of stage 1" for number in range(4)] * 5
    assert any(
        one["ts"] < two["ts"] + two["dur"] and two["ts"] < one["ts"] + one["dur"]
        for one in tasks[0]
        for two in tasks[1]
    )


@pytest.mark.slow
@pytest.mark.parametrize("count", [2, 4, 8])
def test_random_programs_on_several_processes(count: int) -> None:
    assert run(count, "drawn", "30").count("done") == count


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "attention",
        "mlp",
        "import_graph",
        "train_single_device",
        "train_low_level",
        "train_strategy",
        "train_embedding",
        "train_embedding_strategy",
        "checkpoint_and_resume",
        "save_and_load",
        "launch/pipeline",
        "launch/train",
    ],
)
def test_examples_say_the_same_on_each_number_of_processes(name: str) -> None:
    """The same words, and the same numbers but for the last digits of sums of floats."""
    words, numbers = said_by_one(name, 1)
    assert words
    for count in (2, 4):
        found, others = said_by_one(name, count)
        assert found == words
        np.testing.assert_allclose(others, numbers, rtol=2e-3, atol=1e-4)


@pytest.mark.slow
def test_the_demo_on_two_processes() -> None:
    words, numbers = said_by_one("demo", 2)
    assert words.count("largest difference from the unsharded run") == 2
    assert len(numbers) > 20


def said_by_one(name: str, count: int) -> tuple[str, list[float]]:
    """What the first of so many processes prints of an example: its words, and the numbers in between."""
    example = str(TESTS.parent / "examples" / f"{name}.py")
    command = [sys.executable, "-m", "shardwright.tools.main", "launch", "-n", str(count), "--timeout", "60", example]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=True)
    return NUMBER.sub("#", done.stdout), [float(found) for found in NUMBER.findall(done.stdout)]
