"""Stored things with something wrong in them and every hash above it made anew: what a hostile writer can write."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from shardwright.diagnostics import ShardwrightError
from shardwright.serialization.hashing import highwayhash64
from shardwright.serialization.riegeli.chunks.chunks import ChunkHeader
from shardwright.serialization.riegeli.chunks.scan import FILE_SIGNATURE
from shardwright.serialization.wire import WireFault, read_varint, varint

SECONDS, BYTES = 1.0, 64 << 20
"""What a hostile file of little size may cost (issue 5, acceptance 5)."""

LITTLE = 1 << 20
"""What a file of little size has at most: one of 30 MiB may take three times as much, as any message does."""

HANGS = 5

NUMBERS = (0, 1, 2, 3, 7, 127, 128, 255, 10**6, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**53, 2**62, 2**63 - 1, 2**63,
           2**64 - 1)  # fmt: skip
TEXTS = ("", ".", "..", "../../etc/passwd", "/etc/passwd", "/dev/zero", "a\0b", "A", "x" * 5000, "[" * 3000, "é\u202e",
         "http://localhost/", "%s%n", "\n", "[{\"x\"}, {}]", "float32", "main", "__class__", "class", "1e999", "{}",
         "dense<1> : tensor<9999999999xf32>", "tensor<99999x99999xf32>")  # fmt: skip


class Hang(BaseException):
    """Something that does not come to an end."""


@contextmanager
def bounded(what: str, seconds: float = SECONDS) -> Generator[None]:
    """Fails if what is done inside takes more time or memory than a hostile file may cost."""

    def stop(*_: object) -> None:
        raise Hang(what)

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, HANGS)
    memory, start = _status("VmRSS"), time.process_time()
    _forget_peak()
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    spent, taken = time.process_time() - start, _status("VmHWM") - memory
    assert spent < seconds, f"{what}: {spent:.2f} s"
    assert taken < BYTES, f"{what}: {taken >> 20} MiB"


def _forget_peak() -> None:
    """From now on the peak is counted; without Linux it is not."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return


