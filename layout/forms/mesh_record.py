"""
Meshes as TensorFlow's DTensor writes them down: the text `name|x=2|0,1|0,1|/job:.../device:CPU:0,...` and `MeshProto`.

Both list the axes, the numbers of all devices and of this process' devices, and the names of these; the names of all
devices follow where they are needed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from shardwright.diagnostics import ShardwrightValueError
from shardwright.layout.faults import fault
from shardwright.layout.forms.clients import Clients
from shardwright.layout.forms.devices import JAX, DeviceSpec
from shardwright.layout.forms.wire import bytes_field, messages, number_field, numbers, packed_field, read_fields, texts


@dataclass(frozen=True)
class MeshRecord:
    """What TensorFlow's forms say of a mesh."""

    name: str
    dims: tuple[tuple[str, int], ...]
    ids: tuple[int, ...]
    local_ids: tuple[int, ...]
    local_devices: tuple[str, ...]
    all_devices: tuple[str, ...] = ()

    def clients(self) -> Clients:
        """The processes that share the mesh evenly, and which of them wrote this."""
        first = self.ids[0] if self.ids else 0
        if list(self.ids) != list(range(first, first + len(self.ids))):
            raise form_error(f"the device numbers {self.ids} do not count up one by one")
        local = len(self.local_ids)
        if len(self.local_devices) != local or (local and len(self.ids) % local):
            raise form_error(
                f"{local} numbers and {len(self.local_devices)} names of local devices do not fit the mesh"
            )
        if not local:
            return Clients()
        start = self.local_ids[0] - first
        if start % local or list(self.local_ids) != list(range(first + start, first + start + local)):
            raise form_error(f"the local device numbers {self.local_ids} are not one process' part of {len(self.ids)}")
        return Clients(len(self.ids) // local, start // local)

    def devices(self) -> list[str]:
        """The names of all devices: given, or the local ones of each process."""
        if self.all_devices:
            return list(self.all_devices)
        clients = self.clients()
        if clients.count == 1:
            return list(self.local_devices)
        specs = [DeviceSpec.parse(device) for device in self.local_devices]
        return [str(spec.on_client(client, spec.job or "worker")) for client in range(clients.count) for spec in specs]


def default_devices(count: int, owner: object = None) -> tuple[str, ...]:
    """The names that the devices of a mesh without names have, where some are asked for."""
    return tuple(f"{'JAX' if owner == JAX else 'CPU'}:{place}" for place in range(count))


def text_of(record: MeshRecord) -> str:
    """The text form."""
    dims = ",".join(f"{axis}={size}" for axis, size in record.dims)
    lists: list[Sequence[object]] = [record.ids, record.local_ids, record.local_devices]
    if record.all_devices:
        lists.append(record.all_devices)
    return "|".join([record.name, dims, *(",".join(map(str, items)) for items in lists)])


def record_of_text(text: str) -> MeshRecord:
    """
    Reads the text form; `ValueError` (SW0117) for other text.

    >>> record_of_text("|x=2|0,1|0,1|/job:localhost/task:0/device:CPU:0,/job:localhost/task:0/device:CPU:1").dims
    (('x', 2),)
    """
    fields = text.strip().removesuffix("|use_xla_spmd").split("|")
    try:
        if len(fields) not in (3, 5, 6):
            raise ValueError(f"it has {len(fields)} parts, not 3, 5 or 6")
        pairs = [item.split("=") for item in fields[1].split(",") if item]
        dims = tuple((axis, int(size)) for axis, size in pairs)
        if len(fields) == 3:
            return _generated(fields[0], dims, fields[2])
        ids, local_ids = (tuple(int(item) for item in part.split(",") if item) for part in fields[2:4])
        names = [tuple(item for item in part.split(",") if item) for part in fields[4:]]
    except ValueError as error:
        raise form_error(f"{text!r} is no mesh: {error}") from None
    return MeshRecord(fields[0], dims, ids, local_ids, names[0], names[1] if len(names) > 1 else ())


def _generated(name: str, dims: tuple[tuple[str, int], ...], wanted: str) -> MeshRecord:
    """The mesh whose last part is `*GPU`: devices of this process, numbered from 0 on."""
    star, kind = wanted[:1], wanted[1:]
    if star != "*" or not kind.isalpha():
        raise ValueError(f"{wanted!r} is not * and a kind of devices")
    count = math.prod(size for _, size in dims)
    names = tuple(DeviceSpec(device_type=kind, device_index=place).full() for place in range(count))
    return MeshRecord(name, dims, tuple(range(count)), tuple(range(count)), names)


def mesh_message(record: MeshRecord) -> bytes:
    """The bytes of a `MeshProto`."""
    dims = [bytes_field(1, bytes_field(1, axis) + number_field(2, size)) for axis, size in record.dims]
    return b"".join(
        [
            *dims,
            packed_field(2, record.ids),
            bytes_field(3, record.name) if record.name else b"",
            packed_field(4, record.local_ids),
            *(bytes_field(5, device) for device in record.local_devices),
            *(bytes_field(6, device) for device in record.all_devices),
        ]
    )


def record_of_message(message: object) -> MeshRecord:
    """Reads a `MeshProto`; `ValueError` (SW0117) for what is none."""
    try:
        fields = read_fields(content_of(message))
        dims = [read_fields(dim) for dim in messages(fields, 1)]
        return MeshRecord(
            "".join(texts(fields, 3)[-1:]),
            tuple(("".join(texts(dim, 1)[-1:]), (numbers(dim, 2) or (0,))[-1]) for dim in dims),
            numbers(fields, 2),
            numbers(fields, 4),
            texts(fields, 5),
            texts(fields, 6),
        )
    except ValueError as error:
        raise form_error(f"this is no MeshProto: {error}") from None


def content_of(message: object) -> bytes:
    """The bytes of a message of any protocol buffer library; `ValueError` for anything else."""
    write = getattr(message, "SerializeToString", None)
    content = write() if callable(write) else message
    if not isinstance(content, bytes | bytearray | memoryview):
        raise ValueError(f"{type(message).__name__} is neither a message nor bytes")
    return bytes(content)


def form_error(message: str) -> ShardwrightValueError:
    """The `ValueError` (SW0117) of a text or message; raise it."""
    help_text = "give what Mesh.to_string, Layout.to_string or to_proto write, or TensorFlow's own form"
    return fault("SW0117", message, help_text)
