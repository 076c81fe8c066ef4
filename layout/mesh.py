"""`Mesh`: a grid of devices with named axes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from operator import index
from typing import ClassVar, SupportsIndex, cast

from shardwright.diagnostics import Diagnostic, ShardwrightValueError
from shardwright.layout.axes import Axis, part, span


class Mesh:
    """
    A grid of devices with named axes (RFC: "Mesh and Layout", where axes are called mesh dimensions).

    `dims` gives the axis names and sizes: a mapping, a sequence of pairs, or keyword arguments. `devices`, when given,
    is the global list of device names, row-major over the axes; no pass ever looks at it. `name` is the symbol by
    which programs refer to the mesh.

    Raises `ValueError` (SW0101) for anything but pairs of a name and a size, an empty or repeated name, a size below
    one, or a number of devices that is not the product of the sizes.

    >>> mesh = Mesh([("batch", 4), ("model", 2)])
    >>> mesh.size, mesh.dim_size("batch"), mesh
    (8, 4, Mesh(batch=4, model=2))
    """

    UNSHARDED: ClassVar[str] = "unsharded"

    __slots__ = ("_hash", "_sizes", "devices", "name")

    def __init__(
        self,
        dims: Mapping[str, int] | Iterable[tuple[str, int]] = (),
        devices: Sequence[str] | None = None,
        *,
        name: str = "mesh",
        **axes: int,
    ) -> None:
        pairs = [_checked_axis(*pair) for pair in (*_pairs(dims), *axes.items())]
        self._sizes = dict(pairs)
        if len(self._sizes) != len(pairs):
            raise _mesh_error(
                f"an axis name is repeated in {[axis for axis, _ in pairs]}", "give each axis its own name"
            )
        self.devices = tuple(devices) if devices is not None else None
        self.name = name
        if self.devices is not None and len(self.devices) != self.size:
            raise _mesh_error(
                f"a mesh of {self} has {self.size} devices, but {len(self.devices)} were given",
                "give one device for each place of the grid, row-major",
            )
        # Meshes are keys of the planner's memory: hash a long device list once.
        self._hash = hash((tuple(self._sizes.items()), self.devices))

    @property
    def sizes(self) -> dict[str, int]:
        """The size of each axis, by name, in order."""
        return self._sizes

    @property
    def axis_names(self) -> tuple[str, ...]:
        """The names of the axes, major to minor."""
        return tuple(self._sizes)

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of the axes, major to minor."""
        return tuple(self._sizes.values())

    @property
    def size(self) -> int:
        """The number of devices."""
        return math.prod(self._sizes.values())

    def dim_size(self, name: str) -> int:
        """The size of axis `name`; `ValueError` (SW0102) when there is none (RFC: `mesh.dim_size`)."""
        if name not in self._sizes:
            known = f"its axes are {', '.join(self._sizes)}" if self._sizes else "it has no axes"
            raise ShardwrightValueError(Diagnostic("SW0102", f"mesh {self} has no axis {name!r}", help=known))
        return self._sizes[name]

    def axis_size(self, axis: Axis) -> int:
        """The number of parts into which `axis`, or the part of it, splits a dim."""
        return axis.size or self._sizes[axis.name]

    def group_size(self, axes: Iterable[Axis]) -> int:
        """The number of devices that differ only along `axes`."""
        return math.prod(axis.size or self._sizes[axis.name] for axis in axes)

    def part(self, name: str, start: int, stop: int) -> Axis:
        """The part `[start, stop)` of the digits of axis `name`."""
        return part(name, start, stop, self._sizes[name])

    def span(self, axis: Axis) -> tuple[int, int]:
        """The half-open range of digits that `axis` takes."""
        return span(axis, self._sizes[axis.name])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mesh):
            return NotImplemented
        if self is other:
            return True
        return tuple(self._sizes.items()) == tuple(other._sizes.items()) and self.devices == other.devices

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return f"Mesh({', '.join(f'{name}={size}' for name, size in self._sizes.items())})"


def _pairs(dims: object) -> list[tuple[object, object]]:
    if isinstance(dims, Mapping):
        return list(cast("Mapping[object, object]", dims).items())
    items = list(cast("Iterable[object]", dims)) if isinstance(dims, Iterable) and not isinstance(dims, str) else [dims]
    for item in items:
        if not isinstance(item, tuple | list) or len(cast("Sequence[object]", item)) != 2:
            raise _mesh_error(
                f"{item!r} is not the name and the size of a mesh axis", "name each axis: Mesh(batch=4, model=2)"
            )
    return [(name, size) for name, size in cast("list[tuple[object, object]]", items)]


def _checked_axis(name: object, size: object) -> tuple[str, int]:
    if not isinstance(name, str) or not name or name == Mesh.UNSHARDED:
        raise _mesh_error(f"{name!r} cannot name a mesh axis", "use a non-empty string other than 'unsharded'")
    whole = None if isinstance(size, bool) or not isinstance(size, SupportsIndex) else index(size)
    if whole is None or whole < 1:
        raise _mesh_error(f"mesh axis {name!r} has size {size!r}", "use a whole number of at least 1")
    return name, whole


def _mesh_error(message: str, help_text: str) -> ShardwrightValueError:
    return ShardwrightValueError(Diagnostic("SW0101", message, help=help_text))
