"""
One step on two MPI processes, next to the same step in one, in two of JAX and in two of PyTorch: in turns.

    mpiexec -n 2 python -m mpi4py -m shardwright.benchmarks.processes PROGRAM.mlir FOLDER
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from shardwright.benchmarks import files, ours, torch_steps, xla
from shardwright.benchmarks.measure import Sample, Timed, interleave
from shardwright.benchmarks.report import Cell, Report
from shardwright.benchmarks.turns import Job, serve, several, turn_of
from shardwright.tools.programs.arrays import Array

NAMES = ("mlp_train_dptp", "tblock_train", "resnet_fwd_spatial")
OURS, ALONE, JAX, TORCH = "processes", "one process", "jax", "torch"
NO_JAX, NO_TORCH = "jax: skipped, JAX is not installed", "torch: skipped, PyTorch is not installed"


def processes(folder: Path, repetitions: int, programs: int | None = None, count: int = 2) -> Report:
    """The step of each program of a folder, or of the first few, on processes of ours and of others, and in one."""
    report = Report("processes", f"one step on {count} MPI processes of a thread each, next to others; in turns")
    if find_spec("mpi4py") is None:
        report.notes.append("skipped: pip install 'shardwright[mpi]'")
        return report
    for file in [file for file in files.benchmarked(folder) if file.name in NAMES][:programs]:
        with ExitStack() as stack:
            samples = interleave(_contenders(file, count, stack), repetitions, warmups=3)
        report.add({"program": file.name, **row_of(samples)})
    report.notes.append(
        f"{ALONE}: a thread for each core; {JAX}: the same text, its devices shared by {count} processes"
    )
    report.notes.append(
        f"{TORCH}: {torch_steps.NAME} written for DTensor, a thread and a device each, connected by gloo"
    )
    report.notes += [NO_JAX] * (not xla.available()) + [NO_TORCH] * (not has_torch())
    return report


def has_torch() -> bool:
    """Whether PyTorch is installed."""
    return find_spec("torch") is not None


def _contenders(file: files.ProgramFile, count: int, stack: ExitStack) -> dict[str, Timed]:
    """Who takes turns; processes end with the stack."""
    executable = ours.compile_text(file.text)
    inputs = file.inputs(ours.signature(file.text).arguments)
    mpiexec = [str(Path(sys.executable).parent / "mpiexec"), "-n", str(count)]
    jobs = {
        OURS: [[*mpiexec, sys.executable, "-m", "mpi4py", "-m", "shardwright.benchmarks.processes", str(file.path)]]
    }
    if xla.available():
        jobs[JAX] = several("jax_steps", count, str(file.path))
    if has_torch() and file.name == torch_steps.NAME:
        jobs[TORCH] = several("torch_steps", count, str(file.path))
    found: dict[str, Timed] = {ALONE: partial(_alone, executable, inputs)}
    for name, commands in jobs.items():
        job = Job(commands, Path(stack.enter_context(TemporaryDirectory())), count)
        stack.callback(job.end)
        found[name] = job.turn
    return found


def row_of(samples: Mapping[str, Sample]) -> dict[str, Cell]:
    """Milliseconds of each with quartiles, and the ratios of ours to the others', round by round."""
    row: dict[str, Cell] = {}
    for name in (OURS, ALONE, JAX, TORCH):
        if name in samples:
            sample = samples[name]
            row[f"{name} ms"] = round(sample.median * 1e3, 2)
            row[f"{name} quartiles"] = f"{sample.low * 1e3:.4g}-{sample.high * 1e3:.4g}"
    for name in (ALONE, JAX, TORCH):
        if name in samples:
            pairs = zip(samples[OURS].seconds, samples[name].seconds, strict=True)
            ratios = Sample(tuple(mine / theirs for mine, theirs in pairs))
            row[f"of {name}"] = round(ratios.median, 3)
            row[f"of {name} quartiles"] = f"{ratios.low:.3g}-{ratios.high:.3g}"
    return row


def _alone(executable: ours.Executable, inputs: Sequence[Array]) -> float:
    return turn_of(partial(ours.step_seconds, executable, inputs))


def main(path: str, folder: str) -> None:
    """Loads a program on the processes of this job, and runs its steps when the gate says so."""
    from shardwright.dialects.text.parsing import parse_module
    from shardwright.engines.processes import communicator_of
    from shardwright.layout import Mesh
    from shardwright.runtime.executable import compile_module
    from shardwright.runtime.stacking import to_stacked

    file, mesh = files.ProgramFile(Path(path)), Mesh.distributed({"all": int(os.environ["PMI_SIZE"])})
    communicator = communicator_of(mesh)
    executable = compile_module(
        ours.partition(parse_module(file.text, ours.FILE_NAME)), communicator=communicator, threads=1
    )
    assert executable.mesh is not None
    mine = executable.mesh.seen_by(mesh.clients)
    inputs = file.inputs(ours.signature(file.text).arguments)
    own = [to_stacked(array, port.spec, mine) for array, port in zip(inputs, executable.inputs, strict=True)]

    def step() -> float:
        executable.run_stacked(own)
        return executable.seconds

    serve(folder, mesh.clients.place, step)


if __name__ == "__main__":
    main(*sys.argv[1:])
