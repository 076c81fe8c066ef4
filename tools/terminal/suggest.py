"""Did you mean: the known name closest to a wrong one."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def did_you_mean(word: str, known: Iterable[str]) -> str | None:
    """
    A sentence that proposes the known name closest to `word`; None where nothing is close.

    >>> did_you_mean("canonicalise", ["cse", "canonicalize"])
    "did you mean 'canonicalize'?"
    >>> did_you_mean("zzz", ["cse"]) is None
    True
    """
    close = get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f"did you mean '{close[0]}'?" if close else None


def propose(word: str, known: Iterable[str], otherwise: str) -> str:
    """
    The proposal for `word`, or `otherwise` where no known name is close.

    >>> propose("zzz", ["cse"], "see --list-passes")
    'see --list-passes'
    """
    return did_you_mean(word, known) or otherwise
