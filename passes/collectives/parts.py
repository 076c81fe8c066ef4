"""
Products in rounds: each device multiplies the part that it holds, then those of others, which come one by one.

Each comes straight from who holds it. Of `odd * 2**bits` devices, those trade parts in a round whose numbers differ in
the same last bits; their first digit moves on, round and round. So each part comes to each place once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from xdsl.dialects.builtin import BFloat16Type, Float16Type, f32
from xdsl.ir import Attribute, Operation, SSAValue

from shardwright.dialects.building import Builder
from shardwright.dialects.dtensor import RelayoutOp, WindowOp, layout_of
from shardwright.dialects.stablehlo import (
    ConcatenateOp,
    DotDimensions,
    DotGeneralOp,
    GatherDimensions,
    GatherOp,
    OptimizationBarrierOp,
    RemainderOp,
    XorOp,
    make_dense,
)
from shardwright.dialects.types import element_of, shape_of, tensor
from shardwright.layout.axes import beyond, cut, merge_adjacent
from shardwright.layout.mesh import Mesh
from shardwright.layout.planning.window import Window
from shardwright.rules.expansion import Axes, Site
from shardwright.rules.rule import project

__all__ = ["MOST_PARTS", "Gathered", "Reader", "gathered", "in_rounds"]

MOST_PARTS = 32
"""So many parts at most come one by one: what is done with each of them is written out."""

PART, PLACE = "part", "place"
"""The dim of the parts of what is gathered, and that of the devices that hold them; both are as long."""


@dataclass(frozen=True)
class Reader:
    """
    A product that reads a gathered value, as the operand `side`.

    Its other operand, and with it the result, is split by the same axes along a dim of its own, `place`, and by those
    `around` into larger parts, and into smaller ones.
    """

    product: DotGeneralOp
    side: int
    place: int
    around: tuple[Axes, Axes]

    @property
    def other(self) -> SSAValue:
        """The operand that stays."""
        return self.product.operands[1 - self.side]


@dataclass(frozen=True, eq=False)
class Gathered:
    """A value that is gathered along some axes of a dim, by a copy, for products that may take its parts one by one."""

    copy: RelayoutOp
    dim: int
    axes: Axes
    readers: tuple[Reader, ...]
    mesh: Mesh

    @property
    def count(self) -> int:
        """The number of parts."""
        return self.mesh.group_size(self.axes)


def gathered(copy: RelayoutOp, mesh: Mesh) -> Gathered | None:
    """What a copy gathers, if only products of its block read it, which may take its parts one by one."""
    found = _gathered_dim(copy, mesh)
    if found is None or Parts(mesh.group_size(found[1])).axes_of(found[1], mesh) is None:
        return None
    readers = [_reader(use.operation, use.index, *found, mesh) for use in copy.result.uses]
    products = [each for each in readers if each is not None and each.product.parent is copy.parent]
    return Gathered(copy, *found, tuple(products), mesh) if products and len(products) == len(readers) else None


def _gathered_dim(copy: RelayoutOp, mesh: Mesh) -> tuple[int, Axes] | None:
    """The dim that a copy has more of than what it is made of, if it is one, and the axes, the minor ones there."""
    source, target = layout_of(copy.operand), layout_of(copy.result)
    if source is None or target is None or source.partial or target.partial:
        return None
    differing = [dim for dim, axes in enumerate(source.dims) if axes != target.dims[dim]]
    if len(differing) != 1:
        return None
    axes = beyond(source.dims[differing[0]], target.dims[differing[0]], mesh.sizes)
    return (differing[0], axes) if axes and mesh.group_size(axes) > 1 else None


def _reader(product: Operation, side: int, dim: int, axes: Axes, mesh: Mesh) -> Reader | None:
    """A product of what is gathered along axes of a dim, if these split its other operand, and nothing is a batch."""
    if not isinstance(product, DotGeneralOp) or dim in product.batching_dims[side]:
        return None
    spec, paired = layout_of(product.operands[1 - side]), (product.batching_dims, product.contracting_dims)
    for place, mine in enumerate(() if spec is None else spec.dims):
        around = None if any(place in dims[1 - side] for dims in paired) else _around(mine, axes, mesh)
        if around is not None:
            return Reader(product, side, place, around)
    return None


def _around(axes: Axes, inner: Axes, mesh: Mesh) -> tuple[Axes, Axes] | None:
    """What stands in front of some axes and behind them where they are in a row; None where they are not."""
    pieces = cut([*axes, *inner], mesh.sizes)
    mine, wanted = ([piece for axis in side for piece in pieces[axis]] for side in (axes, inner))
    for at in range(len(mine) - len(wanted) + 1):
        if mine[at : at + len(wanted)] == wanted:
            front, behind = mine[:at], mine[at + len(wanted) :]
            return merge_adjacent(front, mesh.sizes), merge_adjacent(behind, mesh.sizes)
    return None


def in_rounds(value: Gathered, insert: Callable[[Operation], Operation], reason: str) -> list[SSAValue]:
    """The results of all products, made by ops that are inserted, none of which has the gathered value whole."""
    site = Site(value.mesh, (), (), {}, reason, insert)
    parts = Parts(value.count)
    sent = _Sent(value, site, parts)
    products = [_Product(value, reader, site, parts) for reader in value.readers]
    for number in range(parts.count):
        if number:
            _wait(site, sent, products)
        arrived = sent.arrived(number)
        for product in products:
            product.take(number, arrived)
    return [product.result() for product in products]


def _wait(site: Site, sent: _Sent, products: Sequence[_Product]) -> None:
    """
    Lets nothing of a round begin before the last one is done: then no more than one part is there at a time.

    Partial sums do not pass a barrier, which would finish them.
    """
    known = [product for product in products if not site.spec(product.found[-1].value).partial]
    if not known:
        return
    values = [sent.held, *(product.found[-1].value for product in known)]
    sent.held, *made = site.put(OptimizationBarrierOp(values), *(site.spec(value).dims for value in values))
    for product, value in zip(known, made, strict=True):
        product.found[-1] = _Named(value, product.found[-1].names)


@dataclass(frozen=True)
class Parts:
    """
    The numbers of parts, and which of them meet.

    >>> parts = Parts(12)
    >>> parts.odd, parts.size, parts.bits
    (3, 4, 2)
    """

    count: int

    @property
    def size(self) -> int:
        """How many differ in their last bits only."""
        return self.count & -self.count

    @property
    def odd(self) -> int:
        """How many first digits there are."""
        return self.count // self.size

    @property
    def bits(self) -> int:
        """How many last bits."""
        return self.size.bit_length() - 1

    @property
    def digits(self) -> list[int]:
        """The sizes of the digits of a number, major to minor."""
        return [*([self.odd] if self.odd > 1 else []), *[2] * self.bits]

    def axes_of(self, axes: Axes, mesh: Mesh) -> list[Axes] | None:
        """The axes of each digit of what these axes split; None where digits cross them, and for too many parts."""
        count = len(self.digits)
        found, exact = project((axes,), (tuple(range(count)),), self.digits, mesh)
        return [found[digit] for digit in range(count)] if exact and self.count <= MOST_PARTS else None

    def apart(self, build: Builder, number: SSAValue, other: SSAValue, *, back: bool = False) -> SSAValue:
        """The part that meets a place in a round, or, given place and part, `back`, the round in which they meet."""
        if self.odd == 1:
            return build.put(XorOp(number, other))
        if self.size == 1:
            return self._around(build, number, other, back)
        size = build.constant(self.size, number)
        first = self._around(build, build.divide(number, size), build.divide(other, size), back)
        last = build.put(XorOp(build.put(RemainderOp(number, size)), build.put(RemainderOp(other, size))))
        return build.add(build.multiply(first, size), last)

    def _around(self, build: Builder, number: SSAValue, shift: SSAValue, back: bool) -> SSAValue:
        """A first digit that has moved on, or `back`, round and round."""
        odd = build.constant(self.odd, number)
        moved = build.add(number, build.subtract(odd, shift) if back else shift)
        return build.put(RemainderOp(moved, odd))


class _Sent:
    """The gathered value: the part that each device holds, and what arrives of the others."""

    def __init__(self, value: Gathered, site: Site, parts: Parts):
        self.site, self.parts = site, parts
        source, outer = value.copy.operand, site.spec(value.copy.result).dims[value.dim]
        front = [(value.mesh.group_size(outer), outer)] if outer else []
        rest = shape_of(source)[value.dim] // (value.mesh.group_size(outer) * parts.count)
        self.held = _apart(site, source, value.dim, [*front, (parts.count, value.axes), (rest, ())])
        self.at = value.dim + len(front)
        """The dim of the parts."""
        digits = parts.axes_of(value.axes, value.mesh)
        assert digits is not None
        self.digits = list(zip(parts.digits, digits, strict=True))
        """The sizes and axes of the digits of their numbers."""

    def arrived(self, number: int) -> SSAValue:
        """The part that is at each place in a round."""
        if not number:
            return self.held
        parts, dims, last = self.parts, self.site.spec(self.held).dims, self.at + len(self.digits) - 1
        apart = _apart(self.site, self.held, self.at, self.digits)
        turned = [last - bit for bit in range(parts.bits) if number >> bit & 1]
        moved = self._moved(apart, number // parts.size, {dim: Window(2, 2, 1, -1) for dim in turned})
        return self.site.building(dims).reshape(moved, shape_of(self.held))

    def _moved(self, value: SSAValue, shift: int, windows: Mapping[int, Window]) -> SSAValue:
        """Parts that have moved by the windows of their last bits, and round and round along their first digit."""
        if not shift:
            return self._window(value, windows)
        at, size = self.at, self.parts.odd
        starts = shift, shift - size
        ahead, behind = (self._window(value, {**windows, at: Window(size, size, start)}) for start in starts)
        dims = self.site.spec(value).dims
        build = self.site.building((dims[at],))
        number = build.iota(0, (size,))
        inside = build.compare(number, "LT", build.constant(size - shift, number))
        build = self.site.building(dims)
        return build.select(build.broadcast(inside, shape_of(value), (at,)), ahead, behind)

    def _window(self, value: SSAValue, windows: Mapping[int, Window]) -> SSAValue:
        shape, dims = shape_of(value), self.site.spec(value).dims
        every = [windows.get(dim, Window(size, size, 0)) for dim, size in enumerate(shape)]
        axes = [mine if dim in windows else () for dim, mine in enumerate(dims)]
        padding = make_dense(0, element_of(value), ()) if any(each.pads for each in every) else None
        type_, mesh = tensor(shape, element_of(value)), self.site.mesh.name
        return self.site.put(WindowOp(value, type_, mesh, axes, every, padding, self.site.reason), dims)[0]


def _apart(site: Site, value: SSAValue, dim: int, pieces: Sequence[tuple[int, Axes]]) -> SSAValue:
    """A value with a dim taken apart, major to minor, into dims of these sizes, split by these axes."""
    sizes, axes = zip(*pieces, strict=True)
    shape, dims = shape_of(value), site.spec(value).dims
    build = site.building((*dims[:dim], *axes, *dims[dim + 1 :]))
    return build.reshape(value, (*shape[:dim], *sizes, *shape[dim + 1 :]))


@dataclass(frozen=True)
class _Named:
    """A value whose dims have names; of two factors, those that pair up have the same."""

    value: SSAValue
    names: tuple[str, ...]

    def at(self, name: str) -> int:
        """Which dim has a name."""
        return self.names.index(name)

    def without(self, name: str) -> tuple[str, ...]:
        """The other names."""
        return tuple(each for each in self.names if each != name)


def _replaced(names: tuple[str, ...], name: str, pieces: tuple[str, ...]) -> tuple[str, ...]:
    """The names with one replaced by those of its pieces."""
    at = names.index(name)
    return (*names[:at], *pieces, *names[at + 1 :])


def _names(product: DotGeneralOp) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names of the dims of both factors."""
    found = [[f"{side}{dim}" for dim in range(len(shape_of(value)))] for side, value in enumerate(product.operands)]
    for left, right in (*zip(*product.batching_dims, strict=True), *zip(*product.contracting_dims, strict=True)):
        found[1][right] = found[0][left]
    return tuple(found[0]), tuple(found[1])


