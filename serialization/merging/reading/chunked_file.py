"""A file of chunks, opened and checked: the list of its chunks, its tree, and the records."""

from __future__ import annotations

import os
from array import array
from collections import OrderedDict
from typing import Any

from google.protobuf.descriptor import Descriptor

from shardwright.serialization.closing import Closing
from shardwright.serialization.errors import MergeError, damaged
from shardwright.serialization.merging.plan import Part, Planner
from shardwright.serialization.merging.reading.pieces import only_contents, parsed, runs
from shardwright.serialization.merging.reading.sources import SMALL, ChunkSource
from shardwright.serialization.protos import chunk_pb2, versions_pb2
from shardwright.serialization.riegeli import Limits, RecordReader, RiegeliError
from shardwright.serialization.riegeli.limits import STRICT_LIMITS
from shardwright.serialization.wire import WireFault

JOIN_VERSION = 0
"""The version of merging, which `VersionDef.join_version` and `bad_consumers` speak of: TensorFlow's number."""

PIECE = 1 << 16
LIMITS = STRICT_LIMITS
"""A chunk may be in memory twice while a message is put together, so it may expand less than a record alone."""

METADATA_LIMITS = Limits(always=1 << 23, expansion=64)
METADATA_ALWAYS = 1 << 24
"""Metadata up to this size are read; larger ones only if the chunks have more bytes."""

MOST_IDLE = 1000
"""Riegeli chunks that hold no records, beyond those that padding adds to others."""

KEPT_CHUNK, KEPT = 1 << 22, 1 << 25

VERSION, CHUNKS, MESSAGE = 1, 2, 3
CHUNK_INDEX = 1


