"""Which regular expressions are searched for: those that cannot take long, and that Python can say as RE2 has them."""

from __future__ import annotations

import re

_ESCAPED = r"(?s:\\.)"
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


_SPACES = {r"\s": r" \t\n\f\r", r"\S": r"\S\v"}
"""White space, and all else, in a class: RE2's has no vertical tab."""


def in_python(pattern: str) -> str:
    r"""
    A plain pattern that means in Python what it means in RE2.

    >>> print(in_python(r"[^\s,]+"), in_python(r"a\S"), in_python(r"\\s"))
    [^ \t\n\f\r,]+ a[\S\v] \\s
    """
    return re.sub(rf"{_CLASS}|{_ESCAPED}", _without_vertical_tab, pattern)


def _without_vertical_tab(part: re.Match[str]) -> str:
    """A class, or a letter behind a backslash, in Python."""
    found = re.sub(_ESCAPED, lambda letter: _SPACES.get(letter[0], letter[0]), part[0])
    return f"[{found}]" if part[0] in _SPACES else found