def _status(name: str) -> int:
    """A line of the process's status, in bytes; 0 without Linux."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return 0
    return next(int(line.split()[1]) for line in lines if line.startswith(name)) << 10


def outcome(read: Callable[[], Any]) -> tuple[str, Any]:
    """The code of the error with which a loader refuses, or an empty text and what it gives; no other exception."""
    try:
        return "", read()
    except ShardwrightError as error:
        return error.diagnostics[0].code, None


def edited(draw: Random, data: bytes) -> bytes:
    """Bytes with a few changes that know nothing of what they mean."""
    out = bytearray(data)
    for _ in range(draw.randrange(1, 4)):
        place = draw.randrange(len(out) + 1)
        what = draw.randrange(6)
        if what == 0 and place < len(out):
            out[place] = draw.randrange(256)
        elif what == 1:
            del out[place : place + draw.choice((1, 2, 8, 100))]
        elif what == 2:
            out[place:place] = varint(draw.choice(NUMBERS))
        elif what == 3:
            out[place : place + 1] = varint(draw.choice(NUMBERS))
        elif what == 4:
            start = draw.randrange(len(out) + 1)
            out[place:place] = out[start : start + draw.choice((1, 4, 50))]
        else:
            out[place : place + 8] = draw.choice(NUMBERS).to_bytes(8, "little")
    return bytes(out)


def wire_fields(data: bytes) -> list[tuple[int, bytes]] | None:
    """The fields of a serialised message: tags and contents, without lengths; None if it is none."""
    found, place = list[tuple[int, bytes]](), 0
    try:
        while place < len(data):
            tag, begin = read_varint(data, place, 32)
            kind = tag & 7
            if kind == 0:
                place = read_varint(data, begin)[1]
            elif kind == 2:
                size, begin = read_varint(data, begin)
                place = begin + size
            elif kind in (1, 5):
                place = begin + (8 if kind == 1 else 4)
            else:
                return None
            if place > len(data) or tag < 8:
                return None
            found.append((tag, data[begin:place]))
    except WireFault:
        return None
    return found


def joined(fields: list[tuple[int, bytes]]) -> bytes:
    """The fields as a message again."""
    return b"".join(varint(tag) + (varint(len(part)) if tag & 7 == 2 else b"") + part for tag, part in fields)


def rewired(draw: Random, data: bytes, depth: int = 0) -> bytes:
    """A serialised message with a change at any level, and right lengths above it."""
    fields = wire_fields(data) if data else None
    if not fields:
        return edited(draw, data)
    at = draw.randrange(len(fields))
    tag, part = fields[at]
    inner = tag & 7 == 2 and depth < 20
    match draw.randrange(10 if not inner else 16):
        case 0:
            del fields[at]
        case 1:
            room = max(LITTLE // max(len(part), 1), 2)
            fields[at : at + 1] = [fields[at]] * min(draw.choice((2, 2, 3, 300)), room)
        case 2:
            other = draw.randrange(len(fields))
            fields[at], fields[other] = fields[other], fields[at]
        case 3:
            fields[at] = (draw.choice((tag ^ 1, tag + 8, tag & ~7 | draw.choice((0, 2)), 8, 0x3FFFFFF8)), part)
        case 4 if tag & 7 == 2:
            packed = joined(fields)
            for _ in range(draw.choice((2, 120))):
                packed = varint(tag) + varint(len(packed)) + packed
            return packed
        case 5:
            return edited(draw, data)
        case 6 if tag & 7 == 2:
            fields[at] = (tag, draw.choice(TEXTS).encode())
        case 7:
            fields.append((draw.choice((8, 10, 16, 18, 26, 0x3FFFFFF8)), varint(draw.choice(NUMBERS))))
        case _ if inner:
            fields[at] = (tag, rewired(draw, part, depth + 1))
        case _:
            fields[at] = (tag, varint(draw.choice(NUMBERS)) if tag & 7 != 1 else bytes(8))
    return joined(fields)


def messages_in(message: Message) -> list[Message]:
    """A message and all messages in it."""
    found, waiting = list[Message](), [message]
    while waiting:
        here = waiting.pop()
        found.append(here)
        for field, value in here.ListFields():
            if field.message_type is not None:
                if field.message_type.GetOptions().map_entry:
                    inner = field.message_type.fields_by_name["value"].message_type
                    waiting.extend(value.values() if inner is not None else ())
                else:
                    waiting.extend(value if field.is_repeated else [value])
    return found


def misled(draw: Random, message: Message) -> None:
    """Change one field of a message, or of any message in it, to something that its type allows."""
    there = messages_in(message)
    here = draw.choice(there)
    field = draw.choice(list(here.DESCRIPTOR.fields) or [None])
    set_fields = [each for each, _ in here.ListFields()]
    if set_fields and draw.randrange(4):
        field = draw.choice(set_fields)
    if field is None:
        return
    if draw.randrange(8) == 0:
        here.ClearField(field.name)
    elif field.message_type is not None:
        _mislead_messages(draw, here, field, there)
    elif field.is_repeated:
        values: Any = getattr(here, field.name)
        value = _value(draw, field, there)
        if values and draw.randrange(3):
            values[draw.randrange(len(values))] = value
        elif values and draw.randrange(3) == 0:
            del values[draw.randrange(len(values))]
        else:
            values.extend([value] * draw.choice((1, 1, 1, 50)))
    else:
        setattr(here, field.name, _value(draw, field, there))


def _mislead_messages(draw: Random, here: Message, field: Any, there: list[Message]) -> None:
    values: Any = getattr(here, field.name)
    same = [each for each in there if each.DESCRIPTOR is field.message_type]
    if field.message_type.GetOptions().map_entry:
        kind = field.message_type.fields_by_name
        keys = [*values, _value(draw, kind["key"], there)]
        key = draw.choice(keys)
        if kind["value"].message_type is None:
            values[key] = _value(draw, kind["value"], there)
        elif key in values and draw.randrange(2):
            del values[key]
        else:
            values[key].SetInParent()
            values[key].MergeFromString(draw.choice([each.SerializePartialToString() for each in values.values()]))
    elif not field.is_repeated:
        values.SetInParent()
        if same:
            values.MergeFrom(type(values).FromString(draw.choice(same).SerializePartialToString()))
    elif values and draw.randrange(3) == 0:
        del values[draw.randrange(len(values))]
    elif values and draw.randrange(2):
        # A copy first: protobuf does not survive that a message is put into itself.
        data = draw.choice(same).SerializePartialToString()
        target = values[draw.randrange(len(values))]
        target.Clear()
        target.MergeFromString(data)
    else:
        copies = type(values[0]).FromString(draw.choice(same).SerializePartialToString()) if values and same else None
        for _ in range(draw.choice((1, 1, 1, 60))):
            values.add().MergeFrom(copies) if copies is not None else values.add()


def _value(draw: Random, field: Any, there: list[Message]) -> Any:
    """A value of a field's kind, often one that stands elsewhere in the message."""
    near = [value for each in there for other, value in each.ListFields()
            if other.type == field.type and not other.is_repeated]  # fmt: skip
    match field.cpp_type:
        case FieldDescriptor.CPPTYPE_STRING:
            text = draw.choice(near) if near and draw.randrange(2) else draw.choice(TEXTS)
            if field.type == FieldDescriptor.TYPE_BYTES:
                raw = text if isinstance(text, bytes) else text.encode()
                return edited(draw, raw) if draw.randrange(2) else raw
            return text
        case FieldDescriptor.CPPTYPE_BOOL:
            return bool(draw.randrange(2))
        case FieldDescriptor.CPPTYPE_ENUM:
            numbers = [value.number for value in field.enum_type.values]
            return draw.choice(numbers if field.enum_type.is_closed else [*numbers, 1000])
        case FieldDescriptor.CPPTYPE_DOUBLE | FieldDescriptor.CPPTYPE_FLOAT:
            return draw.choice((0.0, -0.0, float("nan"), float("inf"), 1e300 if field.type == 1 else 1e30))
        case kind:
            signed = kind in (FieldDescriptor.CPPTYPE_INT32, FieldDescriptor.CPPTYPE_INT64)
            bits = 32 if kind in (FieldDescriptor.CPPTYPE_INT32, FieldDescriptor.CPPTYPE_UINT32) else 64
            value = draw.choice(near) + draw.randrange(-1, 2) if near and draw.randrange(3) else draw.choice(NUMBERS)
            value &= (1 << bits) - 1
            return value - (1 << bits) if signed and value >> bits - 1 else value


def chunk(kind: int, data: bytes, records: int, decoded: int) -> bytes:
    """A riegeli chunk with right hashes."""
    return ChunkHeader(len(data), highwayhash64(data), kind, records, decoded).pack() + data


def riegeli_chunks(file: bytes) -> list[tuple[int, bytes, int, int]]:
    """The chunks behind the signature of a file of less than 64 KiB: kind, data, records, size."""
    found, place = list[tuple[int, bytes, int, int]](), len(FILE_SIGNATURE)
    assert len(file) < 1 << 16
    while place < len(file):
        size, _, kind, decoded = (int.from_bytes(file[place + at : place + at + 8], "little") for at in (8, 16, 24, 32))
        found.append((kind & 0xFF, file[place + 40 : place + 40 + size], kind >> 8, decoded))
        place = max(place + 40 + size, place + (kind >> 8))
    return found


def riegeli_file(chunks: list[tuple[int, bytes, int, int]]) -> bytes:
    """The file of these chunks, as long as it has no second block."""
    out = FILE_SIGNATURE
    for kind, data, records, decoded in chunks:
        end = len(out) + records
        out += chunk(kind, data, records, decoded)
        out = out.ljust(end, b"\0") if records < 1 << 16 else out
    return out
