"""
Images as bytes and back: a header in JSON, then the elements of their arrays and the text as Python compiled it.

Whoever reads a record has to know that it is one of ours (`runtime.codegen.memory`): its code is run.
"""

from __future__ import annotations

import json
import marshal
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, astuple
from fractions import Fraction
from typing import Any

import ml_dtypes as ml_dtypes  # gives NumPy the names of its types
import numpy as np

from shardwright.diagnostics import SourceLocation
from shardwright.layout.forms.plain import axes_of, mesh_of, plain_mesh, plain_spec, spec_of
from shardwright.runtime.atoms import Atoms
from shardwright.runtime.codegen.images import Image
from shardwright.runtime.ledger import Message
from shardwright.runtime.planning.plan import Held
from shardwright.runtime.ports import Port

_PERIOD = 8
"""The bytes of which arrays may be repetitions: numbers of all widths divide it."""


def dump(image: Image) -> bytes | None:
    """The image as bytes; None where it holds what only this process knows."""
    arrays: list[bytes] = []
    try:
        constants = {name: _constant(item, arrays) for name, item in image.constants.items()}
    except TypeError:
        return None
    arrays.append(zlib.compress(marshal.dumps(image.code), 1))
    header = {
        "mesh": None if image.mesh is None else plain_mesh(image.mesh),
        "inputs": [_port(port) for port in image.inputs],
        "outputs": [_port(port) for port in image.outputs],
        "fused": image.fused,
        "source": image.source,
        "constants": constants,
        "peak_bytes": image.peak_bytes,
        "largest": [asdict(held) for held in image.largest],
        "arena_bytes": image.arena_bytes,
        "scratch_bytes": image.scratch_bytes,
        "arrays": [len(array) for array in arrays],
    }
    text = zlib.compress(json.dumps(header).encode(), 1)
    return b"".join([len(text).to_bytes(8, "little"), text, *arrays])


def load(record: bytes) -> Image:
    """The image of a record that `dump` made; `ValueError`, `TypeError` or `KeyError` for anything else."""
    view = memoryview(record)
    at = 8 + int.from_bytes(view[:8], "little")
    header = json.loads(zlib.decompress(view[8:at]))
    arrays: list[memoryview] = []
    for size in header["arrays"]:
        arrays.append(view[at : at + size])
        at += size
    return Image(
        None if header["mesh"] is None else mesh_of(header["mesh"]),
        [_port_of(port) for port in header["inputs"]],
        [_port_of(port) for port in header["outputs"]],
        header["fused"],
        header["source"],
        marshal.loads(zlib.decompress(arrays[-1])),
        {name: _constant_of(item, arrays) for name, item in header["constants"].items()},
        header["peak_bytes"],
        tuple(Held(**held) for held in header["largest"]),
        header["arena_bytes"],
        header["scratch_bytes"],
    )


def _constant(item: Any, arrays: list[bytes]) -> Sequence[Any]:
    """What a name of the text stands for; raises `TypeError` for what only this process knows."""
    if isinstance(item, str):
        return ["text", item]
    if isinstance(item, Message):
        moved = None if item.moved is None else [item.moved.numerator, item.moved.denominator]
        return ["message", item.kind, item.axes, item.group_size, item.lead, moved]
    if isinstance(item, np.generic):
        return ["number", item.dtype.name, item.tobytes().hex()]
    if not isinstance(item, np.ndarray) or item.dtype.hasobject:
        raise TypeError(f"{type(item).__name__} is not kept")
    if item.size > 1 and all(stride == 0 for stride, size in zip(item.strides, item.shape, strict=True) if size > 1):
        return ["one", item.dtype.name, item.shape, item.flat[:1].tobytes().hex()]
    content = np.ascontiguousarray(item).reshape(-1).view(np.uint8)
    periods = content[: len(content) // _PERIOD * _PERIOD].view(np.uint64)
    if len(periods) > 1 and len(periods) * _PERIOD == len(content) and (periods == periods[0]).all():
        return ["repeated", item.dtype.name, item.shape, int(periods[0])]
    arrays.append(zlib.compress(content.data, 1))
    return ["array", item.dtype.name, item.shape, len(arrays) - 1]


def _constant_of(item: Sequence[Any], arrays: Sequence[memoryview]) -> Any:
    kind, *parts = item
    match kind:
        case "text":
            return parts[0]
        case "message":
            name, axes, group_size, lead, moved = parts
            return Message(name, axes_of(axes), group_size, lead, None if moved is None else Fraction(*moved))
        case "number":
            return np.frombuffer(bytes.fromhex(parts[1]), parts[0])[0]
        case "one":
            name, shape, element = parts
            return np.broadcast_to(np.frombuffer(bytes.fromhex(element), name), shape)
        case "repeated":
            name, shape, period = parts
            count = int(np.prod(shape)) * np.dtype(name).itemsize // _PERIOD
            return np.full(count, period, np.uint64).view(name).reshape(shape)
        case _:
            name, shape, number = parts
            return np.frombuffer(bytearray(zlib.decompress(arrays[number])), name).reshape(shape)


def _port(port: Port) -> Mapping[str, Any]:
    return {
        "shape": port.shape,
        "unpadded": port.unpadded,
        "dtype": port.dtype.name,
        "spec": plain_spec(port.spec),
        "mesh": plain_mesh(port.atoms.mesh),
        "atoms": port.atoms.axes,
        "location": None if port.location is None else astuple(port.location),
    }


def _port_of(record: Mapping[str, Any]) -> Port:
    atoms = Atoms(mesh_of(record["mesh"]), axes_of(record["atoms"]))
    location = None if record["location"] is None else SourceLocation(*record["location"])
    unpadded = None if record["unpadded"] is None else tuple(record["unpadded"])
    return Port(tuple(record["shape"]), np.dtype(record["dtype"]), spec_of(record["spec"]), atoms, location, unpadded)
