"""Damaged, cut and hostile files: each fault is found, named and placed; what is around it can be read."""

from __future__ import annotations

import io
import random
import struct
import time
import tracemalloc
from functools import cache
from typing import NamedTuple

import brotli
import pytest
import zstandard
from riegeli_cases import genuine

from shardwright.serialization.hashing import highwayhash64
from shardwright.serialization.riegeli import RecordReader, RecordWriter, RiegeliError, SkippedRegion
from shardwright.serialization.riegeli.chunks.chunks import SIMPLE, TRANSPOSED, ChunkHeader
from shardwright.serialization.riegeli.chunks.scan import FILE_SIGNATURE, ChunkScanner
from shardwright.serialization.riegeli.streams.source import Source
from shardwright.serialization.wire import varint

BLOCK = 65536


def read(data: bytes, strict: bool = False) -> tuple[list[bytes], str | None]:
    """The records that come out, and the code of the fault that ends them."""
    records: list[bytes] = []
    try:
        records.extend(RecordReader(io.BytesIO(data), strict=strict))
    except RiegeliError as error:
        return records, error.code
    return records, None


class Sample(NamedTuple):
    """A file: its bytes, its records, and where its chunks end."""

    data: bytes
    records: list[bytes]
    ends: list[int]


@cache
def sample() -> Sample:
    """A file of 64 KiB and a bit."""
    draw = random.Random(5)
    records = [b""] * 300 + [draw.randbytes(size) for size in (30000, 5, 36000, 900, 0)]
    file, ends = io.BytesIO(), [0, 64]
    with RecordWriter(file, "uncompressed,chunk_size:4k") as writer:
        for record in records:
            writer.write(record)
    scanner = ChunkScanner(Source(file))
    while (header := scanner.header(ends[-1])) is not None:
        ends.append(header.end(ends[-1]))
    return Sample(file.getvalue(), records, ends)


STEP = 41


def chunk(kind: int, data: bytes, records: int, size: int, data_size: int | None = None) -> bytes:
    """A file of one chunk in the first block, every hash right, whatever it says."""
    header = ChunkHeader(len(data) if data_size is None else data_size, highwayhash64(data), kind, records, size)
    return FILE_SIGNATURE + header.pack() + data


def test_the_sample_is_what_it_should_be() -> None:
    assert len(sample().data) > BLOCK + 90
    assert len(sample().ends) == 7
    assert read(sample().data, strict=True) == (sample().records, None)


def check_flip(place: int, bit: int) -> None:
    """One changed bit is found; only records before it come out."""
    damaged = bytearray(sample().data)
    damaged[place] ^= 1 << bit
    records, code = read(bytes(damaged))
    expected = "SW0801" if place < 64 else ("SW0802", "SW0803", "SW0804")
    assert code is not None
    assert code in expected
    assert records == sample().records[: len(records)]
    assert len(records) < len(sample().records)


@pytest.mark.parametrize("part", range(4))
def test_flips(part: int) -> None:
    places = [*range(0, 700), *range(BLOCK - 60, BLOCK + 90), *range(700, len(sample().data), STEP)]
    for place in places[part::4]:
        check_flip(place, place % 8)


@pytest.mark.slow
def test_every_flip() -> None:
    for place in range(len(sample().data)):
        check_flip(place, place * 7 % 8)


def padded() -> tuple[bytes, list[bytes], range]:
    """A chunk of 2000 empty records, compressed: more positions than bytes, so zeros follow its data."""
    records = [b""] * 2000 + [b"end"]
    file = io.BytesIO()
    with RecordWriter(file, "zstd") as writer:
        for record in records[:-1]:
            writer.write(record)
        writer.flush()
        end = writer.position
        writer.write(records[-1])
    header = ChunkScanner(Source(file)).header(64)
    assert header is not None
    return file.getvalue(), records, range(64 + 40 + header.data_size, end)


def test_zeros_after_data_are_compared_only_if_strict() -> None:
    """As in C++: a change there is harmless, a cut there is not."""
    data, records, zeros = padded()
    assert len(zeros) > 1900
    for place in (zeros[0], zeros[1000], zeros[-1]):
        damaged = bytearray(data)
        damaged[place] = 1
        assert read(bytes(damaged)) == (records, None)
        assert read(bytes(damaged), strict=True) == ([], "SW0805")
        assert read(data[:place]) == ([], "SW0802")


