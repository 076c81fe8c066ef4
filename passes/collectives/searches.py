"""Loops that search a row by halving a range: what they compare, and what they read."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Block, SSAValue

from shardwright.dialects import dtensor, stablehlo
from shardwright.dialects.building import body_of
from shardwright.dialects.purity import is_pure
from shardwright.dialects.trip_count import trip_count
from shardwright.dialects.types import shape_of
from shardwright.layout.spec import LayoutSpec
from shardwright.passes.canonical.constants import splat_value
from shardwright.rules.expansion import Dims


@dataclass(frozen=True)
class Search:
    """
    A loop that carries a range, and halves it as often: `low` or the middle, and the middle or `high`, which it gives.

    `test` says which, from the element in the middle and what is known outside: the `first` half, or the other one.
    """

    loop: stablehlo.WhileOp
    high: int
    rounds: int
    gather: stablehlo.GatherOp
    test: SSAValue
    first: bool

    @property
    def source(self) -> SSAValue:
        """The row, in the layout in which it is before it is read."""
        return past(self.gather.operand)

    @property
    def source_spec(self) -> LayoutSpec:
        """Its layout."""
        return spec_of(self.source)

    @property
    def shape(self) -> tuple[int, ...]:
        """How many ranges there are."""
        return shape_of(self.loop.inputs[self.high])

    @property
    def dims(self) -> Dims:
        """The axes that they are split by where the row is read."""
        return spec_of(self.gather.start_indices).dims[: len(self.shape)]


def spec_of(value: SSAValue) -> LayoutSpec:
    """The layout of a value, which has one."""
    spec = dtensor.layout_of(value)
    assert spec is not None
    return spec


def past(value: SSAValue) -> SSAValue:
    """The value, finished, before it is brought into other layouts."""
    while isinstance(value.owner, dtensor.RelayoutOp) and not spec_of(value.owner.operand).partial:
        value = value.owner.operand
    return value


def search_of(loop: stablehlo.WhileOp) -> Search | None:
    """The search that a loop is, if it is one."""
    used = [place for place, result in enumerate(loop.results) if result.uses]
    rounds = trip_count(loop)
    if len(used) != 1 or rounds is None or not all(map(is_pure, body_of(loop.body.block))):
        return None
    (high,) = used
    args, chosen = loop.body.block.args, _chosen(loop, high)
    if chosen is None:
        return None
    test, sides = past(chosen.pred), [past(chosen.on_true), past(chosen.on_false)]
    if args[high] not in sides:
        return None
    first = sides[1] is args[high]
    middle = sides[0 if first else 1]
    low = next((place for place in range(len(args)) if _is_low(loop, place, test, middle, first)), None)
    gathers = [op for op in body_of(loop.body.block) if isinstance(op, stablehlo.GatherOp)]
    if low is None or len(gathers) != 1 or not _is_middle(middle, args[low], args[high]):
        return None
    (gather,) = gathers
    start, end = (splat_value(past(loop.inputs[place])) for place in (low, high))
    found = Search(loop, high, rounds, gather, test, first)
    row = shape_of(gather.operand)
    fits = start == 0 and len(row) == 1 and end == row[0] and _reads(gather, middle, len(found.shape))
    return found if fits and _is_outside(found.source, loop) else None


def _chosen(loop: stablehlo.WhileOp, place: int) -> stablehlo.SelectOp | None:
    """What chooses a value for the next round."""
    op = past(loop.next_values[place]).owner
    return op if isinstance(op, stablehlo.SelectOp) else None


def _is_low(loop: stablehlo.WhileOp, place: int, test: SSAValue, middle: SSAValue, first: bool) -> bool:
    """Whether a carried value stays where the first half is taken, and is the middle where the other one is."""
    op = _chosen(loop, place)
    if op is None or past(op.pred) is not test:
        return False
    sides = [past(op.on_true), past(op.on_false)]
    return sides[:: 1 if first else -1] == [loop.body.block.args[place], middle]


def _is_middle(value: SSAValue, low: SSAValue, high: SSAValue) -> bool:
    """Whether a value is `low + (high - low) / 2`."""
    add = value.owner
    if not isinstance(add, stablehlo.AddOp):
        return False
    terms = [past(operand) for operand in add.operands]
    halves = [term.owner for term in terms if term is not low]
    if len(halves) != 1 or not isinstance(half := halves[0], stablehlo.DivideOp):
        return False
    length = past(half.lhs).owner
    if splat_value(past(half.rhs)) != 2 or not isinstance(length, stablehlo.SubtractOp):
        return False
    return [past(operand) for operand in length.operands] == [high, low]


def _reads(gather: stablehlo.GatherOp, middle: SSAValue, rank: int) -> bool:
    """Whether a gather gives the element of a row at each place."""
    numbers, indices = gather.numbers, past(gather.start_indices)
    if isinstance(indices.owner, stablehlo.ReshapeOp):
        indices = past(indices.owner.operand)
    return indices is middle and numbers.start_index_map == (0,) and numbers.offset_dims in ((), (rank,))


def _is_outside(value: SSAValue, loop: stablehlo.WhileOp) -> bool:
    owner = value.owner
    block = owner if isinstance(owner, Block) else owner.parent
    return block is not None and block.parent_op() is not loop


_REPEATED = frozenset({*stablehlo.ELEMENTWISE, stablehlo.CompareOp, stablehlo.SelectOp})


def is_compared(search: Search) -> bool:
    """Whether what says where to go is made of the element, and of values outside, element by element."""
    block = search.loop.body.block
    waiting, seen = [search.test], set[SSAValue]()
    while waiting:
        value = past(waiting.pop())
        owner = value.owner
        if owner is block or shape_of(value) != search.shape:
            return False
        if value in seen or is_element(value, search.gather):
            continue
        seen.add(value)
        if isinstance(owner, Block) or owner.parent is not block:
            continue
        if type(owner) not in _REPEATED and splat_value(value) is None:
            return False
        waiting += owner.operands
    return True


def is_element(value: SSAValue, gather: stablehlo.GatherOp) -> bool:
    """Whether a value is what has been read of the row."""
    while isinstance(value.owner, dtensor.RelayoutOp | stablehlo.ReshapeOp):
        value = value.owner.operand
    return value.owner is gather
