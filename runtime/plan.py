"""
The plan of a run: units in order, each with the windows that it reads and writes.

A unit is a fused group of element-wise steps (`Tile`), a matrix product, a reduction, a copy, a kernel call or an entry
in the ledger. Views are no units; they are folded into windows. What depends on no input is computed while planning.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from shardwright.runtime import codegen
from shardwright.runtime.chains import Chain, ChainBuilder
from shardwright.runtime.contraction import fold_device_sums
from shardwright.runtime.fusion import Fuser, Group
from shardwright.runtime.ledger import Message
from shardwright.runtime.memory import assign_offsets
from shardwright.runtime.products import Batch, Product, plan_product
from shardwright.runtime.program import VIEWS, Kind, Program, Step, Value
from shardwright.runtime.storage import Buffer, Copy, Home, Storage, Window, place_outputs
from shardwright.runtime.strided import Strided
from shardwright.runtime.tiles import Tile, plan_tile
from shardwright.runtime.wishes import find_wishes

LARGEST_CONSTANT = 1 << 26
"""Bytes above which a value that depends on no input is computed in each run all the same."""


@dataclass(eq=False)
class Sum:
    """A reduction that joined no group."""

    kind: str
    source: Window
    dims: tuple[int, ...]
    target: Window
    location: str


@dataclass(eq=False)
class Kernel:
    """A call of a kernel of `runtime.kernels_shape`."""

    step: Step
    sources: list[Window]
    targets: list[Window]


@dataclass(eq=False)
class Tally:
    """An entry in the ledger. `sources` are the buffers' windows, or their shapes where no buffer was needed."""

    message: Message
    sources: list[Window | Value]
    location: str


Unit: TypeAlias = "Tile | Product | Batch | Chain | Sum | Copy | Kernel | Tally"


@dataclass
class Plan:
    """Units in order, the windows of the results, and where each buffer of the arena starts."""

    units: list[Unit] = field(default_factory=list[Unit])
    outputs: list[Window] = field(default_factory=list[Window])
    offsets: dict[Buffer, int] = field(default_factory=dict[Buffer, int])
    arena_bytes: int = 0
    peak_bytes: int = 0


def make_plan(program: Program, inputs: Sequence[Strided], outputs: Sequence[Strided], threads: int = 1) -> Plan:
    """The plan, for so many threads, of a program whose stacked arguments and results lie in these global arrays."""
    fold_device_sums(program)
    plan = _Planner(program, inputs, outputs).run()
    plan.units = _chained(plan.units, plan.offsets, threads)
    return plan


class _Planner:
    def __init__(self, program: Program, inputs: Sequence[Strided], outputs: Sequence[Strided]) -> None:
        self.program = program
        self.storage = Storage()
        self.plan = Plan()
        self.constants = dict(program.arrays)
        self.fuser = Fuser(self._emit_group, lambda value: self._window(value).strided)
        for index, (value, strided) in enumerate(zip(program.inputs, inputs, strict=True)):
            self.storage.homes[value] = Window(Buffer(Home.INPUT, value.dtype, strided.size, index), strided)
        for value, array in program.arrays.items():
            self.storage.homes[value] = constant_window(array)
        self.readers = _readers(program)
        self.storage.wishes = find_wishes(program, outputs)
        self.placed = place_outputs(program, self.storage, outputs)

    def run(self) -> Plan:
        for step in self.program.steps:
            if not self._folded(step):
                self._plan_step(step)
        self.fuser.close_all()
        for value, placed in zip(self.program.outputs, self.placed, strict=True):
            source = self._window(value)
            if source != placed:
                self.plan.units.append(Copy(placed, source))
        self.plan.outputs = self.placed
        self._assign()
        return self.plan

    def _folded(self, step: Step) -> bool:
        """Computes a step that depends on no input."""
        if step.kind is Kind.COUNT or not all(result.constant for result in step.results):
            return False
        size = max(result.nbytes for result in step.results)
        if size > LARGEST_CONSTANT and step.kind not in VIEWS:
            for result in step.results:
                result.constant = False
            return False
        array = codegen.evaluate(step, self.constants, self.program)
        self.constants[step.results[0]] = array
        self.storage.homes[step.results[0]] = constant_window(array)
        return True

    def _plan_step(self, step: Step) -> None:
        if step.kind in VIEWS:
            return
        if step.kind is Kind.COUNT:
            self._tally(step)
            return
        if step.kind in (Kind.POINTWISE, Kind.REDUCE) and self.fuser.join(step):
            return
        self.fuser.close_for(step.operands)
        sources = [self._window(operand) for operand in step.operands]
        if step.kind is Kind.DOT:
            self._product(step, sources)
        elif step.kind is Kind.REDUCE:
            target = self._target(step.results[0])
            self.plan.units.append(Sum(step.name, sources[0], step.static[0], target, step.location))
        else:
            self.plan.units.append(Kernel(step, sources, [self._target(result) for result in step.results]))

    def _product(self, step: Step, sources: list[Window]) -> None:
        units = plan_product(step, sources[0], sources[1], self.storage)
        self.plan.units += units

    def _tally(self, step: Step) -> None:
        known = self.storage.homes
        sources: list[Window | Value] = [known.get(operand, operand) for operand in step.operands]
        self.plan.units.append(Tally(step.static[0], sources, step.location))

    def _target(self, value: Value) -> Window:
        return self.storage.homes.get(value) or self.storage.new(value)

    def _window(self, value: Value) -> Window:
        window = self.storage.window(value)
        self.plan.units += self.storage.copies
        self.storage.copies.clear()
        return window

    def _emit_group(self, group: Group) -> None:
        members = set(group.members)
        wanted = [s.results[0] for s in group.members if self.readers.get(s.results[0], set()) - members]
        reads = {value: self._window(value) for value, _ in group.reads}
        self.plan.units.append(plan_tile(group, reads, wanted, self.storage))

    def _assign(self) -> None:
        self.plan.units = _batched(self.plan.units)
        lives = _lives(self.plan.units)
        hosts = _hosts(self.plan.units, lives)
        merged: dict[Buffer, tuple[int, int]] = {}
        for buffer, (first, last) in lives.items():
            host = hosts.get(buffer, buffer)
            start, end = merged.get(host, (first, last))
            merged[host] = min(start, first), max(end, last)
        sizes = {buffer: buffer.nbytes for buffer in merged}
        offsets, self.plan.arena_bytes, self.plan.peak_bytes = assign_offsets(merged, sizes)
        self.plan.offsets = {buffer: offsets[hosts.get(buffer, buffer)] for buffer in lives}


