"""
The plan of a run: units in order, each with the windows that it reads and writes.

A unit is a fused group of element-wise steps (`Tile`), a matrix product, a reduction, a copy, a kernel call or an entry
in the ledger. Views are no units; they are folded into windows. What depends on no input is computed while planning.
"""

from __future__ import annotations

import heapq
from collections import ChainMap
from collections.abc import Container, Iterable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, TypeGuard, cast

import numpy as np

from shardwright.runtime.codegen import plain as codegen
from shardwright.runtime.fusing.boxes import Paste, is_box, pastes_over, plan_box
from shardwright.runtime.fusing.chains import ChainBuilder
from shardwright.runtime.fusing.contraction import fold_device_sums
from shardwright.runtime.fusing.fusion import Fuser, Group
from shardwright.runtime.fusing.products import Batch, Product, plan_product
from shardwright.runtime.fusing.tiles import Tile, plan_tile
from shardwright.runtime.planning.control import draft_of, hosted, is_whole
from shardwright.runtime.planning.memory import Placed, Room, assign_offsets
from shardwright.runtime.planning.storage import Buffer, Copy, Home, Storage, Window, place_outputs
from shardwright.runtime.planning.strided import Strided
from shardwright.runtime.planning.trimming import trim
from shardwright.runtime.planning.units import Branch, Kernel, Loop, Part, Sum, Tally, Test, Unit, inner_parts, touched
from shardwright.runtime.planning.wishes import find_wishes
from shardwright.runtime.program import LARGEST_CONSTANT, VIEWS, Kind, Program, Step, Value, root_of

LARGEST = 5
"""How many of the values that take most memory are known by name."""

MUCH = 0.9
"""Products that go one by one take two or three hundredths longer where threads share several at a time."""


@dataclass(frozen=True)
class Held:
    """A value that has memory of its own: the op that makes it, where, and the bytes of it on all devices."""

    bytes: int
    name: str
    location: str


@dataclass
class Plan:
    """
    Units in order, the windows of the results, and where each buffer of the arena starts.

    `largest` are the values that take most of it, without those of loops and branches.
    """

    units: list[Unit] = field(default_factory=list[Unit])
    outputs: list[Window] = field(default_factory=list[Window])
    offsets: dict[Buffer, int] = field(default_factory=dict[Buffer, int])
    arena_bytes: int = 0
    peak_bytes: int = 0
    largest: tuple[Held, ...] = ()


def make_plan(program: Program, inputs: Sequence[Strided], outputs: Sequence[Strided], threads: int = 1) -> Plan:
    """The plan, for so many threads, of a program whose stacked arguments and results lie in these global arrays."""
    trim(program)
    fold_device_sums(program)
    storage = Storage()
    for index, (value, strided) in enumerate(zip(program.inputs, inputs, strict=True)):
        storage.homes[value] = Window(Buffer(Home.INPUT, value.dtype, strided.size, index), strided)
    for value, array in program.arrays.items():
        storage.homes[value] = _constant_window(array)
    targets = [
        Window(Buffer(Home.OUTPUT, value.dtype, strided.size, index), strided)
        for index, (value, strided) in enumerate(zip(program.outputs, outputs, strict=True))
    ]
    planner = Planner(program, storage, dict(program.arrays), targets)
    planner.run()
    planner.place_results()
    plan = Plan(planner.units, targets)
    _place_buffers(plan)
    _settle(plan.units, plan.offsets, threads)
    plan.largest = _largest(plan.offsets, storage)
    return plan


def held_by(values: Iterable[Value]) -> tuple[Held, ...]:
    """The values that take most memory, the largest first, where each has an array of its own."""
    return tuple(_held(value, value.nbytes) for value in heapq.nlargest(LARGEST, values, key=attrgetter("nbytes")))


def _largest(buffers: Iterable[Buffer], storage: Storage) -> tuple[Held, ...]:
    """The largest buffers, each called by the first value that lies in it."""
    values: dict[Buffer, Value] = {}
    for value, window in storage.homes.items():
        values.setdefault(window.buffer, value)
    found = heapq.nlargest(LARGEST, buffers, key=attrgetter("nbytes"))
    return tuple(_held(values.get(buffer), buffer.nbytes) for buffer in found)


