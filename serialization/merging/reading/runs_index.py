"""Where the runs of long lists begin: what a file of ours says beside its chunks, checked before it is used."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from google.protobuf.message import DecodeError

from shardwright.serialization.fields import FieldTagError, Key
from shardwright.serialization.merging.plan import Part
from shardwright.serialization.merging.reading.chunked_file import ChunkedFile
from shardwright.serialization.merging.shapes import Kind, Mismatch, Shape, follow
from shardwright.serialization.protos import records_pb2

ALWAYS, PER_CHUNK = 1 << 21, 256
"""How many bytes a file may say about itself: schemas among them, and a few numbers for each chunk."""


@dataclass(frozen=True, slots=True)
class ListRuns:
    """The chunks that have elements of one list, in order, and the index of the first element of each."""

    chunks: tuple[int, ...]
    first: tuple[int, ...]
    length: int

    def place(self, index: int) -> tuple[int, int, int]:
        """The chunk with an element, the element's place in it, and how many elements that chunk must have."""
        run = bisect_right(self.first, index) - 1
        end = self.first[run + 1] if run + 1 < len(self.first) else self.length
        return self.chunks[run], index - self.first[run], end - self.first[run]


def list_runs(file: ChunkedFile, root: Shape, parts: Mapping[int, Part]) -> dict[Key, ListRuns]:
    """
    The runs that a file lists, by the path of their list; none for a file that another program wrote.

    Raises `MergeError` (SW0848) where they do not fit the chunks.
    """
    about = file.reader.metadata or b""
    if len(about) > ALWAYS + PER_CHUNK * len(file):
        raise file.error("SW0848", f"it says {len(about)} bytes about {len(file)} chunks")
    try:
        said = records_pb2.RecordsMetadata.FromString(about)
    except DecodeError:
        return {}
    found, order = dict[Key, ListRuns](), {chunk: place for place, chunk in enumerate(parts)}
    for each in said.chunked_file.runs:
        runs = ListRuns(tuple(each.chunk_index), tuple(each.first), each.length)
        try:
            members, shape = follow(root, each.message)
            key = (*members, each.field)
            kind = shape.enter(each.field).kind
        except (Mismatch, FieldTagError):
            raise file.error("SW0848", f"it lists runs of a field {each.field} that there is not") from None
        if kind is not Kind.LIST or not _fits(runs, key, parts, order):
            raise file.error("SW0848", f"it lists runs of field {each.field} that do not fit its chunks")
        found[key] = runs
    return found


def _fits(runs: ListRuns, key: Key, parts: Mapping[int, Part], order: Mapping[int, int]) -> bool:
    """Whether runs can be: in chunks of messages around the list, as they are merged, that begin at growing indices."""
    ends = (*runs.first[1:], runs.length)
    if not runs.first or runs.first[0] or len(runs.first) != len(runs.chunks):
        return False
    if any(begin > end for begin, end in zip(runs.first, ends, strict=True)):
        return False
    around = [parts.get(chunk) for chunk in runs.chunks]
    merged = [order.get(chunk, -1) for chunk in runs.chunks]
    if any(one >= other for one, other in pairwise(merged)):
        return False
    return all(part is not None and part.key == key[: len(part.key)] and len(part.key) < len(key) for part in around)
