"""What is known of one error code."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Entry:
    """One code: a short title, a paragraph that explains it, and the way out."""

    title: str
    explanation: str
    help: str
