"""
A chunked file of 64 KiB with one bit changed, or cut anywhere: never read, whatever was hit.

One cut is none: just before the padding at the end. Riegeli pads a file so that others can be put behind it; that
padding is a chunk of its own without records, to which nothing refers. The file without it is whole, and what a writer
without the option `padding` would have written.
"""

from __future__ import annotations

import io
from functools import cache

import pytest
from chunk_faults import OPTIONS, sample

from shardwright.serialization.merging import MergeError, Merger
from shardwright.serialization.protos import graph_pb2
from shardwright.serialization.riegeli import RecordReader
from shardwright.serialization.riegeli.chunks.chunks import PADDING

CODES = ("SW0801", "SW0802", "SW0803", "SW0804", "SW0805", "SW0833", "SW0835")


@pytest.mark.parametrize("options", OPTIONS)
def test_the_sample_is_what_it_should_be(options: str) -> None:
    data, expected = sample(options)
    assert len(data) > 65536
    Merger.read_chunked_from_string(data, merged := graph_pb2.GraphDef())
    assert merged == expected


def check(damaged: bytes) -> None:
    with pytest.raises(MergeError) as caught:
        Merger.read_chunked_from_string(damaged, merged := graph_pb2.GraphDef())
    assert caught.value.code in CODES
    assert merged == graph_pb2.GraphDef()


def flip(options: str, place: int) -> None:
    damaged = bytearray(sample(options)[0])
    damaged[place] ^= 1 << (place * 5 % 8)
    check(bytes(damaged))


def cut(options: str, size: int) -> None:
    data, expected = sample(options)
    if size != unpadded(options):
        check(data[:size])
        return
    Merger.read_chunked_from_string(data[:size], merged := graph_pb2.GraphDef())
    assert merged == expected


@cache
def unpadded(options: str) -> int:
    """Where the padding at the end of a file begins; its size where there is none."""
    data = sample(options)[0]
    *_, (begin, header) = RecordReader(io.BytesIO(data)).chunks()
    return begin if header.kind == PADDING else len(data)


def test_only_one_sample_has_padding_at_its_end() -> None:
    assert [options for options in OPTIONS if unpadded(options) < len(sample(options)[0])] == ["brotli:1,padding:500"]


def places(options: str) -> list[int]:
    """Those near the front, the end and the block header, and a sample of the rest."""
    size = len(sample(options)[0])
    near = [*range(250), *range(65500, 65600), *range(size - 400, size)]
    return [*near, *range(250, size, 211)]


@pytest.mark.parametrize("options", OPTIONS)
def test_flips(options: str) -> None:
    for place in places(options)[:: 1 if options == "uncompressed" else 3]:
        flip(options, place)


@pytest.mark.parametrize("options", OPTIONS)
def test_cuts(options: str) -> None:
    for size in {*places(options)[:: 1 if options == "uncompressed" else 3], unpadded(options)}:
        cut(options, size)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(8))
@pytest.mark.parametrize("options", OPTIONS)
def test_every_flip_and_every_cut(options: str, part: int) -> None:
    for place in range(part, len(sample(options)[0]), 8):
        flip(options, place)
        cut(options, place)
