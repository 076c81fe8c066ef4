"""Which values of a block are let go of for a while, and computed again before they are read next."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from xdsl.ir import Block, Operation, OpResult, SSAValue

from shardwright.dialects.dtensor import RelayoutOp, layout_of
from shardwright.dialects.purity import is_pure
from shardwright.layout.mesh import Mesh
from shardwright.layout.planning.topology import Topology
from shardwright.passes.collectives.holding import Holding, is_seen, part_of, place_in
from shardwright.rules.table import ROWS

__all__ = ["Gap", "Recomputation", "can_be_repeated", "maker_of", "seen_of"]

LONGEST = 64
"""Ops that are done again for one value at most: a layer, not a model."""


@dataclass(frozen=True, slots=True, eq=False)
class Gap:
    """
    A stretch in which nobody reads a value: from op number `start` to `after`, before which it would be made again.
    """

    value: SSAValue
    start: int
    after: int


@dataclass(frozen=True, slots=True)
class _Chain:
    """What makes a value again: the seconds that it takes, and the bytes that have to be kept for it till then."""

    seconds: float
    kept: tuple[SSAValue, ...]


@dataclass(frozen=True, slots=True)
class _Step:
    """An op that is done again: its seconds, and what it takes, with whether that can be made again as well."""

    seconds: float
    takes: tuple[tuple[SSAValue, bool], ...]


class Recomputation:
    """A block, what a device holds at each of its ops, and which values are let go of for a while."""

    def __init__(self, block: Block, mesh: Mesh, limit: int):
        self.block, self.limit = block, limit
        self.ops = list(block.ops)
        self.places = {op: at for at, op in enumerate(self.ops)}
        self._mesh, self._topology = mesh, Topology.of(mesh)
        self._sizes: dict[SSAValue, int] = {}
        self._steps: dict[Operation, _Step] = {}
        holding = Holding.of(block, self.size)
        self.last, self.levels = holding.last, np.array(holding.levels, np.float64)
        self.dropped: dict[SSAValue, list[Gap]] = {}
        self._gaps = [gap for op in self.ops if can_be_repeated(op) for gap in self._gaps_of(op)]

    def size(self, value: SSAValue) -> int:
        """The bytes that a device holds of a value."""
        found = self._sizes.get(value)
        if found is None:
            found = self._sizes[value] = part_of(value, self._mesh)
        return found

    def readers(self, value: SSAValue) -> set[int]:
        """The places at which a value is read, also in another shape."""
        found: set[int] = set()
        for use in value.uses:
            if is_seen(use.operation) and use.operation in self.places:
                found |= self.readers(use.operation.results[use.index])
            else:
                found.add(place_in(use.operation, self.block, self.places))
        return found

    def _gaps_of(self, op: Operation) -> Iterator[Gap]:
        for value in op.results:
            if self.size(value):
                readers = sorted(self.readers(value))
                for start, after in zip([self.places[op], *readers], readers, strict=False):
                    if after - start > 1:
                        yield Gap(value, start, after)

    def choose(self) -> None:
        """Lets values go where most is held, as long as that is more than the limit."""
        starts = np.array([gap.start for gap in self._gaps], np.intp)
        afters = np.array([gap.after for gap in self._gaps], np.intp)
        worth = np.array([self._worth(gap) for gap in self._gaps])
        while self._gaps and self.levels.max() > self.limit:
            most = int(self.levels.argmax())
            there = np.where((starts < most) & (most < afters), worth, 0.0)
            best = int(there.argmax())
            if there[best] <= 0:
                break
            # What it is made of may have been let go of since it was looked at.
            worth[best] = min(worth[best], self._worth(self._gaps[best]))
            if worth[best] >= there[best]:
                self._drop(self._gaps[best])
                worth[best] = 0.0

    def _worth(self, gap: Gap) -> float:
        """The bytes that are free for the time of a gap, for each second of work; 0 where it is not worth it."""
        chain = self.chain(gap.value, gap.after)
        if chain is None:
            return 0.0
        freed = self.size(gap.value) - sum(map(self.size, chain.kept))
        return max(freed, 0) / chain.seconds

    def _drop(self, gap: Gap) -> None:
        self.dropped.setdefault(gap.value, []).append(gap)
        self.levels[gap.start + 1 : gap.after] -= self.size(gap.value)
        chain = self.chain(gap.value, gap.after)
        for kept in () if chain is None else chain.kept:
            self.levels[self.last[kept] + 1 : gap.after] += self.size(kept)
            self.last[kept] = gap.after

    def chain(self, value: SSAValue, place: int) -> _Chain | None:
        """What makes a value at a place from what is there; None where that is too much."""
        seconds, kept, seen = self._topology.launch + 1e-12, list[SSAValue](), {value}
        waiting, count = [value], 0
        while waiting:
            step = self._step(maker_of(waiting.pop()))
            count += 1
            seconds += step.seconds
            for needed, again in step.takes:
                if needed in seen or self.is_there(needed, place):
                    continue
                seen.add(needed)
                (waiting if again else kept).append(needed)
            if count > LONGEST:
                return None
        return _Chain(seconds, tuple(kept))

    def _step(self, op: Operation) -> _Step:
        """An op as it is done again: it is looked at for each value that it helps to make."""
        found = self._steps.get(op)
        if found is None:
            takes = tuple((needed, can_be_repeated(needed.owner)) for needed in op.operands)
            found = self._steps[op] = _Step(self._seconds(op), takes)
        return found

    def is_there(self, value: SSAValue, place: int) -> bool:
        """Whether a value is held at a place, as the plan is so far."""
        last = self.last.get(value)
        if last is None:
            return True  # an argument
        if last < place:
            return False
        return not self.dropped or not any(
            gap.start < place < gap.after for gap in self.dropped.get(seen_of(value), ())
        )

    def is_due(self, value: SSAValue, place: int) -> bool:
        """Whether a value that has been let go of is made again at a place."""
        return any(gap.after == place for gap in self.dropped.get(seen_of(value), ()))

    def _seconds(self, op: Operation) -> float:
        """About how long a device takes for an op, on a machine of the usual kind."""
        touched = sum(map(self.size, (*op.operands, *op.results))) / self._topology.memory
        rule = ROWS[op.name].rule(op)
        if not rule.heavy:
            return touched
        axes = {axis for value in (*op.operands, *op.results) if (spec := layout_of(value)) for axis in spec.axes()}
        return max(touched, 2 * math.prod(rule.sizes) / self._mesh.group_size(tuple(axes)) / self._topology.flops)


def maker_of(value: SSAValue) -> Operation:
    """The op that makes a value of the block."""
    assert isinstance(value.owner, Operation)
    return value.owner


def can_be_repeated(maker: Operation | Block) -> bool:
    """Whether what makes a value may do so twice: it has no effect, and sends nothing."""
    return (
        isinstance(maker, Operation)
        and maker.name in ROWS
        and is_pure(maker)
        and not isinstance(maker, RelayoutOp)
        and not _is_partial(maker)
    )


def _is_partial(op: Operation) -> bool:
    return any((spec := layout_of(value)) is not None and spec.partial for value in (*op.operands, *op.results))


def seen_of(value: SSAValue) -> SSAValue:
    """What a value is seen of."""
    while isinstance(value, OpResult) and is_seen(value.owner):
        value = value.owner.operands[value.index]
    return value
