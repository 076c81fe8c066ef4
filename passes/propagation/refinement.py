"""
Refinement: layouts move to where they send fewer bytes.

Propagation spreads what the user said; where two layouts meet at an op, somebody pays. For each op that pays,
refinement tries the layouts that the op's other strategies would like to see, for the whole stretch of values that pass
dims on to each other, and keeps a change when the bytes of all ops that it touches fall. Layouts that the user gave
never move, and no heavy op loses devices to work on (`Strategist.options`). Sweeps are bounded, and each stretch tries
a layout once a sweep.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from typing import NamedTuple, TypeVar

from shardwright.dialects.dtensor.hints import BACKWARD, FORWARD, BarrierOp
from shardwright.dialects.text.locations import where
from shardwright.layout.axes import overlap
from shardwright.layout.words import dims_in_words
from shardwright.passes.program import Dims, Node, Program
from shardwright.passes.propagation.alignment import bytes_sent, counted
from shardwright.passes.propagation.spreading import Because, State, passes_dims_on
from shardwright.passes.propagation.strategy import LEAST_SAVING, Strategist, Strategy
from shardwright.passes.propagation.structure.ordering import structural_marks, structural_order
from shardwright.rules.rule import Rule, assemble

SWEEPS = 3
"""
A sweep that finds nothing ends the search earlier.

The bound keeps time linear in the program. The first sweep finds nearly all: on the programs that the benchmarks
export one sweep sends what five send; the others are for moves that a move in another place has made worth while.
"""

WIDE_TRIES = 16
"""
So many wide moves a sweep tries, for the ops that pay most.

Each may touch the whole program, so one for every op that pays would take quadratic time. None at all is too few: a
mixture of experts then sends half as much again, since its layouts meet across broadcasts and reductions.
"""

COUNTED = 256
"""
So many ops are aligned over again, at most, for moves whose saving only counting shows.

