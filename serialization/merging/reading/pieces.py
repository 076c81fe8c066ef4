"""Large serialised messages in pieces, each of which can be parsed by itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from google.protobuf.message import DecodeError, Message

from shardwright.serialization.wire import DELIMITED, VARINT, WireFault, fields

AnyMessage = TypeVar("AnyMessage", bound=Message)


def runs(data: memoryview, most: int) -> Iterator[tuple[int, memoryview, bool]]:
    """
    The message in pieces that are messages too: fields of one number, one after the other, in up to `most` bytes.

    Each comes with its number, and whether it is a single field that is larger; then it is the field's contents.
    """
    current, start, stop = 0, 0, 0
    for tag, begin, _, contents, end in fields(data):
        number = tag >> 3
        if tag & 7 not in (VARINT, DELIMITED):
            raise WireFault("it has a field of a kind that it cannot have")
        if number != current or end - start > most:
            if stop > start:
                yield current, data[start:stop], False
            current, start = number, begin
        stop = end
        if end - begin > most:
            yield number, data[contents:end], True
            start = end
    if stop > start:
        yield current, data[start:stop], False


def only_contents(data: memoryview) -> memoryview:
    """The contents of the only field that there is."""
    found = [data[contents:end] for _, _, _, contents, end in fields(data)]
    if len(found) != 1:
        raise WireFault("it has a field twice that it can have once")
    return found[0]


def parsed(kind: type[AnyMessage], data: memoryview) -> AnyMessage:
    """A message that has no fields but those of its type."""
    message = kind()
    try:
        message.MergeFromString(bytes(data))
    except DecodeError as error:
        raise WireFault(f"it cannot be parsed ({error})") from None
    size = message.ByteSize()
    message.DiscardUnknownFields()
    if message.ByteSize() != size:
        raise WireFault(f"it has fields that {kind.DESCRIPTOR.name} does not have")
    return message
