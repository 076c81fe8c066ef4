"""Devices by number, as programs for one device list them: groups, who sends what to whom, and in which round."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from shardwright.layout.axes import Axis
from shardwright.layout.mesh import Mesh
from shardwright.layout.planning.window import Window
from shardwright.layout.spec import LayoutSpec

Numbers = np.ndarray[Any, np.dtype[np.int64]]


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
    index = np.zeros(mesh.size, np.int64)
    for axis in axes:
        stride, size = digits(axis, mesh)
        index = index * size + np.arange(mesh.size) // stride % size
    return index


def groups(axes: Sequence[Axis], mesh: Mesh) -> Numbers:
    """
    The groups of devices that differ along `axes` only, a row for each, in the order of the index over `axes`.

    >>> groups([Axis("x")], Mesh(x=2, y=3)).tolist()
    [[0, 3], [1, 4], [2, 5]]
    """
    rest = np.arange(mesh.size)
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
    before, after = _blocks(source, mesh), _blocks(target, mesh)
    devices = np.arange(mesh.size)
    stays = before == after
    senders, receivers = devices[~stays], devices[~stays]
    senders = senders[np.argsort(before[senders], kind="stable")]
    receivers = receivers[np.argsort(after[receivers], kind="stable")]
    pairs = np.concatenate([np.stack([devices[stays]] * 2, 1), np.stack([senders, receivers], 1)])
    return pairs[np.argsort(pairs[:, 1], kind="stable")]


def _blocks(spec: LayoutSpec, mesh: Mesh) -> Numbers:
    """The number of the block that each device holds."""
    return axis_index([axis for dim in spec.dims for axis in dim], mesh)


@dataclass(frozen=True)
class Piece:
    """One message: `what` the sender sends (where it starts, by dim), and at which `slot` the receiver puts it."""

    sender: int
    receiver: int
    what: tuple[int, ...]
    slot: tuple[int, ...]


def rounds(pieces: Iterable[Piece], count: int) -> list[list[Piece]]:
    """
    The messages in rounds, in each of which a device sends at most one and receives at most one.

    >>> [len(one) for one in rounds([Piece(0, 1, (0,), (0,)), Piece(1, 0, (0,), (0,)), Piece(0, 0, (0,), (1,))], 2)]
    [1, 2]
    """
    found: list[list[Piece]] = []
    busy: list[set[tuple[str, int]]] = []
    for piece in sorted(pieces, key=lambda one: ((one.receiver - one.sender) % count, one.slot, one.receiver)):
        ends = {("sends", piece.sender), ("receives", piece.receiver)}
        place = next((number for number, taken in enumerate(busy) if taken.isdisjoint(ends)), len(found))
        if place == len(found):
            found.append([])
            busy.append(set())
        found[place].append(piece)
        busy[place] |= ends
    return found


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


def exchange(source: LayoutSpec, target: LayoutSpec, mesh: Mesh) -> list[Piece]:
    """Every piece that a device needs, from itself where it has it, else from the holder that sends least so far."""
    made = cuts(source, target, mesh)
    starts = [axis_index(axes, mesh) for axes in target.dims]
    holders = _holders(source, mesh)
    load = [0] * mesh.size
    pieces: list[Piece] = []
    for slot, offset in enumerate(product(*(range(cut.needed) for cut in made))):
        for device in range(mesh.size):
            place = [int(start[device]) * cut.needed + at for start, cut, at in zip(starts, made, offset, strict=True)]
            block = tuple(at // cut.held for at, cut in zip(place, made, strict=True))
            held = holders[block]
            sender = (
                device if device in held else min(held, key=lambda other: (load[other], (device - other) % mesh.size))
            )
            load[sender] += 1
            what = 0
            for at, cut in zip(place, made, strict=True):
                what = what * cut.held + at % cut.held
            pieces.append(Piece(sender, device, (what,), (slot,)))
    return pieces


def _holders(spec: LayoutSpec, mesh: Mesh) -> dict[tuple[int, ...], list[int]]:
    """The devices that hold each block."""
    found: dict[tuple[int, ...], list[int]] = {}
    indices = [axis_index(axes, mesh) for axes in spec.dims]
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


def windows(moved: Sequence[tuple[Window, int]]) -> dict[tuple[int, ...], list[Piece]]:
    """
    What the parts of several dims send each other, by the extents of a message along them.

    Parts are numbered row-major over the dims. A device receives each box that it lacks from the one that holds it.
    """
    found: dict[tuple[int, ...], list[Piece]] = {(): [Piece(0, 0, (), ())]}
    for one, parts in moved:
        along = window(one, parts)
        found = {
            (*sizes, size): [_crossed(a, b, parts) for a in boxes for b in pieces]
            for sizes, boxes in found.items()
            for size, pieces in along.items()
        }
    return found


def _crossed(a: Piece, b: Piece, parts: int) -> Piece:
    """The message that is `a` along some dims and `b` along one more, which has `parts` parts."""
    sender, receiver = a.sender * parts + b.sender, a.receiver * parts + b.receiver
    return Piece(sender, receiver, a.what + b.what, a.slot + b.slot)
