"""Devices by number, as programs for one device list them: groups, who sends what to whom, and in which round."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np

from shardwright.diagnostics import ShardwrightValueError
from shardwright.diagnostics.registry import coded
from shardwright.layout.axes import Axis, remaining
from shardwright.layout.forms.groups import axes_of_groups
from shardwright.layout.mesh import Mesh
from shardwright.layout.planning.topology import machine_axes
from shardwright.layout.planning.window import Window
from shardwright.layout.spec import LayoutSpec

Numbers = np.ndarray[Any, np.dtype[np.int64]]


LISTED = 1 << 20
"""The most devices that are listed one by one: a list is ten bytes of text for each, in every collective."""


def numbers_of(mesh: Mesh) -> Numbers:
    """
    The numbers of all devices; SW0734 where these are too many to be listed.

    >>> numbers_of(Mesh(x=2, y=2)).tolist()
    [0, 1, 2, 3]
    """
    if mesh.size > LISTED:
        raise too_many_devices(mesh, LISTED, "StableHLO's collectives list the devices of each group one by one")
    return np.arange(mesh.size)


def too_many_devices(mesh: Mesh, most: int, why: str) -> ShardwrightValueError:
    """That a form has no room for so many devices."""
    message = f"a mesh of {mesh.size:,} devices, {mesh!r}, has more than the {most:,} that can be written: {why}"
    return ShardwrightValueError(coded("SW0734", message))


def digits(axis: Axis, mesh: Mesh) -> tuple[int, int]:
    """
    The stride and the size of an axis in device numbers, which count row-major over the mesh.

    >>> digits(Axis("x", 2, 2), Mesh(x=8, y=3))
    (6, 2)
    """
    _, stop = mesh.span(axis)
    minor = math.prod(mesh.shape[mesh.axis_names.index(axis.name) + 1 :])
    return minor * (mesh.sizes[axis.name] // stop), mesh.axis_size(axis)


def axis_index(axes: Iterable[Axis], mesh: Mesh) -> Numbers:
    """
    Each device's index over `axes`, major to minor.

    >>> axis_index([Axis("y")], Mesh(x=2, y=3)).tolist()
    [0, 1, 2, 0, 1, 2]
    """
    numbers = numbers_of(mesh)
    index = np.zeros_like(numbers)
    for axis in axes:
        stride, size = digits(axis, mesh)
        index = index * size + numbers // stride % size
    return index


def groups(axes: Sequence[Axis], mesh: Mesh) -> Numbers:
    """
    The groups of devices that differ along `axes` only, a row for each, in the order of the index over `axes`.

    >>> groups([Axis("x")], Mesh(x=2, y=3)).tolist()
    [[0, 3], [1, 4], [2, 5]]
    """
    rest = numbers_of(mesh)
    for axis in axes:
        stride, size = digits(axis, mesh)
        rest = rest - rest // stride % size * stride
    order = np.lexsort((axis_index(axes, mesh), rest))
    return order.reshape(-1, mesh.group_size(axes))


def permutation(source: LayoutSpec, target: LayoutSpec, mesh: Mesh) -> Numbers:
    """
    For each device that a permute changes, or not, the pair of the device whose block it gets and itself.

    A device that has its block already keeps it; every device sends once and receives once.
    """
    aside = _aside(source, target, mesh)
    before, after = _blocks(source, mesh, aside), _blocks(target, mesh, aside)
    devices = numbers_of(mesh)
    stays = before == after
    senders, receivers = devices[~stays], devices[~stays]
    senders = senders[np.argsort(before[senders], kind="stable")]
    receivers = receivers[np.argsort(after[receivers], kind="stable")]
    pairs = np.concatenate([np.stack([devices[stays]] * 2, 1), np.stack([senders, receivers], 1)])
    return pairs[np.argsort(pairs[:, 1], kind="stable")]


def _aside(source: LayoutSpec, target: LayoutSpec, mesh: Mesh) -> Numbers:
    """
    For each device its index over the axes that split neither layout.

    Nobody is sent anything along these: devices may hold other tensors there, partial sums, or what each has within a
    computation that is manual over some axes.

    >>> _aside(LayoutSpec("m", ((Axis("x"),),)), LayoutSpec("m", ((),)), Mesh(x=2, y=3)).tolist()
    [0, 1, 2, 0, 1, 2]
    """
    split = [axis for spec in (source, target) for dim in spec.dims for axis in dim]
    return axis_index(remaining(map(Axis, mesh.axis_names), split, mesh.sizes), mesh)


def _blocks(spec: LayoutSpec, mesh: Mesh, aside: Numbers) -> Numbers:
    """The number of the block that each device holds; blocks are others for others `aside`."""
    return axis_index([axis for dim in spec.dims for axis in dim], mesh) * mesh.size + aside


@dataclass(frozen=True)
class Piece:
    """
    One message: `what` the sender sends (where it starts, by dim), and at which `slot` the receiver puts it.

    Of several values that travel together, `number` is that of the one that it is a piece of.
    """

    sender: int
    receiver: int
    what: tuple[int, ...]
    slot: tuple[int, ...]
    number: int = 0


def rounds(pieces: Iterable[Piece], count: int) -> list[list[Piece]]:
    """
    The fewest rounds of the messages, in each of which a device sends at most one and receives at most one.

    What a device keeps stands in rounds of its own, where nothing is sent, if it would make rounds more.

    >>> [len(one) for one in rounds([Piece(0, 1, (0,), (0,)), Piece(1, 0, (0,), (0,)), Piece(0, 0, (0,), (1,))], 2)]
    [1, 2]
    """
    every = sorted(pieces, key=lambda one: ((one.receiver - one.sender) % count, one.receiver, one.slot))
    moving = [one for one in every if not _stays(one)]
    if not moving or _degree(moving) == _degree(every):
        return _coloured(every)
    return _coloured([one for one in every if _stays(one)]) + _coloured(moving)


def _degree(pieces: Sequence[Piece]) -> int:
    """The most messages that a device sends, or receives."""
    ends = Counter(end for one in pieces for end in _ends(one))
    return max(ends.values(), default=0)


def _ends(piece: Piece) -> tuple[tuple[str, int], tuple[str, int]]:
    return ("sends", piece.sender), ("receives", piece.receiver)


def _coloured(pieces: Sequence[Piece]) -> list[list[Piece]]:
    """
    As many rounds as the busiest device has messages (Konig's theorem on the edges of a bipartite graph).

    Where no round is free at both ends, the messages of two rounds change places along a path from the receiver.
    """
    count = _degree(pieces)
    taken: dict[tuple[tuple[str, int], int], Piece] = {}
    for piece in pieces:
        sends, receives = _ends(piece)
        free = [[place for place in range(count) if (end, place) not in taken] for end in (sends, receives)]
        both = [place for place in free[0] if place in free[1]]
        if both:
            place = both[0]
        else:
            place = free[0][0]
            _exchange_rounds(taken, receives, place, free[1][0])
        taken[sends, place] = taken[receives, place] = piece
    found: list[list[Piece]] = [[] for _ in range(count)]
    for ((side, _), place), piece in taken.items():
        if side == "sends":
            found[place].append(piece)
    order = {piece: number for number, piece in enumerate(pieces)}
    return [sorted(one, key=order.__getitem__) for one in found]


def _exchange_rounds(
    taken: dict[tuple[tuple[str, int], int], Piece], start: tuple[str, int], first: int, second: int
) -> None:
    """Exchanges two rounds along the path of their messages that begins at `start` with one of the `first`."""
    path: list[tuple[Piece, int]] = []
    end, place = start, first
    while (end, place) in taken:
        piece = taken[end, place]
        path.append((piece, place))
        end = next(other for other in _ends(piece) if other != end)
        place = first + second - place
    for piece, place in path:
        for end in _ends(piece):
            del taken[end, place]
    for piece, place in path:
        for end in _ends(piece):
            taken[end, first + second - place] = piece


@dataclass(frozen=True)
class AllToAll:
    """
    Messages that are one `all_to_all`: each device of a group sends as many pieces to each of them, itself among them.

    `sends` are the pieces that a device holds in the order in which it sends them, `slots` the places of what it gets.
    """

    groups: Numbers
    sends: tuple[int, ...]
    slots: tuple[int, ...]


def all_to_all(pieces: Iterable[Piece]) -> AllToAll | None:
    """
    The messages as one `all_to_all`, where they are one and all devices cut and place alike.

    >>> every = [Piece(a, b, (1 - b,), (a,)) for a in range(2) for b in range(2)]
    >>> found = all_to_all(every)
    >>> found.groups.tolist(), found.sends, found.slots
    ([[0, 1]], (1, 0), (0, 1))
    >>> all_to_all(every[1:]) is None
    True
    """
    between: dict[int, dict[int, list[Piece]]] = {}
    for piece in sorted(pieces, key=lambda one: (one.sender, one.receiver, one.slot)):
        between.setdefault(piece.sender, {}).setdefault(piece.receiver, []).append(piece)
    groups = {tuple(receivers) for receivers in between.values()}
    counts = {len(sent) for receivers in between.values() for sent in receivers.values()}
    alike = len(counts) == 1 == len({len(group) for group in groups})
    if not alike or any(tuple(between.get(one, ())) != group for group in groups for one in group):
        return None
    sends = {tuple(one.what[0] for sent in between[at].values() for one in sent) for at in between}
    slots = {tuple(one.slot[0] for at in group for one in between[at][to]) for group in groups for to in group}
    if len(sends) > 1 or len(slots) > 1:
        return None
    return AllToAll(np.array(sorted(groups)), sends.pop(), slots.pop())


@dataclass(frozen=True)
class Cut:
    """How an exchange cuts one dim: into `parts` equal pieces, of which a device holds `held` and needs `needed`."""

    parts: int
    held: int
    needed: int


def cuts(source: LayoutSpec, target: LayoutSpec, mesh: Mesh) -> list[Cut]:
    """For each dim the pieces that are whole on both sides."""
    found: list[Cut] = []
    for before, after in zip(source.dims, target.dims, strict=True):
        old, new = mesh.group_size(before), mesh.group_size(after)
        parts = math.lcm(old, new)
        found.append(Cut(parts, parts // old, parts // new))
    return found


Need = tuple[list[int], Piece]
"""A piece that a device needs, as if it kept it, with the devices that hold it."""


def exchange(source: LayoutSpec, target: LayoutSpec, mesh: Mesh) -> list[Piece]:
    """
    Every piece that a device needs: from itself where it has it, else from the nearest holder of those `_aside` alike.

    Devices that differ along the last axes only are the nearest, as in `Topology.of`. Nothing goes from machine to
    machine that one's own has, whoever sends it. Within a machine, and among the others, no device sends more messages
    than the busiest one receives, if another can: it takes no more rounds to be near.
    """
    return _from_nearest(_needs(source, target, mesh), mesh)


def _needs(source: LayoutSpec, target: LayoutSpec, mesh: Mesh) -> list[Need]:
    """What all devices need for the first place of their blocks, then for the second, and so on."""
    made = cuts(source, target, mesh)
    starts = [axis_index(axes, mesh) for axes in target.dims]
    aside = _aside(source, target, mesh)
    holders = _holders(source, mesh, aside)
    found: list[Need] = []
    for slot, offset in enumerate(product(*(range(cut.needed) for cut in made))):
        for device in range(mesh.size):
            place = [int(start[device]) * cut.needed + at for start, cut, at in zip(starts, made, offset, strict=True)]
            held = holders[(int(aside[device]), *(at // cut.held for at, cut in zip(place, made, strict=True)))]
            what = 0
            for at, cut in zip(place, made, strict=True):
                what = what * cut.held + at % cut.held
            found.append((held, Piece(device, device, (what,), (slot,))))
    return found


def _from_nearest(needs: Sequence[Need], mesh: Mesh) -> list[Piece]:
    load = [0] * mesh.size
    kept = [piece for held, piece in needs if piece.receiver in held]
    due = [(held, piece) for held, piece in needs if piece.receiver not in held]
    busiest = max(Counter(piece.receiver for _, piece in due).values(), default=0)
    machine = machine_axes(mesh)

    def order(sender: int, receiver: int) -> tuple[int, bool, int, int, int]:
        """Who sends rather: one of the same machine, one with messages left, the nearest, the one that sends least."""
        apart = _apart(sender, receiver, mesh.shape)
        far = apart if apart > machine else 0
        return far, load[sender] >= busiest, apart, load[sender], (receiver - sender) % mesh.size

    for held, piece in due:
        sender = min(held, key=lambda other: order(other, piece.receiver))
        load[sender] += 1
        kept.append(replace(piece, sender=sender))
    return kept


@dataclass(frozen=True)
class Gathering:
    """
    An exchange in which each device of a group gets a share of what all of them need, and then they gather the shares.

    `first` are the messages that bring the shares, `groups` the devices of each group in the order of their shares.
    """

    first: list[Piece]
    groups: Numbers


def gathering(source: LayoutSpec, target: LayoutSpec, mesh: Mesh) -> Gathering | None:
    """
    An exchange as a gathering, where that takes fewer messages.

    It never sends more, as nobody is sent what it has, and no more from machine to machine.

    >>> x, y = Axis("x"), Axis("y")
    >>> found = gathering(LayoutSpec("m", ((y, x),)), LayoutSpec("m", ((x,),)), Mesh(x=2, y=4))
    >>> sum(one.sender != one.receiver for one in found.first), found.groups.shape
    (4, (2, 4))
    """
    needs = _needs(source, target, mesh)
    count = len(needs) // mesh.size
    alike: dict[int, list[int]] = {}
    for device, block in enumerate(_blocks(target, mesh, _aside(source, target, mesh))):
        alike.setdefault(int(block), []).append(device)
    same = mesh.size // len(alike)
    size = min(same, count)
    if size < 2 or count % size or same % size:
        return None
    share = count // size
    held: dict[int, set[int]] = {device: set() for device in range(mesh.size)}
    for holders, piece in needs:
        if piece.receiver in holders:
            held[piece.receiver].add(piece.slot[0] // share)
    groups: list[list[int]] = []
    for devices in alike.values():
        found = _shared_out(devices, held, size)
        if found is None:
            return None
        groups += found
    if axes_of_groups(groups, mesh) is None:
        return None  # nobody else lists such groups, and we do not read them
    part = {device: number for group in groups for number, device in enumerate(group)}
    own = [(holders, one) for holders, one in needs if one.slot[0] // share == part[one.receiver]]
    first = _from_nearest([(holders, replace(one, slot=(one.slot[0] % share,))) for holders, one in own], mesh)
    direct = _from_nearest(needs, mesh)
    fewer = _degree([one for one in first if not _stays(one)]) + 1 < _degree([one for one in direct if not _stays(one)])
    handed_on = share * sum((len(_machines(group, mesh)) - 1) * size for group in groups)
    no_farther = _from_afar(first, mesh) + handed_on <= _from_afar(direct, mesh)
    return Gathering(first, np.array(groups)) if fewer and no_farther else None


def _machines(devices: Iterable[int], mesh: Mesh) -> set[int]:
    """The machines that these devices are of."""
    size = math.prod(mesh.shape[len(mesh.shape) - machine_axes(mesh) :])
    return {device // size for device in devices}


def _from_afar(pieces: Iterable[Piece], mesh: Mesh) -> int:
    """How many messages go from machine to machine."""
    return sum(len(_machines((piece.sender, piece.receiver), mesh)) > 1 for piece in pieces)


@dataclass(frozen=True)
class Route:
    """
    The messages of an exchange: one `all_to_all`, or `rounds` of a piece from each device, behind each other.

    Of rounds a device has as many pieces as it has `places`: all that it needs, or where there are `groups` its share.
    """

    at_once: AllToAll | None
    rounds: list[list[Piece]]
    places: int
    groups: Numbers | None

    @property
    def pairs(self) -> Hashable:
        """Who sends to whom, message by message: what exchanges have in common that can share these."""
        groups = self.at_once.groups if self.at_once else self.groups
        rounds = ([(one.sender, one.receiver) for one in messages] for messages in self.rounds)
        return groups if groups is None else tuple(map(tuple, groups.tolist())), tuple(map(tuple, rounds))


@lru_cache(maxsize=256)
def route(source: LayoutSpec, target: LayoutSpec, mesh: Mesh) -> Route:
    """The fewest messages of an exchange, of those ways that there are."""
    pieces = exchange(source, target, mesh)
    places = len(pieces) // mesh.size
    if at_once := all_to_all(pieces):
        return Route(at_once, [], places, None)
    shared = gathering(source, target, mesh)
    if shared is None:
        return Route(None, rounds(pieces, mesh.size), places, None)
    return Route(None, rounds(shared.first, mesh.size), places // shared.groups.shape[1], shared.groups)


def _shared_out(devices: Sequence[int], held: dict[int, set[int]], size: int) -> list[list[int]] | None:
    """The devices in groups of `size`, each at the place of the share of which it holds a part; None if not all can."""
    found: list[dict[int, int]] = [{} for _ in range(len(devices) // size)]
    for device in sorted(devices, key=lambda one: -len(held[one])):
        wanted = held[device] or range(size)
        free = next((group for group in found if any(place not in group for place in wanted)), None)
        if len(held[device]) > 1 or free is None:
            return None
        free[next(place for place in wanted if place not in free)] = device
    return [[group[place] for place in range(size)] for group in found]


def _apart(one: int, other: int, shape: Sequence[int]) -> int:
    """
    How many axes there are from the first along which two devices differ.

    >>> _apart(0, 1, (2, 2)), _apart(0, 3, (2, 2)), _apart(2, 2, (2, 2))
    (1, 2, 0)
    """
    apart = 0
    for count, size in enumerate(reversed(shape), 1):
        if one % size != other % size:
            apart = count
        one, other = one // size, other // size
    return apart


def _holders(spec: LayoutSpec, mesh: Mesh, aside: Numbers) -> dict[tuple[int, ...], list[int]]:
    """The devices that hold each block, by their index aside and the block's along each dim."""
    found: dict[tuple[int, ...], list[int]] = {}
    indices = [aside, *(axis_index(axes, mesh) for axes in spec.dims)]
    for device in range(mesh.size):
        found.setdefault(tuple(int(index[device]) for index in indices), []).append(device)
    return found


def spacing(moved: Window) -> tuple[int, int]:
    """
    How far apart neighbours of one message stand: among the sender's elements, and among the receiver's.

    >>> spacing(Window(8, 8, 0, stride=-1)), spacing(Window(8, 15, 0, dilation=2))
    ((-1, 1), (1, 2))
    """
    share = math.gcd(moved.stride, moved.dilation)
    return moved.stride // share, moved.dilation // share


def window(moved: Window, parts: int) -> dict[int, list[Piece]]:
    """
    What the parts of a dim send each other so that each has its window, by the number of elements in a message.

    `what` is the first element that the sender reads of its part, `slot` the first that the receiver writes of its own.

    >>> {size: len(pieces) for size, pieces in window(Window(8, 8, -1), 4).items()}
    {1: 7}
    """
    into, out = moved.operand // parts, moved.result // parts
    index = np.arange(moved.result)
    frame = moved.frame or moved.result
    places = moved.start + moved.step * (index // frame) + moved.stride * (index % frame)
    sources = places // moved.dilation
    index = index[(places % moved.dilation == 0) & (sources >= 0) & (sources < moved.operand)]
    if not index.size:
        return {}
    sources = sources[index]
    same = np.stack([sources // into, index // out, index // frame])
    borders = np.flatnonzero(np.diff(same).any(axis=0)) + 1
    found: dict[int, list[Piece]] = {}
    for first, stop in zip([0, *borders], [*borders, index.size], strict=True):
        sender, receiver = int(sources[first] // into), int(index[first] // out)
        lowest = int(min(sources[first], sources[stop - 1])) - sender * into
        piece = Piece(sender, receiver, (lowest,), (int(index[first]) - receiver * out,))
        found.setdefault(int(stop - first), []).append(piece)
    return found


Moves = dict[tuple[int, ...], list[Piece]]
"""What parts send each other, by the extents of a message along some dims."""


def windows(moves: Sequence[Sequence[tuple[Window, int]]]) -> list[tuple[tuple[int, ...], list[Piece]]]:
    """
    What the parts of values send each other so that each has its windows, in rounds of messages of the same extents.

    Each value has windows of several dims, whose parts are numbered row-major over the dims. A device receives each box
    that it lacks from the one that holds it. A round has messages of one size: those of many sizes are cut into some
    that are alike, in the way that takes the fewest rounds. What a part keeps comes first; it may reach over both ends
    of the result, to be cut off there: so it, too, is alike.

    >>> found = windows([[(Window(480, 512, -8), 8)]])
    >>> [(sizes, [(one.sender, one.receiver) for one in messages]) for sizes, messages in found if sizes < (40,)]
    [((4,), [(0, 1), (3, 2), (5, 4), (7, 6)]), ((8,), [(4, 3), (5, 4)]), ((16,), [(6, 5), (7, 6)])]
    """
    count = math.prod(parts for _, parts in moves[0])
    along = [[(one, parts, window(one, parts)) for one, parts in moved] for moved in moves]
    own = [_boxes([(_kept(found, one, parts), parts) for one, parts, found in lines]) for lines in along]
    units = [math.gcd(*(_unit(found) for *_, found in lines)) for lines in zip(*along, strict=True)]
    kept = [one for number, boxes in enumerate(own) for one in _in_rounds([_numbered(boxes, number)], count)]
    best: list[tuple[tuple[int, ...], list[Piece]]] | None = None
    for way in (_whole, _halved, _even):
        # The pieces of one message need a round each. To be counted first: odd sizes have many small pieces.
        if best is None or max((_pieces(lines, way, units) for lines in along), default=0) < len(best):
            cut = [_numbered(_boxes(_cut(lines, way, units)), number) for number, lines in enumerate(along)]
            plan = _in_rounds(list(map(_moving, cut)), count)
            best = plan if best is None or len(plan) < len(best) else best
    return kept + (best or [])


def _pieces(
    along: Sequence[tuple[Window, int, dict[int, list[Piece]]]],
    way: Callable[[int, int], list[int]],
    units: Sequence[int],
) -> int:
    """The most pieces that a message between parts is cut into along one dim."""
    moving = [
        (size, unit)
        for (*_, found), unit in zip(along, units, strict=True)
        for size, pieces in found.items()
        if not all(map(_stays, pieces))
    ]
    return max((len(way(*one)) for one in moving), default=0)


def _moving(boxes: Moves) -> Moves:
    return {sizes: [one for one in pieces if not _stays(one)] for sizes, pieces in boxes.items()}


def _numbered(boxes: Moves, number: int) -> Moves:
    return {sizes: [replace(one, number=number) for one in pieces] for sizes, pieces in boxes.items()}


def _in_rounds(values: Sequence[Moves], count: int) -> list[tuple[tuple[int, ...], list[Piece]]]:
    together: Moves = {}
    for boxes in values:
        for sizes, pieces in boxes.items():
            together.setdefault(sizes, []).extend(pieces)
    return [(sizes, one) for sizes, pieces in sorted(together.items()) for one in rounds(pieces, count)]


def _boxes(along: Sequence[tuple[dict[int, list[Piece]], int]]) -> Moves:
    """The messages along several dims, each along each of the others."""
    found: Moves = {(): [Piece(0, 0, (), ())]}
    for lines, parts in along:
        found = {
            (*sizes, size): [_crossed(a, b, parts) for a in boxes for b in pieces]
            for sizes, boxes in found.items()
            for size, pieces in lines.items()
        }
    return found


def _kept(found: dict[int, list[Piece]], moved: Window, parts: int) -> dict[int, list[Piece]]:
    """What each part keeps; of a plain window in one size, with the elements beside it that fall beside the result."""
    own = {size: kept for size, pieces in found.items() if (kept := [one for one in pieces if _stays(one)])}
    step, apart = spacing(moved)
    longest, last = max(own, default=0), moved.operand // parts - 1
    alike: list[Piece] = []
    for size, pieces in own.items():
        for one in pieces:
            above = min(longest - size, (last - one.what[0]) // abs(step) - size + 1)
            below = longest - size - above
            what = one.what[0] - below * abs(step)
            if what < 0 or moved.frame:
                return own
            before = below if step > 0 else above
            alike.append(Piece(one.sender, one.receiver, (what,), (one.slot[0] - before * apart,)))
    return {longest: alike} if alike else {}


def _stays(piece: Piece) -> bool:
    return piece.sender == piece.receiver


def _whole(size: int, unit: int) -> list[int]:
    return [size]


def _even(size: int, unit: int) -> list[int]:
    return [unit] * (size // unit)


def _halved(size: int, unit: int) -> list[int]:
    """A sum of powers of two, in units: five units are one and four."""
    count = size // unit
    return [unit << bit for bit in range(count.bit_length()) if count >> bit & 1]


def _unit(found: dict[int, list[Piece]]) -> int:
    """What divides all messages between parts; 0 where there are none."""
    return math.gcd(*(size for size, pieces in found.items() if not all(map(_stays, pieces))))


def _cut(
    along: Sequence[tuple[Window, int, dict[int, list[Piece]]]],
    way: Callable[[int, int], list[int]],
    units: Sequence[int],
) -> list[tuple[dict[int, list[Piece]], int]]:
    """The messages between parts along each dim cut into smaller ones, of the sizes that `way` says."""
    cut: list[tuple[dict[int, list[Piece]], int]] = []
    for (moved, parts, found), unit in zip(along, units, strict=True):
        step, apart = spacing(moved)
        smaller: dict[int, list[Piece]] = {}
        for size, one in ((size, one) for size, pieces in found.items() for one in pieces):
            done = 0
            for part in [size] if _stays(one) else way(size, unit):
                first = done if step > 0 else size - done - part
                what, slot = one.what[0] + first * abs(step), one.slot[0] + done * apart
                smaller.setdefault(part, []).append(Piece(one.sender, one.receiver, (what,), (slot,)))
                done += part
        cut.append((smaller, parts))
    return cut


def _crossed(a: Piece, b: Piece, parts: int) -> Piece:
    """The message that is `a` along some dims and `b` along one more, which has `parts` parts."""
    sender, receiver = a.sender * parts + b.sender, a.receiver * parts + b.receiver
    return Piece(sender, receiver, a.what + b.what, a.slot + b.slot)
