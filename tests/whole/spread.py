"""
Random programs on several processes: each has its part of what one process computes, and sends what was predicted.

Processes are threads of this one, and the network is a queue (`tests/support/processes.py`); with MPI between them,
`tests/support/mpi_child.py` asks the same.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from harness import partitioned
from processes import on_processes
from xdsl.dialects.builtin import ModuleOp

from shardwright.diagnostics import ShardwrightError
from shardwright.layout.boxes import box
from shardwright.layout.mesh import Mesh
from shardwright.runtime.executable import Executable, compile_module
from shardwright.runtime.ports import Port
from shardwright.runtime.processes.communicator import Communicator
from shardwright.runtime.stacking import component, to_stacked
from whole.build import Array, Program, Value
from whole.traced import Traced
from whole.verdict import CRASHED, REFUSALS, RIGHT, WRONG, Outcome, Runnable, difference, examine, last_frame


def examine_everywhere(program: Program | Traced, *, round_trip: bool = False, exported: bool = False) -> Outcome:
    """What comes of a program in one process, and with one device a process and with as few processes as divide it."""
    found = examine(program, round_trip=round_trip, exported=exported)
    size = math.prod(program.mesh.values())
    few = next((number for number in range(2, size) if can_share(program, number)), size)
    for processes in sorted({size, few} - {1}, reverse=True) if found.state == RIGHT else ():
        try:
            problem = spread_problem(program, processes)
        except ShardwrightError as error:
            if error.diagnostics[0].code in REFUSALS:  # the block of a process ends in the midst of a part
                continue
            return Outcome(CRASHED, str(error).split("\n")[0], found.digest)
        except Exception:  # a crash is what this looks for
            return Outcome(CRASHED, f"on {processes} processes: {last_frame()}", found.digest)
        if problem:
            return Outcome(WRONG, problem, found.digest)
    return found


def can_share(program: Program | Traced, processes: int) -> bool:
    """Whether each of so many processes can hold a box of the program's mesh."""
    try:
        return bool(Mesh(program.mesh).client_borders(processes))
    except ShardwrightError:
        return False


def spread_problem(program: Runnable, processes: int) -> str:
    """What is wrong with a program on so many processes, which divide its mesh."""
    _, local = partitioned(program.text)
    alone = compile_module(local.clone(), fused=False)
    if alone.mesh is None:  # traced without any layout
        return ""
    whole = run_alone(program, alone)
    found = on_processes(processes, lambda communicator: part_problem(program, local, whole, communicator))
    problem = next((problem for problem, _ in found if problem), "")
    return problem or bytes_problem(alone.ledger.sent_bytes, alone.mesh, [sent for _, sent in found])


def run_alone(program: Runnable, executable: Executable) -> list[Array]:
    """What each device of one process has of the results: partial ones may be summed in more ways than one."""
    return _run(program, executable, executable.mesh)


def _run(program: Runnable, executable: Executable, mesh: Mesh | None) -> list[Array]:
    assert mesh is not None
    pairs = zip(program.inputs, executable.inputs, strict=True)
    inputs = [to_stacked(array, port.spec, mesh) for array, port in pairs]
    return [np.asarray(result) for result in executable.run_stacked(inputs)]


def part_problem(
    program: Runnable, local: ModuleOp, whole: Sequence[Array], communicator: Communicator
) -> tuple[str, int]:
    """What is wrong with the part of this process, whose communicator this is, and the bytes that it sent."""
    executable = compile_module(local.clone(), communicator=communicator, threads=1)
    before = communicator.sent_bytes
    assert executable.mesh is not None
    mine = executable.mesh.seen_by(communicator.clients)
    results = _run(program, executable, mine)
    return next(_differences(program.results, executable, mine, whole, results), ""), communicator.sent_bytes - before


def bytes_problem(predicted: Fraction, mesh: Mesh, sent: Sequence[int]) -> str:
    """With one device a process all that was predicted was handed over; within a process nothing has to be sent."""
    due, total = predicted * mesh.size, sum(sent)
    if total > due or (len(sent) == mesh.size and total != due):
        return f"bytes: {total} sent between {len(sent)} processes, {due} predicted"
    return ""


def _differences(
    values: Sequence[Value], executable: Executable, mine: Mesh, whole: Sequence[Array], results: Sequence[Any]
) -> Iterator[str]:
    assert executable.mesh is not None
    for number, (value, port) in enumerate(zip(values, executable.outputs, strict=True)):
        for device in mine.local_device_ids:
            known = _without_padding(port, executable.mesh, device)
            held = component(results[number], mine, device)[known]
            due = replace(value, array=component(whole[number], executable.mesh, device)[known])
            if problem := difference(held, due, "one process gives"):
                yield f"result {number} ({value.name}) {problem} on process {mine.clients.place} of {mine.num_clients}"


def _without_padding(port: Port, mesh: Mesh, device: int) -> tuple[slice, ...]:
    """What is valid of a device's part."""
    coordinates = dict(zip(mesh.axis_names, map(int, np.unravel_index(device, mesh.shape)), strict=True))
    return tuple(slice(stop - start) for start, stop in box(port.spec, port.whole, mesh, coordinates))
