"""Transposed chunks, written: byte for byte those of C++ without compression, and the same records with it."""

from __future__ import annotations

import io
import random
from pathlib import Path

import pytest
from riegeli_cases import GENUINE, genuine, message, number, wide

from shardwright.serialization.riegeli import RecordReader, RecordWriter, RecordWriterOptions
from shardwright.serialization.riegeli.chunks.chunks import METADATA, SIMPLE, TRANSPOSED
from shardwright.serialization.riegeli.chunks.scan import ChunkScanner
from shardwright.serialization.riegeli.streams.source import Source
from shardwright.serialization.riegeli.transposed import engine
from shardwright.serialization.riegeli.transposed.reading import decode_transposed
from shardwright.serialization.riegeli.transposed.writing import encode_transposed
from shardwright.serialization.wire import WireFault


@pytest.fixture(autouse=True, params=["plain", pytest.param("compiled", marks=pytest.mark.slow)])
def engine_of(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """All of it holds for plain Python, and for compiled code from the first byte on."""
    monkeypatch.setattr(engine._Choice, "engine", engine.PLAIN)  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(engine._Choice, "patience", 0 if request.param == "compiled" else 1 << 62)  # pyright: ignore[reportPrivateUsage]
    if request.param == "compiled":
        pytest.importorskip("numba")
    return request.param


def again(data: bytes, count: int, size: int, level: int) -> bytes:
    """A transposed chunk's data, decoded and encoded."""
    records = decode_transposed(memoryview(data), count, size)
    views = [records.view(index) for index in range(count)]
    return b"".join(encode_transposed(map(len, views), views, data[0], level, bucket_size=1 << 20))


def transposed_chunks(file: bytes) -> list[tuple[bytes, int, int]]:
    """Data, number of records and their size of each transposed chunk."""
    scanner, begin, found = ChunkScanner(Source(io.BytesIO(file))), 0, list[tuple[bytes, int, int]]()
    while (header := scanner.header(begin)) is not None:
        if header.kind == TRANSPOSED:
            found.append((bytes(scanner.data(begin, header)), header.records, header.decoded_size))
        begin = header.end(begin)
    return found


@pytest.mark.parametrize("name", [name for name in GENUINE if "transposed" in name])
def test_chunks_of_cpp_are_made_again(name: str) -> None:
    """The codecs are other versions, so that compressed bytes may differ; what is in them may not."""
    chunks = transposed_chunks(genuine(name))
    assert len(chunks) > 20 or "transposed_" not in name
    for data, count, size in chunks:
        made = again(data, count, size, {0: 0, ord("b"): 6, ord("z"): 3, ord("s"): 1}[data[0]])
        if data[0] == 0:
            assert made == data
        else:
            assert abs(len(made) - len(data)) < 8
            records = decode_transposed(memoryview(data), count, size)
            assert decode_transposed(memoryview(made), count, size) == records


def drawn(draw: random.Random, tags: list[int], depth: int) -> bytes:
    """A message of every kind of field, or what only begins like one."""
    out = b""
    for _ in range(draw.choice((1, 3, 10))):
        tag, wire = draw.choice(tags), draw.choice((0, 1, 2, 2, 3, 5))
        inner = drawn(draw, tags, depth - 1) if depth and draw.random() < 0.8 else draw.randbytes(draw.randrange(20))
        if wire == 2:
            out += number(tag << 3 | 2) + number(len(inner)) + inner
        elif wire == 3:
            out += number(tag << 3 | 3) + (inner if depth else b"") + number(tag << 3 | 4)
        else:
            large = draw.getrandbits(draw.randrange(1, 65))
            value = (
                number(draw.choice((draw.randrange(6), large))) if wire == 0 else draw.randbytes(4 + 4 * (wire == 1))
            )
            out += number(tag << 3 | wire) + value
    return out


def records_of(seed: int) -> list[bytes]:
    """Messages and a few other records; few fields or many."""
    draw = random.Random(seed)
    most = draw.choice((8, 200, (1 << 29) - 1))
    tags = [draw.randrange(1, most) for _ in range(draw.choice((2, 5, 30, 300)))]
    depths = draw.choices((0, 1, 2, 4), k=draw.choice((1, 30, 120)))
    return [draw.randbytes(draw.randrange(30)) if draw.random() < 0.1 else drawn(draw, tags, depth) for depth in depths]


OPTIONS = ["uncompressed", "zstd", "snappy", "brotli:1", "zstd:9,bucket_fraction:0", "uncompressed,chunk_size:1k"]


@pytest.mark.parametrize("seed", range(12))
def test_drawn_records_come_back(seed: int) -> None:
    records, file = records_of(seed), io.BytesIO()
    with RecordWriter(file, f"transpose,{OPTIONS[seed % len(OPTIONS)]}") as writer:
        positions = [writer.write(record) for record in records]
    reader = RecordReader(file, strict=True)
    assert list(reader) == records
    assert [reader.read(position) for position in positions] == records
    assert transposed_chunks(file.getvalue())


EDGES = {
    "nothing": b"",
    "a tag of field 0": b"\x00\x01",
    "a tag that is too long": b"\x88\x00\x01",
    "a value that is too long": b"\x08\x81\x00",
    "a length that is too long": b"\x0a\x81\x00x",
    "a value of 10 bytes": b"\x08" + b"\xff" * 9 + b"\x01",
    "a value of 65 bits": b"\x08" + b"\xff" * 9 + b"\x03",
    "a tag of 33 bits": b"\xf8\xff\xff\xff\x1f\x01",
    "a group that does not end": b"\x0b\x08\x01",
    "a group that does not begin": b"\x0c",
    "groups that cross": b"\x0b\x13\x0c\x14",
    "wire types that are none": b"\x0e\x01\x0f\x01",
    "cut in a fixed value": b"\x0d123",
    "cut in a string": b"\x0a\x05abcd",
    "cut in a tag": b"\x08\x01\x88",
    "an empty submessage": b"\x0a\x00",
    "a string that reads like a message": b"\x0a\x02\x08\x05",
    "a large value": b"\x08\x04\x08\x03",
}


@pytest.mark.parametrize("name", EDGES)
@pytest.mark.parametrize("around", [False, True])
def test_what_is_hardly_a_message_comes_back(name: str, around: bool) -> None:
    record = b"\x2a" + number(len(EDGES[name])) + EDGES[name] if around else EDGES[name]
    records = [record, b"\x08\x01", record]
    data = b"".join(encode_transposed(map(len, records), records, 0, 0))
    decoded = decode_transposed(memoryview(data), 3, sum(map(len, records)))
    assert [bytes(decoded.view(index)) for index in range(3)] == records


@pytest.mark.parametrize("depth", [99, 100, 101, 300])
def test_deep_messages_are_strings_from_a_depth_on(depth: int) -> None:
    record = b"\x08\x07"
    for _ in range(depth):
        record = b"\x0a" + number(len(record)) + record
    data = b"".join(encode_transposed([len(record)], [record], 0, 0))
    assert bytes(decode_transposed(memoryview(data), 1, len(record)).view(0)) == record
    assert (b"\x08\x07" in data) == (depth > 100)


def test_transposing_compresses_messages_better() -> None:
    records, sizes = [wide(index, 0) for index in range(1000)], list[int]()
    for options in ("zstd:9", "transpose,zstd:9"):
        file = io.BytesIO()
        with RecordWriter(file, options) as writer:
            for record in records:
                writer.write(record)
        sizes.append(len(file.getvalue()))
    assert sizes[1] < 0.95 * sizes[0]


@pytest.mark.parametrize("options", ["uncompressed", "transpose,uncompressed"])
def test_metadata_are_one_transposed_record(options: str) -> None:
    text = b"\x12\x07example\x18\x96\x01"
    file, other = io.BytesIO(), io.BytesIO()
    with RecordWriter(file, RecordWriterOptions.parse(options, metadata=text)):
        pass
    with RecordWriter(other, RecordWriterOptions("uncompressed", transpose=True)) as writer:
        writer.write(text)
    scanners = [ChunkScanner(Source(each)) for each in (file, other)]
    headers = [scanner.header(64) for scanner in scanners]
    assert headers[0] is not None
    assert headers[1] is not None
    assert [header.kind for header in headers if header] == [METADATA, TRANSPOSED]
    assert (headers[0].records, headers[0].decoded_size, headers[0].data_hash) == (0, len(text), headers[1].data_hash)


def test_zeros_that_expand_too_much_go_into_a_simple_chunk() -> None:
    file = io.BytesIO()
    with RecordWriter(file, "transpose,zstd") as writer:
        writer.write(bytes(40 << 20))
        writer.write(message(2))
    assert list(RecordReader(file)) == [bytes(40 << 20), message(2)]
    scanner = ChunkScanner(Source(file))
    header = scanner.header(64)
    assert header is not None
    assert header.kind == SIMPLE
    assert len(transposed_chunks(file.getvalue())) == 1


def test_compiled_code_takes_over_once_it_pays(engine_of: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if engine_of == "compiled":
        monkeypatch.setattr(engine._Choice, "patience", 1000)  # pyright: ignore[reportPrivateUsage]
        assert engine.engine_for(1000) is engine.PLAIN
        assert engine.engine_for(1) is not engine.PLAIN
    else:
        assert engine.engine_for(1 << 40) is engine.PLAIN


def said(data: bytes, count: int, size: int) -> object:
    """The records of a chunk's data, or what is wrong with it."""
    try:
        found = decode_transposed(memoryview(data), count, size)
    except WireFault as fault:
        return fault.code, fault.message
    return bytes(found.values), list(found.ends)


@pytest.mark.slow
@pytest.mark.parametrize("engine_of", ["compiled"], indirect=True)
@pytest.mark.parametrize("seed", range(6))
def test_damaged_chunks_are_the_same_to_compiled_code(
    seed: int, engine_of: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert engine_of == "compiled"
    draw, records = random.Random(seed), records_of(seed)
    data, size = b"".join(encode_transposed(map(len, records), records, 0, 0)), sum(map(len, records))
    cases: list[tuple[bytes, int, int]] = []
    for _ in range(60):
        damaged = bytearray(data)
        for _ in range(draw.choice((1, 1, 3))):
            damaged[draw.randrange(len(damaged))] = draw.choice((0, 1, 255, draw.randrange(256)))
        count, most = len(records) + draw.choice((0, 0, 1, -1)), size + draw.choice((0, 0, 5, -1))
        cases.append((bytes(damaged[: draw.choice((len(damaged), draw.randrange(len(damaged))))]), count, max(most, 0)))
    found = [said(*case) for case in cases]
    monkeypatch.setattr(engine._Choice, "engine", engine.PLAIN)  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(engine._Choice, "patience", 1 << 62)  # pyright: ignore[reportPrivateUsage]
    assert found == [said(*case) for case in cases]


@pytest.mark.peers
def test_cpp_reads_what_we_wrote_and_writes_the_same(tmp_path: Path) -> None:
    """ArrayRecord's reader over our chunks, each in the place of its own; and its uncompressed chunks are ours."""
    module = pytest.importorskip("array_record.python.array_record_module")
    from data.riegeli.generate import write  # pyright: ignore[reportMissingImports]

    for seed in range(40):
        records = records_of(1000 + seed)
        for data, count, size in transposed_chunks(write(f"group_size:{len(records)},transpose,uncompressed", records)):
            assert again(data, count, size, 0) == data
        file = write(f"group_size:7,transpose,{OPTIONS[seed % 4]}", records)
        path = tmp_path / f"{seed}.array_record"
        path.write_bytes(_with_our_chunks(file))
        reader = module.ArrayRecordReader(str(path))
        assert reader.read_all() == records


def _with_our_chunks(file: bytes) -> bytes:
    """ArrayRecord's file with its transposed chunks encoded by us; only those that keep their size stay in place."""
    scanner, begin, out = ChunkScanner(Source(io.BytesIO(file))), 0, io.BytesIO()
    with RecordWriter(out, "uncompressed") as writer:
        while (header := scanner.header(begin)) is not None:
            data = bytes(scanner.data(begin, header))
            if header.kind == TRANSPOSED:
                made = again(data, header.records, header.decoded_size, {0: 0, 98: 6, 122: 3, 115: 1}[data[0]])
                data = made if len(made) == len(data) else data
            if begin:
                writer._chunk(header.kind, [data], header.records, header.decoded_size)  # pyright: ignore[reportPrivateUsage]
            begin = header.end(begin)
    return out.getvalue()
