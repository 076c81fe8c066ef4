"""The row of select_and_scatter (max-pool's gradient), and what it becomes where windows cross parts of a split dim."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Operation, Region, SSAValue

from shardwright.dialects import stablehlo
from shardwright.dialects.text.literals import DenseAttr
from shardwright.dialects.types import bit_width, element_dtype, element_of, shape_of
from shardwright.layout.planning.sweep import Sweep
from shardwright.layout.planning.window import Window
from shardwright.rules.builder import SCALAR, RuleBuilder
from shardwright.rules.expansion import Site
from shardwright.rules.reductions import combiner_of, identity_of, is_zero
from shardwright.rules.rule import PASS, PERMUTE, REPLICATE, Dim, Rule
from shardwright.rules.sharding import Shape, add_row
from shardwright.rules.windows.frames import Crossing, framed_apart, halo_bytes, together

OUTSIDE = {"float16": 0x7E57, "bfloat16": 0x7FD7, "float32": 0x7FC0DEAD, "float64": 0x7FF8DEADDEADDEAD}
"""The bits of the NaN that stands where a frame leaves the operand: a comparison of bits tells it from all others."""


@dataclass(frozen=True)
class Frames:
    """
    What one part of the result needs along a dim, of `size` elements in each part.

    `source` are the windows that reach into the part, `operand` the elements under these windows and in the part
    itself, which starts at element `first` of its frame; `sweep` moves over the frame.
    """

    source: Window
    operand: Window
    sweep: Sweep
    first: int
    size: int


def frames_of(sweep: Sweep, operand: int, source: int, parts: int) -> Frames:
    """
    The frames of `parts` parts; each part of the operand has `stride` elements for each window of its source.

    >>> found = frames_of(Sweep(3, stride=2, high=1), 16, 8, 4)
    >>> found.source.start, found.source.frame, found.operand.start, found.operand.frame, found.first
    (-1, 3, -2, 7, 2)
    """
    size, count = operand // parts, source // parts
    first = -((sweep.size - 1 - sweep.low) // sweep.stride)
    last = (size - 1 + sweep.low) // sweep.stride
    start, stop = first * sweep.stride - sweep.low, last * sweep.stride - sweep.low + sweep.size
    begin, end = min(start, 0), max(stop, size)
    windows = last - first + 1
    return Frames(
        Window(source, parts * windows, first, frame=windows, step=count),
        Window(operand, parts * (end - begin), begin, frame=end - begin, step=size),
        Sweep(sweep.size, sweep.stride, begin - start, stop - end),
        -begin,
        size,
    )


@dataclass(frozen=True)
class SelectionExpansion(Crossing):
    """
    A selection along split dims, done again by each device for all windows that reach into its part.

    What a window adds outside the part is cut off. Where a frame leaves the operand stands a NaN of its own, which the
    comparison never selects; a source that is not there adds nothing.
    """

    def price(self, parts: Mapping[int, int], sizes: Sequence[int]) -> float | None:
        """What a device lacks of its frames of operand and source."""
        taken, others = self.taken(parts), self.others(parts)
        frames = {dim: self._frames(dim, number) for dim, number in taken.items()}
        operand = halo_bytes({dim: (each.operand, taken[dim]) for dim, each in frames.items()}, others, sizes[0])
        return operand + halo_bytes({dim: (each.source, taken[dim]) for dim, each in frames.items()}, others, sizes[1])

    def _frames(self, dim: int, parts: int) -> Frames:
        return frames_of(self.sweeps[dim], self.shapes[0][dim], self.shapes[1][dim], parts)

    def expand(self, op: Operation, site: Site) -> Sequence[SSAValue]:
        """The selection in frames, of which each part keeps its own elements."""
        assert isinstance(op, stablehlo.SelectAndScatterOp)
        frames = {dim: self._frames(dim, number) for dim, number in self.taken(site.numbers).items()}
        monoid = combiner_of(op.scatter.block)
        assert monoid is not None, "only guarded rules expand"
        operand = framed_apart(
            site, op.operand, {dim: each.operand for dim, each in frames.items()}, outside(op.operand)
        )
        nothing = stablehlo.make_dense(identity_of(monoid, op.source), element_of(op.source), ())
        source = framed_apart(site, op.source, {dim: each.source for dim, each in frames.items()}, nothing)
        sweeps: list[Sweep] = []
        low: list[int] = []
        for dim, sweep in enumerate(self.sweeps):
            sweeps += [Sweep(1), frames[dim].sweep] if dim in frames else [sweep]
            low += [0, frames[dim].first] if dim in frames else [0]
        made = stablehlo.SelectAndScatterOp(
            operand, source, op.init_value, sweeps, guarded_select(op), op.scatter.clone()
        )
        dims = site.spec(operand).dims
        (value,) = site.put(made, dims)
        ends = list(shape_of(value))
        for place, dim in enumerate(sorted(frames)):
            ends[dim + place + 1] = frames[dim].first + frames[dim].size
        (value,) = site.put(stablehlo.SliceOp(value, low, ends), dims)
        return [together(site, value, frames)]


def may_guard(op: stablehlo.SelectAndScatterOp) -> bool:
    """Whether an op can pass over what stands outside: its elements have a NaN to spare, its source a neutral one."""
    return combiner_of(op.scatter.block) is not None and element_dtype(element_of(op.operand)).name in OUTSIDE


def outside(value: SSAValue) -> DenseAttr:
    """The literal of the NaN that is never selected."""
    import numpy as np

    element = element_of(value)
    dtype = element_dtype(element)
    bits = np.asarray(OUTSIDE[dtype.name], f"uint{8 * dtype.itemsize}")
    return stablehlo.make_dense(bits.view(dtype), element, ())


def guarded_select(op: stablehlo.SelectAndScatterOp) -> Region:
    """The comparison that takes anything but what is outside: `not outside(a) and (outside(b) or select(a, b))`."""
    import numpy as np

    region = op.select.clone()
    block = region.block
    last = block.last_op
    assert last is not None
    element = element_of(op.operand)
    integer = IntegerType(bit_width(element))
    bits = np.asarray(OUTSIDE[element_dtype(element).name], f"uint{integer.width.data}").view(
        f"int{integer.width.data}"
    )
    mark = stablehlo.make_constant(bits, integer, ())
    first, second = (stablehlo.BitcastConvertOp(argument, integer) for argument in block.args)
    outside = [stablehlo.CompareOp(converted, mark, "EQ") for converted in (first, second)]
    inside = stablehlo.NotOp(outside[0])
    either = stablehlo.OrOp(outside[1], last.operands[0])
    both = stablehlo.AndOp(inside, either)
    block.insert_ops_before([mark, first, second, *outside, inside, either, both], last)
    last.operands[0] = both.results[0]
    return region


@cache
def _selection_rule(shapes: tuple[Shape, Shape], sweeps: tuple[Sweep, ...], guarded: bool, linear: bool) -> Rule:
    builder = RuleBuilder()
    operand: list[Dim] = []
    source: list[Dim] = []
    moves: list[tuple[int, int]] = []
    for dim, (size, count, sweep) in enumerate(zip(*shapes, sweeps, strict=True)):
        crosses = sweep.blocks(size) is None
        if not crosses or (guarded and size == count * sweep.stride):
            shared = builder.factor(count, PERMUTE if crosses else PASS)
            operand.append(shared)
            source.append(shared)
            if crosses and shared:
                moves.append((shared[0], dim))
        else:
            operand.append(builder.factor(size, REPLICATE))
            source.append(builder.factor(count, REPLICATE))
    own = frozenset(factor for dim in operand for factor in dim)
    expansion = SelectionExpansion(sweeps, shapes, tuple(moves), own) if moves else None
    flows = (("sum", (1,)),) if linear else ()
    return builder.rule([tuple(operand), tuple(source), SCALAR], [tuple(operand)], flows, expansion=expansion)


def _selection(op: stablehlo.SelectAndScatterOp) -> Rule:
    """Dims in which windows do not cross pass; along others each device selects for all windows that reach it."""
    monoid = combiner_of(op.scatter.block)
    guarded = may_guard(op)
    linear = monoid is not None and monoid.kind == "sum" and is_zero(op.init_value)
    return _selection_rule((shape_of(op.operand), shape_of(op.source)), op.sweeps, guarded, linear)


add_row("stablehlo.select_and_scatter", _selection)
