"""Did you mean: the known name closest to a wrong one."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def propose(word: str, known: Iterable[str], otherwise: str) -> str:
    """
    A sentence that proposes the known name closest to `word`, or `otherwise` where none is close.

    >>> propose("canonicalise", ["cse", "canonicalize"], "see --list-passes")
    "did you mean 'canonicalize'?"
    >>> propose("zzz", ["cse"], "see --list-passes")
    'see --list-passes'
    """
    close = get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f"did you mean '{close[0]}'?" if close else otherwise
