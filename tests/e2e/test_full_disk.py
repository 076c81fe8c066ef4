"""A disk that is full while many processes save: all say so, what was saved before is whole, and room mends it."""

from __future__ import annotations

import os
import shlex
import socket
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

MPIEXEC = Path(sys.executable).parent / "mpiexec"
PROGRAM = Path(__file__).resolve().parents[1] / "support" / "full_disk.py"
LINE = PROGRAM.read_text().split("\n").index("    sw.Checkpoint(v=v).save(path)") + 1
SECONDS = 180

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("mpi4py") is None or not MPIEXEC.exists(), reason="needs the extra mpi"),
    pytest.mark.skipif(not sys.platform.startswith("linux") or os.geteuid() != 0, reason="only root mounts a disk"),
]

LAUNCH = (sys.executable, "-m", "shardwright.tools.main", "launch", "--timeout", "30", "-n")
STARTERS = {"launch": LAUNCH, "mpiexec": (str(MPIEXEC), "-n")}
RUNNERS = {"launch": (), "mpiexec": (sys.executable, "-m", "shardwright.engines.mpi.runner")}


@pytest.mark.parametrize("count", [2, 4])
@pytest.mark.parametrize("starter", STARTERS)
def test_a_full_disk_ends_all(starter: str, count: int, tmp_path: Path) -> None:
    """Four megabytes, of which the second checkpoint needs eight; no mount is seen by anybody else."""
    disk = tmp_path / "disk"
    disk.mkdir()
    program = shlex.join((*STARTERS[starter], str(count), *RUNNERS[starter], str(PROGRAM), str(disk)))
    steps = [
        f"mount -t tmpfs -o size=4m tmpfs {disk} || exit 77",
        f"{program}; echo first $?",
        f"{program} look; echo second $?; ls {disk}",
        f"mount -o remount,size=64m {disk}",
        f"{program}; echo third $?",
        f"{program} look",
    ]
    command = ["unshare", "--mount", "sh", "-c", "\n".join(steps)]
    environment = {**os.environ, "SHARDWRIGHT_TIMEOUT": "30"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, env=environment, check=False)
    if done.returncode == 77 or "unshare failed" in done.stderr:
        pytest.skip(f"no mounts here: {done.stderr}")
    assert done.stdout.split("\n")[:5] == [
        "first 1",
        "[64.0] in (64, 8)",
        "second 0",
        "checkpoint",
        "third 0",
    ], done.stdout + done.stderr
    assert done.stdout.endswith("[131072.0] in (131072, 8)\n")
    assert "no space left on device" in done.stderr.lower()
    assert f"full_disk.py:{LINE}:" in done.stderr
    assert f"of {count}, on {socket.gethostname()}" in done.stderr
