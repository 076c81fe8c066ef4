"""Files that C++ riegeli wrote (through ArrayRecord): read, found by position, and made again byte by byte."""

from __future__ import annotations

import io

import pytest
from riegeli_cases import GENUINE, genuine

from shardwright.serialization.riegeli import RecordReader, RecordWriter
from shardwright.serialization.riegeli.chunks.chunks import SIMPLE
from shardwright.serialization.riegeli.chunks.scan import ChunkScanner
from shardwright.serialization.riegeli.chunks.simple import decode_simple, encode_simple
from shardwright.serialization.riegeli.streams.source import Source

Chunk = tuple[int, bytes, int, int]


def chunks(data: bytes) -> list[Chunk]:
    """Kind, data, records and size of the records of each chunk."""
    scanner, begin, found = ChunkScanner(Source(io.BytesIO(data))), 0, list[Chunk]()
    while (header := scanner.header(begin)) is not None:
        found.append((header.kind, bytes(scanner.data(begin, header)), header.records, header.decoded_size))
        begin = header.end(begin)
    assert begin == len(data)
    return found


@pytest.mark.parametrize("name", GENUINE)
def test_records(name: str) -> None:
    expected = GENUINE[name][1]
    reader = RecordReader(io.BytesIO(genuine(name)), strict=True)
    items = [(position, bytes(view)) for position, view in reader.items()]
    assert [record for _, record in items[: len(expected)]] == expected
    assert items[-1] == (reader.last_position, reader.last())
    for position, record in items[::7]:
        assert reader.read(position) == record


@pytest.mark.parametrize("name", GENUINE)
def test_chunks_stand_where_cpp_puts_them(name: str) -> None:
    """The same data, framed by us: chunk headers, block headers, padding and all."""
    data = genuine(name)
    (_, *following), file = chunks(data), io.BytesIO()
    with RecordWriter(file) as writer:
        for kind, contents, records, size in following:
            writer._chunk(kind, [contents], records, size)  # pyright: ignore[reportPrivateUsage]
    assert file.getvalue() == data


@pytest.mark.parametrize("name", ["simple_uncompressed", "large_uncompressed", "one_record_each"])
def test_uncompressed_chunks_have_the_bytes_of_cpp(name: str) -> None:
    simple = [chunk for chunk in chunks(genuine(name)) if chunk[0] == SIMPLE]
    for _, contents, count, size in simple:
        records = decode_simple(memoryview(contents), count, size)
        views = [records.view(index) for index in range(count)]
        again = encode_simple([len(view) for view in views], views, 0, 0)
        assert b"".join(again) == contents
    assert simple


@pytest.mark.peers
def test_fresh_files_of_array_record() -> None:
    """Records drawn now, written by whatever ArrayRecord is installed."""
    pytest.importorskip("array_record")
    import random

    from data.riegeli.generate import write  # pyright: ignore[reportMissingImports]

    draw = random.Random()
    for options, _ in GENUINE.values():
        records = [draw.randbytes(draw.randrange(3000)) for _ in range(100)]
        read = list(RecordReader(io.BytesIO(write(options, records))))
        assert read[:100] == records