def _lives(units: Sequence[Unit]) -> dict[Buffer, tuple[int, int]]:
    """The first and the last unit that touches each buffer of the arena."""
    lives: dict[Buffer, tuple[int, int]] = {}
    for index, unit in enumerate(units):
        for window in touched(unit):
            if window.buffer.home is Home.ARENA:
                first, _ = lives.get(window.buffer, (index, index))
                lives[window.buffer] = first, index
    return lives


def _hosts(units: Sequence[Unit], lives: Mapping[Buffer, tuple[int, int]]) -> dict[Buffer, Buffer]:
    """For each buffer that a tile may write over an operand that dies there, the buffer whose bytes it takes."""
    hosts: dict[Buffer, Buffer] = {}
    for index, unit in enumerate(units):
        if not isinstance(unit, Tile):
            continue
        taken: set[Buffer] = set()
        for write in unit.writes:
            target = write.window.buffer
            if target.home is not Home.ARENA or lives[target][0] != index:
                continue
            for source in unit.replaceable(write):
                if source.home is Home.ARENA and lives[source][1] == index and source not in taken:
                    taken.add(source)
                    hosts[target] = hosts.get(source, source)
                    break
    return hosts


def _batched(units: Sequence[Unit]) -> list[Unit]:
    """The units with neighbouring products that threads share in one `Batch`, where they are independent."""
    found: list[Unit] = []
    for unit in units:
        last = found[-1] if found else None
        if not isinstance(unit, Product) or unit.axis is None:
            found.append(unit)
        elif isinstance(last, Batch) and last.takes(unit):
            last.products.append(unit)
        else:
            found.append(Batch([unit]))
    return found


def _chained(units: Sequence[Unit], offsets: Mapping[Buffer, int], threads: int) -> list[Unit]:
    """The units with neighbours that threads can run without waiting in one `Chain`."""
    found: list[Unit] = []
    builder = ChainBuilder(offsets, threads)
    for unit in units:
        if isinstance(unit, Tally):
            found.append(unit)  # touches no memory: it may as well come before the open chain
            continue
        able = isinstance(unit, Tile | Product | Batch)
        if able and builder.take(unit):
            continue
        found += builder.close()
        if not (able and builder.take(unit)):
            found.append(unit)
    return found + list(builder.close())


def touched(unit: Unit) -> list[Window]:
    """All windows that a unit reads or writes."""
    match unit:
        case Tile():
            return [read.window for read in unit.reads] + [write.window for write in unit.writes]
        case Product():
            return [unit.lhs, unit.rhs, unit.out]
        case Batch():
            return [window for product in unit.products for window in touched(product)]
        case Chain():
            return [window for link, _ in unit.links for window in touched(link)]
        case Sum() | Copy():
            return [unit.source, unit.target]
        case Kernel():
            return [*unit.sources, *unit.targets]
        case Tally():
            return []


def constant_window(array: np.ndarray[Any, Any]) -> Window:
    """The window of a constant array; repeated dims stay repeated."""
    strides = tuple(step if extent > 1 else 0 for extent, step in zip(array.shape, array.strides, strict=True))
    kept = tuple(slice(0, 1) if step == 0 else slice(None) for step in strides)
    dense = np.array(array[kept], order="C")
    window = Strided.dense(dense.shape).broadcast(array.shape)
    return Window(Buffer(Home.CONSTANT, array.dtype, dense.size, constant=dense), window)


def _readers(program: Program) -> dict[Value, set[Step | None]]:
    """For each value the steps that read it, through views too; `None` stands for the program's results."""
    roots: dict[Value, Value] = {}
    readers: dict[Value, set[Step | None]] = {}
    for step in program.steps:
        if step.kind in VIEWS:
            source = step.operands[0]
            roots[step.results[0]] = roots.get(source, source)
        elif step.kind is not Kind.COUNT:
            for operand in step.operands:
                readers.setdefault(roots.get(operand, operand), set()).add(step)
    for value in program.outputs:
        readers.setdefault(roots.get(value, value), set()).add(None)
    return readers