def check_cut(size: int) -> None:
    """A cut between two chunks is a shorter file, as in C++; any other is found."""
    records, code = read(sample().data[:size])
    assert code == (None if size in sample().ends else "SW0802")
    assert records == sample().records[: len(records)]
    assert (records == sample().records) == (size == len(sample().data))


@pytest.mark.parametrize("part", range(4))
def test_cuts(part: int) -> None:
    sizes = [*range(0, 700), *sample().ends, *range(BLOCK - 60, BLOCK + 90), *range(700, len(sample().data), STEP)]
    for size in sizes[part::4]:
        check_cut(size)


@pytest.mark.slow
def test_every_cut() -> None:
    for size in range(len(sample().data) + 1):
        check_cut(size)


def test_a_fault_says_what_and_where() -> None:
    damaged = bytearray(sample().data)
    damaged[sample().ends[2] + 500] ^= 1
    with pytest.raises(RiegeliError) as caught:
        list(RecordReader(io.BytesIO(damaged)))
    header = ChunkScanner(Source(io.BytesIO(sample().data))).header(sample().ends[2])
    assert header is not None
    first, second = str(caught.value).splitlines()
    assert first.startswith(f"error[SW0803]: the file, byte {sample().ends[2]}: the hash of the chunk's data is 0x")
    assert first.endswith(f", not {header.data_hash:#018x}")
    assert second == "  help: get the file again; RecordReader(recovery=...) reads what is not damaged"


def test_what_is_not_riegeli() -> None:
    for data in (b"hello", b"x" * 1000, bytes(100), sample().data[:24] + chunk(ord("p"), b"", 0, 0)[64:]):
        assert read(data) == ([], "SW0801")


def many() -> tuple[bytes, list[bytes], list[int]]:
    """Six blocks of chunks of some 9000 bytes."""
    draw = random.Random(11)
    records = [draw.randbytes(draw.randrange(3000)) for _ in range(250)]
    file = io.BytesIO()
    with RecordWriter(file, "uncompressed,chunk_size:9000") as writer:
        positions = [writer.write(record) for record in records]
    return file.getvalue(), records, positions


@pytest.mark.parametrize("place", [10, 70, 5000, BLOCK + 3, BLOCK + 12, BLOCK + 20, 3 * BLOCK + 30000, -10])
def test_recovery_loses_at_most_what_is_around_the_fault(place: int) -> None:
    data, records, positions = many()
    damaged, skipped = bytearray(data), list[SkippedRegion]()
    damaged[place] ^= 0x10
    found = list(RecordReader(io.BytesIO(damaged), recovery=skipped.append).items())
    assert skipped
    place %= len(data)
    assert any(region.begin <= place < region.end for region in skipped)
    good = dict(zip(positions, records, strict=True))
    assert all(good[position] == record for position, record in found)
    lost = sorted(set(good) - {position for position, _ in found})
    assert all(any(region.begin <= position < region.end for region in skipped) for position in lost)
    assert sum(region.end - region.begin for region in skipped) < 2 * BLOCK + 9000


def test_recovery_of_a_cut_file_and_of_one_that_went_on() -> None:
    data, records, _ = many()
    skipped = list[SkippedRegion]()
    cut = data[:100000]
    found = list(RecordReader(io.BytesIO(cut), recovery=skipped.append))
    assert found == records[: len(found)]
    assert [(region.end, region.reason.code) for region in skipped] == [(100000, "SW0802")]
    skipped.clear()
    file = io.BytesIO(cut)
    file.seek(0, io.SEEK_END)
    with RecordWriter(file, "uncompressed,padding") as writer:
        writer.write(b"appended")
    again = list(RecordReader(file, recovery=skipped.append))
    assert again == [*found, b"appended"]
    assert str(skipped[0]).startswith(f"skipped bytes {skipped[0].begin} to ")
    assert skipped[-1].end == 2 * BLOCK