def _held(value: Value | None, size: int) -> Held:
    step = None if value is None else value.producer
    return Held(size, step.name, step.location) if step else Held(size, "an operand's copy, or what a loop holds", "")


class Planner:
    """
    Plans one program: the function's, or that of a loop or a branch inside of another.

    `targets` are the windows where its results are to be; `homes` are kept in `storage`, `constants` by value.
    """

    def __init__(
        self,
        program: Program,
        storage: Storage,
        constants: MutableMapping[Value, np.ndarray[Any, Any]],
        targets: Sequence[Window],
    ) -> None:
        self.program, self.storage, self.constants, self.targets = program, storage, constants, targets
        self.units: list[Unit] = []
        self.fuser = Fuser(self._emit_group, lambda value: self._window(value).strided)
        self.readers = _readers(program)
        self.made = {result for step in program.steps for result in step.results}
        self.storage.wishes = find_wishes(program, [window.strided for window in targets])
        place_outputs(program, storage, targets)

    def _inside(self, program: Program, homes: Mapping[Value, Window], targets: Sequence[Window]) -> Planner:
        """A planner for the program of a loop or a branch, which sees what lies outside of it."""
        storage = Storage(ChainMap(dict(homes), cast("dict[Value, Window]", self.storage.homes)))
        constants = ChainMap({}, cast("dict[Value, np.ndarray[Any, Any]]", self.constants))
        return Planner(program, storage, constants, targets)

    def run(self) -> None:
        """Plans all steps."""
        for step in self.program.steps:
            if not self._folded(step):
                self._plan_step(step)
        self.fuser.close_all()

    def place_results(self) -> None:
        """Copies those results that were not made in their place."""
        for value, placed in zip(self.program.outputs, self.targets, strict=True):
            source = self._window(value)
            if source != placed:
                self.units.append(Copy(placed, source))

    def _folded(self, step: Step) -> bool:
        """Computes a step that depends on no input."""
        if not step.results or not all(result.constant for result in step.results):
            return False
        if not all(operand.splat is not None or operand in self.constants for operand in step.operands):
            return False
        size = max(result.nbytes for result in step.results)
        if size > LARGEST_CONSTANT and step.kind not in VIEWS:
            for result in step.results:
                result.constant = False
            return False
        # A kernel may leave out leading dims along which its result is the same.
        array = np.broadcast_to(codegen.evaluate(step, self.constants, self.program), step.results[0].shape)
        self.constants[step.results[0]] = array
        self.storage.homes[step.results[0]] = _constant_window(array)
        return True

    def _plan_step(self, step: Step) -> None:
        if step.kind in VIEWS:
            return
        if step.kind is Kind.COUNT:
            self._tally(step)
            return
        if step.kind is Kind.FENCE:
            self.fuser.close_for(step.operands)
            return
        if step.kind in (Kind.POINTWISE, Kind.REDUCE) and self.fuser.join(step):
            return
        self.fuser.close_for(step.operands)
        if is_box(step):
            self.units.append(plan_box(step, self._window, self._target(step.results[0])))
            return
        sources = [self._window(operand) for operand in step.operands]
        if step.kind is Kind.LOOP:
            self.units.append(self._loop(step, sources))
        elif step.kind is Kind.BRANCH:
            self.units.append(self._branch(step, sources))
        elif step.kind is Kind.TEST:
            self.units.append(Test(sources[0]))
        elif step.kind is Kind.DOT:
            self.units += plan_product(step, sources[0], sources[1], self.storage)
        elif step.kind is Kind.REDUCE:
            target = self._target(step.results[0])
            self.units.append(Sum(step.name, sources[0], step.static[0], target, step.location))
        elif step.kind is Kind.SEND:
            self.units.append(Kernel(step, sources, [self._wished(step.results[0])]))
        else:
            self.units.append(Kernel(step, sources, [self._target(result) for result in step.results]))

    def _tally(self, step: Step) -> None:
        known = self.storage.homes
        sources: list[Window | Value] = [known.get(operand, operand) for operand in step.operands]
        self.units.append(Tally(step.static[0], sources, step.location))

    def _loop(self, step: Step, sources: Sequence[Window]) -> Loop:
        """The unit of a loop; `sources` are where its operands lie."""
        program, (name, rounds) = step.programs[0], step.static
        count = len(program.inputs)
        places = [self._place(step, at, sources[at]) for at in range(count)]
        starts = [(place, source) for place, source in zip(places, sources, strict=False) if place != source]
        self.units += [Copy(place, source) for place, source in starts]
        drafts = [draft_of(place) for place in places]
        inner = self._inside(program, dict(zip(program.inputs, places, strict=True)), drafts)
        inner.run()
        moves = inner.moves_to(places)
        outside = [*places, *sources[count:]]
        part = Part(_batched(inner.units))
        part.hosted = hosted(part.units, places, drafts, {window.buffer for window in outside})
        # A draft that is the place already need not be moved there, nor the value that it updates be copied first.
        kept = [move for move in moves if part.hosted.get(move.source.buffer) is not move.target.buffer]
        part.units = [unit for unit in part.units if not _is_idle(unit, part)] + kept
        return Loop(part, outside, _workspace([part], outside), name, rounds, program, step.location)

    def _branch(self, step: Step, sources: Sequence[Window]) -> Branch:
        """The unit of a branch; `sources` are where its index and the values from outside lie."""
        places = [self._target(result) for result in step.results]
        outside = [*places, *sources[1:]]
        parts: list[Part] = []
        for program in step.programs:
            inner = self._inside(program, {}, places)
            inner.run()
            inner.place_results()
            parts.append(Part(_batched(inner.units)))
        name, numbers = step.static
        return Branch(sources[0], parts, outside, _workspace(parts, outside), name, numbers, step.location)

    def _place(self, step: Step, at: int, source: Window) -> Window:
        """Where a carried value lies: where the result is to be, or where the value starts if nobody else needs it."""
        result = step.results[at]
        if result not in self.storage.homes and self._is_free(step, step.operands[at], source):
            self.storage.homes[result] = source
        return self._target(result)

    def _is_free(self, step: Step, value: Value, window: Window) -> bool:
        """Whether a value is made in this program in a buffer of its own, for this one use."""
        root = root_of(value)
        uses = sum(root_of(operand) is root for operand in step.operands)
        own = window.buffer.home is Home.ARENA and is_whole(window) and root in self.made
        return own and uses == 1 and self.readers.get(root) == {step}

    def moves_to(self, places: Sequence[Window]) -> list[Copy]:
        """What is left to move at the end of a round; what another move would overwrite is drafted first."""
        held = {place.buffer for place in places}
        moves: list[Copy] = []
        for value, place, draft in zip(self.program.outputs, places, self.targets, strict=True):
            source = self._window(value)
            if source.buffer in held:
                self.units.append(Copy(draft, source))
                source = draft
            moves.append(Copy(place, source))
        return moves

    def _target(self, value: Value) -> Window:
        """Where a value is to be made: its place if it has one, else a new buffer."""
        return self.storage.homes.get(value) or self.storage.new(value)

    def _wished(self, value: Value) -> Window:
        """The same for a value that can be made in any order: that which its readers wish."""
        wish = self.storage.wishes.get(value, ())
        front = [dim for dim, extent in enumerate(value.shape) if extent <= 1]
        order = (*front, *wish) if len(front) + len(wish) == len(value.shape) else None
        return self.storage.homes.get(value) or self.storage.new(value, order)

    def _window(self, value: Value) -> Window:
        """Where a value lies; if it first has to be moved, that is a unit."""
        window = self.storage.window(value)
        self.units += self.storage.copies
        self.storage.copies.clear()
        return window

    def _emit_group(self, group: Group) -> None:
        members = set(group.members)
        wanted = [s.results[0] for s in group.members if self.readers.get(s.results[0], set()) - members]
        reads = {value: self._window(value) for value, _ in group.reads}
        self.units.append(plan_tile(group, reads, wanted, self.storage))