So a program of a few ops is searched, and a larger one takes no longer for it.
"""

Changes = dict[int, Dims]
Wishes = frozenset[tuple[int, tuple[int, ...], Dims]]
"""What is wished for, by stretches: their numbers, the shape of a value, and its dims."""


class Ground:
    """What refinement knows of a program whatever its layouts are, so that no start has to find it again."""

    def __init__(self, program: Program):
        # A barrier is where the user wants two sides to be decided on their own: no move goes through it.
        bars = [isinstance(node.op, BarrierOp) for node in program.nodes]
        self.bars = {node.index for node, bar in zip(program.nodes, bars, strict=True) if bar}
        self.carries = [passes_dims_on(node.rule) and not bar for node, bar in zip(program.nodes, bars, strict=True)]
        heavy = [node.rule.heavy or bar for node, bar in zip(program.nodes, bars, strict=True)]
        # Wide moves stop at heavy ops: these have strategies worth weighing, while a light op does best to go along.
        self.light = [carries or not rests for carries, rests in zip(self.carries, heavy, strict=True)]
        self.marks = structural_marks(program)
        # Not the order of the text: relayouts are shared with whoever asks first, and equal programs must be priced
        # alike.
        self.order = structural_order(program, self.marks)
        self.stretch = _stretches(program, self.carries)
        self.met = [frozenset(self.stretch[value] for value in node.values) for node in program.nodes]
        """The stretches at each node."""
        self.around = [tuple([node.index for node in around]) for around in program.around]
        """The nodes around each value, by number: a wide try goes through all of a program."""
        self.situations: dict[object, int] = {}
        """Numbers for each kind of node with some layouts around it."""
        self.followers: dict[tuple[int, int, Dims], list[tuple[int, Dims]]] = {}
        """What follows at a node in a situation when the value at one of its places moves."""


def refine(
    program: Program, strategist: Strategist, state: State, sent: float | None = None, ground: Ground | None = None
) -> float:
    """
    Improves `state` in place until a sweep finds nothing, `SWEEPS` times at most; what each device then sends.

    Sweeps price ops one by one; how relayouts are shared and where partial sums end is known only by aligning. So the
    state that aligns with the fewest bytes wins, which may be the one that propagation left; `sent` is what that one
    sends, and `ground` what is known of the program, if they are there already.
    """
    ground = ground or Ground(program)
    refiner, order = _Refiner(program, strategist, state, ground), ground.order
    # The start takes part, so that refinement can only win.
    sent = bytes_sent(program, strategist, state.dims, order) if sent is None else sent
    best = sent, list(state.dims), list(state.because)
    for _ in range(SWEEPS):
        if not refiner.sweep():
            break
        sent = bytes_sent(program, strategist, state.dims, order)
        if sent < best[0] - LEAST_SAVING:
            best = sent, list(state.dims), list(state.because)
    state.dims[:], state.because[:] = best[1:]
    return best[0]


def search(program: Program, strategist: Strategist, state: State, ground: Ground) -> None:
    """
    Moves that pay because of a copy that another op pays for: each is tried by counting what would be sent.

    Sweeps cannot see them, since they price each op as if it were alone.
    """
    tries = COUNTED // max(1, len(program.nodes))
    refiner = _Refiner(program, strategist, state, ground)
    refiner.search(lambda: counted(program, strategist, state.dims, ground.order).sent, tries)


class _Tried(NamedTuple):
    """What changes would save, the stretches around, and after how many moves that was found."""

    saved: float
    met: frozenset[int]
    moves: int


Key = TypeVar("Key")


class _Refiner:
    def __init__(self, program: Program, strategist: Strategist, state: State, ground: Ground):
        self.program = program
        self.strategist = strategist
        self.state = state
        self.ground = ground
        self.stretch = ground.stretch
        self.alone: dict[int, dict[tuple[tuple[int, ...], Dims], _Tried]] = {}
        self.failed: dict[Wishes, _Tried] = {}
        self.wide_tries = WIDE_TRIES
        self.failed_widely: dict[Wishes, _Tried] = {}
        self.known_widely: dict[Wishes, _Tried] = {}
        self.situations: dict[int, int] = {}
        """The situations of nodes in the state at hand, as far as they were asked for."""
        self.costs: dict[int, float] = {}
        """What ops send in the state at hand, as far as it was asked for."""
        self.moves = 0
        self.moved: dict[int, int] = {}
        """For each stretch that has moved, which move was its last."""
        self.swept = 0
        """The last move before the sweep at hand."""

    def sweep(self) -> bool:
        """Tries to improve each op that pays; whether any change was kept."""
        # What failed in the last sweep may pay now, if what it met with there has moved since.
        recent = {stretch for stretch, move in self.moved.items() if move > self.swept}
        self.alone = {stretch: self._still(tried, recent) for stretch, tried in self.alone.items()}
        self.failed, self.known_widely = self._still(self.failed, recent), self._still(self.failed_widely, recent)
        self.failed_widely = {}
        self.swept, self.wide_tries = self.moves, WIDE_TRIES
        paying = [(cost / node.times, node) for node in self.program.nodes if (cost := self._cost(node)) > 0]
        kept = False
        # The dearest first, since they have the first go at the few wide tries. Equal ones go by where they stand in
        # the graph: by their place in the text, the order in which a program is written would change its layouts.
        for _, node in sorted(paying, key=lambda pair: (-pair[0], self.ground.marks[pair[1].index], pair[1].index)):
            # An op that an earlier move has helped has nothing to ask for any more.
            if self._cost(node) > 0:
                kept = self._improve(node, self.strategist.best(node, self.state.dims)[1]) or kept
        return kept

    def _improve(self, node: Node, chosen: Strategy) -> bool:
        # Wide moves are for where no stretch alone saves anything: they cost more to try, and undo more.
        best = self._narrowly(node, chosen) or self._widely(node, chosen)
        if best is not None:
            self._move(node, *best)
        return best is not None

    def _move(self, node: Node, saved: float, changes: Changes) -> None:
        """Makes changes for the sake of a node, and forgets what is no longer so."""
        self.moves += 1
        place = where(node.op)
        less = f"{saved:,.0f} bytes less per device{self.program.counting}"
        moved = f"moved at {node.op.name}{f' at {place}' if place else ''} to send {less}"
        for value, dims in changes.items():
            before = dims_in_words(self.state.dims[value])
            self.state.dims[value] = dims
            self.state.because[value] = Because(node, None, f"{moved}; without that it would be {before}")
            self.alone.pop(self.stretch[value], None)
            self.moved[self.stretch[value]] = self.moves
            for index in self.ground.around[value]:
                self.costs.pop(index, None)
                self.situations.pop(index, None)

    def search(self, count: Callable[[], float], tries: int) -> None:
        """Makes the moves that `count` likes best, for ops that may read what another op has copied; so many tries."""
        wanted = Counter(value for node in self.program.nodes for value in self._copies(node)) if tries else {}
        paying = [node for node in self.program.nodes if self._cost(node) > 0]
        sent = count() if wanted else 0.0
        for node in sorted(paying, key=lambda node: (-self._cost(node), self.ground.marks[node.index], node.index)):
            own = Counter(self._copies(node))
            if not any(wanted.get(value, 0) > own[value] for value in node.operands):
                continue
            best: tuple[float, Changes] | None = None
            for changes in self._moves(node):
                if tries == 0:
                    break
                tries -= 1
                with self._changed(changes):
                    best = _better(best, sent - count(), changes)
            if best is not None:
                self._move(node, *best)
                sent -= best[0]

    def _copies(self, node: Node) -> list[int]:
        """The operands of which an op, doing what is best for it, would have a copy."""
        if node.rule.pairwise:
            return []
        wanted = zip(node.operands, self.strategist.best(node, self.state.dims)[1].operands, strict=True)
        return [value for value, dims in wanted if not self.program.free[value] and dims != self.state.dims[value]]

    def _moves(self, node: Node) -> Iterator[Changes]:
        """What follows from each of the op's wishes, one by one and together."""
        seen: set[frozenset[tuple[int, Dims]]] = set()
        for wishes in self._wishes(node, self.strategist.best(node, self.state.dims)[1]):
            for part in [*({value: dims} for value, dims in wishes.items()), wishes]:
                changes = self._spread(part)
                key = frozenset(changes.items())
                if changes and key not in seen:
                    seen.add(key)
                    yield changes

    def _still(self, tried: dict[Key, _Tried], recent: set[int]) -> dict[Key, _Tried]:
        """
        Those tries that would end as they did: nothing has moved that they met with.

        `recent` are the stretches that have moved since tries were last looked at: few, and tries meet many.
        """
        return {
            key: found
            for key, found in tried.items()
            if found.met.isdisjoint(recent) or all(self.moved[at] <= found.moves for at in found.met & recent)
        }

    def _tried(self, changes: Changes) -> _Tried:
        """What these changes would save, and what that depends on."""
        touched = self._touched(changes)
        met = frozenset[int]().union(*map(self.ground.met.__getitem__, touched))
        return _Tried(self._saved(touched, changes), met, self.moves)

    def _narrowly(self, node: Node, chosen: Strategy) -> tuple[float, Changes] | None:
        """The best of the op's wishes when the stretches of its values move."""
        best: tuple[float, Changes] | None = None
        for wishes in self._promising(node, chosen):
            changes = self._spread(wishes)
            tried = self._tried(changes)
            self._remember(wishes, tried)
            best = _better(best, tried.saved, changes)
        return best

    def _wishes(self, node: Node, chosen: Strategy) -> Iterator[Changes]:
        """For each of the op's strategies the layouts that it would like for values that may have them."""
        for option in self._ways(node, chosen):
            liked = zip(node.values, option.operands + option.results, strict=True)
            yield {value: dims for value, dims in liked if _hears(node, value) and self._may_become(value, dims)}

    def _promising(self, node: Node, chosen: Strategy) -> Iterator[Changes]:
        """
        The wishes one by one and together, where they may pay.

        One by one first, since a strategy may ask too much at once. Together as well, since an op whose operands meet
        saves nothing before all have moved. What the moves together save is estimated first (`_together`): to try each
        combination of long stretches would take longer than all else, and finds no more.
        """
        for wishes in self._wishes(node, chosen):
            for value, dims in wishes.items():
                if self._alone(value, dims) > LEAST_SAVING:
                    yield {value: dims}
            if len(wishes) > 1 and self._key(wishes) not in self.failed and self._together(node, wishes) > LEAST_SAVING:
                yield wishes

    def _widely(self, node: Node, chosen: Strategy) -> tuple[float, Changes] | None:
        """The best of the op's wishes when all that light ops connect moves along: across broadcasts, reductions."""
        best: tuple[float, Changes] | None = None
        for wishes in self._wishes(node, chosen) if self.wide_tries else ():
            key = self._key(wishes)
            if not wishes or key in self.failed_widely or self.wide_tries == 0:
                continue
            self.wide_tries -= 1
            if key in self.known_widely:
                self.failed_widely[key] = self.known_widely[key]
                continue
            changes = self._spread(wishes, self.ground.light)
            tried = self._tried(changes)
            best = _better(best, tried.saved, changes)
            if tried.saved <= LEAST_SAVING:
                self.failed_widely[key] = tried
        return best

    def _ways(self, node: Node, chosen: Strategy) -> list[Strategy]:
        """
        The op's strategies; for a heavy one also those that differ from the chosen one in one axis.

        An op's strategies are made of what its tensors are split by now, so they cannot ask for what no tensor has yet:
        without the neighbours an MLP that is split by data and model sends a seventh more. Light ops have no
        opinion of their own: their neighbours would only lengthen the search.
        """
        options = list(self.strategist.options(node, self.state.dims))
        return options + self.strategist.neighbours(node, chosen) if node.rule.heavy else options

    def _key(self, wishes: Changes) -> Wishes:
        return frozenset((self.stretch[value], self.program.shapes[value], dims) for value, dims in wishes.items())

    def _remember(self, wishes: Changes, tried: _Tried) -> None:
        """What the wishes really save, so that nobody tries them again in vain while nothing has changed."""
        if len(wishes) == 1:
            ((value, dims),) = wishes.items()
            self.alone.setdefault(self.stretch[value], {})[self.program.shapes[value], dims] = tried
        elif tried.saved <= LEAST_SAVING:
            self.failed[self._key(wishes)] = tried

    def _alone(self, value: int, dims: Dims) -> float:
        """What moving the value's stretch would save; looked at once a sweep for all values of the stretch."""
        known = self.alone.setdefault(self.stretch[value], {})
        key = self.program.shapes[value], dims
        if key not in known:
            known[key] = self._tried(self._spread({value: dims}))
        return known[key].saved

    def _together(self, node: Node, wishes: Changes) -> float:
        """An estimate of what several moves would save: each alone, plus what they do for each other at `node`."""
        before = self._cost(node)
        alone = sum(self._alone(value, dims) for value, dims in wishes.items())
        apart = sum(before - self._cost_with(node, {value: dims}) for value, dims in wishes.items())
        return alone - apart + before - self._cost_with(node, wishes)

    def _cost_with(self, node: Node, changes: Changes) -> float:
        with self._changed(changes):
            return self._price(node)

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
        if dims == self.state.dims[value] or not self.program.is_ours(value):
            return False
        reserved, mesh = self.program.reserved[value], self.program.mesh
        if reserved and self.program.overlaps((axis for axes in dims for axis in axes), reserved):
            return False
        # By name and not by axis: a part of an axis may be traded for another part of it.
        old, new = ([axis for axes in each for axis in axes] for each in (self.state.dims[value], dims))
        keeps_axes = {axis.name for axis in old} <= {axis.name for axis in new}
        return keeps_axes and mesh.group_size(old) <= mesh.group_size(new)

    def _spread(self, wishes: Changes, along: list[bool] | None = None) -> Changes:
        """The wishes and what follows from them along some ops: those that pass dims on, if nothing else is said."""
        along = self.ground.carries if along is None else along
        changes: Changes = dict(wishes)
        # Breadth first: a value that two wishes reach follows the nearer one.
        waiting = deque(wishes)
        while waiting:
            moved = waiting.popleft()
            for index in self.ground.around[moved]:
                if along[index]:
                    values = self.program.nodes[index].values
                    for place, dims in self._followers(index, values.index(moved), changes[moved]):
                        value = values[place]
                        if value not in changes:
                            changes[value] = dims
                            waiting.append(value)
        return changes

    def _followers(self, index: int, place: int, dims: Dims) -> list[tuple[int, Dims]]:
        """The places at a node whose values may move along when the one at `place` moves to `dims`, and to what."""
        situation = self.situations.get(index)
        if situation is None:
            situation = self.situations[index] = self._situation(index)
        key = situation, place, dims
        found = self.ground.followers.get(key)
        if found is None:
            found = self.ground.followers[key] = list(self._following(self.program.nodes[index], place, dims))
        return found

    def _situation(self, index: int) -> int:
        numbers = self.ground.situations
        dims = tuple([self.state.dims[value] for value in self.program.nodes[index].values])
        return numbers.setdefault((self.program.kinds[index], dims), len(numbers))

    def _following(self, node: Node, place: int, moved: Dims) -> Iterator[tuple[int, Dims]]:
        if self.strategist.project(node.rule, place, moved)[1]:
            for other, value in enumerate(node.values):
                dims = self._followed(node.rule, place, moved, other, self.state.dims[value])
                if self._may_become(value, dims) and self._is_legal(dims):
                    yield other, dims

    def _followed(self, rule: Rule, place: int, moved: Dims, other: int, old: Dims) -> Dims:
        """The dims of another tensor of a rule, `old` so far, when the one at `place` has those that it moved to."""
        tensors = rule.tensors()
        axes, _ = self.strategist.project(rule, place, moved)
        now, _ = self.strategist.project(rule, other, old)
        ruled = {factor for factors in tensors[place] for factor in factors}
        # What the moved value says nothing about stays as it is: a bias keeps the dims that it does not share.
        wanted = {factor: axes for factor, axes in now.items() if factor not in ruled} | axes
        return tuple(map(self.strategist.spell, assemble(wanted, tensors[other], rule.sizes, self.program.mesh)))

    def _is_legal(self, dims: Dims) -> bool:
        flat = [axis for axes in dims for axis in axes]
        sizes = self.program.mesh.sizes
        return not any(overlap(a, b, sizes[a.name]) for i, a in enumerate(flat) for b in flat[:i])

    def _touched(self, changes: Changes) -> dict[int, None]:
        """The nodes whose bytes are a reason for these changes, or against them, in an order that repeats."""
        touched = dict.fromkeys(chain.from_iterable(map(self.ground.around.__getitem__, changes)))
        for index in self.ground.bars & touched.keys():
            if not any(_hears(self.program.nodes[index], value) for value in changes):
                del touched[index]
        return touched

    def _saved(self, touched: Iterable[int], changes: Changes) -> float:
        """The bytes that all touched ops save."""
        nodes = [self.program.nodes[index] for index in touched]
        before = sum(map(self._cost, nodes))
        with self._changed(changes):
            return before - sum(map(self._price, nodes))

    def _cost(self, node: Node) -> float:
        """What an op sends in the state at hand."""
        cost = self.costs.get(node.index)
        if cost is None:
            cost = self.costs[node.index] = self._price(node)
        return cost

    def _price(self, node: Node) -> float:
        return node.weight * self.strategist.best(node, self.state.dims)[0]


def _hears(node: Node, value: int) -> bool:
    """Whether a value of a node may move for its sake: barriers bind here as they do where layouts spread."""
    if not isinstance(node.op, BarrierOp):
        return True
    return value in {FORWARD: node.results, BACKWARD: node.operands}.get(node.op.direction.data, ())


def _better(best: tuple[float, Changes] | None, saved: float, changes: Changes) -> tuple[float, Changes] | None:
    """The changes if they save something, and more than the best so far; at an even saving the first ones stay."""
    return (saved, changes) if saved > LEAST_SAVING and (best is None or saved > best[0]) else best


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
            movable = list(filter(program.is_ours, node.values))
            for value in movable[1:]:
                parent[find(value)] = find(movable[0])
    return [find(value) for value in range(len(parent))]
