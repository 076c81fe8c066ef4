"""What was found out about an installation, one fact each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

State = Literal["ok", "absent", "wrong"]
"""Fit for use; not there, and nobody needs it unless they ask for it; there, and it will fail."""

MARKS: dict[State, str] = {"ok": "ok", "absent": "--", "wrong": "!!"}


@dataclass(frozen=True)
class Finding:
    """What it is about, how it stands, what was seen, and what to do about it."""

    about: str
    state: State
    seen: str
    help: str | None = None


def as_text(findings: Iterable[Finding]) -> str:
    """
    The findings, a line each, and what to do under those that are wrong or absent.

    >>> print(as_text([Finding("python", "ok", "3.11"), Finding("extra ray", "absent", "no ray", "pip install ray")]))
    ok  python               3.11
    --  extra ray            no ray
                             pip install ray
    """
    lines: list[str] = []
    for each in findings:
        lines.append(f"{MARKS[each.state]}  {each.about:<20} {each.seen}")
        if each.help is not None:
            lines.append(f"{'':25}{each.help}")
    return "\n".join(lines)
