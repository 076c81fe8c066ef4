"""An explanation as data, which JSON can hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from fractions import Fraction
from typing import Any

from shardwright.compiler.report import ValueRow
from shardwright.diagnostics.figures import plain_number
from shardwright.views.explanation.entries import Collective, Entry, sent_within


def explanation_data(
    arguments: Sequence[ValueRow], collectives: Sequence[Collective], entries: Sequence[Entry]
) -> dict[str, Any]:
    """The arguments, every collective in program order, entries of alike ones by number, and bytes per device."""
    sent = sent_within(each.row for each in collectives)
    return {
        "arguments": [value_data(value) for value in arguments],
        "collectives": [collective_data(each) for each in collectives],
        "alike": [[each.number for each in entry.alike] for entry in entries],
        "bytes_per_device": _plain(sent.pop("")),
        "bytes_within": {within: _plain(found) for within, found in sent.items()},
    }


def _plain(sent: Fraction | None) -> int | float | None:
    return None if sent is None else plain_number(sent)


def value_data(value: ValueRow) -> dict[str, Any]:
    """A value with its layout and how it came to have it."""
    return asdict(value) | {"source": str(value.source) if value.source else None}


def collective_data(collective: Collective) -> dict[str, Any]:
    """A collective, what it sends, and why."""
    row = collective.row
    return {
        "number": collective.number,
        "op": row.kind,
        "arguments": row.arguments,
        "axes": list(row.axes),
        "tensors": list(row.tensors),
        "bytes_per_device": row.plain_bytes,
        "times": row.repetition.times,
        "within": row.repetition.within or None,
        "backward": row.backward,
        "source": str(row.sources[0]) if row.sources else None,
        "sources": [str(place) for place in row.sources],
        "moved": list(collective.moved),
        "wanted": list(collective.wanted),
        "reasons": [
            {
                "asked_by": reason.asked_by,
                "left_by": reason.left_by or None,
                "rule": reason.rule or None,
                "alternative": reason.alternative or None,
            }
            for reason in row.reasons
        ],
    }
