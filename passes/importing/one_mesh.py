"""Meshes of other axes over the same devices: what is said of them is said by the axes of one and parts of these."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace as changed

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp
from xdsl.ir import Attribute

from shardwright.dialects import sdy
from shardwright.dialects.sdy.ops import ManualAxesAttr, ManualComputationOp
from shardwright.dialects.stablehlo.collectives import ReplicaGroups, ReplicaGroupsAttr
from shardwright.layout.axes import Axis, part, span
from shardwright.passes.rewriter import erase


def say_of_one(module: ModuleOp, declared: Sequence[sdy.MeshOp]) -> Sequence[sdy.MeshOp]:
    """
    Has a module say all that it says of these meshes of one of them; returns those that are left.

    That is the one that manual computations are on, since these name whole axes, or else the first.

    Before:
        sdy.mesh @mesh = <["x"=4, "y"=2]>
        sdy.mesh @line = <["all"=8]>
        ... <@mesh, [{"x"}]> ... <@line, [{"all"}]>
    After:
        sdy.mesh @mesh = <["x"=4, "y"=2]>
        ... <@mesh, [{"x"}]> ... <@mesh, [{"x", "y"}]>

    Nothing happens where the axes of one are no parts of those of another, or where devices are others or stand in
    another order.
    """
    kinds = {op.mesh.data for op in declared if op.mesh.data.axes}
    sizes = {math.prod(mesh.sizes.values()) for mesh in kinds}
    if len(kinds) < 2 or len(sizes) > 1 or any(mesh.device_ids for mesh in kinds):
        return declared
    meshes: dict[str | sdy.SdyMesh, sdy.SdyMesh] = {op.sym_name.data: op.mesh.data for op in declared}
    meshes |= {mesh: mesh for mesh in kinds}
    manual = [op for op in module.walk() if isinstance(op, ManualComputationOp)]
    named = [sharding.mesh for op in manual for sharding in (*op.in_shardings.data, *op.out_shardings.data)]
    chosen = meshes.get(named[0]) if named else None
    one = next(op for op in declared if op.mesh.data.axes and chosen in (None, op.mesh.data))
    try:
        retold = _Retelling(meshes, one)
        found = [(op, retold.entries(op.properties), retold.entries(op.attributes)) for op in module.walk()]
        axes = [retold.manual(op) for op in manual]
    except (KeyError, ValueError):
        return declared
    for op, properties, attributes in found:
        op.properties |= properties
        op.attributes |= attributes
    for op, names in zip(manual, axes, strict=True):
        op.manual_axes = names
    for op in declared:
        if op is not one and op.mesh.data.axes:
            erase(op)
    return [op for op in declared if op is one or not op.mesh.data.axes]


class _Retelling:
    """What is said of meshes, said of one; `KeyError` and `ValueError` where that cannot be."""

    def __init__(self, meshes: dict[str | sdy.SdyMesh, sdy.SdyMesh], one: sdy.MeshOp) -> None:
        self.meshes, self.name, self.axes = meshes, one.sym_name.data, one.mesh.data.axes

    def entries(self, said: dict[str, Attribute]) -> dict[str, Attribute]:
        """What changes of the properties or the attributes of an op."""
        pairs = ((name, value, self.attribute(value)) for name, value in said.items())
        return {name: new for name, old, new in pairs if new is not old}

    def attribute(self, said: Attribute) -> Attribute:
        """An attribute, itself where it says nothing of other meshes."""
        match said:
            case sdy.ShardingAttr(data=found):
                return sdy.ShardingAttr(self.sharding(found))
            case sdy.ShardingPerValueAttr(data=found):
                return sdy.ShardingPerValueAttr(tuple(map(self.sharding, found)))
            case ReplicaGroupsAttr(data=found):
                return ReplicaGroupsAttr(self.groups(found))
            case ArrayAttr(data=found):
                return _same_if_equal(said, ArrayAttr(map(self.attribute, found)))
            case DictionaryAttr(data=found):
                return _same_if_equal(said, DictionaryAttr({**found, **self.entries(dict(found))}))
            case _:
                return said

    def sharding(self, said: sdy.Sharding) -> sdy.Sharding:
        """A sharding on the one mesh."""
        mesh = self.meshes[said.mesh]
        if not mesh.axes or said.mesh == self.name:
            return said
        if mesh.axes == self.axes:
            return changed(said, mesh=self.name)
        dims = tuple(changed(dim, axes=self._parts(mesh, dim.axes)) for dim in said.dims)
        others = {"replicated": self._parts(mesh, said.replicated), "unreduced": self._parts(mesh, said.unreduced)}
        return changed(said, mesh=self.name, dims=dims, **others)

    def groups(self, said: ReplicaGroups) -> ReplicaGroups:
        """Groups of devices that differ along axes, on the one mesh."""
        mesh = self.meshes[said.mesh]
        return ReplicaGroups(self.name, said.axes if mesh.axes == self.axes else self._parts(mesh, said.axes))

    def manual(self, op: ManualComputationOp) -> ManualAxesAttr:
        """The axes of a manual computation, which are whole ones."""
        sides = (*op.in_shardings.data, *op.out_shardings.data)
        mesh = next((self.meshes[sharding.mesh] for sharding in sides), None)
        if mesh is None or mesh.axes == self.axes:
            return op.manual_axes
        found = self._parts(mesh, map(Axis, op.manual_axes.data))
        if not all(axis.whole for axis in found):
            raise ValueError("a part of an axis")
        return ManualAxesAttr(tuple(axis.name for axis in found))

    def _parts(self, mesh: sdy.SdyMesh, axes: Iterable[Axis]) -> tuple[Axis, ...]:
        places, sizes = _places(mesh.axes), mesh.sizes
        found: list[Axis] = []
        for axis in axes:
            start, stop = (places[axis.name] * border for border in span(axis, sizes[axis.name]))
            found += _parts_between(start, stop, self.axes)
        return tuple(found)


def _places(axes: Iterable[tuple[str, int]]) -> dict[str, int]:
    """
    For each axis the product of the sizes in front of it: what one counts devices by.

    >>> _places((("x", 4), ("y", 2)))
    {'x': 1, 'y': 4}
    """
    found: dict[str, int] = {}
    before = 1
    for name, size in axes:
        found[name] = before
        before *= size
    return found


def _parts_between(start: int, stop: int, axes: Sequence[tuple[str, int]]) -> Iterator[Axis]:
    """
    The axes, and parts of axes, which are the digits `[start, stop)` of the number of a device.

    Raises `ValueError` where an axis cannot be cut so.

    >>> [str(axis) for axis in _parts_between(2, 8, (("x", 4), ("y", 2)))]
    ['"x":(2)2', '"y"']
    """
    places = _places(axes)
    for name, size in axes:
        first = places[name]
        low, high = max(start, first), min(stop, first * size)
        if low >= high:
            continue
        if low % first or high % low or first * size % high:
            raise ValueError(f"the digits [{low}, {high}) are no part of {name}")
        yield part(name, low // first, high // first, size)


def _same_if_equal(old: Attribute, new: Attribute) -> Attribute:
    return old if old == new else new
