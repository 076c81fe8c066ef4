"""What the types of JAX's results promise, where some axes of the mesh are explicit and others are not."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from importlib import import_module
from itertools import chain, repeat
from typing import Any, TypeAlias

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute

from shardwright.dialects import sdy
from shardwright.dialects.sdy import DimSharding, Sharding, ShardingAttr
from shardwright.engines.jax.shardings import entries
from shardwright.layout.axes import Axis

Names: TypeAlias = tuple[str, ...]


def is_mixed(mesh: Any) -> bool:
    """Whether some axes of one of JAX's meshes are explicit, and others are not."""
    explicit = import_module("jax.sharding").AxisType.Explicit
    return not mesh.empty and explicit in mesh.axis_types and any(kind != explicit for kind in mesh.axis_types)


def promised(module: ModuleOp, gives: Sequence[Any]) -> list[ShardingAttr | None]:
    """
    The shardings that types of results promise: automatic axes may split them further, explicit ones not.

    None where JAX has said it in the program, as it does where all axes are explicit, or where there is nothing to say.
    """
    known = {op.mesh.data.axes: op.sym_name.data for op in module.ops if isinstance(op, sdy.MeshOp)}
    return [_promise(value.sharding, known) if _mixed(value) else None for value in gives]


def keeps(given: Attribute, promise: ShardingAttr | None) -> bool:
    """Whether a sharding splits by explicit axes as a type promises."""
    if promise is None:
        return True
    if not isinstance(given, ShardingAttr) or given.data.mesh != promise.data.mesh or given.data.unreduced:
        return False
    split = [dim.axes for dim in promise.data.dims]
    explicit = {*chain(*split), *promise.data.replicated}
    mine = [tuple(axis for axis in dim.axes if axis in explicit) for dim in given.data.dims]
    return mine == split and not promise.data.unreduced


def typed(sharding: Any, value: Any) -> Any:
    """The sharding of a result, with axes of one device where its type has them, if nobody asked for another one."""
    if not _mixed(value):
        return sharding
    mesh, mine, theirs = value.sharding.mesh, _entries(sharding.spec), _entries(value.sharding.spec)
    alone = {name for name in mesh.explicit_axes if mesh.shape[name] == 1}
    counts = set(mesh.explicit_axes) - alone
    if [_among(axes, counts) for axes in mine] != [_among(axes, counts) for axes in theirs]:
        return sharding
    dims = map(_merged, mine, theirs, repeat(alone))
    return sharding.update(spec=sharding.spec.update(partitions=[each or None for each in dims]))


def parts_on_mixed(values: Iterable[Any]) -> Any:
    """The first sharding of some values of which each device has a part of a sum, where not all axes are explicit."""
    parts = filter(leaves_parts, map(_sharding, values))
    return next((each for each in parts if is_mixed(each.mesh)), None)


def _sharding(value: Any) -> Any:
    return getattr(value, "sharding", None)


def leaves_parts(sharding: Any) -> bool:
    """Whether each device has a part of a sum."""
    return bool(getattr(getattr(sharding, "spec", None), "unreduced", ()))


def typed_as(value: Any) -> str:
    """What a type says of its axes, where it promises something that the program does not say."""
    return str(value.sharding) if _mixed(value) else ""


def _mixed(value: Any) -> bool:
    sharding = _sharding(value)
    return sharding is not None and is_mixed(sharding.mesh)


def _promise(sharding: Any, known: dict[tuple[tuple[str, int], ...], str]) -> ShardingAttr | None:
    mesh, spec = sharding.mesh, sharding.spec
    name = known.get(tuple(mesh.shape.items()))
    if name is None:
        return None
    dims = tuple(DimSharding(tuple(map(Axis, axes)), is_open=True) for axes in _entries(spec))
    used = {axis.name for dim in dims for axis in dim.axes} | set(spec.unreduced)
    unreduced = tuple(Axis(each) for each in mesh.axis_names if each in spec.unreduced)
    whole = tuple(Axis(each) for each in mesh.explicit_axes if each not in used)
    return ShardingAttr(Sharding(name, dims, whole, unreduced))


def _entries(spec: Any) -> list[Names]:
    return [() if each is None else each if isinstance(each, tuple) else (each,) for each in entries(spec)]


def _among(axes: Names, some: Collection[str]) -> Names:
    return tuple(name for name in axes if name in some)


def _merged(mine: Names, theirs: Names, alone: Collection[str]) -> Names:
    """A dim's axes in their order; those that are `alone` where the type names them, behind what it names before."""
    merged = [name for name in mine if name not in alone]
    at = 0
    for name in theirs:
        if name in alone:
            merged.insert(at, name)
        at = merged.index(name) + 1
    return tuple(merged)
