"""Any records, any options: what was written comes back, by iteration, by position and from the end."""

from __future__ import annotations

import io
from collections.abc import Callable

import pytest
from hypothesis import given, strategies as st
from sampling import examples

from shardwright.serialization.riegeli import RecordReader, RecordWriter, RecordWriterOptions, RiegeliError
from shardwright.serialization.riegeli.chunks.chunks import Records
from shardwright.serialization.riegeli.chunks.simple import decode_simple
from shardwright.serialization.riegeli.transposed.reading import decode_transposed
from shardwright.serialization.wire import WireFault

Decoder = Callable[[memoryview, int, int], Records]

SIZES = st.one_of(st.integers(0, 300), st.sampled_from([4000, 65400, 65472, 65511, 65512, 70000, 140000]))
RECORDS = st.lists(st.tuples(SIZES, st.integers(0, 250)), max_size=20)

COMPRESSIONS = st.one_of(
    st.just(("uncompressed", None, None)),
    st.tuples(st.just("brotli"), st.integers(0, 6), st.one_of(st.none(), st.integers(10, 24))),
    st.tuples(st.just("zstd"), st.integers(-10, 6), st.one_of(st.none(), st.integers(10, 27))),
    st.tuples(st.just("snappy"), st.integers(1, 2), st.none()),
)


@st.composite
def options(draw: st.DrawFn) -> RecordWriterOptions:
    """Options of every kind that is written."""
    compression, level, window_log = draw(COMPRESSIONS)
    return RecordWriterOptions(
        compression,
        level,
        window_log,
        chunk_size=draw(st.one_of(st.none(), st.integers(1, 200000))),
        initial_padding=draw(st.sampled_from([1, 7, 1000, 65536])),
        final_padding=draw(st.sampled_from([1, 7, 1000, 65536])),
        metadata=draw(st.one_of(st.none(), st.binary(max_size=100))),
    )


@examples(60)
@given(RECORDS, options(), st.data())
def test_what_is_written_comes_back(
    shapes: list[tuple[int, int]], how: RecordWriterOptions, data: st.DataObject
) -> None:
    records = [bytes((index * step + step) % 251 for index in range(size)) for size, step in shapes]
    file = io.BytesIO()
    with RecordWriter(file, how) as writer:
        positions = list[int]()
        for record in records:
            positions.append(writer.write(record))
            if data.draw(st.integers(0, 9)) == 0:
                writer.flush()
    reader = RecordReader(file, strict=True)
    assert [(position, bytes(view)) for position, view in reader.items()] == list(zip(positions, records, strict=True))
    assert reader.metadata == how.metadata
    assert reader.last_position == (positions[-1] if positions else None)
    for index in data.draw(st.lists(st.integers(0, len(records) - 1), max_size=5)) if records else []:
        assert reader.read(positions[index]) == records[index]
        fresh = RecordReader(file)
        fresh.seek(positions[index])
        assert list(fresh) == records[index:]


@examples(30)
@given(st.lists(st.integers(0, 2000), min_size=1, max_size=30), options(), st.data())
def test_a_position_has_one_record_or_none(sizes: list[int], how: RecordWriterOptions, data: st.DataObject) -> None:
    file = io.BytesIO()
    with RecordWriter(file, how) as writer:
        positions = {writer.write(bytes(size)): size for size in sizes}
    assert len(positions) == len(sizes)
    place = data.draw(st.integers(0, len(file.getvalue())))
    reader = RecordReader(file)
    if place in positions:
        assert len(reader.read(place)) == positions[place]
    else:
        with pytest.raises(RiegeliError, match="SW0810"):
            reader.read(place)


@examples(300)
@given(st.sampled_from([decode_simple, decode_transposed]), st.binary(max_size=200), st.data())
def test_decoders_fail_only_by_name(
    decode: Callable[[memoryview, int, int], Records], noise: bytes, data: st.DataObject
) -> None:
    kind = data.draw(st.sampled_from(b"\0\0\0bzs"))
    count, size = data.draw(st.integers(0, 5)), data.draw(st.integers(0, 100))
    try:
        records = decode(memoryview(bytes((kind,)) + noise), count, size)
    except WireFault as fault:
        code, records = fault.code, None
    else:
        code = None
    assert code in (None, "SW0805", "SW0806")
    if records is not None:
        assert len(records) == count
        assert sum(len(records.view(index)) for index in range(count)) == size
