"""
Refinement: layouts move to where they send fewer bytes.

Propagation spreads what the user said; where two layouts meet at an op, somebody pays. For each op that pays,
refinement tries the layouts that the op's other strategies would like to see, for the whole stretch of values that pass
dims on to each other, and keeps a change when the bytes of all ops that it touches fall. Layouts that the user gave
never move, and no heavy op loses devices to work on (`Strategist.options`). Sweeps are bounded, and each stretch tries
a layout once a sweep.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterator
from contextlib import contextmanager

from shardwright.dialects.dtensor.hints import BarrierOp
from shardwright.layout.axes import overlap
from shardwright.passes.program import Dims, Node, Program
from shardwright.passes.propagation.alignment import bytes_sent
from shardwright.passes.propagation.ordering import structural_marks, structural_order
from shardwright.passes.propagation.spreading import Because, State, passes_dims_on
from shardwright.passes.propagation.strategy import Strategist, Strategy, overlaps
from shardwright.rules.rule import assemble

SWEEPS = 3
"""A sweep that finds nothing ends the search earlier."""

WIDE_TRIES = 16
"""So many wide moves a sweep tries, for the ops that pay most: each may touch the whole program."""

LEAST_SAVING = 0.5
"""Bytes per device below which a saving is rounding."""

Changes = dict[int, Dims]


def refine(program: Program, strategist: Strategist, state: State) -> float:
    """
    Improves `state` in place until a sweep finds nothing, `SWEEPS` times at most; what each device then sends.

    Sweeps price ops one by one; how relayouts are shared and where partial sums end is known only by aligning. So the
    state that aligns with the fewest bytes wins, which may be the one that propagation left.
    """
    refiner = _Refiner(program, strategist, state)
    order = structural_order(program, refiner.marks)
    best = bytes_sent(program, strategist, state.dims, order), list(state.dims), list(state.because)
    for _ in range(SWEEPS):
        if not refiner.sweep():
            break
        sent = bytes_sent(program, strategist, state.dims, order)
        if sent < best[0] - LEAST_SAVING:
            best = sent, list(state.dims), list(state.because)
    state.dims[:], state.because[:] = best[1:]
    return best[0]


class _Refiner:
    def __init__(self, program: Program, strategist: Strategist, state: State):
        self.program = program
        self.strategist = strategist
        self.state = state
        bars = [isinstance(node.op, BarrierOp) for node in program.nodes]
        self.carries = [passes_dims_on(node.rule) and not bar for node, bar in zip(program.nodes, bars, strict=True)]
        heavy = [node.rule.heavy or bar for node, bar in zip(program.nodes, bars, strict=True)]
        self.light = [carries or not rests for carries, rests in zip(self.carries, heavy, strict=True)]
        self.marks = structural_marks(program)
        self.stretch = _stretches(program, self.carries)
        self.alone: dict[int, dict[tuple[tuple[int, ...], Dims], float]] = {}
        self.failed: set[frozenset[tuple[int, tuple[int, ...], Dims]]] = set()
        self.wide_tries = WIDE_TRIES
        self.failed_widely: set[frozenset[tuple[int, tuple[int, ...], Dims]]] = set()

    def sweep(self) -> bool:
        """Tries to improve each op that pays; whether any change was kept."""
        self.alone.clear()
        self.failed.clear()
        self.failed_widely.clear()
        self.wide_tries = WIDE_TRIES
        best = self.strategist.best
        priced = ((node.scope.weight * best(node, self.state.dims)[0], node) for node in self.program.nodes)
        paying = [(cost, node) for cost, node in priced if cost > 0]
        kept = False
        for _, node in sorted(paying, key=lambda pair: (-pair[0], self.marks[pair[1].index], pair[1].index)):
            cost, chosen = best(node, self.state.dims)
            if cost > 0:
                kept = self._improve(node, chosen) or kept
        return kept

    def _improve(self, node: Node, chosen: Strategy) -> bool:
        best: tuple[float, Changes] | None = None
        for wishes in self._wishes(node, chosen):
            changes = self._spread(wishes)
            saved = self._saved(changes)
            self._remember(wishes, saved)
            if saved > LEAST_SAVING and (best is None or saved > best[0]):
                best = saved, changes
        best = best or self._widely(node, chosen)
        if best is None:
            return False
        saved, changes = best
        text = f"moved at {node.op.name} to send {saved:.0f} bytes less per device"
        for value, dims in changes.items():
            self.state.dims[value] = dims
            self.state.because[value] = Because(node, None, text)
            self.alone.pop(self.stretch[value], None)
        return True

    def _wishes(self, node: Node, chosen: Strategy) -> Iterator[Changes]:
        """Layouts that the op's strategies would like for its values, one by one and together, where they may pay."""
        for option in self._ways(node, chosen):
            liked = zip(node.values, option.operands + option.results, strict=True)
            wishes = {value: dims for value, dims in liked if self._may_become(value, dims)}
            for value, dims in wishes.items():
                if self._alone(value, dims) > LEAST_SAVING:
                    yield {value: dims}
            if len(wishes) > 1 and self._key(wishes) not in self.failed and self._together(node, wishes) > LEAST_SAVING:
                yield wishes

    def _widely(self, node: Node, chosen: Strategy) -> tuple[float, Changes] | None:
        """The best of the op's wishes when all that light ops connect moves along: across broadcasts, reductions."""
        best: tuple[float, Changes] | None = None
        for option in self._ways(node, chosen):
            liked = zip(node.values, option.operands + option.results, strict=True)
            wishes = {value: dims for value, dims in liked if self._may_become(value, dims)}
            key = self._key(wishes)
            if not wishes or key in self.failed_widely or self.wide_tries == 0:
                continue
            self.wide_tries -= 1
            changes = self._spread(wishes, self.light)
            saved = self._saved(changes)
            if saved > LEAST_SAVING and (best is None or saved > best[0]):
                best = saved, changes
            elif saved <= LEAST_SAVING:
                self.failed_widely.add(key)
        return best

    def _ways(self, node: Node, chosen: Strategy) -> list[Strategy]:
        """The op's strategies; for a heavy one also those that differ from the chosen one in one axis."""
        options = list(self.strategist.options(node, self.state.dims))
        return options + self.strategist.neighbours(node, chosen) if node.rule.heavy else options

    def _key(self, wishes: Changes) -> frozenset[tuple[int, tuple[int, ...], Dims]]:
        return frozenset((self.stretch[value], self.program.shapes[value], dims) for value, dims in wishes.items())

    def _remember(self, wishes: Changes, saved: float) -> None:
        """What the wishes really save, so that nobody tries them again in vain while nothing has changed."""
        if len(wishes) == 1:
            ((value, dims),) = wishes.items()
            self.alone.setdefault(self.stretch[value], {})[self.program.shapes[value], dims] = saved
        elif saved <= LEAST_SAVING:
            self.failed.add(self._key(wishes))

    def _alone(self, value: int, dims: Dims) -> float:
        """What moving the value's stretch would save; looked at once a sweep for all values of the stretch."""
        known = self.alone.setdefault(self.stretch[value], {})
        key = self.program.shapes[value], dims
        if key not in known:
            known[key] = self._saved(self._spread({value: dims}))
        return known[key]

    def _together(self, node: Node, wishes: Changes) -> float:
        """An estimate of what several moves would save: each alone, plus what they do for each other at `node`."""
        before = self._cost_with(node, {})
        alone = sum(self._alone(value, dims) for value, dims in wishes.items())
        apart = sum(before - self._cost_with(node, {value: dims}) for value, dims in wishes.items())
        return alone - apart + before - self._cost_with(node, wishes)

    def _cost_with(self, node: Node, changes: Changes) -> float:
        with self._changed(changes):
            return self._cost_of({node.index: node})

    @contextmanager
    def _changed(self, changes: Changes) -> Generator[None]:
        """The state with some values' dims changed, for as long as the block lasts."""
        old = {value: self.state.dims[value] for value in changes}
        for value, dims in changes.items():
            self.state.dims[value] = dims
        yield
        for value, dims in old.items():
            self.state.dims[value] = dims

    def _may_become(self, value: int, dims: Dims) -> bool:
        """
        Whether these dims are a change that we may make: nothing that is split may end up split less.

        Otherwise the fewest bytes would often be no parallelism at all: every device doing everything.
        """
        if dims == self.state.dims[value] or not self._may_move(value):
            return False
        reserved, mesh = self.program.reserved[value], self.program.mesh
        if reserved and any(overlaps(axis, reserved, mesh) for axes in dims for axis in axes):
            return False
        old, new = ([axis for axes in each for axis in axes] for each in (self.state.dims[value], dims))
        keeps_axes = {axis.name for axis in old} <= {axis.name for axis in new}
        return keeps_axes and self.program.mesh.group_size(old) <= self.program.mesh.group_size(new)

    def _may_move(self, value: int) -> bool:
        """Whether all of the value's layout is ours to choose."""
        return not self.program.free[value] and self.program.given[value] is None

    def _spread(self, wishes: Changes, along: list[bool] | None = None) -> Changes:
        """The wishes and what follows from them along some ops: those that pass dims on, if nothing else is said."""
        along = self.carries if along is None else along
        changes: Changes = dict(wishes)
        waiting = deque(wishes)
        while waiting:
            value = waiting.popleft()
            producer = self.program.producers[value]
            for node in (*self.program.users[value], *((producer,) if producer else ())):
                if along[node.index]:
                    waiting.extend(self._follow(node, value, changes))
        return changes

    def _follow(self, node: Node, moved: int, changes: Changes) -> list[int]:
        """Moves the other values of `node` along with `moved`; returns those that changed."""
        rule, tensors = node.rule, node.rule.tensors()
        place = node.values.index(moved)
        axes, exact = self.strategist.project(rule, place, changes[moved])
        if not exact:
            return []
        ruled = {factor for factors in tensors[place] for factor in factors}
        followers: list[int] = []
        for other, (value, tensor) in enumerate(zip(node.values, tensors, strict=True)):
            if value in changes:
                continue
            now, _ = self.strategist.project(rule, other, self.state.dims[value])
            wanted = {factor: old for factor, old in now.items() if factor not in ruled} | axes
            dims = tuple(self.strategist.spell(dim) for dim in assemble(wanted, tensor, rule.sizes, self.program.mesh))
            if self._may_become(value, dims) and self._is_legal(dims):
                changes[value] = dims
                followers.append(value)
        return followers

    def _is_legal(self, dims: Dims) -> bool:
        flat = [axis for axes in dims for axis in axes]
        sizes = self.program.mesh.sizes
        return not any(overlap(a, b, sizes[a.name]) for i, a in enumerate(flat) for b in flat[:i])

    def _saved(self, changes: Changes) -> float:
        """The bytes that all touched ops save."""
        touched: dict[int, Node] = {}
        for value in changes:
            producer = self.program.producers[value]
            for node in (*self.program.users[value], *((producer,) if producer else ())):
                touched[node.index] = node
        before = self._cost_of(touched)
        with self._changed(changes):
            return before - self._cost_of(touched)

    def _cost_of(self, nodes: dict[int, Node]) -> float:
        return sum(node.scope.weight * self.strategist.best(node, self.state.dims)[0] for node in nodes.values())


def _stretches(program: Program, carries: list[bool]) -> list[int]:
    """For each value the number of its stretch: values connected by ops that pass dims on."""
    parent = list(range(len(program.values)))

    def find(value: int) -> int:
        while parent[value] != value:
            parent[value] = parent[parent[value]]
            value = parent[value]
        return value

    for node in program.nodes:
        if carries[node.index]:
            movable = [value for value in node.values if not program.free[value] and program.given[value] is None]
            for value in movable[1:]:
                parent[find(value)] = find(movable[0])
    return [find(value) for value in range(len(parent))]
