"""What the writer writes, against the format's formulas worked out the slow way, and what options it takes."""

from __future__ import annotations

import io
import os
import random
import struct
from pathlib import Path

import pytest

from shardwright.diagnostics import ShardwrightError
from shardwright.serialization.hashing import highwayhash64
from shardwright.serialization.riegeli import Limits, RecordReader, RecordWriter, RecordWriterOptions, RiegeliError
from shardwright.serialization.riegeli.options import refuse

BLOCK = 65536


def hashed(data: bytes) -> bytes:
    """The data behind its hash."""
    return struct.pack("<Q", highwayhash64(data)) + data


class Slow:
    """The format byte by byte: whenever a byte would stand at a multiple of 65536, a block header goes first."""

    def __init__(self) -> None:
        self.file = bytearray()
        self.chunk(b"s", b"", 0, 0)

    def chunk(self, kind: bytes, data: bytes, records: int, size: int) -> None:
        begin = len(self.file)
        fields = struct.pack("<QQQQ", len(data), highwayhash64(data), kind[0] | records << 8, size)
        contents = hashed(fields) + data
        end = self.emit(begin, contents, 0)[1]
        while end < begin + records or 0 < end % BLOCK <= 24:
            contents += b"\0"
            end = self.emit(begin, contents, 0)[1]
        self.file += self.emit(begin, contents, end)[0]

    def emit(self, begin: int, contents: bytes, end: int) -> tuple[bytes, int]:
        out = bytearray()
        for byte in contents:
            if (begin + len(out)) % BLOCK == 0:
                out += hashed(struct.pack("<QQ", len(out), max(end - begin - len(out), 0)))
            out.append(byte)
        return bytes(out), begin + len(out)

    def simple(self, records: list[bytes]) -> None:
        """A chunk of records of fewer than 16384 bytes each, not compressed."""
        sizes = b"".join(number(len(record)) for record in records)
        values = b"".join(records)
        self.chunk(b"r", b"\0" + number(len(sizes)) + sizes + values, len(records), len(values))


def number(value: int) -> bytes:
    """A varint of one, two or three bytes."""
    if value < 128:
        return bytes((value,))
    return bytes((value & 127 | 128,)) + number(value >> 7)


def written(records: list[bytes], options: str) -> bytes:
    """The file that our writer makes."""
    file = io.BytesIO()
    with RecordWriter(file, options) as writer:
        for record in records:
            writer.write(record)
    return file.getvalue()


def test_an_empty_file_is_the_signature() -> None:
    assert written([], "uncompressed") == Slow().file
    assert len(Slow().file) == 64


@pytest.mark.parametrize("size", [0, 1, 65390, 65400, 65401, 65407, 65408, 65430, 65431, 65432, 65433, 65500, 131000])
def test_one_record_around_block_boundaries(size: int) -> None:
    record = random.Random(size).randbytes(size)
    slow = Slow()
    slow.simple([record])
    slow.simple([b"after"])
    assert written([record, b"after"], "uncompressed,chunk_size:1") == slow.file


@pytest.mark.every(4)
@pytest.mark.parametrize("first", range(65320, 65450))
def test_the_next_chunk_begins_at_every_place_around_a_boundary(first: int) -> None:
    """Chunk headers are cut by block headers, begin at them, and move behind them."""
    slow = Slow()
    slow.simple([bytes(first)])
    slow.simple([b"second"])
    assert written([bytes(first), b"second"], "uncompressed,chunk_size:1") == slow.file


def test_many_small_records_need_positions() -> None:
    records = [b""] * 400
    slow = Slow()
    slow.simple(records)
    slow.simple([b"end"])
    file = io.BytesIO()
    with RecordWriter(file, "uncompressed,chunk_size:1000k") as writer:
        positions = [writer.write(record) for record in records]
        writer.flush()
        last = writer.write(b"end")
    assert positions == list(range(64, 464))
    assert file.getvalue() == slow.file
    assert last > positions[-1]


def test_chunks_close_by_the_rule() -> None:
    """A record counts its size and 8; a chunk closes when the next would not fit, or when not even 8 would."""
    groups: dict[tuple[int, ...], list[int]] = {
        (92, 92, 92): [1, 1, 1],
        (42, 42, 42): [2, 1],
        (38, 38, 38): [2, 1],
        (20, 20, 20, 20): [3, 1],
        (500, 1, 1): [1, 2],
        (0,) * 20: [12, 8],
    }
    for sizes, expected in groups.items():
        slow, done = Slow(), 0
        records = [bytes([index]) * size for index, size in enumerate(sizes)]
        for count in expected:
            slow.simple(records[done : done + count])
            done += count
        assert written(records, "uncompressed,chunk_size:100") == slow.file, sizes


