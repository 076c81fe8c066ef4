"""Files that cannot seek: pipes are written, and read from the beginning on, record by record, in little memory."""

from __future__ import annotations

import io
import os
import random
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

import brotli
import pytest
import zstandard
from riegeli_cases import GENUINE, genuine

from shardwright.serialization.hashing import highwayhash64
from shardwright.serialization.riegeli import (
    RecordReader,
    RecordWriter,
    RecordWriterOptions,
    RiegeliError,
    SkippedRegion,
)
from shardwright.serialization.riegeli.chunks.chunks import SIMPLE, ChunkHeader
from shardwright.serialization.riegeli.chunks.scan import FILE_SIGNATURE

BLOCK = 65536


class OneWay(io.RawIOBase):
    """Bytes that come in pieces of any size and can be read once; how many were asked for."""

    def __init__(self, data: bytes) -> None:
        self._file, self._draw, self.taken = io.BytesIO(data), random.Random(1), 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        size = min(len(buffer), self._draw.choice((1, 100, 5000, 1 << 20)))
        count = self._file.readinto(buffer[:size])
        self.taken += count
        return count


def outcome(file: object) -> tuple[list[bytes], str | None]:
    """The records that come out, and the code of the fault that ends them."""
    records: list[bytes] = []
    try:
        records.extend(RecordReader(file))
    except RiegeliError as error:
        return records, error.code
    return records, None


def several() -> tuple[bytes, list[bytes]]:
    """Chunks within blocks and across them, a large one and small ones, a padding."""
    draw = random.Random(4)
    records = [draw.randbytes(draw.choice((0, 10, 3000, 70000))) for _ in range(40)] + [draw.randbytes(9 << 20)]
    file = io.BytesIO()
    with RecordWriter(file, RecordWriterOptions("uncompressed", chunk_size=9000, metadata=b"\x0a\x01x")) as writer:
        for record in records:
            writer.write(record)
        writer.flush()
        writer.write(b"end")
    return file.getvalue(), [*records, b"end"]


DATA, RECORDS = several()


@pytest.mark.parametrize("name", GENUINE)
def test_streams_give_what_files_give(name: str) -> None:
    data = genuine(name)
    streamed = RecordReader(OneWay(data), strict=True)
    found = [(position, bytes(view)) for position, view in streamed.items()]
    assert found == [(position, bytes(view)) for position, view in RecordReader(io.BytesIO(data)).items()]


def test_large_records_and_metadata() -> None:
    assert outcome(OneWay(DATA)) == (RECORDS, None)
    reader = RecordReader(OneWay(DATA))
    assert reader.metadata == b"\x0a\x01x"
    assert list(reader) == RECORDS
    with pytest.raises(RiegeliError, match=r"SW0810.*metadata, once records were read, cannot be read"):
        _ = reader.metadata
    bare = OneWay(genuine("simple_zstd_3"))
    reader = RecordReader(bare)
    assert reader.metadata is None
    assert bare.taken < 200
    assert len(list(reader)) > 300


@pytest.mark.parametrize(
    "size", [0, 1, 63, 64, 65, 100, 5000, BLOCK - 1, BLOCK, BLOCK + 12, BLOCK + 24, 200000, -1, -30]
)
def test_cuts_are_found_as_in_files(size: int) -> None:
    data = DATA[:200000][:size] if size >= 0 else DATA[:size]
    assert outcome(OneWay(data)) == outcome(io.BytesIO(data))


@pytest.mark.parametrize(
    "place", [3, 30, 70, 105, 130, 5000, BLOCK + 2, BLOCK + 10, BLOCK + 20, 3 * BLOCK + 3, 1 << 23]
)
def test_flips_are_found_as_in_files(place: int) -> None:
    data = bytearray(DATA)
    data[place] ^= 16
    records, code = outcome(OneWay(bytes(data)))
    assert (records, code) == outcome(io.BytesIO(data))
    assert code is not None


@pytest.mark.parametrize("place", [70, 130, 5000, BLOCK + 10, BLOCK + 20, 3 * BLOCK + 3, 1 << 23, -10])
def test_recovery_tells_what_a_stream_loses(place: int) -> None:
    data, skipped = bytearray(DATA), list[SkippedRegion]()
    data[place] ^= 16
    found = list(RecordReader(OneWay(bytes(data)), recovery=skipped.append).items())
    place %= len(data)
    assert any(region.begin <= place < region.end for region in skipped)
    good = {position: bytes(view) for position, view in RecordReader(io.BytesIO(DATA)).items()}
    assert {position: bytes(view) for position, view in found}.items() <= good.items()
    lost = good.keys() - {position for position, _ in found}
    assert all(any(region.begin <= position < region.end for region in skipped) for position in lost)
    assert len(lost) < len(good)


SEEKING: dict[str, Callable[[RecordReader], object]] = {
    "read": lambda reader: reader.read(64),
    "view": lambda reader: reader.view(64),
    "seek": lambda reader: reader.seek(64),
    "seek_chunk": lambda reader: reader.seek_chunk(64),
    "chunk_at": lambda reader: reader.chunk_at(64),
    "chunks": lambda reader: list(reader.chunks()),
    "read_into": lambda reader: reader.read_into(64, bytearray(10)),
    "last": lambda reader: reader.last(),
    "last_position": lambda reader: reader.last_position,
}


