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
from shardwright.layout.axes import Axis, span
from shardwright.layout.forms.groups import Digits, axes_of_digits, digits_of
from shardwright.layout.mesh import Mesh
from shardwright.passes.rewriter import erase


def say_of_one(module: ModuleOp, declared: Sequence[sdy.MeshOp]) -> Sequence[sdy.MeshOp]:
    """
    Has a module say all that it says of these meshes of one of them; returns those that are left.

    That is the one that manual computations are on, since these name whole axes, or else the first one, of those that
    number devices in order if there are any. Devices in another order are parts of axes where they count so.

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
    if len(kinds) < 2 or len(sizes) > 1:
        return declared
    meshes: dict[str | sdy.SdyMesh, sdy.SdyMesh] = {op.sym_name.data: op.mesh.data for op in declared}
    meshes |= {mesh: mesh for mesh in kinds}
    manual = [op for op in module.walk() if isinstance(op, ManualComputationOp)]
    named = [sharding.mesh for op in manual for sharding in (*op.in_shardings.data, *op.out_shardings.data)]
    chosen = meshes.get(named[0]) if named else None
    fit = [op for op in declared if op.mesh.data.axes and chosen in (None, op.mesh.data)]
    one = min(fit, key=lambda op: bool(op.mesh.data.device_ids))
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
        self.meshes, self.name, self.one = meshes, one.sym_name.data, one.mesh.data
        self.mesh = Mesh(self.one.axes, name=self.name)
        kinds = {mesh for mesh in meshes.values() if mesh.axes}
        self.digits = {mesh: self._counted(mesh) for mesh in kinds}
        """How each mesh counts through the devices of the one, major to minor."""

    def _counted(self, mesh: sdy.SdyMesh) -> tuple[Digits, ...]:
        if mesh.device_ids == self.one.device_ids:
            return ((1, self.mesh.size),)
        places = {device: place for place, device in enumerate(self.one.order)}
        return _digits([places[device] for device in mesh.order])

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
        if mesh == self.one:
            return changed(said, mesh=self.name)
        dims = tuple(changed(dim, axes=self._parts(mesh, dim.axes)) for dim in said.dims)
        others = {"replicated": self._parts(mesh, said.replicated), "unreduced": self._parts(mesh, said.unreduced)}
        return changed(said, mesh=self.name, dims=dims, **others)

    def groups(self, said: ReplicaGroups) -> ReplicaGroups:
        """Groups of devices that differ along axes, on the one mesh."""
        mesh = self.meshes[said.mesh]
        return ReplicaGroups(self.name, said.axes if mesh == self.one else self._parts(mesh, said.axes))

    def manual(self, op: ManualComputationOp) -> ManualAxesAttr:
        """The axes of a manual computation, which are whole ones."""
        sides = (*op.in_shardings.data, *op.out_shardings.data)
        mesh = next((self.meshes[sharding.mesh] for sharding in sides), None)
        if mesh is None or mesh == self.one:
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
            for stride, size in _cut(self.digits[mesh], start, stop):
                parts = axes_of_digits(stride, size, self.mesh)
                if parts is None:
                    raise ValueError(f"no axes count {size} devices in steps of {stride}")
                found += parts
        return tuple(found)


def _digits(places: Sequence[int]) -> tuple[Digits, ...]:
    """
    The digits that count through `places`, major to minor; none that reach all of them where it takes no digits.

    >>> _digits(range(8)), _digits([0, 2, 1, 3, 4, 6, 5, 7]), _digits([1, 0])
    (((1, 8),), ((4, 2), (1, 2), (2, 2)), ())
    """
    found = digits_of(places) if len(places) > 1 and places[0] == 0 else None
    counted = [0]
    for stride, size in found or ():
        counted = [place + stride * digit for digit in range(size) for place in counted]
    return tuple(reversed(found)) if found is not None and counted == list(places) else ()


def _cut(digits: Iterable[Digits], start: int, stop: int) -> Iterator[Digits]:
    """
    The digits of which all before are `start`, up to `stop` in all; `ValueError` where a border cuts one in no parts.

    >>> list(_cut([(1, 8)], 2, 8)), list(_cut([(4, 2), (1, 2), (2, 2)], 2, 8))
    ([(1, 4)], [(1, 2), (2, 2)])
    """
    before = done = 1
    for stride, size in digits:
        low, high, before = max(start, before), min(stop, before * size), before * size
        if low >= high:
            continue
        if low % (before // size) or high % low or before % high:
            raise ValueError(f"a border of [{start}, {stop}) is inside of a digit")
        done *= high // low
        yield stride * (before // high), high // low
    if done * start != max(start, stop):
        raise ValueError(f"there are no digits [{start}, {stop})")


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


def _same_if_equal(old: Attribute, new: Attribute) -> Attribute:
    return old if old == new else new
