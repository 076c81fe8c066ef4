"""Random messages through the splitter and back; and anything with right hashes is merged or refused, by name."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest
from chunk_cases import put
from chunk_faults import OPTIONS as SAMPLED, sample
from every_field import random_message
from reference_merger import shuffled

from shardwright.serialization.fields import FieldTagError
from shardwright.serialization.merging import MergeError, Merger, open_message, verify
from shardwright.serialization.merging.reading.chunked_file import ChunkedFile
from shardwright.serialization.protos import chunk_pb2, graph_pb2
from shardwright.serialization.riegeli import RecordWriter
from shardwright.serialization.splitting import splitter_for

OPTIONS = ["uncompressed", "brotli:3", "zstd:3,chunk_size:500", "snappy", "uncompressed,chunk_size:10,padding:100"]


def raw(message: Any) -> bytes:
    return message.SerializePartialToString(deterministic=True)


def there_and_back(seed: int, budget: int, folder: Path) -> None:
    random = Random(seed)
    length = random.choice((5, 30, 200))
    message, least = random_message(seed, budget=budget, length=length), 40 + 4 * length
    size = random.randrange(least, max(least, len(raw(message))) + 5)
    splitter = splitter_for(message, max_size=size, chunk_size=random.choice((None, size // 2 + 20)))
    chunks, chunked = splitter.split()
    for tree in (chunked, shuffled(random, chunked)):
        Merger.merge(chunks, tree, merged := type(message)())
        assert raw(merged) == raw(message)
    path = splitter.write(str(folder / "m"), random.choice(OPTIONS))
    Merger.read(path, read := type(message)())
    assert raw(read) == raw(message)
    with open_message(folder / "m", type(message)) as lazy:
        assert raw(lazy.get()) == raw(message)
    if path.endswith(".cpb"):
        assert len(verify(path, type(message)).chunks) == len(chunks)


@pytest.mark.every(3)
@pytest.mark.parametrize("seed", range(60))
def test_any_message_and_any_limit(tmp_path: Path, seed: int) -> None:
    there_and_back(seed, 150, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2000, 2300))
def test_larger_messages(tmp_path: Path, seed: int) -> None:
    there_and_back(seed, 2000, tmp_path)


def mutated(random: Random, data: bytes) -> bytes:
    """Bytes with a few changes: other values, pieces left out, doubled or moved."""
    out = bytearray(data)
    for _ in range(random.choice((1, 1, 2, 5))):
        begin = random.randrange(len(out) + 1)
        end = min(len(out), begin + random.choice((1, 1, 2, 8, 40)))
        match random.randrange(4):
            case 0:
                out[begin:end] = random.randbytes(end - begin)
            case 1:
                del out[begin:end]
            case 2:
                out[begin:begin] = out[begin:end]
            case _:
                place = random.randrange(len(out) + 1)
                out[place:place] = out[begin:end]
    return bytes(out)


def mutated_file(random: Random, folder: Path, data: bytes) -> str:
    """A file with the same records, one of them or the metadata changed, and every hash and place right."""
    with ChunkedFile(put(folder, data, "old.cpb") + ".cpb") as file:
        records = [bytes(file.view(number)) for number in range(len(file))]
        metadata = chunk_pb2.ChunkMetadata.FromString(bytes(file.metadata))
    which = random.choice((-1, -1, -1, random.randrange(len(records))))
    if which >= 0:
        records[which] = mutated(random, records[which])
    with RecordWriter(folder / "new.cpb", "uncompressed") as writer:
        for info, record in zip(metadata.chunks, records, strict=True):
            info.offset, info.size = writer.write(record), len(record)
        last = metadata.SerializeToString()
        if which < 0:
            last = random.choice((edited, mutated))(random, last)
        writer.write(last)
    return str(folder / "new")


def edited(random: Random, data: bytes) -> bytes:
    """Metadata with numbers, paths and chunks exchanged."""
    metadata = chunk_pb2.ChunkMetadata.FromString(data)
    fields = [field for field in metadata.message.chunked_fields if field.field_tag]
    for _ in range(random.choice((1, 2))):
        tag = random.choice(random.choice(fields).field_tag)
        info = random.choice(metadata.chunks)
        match random.randrange(6):
            case 0:
                tag.field = random.choice((0, 1, 2, 8, 1000, 1 << 28))
            case 1:
                tag.index = random.choice((0, 3, 1 << 20, 1 << 63))
            case 2:
                tag.map_key.s = random.choice(("value", "", "other"))
            case 3:
                random.choice(fields).message.MergeFromString(metadata.message.SerializeToString())
            case 4:
                info.offset, info.size = random.choice(metadata.chunks).offset, random.choice((0, info.size, 1 << 60))
            case _:
                random.choice(fields).message.chunk_index = random.randrange(12)
    return metadata.SerializeToString()


def fuzz(seed: int, folder: Path) -> bool:
    """Whether a changed file is refused, by each reader in the same way."""
    random = Random(seed)
    prefix = mutated_file(random, folder, sample(random.choice(SAMPLED))[0])
    refused = 0
    for read in (lambda: Merger.read(prefix, graph_pb2.GraphDef()), lambda: verify(prefix, graph_pb2.GraphDef)):
        try:
            read()
        except MergeError:
            refused += 1
    try:
        verify(prefix)
        with open_message(prefix, graph_pb2.GraphDef) as lazy:
            lazy.get("node", 5)
            lazy.array("node", 3, "attr", "value", "tensor")
    except (MergeError, FieldTagError):
        pass
    assert refused in (0, 2)
    return bool(refused)


def test_changed_contents_under_right_hashes(tmp_path: Path) -> None:
    refused = sum(fuzz(seed, tmp_path) for seed in range(80))
    assert 30 < refused < 80


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_many_changed_contents(tmp_path: Path, part: int) -> None:
    for seed in range(1000 * part + 1000, 1000 * part + 2000):
        fuzz(seed, tmp_path)
