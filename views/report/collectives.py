"""The collectives as the page's script reads them: every text once, and lists of their numbers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

from shardwright.views.explanation.entries import Entry
from shardwright.views.explanation.places import brief_places

CHAIN = 12
"""How many steps of a chain are shown; of more, the first ones and the last."""

NUMBERS = 60
"""How many of the numbers of alike collectives are shown."""


def collective_table(entries: Sequence[Entry], file: str) -> dict[str, Any]:
    """
    `texts`, and for each entry `h` (its heading), `f` (facts, each a name and a text), `p` (its places), `n` (numbers).

    All but the numbers are places in `texts`.
    """
    ids: dict[str, int] = {}

    def text(found: str) -> int:
        return ids.setdefault(found, len(ids))

    table = [
        {
            "h": text(f"#{entry.first.number} {brief_places(entry.heading, file)}"),
            "f": [[text(name), text(brief_places(said, file))] for name, said in _facts(entry)],
            "p": [text(place) for place in _places(entry)],
            "n": _numbers(entry),
        }
        for entry in entries
    ]
    return {"texts": list(ids), "entries": table}


def _facts(entry: Entry) -> list[tuple[str, str]]:
    facts: list[tuple[str, str]] = []
    found = list(entry.facts())
    for name in dict.fromkeys(name for name, _ in found):
        said = [each for each in found if each[0] == name]
        if len(said) > CHAIN:
            left = len(said) - CHAIN + 1
            said = [*said[: CHAIN - 2], (name, f"… {left} more steps …"), said[-1]]
        facts += said
    return facts


def _places(entry: Entry) -> list[str]:
    """The lines for which they are there, as the source's table calls them."""
    places = [f"{PurePath(source.file).name}:{source.line}" for each in entry.alike for source in each.row.sources]
    return list(dict.fromkeys(places))


def _numbers(entry: Entry) -> str:
    numbers = [f"#{each.number}" for each in entry.alike]
    more = f" and {len(numbers) - NUMBERS} more" if len(numbers) > NUMBERS else ""
    return " ".join(numbers[:NUMBERS]) + more if len(numbers) > 1 else ""


def script_data(data: Any) -> str:
    """
    Data as JSON that a `<script>` may hold: nothing in it ends the element or starts another.

    >>> script_data("</script><!--")
    '"\\\\u003c/script\\\\u003e\\\\u003c!--"'
    """
    text = json.dumps(data, separators=(",", ":"))
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text