def _is_idle(unit: Unit, part: Part) -> bool:
    """Whether a unit copies a value to where it lies."""
    return isinstance(unit, Copy) and part.hosted.get(unit.target.buffer) is unit.source.buffer


def _workspace(parts: Sequence[Part], outside: Sequence[Window]) -> Window:
    """Memory in which all buffers of the parts that are not from outside find a place: one part runs at a time."""
    size = 0
    for part in parts:
        merged, hosts = _merged(_lives(part.units, {*(window.buffer for window in outside), *part.hosted}), part.units)
        placed = assign_offsets(merged, {buffer: buffer.nbytes for buffer in merged})
        part.offsets = {buffer: placed.offsets[host] for buffer, host in hosts.items()}
        size = max(size, placed.size)
    return Window(Buffer(Home.ARENA, np.dtype(np.uint8), size), Strided.dense((size,)))


@dataclass(frozen=True)
class _Placing:
    """
    Where the buffers of units start: in the arena, or in memory of a result as long as that is not written yet.

    `owned` is what each result is written over, and lies in its memory; `hosts` in whose place each buffer lies.
    """

    units: list[Unit]
    hosts: dict[Buffer, Buffer]
    owned: dict[Buffer, Buffer]
    placed: Placed[Buffer]

    @classmethod
    def of(cls, units: list[Unit], results: Sequence[Buffer]) -> _Placing:
        """What loops and branches have for themselves is placed with them, in the arena."""
        merged, hosts = _merged(_lives(units, results=set(results)), units)
        owned = {hosts[result]: result for result in results if result in hosts}
        rooms = [Room(result.nbytes, merged[host][0]) for host, result in owned.items()]
        lives = {buffer: life for buffer, life in merged.items() if buffer not in owned}
        fixed = {unit.workspace.buffer for unit, _ in inner_parts(units)}
        return cls(
            units, hosts, owned, assign_offsets(lives, {buffer: buffer.nbytes for buffer in lives}, rooms, fixed)
        )

    @property
    def peak(self) -> int:
        """The most bytes held at once, results from start to end."""
        return self.placed.peak + sum(result.nbytes for result in self.owned.values())

    def offsets(self) -> dict[Buffer, int]:
        """Where each buffer starts; from now on those that lie in a result's memory are at home there."""
        found: dict[Buffer, int] = {}
        owners = list(self.owned.values())
        for buffer, host in self.hosts.items():
            if buffer.home is Home.ARENA:
                found[buffer] = self.placed.offsets.get(host, 0)
                room = self.placed.lodged.get(host)
                owner = self.owned.get(host) if room is None else owners[room]
                if owner is not None:
                    buffer.home, buffer.index = owner.home, owner.index
        return found


