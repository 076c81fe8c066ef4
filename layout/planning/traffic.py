"""
Which messages and bytes of a device go along which axes of a mesh, where each box comes from its nearest holder.

The nearest device has the receiver's place along all axes, and parts of axes, that do not say who holds the box: a
message crosses the axes that it must, and of these the slowest takes the time.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from shardwright.layout.axes import Axis
from shardwright.layout.mesh import Mesh
from shardwright.layout.planning.algebra import moved_axes, shards
from shardwright.layout.planning.cost import crossing_shares, missing_share
from shardwright.layout.planning.topology import Topology, Traffic
from shardwright.layout.planning.window import Window, givers
from shardwright.layout.spec import LayoutSpec

__all__ = ["Moving", "exchange_traffic", "window_traffic"]

Moving = tuple[Window, tuple[Axis, ...]]
"""How the elements of a dim move, and the axes that split it."""


def exchange_traffic(
    source: LayoutSpec, target: LayoutSpec, mesh: Mesh, topology: Topology, sent: float
) -> list[Traffic]:
    """
    The rounds and the bytes of an exchange in which devices send so many each, by the slowest axis that they cross.

    All of it goes along the slowest axis that moves where counting would take too long.

    >>> x, y = (LayoutSpec("mesh", ((Axis(name),),)) for name in "xy")
    >>> exchange_traffic(x, y, Mesh(x=2, y=4), Topology.of(Mesh(x=2, y=4)), 100)
    [('x', 1.0, 100.0)]
    """
    order = topology.slowest_first(dict.fromkeys(axis.name for axis in moved_axes(source, target, mesh)))
    shares = crossing_shares(source, target, mesh, order)
    rounds = float(_exchange_rounds(source, target, mesh))
    return _shared_out(shares or [(axis, Fraction(1)) for axis in order[:1]], rounds, sent)


def _shared_out(shares: Sequence[tuple[str, Fraction]], rounds: float, sent: float) -> list[Traffic]:
    """Rounds and bytes by axis, where these are their shares of both."""
    total = sum(share for _, share in shares)
    return [(axis, rounds * float(share / total), sent * float(share / total)) for axis, share in shares if share]


@lru_cache(maxsize=1 << 12)
def _exchange_rounds(source: LayoutSpec, target: LayoutSpec, mesh: Mesh) -> int:
    """
    The pieces that the busiest device lacks, one in each round; a piece is whole on both sides.

    A device has as much of what it needs as any other, or there is one that has nothing of it.
    """
    sizes = [[mesh.group_size(axes) for axes in pair] for pair in zip(source.dims, target.dims, strict=True)]
    pieces = math.prod(math.lcm(*pair) for pair in sizes)
    needed, missing = Fraction(1, shards(target, mesh)), missing_share(source, target, mesh)
    held = Fraction() if missing is None else needed - missing
    if held * math.prod(map(max, sizes)) < 1:
        held = Fraction()
    return math.ceil((needed - held) * pieces)


def window_traffic(moving: Sequence[Moving], mesh: Mesh, topology: Topology, sent: float) -> list[Traffic]:
    """
    The same for windows over some dims: a device receives a box from each device that holds some of its window.

    >>> y = ((Window(64, 80, -1, frame=10, step=8), (Axis("y"),)),)
    >>> window_traffic(y, Mesh(y=8), Topology.of(Mesh(y=8)), 100)
    [('y', 2.0, 100.0)]
    """
    order = topology.slowest_first(dict.fromkeys(axis.name for _, axes in moving for axis in axes))
    found = [_near(window, axes, mesh, order) for window, axes in moving]
    counted = [dim for dim in found if dim is not None]
    if len(counted) < len(found):
        return [(axis, 1.0, sent) for axis in order[:1]]
    near = range(len(order) + 1)
    elements = [math.prod((dim.elements[at] for dim in counted), start=Fraction(1)) for at in near]
    messages = [math.prod(dim.messages[at] for dim in counted) for at in near]
    total = elements[0] - elements[-1]
    return [
        (axis, float(messages[at] - messages[at + 1]), sent * float((elements[at] - elements[at + 1]) / total))
        for at, axis in enumerate(order)
        if elements[at] > elements[at + 1]
    ]


@dataclass(frozen=True, slots=True)
class _Near:
    """
    For each number of axes, from the slowest: what comes along a dim from devices that do not differ along these.

    `elements` on average, `messages` of the busiest device, itself included.
    """

    elements: tuple[Fraction, ...]
    messages: tuple[int, ...]


@lru_cache(maxsize=1 << 12)
def _near(window: Window, axes: tuple[Axis, ...], mesh: Mesh, order: tuple[str, ...]) -> _Near | None:
    """What comes along one dim; None where counting would take too long."""
    parts, places = mesh.group_size(axes), range(len(order) + 1)
    given = givers(window, parts)
    if given is None:
        return None
    elements = [Fraction()] * len(places)
    busiest = (0,) * len(places)
    for receiver, counts in enumerate(given):
        apart = {giver: _apart(giver, receiver, axes, mesh, order) for giver, _ in counts}
        for near in places:
            elements[near] += sum(Fraction(count, parts) for giver, count in counts if apart[giver] >= near)
        messages = tuple(sum(one >= near for one in apart.values()) for near in places)
        busiest = max(busiest, messages, key=lambda each: (each[0], *(-count for count in each[1:])))
    return _Near(tuple(elements), busiest)


def _apart(one: int, other: int, axes: Sequence[Axis], mesh: Mesh, order: Sequence[str]) -> int:
    """The place in the order of the first axis along which two parts differ; its length for the same part."""
    apart = len(order)
    for axis in reversed(axes):
        size = mesh.axis_size(axis)
        if one % size != other % size:
            apart = min(apart, order.index(axis.name))
        one, other = one // size, other // size
    return apart