@pytest.mark.parametrize("name", SEEKING)
def test_seeking_is_refused_by_name(name: str) -> None:
    with pytest.raises(RiegeliError, match=r"SW0810.*cannot be read from a stream, which cannot seek"):
        SEEKING[name](RecordReader(OneWay(DATA)))


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    """The two ends of a pipe."""
    ends = os.pipe()
    yield ends
    for end in ends:
        try:
            os.close(end)
        except OSError:
            continue


def test_a_record_comes_as_soon_as_it_was_flushed(pipe: tuple[int, int]) -> None:
    """Nothing is read ahead; this would wait forever."""
    with open(pipe[0], "rb") as source, open(pipe[1], "wb", buffering=0) as target:
        with RecordWriter(target, "zstd") as writer:
            reader = iter(RecordReader(source))
            for number in range(20):
                assert writer.write(b"record %d" % number) >= 64
                writer.flush()
                assert next(reader) == b"record %d" % number
        target.close()
        assert list(reader) == []


def test_a_large_record_through_a_pipe_that_takes_parts(pipe: tuple[int, int]) -> None:
    records = [random.Random(8).randbytes(20 << 20), b"small"]

    def write() -> None:
        with open(pipe[1], "wb", buffering=0) as target, RecordWriter(target, "uncompressed") as writer:
            for record in records:
                writer.write(record)

    thread = threading.Thread(target=write)
    thread.start()
    with open(pipe[0], "rb") as source:
        assert list(RecordReader(source, strict=True)) == records
    thread.join()


def test_a_named_pipe_is_a_path(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    thread = threading.Thread(target=lambda: path.write_bytes(genuine("simple_snappy")))
    thread.start()
    with RecordReader(path) as reader:
        assert len(list(reader)) > 300
    thread.join()


def test_a_named_pipe_is_written_and_stays_a_pipe(tmp_path: Path) -> None:
    path, found = tmp_path / "pipe", list[bytes]()
    os.mkfifo(path)
    thread = threading.Thread(target=lambda: found.extend(RecordReader(path)))
    thread.start()
    with RecordWriter(path, "zstd") as writer:
        for record in RECORDS:
            writer.write(record)
    thread.join()
    assert found == RECORDS
    assert path.is_fifo()
    assert os.listdir(tmp_path) == ["pipe"]


def promises() -> dict[str, bytes]:
    """Chunks that say that they are large, or that their records are many or large; all else is right."""
    found = {"data": ChunkHeader(1 << 40, 1, SIMPLE, 1, 1 << 30).pack()}
    for name, pack in {"zstd": zstandard.compress, "brotli": brotli.compress}.items():
        sizes, values = (b"\1" + pack(part) for part in (b"\0", b""))
        data = name[:1].encode() + bytes((len(sizes),)) + sizes + values
        for records, size in ((1 << 50, 0), (1, 1 << 50)):
            header = ChunkHeader(len(data), highwayhash64(data), SIMPLE, records, size)
            found[f"{name}, {records} records, {size} bytes"] = header.pack() + data
    return found


PROMISES = promises()


@pytest.mark.parametrize("name", PROMISES)
def test_a_stream_that_promises_much_gets_little_memory(name: str) -> None:
    tracemalloc.start()
    start = time.process_time()
    try:
        assert outcome(OneWay(FILE_SIGNATURE + PROMISES[name] + bytes(100000)))[1] in ("SW0802", "SW0807")
        assert tracemalloc.get_traced_memory()[1] < 64 << 20
        assert time.process_time() - start < 1
    finally:
        tracemalloc.stop()


def memory(field: str) -> int:
    """A line of the system's account of this process, in bytes."""
    lines = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(lines[field].split()[0]) << 10


def grown(act: Callable[[], object]) -> int:
    """How far this process's memory goes beyond what it has now."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        pytest.skip("the system does not tell the peak of a part of a process's life")
    before = memory("VmRSS")
    act()
    return memory("VmHWM") - before


def small_and_large(block: bytes) -> Iterator[bytes]:
    """10 records of 8 MiB, small ones between."""
    for count in range(10):
        yield block
        for index in range(100):
            yield b"%d" % (count * index) * 100


SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in ("zstd:1", "brotli:1")]


@pytest.mark.parametrize("options", ["uncompressed", "snappy", *SLOW])
def test_memory_stays_at_a_buffer_above_the_largest_record(tmp_path: Path, options: str) -> None:
    """Records and file are 80 MiB; the peak grows by a few times 8 MiB as they are written, read and piped."""
    path, block = tmp_path / "records", random.Random(2).randbytes(8 << 20)

    def write(file: object) -> None:
        with RecordWriter(file, options) as writer:  # type: ignore[arg-type]
            for record in small_and_large(block):
                writer.write(record)

    def read(file: object) -> None:
        with RecordReader(file) as reader:
            sizes = [len(view) for view in reader.views()]
        assert sum(sizes) > 10 * len(block)

    def stream() -> None:
        ends = os.pipe()
        with open(ends[0], "rb") as source, open(ends[1], "wb", buffering=0) as target:

            def feed() -> None:
                write(target)
                target.close()

            thread = threading.Thread(target=feed)
            thread.start()
            read(source)
            thread.join()

    write(path)
    most = (3 if options == "uncompressed" else 5) * len(block)
    assert grown(lambda: write(path)) < most
    assert grown(lambda: read(path)) < most
    assert grown(stream) < 2 * most