def _place_buffers(plan: Plan) -> None:
    """
    Puts the units, which have products one by one, and their buffers in their places.

    Products that threads do together wait for one another once; but what the first of them reads is there until the
    last one is done, so they go one by one where that takes much less.
    """
    results = [target.buffer for target in plan.outputs]
    together = _batched(plan.units)
    found = _Placing.of(together, results)
    if any(isinstance(unit, Batch) and len(unit.products) > 1 for unit in together):
        alone = _Placing.of([Batch([unit]) if _is_shared(unit) else unit for unit in plan.units], results)
        found = alone if alone.peak < found.peak * MUCH else found
    plan.units, plan.offsets = found.units, found.offsets()
    plan.arena_bytes, plan.peak_bytes = found.placed.size, found.placed.peak


def _merged(
    lives: Mapping[Buffer, tuple[int, int]], units: Sequence[Unit]
) -> tuple[dict[Buffer, tuple[int, int]], dict[Buffer, Buffer]]:
    """How long memory is needed for buffers that lie in it one after the other, and in whose each of them lies."""
    replaced = _hosts(units, lives)
    hosts = {buffer: replaced.get(buffer, buffer) for buffer in lives}
    merged: dict[Buffer, tuple[int, int]] = {}
    for buffer, (first, last) in lives.items():
        start, end = merged.get(hosts[buffer], (first, last))
        merged[hosts[buffer]] = min(start, first), max(end, last)
    return merged, hosts