def test_block_headers_of_other_chunks() -> None:
    """Headers whose own hash is right, but that belong elsewhere."""
    data, records, _ = many()
    for field, wrong in ((8, 1), (16, 1), (8, BLOCK), (16, BLOCK)):
        header = bytearray(data[BLOCK : BLOCK + 24])
        value = struct.unpack_from("<Q", header, field)[0] + wrong
        struct.pack_into("<Q", header, field, value)
        header[:8] = highwayhash64(header[8:]).to_bytes(8, "little")
        damaged = data[:BLOCK] + header + data[BLOCK + 24 :]
        found, code = read(damaged)
        assert (found, code) == (records[: len(found)], "SW0804")
        skipped = list[SkippedRegion]()
        rest = list(RecordReader(io.BytesIO(damaged), recovery=skipped.append))
        assert len(rest) > 150
        assert skipped


def test_positions_without_a_record() -> None:
    data, records, positions = many()
    reader = RecordReader(io.BytesIO(data))
    assert reader.read(positions[77]) == records[77]
    for position in (-1, 0, 63, positions[5] + 9000, len(data) - 1, len(data), 1 << 63):
        with pytest.raises(RiegeliError, match=f"SW0810.*there is no record at position {position}"):
            reader.read(position)
    assert reader.last() == records[-1]


SIZES = b"\1\1"


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (chunk(SIMPLE, b"", 0, 0), "SW0805"),
        (chunk(SIMPLE, b"\0\2" + SIZES + b"ab", 2, 2), None),
        (chunk(SIMPLE, b"\0\0", 0, 0), None),
        (chunk(SIMPLE, b"\0\x82\0" + SIZES + b"ab", 2, 2), None),
        (chunk(SIMPLE, b"\0\2" + SIZES + b"abc", 2, 2), "SW0805"),
        (chunk(SIMPLE, b"\0\2" + SIZES + b"ab", 2, 3), "SW0805"),
        (chunk(SIMPLE, b"\0\2" + SIZES + b"ab", 1, 1), "SW0805"),
        (chunk(SIMPLE, b"\0\2" + SIZES + b"ab", 3, 3), "SW0805"),
        (chunk(SIMPLE, b"\0\x99" + SIZES + b"ab", 2, 2), "SW0805"),
        (chunk(SIMPLE, b"\0\1\xff", 1, 127), "SW0805"),
        (chunk(SIMPLE, b"\0\x0a" + b"\xff" * 9 + b"\x7f", 1, 1), "SW0805"),
        (chunk(SIMPLE, b"q\2" + SIZES + b"ab", 2, 2), "SW0806"),
        (chunk(TRANSPOSED, b"q\0", 2, 2), "SW0806"),
        (chunk(ord("X"), b"future", 0, 7), None),
        (chunk(ord("X"), b"future", 3, 7), "SW0806"),
        (chunk(ord("p"), b"\0", 1, 0), "SW0805"),
        (chunk(ord("p"), b"\0", 0, 1), "SW0805"),
        (chunk(ord("m"), b"\0", 1, 0), "SW0805"),
        (chunk(ord("s"), b"\0", 0, 0), "SW0805"),
        (chunk(ord("s"), b"", 0, 0), None),
    ],
)
def test_chunks_that_say_the_wrong_thing(data: bytes, code: str | None) -> None:
    records, found = read(data)
    assert found == code
    assert not records or records == [b"a", b"b"]


def test_a_wrong_size_before_compression_is_only_a_hint() -> None:
    """C++ accepts it, too."""
    sizes, values = (b"\x09" + zstandard.compress(part) for part in (b"\1", b"x"))
    assert read(chunk(SIMPLE, b"z" + varint(len(sizes)) + sizes + values, 1, 1)) == ([b"x"], None)


