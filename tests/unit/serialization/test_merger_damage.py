"""A chunked file of 64 KiB with one bit changed, or cut anywhere: never read, whatever was hit."""

from __future__ import annotations

import random
from typing import Any

import pytest
from chunk_cases import chunked_file, constant, tree

from shardwright.serialization.merging import MergeError, Merger
from shardwright.serialization.protos import graph_pb2

CODES = ("SW0801", "SW0802", "SW0803", "SW0804", "SW0805", "SW0833", "SW0835")


def sample(options: str) -> tuple[bytes, Any]:
    """A file of a bit more than 64 KiB: a graph, two runs of nodes, and the contents of constants."""
    draw = random.Random(7)
    sizes = [20000, 300, 0, 21000, 9, 21000, 4000]
    contents = [draw.randbytes(size) for size in sizes]
    nodes = [constant(f"node {number}") for number in range(7)]
    runs = [graph_pb2.GraphDef(node=nodes[:3]), graph_pb2.GraphDef(node=nodes[3:5]), graph_pb2.GraphDef(node=nodes[5:])]
    runs[0].versions.producer = 12
    fields: list[Any] = [((1, [number], 5, {"s": "value"}, 8, 4), number + 3) for number in range(7)]
    message = tree(0, ((), 1), ((), 2), *fields)
    data = chunked_file([*runs, *contents], message, options=options)
    expected = graph_pb2.GraphDef(node=nodes, versions=runs[0].versions)
    for node, content in zip(expected.node, contents, strict=True):
        node.attr["value"].tensor.tensor_content = content
    return data, expected


OPTIONS = ["uncompressed", "brotli:1,padding:500", "zstd:1,chunk_size:1"]
SAMPLES = {options: sample(options) for options in OPTIONS}


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
