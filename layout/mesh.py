"""`Mesh`: a grid of devices with named axes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from keyword import iskeyword
from operator import index
from typing import TYPE_CHECKING, ClassVar, SupportsIndex, cast

from shardwright.diagnostics import ShardwrightValueError
from shardwright.diagnostics.suggestions import also
from shardwright.layout.axes import Axis, part, span
from shardwright.layout.faults import fault
from shardwright.layout.forms.clients import ALONE, Clients
from shardwright.layout.forms.devices import DeviceSpec, device_names, given_devices
from shardwright.layout.forms.mesh_record import (
    MeshRecord,
    default_devices,
    mesh_message,
    record_of_message,
    record_of_text,
    text_of,
)

if TYPE_CHECKING:
    from shardwright.layout.pictures.picture import Picture


class Mesh:
    """
    A grid of devices with named axes (RFC: "Mesh and Layout", where axes are called mesh dimensions).

    `dims` gives the axis names and sizes: a mapping, a sequence of pairs, or keyword arguments. `devices`, when given,
    is the global list of device names, row-major over the axes (`"GPU:0"`, `"/worker:0/GPU:0"`, or anything with a
    `to_string()` such as `tf.DeviceSpec`); no pass ever looks at it. With `devices="jax"`, or a list of JAX's devices,
    these hold the mesh, and JAX runs what is on it (`docs/jax.md`). `name` is the symbol by which programs refer to the
    mesh.

    Raises `ValueError` (SW0101) for anything but pairs of a name and a size, an empty or repeated name, a size below
    one, or a number of devices that is not the product of the sizes; `ValueError` (SW0116) for what is no device name
    and for a device that is given twice.

    >>> mesh = Mesh([("batch", 4), ("model", 2)])
    >>> mesh.size, mesh.dim_size("batch"), mesh
    (8, 4, Mesh(batch=4, model=2))
    """

    UNSHARDED: ClassVar[str] = "unsharded"

    __slots__ = ("_clients", "_hash", "_owner", "_sizes", "devices", "name")

    def __init__(
        self,
        dims: Mapping[str, int] | Iterable[tuple[str, int]] = (),
        devices: Sequence[object] | str | None = None,
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
        self.devices, owner = given_devices(devices)
        self.name = name
        self._clients = ALONE
        self._owner: object = owner
        if self.devices is not None and len(self.devices) != self.size:
            raise _mesh_error(
                f"a mesh of {self} has {self.size} devices, but {len(self.devices)} were given",
                "give one device for each place of the grid, row-major",
            )
        # Meshes are keys of the planner's memory: hash a long device list once.
        self._hash = hash((tuple(self._sizes.items()), self.devices))

    @classmethod
    def distributed(
        cls,
        dims: Mapping[str, int] | Iterable[tuple[str, int]],
        devices: Sequence[object] | None = None,
        *,
        num_clients: int | None = None,
        client_id: int | None = None,
        job: str = "worker",
        name: str = "mesh",
    ) -> Mesh:
        """
        A mesh over all clients, each of which has the same `devices` (RFC: `Mesh.distributed`).

        `devices` are those of one client; the first client's stand first. Without them each has its share. How many
        clients there are, and which one this process is, the environment says (`SHARDWRIGHT_NUM_CLIENTS` and
        `SHARDWRIGHT_CLIENT_ID`, TensorFlow's `DTENSOR_...`, or what started the processes: `shardwright launch`,
        `mpiexec`) unless it is given; without any, there is one.

        Raises `ValueError` like the constructor, (SW0116) for a client that is none of them, and (SW0120) where the
        devices of a client are no box of the mesh.

        >>> mesh = Mesh.distributed({"x": 4}, ["GPU:0", "GPU:1"], num_clients=2, client_id=1)
        >>> mesh.devices[2], mesh.local_device_ids
        ('/job:worker/replica:0/task:1/device:GPU:0', (2, 3))
        """
        clients = Clients.found(num_clients, client_id)
        if devices is None:
            mesh = cls(dims, name=name).seen_by(clients)
        else:
            local = [DeviceSpec.parse(device) for device in device_names(devices)]
            everywhere = [str(device.on_client(client, job)) for client in range(clients.count) for device in local]
            mesh = cls(dims, everywhere, name=name).seen_by(clients)
        mesh.client_borders(clients.count)
        return mesh

    @property
    def clients(self) -> Clients:
        """
        The processes whose devices make up the mesh, and which of them this one is.

        >>> Mesh(x=2).clients.count
        1
        """
        return self._clients

    @property
    def owner(self) -> object:
        """
        Who holds the devices where it is not this process and others like it: workers, GPUs, or JAX.

        >>> Mesh(x=2).owner is None
        True
        """
        return self._owner

    def owned_by(self, owner: object) -> Mesh:
        """
        The same mesh, with its devices in the hands of somebody else, with whose meshes alone it compares equal.

        >>> Mesh(x=4).owned_by("workers") == Mesh(x=4)
        False
        """
        mesh = self.named(self.name)
        mesh._owner = owner
        return mesh

    def named(self, name: str) -> Mesh:
        """
        The same mesh under another name in programs.

        >>> Mesh(x=4).named("rows").name
        'rows'
        """
        mesh = Mesh(self._sizes, self.devices, name=name)
        mesh._clients, mesh._owner = self._clients, self._owner
        return mesh

    @property
    def num_clients(self) -> int:
        """
        The number of processes whose devices make up the mesh.

        >>> Mesh(x=2).num_clients
        1
        """
        return self._clients.count

    def client_borders(self, clients: int) -> dict[str, int]:
        """
        The axes along which so many processes differ, each with the number of parts into which they cut it.

        Each process has as many devices, one after the other in row-major order. Raises `ValueError` (SW0120) where
        these are no box of the mesh.

        >>> Mesh(x=2, y=4).client_borders(4)
        {'x': 2, 'y': 2}
        """
        found, left = dict[str, int](), clients
        for name, size in self._sizes.items():
            if left == 1:
                break
            found[name] = size if left % size == 0 else left
            left //= found[name]
            if size % found[name]:
                raise _split_error(self, clients)
        if left > 1:
            raise _split_error(self, clients)
        return found

    @property
    def client_shape(self) -> tuple[int, ...]:
        """
        The size along each axis of the box of devices that each process holds: of one process, the mesh's shape.

        Raises `ValueError` (SW0120) where the devices of a process are no box.

        >>> Mesh(x=2, y=4).client_shape
        (2, 4)
        """
        borders = self.client_borders(self.num_clients)
        return tuple(size // borders.get(name, 1) for name, size in self._sizes.items())

    @property
    def local_device_ids(self) -> tuple[int, ...]:
        """
        The places in the mesh, row-major, of the devices of this process.

        >>> Mesh(x=2).local_device_ids
        (0, 1)
        """
        here = self.size // self._clients.count if self._clients.is_here else 0
        return tuple(range(here * self._clients.place, here * (self._clients.place + 1)))

    @property
    def local_devices(self) -> tuple[str, ...]:
        """
        The names of this process' devices.

        >>> Mesh(x=2).local_devices
        ('CPU:0', 'CPU:1')
        """
        names = self.devices if self.devices is not None else default_devices(self.size)
        return tuple(names[place] for place in self.local_device_ids)

    def seen_by(self, clients: Clients) -> Mesh:
        """
        The same mesh as one of several processes sees it.

        >>> from shardwright.layout.forms.clients import Clients
        >>> Mesh(x=4).seen_by(Clients(2, 1)).local_device_ids
        (2, 3)
        """
        seen = Mesh(self._sizes, self.devices, name=self.name)
        seen._clients = clients
        return seen

    def submesh(self, coordinates: Mapping[str, int | slice] | None = None, /, **axes: int | slice) -> Mesh:
        """
        The part of the mesh at fixed coordinates along some axes, which it then lacks, or within slices of them.

        Its devices are named: those of a mesh without names are `CPU:0` and so on. Of a mesh over several processes it
        lies on those that have these devices: each process calls this, and only those take part in what runs there.
        Raises `ValueError` for an axis that the mesh lacks (SW0102), for a coordinate outside of it (SW0101), and where
        its processes are not one after the other with a box each (SW0120).

        >>> mesh = Mesh({"x": 2, "y": 3})
        >>> mesh.submesh(x=1), mesh.submesh(x=1).devices
        (Mesh(y=3), ('CPU:3', 'CPU:4', 'CPU:5'))
        >>> mesh.submesh(y=slice(1, None)).devices
        ('CPU:1', 'CPU:2', 'CPU:4', 'CPU:5')
        """
        given = {**(coordinates or {}), **axes}
        kept = {axis: list(range(size)) for axis, size in self._sizes.items()}
        for axis, at in given.items():
            kept[axis] = _coordinates(axis, at, self.dim_size(axis))
        places = [0]
        for axis, size in self._sizes.items():
            places = [place * size + at for place in places for at in kept[axis]]
        dims = [(axis, len(found)) for axis, found in kept.items() if isinstance(given.get(axis, slice(None)), slice)]
        names = self.devices if self.devices is not None else default_devices(self.size, self._owner)
        mesh = Mesh(dims, [names[place] for place in places], name=self.name).owned_by(self._owner)
        mesh._clients = self._clients_of(places, mesh)
        return mesh

    def _clients_of(self, places: Sequence[int], part: Mesh) -> Clients:
        """The processes that have some of the devices, which make up a part of the mesh."""
        here = self.size // self._clients.count
        first, last = places[0] // here, places[-1] // here
        found = self._clients.part(first, last + 1)
        if [place // here - first for place in places] != [at * found.count // part.size for at in range(part.size)]:
            raise _part_error(self, part)
        part.client_borders(found.count)
        return found

    def to_string(self) -> str:
        """
        The mesh as TensorFlow's DTensor writes it.

        >>> Mesh(x=2).to_string()  # doctest: +ELLIPSIS
        '|x=2|0,1|0,1|/job:localhost/replica:0/task:0/device:CPU:0,/job:localhost/replica:0/task:0/device:CPU:1'
        """
        return text_of(self.record())

    @classmethod
    def from_string(cls, text: str, *, name: str = "mesh") -> Mesh:
        """
        Reads what `to_string` and TensorFlow's DTensor write; `"|x=2|*GPU"` is short for the GPUs of this process.

        Raises `ValueError` (SW0117) for other text.

        >>> Mesh.from_string("|x=2,y=2|*CPU").devices[3]
        '/job:localhost/replica:0/task:0/device:CPU:3'
        """
        return cls.from_record(record_of_text(text), name)

    def to_proto(self) -> bytes:
        """
        The bytes of TensorFlow's message `tensorflow.dtensor.MeshProto`.

        >>> Mesh.from_proto(Mesh(x=2).to_proto())
        Mesh(x=2)
        """
        return mesh_message(self.record())

    @classmethod
    def from_proto(cls, message: object, *, name: str = "mesh") -> Mesh:
        """
        Reads a `MeshProto`, a message or its bytes; raises `ValueError` (SW0117) for anything else.

        >>> Mesh.from_proto(Mesh(x=2).to_proto()).sizes
        {'x': 2}
        """
        return cls.from_record(record_of_message(message), name)

    def record(self) -> MeshRecord:
        """
        The mesh as TensorFlow's texts and messages list it.

        >>> Mesh(x=2).record().dims
        (('x', 2),)
        """
        names = self.devices if self.devices is not None else default_devices(self.size)
        full = tuple(DeviceSpec.parse(device).full() for device in names)
        here = self.local_device_ids
        elsewhere = full if len(here) < len(full) else ()
        name = "" if self.name == "mesh" else self.name
        return MeshRecord(
            name,
            tuple(self._sizes.items()),
            tuple(range(self.size)),
            here,
            tuple(full[place] for place in here),
            elsewhere,
        )

    @classmethod
    def from_record(cls, record: MeshRecord, name: str = "mesh") -> Mesh:
        """
        The mesh that TensorFlow lists so; `ValueError` (SW0117) for lists that do not fit together.

        >>> Mesh.from_record(Mesh(x=2).record()).sizes
        {'x': 2}
        """
        clients = record.clients()
        mesh = cls(record.dims, record.devices() or None, name=record.name or name)
        mesh._clients = clients
        return mesh

    @property
    def sizes(self) -> dict[str, int]:
        """
        The size of each axis, by name, in order.

        >>> Mesh(x=2, y=4).sizes
        {'x': 2, 'y': 4}
        """
        return self._sizes

    @property
    def axis_names(self) -> tuple[str, ...]:
        """
        The names of the axes, major to minor.

        >>> Mesh(x=2, y=4).axis_names
        ('x', 'y')
        """
        return tuple(self._sizes)

    @property
    def shape(self) -> tuple[int, ...]:
        """
        The sizes of the axes, major to minor.

        >>> Mesh(x=2, y=4).shape
        (2, 4)
        """
        return tuple(self._sizes.values())

    @property
    def size(self) -> int:
        """
        The number of devices.

        >>> Mesh(x=2, y=4).size
        8
        """
        return math.prod(self._sizes.values())

    def dim_size(self, name: str) -> int:
        """
        The size of axis `name`; `ValueError` (SW0102) when there is none (RFC: `mesh.dim_size`).

        >>> Mesh(x=2, y=4).dim_size("y")
        4
        """
        if not isinstance(name, str) or name not in self._sizes:  # pyright: ignore[reportUnnecessaryIsInstance]
            known = f"its axes are {', '.join(self._sizes)}" if self._sizes else "it has no axes"
            raise fault("SW0102", f"mesh {self} has no axis {name!r}", also(str(name), self._sizes, known))
        return self._sizes[name]

    def axis_size(self, axis: Axis) -> int:
        """
        The number of parts into which `axis`, or the part of it, splits a dim.

        >>> mesh = Mesh(x=2, y=4)
        >>> mesh.axis_size(mesh.part("y", 1, 2))
        2
        """
        return axis.size or self._sizes[axis.name]

    def group_size(self, axes: Iterable[Axis]) -> int:
        """
        The number of devices that differ only along `axes`.

        >>> mesh = Mesh(x=2, y=4)
        >>> mesh.group_size([mesh.part("y", 1, 4)])
        4
        """
        return math.prod(axis.size or self._sizes[axis.name] for axis in axes)

    def part(self, name: str, start: int, stop: int) -> Axis:
        """
        The part `[start, stop)` of the digits of axis `name`.

        >>> Mesh(x=2, y=4).part("y", 1, 2)
        Axis(name='y', pre=1, size=2)
        """
        return part(name, start, stop, self._sizes[name])

    def span(self, axis: Axis) -> tuple[int, int]:
        """
        The half-open range of digits that `axis` takes.

        >>> mesh = Mesh(x=2, y=4)
        >>> mesh.span(mesh.part("y", 1, 2))
        (1, 2)
        """
        return span(axis, self._sizes[axis.name])

    def picture(self) -> Picture:
        """
        Where each device stands, to look at.

        >>> print(Mesh(x=2, y=2).picture())
        Mesh(x=2, y=2)
        x down, y across
            0   1
          ┌───┬───┐
        0 │ 0 │ 1 │
          ├───┼───┤
        1 │ 2 │ 3 │
          └───┴───┘
        """
        from shardwright.layout.pictures.picture import mesh_picture  # few programs are looked at

        return mesh_picture(self._sizes)

    def _repr_html_(self) -> str:
        return self.picture().svg()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mesh):
            return NotImplemented
        if self is other:
            return True
        same = tuple(self._sizes.items()) == tuple(other._sizes.items()) and self.devices == other.devices
        return same and self._clients == other._clients and self._owner is other._owner

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        if all(name.isidentifier() and not iskeyword(name) and name not in _SETTINGS for name in self._sizes):
            return f"Mesh({', '.join(f'{name}={size}' for name, size in self._sizes.items())})"
        return f"Mesh({self._sizes!r})"


_SETTINGS = {"self", "dims", "devices", "name"}
"""What is no axis as a keyword argument of `Mesh`."""


def _pairs(dims: object) -> list[tuple[object, object]]:
    if isinstance(dims, Mapping):
        return list(cast("Mapping[object, object]", dims).items())
    try:
        items = [dims] if isinstance(dims, str) else list(cast("Iterable[object]", dims))
    except TypeError:  # also of what looks as if it had items: an array that is a number
        items = [dims]
    for item in items:
        if not isinstance(item, tuple | list) or len(cast("Sequence[object]", item)) != 2:
            raise _mesh_error(
                f"{item!r} is not the name and the size of a mesh axis", "name each axis: Mesh(batch=4, model=2)"
            )
    return [(name, size) for name, size in cast("list[tuple[object, object]]", items)]


def _coordinates(axis: str, at: int | slice, size: int) -> list[int]:
    """The indices along an axis that a coordinate or a slice keeps."""
    try:
        found = list(range(size))[at] if isinstance(at, slice) else [index(at)] if 0 <= index(at) < size else []
    except (TypeError, ValueError):
        raise _mesh_error(f"{at!r} is no coordinate of axis {axis!r}", "give a whole number, or a slice") from None
    if not found:
        raise _mesh_error(f"axis {axis!r} of size {size} has nothing at {at!r}", "coordinates count from 0")
    return found


def _checked_axis(name: object, size: object) -> tuple[str, int]:
    if not isinstance(name, str) or not name or name == Mesh.UNSHARDED:
        raise _mesh_error(f"{name!r} cannot name a mesh axis", "use a non-empty string other than 'unsharded'")
    whole = None if isinstance(size, bool) or not isinstance(size, SupportsIndex) else index(size)
    if whole is None or whole < 1:
        listed = name == "dim" and isinstance(size, Sequence | Mapping)  # RFC: the embedding example writes it so.
        wanted = f"the argument is dims: Mesh(dims={size!r})" if listed else "use a whole number of at least 1"
        raise _mesh_error(f"mesh axis {name!r} has size {size!r}", wanted)
    return name, whole


def _split_error(mesh: Mesh, clients: int) -> ShardwrightValueError:
    return fault(
        "SW0120",
        f"{clients} processes cannot each hold a box of {mesh!r}",
        "let the number of processes be a product of the first axes, the last of them in part: 4 processes hold "
        "Mesh(x=2, y=4) in boxes of two devices",
    )


def _part_error(mesh: Mesh, part: Mesh) -> ShardwrightValueError:
    return fault(
        "SW0120",
        f"the {part.size} devices of a part of {mesh!r}, {part!r}, are no equal shares of processes that follow each "
        "other",
        "fix coordinates of the first axes, or give slices of them without steps",
    )


def _mesh_error(message: str, help_text: str) -> ShardwrightValueError:
    return fault("SW0101", message, help_text)
