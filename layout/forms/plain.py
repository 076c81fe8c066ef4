"""Meshes and layouts as plain lists of names and numbers, and back, for records in JSON."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from shardwright.layout.axes import Axis
from shardwright.layout.mesh import Mesh
from shardwright.layout.spec import LayoutSpec

__all__ = ["axes_of", "mesh_of", "plain_mesh", "plain_spec", "spec_of"]


def plain_mesh(mesh: Mesh) -> list[Any]:
    """A mesh by its name and the sizes of its axes; its devices stay behind."""
    return [mesh.name, list(mesh.sizes.items())]


def mesh_of(record: Sequence[Any]) -> Mesh:
    """
    The mesh that `plain_mesh` wrote down.

    >>> mesh_of(["mesh", [["x", 2]]])
    Mesh(x=2)
    """
    name, sizes = record
    return _mesh_with(name, tuple((axis, size) for axis, size in sizes))


@lru_cache
def _mesh_with(name: str, sizes: tuple[tuple[str, int], ...]) -> Mesh:
    """The mesh with these axes: one for all who name it."""
    return Mesh(list(sizes), name=name)


def plain_spec(spec: LayoutSpec) -> list[Any]:
    """A layout by its mesh's name and its axes, which are lists by themselves."""
    return [spec.mesh, spec.dims, spec.partial, spec.kind]


def spec_of(record: Sequence[Any]) -> LayoutSpec:
    """
    The layout that `plain_spec` wrote down.

    >>> spec_of(["mesh", [[["x", 1, 0]], []], [], "sum"]).dims
    ((Axis(name='x', pre=1, size=0),), ())
    """
    mesh, dims, partial, kind = record
    return LayoutSpec(mesh, tuple(map(axes_of, dims)), frozenset(), axes_of(partial), kind)


def axes_of(record: Sequence[Sequence[Any]]) -> tuple[Axis, ...]:
    """Axes from lists of their fields."""
    return tuple(Axis(*axis) for axis in record)