class _Product:
    """
    The rounds of one product.

    `cut` names the dim that is gathered, `held` the dim of the other operand that the same axes split. `sums` says that
    the dim is summed over: each part gives a part of the sum. Otherwise it gives a part of the result.
    """

    def __init__(self, value: Gathered, reader: Reader, site: Site, parts: Parts):
        self.value, self.reader, self.site, self.parts = value, reader, site, parts
        product, side = reader.product, reader.side
        names, self.spec = _names(product), site.spec(product.results[0])
        self.cut, self.held = names[side][value.dim], names[1 - side][reader.place]
        self.batch = [names[0][dim] for dim in product.batching_dims[0]]
        self.sums = self.cut in names[1 - side]
        self.element = self._element()
        self.names = names[side]
        free = [[each for each in own if each not in other] for own, other in (names, names[::-1])]
        self.order = (*self.batch, *free[0], *free[1])
        self.kept = self._by_place(_Named(reader.other, names[1 - side]))
        self.found: list[_Named] = []
        """The sum so far, or the parts of the result."""

    def take(self, number: int, arrived: SSAValue) -> None:
        """Multiplies the part that has arrived in a round."""
        pieces = self._pieces(self.cut, self.site.spec(self.value.copy.result).dims[self.value.dim], PLACE)
        sent = _Named(arrived, _replaced(self.names, self.cut, pieces))
        made = self._multiplied(self._met(number) if self.sums else self.kept, sent)
        if not self.sums or not number:
            self.found.append(made)
        else:
            total = self.found[0].value
            self.found = [_Named(self._like(total).add(total, made.value), made.names)]

    def result(self) -> SSAValue:
        """All parts of the result, added up or laid side by side, as the product has them."""
        if not self.sums:
            return self._as_product(self._side_by_side())
        (total,) = self.found
        element = element_of(self.reader.product.results[0])
        return self._as_product(_Named(self._like(total.value).cast(total.value, element), total.names))

    def _element(self) -> Attribute:
        """
        The type in which parts of a sum are added up: that of the sums within the product.

        Narrow floats are summed in float32 there. Where devices have partial sums, these are rounded before they meet.
        """
        element = element_of(self.reader.product.results[0])
        narrow = isinstance(element, BFloat16Type | Float16Type)
        return f32 if narrow and self.sums and not self.spec.partial else element

    def _like(self, value: SSAValue) -> Builder:
        return self.site.building(self.site.spec(value).dims)

    def _dims(self, named: _Named) -> dict[str, Axes]:
        return dict(zip(named.names, self.site.spec(named.value).dims, strict=True))

    @staticmethod
    def _pieces(name: str, front: Axes, piece: str) -> tuple[str, ...]:
        """The names of the pieces of a dim: of larger parts, if it falls into some, of the piece, and of the rest."""
        return (f"{name} before", piece, name) if front else (piece, name)

    def _by_place(self, other: _Named) -> _Named:
        """The other operand, its places along a dim of their own; and its parts, where they are summed over."""
        front, behind = self.reader.around
        found = self._in_pieces(other, self.held, front, PLACE, self.value.axes, behind)
        return self._in_pieces(found, self.cut, self._dims(found)[self.cut], PART, (), ()) if self.sums else found

    def _in_pieces(self, named: _Named, name: str, front: Axes, piece: str, axes: Axes, behind: Axes) -> _Named:
        """A dim taken apart into larger parts, if it falls into some, parts, and what is in them."""
        at, outer = named.at(name), self.site.mesh.group_size(front)
        rest = shape_of(named.value)[at] // (outer * self.parts.count)
        pieces = [*([(outer, front)] if front else []), (self.parts.count, axes), (rest, behind)]
        names = _replaced(named.names, name, self._pieces(name, front, piece))
        return _Named(_apart(self.site, named.value, at, pieces), names)

    def _multiplied(self, kept: _Named, sent: _Named) -> _Named:
        """The product of a round."""
        product = self.reader.product
        left, right = (kept, sent) if self.reader.side else (sent, kept)
        batch = [*self.batch, PLACE]
        summed = [name for name in left.names if name in right.names and name not in batch]
        pairs = [tuple(map(each.at, names)) for names in (batch, summed) for each in (left, right)]
        op = DotGeneralOp(left.value, right.value, DotDimensions(*pairs), self.element)
        exactness = {"precision_config", "algorithm"} & product.properties.keys()
        op.properties |= {name: product.properties[name] for name in exactness}
        free = [each for each in (*left.names, *right.names) if each not in batch and each not in summed]
        axes, names = self._dims(left) | self._dims(right), (*batch, *free)
        flowing = self.site.spec(kept.value).partial
        own = tuple(axis for axis in self.spec.partial if axis not in flowing)
        (value,) = self.site.put(op, tuple(axes[name] for name in names), partial=own, kind=self.spec.kind)
        return _Named(value, names)

    @cached_property
    def _places(self) -> SSAValue:
        """The numbers of the devices."""
        return self.site.building((self.value.axes,)).iota(0, (self.parts.count,))

    def _met(self, number: int) -> _Named:
        """Of the operand that stays what meets the part that is at a place in a round."""
        build, places = self.site.building((self.value.axes,)), self._places
        part = self.parts.apart(build, places, build.constant(number, places)) if number else places
        return self._picked(self.kept, part, self.kept.without(PART))

    def _side_by_side(self) -> _Named:
        """The parts of the result, of which those of a round are others at each place, in their order."""
        first, at = self.found[0], self.found[0].at(self.cut)
        dims, count = self.site.spec(first.value).dims, self.parts.count
        inside = shape_of(first.value)[at], dims[at]
        laid = [_apart(self.site, each.value, at, [(1, ()), inside]) for each in self.found]
        build = self.site.building((*dims[:at], (), *dims[at:]))
        stacked = _Named(build.put(ConcatenateOp(laid, at)), _replaced(first.names, self.cut, (PART, self.cut)))
        build = self.site.building((self.value.axes, ()))
        place, part = (build.iota(dim, (count, count)) for dim in range(2))
        return self._picked(stacked, self.parts.apart(build, part, place, back=True), stacked.names)

    def _picked(self, named: _Named, parts: SSAValue, names: tuple[str, ...]) -> _Named:
        """For each place its own parts, by their numbers: one, which leaves the rest of the names, or all."""
        sizes = dict(zip(named.names, shape_of(named.value), strict=True)) | {PLACE: 1, PART: 1}
        inside = tuple(dim for dim, name in enumerate(names) if name not in (PLACE, PART))
        place, part = named.at(PLACE), named.at(PART)
        numbers = GatherDimensions(inside, (part,), (place,), (0,), (part,), len(shape_of(parts)))
        build = self.site.building(tuple(self._dims(named)[name] for name in names))
        return _Named(build.put(GatherOp(named.value, parts, numbers, [sizes[name] for name in named.names])), names)

    def _as_product(self, found: _Named) -> SSAValue:
        """In the dims of the product, in their order."""
        result, dims = self.reader.product.results[0], self._dims(found)
        pieces = {self.held: PLACE} if self.sums else {self.held: PLACE, self.cut: PART}
        apart = ([f"{name} before", pieces.get(name, ""), name] for name in self.order)
        order = [each for names in apart for each in names if each in dims]
        build = self.site.building(tuple(dims[name] for name in order))
        value = build.transpose(found.value, [found.at(name) for name in order])
        return self.site.building(self.spec.dims).reshape(value, shape_of(result))
