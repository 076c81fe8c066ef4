"""Did you mean: the known name that is spelled nearly like a wrong one, or none."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import takewhile


def nearest(word: str, known: Iterable[str]) -> str | None:
    """
    The known name closest to `word`; None where none is close enough to be a slip of the pen (see `close_names`).

    >>> nearest("canonicalise", ["cse", "canonicalize"]), nearest("cast", ["can_cast", "cos"])
    ('canonicalize', None)
    """
    return next(iter(close_names(word, known)), None)


def close_names(word: str, known: Iterable[str]) -> list[str]:
    """
    The known names that `word` may be a slip of the pen for, the closest first.

    Close is at most one slip (a letter too many, too few, wrong, or two swapped) in four letters or fewer, two in up
    to eight, else three. Letters of either case, `-` and `_` are alike, and what stands before a common last point is
    not compared: of `stablehlo.ad` only `ad` is compared with other names of that dialect. Of equals the first
    one stands first.

    >>> close_names("stablehlo.ad", ["stablehlo.abs", "stablehlo.add", "stablehlo.and", "chlo.sinh"])
    ['stablehlo.add', 'stablehlo.and']
    """
    plain = _plain(word)
    ranked: list[tuple[int, int, int]] = []
    names = list(dict.fromkeys(known))
    for place, name in enumerate(names):
        first, second = _unshared(plain, _plain(name))
        most = _most(max(len(first), 1))
        if abs(len(first) - len(second)) <= most:
            slips = distance(first, second)
            if slips <= most and slips < min(len(first), len(second)):
                common = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False)))
                ranked.append((slips, -common, place))
    return [names[place] for *_, place in sorted(ranked)]


def propose(word: str, known: Iterable[str], otherwise: str) -> str:
    """
    A sentence that proposes the known name closest to `word`, or `otherwise` where none is close.

    >>> propose("canonicalise", ["cse", "canonicalize"], "see --list-passes")
    "did you mean 'canonicalize'?"
    >>> propose("zzz", ["cse"], "see --list-passes")
    'see --list-passes'
    """
    close = nearest(word, known)
    return f"did you mean '{close}'?" if close else otherwise


def also(word: str, known: Iterable[str], otherwise: str) -> str:
    """
    The same, with `otherwise` behind the proposal: what there is besides.

    >>> also("modle", ["batch", "model"], "its axes are batch=4, model=2")
    "did you mean 'model'? its axes are batch=4, model=2"
    """
    close = nearest(word, known)
    return f"did you mean '{close}'? {otherwise}" if close else otherwise


def distance(first: str, second: str) -> int:
    """
    The number of slips between two words: letters added, left out, replaced, or swapped with their neighbours.

    >>> distance("rnu", "run"), distance("ad", "add"), distance("kitten", "sitting")
    (1, 1, 3)
    """
    before: list[int] = []
    row = list(range(len(second) + 1))
    for i, letter in enumerate(first, 1):
        before, above, row = row, before, [i]
        for j, other in enumerate(second, 1):
            best = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != other))
            if i > 1 and j > 1 and letter == second[j - 2] and first[i - 2] == other:
                best = min(best, above[j - 2] + 1)
            row.append(best)
    return row[-1]


def _most(letters: int) -> int:
    return 1 if letters <= 4 else 2 if letters <= 8 else 3


def _plain(name: str) -> str:
    return name.casefold().replace("-", "_").lstrip("%@#_")


def _unshared(first: str, second: str) -> tuple[str, str]:
    """Both without what stands before their last points, where that is the same."""
    home, _, own = first.rpartition(".")
    other_home, _, other = second.rpartition(".")
    return (own, other) if home == other_home else (first, second)