class ChunkedFile(ChunkSource, Closing):
    """
    The chunks of a `.cpb` file, each checked when it is read: its place, size and hash.

    Raises `MergeError`: SW0833 if the last record is not a `ChunkMetadata`, SW0834 for versions, SW0835 for the list of
    chunks, SW0843 for metadata that are too large; faults of the records keep their codes.
    """

    def __init__(self, file: str | os.PathLike[str] | Any, limits: Limits = LIMITS) -> None:
        self._limits = limits
        self.kinds, self.sizes, self.positions = bytearray(), array("Q"), array("Q")
        self.tree = memoryview(b"")
        """The `ChunkedMessage`, serialised."""
        self._kept, self._kept_size = OrderedDict[int, list[memoryview]](), 0
        self._begins = dict[int, int]()
        try:
            self.reader = RecordReader(file, strict=True, limits=limits)
        except OSError as error:
            raise MergeError("SW0830", f"it cannot be read ({error.strerror})", file=str(file)) from None
        self.name = self.reader.name
        try:
            self.position = self._metadata_position()
            self.metadata = self.reader.view(self.position)
            self._parse(self.metadata)
        except RiegeliError as error:
            self.close()
            raise damaged(error) from None
        except MergeError:
            self.close()
            raise

    def __len__(self) -> int:
        return len(self.kinds)

    def close(self) -> None:
        """Let go of the file."""
        self._kept.clear()
        self.reader.close()

    def no_metadata(self, fault: object) -> MergeError:
        """The last record is none that describes chunks."""
        return self.error("SW0833", f"the last record is not a ChunkMetadata: {fault}")

    def root(self) -> chunk_pb2.ChunkedMessage:
        """The tree without all that is put into the message."""
        try:
            for number, contents, _ in runs(self.tree, PIECE):
                if number == CHUNK_INDEX:
                    return chunk_pb2.ChunkedMessage(chunk_index=parsed(chunk_pb2.ChunkedMessage, contents).chunk_index)
        except WireFault as fault:
            raise self.no_metadata(fault) from None
        raise self.error("SW0847", "there is no chunk for the message itself, only for parts of it")

    def check_same_chunks(self, metadata: chunk_pb2.ChunkMetadata) -> None:
        """Metadata that somebody brings must list the chunks of this file."""
        theirs = [(info.type, info.size, info.offset) for info in metadata.chunks]
        if theirs != list(zip(self.kinds, self.sizes, self.positions, strict=True)):
            raise self.error("SW0835", "the chunks of the metadata given are not those of the file")

    def plan(self, message_type: Descriptor, planner: type[Planner] = Planner) -> list[Part]:
        """The parts of a message of a type that is in the file; then the metadata are let go."""
        try:
            parts = planner(message_type, self.kinds, self.name).plan(self.tree)
        except WireFault as fault:
            raise self.no_metadata(fault) from None
        self.metadata = self.tree = memoryview(b"")
        return parts

    def _metadata_position(self) -> int:
        """Where the last record is, which must not be larger than metadata can be."""
        position = self.reader.last_within(MOST_IDLE)
        if position is None:
            raise self.error("SW0833", "it has no records: it was cut, or not written to its end")
        begin, header = self.reader.chunk_at(position)
        size = header.decoded_size
        if METADATA_LIMITS.refuses(header.data_size, size) or size > max(METADATA_ALWAYS, begin):
            raise self.error("SW0843", f"the last record may have {size} bytes, more than what it would describe")
        return position

    def _fields(self, data: memoryview) -> tuple[versions_pb2.VersionDef | None, memoryview | None]:
        """The version and the tree; piece by piece, so that a hostile list of chunks stops at its first fault."""
        version: versions_pb2.VersionDef | None = None
        tree: memoryview | None = None
        for number, contents, large in runs(data, PIECE):
            if number == CHUNKS and not large:
                fault = self._add(parsed(chunk_pb2.ChunkMetadata, contents))
                if fault and version is None:
                    raise WireFault("it has no version")
                if fault:
                    raise fault
            elif number == VERSION and not large and version is None:
                version = parsed(chunk_pb2.ChunkMetadata, contents).version
            elif number == MESSAGE and tree is None:
                tree = contents if large else only_contents(contents)
            else:
                raise WireFault(f"a ChunkMetadata has no field {number} like that")
        return version, tree

    def _parse(self, data: memoryview) -> None:
        """The metadata, all of which must be there and go together."""
        try:
            version, tree = self._fields(data)
        except WireFault as fault:
            raise self.no_metadata(f"{fault}. The file was cut, or has no chunks") from None
        if version is None or tree is None:
            raise self.no_metadata(f"it has no {'version' if version is None else 'message'}")
        self.tree = tree
        self._check_version(version)
        if len(set(self.positions)) != len(self):
            self._refuse_twins()

    def _add(self, metadata: chunk_pb2.ChunkMetadata) -> MergeError | None:
        """More chunks of the list; what is wrong with one of them, if anything is."""
        for info in metadata.chunks:
            kind, position, chunk = info.type, info.offset, len(self)
            if kind not in (chunk_pb2.ChunkInfo.MESSAGE, chunk_pb2.ChunkInfo.BYTES):
                return self.error("SW0835", f"its type is {kind}, neither MESSAGE (1) nor BYTES (2)", chunk)
            if position >= self.position or chunk >= self.position:
                return self.error("SW0835", f"there is no record at its offset {position}", chunk)
            self.kinds.append(kind)
            self.sizes.append(info.size)
            self.positions.append(position)
        return None

    def _check_version(self, version: versions_pb2.VersionDef) -> None:
        if version.join_version > JOIN_VERSION:
            message = f"it needs a merger of version {version.join_version}, and this one has version {JOIN_VERSION}"
            raise self.error("SW0834", message)
        if JOIN_VERSION in version.bad_consumers:
            raise self.error("SW0834", f"it must not be read by mergers of version {JOIN_VERSION}, which this one is")

    def _refuse_twins(self) -> None:
        seen = dict[int, int]()
        for chunk, position in enumerate(self.positions):
            if (first := seen.setdefault(position, chunk)) != chunk:
                raise self.error("SW0835", f"it is the same record as chunk {first}, at {position}", chunk)

    def check_records(self) -> None:
        """Every record of the file is a chunk of the list, once, but for the metadata, the last one."""
        order, idle = iter(sorted(range(len(self)), key=self.positions.__getitem__)), 0
        try:
            for begin, header in self.reader.chunks():
                idle += not header.records
                if idle > MOST_IDLE + 2 * len(self):
                    raise self.error("SW0843", f"more than {MOST_IDLE} of its riegeli chunks hold nothing")
                for position in range(begin, min(begin + header.records, self.position)):
                    chunk = next(order, None)
                    found = None if chunk is None else self.positions[chunk]
                    if found is None or found > position:
                        raise self.error("SW0835", f"the record at {position} is in no list of chunks")
                    if found < position:
                        raise self.error("SW0835", f"there is no record at its offset {found}", chunk)
        except RiegeliError as error:
            raise damaged(error) from None
        if (chunk := next(order, None)) is not None:
            raise self.error("SW0835", f"there is no record at its offset {self.positions[chunk]}", chunk)

    def size(self, chunk: int, part: Part) -> int:
        if self.sizes[chunk] >= SMALL:
            self.check_bound(chunk, part)
        return self.sizes[chunk]

    def view(self, chunk: int, part: Part | None = None) -> memoryview:
        """
        The bytes of a chunk, in memory that stays theirs.

        Small chunks that share a riegeli chunk are decompressed once, as long as not too many others come between.
        """
        position = self.positions[chunk]
        try:
            record = self._kept_view(position)
            if record is None:
                begin, header = self.reader.chunk_at(position)
                record = self.reader.view(position)
                if header.records > 1 and header.decoded_size <= KEPT_CHUNK:
                    self._keep(begin, header.records, header.decoded_size)
        except RiegeliError as error:
            raise self._damaged(error, chunk, part) from None
        self._check_size(chunk, len(record), part)
        return record

    def read_into(self, chunk: int, buffer: memoryview, part: Part | None = None) -> None:
        position = self.positions[chunk]
        try:
            header = self.reader.chunk_at(position)[1]
            if header.records > 1 and self.sizes[chunk] < KEPT_CHUNK:
                buffer[:] = self.view(chunk, part)
                return
            if header.records == 1:
                self._check_size(chunk, header.decoded_size, part)
            size = self.reader.read_into(position, buffer)
        except RiegeliError as error:
            raise self._damaged(error, chunk, part) from None
        self._check_size(chunk, size, part)

    def _damaged(self, error: RiegeliError, chunk: int, part: Part | None) -> MergeError:
        if error.code == "SW0810":
            return self.error(
                "SW0835", f"there is no record of its size at its offset {self.positions[chunk]}", chunk, part
            )
        return damaged(error, chunk, part.path if part else None)

    def check_bound(self, chunk: int, part: Part | None = None) -> None:
        """Refuse a size that the record cannot have, before memory is taken for it."""
        try:
            _, header = self.reader.chunk_at(self.positions[chunk])
        except RiegeliError as error:
            raise self._damaged(error, chunk, part) from None
        most = header.decoded_size
        if self._limits.refuses(header.data_size, most):
            raise self.error("SW0807", f"{header.data_size} bytes would become {most}", chunk, part)
        if self.sizes[chunk] > most:
            raise self.error("SW0835", f"its size is not {self.sizes[chunk]}: there are only {most} bytes", chunk, part)

    def _check_size(self, chunk: int, size: int, part: Part | None) -> None:
        if size != self.sizes[chunk]:
            raise self.error("SW0835", f"its size is {size}, and the list says {self.sizes[chunk]}", chunk, part)

    def _kept_view(self, position: int) -> memoryview | None:
        begin = self._begins.get(position)
        if begin is None:
            return None
        self._kept.move_to_end(begin)
        return self._kept[begin][position - begin]

    def _keep(self, begin: int, records: int, size: int) -> None:
        """Keep the records of the riegeli chunk that was just read, and let go of those that were not used for long."""
        self._kept[begin] = [self.reader.view(position) for position in range(begin, begin + records)]
        self._begins.update(dict.fromkeys(range(begin, begin + records), begin))
        self._kept_size += size
        while self._kept_size > KEPT:
            begin, views = self._kept.popitem(last=False)
            self._kept_size -= sum(map(len, views))
            for position in range(begin, begin + len(views)):
                del self._begins[position]
