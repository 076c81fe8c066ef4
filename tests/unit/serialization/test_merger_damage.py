"""A chunked file of 64 KiB with one bit changed, or cut anywhere: never read, whatever was hit."""

from __future__ import annotations

import pytest
from chunk_faults import OPTIONS, SAMPLES

from shardwright.serialization.merging import MergeError, Merger
from shardwright.serialization.protos import graph_pb2

CODES = ("SW0801", "SW0802", "SW0803", "SW0804", "SW0805", "SW0833", "SW0835")


@pytest.mark.parametrize("options", OPTIONS)
def test_the_sample_is_what_it_should_be(options: str) -> None:
    data, expected = SAMPLES[options]
    assert len(data) > 65536
    Merger.read_chunked_from_string(data, merged := graph_pb2.GraphDef())
    assert merged == expected


def check(damaged: bytes) -> None:
    with pytest.raises(MergeError) as caught:
        Merger.read_chunked_from_string(damaged, merged := graph_pb2.GraphDef())
    assert caught.value.code in CODES
    assert merged == graph_pb2.GraphDef()


def flip(options: str, place: int) -> None:
    damaged = bytearray(SAMPLES[options][0])
    damaged[place] ^= 1 << (place * 5 % 8)
    check(bytes(damaged))


def places(options: str) -> list[int]:
    """Those near the front, the end and the block header, and a sample of the rest."""
    size = len(SAMPLES[options][0])
    near = [*range(250), *range(65500, 65600), *range(size - 400, size)]
    return [*near, *range(250, size, 211)]


@pytest.mark.parametrize("options", OPTIONS)
def test_flips(options: str) -> None:
    for place in places(options)[:: 1 if options == "uncompressed" else 3]:
        flip(options, place)


@pytest.mark.parametrize("options", OPTIONS)
def test_cuts(options: str) -> None:
    data = SAMPLES[options][0]
    for size in places(options)[:: 1 if options == "uncompressed" else 3]:
        check(data[:size])


@pytest.mark.slow
@pytest.mark.parametrize("part", range(8))
@pytest.mark.parametrize("options", OPTIONS)
def test_every_flip_and_every_cut(options: str, part: int) -> None:
    data = SAMPLES[options][0]
    for place in range(part, len(data), 8):
        flip(options, place)
        check(data[:place])
