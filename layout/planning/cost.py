"""
What a collective sends, in exact numbers, without ever looking at single devices.

Shares are fractions of the *global* tensor's bytes, averaged over devices. Each collective counts as one message,
except those that send nothing (`LOCAL`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise, product
from operator import itemgetter
from typing import TypeVar

from shardwright.layout.axes import Axis
from shardwright.layout.mesh import Mesh
from shardwright.layout.planning.algebra import (
    Digits,
    atom_digits,
    canonical,
    check_exchange,
    check_permute,
    crossing_axes,
    shards,
    spelled,
    without,
)
from shardwright.layout.spec import LayoutSpec

DimPair = tuple[Sequence[Digits], Sequence[Digits]]
"""The digits that split one dim in the source and in the target, major to minor."""

Axes = tuple[Axis, ...]

ENUMERATION_LIMIT = 1 << 20
"""The most combinations of positions that an exact count may visit where radices do not nest."""

LOCAL = ("all_slice", "unreduce", "unscatter")
"""The kinds in which a device keeps all or a part of what it has, and sends nothing."""

_ONE = Fraction(1)
_ZERO = Fraction(0)


def sent_bytes(kind: str, buffer_bytes: int, group_size: int, moved_share: Fraction = _ONE) -> Fraction:
    """
    Bytes that a device sends, on average, with a bandwidth-optimal algorithm.

    `buffer_bytes` is per device: the operand of an `all_reduce`, `reduce_scatter`, `all_to_all` or
    `collective_permute`, the result of an `all_gather`; for an `exchange` it is the whole global tensor.
    `moved_share` is `moved_share(...)` for a permute and `missing_share(...)` for an exchange; others ignore it.

    >>> sent_bytes("all_reduce", 1024, 4), sent_bytes("all_gather", 1024, 4), sent_bytes("all_slice", 1024, 4)
    (Fraction(1536, 1), Fraction(768, 1), Fraction(0, 1))
    """
    match kind:
        case "all_slice" | "unreduce" | "unscatter":
            return _ZERO
        case "all_reduce":
            return Fraction(2 * buffer_bytes * (group_size - 1), group_size)
        case "all_gather" | "reduce_scatter" | "all_to_all":
            return Fraction(buffer_bytes * (group_size - 1), group_size)
        case "collective_permute" | "exchange":
            return buffer_bytes * moved_share
        case _:
            raise ValueError(f"{kind!r} is no collective")


def messages(kind: str) -> int:
    """
    The messages that a device counts for one collective.

    >>> messages("all_reduce"), messages("all_slice")
    (1, 0)
    """
    return 0 if kind in LOCAL else 1


def sent_share(kind: str, source: LayoutSpec, target: LayoutSpec, mesh: Mesh) -> Fraction | None:
    """
    The same as `sent_bytes`, as a share of the global tensor, for a collective that turns `source` into `target`.

    `None` where the exact figure of a permute or an exchange would take more than `ENUMERATION_LIMIT` combinations.

    >>> from shardwright.layout.axes import Axis
    >>> sent_share("all_gather", LayoutSpec("mesh", ((Axis("x"),),)), LayoutSpec("mesh", ((),)), Mesh(x=4))
    Fraction(3, 4)
    """
    before, after = shards(source, mesh), shards(target, mesh)
    match kind:
        case "all_slice" | "unreduce" | "unscatter":
            return _ZERO
        case "all_gather":
            return Fraction(before - after, before * after)
        case "reduce_scatter":
            return Fraction(after - before, before * after)
        case "all_reduce":
            group = mesh.group_size(source.partial) // mesh.group_size(target.partial)
            return Fraction(2 * (group - 1), group * before)
        case "all_to_all":
            moved = math.prod(_lost(source, target, mesh))
            return Fraction(moved - 1, moved * before)
        case "collective_permute":
            moved_part = moved_share(source, target, mesh)
            return None if moved_part is None else moved_part / before
        case "exchange":
            return missing_share(source, target, mesh)
        case _:
            raise ValueError(f"{kind!r} is no collective")


def moved_share(source: LayoutSpec, target: LayoutSpec, mesh: Mesh) -> Fraction | None:
    """
    The share of devices whose buffer changes in a permute, and so comes from another device.

    >>> from shardwright.layout.axes import Axis
    >>> x, y = (LayoutSpec("mesh", ((Axis(name),),)) for name in "xy")
    >>> moved_share(x, y, Mesh(x=4, y=4))
    Fraction(3, 4)
    """
    check_permute(source, target, mesh)
    held = _held(source, target, mesh)
    return None if held is None else 1 - held * shards(source, mesh)


@lru_cache(maxsize=1 << 14)
def missing_share(source: LayoutSpec, target: LayoutSpec, mesh: Mesh) -> Fraction | None:
    """
    The part of its target box that a device does not hold in its source box, on average, as a share of the tensor.

    No relayout can send less. `None` where the exact figure would take more than `ENUMERATION_LIMIT` combinations.

    >>> from shardwright.layout.axes import Axis
    >>> x, y = (LayoutSpec("mesh", ((Axis(name),),)) for name in "xy")
    >>> missing_share(x, y, Mesh(x=4, y=2))
    Fraction(3, 8)
    """
    check_exchange(source, target, mesh)
    held = _held(source, target, mesh)
    return None if held is None else Fraction(1, shards(target, mesh)) - held


@lru_cache(maxsize=1 << 14)
def crossing_shares(
    source: LayoutSpec, target: LayoutSpec, mesh: Mesh, order: tuple[str, ...]
) -> tuple[tuple[str, Fraction], ...] | None:
    """
    `missing_share` by the first axis of an order along which a device differs from the nearest one that has a box.

    That one has its place along all that does not split the source. The order names the axes that the source is split
    by, or more. `None` above `ENUMERATION_LIMIT`.

    >>> source, target = (LayoutSpec("mesh", ((Axis(a), Axis(b)),)) for a, b in ("xy", "yx"))
    >>> [(axis, str(share)) for axis, share in crossing_shares(source, target, Mesh(x=2, y=2), ("x", "y"))]
    [('x', '1/8'), ('y', '0')]
    """
    found: list[tuple[str, Fraction]] = []
    before = Fraction(1, shards(target, mesh))
    for count, axis in enumerate(order, 1):
        near = _held_near(source, target, mesh, order[:count])
        if near is None:
            return None
        found.append((axis, before - near))
        before = near
    return tuple(found)


def _held_near(source: LayoutSpec, target: LayoutSpec, mesh: Mesh, near: Sequence[str]) -> Fraction | None:
    """
    The part of its target box that a device, or one that differs from it along other axes than these, holds.

    As a share of the tensor. The other axes of the source are taken for axes of their own: then each box is held by one
    in so many devices, wherever those are that need it.
    """
    far = sorted({axis.name for dim in source.dims for axis in dim}.difference(near))
    longest = max(mesh.sizes, key=len, default="")
    fresh = {name: longest + name for name in far}
    apart = Mesh({**mesh.sizes, **{fresh[name]: mesh.sizes[name] for name in far}}, name=mesh.name)
    dims = tuple(tuple(axis._replace(name=fresh.get(axis.name, axis.name)) for axis in dim) for dim in source.dims)
    held = _held(source.with_dims(dims), target, apart)
    holders = apart.group_size([axis for dim in dims for axis in dim if axis.name not in mesh.sizes])
    return None if held is None else held * holders


def _held(source: LayoutSpec, target: LayoutSpec, mesh: Mesh) -> Fraction | None:
    # Two spellings of one layout may cross where the canonical ones do not.
    source, target = canonical(source, mesh), canonical(target, mesh)
    share = _ONE
    for pairs in _components(zip(source.dims, target.dims, strict=True), lambda axis: axis.name):
        # Neither the order of the dims matters, nor which of the two ends is which.
        one, other = (tuple(sorted(tuple(pair[::step]) for pair in pairs)) for step in (1, -1))
        part = _held_along(min(one, other), mesh)
        if part is None:
            return None
        share *= part
    return share


@lru_cache(maxsize=1 << 14)
def _held_along(pairs: tuple[tuple[Axes, Axes], ...], mesh: Mesh) -> Fraction | None:
    """`held_share` of some dims, for each the axes of source and target: many layouts are made of few such pairs."""
    source, target = (LayoutSpec(mesh.name, dims) for dims in zip(*pairs, strict=True))
    crossing = crossing_axes((source, target), mesh)
    nested = [without(spec, crossing) for spec in (source, target)] if crossing else (source, target)
    common = atom_digits(nested, mesh)

    def digits(spec: LayoutSpec) -> list[list[Digits]]:
        own = [atom for atom in atom_digits((spec,), mesh) if atom[0] in crossing] if crossing else []
        atoms = common + own
        return [[atoms[number] for number in spelled(axes, atoms, mesh)] for axes in spec.dims]

    return held_share(list(zip(digits(source), digits(target), strict=True)))


def held_share(pairs: Sequence[DimPair]) -> Fraction | None:
    """
    The probability that a random element lies in both the source box and the target box of a random device.

    `pairs` spells each dim in digits: two of an axis are the same or apart, or those of source and target cross.
    `None` above `ENUMERATION_LIMIT`.

    >>> held_share([([("x", 1, 4)], [("x", 1, 4)])]), held_share([([("x", 1, 4)], [("y", 1, 2)])])
    (Fraction(1, 4), Fraction(1, 8))

    Of six devices whose halves and thirds cross, two hold a third that lies in their half, and two have half of theirs:

    >>> held_share([([("x", 1, 2)], [("x", 1, 3)])]) == Fraction(4 + 2 * Fraction(1, 2), 6) * Fraction(1, 3)
    True
    """
    share = _ONE
    for component in _components(pairs, itemgetter(0)):
        crossing = _crossing({digits for pair in component for side in pair for digits in side})
        part = None if crossing else _nested_share(component)
        if part is None:
            part = _enumerated_share(component, crossing)
        if part is None:
            return None
        share *= part
    return share


Part = TypeVar("Part")


def _components(
    pairs: Iterable[tuple[Sequence[Part], Sequence[Part]]], name: Callable[[Part], str]
) -> list[list[tuple[Sequence[Part], Sequence[Part]]]]:
    """The dims that are split in groups that share no axis: their probabilities multiply."""
    groups: list[tuple[set[str], list[tuple[Sequence[Part], Sequence[Part]]]]] = []
    for pair in pairs:
        names = {name(part) for side in pair for part in side}
        if not names:
            continue
        members = [pair]
        apart: list[tuple[set[str], list[tuple[Sequence[Part], Sequence[Part]]]]] = []
        for group in groups:
            if names.isdisjoint(group[0]):
                apart.append(group)
            else:
                names |= group[0]
                members = group[1] + members
        groups = [*apart, (names, members)]
    return [members for _, members in groups]


def _size(digits: Digits) -> int:
    return digits[2] // digits[1]


def _parts(side: Iterable[Digits]) -> int:
    return math.prod(map(_size, side))


def _nested_share(pairs: Sequence[DimPair]) -> Fraction | None:
    """
    `held_share` where all radices nest: split digits until both sides align, then count the equalities.

    An element's digits fix the device's digits on both sides, so that a slot that both sides split asks two digits
    of the device to be equal; every equality that does not follow from others holds with probability 1/size.
    """
    cuts: dict[Digits, int] = {}
    while True:
        known = len(cuts)
        equal: list[tuple[Digits, Digits]] = []
        for source, target in pairs:
            if not _align(source, target, cuts, equal):
                return None
        if len(cuts) == known:
            break
    count = math.prod(max(_parts(source), _parts(target)) for source, target in pairs)
    return Fraction(1, count * _independent(equal))


def _align(
    source: Sequence[Digits],
    target: Sequence[Digits],
    cuts: dict[Digits, int],
    equal: list[tuple[Digits, Digits]],
) -> bool:
    """Pairs the digits of both sides, cutting the longer one where sizes differ; whether that comes out even."""
    left, right = list(reversed(source)), list(reversed(target))
    while left and right:
        a, b = _leaf(left, cuts), _leaf(right, cuts)
        while _size(a) != _size(b):
            longer, shorter, stack = (a, b, left) if _size(a) > _size(b) else (b, a, right)
            if _size(longer) % _size(shorter):
                return False
            cuts[longer] = longer[1] * _size(shorter)
            stack.append(longer)
            a, b = (_leaf(left, cuts), b) if stack is left else (a, _leaf(right, cuts))
        equal.append((a, b))
    return True


def _leaf(stack: list[Digits], cuts: dict[Digits, int]) -> Digits:
    """Takes the next digits off the stack, in their finest known parts."""
    top = stack.pop()
    while top in cuts:
        name, start, stop = top
        stack.append((name, cuts[top], stop))
        top = (name, start, cuts[top])
    return top


def _independent(equal: Iterable[tuple[Digits, Digits]]) -> int:
    """The inverse of the probability that all pairs of digits are equal (union-find)."""
    parent: dict[Digits, Digits] = {}

    def root(digits: Digits) -> Digits:
        while digits in parent:
            digits = parent[digits]
        return digits

    count = 1
    for a, b in equal:
        first, second = root(a), root(b)
        if first != second:
            parent[first] = second
            count *= _size(a)
    return count


Assignment = dict[Digits, int]


def _crossing(digits: Iterable[Digits]) -> dict[str, int]:
    """The axes of which some digits cross, each with the number of places that tell them all apart."""
    marks: dict[str, set[int]] = {}
    for name, start, stop in digits:
        marks.setdefault(name, set()).update((start, stop))
    return {
        name: math.lcm(*found)
        for name, found in marks.items()
        if any(high % low for low, high in pairwise(sorted(found)))
    }


def _enumerated_share(pairs: Sequence[DimPair], crossing: Mapping[str, int]) -> Fraction | None:
    """`held_share` by visiting every pair of source part and target part that overlap, dim by dim."""
    visited = math.prod(_parts(source) + _parts(target) for source, target in pairs)
    if max(visited, *crossing.values(), 0) > ENUMERATION_LIMIT:
        return None
    options = [_overlaps(source, target) for source, target in pairs]
    total = 0
    for combination in product(*options):
        merged: Assignment = {}
        length = 1
        for assignment, overlap in combination:
            if any(merged.setdefault(digits, value) != value for digits, value in assignment.items()):
                break
            length *= overlap
        else:
            total += length * _devices(merged, crossing)
    cells = math.prod(math.lcm(_parts(source), _parts(target)) for source, target in pairs)
    digits = {digits for pair in pairs for side in pair for digits in side if digits[0] not in crossing}
    return Fraction(total, cells * _parts(digits) * math.prod(crossing.values()))


def _devices(wanted: Assignment, crossing: Mapping[str, int]) -> int:
    """How many places along the axes whose digits cross have the wanted ones."""
    found = dict.fromkeys(crossing, -1)
    for digits, value in wanted.items():
        if digits[0] in crossing:
            found[digits[0]] &= _places(digits, value, crossing[digits[0]])
    return math.prod(places.bit_count() for places in found.values())


@lru_cache(maxsize=1 << 10)
def _places(digits: Digits, value: int, count: int) -> int:
    """A bit for each of `count` places along an axis: whether its digits there are `value`."""
    _, start, stop = digits
    width, period = count // stop, count // start
    run = (1 << width) - 1 << value * width
    return sum(run << first for first in range(0, count, period))


def _overlaps(source: Sequence[Digits], target: Sequence[Digits]) -> list[tuple[Assignment, int]]:
    """The device digits that each overlap of a source part and a target part asks for, with its length in cells."""
    source_parts, target_parts = _parts(source), _parts(target)
    cells = math.lcm(source_parts, target_parts)
    source_step, target_step = cells // source_parts, cells // target_parts
    found: list[tuple[Assignment, int]] = []
    start = 0
    while start < cells:
        before, after = start // source_step, start // target_step
        stop = min((before + 1) * source_step, (after + 1) * target_step)
        wanted = _assign(source, before)
        if all(wanted.setdefault(digits, value) == value for digits, value in _assign(target, after).items()):
            found.append((wanted, stop - start))
        start = stop
    return found


def _assign(side: Sequence[Digits], index: int) -> Assignment:
    assignment: Assignment = {}
    for digits in reversed(side):
        index, assignment[digits] = divmod(index, _size(digits))
    return assignment


def _lost(source: LayoutSpec, target: LayoutSpec, mesh: Mesh) -> Iterable[int]:
    """By how much each dim that an all_to_all gathers grows."""
    for before, after in zip(source.dims, target.dims, strict=True):
        parts, fewer = mesh.group_size(before), mesh.group_size(after)
        if fewer < parts:
            yield parts // fewer
