"""What goes from mesh to mesh: the parts that devices of one lack of what those of another have."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction

from shardwright.layout.boxes import Box, box
from shardwright.layout.layout import Layout
from shardwright.layout.mesh import Mesh

__all__ = ["lacking_elements"]


def lacking_elements(source: Layout, target: Layout, shape: tuple[int, ...]) -> Fraction:
    """
    The elements that a device of the target's mesh lacks of its part, on average.

    >>> lacking_elements(Layout(["x"], Mesh(x=2)), Layout(["y"], Mesh(y=4)), (8,))
    Fraction(3, 2)
    """
    held = dict(_boxes(source, shape))
    lacking = 0
    for device, wanted in _boxes(target, shape):
        mine = held.get(device)
        lacking += _volume(wanted) - (0 if mine is None else _volume(_overlap(wanted, mine)))
    return Fraction(lacking, target.mesh.size)


def _boxes(layout: Layout, shape: tuple[int, ...]) -> Iterator[tuple[str, Box]]:
    mesh: Mesh = layout.mesh
    spec = layout.for_rank(len(shape)).spec
    names = mesh.devices or tuple(f"CPU:{number}" for number in range(mesh.size))
    places = itertools.product(*map(range, mesh.shape))
    for name, place in zip(names, places, strict=True):
        yield name, box(spec, shape, mesh, dict(zip(mesh.axis_names, place, strict=True)))


def _overlap(left: Box, right: Box) -> Box:
    return tuple((max(a, c), min(b, d)) for (a, b), (c, d) in zip(left, right, strict=True))


def _volume(part: Box) -> int:
    return math.prod(max(0, stop - start) for start, stop in part)
