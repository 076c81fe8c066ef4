"""The row of reduce_window, and what it becomes when dims along which windows cross are split."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from xdsl.ir import Operation, SSAValue

from shardwright.dialects import stablehlo
from shardwright.dialects.types import element_of, shape_of, tensor
from shardwright.layout.planning.sweep import Halo, Sweep, result_halo
from shardwright.rules.builder import SCALAR, RuleBuilder
from shardwright.rules.expansion import Dims, Site
from shardwright.rules.reductions import monoid_of, splits
from shardwright.rules.rule import PASS, PERMUTE, REPLICATE, Dim, Rule
from shardwright.rules.sharding import Shape, add_row
from shardwright.rules.windows.frames import Crossing, apart, framed_apart, halo_bytes, together
from shardwright.rules.windows.moves import literal


def accumulates(sweep: Sweep, size: int) -> bool:
    """Whether each window holds all elements up to its own place, or all from there on."""
    edges = (sweep.low, sweep.high)
    steps = (sweep.stride, sweep.base, sweep.dilation)
    return steps == (1, 1, 1) and sweep.size >= size > 1 and edges in ((sweep.size - 1, 0), (0, sweep.size - 1))


@dataclass(frozen=True)
class ReduceWindowExpansion(Crossing):
    """
    A reduction over windows along split dims: each part receives its halo and reduces the windows inside.

    An accumulation (cumsum) instead starts each part anew, and combines it with what all parts before it come to.
    """

    sums: frozenset[int]
    """The dims of an accumulation by an operation that can be done in parts."""

    def price(self, parts: Mapping[int, int], sizes: Sequence[int]) -> float | None:
        """What a device lacks of its frames, or the totals of all other parts."""
        taken, others = self.taken(parts), self.others(parts)
        if self.sums.isdisjoint(taken):
            windows = {dim: (self._halo(dim, number).window, number) for dim, number in taken.items()}
            return sum(halo_bytes(windows, others, size) for size in sizes[: len(sizes) // 3])
        if len(taken) > 1:
            return None
        ((dim, number),) = taken.items()
        return (number - 1) * sizes[0] / (self.shapes[0][dim] * others)

    def _halo(self, dim: int, parts: int) -> Halo:
        return result_halo(self.sweeps[dim], self.shapes[0][dim], parts)

    def expand(self, op: Operation, site: Site) -> Sequence[SSAValue]:
        """Frames, or parts and their totals."""
        assert isinstance(op, stablehlo.ReduceWindowOp)
        taken = self.taken(site.numbers)
        if self.sums.isdisjoint(taken):
            return self._in_frames(op, site, taken)
        ((dim, parts),) = taken.items()
        return [self._in_parts(op, site, dim, parts)]

    def _in_frames(self, op: stablehlo.ReduceWindowOp, site: Site, taken: Mapping[int, int]) -> Sequence[SSAValue]:
        """Each dim becomes its parts, in which no window moves, and their frames."""
        halos = {dim: self._halo(dim, parts) for dim, parts in taken.items()}
        windows = {dim: halo.window for dim, halo in halos.items()}
        inputs: list[SSAValue] = []
        for value, start in zip(op.inputs, op.init_values, strict=True):
            padding = literal(start)
            assert padding is not None
            inputs.append(framed_apart(site, value, windows, padding))
        sweeps: list[Sweep] = []
        for dim, sweep in enumerate(self.sweeps):
            sweeps += [Sweep(1), halos[dim].sweep] if dim in halos else [sweep]
        made = stablehlo.ReduceWindowOp(inputs, op.init_values, sweeps, op.body.clone())
        dims = site.spec(inputs[0]).dims
        return [together(site, value, taken) for value in site.put(made, *[dims] * len(inputs))]

    def _in_parts(self, op: stablehlo.ReduceWindowOp, site: Site, dim: int, parts: int) -> SSAValue:
        """
        Each part accumulated alone, then combined with the accumulated totals of the parts before it.

        The totals are the last elements of the parts, or the first ones where it accumulates from the end: few, so that
        every device has them all.
        """
        monoid = monoid_of(op)
        assert monoid is not None
        size, forward = self.shapes[0][dim] // parts, bool(self.sweeps[dim].low)
        alone = apart(site, op.inputs[0], {dim: size})
        split = site.spec(alone).dims
        whole = (*split[:dim], (), *split[dim + 1 :])
        rank = len(split)
        single = [Sweep(1)] * rank
        inside = [*self.sweeps[:dim], Sweep(1), _before(size, forward=forward), *self.sweeps[dim + 1 :]]
        done = self._reduced(op, site, alone, inside, split)
        shape = shape_of(done)
        last = [0] * rank
        last[dim + 1] = size - 1 if forward else 0
        ends = [last[at] + 1 if at == dim + 1 else extent for at, extent in enumerate(shape)]
        build = site.building(split)
        totals = site.relayout(build.slice(done, last, ends), whole)
        earlier = replace(_before(parts, forward=forward), low=parts if forward else -1, high=-1 if forward else parts)
        offsets = self._reduced(op, site, totals, [*single[:dim], earlier, *single[dim + 1 :]], whole)
        offsets = site.relayout(offsets, split)
        offsets = build.broadcast(offsets, shape, range(rank))
        combined = monoid.combiner.create(operands=[offsets, done], result_types=[tensor(shape, element_of(done))])
        return together(site, site.put(combined, split)[0], {dim: parts})

    def _reduced(
        self, op: stablehlo.ReduceWindowOp, site: Site, value: SSAValue, sweeps: Sequence[Sweep], dims: Dims
    ) -> SSAValue:
        return site.put(stablehlo.ReduceWindowOp([value], op.init_values, sweeps, op.body.clone()), dims)[0]


def _before(size: int, *, forward: bool) -> Sweep:
    """The window of all elements up to a place, or from it on."""
    return Sweep(size, low=size - 1 if forward else 0, high=0 if forward else size - 1)


@cache
def _reduce_window_rule(shape: Shape, count: int, sweeps: tuple[Sweep, ...], kind: str, padded: bool) -> Rule:
    """Dims in which windows do not cross pass; the others may be split when their padding is known."""
    builder = RuleBuilder()
    inputs: list[Dim] = []
    results: list[Dim] = []
    moves: list[tuple[int, int]] = []
    sums: set[int] = set()
    for dim, (size, sweep) in enumerate(zip(shape, sweeps, strict=True)):
        blocks, result = sweep.blocks(size), sweep.result(size)
        # Without elements there is no frame to take apart.
        if blocks is not None or (padded and size and result):
            crosses = blocks is None
            shared = builder.factor(math.gcd(size, result) if crosses else blocks, PERMUTE if crosses else PASS)
            inputs.append(shared)
            results.append(shared)
            if blocks is None and shared:
                moves.append((shared[0], dim))
                if kind and accumulates(sweep, size):
                    sums.add(dim)
        else:
            inputs.append(builder.factor(size, REPLICATE))
            results.append(builder.factor(result, REPLICATE))
    own = frozenset(factor for dim in inputs for factor in dim)
    expansion = ReduceWindowExpansion(sweeps, (shape,), tuple(moves), own, frozenset(sums)) if moves else None
    operands = [tuple(inputs)] * count + [SCALAR] * count
    flows = ((kind, (0,)),) if kind else ()
    return builder.rule(operands, [tuple(results)] * count, flows, expansion=expansion)


def _reduce_window(op: stablehlo.ReduceWindowOp) -> Rule:
    """Split dims exchange halos; an accumulation exchanges the totals of the parts."""
    padded = all(literal(value) is not None for value in op.init_values)
    kind = splits(op) or ""
    return _reduce_window_rule(shape_of(op.inputs[0]), len(op.inputs), op.sweeps, kind, padded)


add_row("stablehlo.reduce_window", _reduce_window)
