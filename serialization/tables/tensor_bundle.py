"""TensorFlow's checkpoints (`variables.index` and `variables.data-*`): reading them, with every checksum checked."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError

from shardwright.serialization.errors import TableError
from shardwright.serialization.protos import graph_pb2, tensor_bundle_pb2
from shardwright.serialization.tables.crc32c import crc32c, unmasked
from shardwright.serialization.tables.slices import Box, box_of, is_slice_key, slice_key
from shardwright.serialization.tables.sorted_table import read_table
from shardwright.serialization.wire import WireFault, read_varint

Array = np.ndarray[Any, Any]

MOST_DIMS = 64


def array_has(shape: Sequence[int], dtype: np.dtype[Any]) -> bool:
    """
    Whether NumPy has arrays of a shape: also one without elements must be small but for the dims that are 0.

    >>> array_has((0, 1 << 40), np.dtype("uint8")), array_has((0, 1 << 40, 1 << 40), np.dtype("uint8"))
    (True, False)
    """
    return len(shape) <= MOST_DIMS and math.prod(size or 1 for size in map(abs, shape)) * dtype.itemsize < 1 << 63


class TensorBundle:
    """
    A checkpoint as TensorFlow's `tf.train.Checkpoint` and `tf.saved_model.save` write it.

    `prefix` is the path without `.index`. Opening reads the index only. Raises `ShardwrightValueError` (SW0892) for
    whatever is not as TensorFlow writes it; sizes are compared with the files before memory is taken.
    """

    def __init__(self, prefix: str | Path) -> None:
        self._prefix = str(prefix)
        self._file = f"{prefix}.index"
        table = read_table(self._file)
        self._header = tensor_bundle_pb2.BundleHeaderProto()
        self._parse(self._header, table.pop(b"", None), "the header")
        if self._header.endianness != tensor_bundle_pb2.BundleHeaderProto.LITTLE:
            raise TableError(self._file, "its tensors were written with the high byte first")
        if not 0 < self._header.num_shards < 1 << 20:
            raise TableError(self._file, f"it says that there are {self._header.num_shards} files of data")
        self._entries = table

    def _parse(self, message: Any, data: bytes | None, what: str) -> None:
        try:
            if data is None:
                raise TableError(self._file, f"{what} is missing")
            message.ParseFromString(data)
        except DecodeError:
            raise TableError(self._file, f"{what} is no message") from None

    @property
    def keys(self) -> list[str]:
        """The names of all tensors; the parts of those that were saved in slices have none."""
        return [key.decode("utf-8", "replace") for key in self._entries if not is_slice_key(key)]

    def entry(self, key: str) -> tensor_bundle_pb2.BundleEntryProto:
        """What the index says about a tensor."""
        return self._entry(key.encode(), f"tensor {key!r}")

    def _entry(self, key: bytes, what: str) -> tensor_bundle_pb2.BundleEntryProto:
        entry = tensor_bundle_pb2.BundleEntryProto()
        self._parse(entry, self._entries.get(key), what)
        return entry

    def tensor(self, key: str, dtype: np.dtype[Any]) -> Array:
        """
        A tensor's elements, of the dtype that its type (`entry(key).dtype`) stands for.

        Its checksum has been checked.
        """
        sizes = self.shape(key, dtype)
        entry = self.entry(key)
        if entry.slices:
            return self._joined(key, entry, sizes, dtype)
        return self._bytes(key, entry).view(dtype.newbyteorder("<")).reshape(sizes)

    def _joined(
        self, key: str, entry: tensor_bundle_pb2.BundleEntryProto, sizes: tuple[int, ...], dtype: np.dtype[Any]
    ) -> Array:
        """A tensor of its parts, each of which is a tensor of its own; all elements are in one of them."""
        parts = self._parts(key, entry, sizes, dtype)
        whole, filled = np.empty(sizes, dtype), np.zeros(sizes, np.bool_)
        for box, part in parts:
            whole[box] = self._bytes(key, part).view(dtype.newbyteorder("<")).reshape(whole[box].shape)
            filled[box] = True
        if not filled.all():
            raise TableError(self._file, f"the slices of tensor {key!r} leave something out")
        return whole

    def _parts(
        self, key: str, entry: tensor_bundle_pb2.BundleEntryProto, sizes: tuple[int, ...], dtype: np.dtype[Any]
    ) -> list[tuple[Box, tensor_bundle_pb2.BundleEntryProto]]:
        """Where the parts of a tensor lie in it, and what the index says of them: as many bytes as it has in all."""
        found: list[tuple[Box, tensor_bundle_pb2.BundleEntryProto]] = []
        for place, one in enumerate(entry.slices):
            what = f"slice {place} of tensor {key!r}"
            box = box_of(one.extent, sizes)
            if box is None:
                raise TableError(self._file, f"{what} lies outside of it")
            part = self._entry(slice_key(key, one.extent), what)
            due = math.prod(piece.stop - piece.start for piece in box) * dtype.itemsize
            if part.slices or part.dtype != entry.dtype or part.size != due:
                raise TableError(self._file, f"{what} is another tensor than the index says")
            found.append((box, part))
        held = sum(part.size for _, part in found)
        files = {self._data_of(key, part) for _, part in found}
        if held != math.prod(sizes) * dtype.itemsize or held > sum(Path(file).stat().st_size for file in files):
            raise TableError(self._file, f"the slices of tensor {key!r} have {held} bytes, which are not its own")
        return found

    def shape(self, key: str, dtype: np.dtype[Any]) -> tuple[int, ...]:
        """The shape of a tensor, of which the index says as many bytes as it has with elements of this dtype."""
        entry = self.entry(key)
        sizes = [dim.size for dim in entry.shape.dim]
        if entry.shape.unknown_rank or len(sizes) > MOST_DIMS or min(sizes, default=0) < 0:
            raise TableError(self._file, f"tensor {key!r} has no shape")
        due = math.prod(sizes) * dtype.itemsize
        if due != entry.size and not entry.slices:
            raise TableError(
                self._file, f"tensor {key!r} has {entry.size} bytes, and {sizes} of {dtype.name} needs {due}"
            )
        if not array_has(sizes, dtype):
            raise TableError(self._file, f"tensor {key!r} has a shape that no array has: {sizes}")
        return tuple(sizes)

    def text(self, key: str) -> bytes:
        """The one element of a tensor of strings without dims."""
        entry = self.entry(key)
        if entry.dtype != graph_pb2.DT_STRING or entry.shape.dim:
            raise TableError(self._file, f"tensor {key!r} is not one string")
        return self.texts(key).item()

    def texts(self, key: str) -> Array:
        """The elements of a tensor of strings: their lengths, a checksum of these, and the bytes, all checked."""
        entry = self.entry(key)
        sizes = [dim.size for dim in entry.shape.dim]
        count = math.prod(sizes)
        if entry.slices:
            raise TableError(self._file, f"tensor {key!r} is strings in slices, which is not supported")
        if entry.dtype != graph_pb2.DT_STRING or entry.shape.unknown_rank or min(sizes, default=0) < 0:
            raise TableError(self._file, f"tensor {key!r} is no strings of a certain shape")
        if count > entry.size or not array_has(sizes, np.dtype(object)):
            raise TableError(self._file, f"tensor {key!r} has {entry.size} bytes, which are not {count} strings")
        data = self._bytes(key, entry, checked=False).tobytes()
        lengths, at = self._lengths(key, data, count)
        total = sum(lengths)
        if at + 4 + total != len(data):
            its = "its string has" if not sizes else "its strings have"
            raise TableError(self._file, f"tensor {key!r} says that {its} {total} bytes of {len(data)}")
        said = b"".join(length.to_bytes(4 if length < 1 << 32 else 8, "little") for length in lengths)
        if crc32c(said + data[at:]) != unmasked(entry.crc32c):
            raise TableError(self._file, f"the checksum of tensor {key!r} is wrong")
        found, start = np.empty(count, object), at + 4
        for place, length in enumerate(lengths):
            found[place], start = data[start : start + length], start + length
        return found.reshape(sizes)

    def _lengths(self, key: str, data: bytes, count: int) -> tuple[list[int], int]:
        """As many lengths as there are strings, and where they end."""
        lengths, at = list[int](), 0
        try:
            for _ in range(count):
                length, at = read_varint(data, at)
                lengths.append(length)
        except WireFault as fault:
            raise TableError(self._file, f"tensor {key!r} has no lengths of strings: {fault.message}") from None
        return lengths, at

    def _data_of(self, key: str, entry: tensor_bundle_pb2.BundleEntryProto) -> str:
        """The file that has the bytes of an entry, all of them."""
        path = f"{self._prefix}.data-{entry.shard_id:05d}-of-{self._header.num_shards:05d}"
        if not 0 <= entry.shard_id < self._header.num_shards:
            raise TableError(self._file, f"tensor {key!r} is in file {entry.shard_id} of {self._header.num_shards}")
        try:
            size = Path(path).stat().st_size
        except OSError as error:
            raise TableError(path, f"cannot be read: {error.strerror}") from None
        if not Path(path).is_file():
            raise TableError(path, "is no file")
        if not 0 <= entry.offset <= entry.offset + entry.size <= size:
            raise TableError(path, f"tensor {key!r} has {entry.size} bytes at {entry.offset}, and the file has {size}")
        return path

    def _bytes(self, key: str, entry: tensor_bundle_pb2.BundleEntryProto, *, checked: bool = True) -> Array:
        path = self._data_of(key, entry)
        if not entry.size:
            return np.zeros(0, np.uint8)
        # Not mapped: a process dies that looks at the pages of a file that became shorter.
        data = np.fromfile(path, np.uint8, entry.size, offset=entry.offset)
        if len(data) < entry.size:
            raise TableError(path, "changed while it was read")
        if checked and crc32c(data) != unmasked(entry.crc32c):
            raise TableError(path, f"the checksum of tensor {key!r} is wrong")
        return data
