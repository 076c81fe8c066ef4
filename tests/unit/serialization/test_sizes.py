"""Sizes of messages are those that protobuf writes, for fields of every kind."""

import time

import pytest
from every_field import EXTENSIONS, Every, Old, random_message
from google.protobuf import wrappers_pb2

from shardwright.serialization.errors import SplitError
from shardwright.serialization.protos import graph_pb2
from shardwright.serialization.splitting.sizes import Sized, measure, size_of, varint_size


def size_in_bytes(message) -> int:
    return len(message.SerializePartialToString())


@pytest.mark.parametrize("seed", range(60))
def test_random_messages(seed) -> None:
    message = random_message(seed, budget=300)
    before = message.SerializePartialToString(deterministic=True)
    for details in (0, 7, 100, 1 << 40):
        assert size_of(measure(message, details)) == size_in_bytes(message)
    assert message.SerializePartialToString(deterministic=True) == before


def check_details(sized: Sized) -> None:
    assert sized.size == sum(field.size for field in sized.fields) + sum(map(len, sized.unknown))
    assert sized.size == size_in_bytes(sized.message)
    for field in sized.fields:
        parts = field.parts if isinstance(field.parts, list) else [field.parts]
        for part in parts:
            if isinstance(part, Sized):
                check_details(part)


@pytest.mark.parametrize("seed", range(20))
def test_details_add_up(seed) -> None:
    sized = measure(random_message(seed, budget=300), details=10)
    assert isinstance(sized, Sized)
    check_details(sized)


@pytest.mark.parametrize("value", [0, 1, -1, 127, 128, 2**31 - 1, -(2**31), 2**32 - 1, 2**63 - 1, -(2**63), 2**64 - 1])
def test_numbers_at_their_limits(value) -> None:
    tried = 0
    for field in Every.DESCRIPTOR.fields:
        message = Every()
        try:
            if field.is_repeated:
                getattr(message, field.name).extend([value, value, 1])
            else:
                setattr(message, field.name, value)
        except (ValueError, TypeError, AttributeError, OverflowError):
            continue
        tried += 1
        assert measure(message, 1 << 40) == message.ByteSize()
    assert tried > 8


def test_long_lists_of_numbers() -> None:
    message = Every()
    for name in ("many_sint64", "many_int32", "loose_uint64", "many_double", "many_bool"):
        getattr(message, name).extend([number % 2 for number in range(140_000)])
    message.many_int64.extend([(-1) ** n * 2 ** (n % 63) for n in range(140_000)])
    assert measure(message, 1 << 40) == message.ByteSize()


def test_presence_is_part_of_the_size() -> None:
    message = Every()
    assert measure(message, 0) == 0
    message.one_every.SetInParent()
    message.maybe_int32 = 0
    message.maybe_string = ""
    message.choice_bytes = b""
    message.map_string_every[""].SetInParent()
    assert size_of(measure(message, 0)) == message.ByteSize() > 0


def test_an_extension_and_a_message_without_its_required_fields() -> None:
    message = Old()
    message.Extensions[EXTENSIONS[0]].with_default = "x" * 200
    assert measure(message, 1 << 40) == size_in_bytes(message)


def test_nesting_beyond_what_protobuf_reads() -> None:
    def nested(levels):
        message = inner = graph_pb2.FullTypeDef()
        for _ in range(levels):
            inner = inner.args.add()
        return message

    assert measure(nested(100), 1 << 40) == nested(100).ByteSize()
    graph_pb2.FullTypeDef.FromString(nested(100).SerializeToString())
    for levels in (101, 5000):
        with pytest.raises(SplitError, match="SW0814"):
            measure(nested(levels), 1 << 40)


@pytest.mark.slow
def test_two_gib_are_measured_without_being_serialised() -> None:
    graph = graph_pb2.GraphDef()
    content = bytes(1 << 27)
    for _ in range(18):
        graph.node.add().attr["value"].tensor.tensor_content = content
    one = graph.node[0].ByteSize()
    assert size_of(measure(graph, 1 << 20)) == 18 * (one + 1 + varint_size(one)) > 1 << 31


def test_other_files_messages() -> None:
    message = wrappers_pb2.DoubleValue(value=-0.0)
    assert measure(message, 0x100) == message.ByteSize()


def test_a_hundred_thousand_nodes_take_seconds() -> None:
    graph = graph_pb2.GraphDef()
    for number in range(20_000):
        node = graph.node.add(name=f"node/{number}", op="MatMul", input=[f"a{number}", "b"])
        node.attr["T"].type = 1
        node.attr["shape"].list.shape.add().dim.add(size=128)
    start = time.process_time()
    assert size_of(measure(graph, 1 << 16)) == graph.ByteSize()
    assert time.process_time() - start < 4