def test_default_chunk_sizes() -> None:
    assert RecordWriterOptions().desired_size == 1 << 20
    assert RecordWriterOptions("uncompressed").desired_size == 4096


@pytest.mark.parametrize("padding", [100, 4096, BLOCK, 3 * BLOCK])
def test_padding_reaches_its_multiple(padding: int) -> None:
    data = written([b"one"], f"uncompressed,final_padding:{padding}")
    begin = len(written([b"one"], "uncompressed"))
    assert len(data) % padding == 0
    assert len(data) - begin < padding + 40
    slow = Slow()
    slow.simple([b"one"])
    slow.chunk(b"p", bytes(len(data) - begin - 40 - (len(data) - 1) // BLOCK * 24), 0, 0)
    assert data == slow.file
    assert list(RecordReader(io.BytesIO(data), strict=True)) == [b"one"]


def test_files_that_are_padded_can_be_joined() -> None:
    parts = [written([name], f"{kind},padding") for name, kind in ((b"one", "zstd"), (b"two", "uncompressed"))]
    assert list(RecordReader(io.BytesIO(b"".join(parts)), strict=True)) == [b"one", b"two"]


@pytest.mark.parametrize("length", [0, 10, 65440, 65472])
def test_appending(length: int) -> None:
    file = io.BytesIO(written([b"x" * length], "uncompressed"))
    file.seek(0, os.SEEK_END)
    with RecordWriter(file, "uncompressed,initial_padding:1k") as writer:
        position = writer.write(b"more")
    assert position % 1024 == 0
    assert list(RecordReader(file, strict=True)) == [b"x" * length, b"more"]


@pytest.mark.parametrize("compression", ["uncompressed", "brotli:1", "brotli:11", "zstd:-5", "zstd:19", "snappy:2"])
def test_every_compression_comes_back(compression: str) -> None:
    records = [b"", b"abc" * 1000, random.Random(1).randbytes(70000), b"\0" * 300000]
    data = written(records, compression)
    assert list(RecordReader(io.BytesIO(data), strict=True)) == records
    if compression != "uncompressed":
        assert len(data) < 90000


@pytest.mark.parametrize("metadata", [b"", b"\x0a\x03abc", bytes(100000)])
@pytest.mark.parametrize("compression", ["uncompressed", "zstd", "brotli", "snappy"])
def test_metadata(compression: str, metadata: bytes) -> None:
    file = io.BytesIO()
    with RecordWriter(file, RecordWriterOptions(compression, metadata=metadata)) as writer:
        writer.write(b"record")
    reader = RecordReader(file)
    assert reader.metadata == metadata
    assert list(reader) == [b"record"]
    assert RecordReader(io.BytesIO(written([], "zstd"))).metadata is None


def test_a_buffer_may_change_after_it_was_written() -> None:
    file, buffer = io.BytesIO(), bytearray(b"first")
    with RecordWriter(file, "zstd") as writer:
        writer.write(buffer)
        buffer[:] = b"other"
        large = bytearray(b"a" * (2 << 20))
        writer.write(large)
        large[:] = b"b" * (2 << 20)
    assert list(RecordReader(file)) == [b"first", b"a" * (2 << 20)]


def test_what_expands_too_much_is_written_so_that_it_can_be_read() -> None:
    zeros = bytes(40 << 20)
    data = written([zeros], "zstd")
    assert list(RecordReader(io.BytesIO(data))) == [zeros]
    assert 1 << 20 < len(data) < 4 << 20


@pytest.mark.slow
def test_very_many_empty_records_are_written_so_that_they_can_be_read() -> None:
    count = (1 << 22) + 5
    file = io.BytesIO()
    with RecordWriter(file, "zstd,chunk_size:1G") as writer:
        for _ in range(count):
            writer.write(b"")
    assert sum(1 for _ in RecordReader(file).views()) == count


def test_a_path_is_whole_or_untouched(tmp_path: Path) -> None:
    path = tmp_path / "records"
    with RecordWriter(path, "uncompressed") as writer:
        writer.write(b"old")
        assert not path.exists()
    with pytest.raises(TypeError), RecordWriter(path, "uncompressed") as writer:
        writer.write("text")  # type: ignore[arg-type]
    assert list(RecordReader(path)) == [b"old"]
    assert os.listdir(tmp_path) == ["records"]
    with RecordWriter(path, "uncompressed") as writer:
        writer.write(b"new" * 1000000)
    with RecordReader(path) as reader:
        assert list(reader) == [b"new" * 1000000]
    assert path.read_bytes() == written([b"new" * 1000000], "uncompressed")


def test_a_closed_writer_takes_nothing() -> None:
    writer = RecordWriter(io.BytesIO())
    writer.close()
    writer.close()
    with pytest.raises(ShardwrightError, match=r"SW0809.*: the writer is closed"):
        writer.write(b"late")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", RecordWriterOptions()),
        ("default", RecordWriterOptions("brotli")),
        ("uncompressed", RecordWriterOptions("uncompressed")),
        ("brotli:9,window_log:20", RecordWriterOptions("brotli", 9, 20)),
        ("zstd:-7,chunk_size:1.5k", RecordWriterOptions("zstd", -7, chunk_size=1536)),
        ("snappy,padding", RecordWriterOptions("snappy", initial_padding=BLOCK, final_padding=BLOCK)),
        ("initial_padding:4M,chunk_size:auto", RecordWriterOptions(initial_padding=4 << 20)),
        ("pad_to_block_boundary:initially,transpose:false", RecordWriterOptions(initial_padding=BLOCK)),
        ("transpose,bucket_fraction:0.25", RecordWriterOptions(transpose=True, bucket_fraction=0.25)),
        ("pad_to_block_boundary,parallelism:4", RecordWriterOptions(initial_padding=BLOCK, final_padding=BLOCK)),
    ],
)
def test_option_text(text: str, expected: RecordWriterOptions) -> None:
    assert RecordWriterOptions.parse(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "gzip", "brotli:12", "zstd:23", "snappy:3", "uncompressed:1", "brotli,zstd", "chunk_size:0", "chunk_size:x",
        "window_log:20,snappy", "window_log:9", "padding:-1", "default,zstd", "brotli:fast", "transpose:yes",
        "chunk_size:99E", "brotli_encoder:rbrotli", "parallelism:-1", "parallelism:1.5", "bucket_fraction:2",
        "bucket_fraction:x", "chunk_size:nan",
    ],
)  # fmt: skip
def test_options_that_cannot_be(text: str) -> None:
    with pytest.raises(ValueError, match="SW0809"):
        RecordWriterOptions.parse(text)


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(ShardwrightError) as caught:
        written([b"record"], "zstd")
    assert str(caught.value).splitlines() == [
        "error[SW0808]: zstd needs the package zstandard, which is not installed",
        "  help: pip install 'shardwright[storage]', or write without compression",
    ]


