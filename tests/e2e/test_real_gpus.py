"""Programs on real GPUs, where there are some (`make gpu`); what needs none is in `tests/unit/engines/test_gpus.py`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from shardwright.engines.cupy.device import look

pytestmark = pytest.mark.slow

TESTS = Path(__file__).resolve().parents[1]
CHILD = str(TESTS / "support" / "gpu_child.py")
STAND_IN = str(TESTS / "support" / "stand_in_child.py")
SECONDS = 1800
"""Kernels are compiled for the GPU when they first run."""


def devices(many: bool) -> int:
    """How many GPUs there are; skips the test, and says why, where it cannot run."""
    seen = look(many)
    if seen.lacks:
        pytest.skip(f"no GPU to run on: {seen.lacks}")
    return len(seen.devices)


def said(*command: str) -> subprocess.CompletedProcess[str]:
    paths = [str(TESTS), str(TESTS / "support"), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    command = (sys.executable, *command)
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False)


def test_one_gpu() -> None:
    devices(many=False)
    done = said(CHILD)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "process 0: " in done.stdout


def test_several_gpus() -> None:
    pytest.importorskip("mpi4py", reason="processes are started by MPI")
    count = 1 << (devices(many=True).bit_length() - 1)
    if count < 2:
        pytest.skip("there is one GPU")
    done = said("-m", "shardwright.tools.main", "launch", "-n", str(min(count, 8)), "--output", "all", CHILD)
    assert done.returncode == 0, done.stdout + done.stderr
    assert all(f"process {place}: " in done.stdout for place in range(min(count, 8)))


def test_a_job_of_mpi_on_the_stand_in() -> None:
    """What starts NCCL's communicators, and who has which GPU, with real processes."""
    pytest.importorskip("mpi4py", reason="processes are started by MPI")
    names = ["heat_stencil", "sort_sharded", "smap_cube_collectives", "tblock_fsdp_train"]
    launch = ("-m", "shardwright.tools.main", "launch", "-n", "4", "--timeout", "60", "--output", "all")
    done = said(*launch, STAND_IN, *names)
    assert done.returncode == 0, done.stdout + done.stderr
    assert all(f"process {place}: 4 programs" in done.stdout for place in range(4))


def test_without_gpus_the_job_says_so(tmp_path: Path) -> None:
    pytest.importorskip("mpi4py", reason="processes are started by MPI")
    if not look(many=True).lacks:
        pytest.skip("there are GPUs")
    program = tmp_path / "train.py"
    program.write_text('import shardwright as sw\n\nsw.gpu_mesh({"x": 2})\n')
    done = said("-m", "shardwright.tools.main", "launch", "-n", "2", "--timeout", "30", str(program))
    assert done.returncode == 1
    assert "error[SW0930]: process 0 on " in done.stderr
    assert f"{program}:3" in done.stderr


def test_the_stand_in_has_no_function_that_cupy_lacks() -> None:
    cupy = pytest.importorskip("cupy", reason="the extra cupy is not installed")
    from cupy_stand_in import FUNCTIONS, METHODS, UFUNCS

    assert [name for name in (*FUNCTIONS, *UFUNCS) if not hasattr(cupy, name)] == []
    assert [name for name in METHODS if not hasattr(cupy.ndarray, name)] == []
    assert [name for name in UFUNCS if not isinstance(getattr(cupy, name), cupy.ufunc)] == []
