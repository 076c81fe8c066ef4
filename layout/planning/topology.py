"""What a mesh's devices and the links between them can do, and how long a collective takes on them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from itertools import accumulate
from numbers import Real
from operator import mul
from typing import Any

from shardwright.diagnostics.faults import value_error
from shardwright.diagnostics.suggestions import nearest
from shardwright.layout.mesh import Mesh
from shardwright.layout.planning.cost import LOCAL

__all__ = ["ANY", "Link", "Topology", "Traffic", "machine_axes"]

Traffic = tuple[str, float, float]
"""What a device sends along an axis: its messages, one after the other, and its bytes."""

ANY = "any axis"
"""The name of a link that stands for all axes that no link names."""

NODE = 8
"""Devices of one machine, where nobody says otherwise."""

LEAST, MOST = 1e-60, 1e60
"""Beyond these is no machine, and seconds would not be finite."""


_HELP = (
    'write {"links": {"data": {"latency": 1e-5, "bandwidth": 25e9}}, "flops": 1e14, "memory": 2e12}, or in Python '
    'Topology({"data": Link(1e-5, 25e9)}, flops=1e14, memory=2e12): seconds, bytes in a second, and operations in a '
    "second, all above zero"
)


def _settle(found: Link | Topology, what: str, above_zero: Sequence[str], others: Sequence[str]) -> None:
    """Makes plain floats of the numbers of a link or a topology; an error for what these cannot be."""
    for name in (*above_zero, *others):
        number: Any = getattr(found, name)
        least = LEAST if name in above_zero else 0
        is_number = isinstance(number, Real) and number is not True and number is not False
        # Whole numbers may be too large for a float, and floats of single precision too small to be compared with.
        if not is_number or not least <= (number if isinstance(number, int) else float(number)) <= MOST:
            bounds = f"{LEAST:g} to {MOST:g}" if name in above_zero else f"0 to {MOST:g}"
            raise value_error("SW0121", f"the {name} of {what} is {number!r}: it is a number from {bounds}", help=_HELP)
        object.__setattr__(found, name, float(number))


@dataclass(frozen=True)
class Link:
    """
    The way between devices along one axis of a mesh: seconds for each message, and bytes in a second for each device.

    Raises `ValueError` (SW0121) for a latency below zero, a bandwidth that is not above, and what no machine has.

    >>> Link(latency=5e-6, bandwidth=25e9).seconds(messages=2, sent=25e6)
    0.00101
    """

    latency: float
    bandwidth: float

    def __post_init__(self) -> None:
        _settle(self, "a link", above_zero=["bandwidth"], others=["latency"])

    def seconds(self, messages: float, sent: float) -> float:
        """How long a device takes to send so many messages, one after the other, and so many bytes with them."""
        return messages * self.latency + sent / self.bandwidth


WITHIN, BETWEEN = Link(2e-6, 200e9), Link(10e-6, 25e9)
"""Links inside of a machine and from one to another, of the order that such machines have."""


def machine_axes(mesh: Mesh) -> int:
    """
    How many of a mesh's last axes make up one machine, as far as its sizes tell.

    >>> machine_axes(Mesh(data=16, model=8)), machine_axes(Mesh(x=4, y=2)), machine_axes(Mesh(x=16))
    (1, 2, 0)
    """
    return sum(near <= NODE for near in accumulate(reversed(mesh.shape), mul))


@dataclass(frozen=True)
class Topology:
    """
    The links of a mesh by axis, and what each device computes and moves in its own memory in a second.

    `launch` are the seconds that an op takes to begin, `start` those that a run takes beside its ops.

    What is known of a machine is given; `Topology.of(mesh)` is a stand-in of the usual orders of magnitude, whose last
    axes, up to eight devices, are one machine. Each axis of a mesh of more than one device has to have a link where the
    two meet; one that is named "any axis" stands for all that are not named.

    Raises `ValueError` (SW0121) for rates that are not above zero, times below zero, and what no machine has.

    >>> topology = Topology({"data": Link(10e-6, 25e9), "model": Link(2e-6, 200e9)}, flops=100e12, memory=2e12)
    >>> topology == Topology.from_dict(topology.as_dict())
    True
    """

    links: Mapping[str, Link]
    flops: float
    memory: float
    launch: float = 0.0
    start: float = 0.0

    def __post_init__(self) -> None:
        _settle(self, "a topology", above_zero=["flops", "memory"], others=["launch", "start"])
        if not isinstance(self.links, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise value_error("SW0121", f"the links of a topology are {self.links!r}: it has one by axis", help=_HELP)
        for axis, link in self.links.items():
            if not isinstance(link, Link):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise value_error("SW0121", f"the link of axis {axis!r} is {link!r}", help=_HELP)

    @classmethod
    def of(cls, mesh: Mesh) -> Topology:
        """
        A topology for a mesh of which only its sizes are known.

        >>> {name: link.bandwidth for name, link in Topology.of(Mesh(data=16, model=8)).links.items()}
        {'data': 25000000000.0, 'model': 200000000000.0}
        """
        far = len(mesh.shape) - machine_axes(mesh)
        links = {name: BETWEEN if place < far else WITHIN for place, name in enumerate(mesh.sizes)}
        return cls(links, flops=100e12, memory=2e12)

    def on(self, mesh: Mesh) -> Topology:
        """
        The same topology, which must say what links a mesh has; those of axes that the mesh has not are other meshes'.

        Raises `ValueError` (SW0121) where an axis of more than one device has no link.
        """
        lacking = [axis for axis, size in mesh.sizes.items() if size > 1 and axis not in self.links]
        if not lacking or ANY in self.links:
            return self
        close = nearest(lacking[0], (name for name in self.links if name not in mesh.sizes))
        known = f"its links are {', '.join(self.links)}" if self.links else "it has no links"
        meant = f"did you mean {lacking[0]!r} by {close!r}? " if close else ""
        raise value_error(
            "SW0121",
            f"the topology has no link for axis {lacking[0]!r} of {mesh!r}",
            help=f"{meant}{known}; one named {ANY!r} stands for all axes that are not named",
        )

    @classmethod
    def from_dict(cls, data: object) -> Topology:
        """
        What `as_dict` gave, or somebody wrote in its form.

        Raises `ValueError` (SW0121) for anything else.
        """
        try:
            known = _fields(data, cls)
            links = {str(name): Link(**_fields(link, Link)) for name, link in known.pop("links").items()}
            return cls(links, **known)
        except (AssertionError, AttributeError, KeyError, TypeError, ValueError) as error:
            raise value_error("SW0121", "this describes no topology", help=_HELP) from error

    def as_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "links": {name: asdict(link) for name, link in self.links.items()},
            "flops": self.flops,
            "memory": self.memory,
            "launch": self.launch,
            "start": self.start,
        }

    def without_latency(self) -> Topology:
        """The same, where a message takes no time of its own."""
        return replace(self, links={name: replace(link, latency=0.0) for name, link in self.links.items()})

    def link(self, axis: str) -> Link:
        """The link of an axis: that of its name, or the one for any; without either (see `on`) the slowest of all."""
        named = self.links.get(axis) or self.links.get(ANY)
        return named or min(self.links.values(), key=lambda link: link.bandwidth, default=BETWEEN)

    def collective_seconds(self, kind: str, groups: Sequence[tuple[str, int]], sent: float) -> float:
        """
        How long a collective takes whose devices send so many bytes each; `groups` are its axes with their sizes.

        Gathers and reductions go axis by axis, the slowest link first, where they send least; an `all_to_all` sends to
        each device directly; the rest is as slow as its slowest link.

        >>> topology = Topology({"x": Link(1e-6, 1e9), "y": Link(1e-6, 1e10)}, 1e12, 1e12)
        >>> round(topology.collective_seconds("all_gather", [("x", 4)], 3e6) * 1e6)
        3002
        >>> round(topology.collective_seconds("all_gather", [("y", 2), ("x", 4)], 7e6) * 1e6)
        3403
        """
        return self.seconds(self.traffic(kind, groups, sent))

    def seconds(self, traffic: Iterable[Traffic]) -> float:
        """How long it takes to send what goes along each axis, one after the other."""
        return sum(self.link(axis).seconds(messages, part) for axis, messages, part in traffic)

    def slowest_first(self, axes: Iterable[str]) -> tuple[str, ...]:
        """Axes in the order of their bandwidths; of equals as they come."""
        return tuple(sorted(axes, key=lambda axis: self.link(axis).bandwidth))

    def traffic(self, kind: str, groups: Sequence[tuple[str, int]], sent: float) -> list[Traffic]:
        """
        The messages and bytes that a device sends along each axis in a collective (see `collective_seconds`).

        Those of an exchange and of windows, which know more than their axes, are `exchange_traffic` and
        `window_traffic`.
        """
        moving = [(axis, size) for axis, size in groups if size > 1]
        if not moving or kind in LOCAL:
            return []
        moving.sort(key=lambda each: self.link(each[0]).bandwidth)
        count = math.prod(size for _, size in moving)
        found: list[Traffic] = []
        if kind in ("all_gather", "reduce_scatter", "all_reduce"):
            passes, part = 2 if kind == "all_reduce" else 1, sent / (count - 1)
            for axis, size in moving:
                found.append((axis, passes * math.ceil(math.log2(size)), part * (size - 1)))
                part *= size
        elif kind == "all_to_all":
            near = count
            for axis, size in moving:
                across = near - near // size
                found.append((axis, across, sent * across / (count - 1)))
                near //= size
        else:
            found.append((moving[0][0], 1, sent))
        return found


def _fields(data: object, kind: type[Any]) -> dict[str, Any]:
    """What a dict has of the fields of a dataclass, and nothing else."""
    assert isinstance(data, dict)
    assert data.keys() <= {field.name for field in fields(kind)}
    return dict[str, Any](data)
