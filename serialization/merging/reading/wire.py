"""Serialised messages, looked at without parsing them: where their fields begin and end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from google.protobuf.message import DecodeError, Message

AnyMessage = TypeVar("AnyMessage", bound=Message)

VARINT, DELIMITED = 0, 2
MOST_VARINT = 10

Field = tuple[int, int, int, int]
"""A field of a serialised message: its number, where it begins, where its contents begin, where it ends."""


class WireFault(ValueError):
    """Bytes that are not a message of the kind expected."""


def number_at(data: memoryview, place: int) -> tuple[int, int]:
    """The varint at a place, and the place after it."""
    value, shift = 0, 0
    while place < len(data) and shift < 7 * MOST_VARINT:
        byte = data[place]
        value |= (byte & 0x7F) << shift
        place, shift = place + 1, shift + 7
        if byte < 0x80:
            return value, place
    raise WireFault("it ends inside a number")


def fields(data: memoryview) -> Iterator[Field]:
    """
    The fields of a message that are varints or have a length; any other kind is a `WireFault`.

    >>> list(fields(memoryview(bytes.fromhex("0801120161"))))
    [(1, 0, 1, 2), (2, 2, 4, 5)]
    """
    place, size = 0, len(data)
    while place < size:
        begin = place
        tag, place = number_at(data, place)
        if tag & 7 == DELIMITED:
            length, place = number_at(data, place)
            if length > size - place:
                raise WireFault("a field is longer than what holds it")
            end = place + length
        elif tag & 7 == VARINT:
            _, end = number_at(data, place)
        else:
            raise WireFault("it has a field of a kind that it cannot have")
        yield tag >> 3, begin, place, end
        place = end


def runs(data: memoryview, most: int) -> Iterator[tuple[int, memoryview, bool]]:
    """
    The message in pieces that are messages too: fields of one number, one after the other, in up to `most` bytes.

    Each comes with its number, and whether it is a single field that is larger; then it is the field's contents.
    """
    current, start, stop = 0, 0, 0
    for number, begin, contents, end in fields(data):
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
    found = list(fields(data))
    if len(found) != 1:
        raise WireFault("it has a field twice that it can have once")
    return data[found[0][2] : found[0][3]]


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