def _settle(units: list[Unit], offsets: dict[Buffer, int], threads: int) -> None:
    """Places the buffers of loops and branches, outer ones first, and forms chains."""
    for unit, part in inner_parts(units):
        start = offsets[unit.workspace.buffer]
        offsets |= {buffer: start + offset for buffer, offset in part.offsets.items()}
        for buffer, host in part.hosted.items():
            buffer.home, buffer.index = host.home, host.index
            offsets[buffer] = offsets.get(host, 0)
        _settle(part.units, offsets, threads)
    units[:] = _chained(units, offsets, threads)


def _lives(
    units: Sequence[Unit], outside: Container[Buffer] = (), results: Container[Buffer] = ()
) -> dict[Buffer, tuple[int, int]]:
    """The first and the last unit that touches each buffer of the arena, and each result, which stays."""
    lives: dict[Buffer, tuple[int, int]] = {}
    for index, unit in enumerate(units):
        for window in touched(unit):
            buffer = window.buffer
            if buffer in results or (buffer.home is Home.ARENA and buffer not in outside):
                first, _ = lives.get(buffer, (index, index))
                lives[buffer] = first, len(units) if buffer in results else index
    return lives


def _hosts(units: Sequence[Unit], lives: Mapping[Buffer, tuple[int, int]]) -> dict[Buffer, Buffer]:
    """For each buffer that a unit may write over an operand that dies there, the buffer whose bytes it takes."""
    hosts: dict[Buffer, Buffer] = {}
    for index, unit in enumerate(units):
        for target, source in _replaced(unit, index, lives):
            host = hosts.get(source, source)
            if target.home is Home.ARENA or host.nbytes <= target.nbytes:  # a result has no more memory than it needs
                hosts[target] = host
    return hosts


def _replaced(unit: Unit, index: int, lives: Mapping[Buffer, tuple[int, int]]) -> Iterator[tuple[Buffer, Buffer]]:
    """The buffers that begin with a unit, each with one that dies there and over which the unit may write it."""

    def begins(buffer: Buffer) -> bool:
        return buffer in lives and lives[buffer][0] == index

    def dies(buffer: Buffer) -> bool:
        return buffer in lives and lives[buffer][1] == index

    if isinstance(unit, Paste):
        source, target = unit.operand.buffer, unit.target.buffer
        if dies(source) and begins(target) and pastes_over(unit):
            yield target, source
    elif isinstance(unit, Tile):
        yield from unit.replacements(begins, dies)


def _batched(units: Sequence[Unit]) -> list[Unit]:
    """The units with neighbouring products that threads share in one `Batch`, where they are independent."""
    found: list[Unit] = []
    for unit in units:
        last = found[-1] if found else None
        if not _is_shared(unit):
            found.append(unit)
        elif isinstance(last, Batch) and last.takes(unit):
            last.products.append(unit)
        else:
            found.append(Batch([unit]))
    return found


def _is_shared(unit: Unit) -> TypeGuard[Product]:
    """Whether threads share a product."""
    return isinstance(unit, Product) and unit.axis is not None


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


def _constant_window(array: np.ndarray[Any, Any]) -> Window:
    """The window of a constant array; repeated dims stay repeated."""
    strides = tuple(step if extent > 1 else 0 for extent, step in zip(array.shape, array.strides, strict=True))
    kept = tuple(slice(0, 1) if step == 0 else slice(None) for step in strides)
    dense = np.array(array[kept], order="C")
    window = Strided.dense(dense.shape).broadcast(array.shape)
    return Window(Buffer(Home.CONSTANT, array.dtype, dense.size, constant=dense), window)


def _readers(program: Program) -> dict[Value, set[Step | None]]:
    """For each value the steps that read it, through views too; `None` stands for the program's results."""
    readers: dict[Value, set[Step | None]] = {}
    for step in program.steps:
        if step.kind not in VIEWS and step.kind not in (Kind.COUNT, Kind.FENCE):
            for operand in step.operands:
                readers.setdefault(root_of(operand), set()).add(step)
    for value in program.outputs:
        readers.setdefault(root_of(value), set()).add(None)
    return readers
