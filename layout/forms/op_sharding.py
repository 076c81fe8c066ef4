"""`XlaOpSharding`: layouts from XLA's shardings, as JAX and GSPMD write them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from shardwright.diagnostics import ShardwrightValueError
from shardwright.layout.faults import fault
from shardwright.layout.forms.gspmd import Tiling, mesh_of_tilings
from shardwright.layout.forms.mesh_record import content_of
from shardwright.layout.forms.wire import numbers, read_fields
from shardwright.layout.layout import Layout
from shardwright.layout.mesh import Mesh
from shardwright.layout.spec import LayoutSpec

KINDS = ("REPLICATED", "MAXIMAL", "TUPLE", "OTHER", "MANUAL", "UNKNOWN", "UNREDUCED")
"""The types of an `OpSharding`, by number."""


class XlaOpSharding(Layout):
    """
    The layout that an XLA sharding describes (RFC: `tf.dtensor.XlaOpSharding`).

    `op_sharding` is an `OpSharding` message of any library, its bytes, something that has `to_proto()` (an
    `HloSharding`), or its text: `{devices=[2,4]<=[4,2]T(1,0)}`, or with the devices listed, `{devices=[2,1]0,1}`. With
    a `mesh`, whose devices are numbered row-major, the sharding is found in its axes, which may take parts of them;
    without one, a mesh is made that has the axes it needs, named `axis0` and so on.

    Raises `ValueError` (SW0118) that says why for shardings of tuples, manual, unknown and unreduced ones, for one
    device out of a mesh of several, and for devices that are no axes of the mesh.

    >>> XlaOpSharding("{devices=[2,4]<=[4,2]T(1,0)}", Mesh(x=4, y=2))
    Layout(['y', 'x'], Mesh(x=4, y=2))
    >>> XlaOpSharding("{devices=[2,1,4]<=[8] last_tile_dim_replicate}")
    Layout(['axis0', 'unsharded'], Mesh(axis0=2, axis1=4))
    """

    __slots__ = ()

    def __init__(self, op_sharding: object, mesh: Mesh | None = None) -> None:
        tiling = _tiling(op_sharding)
        if tiling.whole == "maximal":
            spec, found = _on_one_device(tiling, mesh)
        elif tiling.whole:
            found = mesh if mesh is not None else Mesh(axis0=1)
            spec = LayoutSpec(found.name, ())
        else:
            spec, found = _in_axes(tiling, mesh)
        self._mesh = found
        self._spec = spec
        self._uneven = self._auto = False


def _tiling(op_sharding: object) -> Tiling:
    """The sharding of a message or text; `ValueError` (SW0118) for one that no layout has."""
    write = getattr(op_sharding, "to_proto", None)
    given = write() if callable(write) else op_sharding
    if isinstance(given, str):
        text = given.strip() if given.strip().startswith("{") else f"{{{given.strip()}}}"
    else:
        text = _message_text(given)
    if text.startswith("{{") or text == "{}":
        raise _no_layout(f"{text} is a tuple of shardings", "give the sharding of one tensor")
    for kind in ("manual", "unknown", "unreduced"):
        if kind in text:
            raise _no_layout(f"{text} is {kind}: a layout says where each element is", "use a tiled sharding")
    try:
        return Tiling.parse(text)
    except ValueError as error:
        raise _no_layout(str(error), "use a sharding of all devices, each once") from None


def _message_text(given: object) -> str:
    """The sharding of a message as text, with every kind of group named."""
    fields = _read(given)
    kind = _kind((fields["type"] or (0,))[-1])
    if kind == "TUPLE":
        raise _no_layout("the OpSharding is a TUPLE of shardings", "give the sharding of one tensor")
    if kind not in ("REPLICATED", "MAXIMAL", "OTHER"):
        raise _no_layout(f"the OpSharding has type {kind}", "use REPLICATED, MAXIMAL or OTHER")
    if kind == "REPLICATED":
        return "{replicated}"
    if kind == "MAXIMAL":
        devices = fields["tile_assignment_devices"]
        return f"{{maximal device={devices[0] if devices else 0}}}"
    return _tiled_text(fields)


def _tiled_text(fields: dict[str, tuple[int, ...]]) -> str:
    """The text of a tiled sharding, from the fields of its message."""
    tiles, devices, iota = (fields[name] for name in _TILES)
    counted = iota or devices
    if not (tiles and counted and min(*tiles, *counted) >= 0):
        raise _no_layout("the OpSharding has no tile assignment", "give its dimensions and its devices")
    order = f"T({_listed(fields['iota_transpose_perm'])})" if fields["iota_transpose_perm"] else ""
    listed = f"<=[{_listed(iota)}]{order}" if iota else _listed(devices)
    last = [_kind(number).lower() for number in fields["last_tile_dims"]]
    groups = ["replicated"] if any(fields["replicate_on_last_tile_dim"]) else last
    text = f" last_tile_dims={{{', '.join(groups)}}}" if groups else ""
    return f"{{devices=[{_listed(tiles)}]{listed}{text}}}"


_TILES = ("tile_assignment_dimensions", "tile_assignment_devices", "iota_reshape_dims")
_NUMBERS = {
    "type": 1,
    "tile_assignment_dimensions": 3,
    "tile_assignment_devices": 4,
    "replicate_on_last_tile_dim": 6,
    "last_tile_dims": 8,
    "iota_reshape_dims": 9,
    "iota_transpose_perm": 10,
}
"""The fields of an `OpSharding` that say how a tensor is split."""


def _read(given: object) -> dict[str, tuple[int, ...]]:
    """The numbers of each field of a message, from its attributes or from its bytes."""
    if hasattr(given, "tile_assignment_dimensions"):
        return {name: _all_numbers(getattr(given, name, ())) for name in _NUMBERS}
    try:
        fields = read_fields(content_of(given))
        return {name: numbers(fields, number) for name, number in _NUMBERS.items()}
    except ValueError as error:
        raise _no_layout(f"this is no OpSharding: {error}", "give a message, its bytes, or its text") from None


def _all_numbers(value: object) -> tuple[int, ...]:
    return tuple(map(_number, value)) if isinstance(value, Iterable) else (_number(value),)


def _number(kind: Any) -> int:
    """The number of a type, which some libraries give as an enumeration."""
    value = getattr(kind, "value", kind)
    return KINDS.index(str(getattr(kind, "name", kind))) if not isinstance(value, int) else value


def _kind(number: int) -> str:
    return KINDS[number] if 0 <= number < len(KINDS) else f"number {number}"


def _on_one_device(tiling: Tiling, mesh: Mesh | None) -> tuple[LayoutSpec, Mesh]:
    """The layout of a tensor that one device holds."""
    if mesh is not None and mesh.size > 1:
        raise _no_layout(
            f"a maximal sharding puts the tensor on one device, but {mesh!r} has {mesh.size}",
            "relayout the tensor to mesh.submesh(...) of that device",
        )
    found = mesh if mesh is not None else Mesh(axis0=1)
    return LayoutSpec(found.name, ()), found


def _in_axes(tiling: Tiling, mesh: Mesh | None) -> tuple[LayoutSpec, Mesh]:
    """The layout of a tiled tensor, and its mesh: the given one or one that has the axes."""
    try:
        found = mesh if mesh is not None else _made(tiling)
        dims, _ = tiling.axes(found)
    except ValueError as error:
        raise _no_layout(str(error), "leave out the mesh, or order its axes as the devices are listed") from None
    return Layout.from_spec(LayoutSpec(found.name, tuple(dims)), found).spec, found


def _made(tiling: Tiling) -> Mesh:
    """A mesh that the sharding can be written on."""
    found = mesh_of_tilings([tiling])
    return found if math.prod(found.shape) > 1 else Mesh(axis0=1)


def _listed(values: Iterable[int]) -> str:
    return ",".join(map(str, values))


def _no_layout(message: str, help_text: str) -> ShardwrightValueError:
    return fault("SW0118", message, help_text)
