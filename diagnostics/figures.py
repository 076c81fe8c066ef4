"""How numbers are written for people: every figure of a report is written like this."""

from __future__ import annotations

from fractions import Fraction


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
