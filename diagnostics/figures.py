"""How numbers are written for people, and read from them: every figure of a report is written like this."""

from __future__ import annotations

import re
from fractions import Fraction

from shardwright.diagnostics.faults import value_error


def readable_bytes(size: float) -> str:
    """
    A number of bytes for people.

    >>> readable_bytes(1536), readable_bytes(12), readable_bytes(3 * 2**40)
    ('1.5 KiB', '12 bytes', '3.0 TiB')
    """
    if size < 1024:
        return f"{size:.0f} bytes"
    for unit in ("KiB", "MiB", "GiB"):
        size /= 1024
        if size < 1024:
            return f"{size:.1f} {unit}"
    return f"{size / 1024:.1f} TiB"


def readable_seconds(seconds: float) -> str:
    """
    A length of time for people.

    >>> readable_seconds(0), readable_seconds(3.25e-6), readable_seconds(0.0125), readable_seconds(90)
    ('0 s', '3.25 us', '12.5 ms', '90 s')
    """
    for size, unit in ((1, "s"), (1e-3, "ms"), (1e-6, "us")):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns" if seconds else "0 s"


def exact_bytes(size: float) -> str:
    """
    A number of bytes to compare with others.

    >>> exact_bytes(196608), exact_bytes(181.5), exact_bytes(1000 / 3)
    ('196,608', '181.5', '333.33')
    """
    return f"{size:,}" if isinstance(size, int) else f"{size:,.2f}".rstrip("0").rstrip(".")


def plain_number(value: Fraction) -> int | float:
    """A fraction as a plain number: an int where it is whole."""
    return value.numerator if value.denominator == 1 else float(value)


_SIZE = re.compile(r"(?P<number>\d+(?:\.\d+)?)\s*(?P<prefix>[kKMGTP]?)(?P<binary>i?)[bB]?")
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5}


def size_in_bytes(size: int | str) -> int:
    """
    A number of bytes, as people write it: decimal units, or binary ones with an `i`.

    Raises `ValueError` (SW0582) for anything else.

    >>> size_in_bytes("2GB"), size_in_bytes("1.5 MiB"), size_in_bytes("100"), size_in_bytes(7)
    (2000000000, 1572864, 100, 7)
    """
    if isinstance(size, int) and size >= 0:
        return size
    match = _SIZE.fullmatch(size.strip()) if isinstance(size, str) else None
    if match is None or (match["binary"] and not match["prefix"]):
        raise value_error("SW0582", f"{size!r} is no number of bytes", help="write it as 2GB, 512MiB, or 1000000")
    base = 1024 if match["binary"] else 1000
    return int(float(match["number"]) * base ** _POWERS[match["prefix"].lower()])
