"""
The state machine of a transposed chunk: one byte leads from a state to one of 64 that follow its base.

Steps are taken backwards. A step that others often follow has a *private* list of states for those; all others share
one *public* list. Lists of more than 64 states are trees of blocks, with states between that do nothing and only lead
on (no-ops). States, bases and order are those that C++ chooses.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

BLOCK_OF_STATES = 64
OFTEN = 10
"""So many times one step must follow another to be in its private list."""

PUBLIC = 1 << 32
"""In place of a step: the no-op that leads from a private list to the public one."""


@dataclass(slots=True)
class Follower:
    """How often a step comes after another, and its state in that one's private list."""

    count: int = 0
    often: bool = False
    state: int | None = None

    @property
    def private(self) -> bool:
        """Whether it is in the private list."""
        return self.often or self.state is not None


@dataclass(slots=True)
class Step:
    """What comes after a step; how many steps that come before it still need it in the public list; its places."""

    followers: dict[int, Follower] = field(default_factory=dict[int, Follower])
    arrivals: int = 0
    public_state: int | None = None
    to_public: int | None = None
    base: int | None = None


@dataclass(slots=True)
class State:
    """A state: its step (None for a no-op), the base of a no-op, and the no-op that leads to this state's block."""

    step: int | None
    base: int | None = None
    source: int | None = None


@dataclass(frozen=True, slots=True)
class Pairs:
    """
    A sequence of steps from its end, as which step follows which.

    `counts` says how often each pair of steps is there, in the order in which they come first; `which` is the sequence
    as numbers of pairs.
    """

    first: int
    last: int
    counts: dict[tuple[int, int], int]
    which: Sequence[int]


def pairs(sequence: Sequence[int]) -> Pairs:
    """
    The pairs of a sequence of steps.

    >>> pairs([0, 1, 1, 1])
    Pairs(first=1, last=0, counts={(1, 1): 2, (1, 0): 1}, which=[0, 0, 1])
    """
    steps, numbers, counts, which = sequence[::-1], dict[tuple[int, int], int](), list[int](), list[int]()
    for pair in pairwise(steps):
        number = numbers.setdefault(pair, len(numbers))
        if number == len(counts):
            counts.append(0)
        counts[number] += 1
        which.append(number)
    return Pairs(steps[0], steps[-1], dict(zip(numbers, counts, strict=True)), which)


def join(which: Sequence[int], ways: Sequence[bytes]) -> bytes:
    """
    The bytes of transitions, by the jumps of each pair; one with nothing added counts up the one before, three times.

    >>> join([0, 0, 1], [bytes([0]), bytes([1])]).hex()
    '0104'
    """
    out = bytearray()
    for number in which:
        for jump in ways[number]:
            if not jump and out and out[-1] & 3 < 3:
                out[-1] += 1
            else:
                out.append(jump << 2)
    return bytes(out)


