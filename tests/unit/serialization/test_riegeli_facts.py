"""What C++ riegeli accepts and what it refuses, as the notes have it, on files that are made by hand."""

from __future__ import annotations

import io

import brotli
import cramjam
import pytest
import zstandard

from shardwright.serialization.hashing import highwayhash64
from shardwright.serialization.riegeli import RecordReader, RecordWriter, RiegeliError
from shardwright.serialization.riegeli.chunks.chunks import SIMPLE, TRANSPOSED, ChunkHeader
from shardwright.serialization.riegeli.chunks.scan import FILE_SIGNATURE
from shardwright.serialization.riegeli.transposed.writing import encode_transposed
from shardwright.serialization.wire import varint

BLOCK = 65536


def packed(kind: str, data: bytes, stated: int | None = None) -> bytes:
    """A compressed buffer: its size before compression, rightly or not, and the library's own bytes."""
    compress = {"b": brotli.compress, "z": zstandard.compress, "s": cramjam.snappy.compress_raw}[kind]
    return varint(len(data) if stated is None else stated) + bytes(compress(data))


def file_of(kind: int, data: bytes, records: int, size: int) -> bytes:
    """A file of one chunk, every hash right, with a good record in the chunk after it."""
    file = io.BytesIO(FILE_SIGNATURE)
    file.seek(0, io.SEEK_END)
    with RecordWriter(file, "uncompressed") as writer:
        header = ChunkHeader(len(data), highwayhash64(data), kind, records, size)
        writer._chunk(header.kind, [data], records, size)  # pyright: ignore[reportPrivateUsage]
        writer.write(b"after")
    return file.getvalue()


def read(data: bytes, strict: bool = False) -> tuple[list[bytes], str | None]:
    """The records, and the code of the fault that ends them."""
    records: list[bytes] = []
    try:
        records.extend(RecordReader(io.BytesIO(data), strict=strict))
    except RiegeliError as error:
        return records, error.code
    return records, None


def simple(kind: str, sizes: bytes, values: bytes) -> bytes:
    """The data of a simple chunk from its two compressed buffers."""
    return kind.encode() + varint(len(sizes)) + sizes + values


@pytest.mark.parametrize("kind", "bzs")
class TestCompressed:
    """Simple chunks of two records, `a` and `b`, compressed."""

    def test_good(self, kind: str) -> None:
        data = simple(kind, packed(kind, b"\1\1"), packed(kind, b"ab"))
        assert read(file_of(SIMPLE, data, 2, 2)) == ([b"a", b"b", b"after"], None)

    def test_empty_buffers_are_compressed_too(self, kind: str) -> None:
        data = simple(kind, packed(kind, b"\0\0"), packed(kind, b""))
        assert read(file_of(SIMPLE, data, 2, 0)) == ([b"", b"", b"after"], None)
        assert read(file_of(SIMPLE, simple(kind, packed(kind, b"\0\0"), b""), 2, 0)) == ([], "SW0805")
        data = simple(kind, packed(kind, b""), packed(kind, b""))
        assert read(file_of(SIMPLE, data, 0, 0)) == ([b"after"], None)

    def test_written_empty_buffers(self, kind: str) -> None:
        file = io.BytesIO()
        with RecordWriter(file, {"b": "brotli", "z": "zstd", "s": "snappy"}[kind]) as writer:
            writer.write(b"")
        empty = {"b": b"\x00\x3b", "s": b"\x00\x00", "z": b"\x00" + zstandard.compress(b"")}[kind]
        assert file.getvalue().endswith(empty)

    def test_wrong_size_before_compression_is_a_hint(self, kind: str) -> None:
        data = simple(kind, packed(kind, b"\1\1", 9), packed(kind, b"ab", 1))
        assert read(file_of(SIMPLE, data, 2, 2)) == ([b"a", b"b", b"after"], None)

    def test_long_numbers_are_accepted(self, kind: str) -> None:
        data = simple(kind, packed(kind, b"\x81\x00\x81\x80\x00"), packed(kind, b"ab"))
        assert read(file_of(SIMPLE, data, 2, 2)) == ([b"a", b"b", b"after"], None)

    @pytest.mark.parametrize("size", [1, 3])
    def test_trailing_or_missing_bytes(self, kind: str, size: int) -> None:
        for sizes, values in ((b"x", b""), (b"", b"x"), (b"", b"\0"), (b"\0", b"")):
            data = simple(kind, packed(kind, b"\1\1") + sizes * size, packed(kind, b"ab") + values * size)
            assert read(file_of(SIMPLE, data, 2, 2)) == ([], "SW0805")
        data = simple(kind, packed(kind, b"\1\1"), packed(kind, b"ab")[:-size])
        assert read(file_of(SIMPLE, data, 2, 2)) == ([], "SW0805")

    @pytest.mark.parametrize(
        ("sizes", "values", "records", "size"),
        [
            (b"\1\1", b"abc", 2, 2), (b"\1\1", b"abc", 2, 3), (b"\1\1", b"a", 2, 2), (b"\1\2", b"ab", 2, 2),
            (b"\1\1\0", b"ab", 2, 2), (b"\2", b"ab", 2, 2), (b"\1\1", b"ab", 2, 3), (b"\1\1", b"ab", 2, 1),
            (b"\1\x81", b"ab", 2, 2), (b"\1" + b"\xff" * 9 + b"\x01", b"ab", 2, 2),
        ],
    )  # fmt: skip
    def test_sizes_that_do_not_fit(self, kind: str, sizes: bytes, values: bytes, records: int, size: int) -> None:
        data = simple(kind, packed(kind, sizes), packed(kind, values))
        assert read(file_of(SIMPLE, data, records, size)) == ([], "SW0805")


