"""Records read straight into a caller's buffer, and records written from several buffers."""

from __future__ import annotations

import io
import os
import random
from pathlib import Path

import pytest

from shardwright.serialization.riegeli import RecordReader, RecordWriter, RiegeliError
from shardwright.serialization.riegeli.streams import source as source_module

BLOCK = 65536
KINDS = ["uncompressed", "zstd", "snappy", "brotli:1"]


def file_of(records: list[bytes], options: str) -> tuple[io.BytesIO, list[int]]:
    """A file and the positions of its records."""
    file = io.BytesIO()
    with RecordWriter(file, options) as writer:
        positions = [writer.write(record) for record in records]
    return file, positions


@pytest.mark.parametrize("kind", KINDS)
def test_every_record_comes_at_its_offset_and_nothing_else_changes(kind: str) -> None:
    draw = random.Random(3)
    records = [b"", b"a", draw.randbytes(3 * BLOCK), bytes(9 << 20), b"x" * 5, b"", draw.randbytes(4097)]
    file, positions = file_of(records, f"{kind},chunk_size:4k")
    reader = RecordReader(file, strict=True)
    order = list(enumerate(positions)) * 2
    draw.shuffle(order)
    for index, position in order:
        size = len(records[index])
        buffer = bytearray(b"\xaa" * (size + 20))
        assert reader.read_into(position, memoryview(buffer)[7:]) == size
        assert buffer == b"\xaa" * 7 + records[index] + b"\xaa" * 13
        assert reader.position == position
        following = next(reader.views(), None)
        assert following is None if index + 1 == len(records) else bytes(following or b"") == records[index + 1]


@pytest.mark.parametrize("first", [*range(65330, 65450), 2 * BLOCK - 135])
def test_chunks_at_every_place_around_a_block_header(first: int) -> None:
    """The front of the data is cut by a block header, begins behind one, or is whole."""
    record = random.Random(first).randbytes(70000)
    file, positions = file_of([bytes(first), record, b"end"], "uncompressed,chunk_size:1")
    buffer = bytearray(len(record))
    assert RecordReader(file).read_into(positions[1], buffer) == len(record)
    assert buffer == record


def test_a_large_record_takes_no_memory_beside_its_buffer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The views that the file is read into are those of the buffer, and of a few bytes around."""
    path, record = tmp_path / "records", os.urandom(20 << 20)
    with RecordWriter(path, "uncompressed") as writer:
        position = writer.write(record)
    buffer, elsewhere = bytearray(len(record)), list[int]()
    scatter = source_module.Source.scatter

    def watched(self: source_module.Source, begin: int, views: list[memoryview]) -> int:
        elsewhere.extend(len(view) for view in views if view.obj is not buffer)
        return scatter(self, begin, views)

    monkeypatch.setattr(source_module.Source, "scatter", watched)
    with RecordReader(path) as reader:
        assert reader.read_into(position, buffer) == len(record)
    assert buffer == record
    assert sum(elsewhere) < 400 * 24


def test_no_room_and_no_record() -> None:
    file, positions = file_of([b"three", b"x" * 10000], "uncompressed")
    reader = RecordReader(file)
    for position, size in zip(positions, (5, 10000), strict=True):
        with pytest.raises(RiegeliError, match=f"SW0810.*has {size} bytes, there is room for {size - 1}"):
            reader.read_into(position, bytearray(size - 1))
    with pytest.raises(RiegeliError, match=r"SW0810.*no record at position 65"):
        RecordReader(file_of([b"only"], "zstd")[0]).read_into(65, bytearray(10))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("place", [30, 50, 65, 99, 105, 106, 109, 5000])
def test_damage_is_found(kind: str, place: int) -> None:
    file, positions = file_of([random.Random(1).randbytes(20000)], kind)
    damaged = bytearray(file.getvalue())
    damaged[place] ^= 4
    with pytest.raises(RiegeliError, match=r"SW080[1345]"):
        RecordReader(io.BytesIO(damaged)).read_into(positions[0], bytearray(20000))


@pytest.mark.parametrize("kind", KINDS)
def test_a_record_from_parts_is_that_from_the_whole(kind: str) -> None:
    draw = random.Random(9)
    parts = [[draw.randbytes(draw.randrange(6000)) for _ in range(draw.randrange(5))] for _ in range(30)]
    expected, positions = file_of([b"".join(group) for group in parts], f"{kind},chunk_size:10k")
    file, written = io.BytesIO(), list[int]()
    with RecordWriter(file, f"{kind},chunk_size:10k") as writer:
        for group in parts:
            buffers = [bytearray(part) if draw.random() < 0.5 else memoryview(part) for part in group]
            written.append(writer.write_parts(buffers))
            for buffer in buffers:
                if isinstance(buffer, bytearray):
                    buffer[:] = bytes(len(buffer))
    assert list(RecordReader(file)) == [b"".join(group) for group in parts]
    if kind == "uncompressed":  # compressed, the same bytes in other pieces may become other bytes
        assert (file.getvalue(), written) == (expected.getvalue(), positions)
