"""Programs on real MPI processes; what does not need MPI is tested in `tests/unit/runtime/test_processes.py`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from stored_programs import RUNNABLE

pytest.importorskip("mpi4py", reason="the extra mpi is not installed")

TESTS = Path(__file__).resolve().parents[1]
CHILD = TESTS / "support" / "mpi_child.py"
SECONDS = 300


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


def test_mpi_combines_as_numpy_does() -> None:
    assert run(3, "reductions").count("done") == 3


@pytest.mark.parametrize("count", [pytest.param(2, marks=pytest.mark.slow), 4])
def test_the_api_on_several_processes(count: int) -> None:
    assert run(count, "api").count("done") == count


def test_programs_on_several_processes() -> None:
    names = ["heat_stencil", "smap_pipeline", "sort_sharded"]
    assert run(4, "programs", *names).count("done") == 4


@pytest.mark.slow
@pytest.mark.parametrize("count", [2, 4, 8])
def test_every_program_on_several_processes(count: int) -> None:
    assert run(count, "programs", *RUNNABLE).count("done") == count


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 2, 4])
@pytest.mark.parametrize(
    "name", ["attention", "mlp", "import_graph", "train_low_level", "train_strategy", "train_embedding"]
)
def test_examples_say_the_same_on_each_number_of_processes(name: str, count: int) -> None:
    lines = run(count, script=TESTS.parent / "examples" / f"{name}.py").splitlines()
    assert lines
