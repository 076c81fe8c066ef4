"""
Propagation: from the layouts that the user gave, through the ops' rules, to a layout for every value.

Rounds are synchronous: every op whose values changed proposes layouts from the state before the round, and each value
takes the best proposal. So the result depends on distances from the user's layouts and on bytes, not on the order of
ops. A value's dims only ever gain axes, so rounds end; each op is visited a bounded number of times.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from shardwright.diagnostics import ShardwrightError
from shardwright.dialects.dtensor import RelayoutOp
from shardwright.dialects.dtensor.hints import BACKWARD, FORWARD, BarrierOp
from shardwright.dialects.text.locations import fault, label
from shardwright.layout.axes import Axis, beyond
from shardwright.layout.mesh import Mesh
from shardwright.layout.spec import LayoutSpec
from shardwright.networks.components import Components
from shardwright.passes.program import Dims, Node, Program
from shardwright.passes.propagation.strategy import Strategist
from shardwright.rules.rule import PASS, Axes, Rule, assemble

Later = Mapping[int, frozenset[int]]
"""For some values the dims whose turn has not come yet."""

Winners = dict[int, tuple[Axes, int, int]]
"""For each factor the axes that win (the longest, or the largest tensor's), their weight, and the place they are of."""


def _goes(node: Node, *, back: bool) -> bool:
    """Whether layouts spread through a node to its operands, or to its results."""
    if isinstance(node.op, BarrierOp):
        return node.op.direction.data == (BACKWARD if back else FORWARD)
    return not (back and isinstance(node.op, RelayoutOp))


@dataclass(frozen=True, slots=True)
class Because:
    """Why a value has its layout: `node`'s rule carried it from value `source`; without a node the user gave it."""

    node: Node | None
    source: int | None
    text: str = ""
    lost: Lost | None = None


@dataclass(frozen=True, slots=True)
class Lost:
    """What a value's layout was chosen over: `dims`, which would have come from value `source`, with fewer bytes."""

    dims: Dims
    source: int


@dataclass(slots=True)
class State:
    """What propagation knows: each value's dims, the dims it may still change, and why they are what they are."""

    dims: list[Dims]
    open_dims: list[frozenset[int]]
    because: list[Because | None]


def initial_state(program: Program) -> State:
    """The user's layouts; everything else unsplit and open."""
    state = State([], [], [])
    for number, spec in enumerate(program.given):
        rank = len(program.shapes[number])
        every = frozenset(range(rank))
        if spec is None:
            state.dims.append(((),) * rank)
            state.open_dims.append(every)
            state.because.append(None)
        else:
            state.dims.append(spec.dims)
            state.open_dims.append(spec.open_dims)
            state.because.append(Because(None, None))
    return state


def propagate(program: Program, strategist: Strategist) -> State:
    """Spreads the user's layouts: first along ops that only pass dims on, then along all."""
    return Spreading(program, strategist).state()


class Spreading:
    """Propagation of one program from one start or another; what ops have offered once is not worked out again."""

    def __init__(self, program: Program, strategist: Strategist):
        self.program = program
        self.offers = _Offers(program, strategist)
        self.passing = [passes_dims_on(node.rule) for node in program.nodes]

    def state(self, leaders: frozenset[int] | None = None) -> State:
        """
        The layouts once they have spread everywhere.

        With `leaders`, the layouts of these values have spread everywhere before the user's others begin to.
        """
        program, state = self.program, initial_state(self.program)
        priorities = sorted({0, *(number for spec in program.given if spec for number in spec.priorities)})
        waves = [_dims_after(program, priority) for priority in priorities]
        if leaders is not None:
            waves = [waves[0] | _dims_of_others(program, leaders), *waves]
        spread = _Spread(program, self.offers, state)
        for later in waves:
            spread.begin(later)
            spread.run(self.passing)
            spread.run([True] * len(self.passing))
        return state


def _dims_after(program: Program, priority: int) -> dict[int, frozenset[int]]:
    """For each value the dims whose turn comes after `priority`: until then they neither spread nor change."""
    found: dict[int, frozenset[int]] = {}
    for value, spec in enumerate(program.given):
        if spec is not None and any(number > priority for number in spec.priorities):
            found[value] = frozenset(dim for dim, number in enumerate(spec.priorities) if number > priority)
    return found


def _dims_of_others(program: Program, leaders: frozenset[int]) -> dict[int, frozenset[int]]:
    given = (value for value, spec in enumerate(program.given) if spec is not None and value not in leaders)
    return {value: frozenset(range(len(program.shapes[value]))) for value in given}


def agree_in_groups(program: Program) -> None:
    """
    Gives all members of each group what the user said of any of them, before anything spreads.

    A closed dim stays as it is, and the others are closed with it; where all are open, the longest list of axes counts.
    Raises SW0465 when what the user said of two members cannot both hold.
    """
    for members in _groups(program):
        # Nor may one of them be split by what devices around another differ in.
        reserved = tuple(dict.fromkeys(axis for value in members for axis in program.reserved[value]))
        for value in members:
            program.reserved[value] = reserved
        told = [value for value in members if program.given[value] is not None]
        agreed: LayoutSpec | None = None
        for value in told:
            spec = program.given[value]
            assert spec is not None
            agreed = spec if agreed is None else _both(program, agreed, spec)
            if agreed is None:
                raise _no_agreement(program, told[: told.index(value)], value)
        if agreed is not None:
            for value in members:
                own = program.given[value]
                partial, kind = (own.partial, own.kind) if own is not None else ((), "")
                program.given[value] = agreed.with_partial(partial, kind)


def _groups(program: Program) -> list[list[int]]:
    """The members of each group, in order; groups that share a member are one."""
    tied: Components[int] = Components()
    for first, others in program.grouped.items():
        for value in others:
            tied.tie(first, value)
    return [sorted(part) for part in tied.sets()]


def _both(program: Program, one: LayoutSpec, other: LayoutSpec) -> LayoutSpec | None:
    """The layout that is as two layouts say, or None when there is none."""
    dims: list[Axes] = []
    for dim in range(len(one.dims)):
        short, long = (one, other) if beyond(other.dims[dim], one.dims[dim], program.mesh.sizes) else (other, one)
        more = beyond(long.dims[dim], short.dims[dim], program.mesh.sizes)
        if more is None or (more and dim not in short.open_dims):
            return None
        dims.append(long.dims[dim])
    withheld = tuple(dict.fromkeys(one.withheld + other.withheld))
    used = [axis for axes in dims for axis in axes]
    if any(program.overlaps([axis], [*used[:place], *withheld]) for place, axis in enumerate(used)):
        return None
    both = bool(one.priorities and other.priorities)
    priorities = tuple(map(min, one.priorities, other.priorities)) if both else ()
    open_dims = one.open_dims & other.open_dims
    return LayoutSpec(one.mesh, tuple(dims), open_dims, withheld=withheld, priorities=priorities)


def _no_agreement(program: Program, before: list[int], value: int) -> ShardwrightError:
    """The error for a member that does not agree with those before it, and with which of them."""
    given = program.given
    told = [(member, spec) for member in before if (spec := given[member]) is not None]
    spec = given[value]
    assert spec is not None
    first, one = next(((member, each) for member, each in told if _both(program, each, spec) is None), told[0])
    return fault(
        "SW0465",
        f"members of one sharding group have the layouts {one.body()} and {spec.body()}",
        program.values[value],
        labels=label(program.values[first], "another member of the group"),
        help="give them the same layout, or take one out of the group",
    )


def settle_groups(program: Program, state: State) -> None:
    """Members that any device can make take the layout of the others, which went where propagation took them."""
    for members in _groups(program):
        leader = min(members, key=lambda value: (program.free[value], value))
        for value in filter(program.free.__getitem__, members):
            state.dims[value] = state.dims[leader]
            state.because[value] = Because(None, None, "as the other members of its sharding group")


def passes_dims_on(rule: Rule) -> bool:
    """Whether all tensors of the rule have the same factors, none of them reduced or kept whole."""
    if rule.pairwise:
        return True
    shapes = {tuple(sorted(factor for factors in tensor for factor in factors)) for tensor in rule.tensors()}
    return len(shapes - {()}) <= 1 and all(kind == PASS for kind in rule.kinds)


@dataclass(frozen=True, slots=True)
class _Proposal:
    """Dims that `node` would give to a value, and the bytes of the value from which they come."""

    weight: int
    dims: Dims
    node: Node
    source: int
    lost: Lost | None = None

    def beats(self, other: _Proposal | None) -> bool:
        """The one place where conflicts are decided: more bytes win, then more axes, then the smaller text."""
        return other is None or self._rank() < other._rank()

    def against(self, other: _Proposal | None) -> _Proposal:
        """The better of two proposals for one value, which keeps in mind what it was chosen over."""
        if other is None or other.dims == self.dims:
            return self if self.beats(other) or other is None else other
        best, worse = (self, other) if self.beats(other) else (other, self)
        return best if best.lost else replace(best, lost=Lost(worse.dims, worse.source))

    def _rank(self) -> tuple[int, int, Dims]:
        return -self.weight, -sum(map(len, self.dims)), self.dims


class _Spread:
    """
    Propagation, level by level, each run to its fixed point.

    Only nodes at which something has changed since they last proposed are asked again: from the same layouts a node
    proposes the same, and has been heard.
    """

    def __init__(self, program: Program, offers: _Offers, state: State):
        self.program = program
        self.offers = offers
        self.state = state
        self.later: Later = {}
        self.groups = {value: members for members in _groups(program) for value in members}
        split = (value for value, dims in enumerate(state.dims) if any(dims))
        self.unheard = self._nodes_around(split)

    def _nodes_around(self, values: Iterable[int]) -> set[int]:
        return {node.index for value in values for node in self.program.around[value]}

    def begin(self, later: Later) -> None:
        """From now on it is the turn of all dims but these, by value."""
        moved = (value for value in self.later.keys() | later.keys() if self.later.get(value) != later.get(value))
        self.unheard |= self._nodes_around(moved)
        self.later = later

    def run(self, member: Sequence[bool]) -> None:
        """Rounds of proposals of these nodes until nothing changes."""
        dirty = {index for index in self.unheard if member[index]}
        self.unheard -= dirty
        while dirty:
            proposals: dict[int, _Proposal] = {}
            for index in sorted(dirty):
                self._propose(self.program.nodes[index], proposals)
            changed: list[int] = []
            for first, proposal in proposals.items():
                for value in self.groups.get(first, (first,)):
                    self.state.dims[value] = proposal.dims
                    self.state.because[value] = Because(proposal.node, proposal.source, lost=proposal.lost)
                    changed.append(value)
            # Those that are not asked now stay aside: a round must not cost what waits for a later one.
            dirty = set()
            for index in self._nodes_around(changed):
                (dirty if member[index] else self.unheard).add(index)

    def _propose(self, node: Node, proposals: dict[int, _Proposal]) -> None:
        values = node.values
        for offer in self.offers.of(node, self.state.dims, self.later):
            value = values[offer.place]
            lost = None if offer.lost is None else Lost(offer.lost[0], values[offer.lost[1]])
            proposal = _Proposal(offer.weight, offer.dims, node, values[offer.source], lost)
            # The members of a group are as one: what one of them is to become, all do.
            first = self.groups[value][0] if value in self.groups else value
            proposals[first] = proposal.against(proposals.get(first))


@dataclass(frozen=True, slots=True)
class _Offer:
    """What an op proposes for the value at one of its places; other values go by their places, too."""

    place: int
    weight: int
    dims: Dims
    source: int
    lost: tuple[Dims, int] | None


class _Offers:
    """
    What ops propose, by their kind and the layouts around them.

    Models repeat their layers, and one start of propagation repeats most of another: nearly all ops ask what an equal
    one has asked before.
    """

    def __init__(self, program: Program, strategist: Strategist):
        self.program = program
        self.strategist = strategist
        self.mesh: Mesh = program.mesh
        self.open_dims = initial_state(program).open_dims
        self.kinds = self._kinds()
        self.known: dict[object, tuple[_Offer, ...]] = {}

    def _kinds(self) -> list[int]:
        """For each node a number that it has in common with all that propose the same from the same layouts."""
        numbers: dict[tuple[int, bool, bool], int] = {}
        kinds: list[int] = []
        for node, kind in zip(self.program.nodes, self.program.kinds, strict=True):
            ways = kind, _goes(node, back=True), _goes(node, back=False)
            kinds.append(numbers.setdefault(ways, len(numbers)))
        return kinds

    def of(self, node: Node, dims: Sequence[Dims], later: Later) -> tuple[_Offer, ...]:
        """What a node proposes from these layouts, by value number, of which some dims are not heard yet."""
        values = node.values
        key: tuple[object, ...] = (self.kinds[node.index], *[dims[value] for value in values])
        if later:
            key += tuple([later.get(value) for value in values])
        found = self.known.get(key)
        if found is None:
            found = self.known[key] = tuple(self._made(node, dims, later))
        return found

    def _made(self, node: Node, dims: Sequence[Dims], later: Later) -> Iterator[_Offer]:
        winners = self._winners(node, dims, later)
        if not winners:
            return
        for place, value in enumerate(node.values):
            if self.program.free[value] or not self.open_dims[value]:
                continue
            if not _goes(node, back=place < len(node.operands)):
                continue
            heard = sorted(self.open_dims[value] - later.get(value, frozenset()))
            offer = self._extend(node, place, dims[value], heard, winners)
            if offer is not None:
                yield offer

    def _winners(self, node: Node, dims: Sequence[Dims], later: Later) -> Winners:
        winners: Winners = {}
        for place, value in enumerate(node.values):
            seen = _heard(dims[value], later.get(value))
            if self.program.free[value] or not any(seen):
                continue
            weight = self.program.bytes[value]
            for factor, axes in self.strategist.project(node.rule, place, seen)[0].items():
                if not node.rule.movable(factor) or not self._goes_whole(node, place, factor, axes, seen):
                    continue
                held = winners.get(factor)
                if held is None or _wins((axes, weight, place), held, self.mesh.sizes):
                    winners[factor] = (axes, max(weight, held[1]) if held and held[0] == axes else weight, place)
        return winners

    def _goes_whole(self, node: Node, place: int, factor: int, axes: Axes, seen: Dims) -> bool:
        """
        Whether a factor that takes an expansion has all parts of its dim: of less, the others would be gathered first.

        Two rows cut out of 32 over eight devices are not had by two of them.
        """
        if not node.rule.expands(factor):
            return True
        split = self.program.mesh.group_size(axes)
        dims = zip(node.rule.tensors()[place], seen, strict=True)
        return all(split == self.program.mesh.group_size(mine) for factors, mine in dims if factors == (factor,))

    def _extend(
        self, node: Node, place: int, current: Dims, open_dims: Sequence[int], winners: Winners
    ) -> _Offer | None:
        """The value's dims with the axes that its factors can gain, heaviest first; None when it can gain none."""
        rule, value = node.rule, node.values[place]
        tensor = rule.tensors()[place]
        have, exact = self.strategist.project(rule, place, current)
        if not exact:
            return None
        given = self.program.given[value]
        used = [axis for axes in current for axis in axes]
        used += (*given.partial, *given.withheld) if given is not None else ()
        used += (*node.reserved, *self.program.reserved[value])
        before = tuple(used)
        split = sum(map(len, current))
        mine = dict(have)
        gained: tuple[int, int] | None = None
        lost: tuple[Dims, int] | None = None
        open_factors = [factor for dim in open_dims for factor in tensor[dim] if factor in winners]
        for factor in sorted(open_factors, key=lambda factor: (-winners[factor][1], winners[factor][0])):
            axes, weight, source = winners[factor]
            old = have.get(factor, ())
            new = beyond(axes, old, self.mesh.sizes)
            if not new:
                continue
            axes = old + new  # as they are said, which is what `split` counts
            if self.program.overlaps(new, used):
                if gained is not None and lost is None and not self.program.overlaps(new, before):
                    lost = assemble(dict(have) | {factor: axes}, tensor, rule.sizes, self.mesh), source
                new = self._before_taken(new, used)
                if not new:
                    continue
                axes = old + new
            trial = assemble(mine | {factor: axes}, tensor, rule.sizes, self.mesh)
            if sum(map(len, trial)) != split + len(new):
                continue
            mine[factor] = axes
            used += new
            split += len(new)
            gained = gained or (weight, source)
        if gained is None:
            return None
        dims = tuple(map(self.strategist.spell, assemble(mine, tensor, rule.sizes, self.mesh)))
        return _Offer(place, gained[0], dims, gained[1], lost)

    def _before_taken(self, axes: Axes, used: Sequence[Axis]) -> Axes:
        """The axes up to the first one that is taken."""
        return tuple(takewhile(lambda axis: not self.program.overlaps([axis], used), axes))


def _heard(dims: Dims, later: frozenset[int] | None) -> Dims:
    """A value's dims as far as it is their turn."""
    return dims if later is None else tuple(() if dim in later else axes for dim, axes in enumerate(dims))


def _wins(new: tuple[Axes, int, int], old: tuple[Axes, int, int], sizes: dict[str, int]) -> bool:
    if new[0] == old[0]:
        return new[1] > old[1]
    if beyond(new[0], old[0], sizes):
        return True
    if beyond(old[0], new[0], sizes):
        return False
    return (-new[1], new[0]) < (-old[1], old[0])