class StateMachine:
    """
    The states for so many steps of which these pairs follow each other.

    >>> found = pairs([0, 1, 1, 1])
    >>> machine = StateMachine(found, 2)
    >>> [state.step for state in machine.states], join(found.which, machine.ways()).hex()
    ([1, 0], '0104')
    """

    def __init__(self, sequence: Pairs, count: int) -> None:
        self.sequence = sequence
        self.steps = [Step() for _ in range(count)]
        self.states: list[State] = []
        self._count()
        for index in range(count):
            self._private_list(index)
        self.public_base = len(self.states)
        waiting = [(index, step.arrivals) for index, step in enumerate(self.steps) if step.arrivals]
        for index, state in self._layout(waiting):
            self.steps[index].public_state = state
        self._bases()
        self._end()

    @property
    def first(self) -> int:
        """The state that is run first."""
        return next(index for index, state in enumerate(self.states) if state.step == self.sequence.first)

    def follows_by_itself(self, step: int) -> bool:
        """Whether only one step ever follows, for which no byte is written."""
        return len(self.steps[step].followers) == 1

    def _count(self) -> None:
        """How often each step follows another; what follows often goes into private lists."""
        for (before, step), count in self.sequence.counts.items():
            self.steps[before].followers[step] = Follower(count)
            self.steps[step].arrivals += count
        first = self.steps[self.sequence.first]
        first.arrivals = first.arrivals or 1
        for step in self.steps:
            for index, follower in step.followers.items():
                if follower.count >= OFTEN:
                    follower.often = True
                    self.steps[index].arrivals -= follower.count

    def _private_list(self, index: int) -> None:
        """The states of what follows a step often, or follows nothing else; with one left over, that one, too."""
        step, listed, others = self.steps[index], list[tuple[int, int]](), list[int]()
        for other, follower in step.followers.items():
            if follower.often:
                listed.append((other, follower.count))
            elif follower.count == self.steps[other].arrivals:
                self.steps[other].arrivals -= follower.count
                listed.append((other, follower.count))
            else:
                others.append(other)
        if not listed:
            return
        if len(others) == 1:
            count = step.followers[others[0]].count
            self.steps[others[0]].arrivals -= count
            listed.append((others[0], count))
        elif others:
            listed.append((PUBLIC, sum(step.followers[other].count for other in others)))
        step.base = len(self.states)
        for other, state in self._layout(listed):
            if other == PUBLIC:
                step.to_public = state
            else:
                step.followers[other].state = state

    def _layout(self, weights: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
        """
        States for steps, those that are needed often first: pairs of a step and its state. They are made from the back,
        block by block; a block that is made is reached by a no-op in one that is made later.
        """
        if not weights:
            return
        size, most = len(weights), BLOCK_OF_STATES - 1
        size += (size - 2) // most if size > BLOCK_OF_STATES else 0
        begin, place, block = len(self.states), len(self.states) + size, (size - 1) % BLOCK_OF_STATES + 1
        self.states += [State(None) for _ in range(size)]
        queue, bases = [(weight, -step) for step, weight in weights], list[int]()
        heapq.heapify(queue)
        steps = len(self.steps)
        while True:
            total = 0
            for _ in range(block):
                weight, step = heapq.heappop(queue)
                total, step, place = total + weight, -step, place - 1
                if steps <= step < PUBLIC:
                    self.states[place].base = bases[step - steps]
                    self._lead(place, bases[step - steps])
                else:
                    self.states[place].step = None if step == PUBLIC else step
                    yield step, place
            if place == begin:
                return
            heapq.heappush(queue, (total, -(steps + len(bases))))
            bases.append(place)
            block = BLOCK_OF_STATES

    def _lead(self, source: int, base: int) -> None:
        """The states of the block at a base are reached from a no-op."""
        for state in self.states[base : base + BLOCK_OF_STATES]:
            state.source = source

    def _bases(self) -> None:
        """The bases of what leads to the public list: the lowest state that is needed of its tree."""
        for step in self.steps:
            if step.to_public is not None:
                self.states[step.to_public].base = self._public_base_of(step)
        for step in self.steps:
            if step.base is None:
                step.base = self._public_base_of(step)

    def _public_base_of(self, step: Step) -> int | None:
        """The lowest public state from whose block all of a step's followers that are not private can be reached."""
        base = lowest = None
        for index, follower in step.followers.items():
            if follower.private:
                continue
            place = self.steps[index].public_state
            assert place is not None
            while base is None or not base <= place < base + BLOCK_OF_STATES:
                if base is None or base > place:
                    source = self.states[place if base is None else base].source
                    if base is not None:
                        assert source is not None
                        lowest = source if lowest is None else min(lowest, source)
                        source = self.states[source].source
                    base = self.public_base if source is None else self.states[source].base
                    assert base is not None
                else:
                    place = self._source(place)
            lowest = place if lowest is None else min(lowest, place)
        return lowest

    def _source(self, place: int) -> int:
        source = self.states[place].source
        assert source is not None
        return source

    def _end(self) -> None:
        """After the last step nothing may follow by itself, or its end could not be told from its repetition."""
        followers = self.steps[self.sequence.last].followers
        if len(followers) == 1:
            followers[next(iter(followers)) + 1] = Follower()

    def ways(self) -> list[bytes]:
        """The jumps that lead from one step to the next, for each pair of the sequence; none where it follows alone."""
        return [
            b"" if self.follows_by_itself(before) else bytes(self._jumps(self.steps[before], step))
            for before, step in self.sequence.counts
        ]

    def _jumps(self, before: Step, step: int) -> list[int]:
        """The way from one step to the next."""
        place, base = before.followers[step].state, before.base
        if place is not None:
            return self._way(base, place)
        way = list[int]()
        if before.to_public is not None:
            way = self._way(base, before.to_public)
            base = self.states[before.to_public].base
        place = self.steps[step].public_state
        assert place is not None
        return way + self._way(base, place)

    def _way(self, base: int | None, place: int) -> list[int]:
        """The jumps from a base to a state, through no-ops where it is too far for one byte."""
        assert base is not None
        way = list[int]()
        while not base <= place < base + BLOCK_OF_STATES:
            source = self._source(place)
            start = self.states[source].base
            assert start is not None
            way.append(place - start)
            place = source
        way.append(place - base)
        return way[::-1]
