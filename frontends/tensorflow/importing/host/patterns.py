"""Which regular expressions are searched for: those that cannot take long, and mean in Python what they mean in RE2."""

from __future__ import annotations

import re

_CLASS = r"\[\^?\]?(?:\\[^\WbBAZzpPQEcC0-9]|\\\W|[^\]\\\[])*\]"
_LETTER = r"\\[dDwWsSntrfv]|\\[^\w\s]|[^\\\[\](){}*+?|^$]"
_ATOM = rf"(?:{_CLASS}|{_LETTER})"
_PLAIN = re.compile(rf"{_ATOM}*(?:{_ATOM}[*+])?{_ATOM}*(?:\|{_ATOM}*)*")


def is_plain(pattern: str) -> bool:
    r"""
    Whether a pattern is characters and classes of them, with one repetition at most, and alternatives without.

    A file may hold any pattern, and Python's search for some of them takes exponentially long.

    >>> is_plain(r"[!,\.\]]+"), is_plain("a|b"), is_plain("(a*)*b"), is_plain(r"\bword")
    (True, True, False, False)
    """
    if len(pattern) > 1000 or not pattern or not _PLAIN.fullmatch(pattern):
        return False
    try:
        re.compile(pattern, re.ASCII)
    except re.error:
        return False
    return True
