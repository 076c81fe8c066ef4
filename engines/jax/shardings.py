"""Layouts as JAX's shardings, and meshes as JAX's meshes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from shardwright.layout.axes import Axis
from shardwright.layout.mesh import Mesh
from shardwright.layout.planning.algebra import atom_digits, spelled
from shardwright.layout.spec import LayoutSpec


class JaxMesh:
    """
    A mesh on JAX's devices. `known` are shardings that people gave: theirs is the mesh of what comes back.

    A layout that splits by a part of an axis is said as somebody said it, or else has a mesh of its own, on the same
    devices, whose axes are such parts: JAX names whole axes alone.
    """

    def __init__(self, mesh: Mesh, devices: Sequence[Any], known: Iterable[Any] = ()) -> None:
        self._mesh, self._sharding = mesh, import_module("jax.sharding")
        self._devices = np.array(devices).reshape(tuple(mesh.sizes.values()))
        self._known = [each for each in known if hasattr(each, "spec") and hasattr(each.mesh, "devices")]
        theirs = (each.mesh for each in self._known if self._is_the_same(each.mesh))
        self.whole = next(theirs, None) or self._made(mesh.sizes)

    @property
    def platform(self) -> str:
        """Of which kind the devices are, in JAX's words."""
        return self._devices.flat[0].platform

    @property
    def explicit(self) -> bool:
        """Whether types of arrays name its axes, with an entry for every dim."""
        return self._sharding.AxisType.Explicit in self.whole.axis_types

    def is_of(self, sharding: Any) -> bool:
        """Whether a sharding, or what JAX puts where there is none, is on this mesh."""
        return getattr(sharding, "mesh", None) == self.whole

    def sharding(self, spec: LayoutSpec, rank: int | None = None) -> Any:
        """The `NamedSharding` of a layout; with a `rank`, of the first dims alone."""
        dims = spec.dims[:rank]
        if all(axis.whole for axes in dims for axis in axes):
            return self._named(self.whole, [tuple(axis.name for axis in axes) for axes in dims], spec)
        everything = LayoutSpec(spec.mesh, tuple((Axis(name),) for name in self._mesh.sizes))
        parts = atom_digits([spec, everything], self._mesh)
        names = [f"{name}.{start}.{stop}" for name, start, stop in parts]
        cut = self._made({name: stop // start for name, (_, start, stop) in zip(names, parts, strict=True)})
        made = self._named(cut, [tuple(names[at] for at in spelled(axes, parts, self._mesh)) for axes in dims])
        return next((each for each in self._known if is_the_same(each, made, len(dims))), made)

    def whole_sharding(self) -> Any:
        """The sharding of what every device has all of."""
        return self._named(self.whole, [])

    def _named(self, mesh: Any, dims: Sequence[tuple[str, ...]], spec: LayoutSpec | None = None) -> Any:
        """Of a layout, what it leaves in parts as well."""
        entries = [axes[0] if len(axes) == 1 else axes or None for axes in dims]
        while entries and entries[-1] is None and not self.explicit:  # as JAX itself writes them
            entries.pop()
        parts: dict[str, Any] = {}
        if spec is not None and spec.partial:
            parts["unreduced"] = {axis.name for axis in spec.partial}
            if spec.kind != "sum":  # of which JAX before 0.12 knows none
                parts["unreduced_kind"] = self._sharding.UnreducedKind[spec.kind]
        return self._sharding.NamedSharding(mesh, self._sharding.PartitionSpec(*entries, **parts))

    def _is_the_same(self, other: Any) -> bool:
        same = list(other.shape.items()) == list(self._mesh.sizes.items())
        return same and bool((other.devices == self._devices).all())

    def _made(self, sizes: Mapping[str, int]) -> Any:
        return self._sharding.Mesh(self._devices.reshape(tuple(sizes.values())), tuple(sizes))


def is_the_same(given: Any, made: Any, rank: int) -> bool:
    """Whether a sharding that somebody gave splits arrays of so many dims as one of ours does, in the same memory."""
    if not hasattr(given, "spec") or len(given.spec) > rank or given.spec.UNCONSTRAINED in entries(given.spec):
        return False
    return _parts(given) == _parts(made) and bool(given.is_equivalent_to(made, rank))


def _parts(sharding: Any) -> tuple[set[str], str]:
    """The axes over which each device has a part, and of what; along one of one device it has all of it."""
    axes = {name for name in sharding.spec.unreduced if sharding.mesh.shape[name] > 1}
    return axes, getattr(getattr(sharding.spec, "unreduced_kind", None), "name", "sum") if axes else ""


def entries(spec: Any) -> tuple[Any, ...]:
    """What a `PartitionSpec` says of each dim; that of JAX 0.10.0 is iterated itself, whatever else it says."""
    return tuple(getattr(spec, "partitions", spec))
