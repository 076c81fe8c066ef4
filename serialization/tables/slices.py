"""
The parts of a tensor that TensorFlow 1 saved in slices, as its partitioned variables are.

Each part is a tensor of its own in the checkpoint's table, under a key of TensorFlow's *ordered code* (which sorts as
what it says does): a zero, the name, the number of dims, and of each dim where the part begins and how long it is.
"""

from __future__ import annotations

from collections.abc import Sequence

from shardwright.serialization.protos import tensor_bundle_pb2

Extent = tensor_bundle_pb2.TensorSliceProto.Extent
Box = tuple[slice, ...]

WHOLE = -1
"""The length of a part that has all of a dim."""


def slice_key(name: str, extents: Sequence[Extent]) -> bytes:
    r"""
    The key of a part.

    >>> slice_key("w", [Extent(start=3, length=2), Extent()])
    b'\x00w\x00\x01\x01\x02\x83\x82\x80\x7f'
    """
    places = [number for one in extents for number in (one.start, _length(one))]
    return _unsigned(0) + _text(name.encode()) + _unsigned(len(extents)) + b"".join(map(_signed, places))


def is_slice_key(key: bytes) -> bool:
    """Whether a key is that of a part: names are texts, and begin with no zero."""
    return key.startswith(b"\0")


def box_of(extents: Sequence[Extent], sizes: Sequence[int]) -> Box | None:
    """
    Where a part lies in a tensor of these sizes; None where it lies outside.

    >>> box_of([Extent(start=3, length=2), Extent()], [7, 4]), box_of([Extent(start=6, length=2)], [7])
    ((slice(3, 5, None), slice(0, 4, None)), None)
    """
    if len(extents) != len(sizes):
        return None
    pairs = zip(extents, sizes, strict=True)
    ends = [(one.start, size if _length(one) == WHOLE else one.start + one.length, size) for one, size in pairs]
    if any(not 0 <= low <= high <= size for low, high, size in ends):
        return None
    return tuple(slice(low, high) for low, high, _ in ends)


def _length(extent: Extent) -> int:
    return extent.length if extent.HasField("length") else WHOLE


def _text(data: bytes) -> bytes:
    """UTF-8 (without 255, which would be written otherwise), and an end that sorts before all bytes."""
    return data.replace(b"\0", b"\0\xff") + b"\0\1"


def _unsigned(number: int) -> bytes:
    """The number of bytes, and these."""
    data = number.to_bytes((number.bit_length() + 7) // 8, "big")
    return bytes([len(data)]) + data


def _signed(number: int) -> bytes:
    """
    As many ones as there are bytes, then the number; where it is negative, all bits are turned round.

    >>> [_signed(number).hex() for number in (0, -1, 63, 64, -65)]
    ['80', '7f', 'bf', 'c040', '3fbf']
    """
    size = (number if number >= 0 else ~number).bit_length() // 7 + 1
    ones = (1 << size) - 1 << 7 * size
    return ((number & (1 << 8 * size) - 1) ^ ones).to_bytes(size, "big")
