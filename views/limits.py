"""Limits that a program must keep: bytes sent, memory held, and no collective that nobody wrote."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass


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