@cache
def bombs() -> dict[str, bytes]:
    """Small files that ask for much; not made on import, which every process that runs tests does."""
    zeros = bytes(1 << 20)
    large = 1 << 34
    sizes = {
        "b": varint(5) + brotli.compress(varint(large)),
        "z": varint(5) + zstandard.compress(varint(large)),
        "s": varint(5) + b"\5\x10" + varint(large),
        "\0": varint(large),
    }
    stream = brotli.Compressor(quality=5)
    packed = b"".join(stream.process(zeros) for _ in range(300)) + stream.finish()
    frame = zstandard.ZstdCompressor().compressobj()
    frames = b"".join(frame.compress(zeros) for _ in range(300)) + frame.flush()
    found: dict[str, bytes] = {}
    for name, bomb in {"b": packed, "z": frames, "s": varint(1 << 32 - 1) + b"\xfe\1\0" * 20}.items():
        head = name.encode() + varint(len(sizes[name])) + sizes[name]
        found[f"{name}: an honest size"] = chunk(SIMPLE, head + varint(large) + bomb, 1, large)
        small = {"b": brotli.compress(b"\x20"), "z": zstandard.compress(b"\x20"), "s": b"\1\0\x20"}[name]
        head = name.encode() + varint(len(small) + 1) + b"\1" + small
        found[f"{name}: more than it says"] = chunk(SIMPLE, head + b"\x20" + bomb, 1, 32)
        found[f"{name}: more sizes than records"] = chunk(
            SIMPLE, name.encode() + varint(len(bomb) + 1) + b"\1" + bomb, 1, 5
        )
        found[f"{name}: a transposed header"] = chunk(
            TRANSPOSED, name.encode() + varint(len(bomb) + 1) + b"\1" + bomb, 1, 5
        )
    found["a chunk of 2**60 bytes"] = chunk(SIMPLE, b"\0", 1, 1, data_size=1 << 60)
    found["2**55 records"] = chunk(SIMPLE, b"\0", 1 << 55, 1)
    found["a record of 2**62 bytes"] = chunk(SIMPLE, b"\0\x09" + varint(1 << 62), 1, 1 << 62)
    found["transposed, 2**62 bytes"] = chunk(TRANSPOSED, b"\0\0", 1, 1 << 62)
    states = b"\0\0" + varint(1 << 31)
    found["2**31 states"] = chunk(TRANSPOSED, b"\0" + varint(len(states)) + states, 1, 1)
    buckets = varint(1 << 31) + varint(1 << 31)
    found["2**31 buckets"] = chunk(TRANSPOSED, b"\0" + varint(len(buckets)) + buckets, 1, 1)
    count = 3000
    chain = b"\0\0" + varint(count) + bytes(count)
    chain += b"".join(varint(count + index + 1) for index in range(count - 1)) + b"\0" + b"\0"
    found["states that lead to each other"] = chunk(TRANSPOSED, b"\0" + varint(len(chain)) + chain + bytes(20000), 1, 1)
    return found


BOMBS = [
    *(
        f"{name}: {what}"
        for name in "bzs"
        for what in ("an honest size", "more than it says", "more sizes than records", "a transposed header")
    ),
    "a chunk of 2**60 bytes",
    "2**55 records",
    "a record of 2**62 bytes",
    "transposed, 2**62 bytes",
    "2**31 states",
    "2**31 buckets",
    "states that lead to each other",
]


def test_all_bombs_are_read() -> None:
    assert list(bombs()) == BOMBS


@pytest.mark.parametrize("name", BOMBS)
def test_hostile_files_cost_little(name: str) -> None:
    bomb = bombs()[name]
    read(FILE_SIGNATURE)
    tracemalloc.start()
    start = time.process_time()
    try:
        assert read(bomb)[1] in ("SW0802", "SW0805", "SW0807")
        assert time.process_time() - start < 1
        assert tracemalloc.get_traced_memory()[1] < 64 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", ["simple_uncompressed", "simple_brotli_6", "simple_zstd_3", "simple_snappy",
                                  "transposed_uncompressed", "transposed_brotli_6", "transposed_zstd_3",
                                  "transposed_snappy"])  # fmt: skip
def test_anything_with_right_hashes_is_read_or_refused(name: str) -> None:
    """Changed contents under a hash made anew reach the decoders, which never fail in another way."""
    scanner, begin, draw = ChunkScanner(Source(io.BytesIO(genuine(name)))), 64, random.Random(name)
    for _ in range(12):
        header = scanner.header(begin)
        assert header is not None
        data = bytes(scanner.data(begin, header))
        for _ in range(40):
            changed = bytearray(data)
            for _ in range(draw.randrange(1, 4)):
                changed[draw.randrange(min(len(data), draw.choice((20, 200, 5000))))] = draw.randrange(256)
            read(chunk(header.kind, bytes(changed), header.records, header.decoded_size))
        begin = header.end(begin)
