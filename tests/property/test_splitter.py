"""Random messages with fields of every kind, random limits: small enough chunks, and the same message again."""

from random import Random

import pytest
from every_field import Every, Old, fill_one, random_message
from reference_merger import merge, shuffled, tensorflow_order

from shardwright.serialization.fields import from_tags
from shardwright.serialization.merging.merger import Merger
from shardwright.serialization.splitting import MessageSplitter, SplitError
from shardwright.serialization.splitting.limits import limits_of
from shardwright.serialization.splitting.plan import measured, plan


def check_paths(kind, chunked) -> None:
    for field in chunked.chunked_fields:
        path = from_tags(kind, field.field_tag)
        inner = path[-1].message_type if path else kind
        if inner is not None:
            check_paths(inner, field.message)


def check(message, max_size, chunk_size=None) -> int:
    before = message.SerializePartialToString(deterministic=True)
    chunks, chunked = MessageSplitter(message, max_size=max_size, chunk_size=chunk_size).split()
    for chunk in chunks:
        assert isinstance(chunk, bytes) or len(chunk.SerializePartialToString()) <= max_size
    merged = merge(chunks, chunked, type(message)())
    assert merged.SerializePartialToString(deterministic=True) == before
    assert message.SerializePartialToString(deterministic=True) == before
    assert (len(chunks) == 1) == (len(before) <= max_size)
    check_paths(message.DESCRIPTOR, chunked)
    tensorflow_order(chunked)
    again = merge(chunks, shuffled(Random(max_size), chunked), type(message)())
    assert again.SerializePartialToString(deterministic=True) == before
    return len(chunks)


@pytest.mark.every(3)
@pytest.mark.parametrize("seed", range(150))
def test_any_message_and_any_limit(seed) -> None:
    random = Random(seed)
    length = random.choice((5, 12, 60))
    message, least = random_message(seed, budget=250, length=length), 30 + 4 * length
    size = len(message.SerializePartialToString())
    for _ in range(3):
        max_size = random.randrange(least, max(least, size) + 5)
        check(message, max_size, random.choice((None, max_size // 2 + 1, max_size // 10 + 25)))


@pytest.mark.parametrize("seed", range(200, 240))
def test_the_merger_puts_files_and_chunks_together(seed, tmp_path) -> None:
    random = Random(seed)
    message = random_message(seed, budget=250, length=12)
    size = len(message.SerializePartialToString())
    max_size = random.randrange(80, max(80, size) + 5)
    chunks, chunked = MessageSplitter(message, max_size=max_size).split()
    Merger.merge(chunks, chunked, merged := type(message)())
    assert merged == message
    path = MessageSplitter(message, max_size=max_size, chunk_size=random.randrange(80, 400)).write(tmp_path / "message")
    assert path.endswith(".pb" if size <= max_size else ".cpb")
    Merger.read(tmp_path / "message", read := type(message)())
    assert read.SerializePartialToString(deterministic=True) == message.SerializePartialToString(deterministic=True)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1000, 1400))
def test_larger_messages(seed) -> None:
    random = Random(seed)
    message = random_message(seed, budget=3000, length=random.choice((12, 400)))
    size = len(message.SerializePartialToString())
    check(message, random.randrange(size // 40 + 1700, size + 1800))


def outcome(message, max_size) -> str:
    """What happens to a message with a limit."""
    try:
        return "split" if check(message, max_size) > 1 else "whole"
    except SplitError as error:
        return error.code if error.path else "no path"


@pytest.mark.every(3)
@pytest.mark.parametrize("seed", range(40))
def test_the_smallest_limits_split_or_refuse_by_name(seed) -> None:
    message = random_message(seed, budget=60, length=5)
    outcomes = [outcome(message, max_size) for max_size in range(1, 30)]
    assert set(outcomes) <= {"split", "whole", "SW0813"}
    assert len(message.SerializePartialToString()) <= 1 or outcomes[0] == "SW0813"


@pytest.mark.parametrize("seed", range(40))
def test_sizes_of_chunks_are_known_before_they_are_made(seed) -> None:
    message = random_message(seed, budget=250)
    limits = limits_of(len(message.SerializePartialToString()) // 4 + 80, None)
    for planned in plan(measured(message, limits), limits):
        part = planned.part
        if hasattr(part, "emit") and not hasattr(part, "content"):
            assert len(b"".join(part.emit())) == part.size <= limits.max_size


def test_every_field_alone() -> None:
    for seed in range(3):
        for kind in (Every, Old):
            for field in kind.DESCRIPTOR.fields:
                random = Random(seed)
                message = kind()
                for _ in range(40):
                    donor = kind()
                    fill_one(random, donor, field, 6, 20, 0.3)
                    message.MergeFrom(donor)
                check(message, 110)
