"""Random messages with fields of every kind, random limits, and TensorFlow's merger as a model of it."""

from random import Random

import pytest
from every_field import random_message
from google.protobuf.descriptor import FieldDescriptor as F
from tensorflow_merger import Abort, read

from shardwright.serialization.splitting import MessageSplitter

INT32 = range(-(1 << 31), 1 << 31)
FRAMING = 30
"""More than the tags, lengths and keys around a message here."""


def out_of_reach(message, max_size) -> bool:
    """Whether something is too large for its chunk that TensorFlow finds no way to: see docs/serialization.md."""
    for field, value in message.ListFields():
        kind = field.message_type
        entries = kind is not None and kind.GetOptions().map_entry
        if entries and kind.fields_by_number[2].message_type is None:
            continue
        if kind is None:
            too_large = field.is_extension and not field.is_repeated and field.type == F.TYPE_BYTES
            if too_large and len(value) + FRAMING > max_size:
                return True
            continue
        wide = entries and kind.fields_by_number[1].cpp_type != F.CPPTYPE_UINT32
        for key in value if field.is_repeated else [None]:
            each = value[key] if entries else value if key is None else key
            named = not field.is_extension and not (wide and isinstance(key, int) and key not in INT32)
            required = any(each_field.is_required for each_field in each.DESCRIPTOR.fields)
            if not named and each.ByteSize() + FRAMING > max_size:
                return True
            if required and _required_size(each) + FRAMING > max_size:
                return True
            if out_of_reach(each, max_size):
                return True
    return False


def _required_size(message) -> int:
    """Bytes of the required fields of a message, about."""
    return len(message.must_bytes) + 15 if message.DESCRIPTOR.name == "Old" else 0


def check(seed, budget) -> str:
    """How a message fared."""
    random = Random(seed)
    length = random.choice((5, 12, 60))
    message = random_message(seed, budget=budget, length=length)
    least, size = 30 + 4 * length, len(message.SerializePartialToString())
    max_size = random.randrange(least, max(least, size) + 5)
    chunk_size = random.choice((None, max_size // 2 + 1, max_size // 10 + 25))
    chunks, chunked = MessageSplitter(message, max_size=max_size, chunk_size=chunk_size).split()
    records = [chunk if isinstance(chunk, bytes) else chunk.SerializePartialToString() for chunk in chunks]
    try:
        merged = read(records, chunked, type(message)(), Random(seed))
    except Abort:
        assert out_of_reach(message, max_size)
        return "aborts"
    if merged.SerializePartialToString(deterministic=True) != message.SerializePartialToString(deterministic=True):
        assert out_of_reach(message, max_size)
        return "wrong"
    return "split" if len(chunks) > 1 else "whole"


@pytest.mark.parametrize("start", range(0, 240, 60))
def test_any_message_and_any_limit(start) -> None:
    fared = [check(seed, 200) for seed in range(start, start + 60)]
    assert fared.count("split") > 20


@pytest.mark.slow
@pytest.mark.parametrize("start", range(1000, 2500, 100))
def test_many_messages(start) -> None:
    fared = [check(seed, 400) for seed in range(start, start + 100)]
    assert fared.count("split") > 40
