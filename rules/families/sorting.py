"""Sort: dims other than the sorted one pass; in a split one sorted parts are merged, two and two."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from xdsl.dialects.builtin import IntegerType, Signedness, i32, i64
from xdsl.ir import Block, Operation, Region, SSAValue

from shardwright.dialects import dtensor, stablehlo
from shardwright.dialects.building import Builder, appending, body_of, returned
from shardwright.dialects.types import element_of, is_integer, shape_of, tensor
from shardwright.layout.planning.window import Window
from shardwright.rules.builder import RuleBuilder
from shardwright.rules.expansion import Dims, Site
from shardwright.rules.families.gathering import in_parts
from shardwright.rules.rule import PASS, PERMUTE, Rule, Way, project
from shardwright.rules.sharding import Shape, add_row, operand_shapes

MOST_PARTS = 256
"""So many parts at most are merged: that takes 36 rounds, which are written out."""


@dataclass(frozen=True)
class SortExpansion:
    """
    A sort along a dim in a power of two of parts: each part is sorted, then pairs of them, as in Batcher's network.

    In a round each device has the elements of one other device, takes the lesser or the greater of each two, and sorts
    them. Where equal elements can be told apart, their places, in one of the operands or an operand more, order them.
    """

    factor: int
    shape: Shape
    dim: int
    operands: int
    places: int | None
    """The operand that says where each element stood, if one does and it matters."""
    adds: bool
    """Whether such an operand is put in addition."""

    @property
    def factors(self) -> frozenset[int]:
        """The factor of the sorted dim."""
        return frozenset((self.factor,))

    def price(self, parts: Mapping[int, int], sizes: Sequence[int]) -> float | None:
        """All that a device has, in each round."""
        count = parts[self.factor]
        if count & (count - 1) or count > MOST_PARTS:
            return None
        others = math.prod(number for factor, number in parts.items() if factor != self.factor)
        moved = sum(sizes[: len(sizes) // 2]) + (
            math.prod(self.shape) * _bytes_of_places(self.shape[self.dim]) if self.adds else 0
        )
        return sum(1 for _ in _rounds(count)) * moved / count / others

    def messages(self, parts: Mapping[int, int]) -> int:
        """One of each operand in each round."""
        return sum(self.operands + self.adds for _ in _rounds(parts[self.factor]))

    def expand(self, op: Operation, site: Site) -> Sequence[SSAValue]:
        """Parts and what is in a part are dims of their own."""
        assert isinstance(op, stablehlo.SortOp)
        dims, count, values = site.operands[0], site.parts(self.factor), list(op.operands)
        places = self.places
        if self.adds:
            places = len(values)
            element = IntegerType(8 * _bytes_of_places(self.shape[self.dim]), Signedness.UNSIGNED)
            values.append(site.building(dims).iota(self.dim, self.shape, element))
        merge = _Merge(site, self.dim, count, _by_place(op, values, places))
        values = merge.sorted([in_parts(site, value, dims, {self.dim: count})[0] for value in values], self.dim + 1)
        for low, high in _rounds(count):
            values = merge.round(values, low, high)
        return [site.building(dims).reshape(value, self.shape) for value in values[: len(op.outputs)]]


def _rounds(count: int) -> Iterator[tuple[int, int]]:
    """
    Which bits of its number tell a part from the one it meets in each round: those from the first up to the second.

    >>> list(_rounds(4))
    [(0, 1), (0, 2), (0, 1)]
    """
    for high in range(1, count.bit_length()):
        yield 0, high
        yield from ((bit, bit + 1) for bit in range(high - 2, -1, -1))


@dataclass(frozen=True)
class _Merge:
    """The rounds of a sort of values whose parts stand along a dim, and what is in a part along the next one."""

    site: Site
    dim: int
    count: int
    comparator: Region

    def sorted(self, values: Sequence[SSAValue], dim: int) -> list[SSAValue]:
        """The values sorted along a dim that is whole."""
        dims = self.site.spec(values[0]).dims
        made = stablehlo.SortOp(values, dim, self.comparator.clone())
        return list(self.site.put(made, *[dims] * len(values)))

    def round(self, values: Sequence[SSAValue], low: int, high: int) -> list[SSAValue]:
        """The lesser elements of each pair of parts in the first one, the greater ones in the second one, sorted."""
        shape, dims = shape_of(values[0]), self.site.spec(values[0]).dims
        front = self.site.building(((), *dims))
        pairs = [
            front.put(
                stablehlo.ConcatenateOp(
                    [front.reshape(each, (1, *shape)) for each in (value, self._met(value, low, high))], 0
                )
            )
            for value in values
        ]
        build, first = self.site.building(dims), self._is_first(shape, dims, high)
        chosen: list[SSAValue] = []
        for pair in self.sorted(pairs, 0):
            lesser, greater = (
                build.reshape(front.slice(pair, (at, *[0] * len(shape)), (at + 1, *shape)), shape) for at in range(2)
            )
            chosen.append(build.select(first, lesser, greater))
        return self.sorted(chosen, self.dim + 1)

    def _is_first(self, shape: Shape, dims: Dims, high: int) -> SSAValue:
        """Where a part is the first one of its pair."""
        build = self.site.building((dims[self.dim],))
        number = build.iota(0, (self.count,))
        inside = build.put(stablehlo.RemainderOp(number, build.literal(1 << high, i32, (self.count,))))
        first = build.compare(inside, "LT", build.literal(1 << (high - 1), i32, (self.count,)))
        return self.site.building(dims).broadcast(first, shape, (self.dim,))

    def _met(self, value: SSAValue, low: int, high: int) -> SSAValue:
        """What is in the part that each part meets, back to front."""
        site, dim = self.site, self.dim
        shape, dims = shape_of(value), site.spec(value).dims
        pieces = (self.count >> high, 1 << (high - low), 1 << low)
        found, _ = project((dims[dim],), ((0, 1, 2),), pieces, site.mesh)
        split = [found.get(piece, ()) for piece in range(3)]
        wide = (*dims[:dim], *split, *dims[dim + 1 :])
        apart = site.building(wide).reshape(value, (*shape[:dim], *pieces, *shape[dim + 1 :]))
        turned = {dim + 1, dim + 3}
        windows = [
            Window(size, size, size - 1, -1) if at in turned else Window(size, size, 0)
            for at, size in enumerate(shape_of(apart))
        ]
        axes = [split[1] if at == dim + 1 else () for at in range(len(wide))]
        type_ = tensor(shape_of(apart), element_of(value))
        moved = dtensor.WindowOp(apart, type_, site.mesh.name, axes, windows, None, site.reason)
        return site.building(dims).reshape(site.put(moved, wide)[0], shape)


def _bytes_of_places(extent: int) -> int:
    """How large numbers are that tell so many places apart."""
    return next(size for size in (1, 2, 4) if extent <= 1 << 8 * size)


def _by_place(op: stablehlo.SortOp, values: Sequence[SSAValue], places: int | None) -> Region:
    """The comparator, by which of equal elements the first ones come first: `x < y or (not y < x and i < j)`."""
    if places is None:
        return op.comparator.clone()
    old = op.comparator.block
    count = len(old.args) // 2
    block = Block(arg_types=[tensor((), element_of(value)) for value in values for _ in "xy"])
    build, args = appending(block), block.args
    before = _cloned(old, build, args[: 2 * count])
    after = _cloned(old, build, [args[at ^ 1] for at in range(2 * count)])
    first = build.compare(args[2 * places], "LT", args[2 * places + 1])
    equal = build.both(build.put(stablehlo.NotOp(after)), first)
    build.insert(stablehlo.ReturnOp(build.put(stablehlo.OrOp(before, equal))))
    return Region(block)


def _cloned(block: Block, build: Builder, args: Sequence[SSAValue]) -> SSAValue:
    """What a block returns for these arguments, by ops put in place."""
    known: dict[SSAValue, SSAValue] = dict(zip(block.args, args, strict=True))
    for op in body_of(block):
        build.insert(op.clone(known))
    (result,) = returned(block)
    return known.get(result, result)


def _tells_apart(op: stablehlo.SortOp) -> bool:
    """Whether elements may differ of which neither comes first: others than whole numbers, or floats in total order."""
    block = op.comparator.block
    (result,) = returned(block)
    compare = result.owner
    if len(op.inputs) > 1 or not isinstance(compare, stablehlo.CompareOp) or compare.direction not in ("LT", "GT"):
        return True
    exact = is_integer(element_of(op.inputs[0])) or compare.order == "TOTALORDER"
    return not exact or {compare.lhs, compare.rhs} != set(block.args)


def _places_of(op: stablehlo.SortOp) -> int | None:
    """The first operand that numbers the elements along the sorted dim."""
    return next(
        (
            at
            for at, value in enumerate(op.inputs)
            if isinstance(value.owner, stablehlo.IotaOp)
            and value.owner.dim == op.dim
            and element_of(value) in (i32, i64)
        ),
        None,
    )


@cache
def _sort_rule(shape: Shape, dim: int, count: int, places: int | None, adds: bool) -> Rule:
    builder = RuleBuilder()
    dims = tuple(builder.factor(size, PERMUTE if at == dim else PASS) for at, size in enumerate(shape))
    way: Way = (dims,) * count, (dims,) * count
    if not all(shape) or shape[dim] == 1 or shape[dim] >= 1 << 31:
        return builder.rule(*way)
    merged = builder.factor(shape[dim], PERMUTE)
    parts = (*dims[:dim], merged, *dims[dim + 1 :])
    other: Way = (parts,) * count, (parts,) * count
    # Layouts do not go through it: another dim takes it, or the whole row serves others, too, for less.
    return builder.rule(*way, expansion=SortExpansion(merged[0], shape, dim, count, places, adds), others=[other])


def _sort(op: stablehlo.SortOp) -> Rule:
    """All operands are split alike; along the sorted dim parts are sorted, and merged at a price."""
    places = _places_of(op) if _tells_apart(op) else None
    adds = places is None and _tells_apart(op)
    return _sort_rule(operand_shapes(op)[0], op.dim, len(op.inputs), places, adds)


add_row("stablehlo.sort", _sort)
