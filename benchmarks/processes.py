"""
One step on two MPI processes next to the same step in one: each program is loaded by a job that waits for its turn.

    mpiexec -n 2 python -m mpi4py -m shardwright.benchmarks.processes PROGRAM.mlir FOLDER

The job's processes wait in the system, not in MPI, so that they take nothing of the others' turns.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from shardwright.benchmarks import files, ours
from shardwright.benchmarks.measure import interleave
from shardwright.benchmarks.report import Report, compared
from shardwright.tools.programs.arrays import Array

NAMES = ("mlp_train_dptp", "tblock_train", "resnet_fwd_spatial")
STEPS = 5
"""Steps of one turn: the figure is their mean."""


def processes(repetitions: int, programs: int | None = None, count: int = 2) -> Report:
    """The step of each program, or of the first few, on so many processes, and in one, in turn."""
    report = Report("processes", f"one step on {count} MPI processes of a thread each, next to one process of {count}")
    if find_spec("mpi4py") is None:
        report.notes.append("skipped: pip install 'shardwright[mpi]'")
        return report
    for name in NAMES[:programs]:
        file = files.ProgramFile(files.PROGRAMS / name / f"{name}.mlir")
        inputs = file.inputs(ours.signature(file.text).arguments)
        executable = ours.compile_text(file.text)
        with TemporaryDirectory() as folder:
            job = Job(file.path, Path(folder), count)
            try:
                contenders = {f"{count} processes": job.turn, "one process": partial(_alone, executable, inputs)}
                samples = interleave(contenders, repetitions, warmups=3)
            finally:
                job.end()
        report.rows.append({"program": name, **compared(samples, f"{count} processes", "one process")})
    return report


def _alone(executable: ours.Executable, inputs: Sequence[Array]) -> float:
    return sum(ours.step_seconds(executable, inputs) for _ in range(STEPS)) / STEPS


class Job:
    """MPI processes with a program loaded, which run a turn whenever they are told."""

    def __init__(self, path: Path, folder: Path, count: int) -> None:
        self._gates = [folder / f"gate{place}" for place in range(count)]
        self._answer = folder / "answer"
        for pipe in (*self._gates, self._answer):
            os.mkfifo(pipe)
        command = [str(Path(sys.executable).parent / "mpiexec"), "-n", str(count), sys.executable, "-m", "mpi4py"]
        self._process = subprocess.Popen([*command, "-m", __name__, str(path), str(folder)])
        self._open = [gate.open("w", buffering=1) for gate in self._gates]
        self._heard = self._answer.open()

    def turn(self) -> float:
        """The seconds of a step."""
        for gate in self._open:
            gate.write("go\n")
        return float(self._heard.readline())

    def end(self) -> None:
        """Lets the processes go."""
        for gate in self._open:
            gate.close()
        self._process.wait(30)


def serve(path: str, folder: str) -> None:
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
    step = partial(_step, executable, own)
    place = mesh.clients.place
    with (Path(folder) / f"gate{place}").open() as gate, (Path(folder) / "answer").open("w") as answer:
        for _ in iter(gate.readline, ""):
            seconds = sum(step() for _ in range(STEPS)) / STEPS
            if place == 0:
                print(seconds, file=answer, flush=True)


def _step(executable: ours.Executable, inputs: Sequence[object]) -> float:
    executable.run_stacked(inputs)
    return executable.seconds


if __name__ == "__main__":
    serve(*sys.argv[1:])
