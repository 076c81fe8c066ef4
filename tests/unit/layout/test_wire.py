"""Protocol buffers on the wire, against bytes written by hand as their documentation says."""

from __future__ import annotations

import pytest

from shardwright.layout.forms.wire import bytes_field, messages, number_field, numbers, packed_field, read_fields, texts

LARGEST, SMALLEST = (1 << 63) - 1, -(1 << 63)


@pytest.mark.parametrize(
    ("value", "content"),
    [
        (1, b"\x01"),
        (127, b"\x7f"),
        (128, b"\x80\x01"),
        (150, b"\x96\x01"),  # the example of the documentation
        (-1, b"\xff" * 9 + b"\x01"),
        (LARGEST, b"\xff" * 8 + b"\x7f"),
        (SMALLEST, b"\x80" * 9 + b"\x01"),
    ],
)
def test_numbers(value: int, content: bytes) -> None:
    assert number_field(1, value) == b"\x08" + content
    assert packed_field(2, [value, 0]) == bytes([0x12, len(content) + 1]) + content + b"\x00"
    assert numbers(read_fields(b"\x08" + content + b"\x08\x00"), 1) == (value, 0)
    assert numbers(read_fields(packed_field(2, [value, 0])), 2) == (value, 0)


def test_a_number_has_64_bits() -> None:
    # Ten bytes have room for 70: what is above the 64th is cut off, as every reader does.
    assert numbers(read_fields(b"\x08" + b"\xff" * 9 + b"\x7f"), 1) == (-1,)
    with pytest.raises(ValueError, match="inside of a number"):
        read_fields(b"\x08" + b"\x80" * 10 + b"\x01")


def test_texts_and_messages() -> None:
    fields = read_fields(b"\x12\x02ab" + b"\x12\x00")
    assert texts(fields, 2) == ("ab", "")
    assert messages(fields, 2) == (b"ab", b"")
    assert bytes_field(2, "ab") == bytes_field(2, b"ab") == b"\x12\x02ab"
    assert (texts(fields, 3), numbers(fields, 3)) == ((), ())
    with pytest.raises(ValueError, match="field 1 holds numbers"):
        messages(read_fields(b"\x08\x01"), 1)


def test_fields_of_other_kinds_are_passed_over() -> None:
    assert read_fields(b"\x79" + b"12345678" + b"\x7d" + b"1234" + b"\x08\x05") == {15: [b"12345678", b"1234"], 1: [5]}


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"\x0a\x09x", "inside of field 1"),
        (b"\x0a\x02x", "inside of field 1"),
        (b"\x7d123", "inside of field 15"),
        (b"\x02\x00", "inside of field 0"),
        (b"\x0b", "unknown kind 3"),
        (b"\x08\x80", "inside of a number"),
    ],
)
def test_no_message(content: bytes, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        read_fields(content)
