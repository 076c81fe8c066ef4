"""Which part of a tensor a device holds: div and mod on its coordinates, no device list."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from shardwright.layout.axes import Axis
from shardwright.layout.mesh import Mesh
from shardwright.layout.planning.algebra import local_shape, whole_shape
from shardwright.layout.spec import LayoutSpec

Box = tuple[tuple[int, int], ...]
"""A half-open index range for each dim."""


def box(spec: LayoutSpec, shape: tuple[int, ...], mesh: Mesh, coordinates: Mapping[str, int]) -> Box:
    """
    The box of a tensor of `shape` that the device at `coordinates` (an index for each axis) holds.

    Where a dim does not divide, the last boxes are shorter, or empty.

    >>> box(LayoutSpec("mesh", ((Axis("x"),), ())), (8, 3), Mesh(x=4, y=2), {"x": 1, "y": 0})
    ((2, 4), (0, 3))
    >>> box(LayoutSpec("mesh", ((Axis("x"),),)), (5,), Mesh(x=4), {"x": 2}), box(
    ...     LayoutSpec("mesh", ((Axis("x"),),)), (5,), Mesh(x=4), {"x": 3})
    (((4, 5),), ((5, 5),))
    """
    local = local_shape(spec, whole_shape(spec, shape, mesh), mesh)
    places = (linear_index(axes, mesh, coordinates) for axes in spec.dims)
    return tuple(
        (min(place * part, size), min((place + 1) * part, size))
        for place, part, size in zip(places, local, shape, strict=True)
    )


def linear_index(axes: Iterable[Axis], mesh: Mesh, coordinates: Mapping[str, int]) -> int:
    """
    The index of a device over `axes`, major to minor, as `dtensor.axis_index` computes it.

    >>> linear_index([Axis("y"), Axis("x", 2, 2)], Mesh(x=4, y=2), {"x": 3, "y": 1})
    3
    """
    index = 0
    for axis in axes:
        start, stop = mesh.span(axis)
        size = stop // start
        index = index * size + coordinates[axis.name] // (mesh.sizes[axis.name] // stop) % size
    return index
