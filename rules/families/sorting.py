"""Sort: dims other than the sorted one pass; in a split one sorted parts are dealt out and handed back, or merged."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

from xdsl.dialects.builtin import IntegerType, Signedness, i32, i64
from xdsl.ir import Block, Operation, Region, SSAValue

from shardwright.dialects import dtensor, stablehlo
from shardwright.dialects.building import Builder, appending, body_of, returned
from shardwright.dialects.types import element_of, element_size, is_integer, shape_of, tensor
from shardwright.layout.planning.window import Window, missing_elements
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
    A sort along a dim in parts: each part is sorted, dealt out to all and handed back, or merged two and two.

    Parts that are long enough are columns of a matrix, as in Leighton's columnsort: each deals its elements out to all,
    sorts what it has been dealt, and hands it back in order; then no element is far from its place, and neighbours set
    right what is at their border. Others, in a power of two of parts, meet as in Batcher's network: in a round each
    device has the elements of one other device, takes the lesser or the greater of each two, and sorts them. Where
    equal elements can be told apart, their places, in one of the operands or an operand more, order them.
    """

    factor: int
    shape: Shape
    dim: int
    widths: tuple[int, ...]
    """The bytes of an element of each operand, as it is sent."""
    places: int | None
    """The operand that says where each element stood, if one does and it matters."""
    adds: bool
    """Whether such an operand is put in addition."""

    @property
    def factors(self) -> frozenset[int]:
        """The factor of the sorted dim."""
        return frozenset((self.factor,))

    def _added(self, count: int) -> int:
        """The bytes of the place of an element, where it goes along."""
        extent = self.shape[self.dim]
        longest = count * _column(extent, count) if _in_columns(extent, count) else extent
        return _bytes_of_places(longest) if self.adds else 0

    def price(self, parts: Mapping[int, int], sizes: Sequence[int]) -> float | None:
        """All that a device has, in each round; or what others are dealt, twice, and what is at two borders."""
        count, extent = parts[self.factor], self.shape[self.dim]
        rows, given = math.prod(self.shape) / extent / math.prod(parts.values()) * count, sum(self.widths)
        if _in_columns(extent, count):
            each, near = _column(extent, count), _out_of_place(count)
            dealt = (count - 1) / count * (each * given + (each + 2 * near) * (given + self._added(count)))
            return rows * (dealt + float(_cut(extent, count)) * given)
        if count & (count - 1) or count > MOST_PARTS:
            return None
        return rows * extent / count * (given + self._added(count)) * sum(1 for _ in _rounds(count))

    def messages(self, parts: Mapping[int, int]) -> int:
        """One of each operand in each round; or two all-to-alls, the first one without places, and two neighbours."""
        count, operands, extent = parts[self.factor], len(self.widths), self.shape[self.dim]
        if _in_columns(extent, count):
            return (4 + (_column(extent, count) > extent // count)) * operands + 3 * self.adds
        return sum(operands + self.adds for _ in _rounds(count))

    def expand(self, op: Operation, site: Site) -> Sequence[SSAValue]:
        """Parts and what is in a part are dims of their own."""
        assert isinstance(op, stablehlo.SortOp)
        dims, count, values = site.operands[0], site.parts(self.factor), list(op.operands)
        build, extent = site.building(dims), self.shape[self.dim]
        places = len(values) if self.adds else self.places
        if self.places is not None:
            values[self.places] = build.cast(values[self.places], _number(extent))
        way = (_Columns if _in_columns(extent, count) else _Merge)(site, op, count, places)
        if self.adds and isinstance(way, _Merge):
            values.append(build.iota(self.dim, self.shape, _number(extent)))
        found = way.all_sorted([in_parts(site, value, dims, {self.dim: count})[0] for value in values])
        return [build.convert(way.joined(value), like=old) for value, old in zip(found, op.operands, strict=False)]


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
class _Parts:
    """Values whose parts stand along a dim, and what is in a part along the next one; and how elements compare."""

    site: Site
    op: stablehlo.SortOp
    count: int
    places: int | None
    """The value that says where each element stood, if equal ones can be told apart."""

    @property
    def dim(self) -> int:
        """The dim of the parts."""
        return self.op.dim

    @property
    def inner(self) -> int:
        """The dim of what is in a part."""
        return self.op.dim + 1

    def sorted(
        self, values: Sequence[SSAValue], dim: int, *, strict: bool = True, absent: SSAValue | None = None
    ) -> list[SSAValue]:
        """
        The values sorted along a dim that is whole.

        Where elements do not stand in order, those that are equal are told apart (`strict`). Those that are `absent`
        come last.
        """
        dims, every = self.site.spec(values[0]).dims, [*values, *([] if absent is None else [absent])]
        comparator = _comparator(self.op, every, self.places if strict else None, marked=absent is not None)
        return list(self.site.put(stablehlo.SortOp(every, dim, comparator), *[dims] * len(every)))[: len(values)]

    def joined(self, value: SSAValue) -> SSAValue:
        """A value whose parts are laid end to end, as it was before."""
        shape, dims = shape_of(value), self.site.spec(value).dims
        build = self.site.building((*dims[: self.dim + 1], *dims[self.dim + 2 :]))
        return build.reshape(value, (*shape[: self.dim], shape[self.dim] * shape[self.inner], *shape[self.dim + 2 :]))

    def like(self, value: SSAValue) -> Builder:
        """Builds values with the dims of another one."""
        return self.site.building(self.site.spec(value).dims)

    def where(self, marks: Callable[[Builder, SSAValue], SSAValue], value: SSAValue) -> SSAValue:
        """Which elements of a value are in parts whose numbers are marked."""
        dims = self.site.spec(value).dims
        build = self.site.building((dims[self.dim],))
        marked = marks(build, build.iota(0, (self.count,)))
        return self.site.building(dims).broadcast(marked, shape_of(value), (self.dim,))

    def moved(self, value: SSAValue, dims: Dims, windows: Mapping[int, Window], along: int) -> SSAValue:
        """Windows of a value: elements cross from device to device along one dim, the others are whole."""
        site, shape = self.site, shape_of(value)
        every = [windows.get(at, Window(size, size, 0)) for at, size in enumerate(shape)]
        axes = [dims[along] if at == along else () for at in range(len(shape))]
        padding = stablehlo.make_dense(0, element_of(value), ()) if any(each.pads for each in every) else None
        type_ = tensor(tuple(window.result for window in every), element_of(value))
        op = dtensor.WindowOp(value, type_, site.mesh.name, axes, every, padding, site.reason)
        return site.put(op, dims)[0]


@dataclass(frozen=True)
class _Columns(_Parts):
    """Parts that are dealt out, handed back, and set right at their borders."""

    def all_sorted(self, values: Sequence[SSAValue]) -> list[SSAValue]:
        """The values in order; with where each element stood, if that is a value more."""
        dealt = [self._dealt(self._filled(value)) for value in self.sorted(values, self.inner, strict=False)]
        # So far equal elements stand in order: those of a part as they were, and part after part.
        dealt += [self._numbers(dealt[0])] if self.places == len(values) else []
        found = self.sorted(dealt, self.inner, strict=False, absent=self._absent_as_dealt(dealt[0]))
        found = [self._handed_back(value) for value in found]
        return self._set_right(self.sorted(found, self.inner, absent=self._absent_as_handed_back(found[0])))

    def joined(self, value: SSAValue) -> SSAValue:
        """The same, without what has filled parts up, which is at the end."""
        value, extent = super().joined(value), shape_of(self.op.inputs[0])[self.dim]
        dims, whole = self.site.spec(value).dims, shape_of(value)[self.dim]
        if whole == extent:
            return value
        return self.moved(value, dims, {self.dim: Window(whole, extent, 0)}, self.dim)

    @property
    def _valid(self) -> int:
        """How many elements a part has."""
        return shape_of(self.op.inputs[0])[self.dim] // self.count

    def _filled(self, value: SSAValue) -> SSAValue:
        """Parts of a multiple of as many elements as there are parts, what is behind them absent."""
        lacking = _column(self._valid * self.count, self.count) - self._valid
        if not lacking:
            return value
        high = [lacking if dim == self.inner else 0 for dim in range(len(shape_of(value)))]
        zero = self.site.building(()).scalar(0, value)
        return self.like(value).pad(value, zero, [0] * len(high), high)

    def _absent_as_dealt(self, like: SSAValue) -> SSAValue | None:
        """Of what has been dealt, element `m` from each part was element `m * count + number` there."""
        return self._absent(
            like,
            (self.count, _column(self._valid * self.count, self.count) // self.count),
            lambda build, number, _, at: build.compare(
                build.add(build.scale(at, self.count), number), "GE", build.constant(self._valid, at)
            ),
        )

    def _absent_as_handed_back(self, like: SSAValue) -> SSAValue | None:
        """What is absent is at the end of those parts to which less was dealt: all in the last part now."""
        each, most = _column(self._valid * self.count, self.count) // self.count, self._valid % self.count

        def absent(build: Builder, part: SSAValue, at: SSAValue, source: SSAValue) -> SSAValue:
            rank = build.add(build.scale(part, each), at)
            late = build.compare(rank, "GE", build.constant(self.count * (each - 1), rank))
            return build.both(late, build.compare(source, "GE", build.constant(most, source)))

        return self._absent(like, (each, self.count), absent)

    def _absent(
        self, like: SSAValue, sizes: tuple[int, int], marks: Callable[[Builder, SSAValue, SSAValue, SSAValue], SSAValue]
    ) -> SSAValue | None:
        """Which elements are absent, from the number of the part and two numbers that say where in it they are."""
        if self._valid % self.count == 0:
            return None
        shape, dims, dim = shape_of(like), self.site.spec(like).dims, self.dim
        wide = (*shape[: dim + 1], *sizes, *shape[dim + 2 :])
        build = self.site.building((*dims[: dim + 1], (), (), *dims[dim + 2 :]))
        found = marks(build, *(build.iota(dim + at, wide) for at in range(3)))
        return self.like(like).reshape(build.cast(found, _number(1)), shape)

    def _apart(self, value: SSAValue, *sizes: int) -> SSAValue:
        """A value with the two dims of parts and what is in them made three, of which the first one is split."""
        shape, dims, dim = shape_of(value), self.site.spec(value).dims, self.dim
        wide = (*dims[: dim + 1], (), (), *dims[dim + 2 :])
        return self.site.building(wide).reshape(value, (*shape[:dim], *sizes, *shape[dim + 2 :]))

    def _exchanged(self, value: SSAValue, order: tuple[int, int, int]) -> SSAValue:
        """
        Three dims in another order, in which the first one is split, and the others are one.

        Of these the one that is split comes from any place; what it takes to have it split moves.
        """
        shape, dims, dim = shape_of(value), self.site.spec(value).dims, self.dim
        split = tuple(dims[dim] if at == order[0] else () for at in range(3))
        value = self.site.relayout(value, (*dims[:dim], *split, *dims[dim + 3 :]))
        turned = [*range(dim), *(dim + at for at in order), *range(dim + 3, len(shape))]
        value = self.site.building(dims).transpose(value, turned)
        joined = self.site.building((*dims[: dim + 1], (), *dims[dim + 3 :]))
        extent = math.prod(shape[dim : dim + 3]) // self.count
        return joined.reshape(value, (*shape[:dim], self.count, extent, *shape[dim + 3 :]))

    def _dealt(self, value: SSAValue) -> SSAValue:
        """Element `i` of each part goes to the part with the number of its remainder, from all parts in their order."""
        each = shape_of(value)[self.inner] // self.count
        return self._exchanged(self._apart(value, self.count, each, self.count), (2, 0, 1))

    def _handed_back(self, value: SSAValue) -> SSAValue:
        """Element `i` of each part goes to where it would be if the `i`th elements of all parts came one by one."""
        each = shape_of(value)[self.inner] // self.count
        return self._exchanged(self._apart(value, self.count, self.count, each), (1, 2, 0))

    def _numbers(self, like: SSAValue) -> SSAValue:
        """For what has been dealt, the place at which it stood once parts were sorted."""
        shape, dims, dim = shape_of(like), self.site.spec(like).dims, self.dim
        extent, element = shape[self.inner], _number(shape[self.inner] * self.count)
        wide = (*shape[:dim], self.count, self.count, extent // self.count, *shape[dim + 2 :])
        build = self.site.building((*dims[: dim + 1], (), (), *dims[dim + 2 :]))
        number = build.iota(dim, wide, element)
        for at, step in ((dim + 1, extent), (dim + 2, self.count)):
            number = build.add(number, build.scale(build.iota(at, wide, element), step))
        return self.like(like).reshape(number, shape)

    def _set_right(self, values: Sequence[SSAValue]) -> list[SSAValue]:
        """What is out of place is near the border of two parts: both sort what is there, and keep what is theirs."""
        near, extent = _out_of_place(self.count), shape_of(values[0])[self.inner]
        firsts = [self._cut(value, 0, near) for value in values]
        lasts = [self._cut(value, extent - near, extent) for value in values]
        before, after = self._met(lasts, firsts, -1), self._met(firsts, lasts, 1)
        if extent == 2 * near:
            return [self._laid(*each) for each in zip(before, after, strict=True)]
        middles = [self._cut(value, near, extent - near) for value in values]
        return [self._laid(*each) for each in zip(before, middles, after, strict=True)]

    def _laid(self, *pieces: SSAValue) -> SSAValue:
        """Elements of each part, one piece after the other."""
        return self.like(pieces[0]).put(stablehlo.ConcatenateOp(pieces, self.inner))

    def _cut(self, value: SSAValue, start: int, end: int) -> SSAValue:
        """Elements of each part."""
        shape = shape_of(value)
        starts, ends = [0] * len(shape), list(shape)
        starts[self.inner], ends[self.inner] = start, end
        return self.like(value).slice(value, starts, ends)

    def _met(self, others: Sequence[SSAValue], own: Sequence[SSAValue], step: int) -> list[SSAValue]:
        """Of the elements on both sides of a border those that belong to who has `own`; others are a step further."""
        near, below = _out_of_place(self.count), step < 0
        pairs: list[SSAValue] = []
        for value, mine in zip(others, own, strict=True):
            dims, window = self.site.spec(value).dims, {self.dim: Window(self.count, self.count, step)}
            sent = self.moved(value, dims, window, self.dim)
            pairs.append(self._laid(sent, mine) if below else self._laid(mine, sent))
        start, end = (near, 2 * near) if below else (0, near)
        kept = [self._cut(pair, start, end) for pair in self.sorted(pairs, self.inner)]
        outermost = 0 if below else self.count - 1
        alone = self.where(lambda build, at: build.compare(at, "EQ", build.constant(outermost, at)), own[0])
        return [self.like(mine).select(alone, mine, met) for mine, met in zip(own, kept, strict=True)]


@dataclass(frozen=True)
class _Merge(_Parts):
    """Parts that are merged two and two."""

    def all_sorted(self, values: Sequence[SSAValue]) -> list[SSAValue]:
        """The values in order; of equal ones that can be told apart the places go along."""
        values = self.sorted(values, self.inner)
        for low, high in _rounds(self.count):
            values = self._round(values, low, high)
        return values

    def _round(self, values: Sequence[SSAValue], low: int, high: int) -> list[SSAValue]:
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
        build, first = self.site.building(dims), self.where(lambda b, number: _is_first(b, number, high), values[0])
        chosen: list[SSAValue] = []
        for pair in self.sorted(pairs, 0):
            lesser, greater = (
                build.reshape(front.slice(pair, (at, *[0] * len(shape)), (at + 1, *shape)), shape) for at in range(2)
            )
            chosen.append(build.select(first, lesser, greater))
        return self.sorted(chosen, self.inner)

    def _met(self, value: SSAValue, low: int, high: int) -> SSAValue:
        """What is in the part that each part meets, back to front."""
        site, dim = self.site, self.dim
        shape, dims = shape_of(value), site.spec(value).dims
        pieces = (self.count >> high, 1 << (high - low), 1 << low)
        found, _ = project((dims[dim],), ((0, 1, 2),), pieces, site.mesh)
        split = [found.get(piece, ()) for piece in range(3)]
        wide = (*dims[:dim], *split, *dims[dim + 1 :])
        apart = site.building(wide).reshape(value, (*shape[:dim], *pieces, *shape[dim + 1 :]))
        back = {at: Window(size, size, size - 1, -1) for at in (dim + 1, dim + 3) for size in (shape_of(apart)[at],)}
        return site.building(dims).reshape(self.moved(apart, wide, back, dim + 1), shape)


def _is_first(build: Builder, number: SSAValue, high: int) -> SSAValue:
    """Where a part is the first one of its pair."""
    inside = build.put(stablehlo.RemainderOp(number, build.constant(1 << high, number)))
    return build.compare(inside, "LT", build.constant(1 << (high - 1), number))


def _out_of_place(count: int) -> int:
    """
    How far from its place an element is at most, once so many parts have been dealt out and handed back.

    Of zeros and ones, in rows of one element of each part, only so many ones can stand before some zero.
    """
    return (count - 1) ** 2


def _in_columns(extent: int, count: int) -> bool:
    """Whether parts of a dim are dealt out: they have to be long enough, and two meet for less."""
    each = _column(extent, count)
    filled = count**2 if each > extent // count else 0
    return count > 2 and each >= _out_of_place(count) + max(_out_of_place(count), filled)


def _column(extent: int, count: int) -> int:
    """How many elements a part of a dim has once it is filled up to a multiple of the number of parts."""
    return -(-(extent // count) // count) * count


def _cut(extent: int, count: int) -> Fraction:
    """How many elements a device lacks of its part, where parts that were filled up lie end to end."""
    whole = count * _column(extent, count)
    return missing_elements([(Window(whole, extent, 0), count)]) if whole > extent else Fraction()


def _bytes_of_places(extent: int) -> int:
    """How large numbers are that tell so many places apart."""
    return next(size for size in (1, 2, 4) if extent <= 1 << 8 * size)


def _number(extent: int) -> IntegerType:
    """The type of these numbers."""
    return IntegerType(8 * _bytes_of_places(extent), Signedness.UNSIGNED)


def _comparator(op: stablehlo.SortOp, values: Sequence[SSAValue], places: int | None, *, marked: bool) -> Region:
    """
    The comparator for values of which some may be narrower, or go along.

    With `places`, where equal elements stood, the first ones come first: `x < y or (not y < x and i < j)`. Those that
    the last value marks, if it does, come last.
    """
    old = op.comparator.block
    block = Block(arg_types=[tensor((), element_of(value)) for value in values for _ in "xy"])
    build, args = appending(block), block.args
    wide = [build.convert(new, like=arg) for new, arg in zip(args, old.args, strict=False)]
    before = cloned(old, build, wide)
    if places is not None:
        after = cloned(old, build, [wide[at ^ 1] for at in range(len(wide))])
        first = build.compare(args[2 * places], "LT", args[2 * places + 1])
        before = build.put(stablehlo.OrOp(before, build.both(build.put(stablehlo.NotOp(after)), first)))
    if marked:
        before = build.both(build.compare(args[-2], "EQ", args[-1]), before)
        before = build.put(stablehlo.OrOp(build.compare(args[-2], "LT", args[-1]), before))
    build.insert(stablehlo.ReturnOp(before))
    return Region(block)


def cloned(block: Block, build: Builder, args: Sequence[SSAValue]) -> SSAValue:
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


def places_of(op: stablehlo.SortOp) -> int | None:
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
def _sort_rule(shape: Shape, dim: int, widths: tuple[int, ...], places: int | None, adds: bool) -> Rule:
    builder, count = RuleBuilder(), len(widths)
    dims = tuple(builder.factor(size, PERMUTE if at == dim else PASS) for at, size in enumerate(shape))
    way: Way = (dims,) * count, (dims,) * count
    if not all(shape) or shape[dim] == 1 or shape[dim] >= 1 << 31:
        return builder.rule(*way)
    merged = builder.factor(shape[dim], PERMUTE)
    parts = (*dims[:dim], merged, *dims[dim + 1 :])
    other: Way = (parts,) * count, (parts,) * count
    sent = tuple(_bytes_of_places(shape[dim]) if at == places else width for at, width in enumerate(widths))
    # Layouts do not go through it: another dim takes it, or the whole row serves others, too, for less.
    return builder.rule(*way, expansion=SortExpansion(merged[0], shape, dim, sent, places, adds), others=[other])


def _sort(op: stablehlo.SortOp) -> Rule:
    """All operands are split alike; along the sorted dim parts are sorted, and dealt out or merged at a price."""
    places = places_of(op) if _tells_apart(op) else None
    adds = places is None and _tells_apart(op)
    widths = tuple(element_size(element_of(value)) for value in op.inputs)
    return _sort_rule(operand_shapes(op)[0], op.dim, widths, places, adds)


add_row("stablehlo.sort", _sort)
