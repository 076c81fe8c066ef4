"""Whether this machine has what programs need: cores, memory, folders, MPI, devices."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from shardwright._version import __version__
from shardwright.diagnostics import ShardwrightError
from shardwright.diagnostics.figures import readable_bytes
from shardwright.diagnostics.folders import memory_folder
from shardwright.tools.health.findings import Finding

PATIENCE = 60
"""Seconds after which a library that is asked for its devices is taken for stuck."""

_QUESTIONS = {
    "jax": "import jax; d = jax.devices(); print(len(d), d[0].platform, 'device' + 's' * (len(d) > 1))",
    "cupy": "import cupy; n = cupy.cuda.runtime.getDeviceCount(); print(n, 'GPU' + 's' * (n > 1))",
}
"""What each library with devices is asked, in a process of its own: it may take memory, or crash."""

_PREFIXES = ("SHARDWRIGHT_", "DTENSOR_", "JAX_", "XLA_", "OMP_", "OPENBLAS_", "MKL_", "CUDA_VISIBLE")
"""Of variables that change what programs do."""


def machine() -> Iterator[Finding]:
    """All that there is to say of the machine."""
    yield Finding("shardwright", "ok", f"{__version__} in {Path(__file__).resolve().parents[2]}")
    yield Finding("python", "ok", f"{platform.python_version()} ({sys.executable}), {platform.platform()}")
    yield Finding("cores and memory", "ok", f"{_cores()} cores, {readable_bytes(_memory())}")
    yield folder("temporary files", Path(tempfile.gettempdir()))
    yield from _memories()
    yield from _launcher()
    yield from (devices(library, _QUESTIONS[library]) for library in _QUESTIONS if find_spec(library))
    if told := sorted(f"{name}={value}" for name, value in os.environ.items() if name.startswith(_PREFIXES)):
        yield Finding("variables", "ok", " ".join(told))


def folder(about: str, path: Path) -> Finding:
    """
    Whether files can be put into a folder, or into the nearest one above that there is.

    >>> folder("here", Path("/no/such/folder")).seen
    '/no/such/folder'
    """
    there = next(each for each in (path, *path.absolute().parents) if each.exists())
    if there.is_dir() and os.access(there, os.W_OK | os.X_OK):
        return Finding(about, "ok", str(path))
    return Finding(about, "wrong", f"{path}: nothing can be written into {there}", f"make {there} a writable folder")


def devices(library: str, question: str) -> Finding:
    """What a library says of its devices."""
    about = f"devices of {library}"
    try:
        asked = subprocess.run(
            [sys.executable, "-c", question], capture_output=True, text=True, check=False, timeout=PATIENCE
        )
    except subprocess.TimeoutExpired:
        return Finding(about, "wrong", f"no answer in {PATIENCE} seconds", f"see whether {library} works by itself")
    if asked.returncode == 0:
        return Finding(about, "ok", asked.stdout.strip())
    why = (asked.stderr.strip().split("\n") or [""])[-1] or f"exit code {asked.returncode}"
    return Finding(about, "wrong", why, f"see whether {library} works by itself, or uninstall it")


def _memories() -> Iterator[Finding]:
    for kind in ("proofs", "programs"):
        found = memory_folder(kind)
        if found is not None:
            yield folder(f"remembered {kind}", found)


def _launcher() -> Iterator[Finding]:
    if find_spec("mpi4py") is None:
        return
    from shardwright.engines.mpi.launching import mpiexec

    try:
        yield Finding("mpiexec", "ok", mpiexec())
    except ShardwrightError as error:
        found = error.diagnostics[0]
        yield Finding("mpiexec", "wrong", found.message, found.help)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _memory() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
