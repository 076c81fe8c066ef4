"""Limits that a program must keep: bytes sent, memory held, and no collective that nobody wrote."""

from __future__ import annotations

import re
from contextvars import ContextVar
from dataclasses import dataclass

from shardwright.diagnostics.faults import value_error


@dataclass(frozen=True)
class Limits:
    """
    What a program may send and hold: bytes per device, and bytes that all devices together hold at once.

    `explicit` forbids collectives that nobody wrote: those that lay a finished value out anew because the rule of an op
    needs it so. What the user asks for (a relayout, a constraint, a result's layout, a manual computation) is written,
    and so are the sums over split dims and the exchanges at borders that an op is made of.
    """

    max_bytes: int | None = None
    max_peak: int | None = None
    explicit: bool = False


ACTIVE: ContextVar[tuple[Limits, ...]] = ContextVar("limits", default=())
"""The limits of the blocks around what runs now."""

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