def test_limits_can_be_lifted() -> None:
    file = io.BytesIO(written([bytes(1 << 20)], "brotli"))
    with pytest.raises(RiegeliError, match=r"SW0807.*would become 1048576 in 1 records"):
        list(RecordReader(file, limits=Limits(always=1000)))
    assert list(RecordReader(file, limits=Limits(always=1 << 40))) == [bytes(1 << 20)]


def test_refusals_are_value_errors() -> None:
    assert isinstance(refuse("no"), ValueError)


class Plain:
    """A file object with the least that is asked for: no `readinto`, no descriptor."""

    def __init__(self) -> None:
        self._file = io.BytesIO()

    def write(self, data: bytes | bytearray | memoryview) -> int:
        return self._file.write(data)

    def read(self, size: int) -> bytes:
        return self._file.read(size)

    def seek(self, place: int, whence: int = 0) -> int:
        return self._file.seek(place, whence)


def test_any_file_object_will_do() -> None:
    file, records = Plain(), [bytes(10), random.Random(2).randbytes(3 << 20), b"end"]
    with RecordWriter(file, "uncompressed") as writer:
        positions = [writer.write(record) for record in records]
    reader = RecordReader(file)
    assert list(reader) == records
    assert [reader.read(position) for position in positions] == records


@pytest.mark.parametrize("first", [0, 65380, 65400, 65432])
def test_a_large_chunk_is_hashed_while_it_is_written(tmp_path: Path, first: int) -> None:
    """The same bytes on a path, where the header is put back, as in memory, where it is not."""
    records = [bytes(first), random.Random(first).randbytes(9 << 20), b"end"]
    with RecordWriter(tmp_path / "records", "uncompressed,chunk_size:1") as writer:
        for record in records:
            writer.write(record)
    assert (tmp_path / "records").read_bytes() == written(records, "uncompressed,chunk_size:1")
    with RecordReader(tmp_path / "records", strict=True) as reader:
        assert list(reader) == records