RECORD = bytes.fromhex("0a0208071001")


def good() -> bytes:
    """The data of a transposed chunk of two messages, each with a submessage."""
    return b"".join(encode_transposed([6, 6], [RECORD * 2], 0, 0))


def test_a_transposed_chunk() -> None:
    assert read(file_of(TRANSPOSED, good(), 2, 12)) == ([RECORD, RECORD, b"after"], None)


@pytest.mark.parametrize(("records", "size"), [(1, 12), (3, 12), (2, 11), (2, 13), (0, 12), (2, 0), (1, 6)])
def test_transposed_records_are_as_many_and_as_long_as_the_header_says(records: int, size: int) -> None:
    found = read(file_of(TRANSPOSED, good(), records, size))
    assert found == ([], "SW0805")


def test_every_changed_byte_of_a_transposed_chunk_is_read_or_refused() -> None:
    """With hashes made anew, so that the decoder sees it: what comes out has the header's count and length."""
    data, refused = good(), 0
    for place in range(len(data)):
        for bit in range(8):
            changed = bytearray(data)
            changed[place] ^= 1 << bit
            records, code = read(file_of(TRANSPOSED, bytes(changed), 2, 12))
            if code is None:
                assert len(records) == 3
                assert len(b"".join(records[:2])) == 12
            else:
                assert (records, code in ("SW0805", "SW0806")) == ([], True)
                refused += 1
    assert refused > 4 * len(data)


@pytest.mark.parametrize("cut", range(1, 20))
def test_transposed_data_that_end_too_early(cut: int) -> None:
    assert read(file_of(TRANSPOSED, good()[:-cut], 2, 12)) == ([], "SW0805")


@pytest.mark.parametrize("count", [1, 39, 40, 41, 64, 1000])
@pytest.mark.parametrize("byte", [0, 0x55])
def test_anything_appended_is_a_fault(count: int, byte: int) -> None:
    data = file_of(SIMPLE, b"\0\1\1a", 1, 1)
    records, code = read(data + bytes((byte,)) * count)
    assert records == [b"a", b"after"]
    assert code == ("SW0802" if count < 40 else "SW0803")


def many_empty() -> tuple[bytes, int]:
    """A chunk of 100000 empty records, compressed: its positions cross a block header that its data do not reach."""
    file = io.BytesIO()
    with RecordWriter(file, "zstd") as writer:
        for _ in range(100000):
            writer.write(b"")
        writer.write(b"last")
    return file.getvalue(), 100000


def test_block_headers_among_zeros_are_verified_only_if_strict() -> None:
    data, count = many_empty()
    assert read(data, strict=True) == ([b""] * count + [b"last"], None)
    for place in (BLOCK, BLOCK + 9, BLOCK + 20):
        damaged = bytearray(data)
        damaged[place] ^= 1
        assert read(bytes(damaged)) == ([b""] * count + [b"last"], None)
        assert read(bytes(damaged), strict=True) == ([], "SW0803")


def test_the_position_after_the_last_record_of_a_chunk_is_refused() -> None:
    """C++ goes on to the next chunk there; a strict reader says that nothing is there."""
    file = io.BytesIO()
    with RecordWriter(file, "zstd") as writer:
        first = writer.write(b"one" * 100)
        writer.flush()
        second = writer.write(b"two")
    reader = RecordReader(file)
    assert second > first + 1
    for position in range(first + 1, second):
        with pytest.raises(RiegeliError, match="SW0810"):
            reader.read(position)
    assert reader.read(second) == b"two"
