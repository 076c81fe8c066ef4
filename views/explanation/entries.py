"""The collectives of a program as people look at them: equal ones together, the dearest first."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from shardwright.compiler.report import AnyCollective, CollectiveRow, asker_of, chain
from shardwright.diagnostics.figures import exact_bytes, plain_number

SHOWN = 3
"""How many of what a combined collective moves, and of those who asked for it, are shown unasked."""


@dataclass(frozen=True)
class Collective:
    """One collective of a planned program: its number in program order (from 1), its op, and what it sends."""

    number: int
    op: AnyCollective
    row: CollectiveRow

    @property
    def moved(self) -> tuple[str, ...]:
        """How what it moves came to have its layout."""
        return chain(self.op.operands[0])

    @property
    def wanted(self) -> tuple[str, ...]:
        """How what is made of it came to have its layout; nothing where the program or the user wants it."""
        asker = next((asker_of(self.op, reason.asked_by) for reason in self.row.reasons), None)
        return () if asker is None else chain(asker)


@dataclass(frozen=True)
class Entry:
    """Collectives that are alike but for their place: the same one in each layer."""

    alike: tuple[Collective, ...]

    @property
    def first(self) -> Collective:
        """The first of them in program order."""
        return self.alike[0]

    @property
    def sent(self) -> Fraction | None:
        """What a device sends for all of them, in one run of the loop or branch where they are; None: not known."""
        return sent_by(each.row for each in self.alike)

    @property
    def heading(self) -> str:
        """What they are and what they send, in a line."""
        row = self.first.row
        count = f"{len(self.alike)} times " if len(self.alike) > 1 else ""
        side = ", for gradients" if row.backward else ""
        return f"{count}{row.kind} {', '.join(row.axes)}: {bytes_text(row)}{side}"

    def facts(self, most: int = SHOWN) -> Iterator[tuple[str, str]]:
        """What there is to say about them, each with its name; of lists the first `most`."""
        row = self.first.row
        yield from _listed("moves", row.tensors, most)
        yield from _listed("asked by", [reason.asked_by for reason in row.reasons], most)
        yield from _listed("left partial by", [reason.left_by for reason in row.reasons], most)
        yield from _listed("alike", self._places(), most)
        yield from (("laid out", step) for step in self.first.moved)
        yield from (("wanted", step) for step in self.first.wanted)
        yield from _listed("rule", [reason.rule for reason in row.reasons], most)
        yield from _listed("instead of", [_instead(reason.alternative) for reason in row.reasons], most)

    def _places(self) -> list[str]:
        """Where the others of them are asked for."""
        places = [str(each.row.sources[0]) if each.row.sources else f"#{each.number}" for each in self.alike]
        return [place for place in dict.fromkeys(places) if place != places[0]]


def _instead(alternative: str) -> str:
    return alternative.replace("does not exist", "nothing")


def _listed(name: str, found: Iterable[str], most: int) -> Iterator[tuple[str, str]]:
    distinct = list(dict.fromkeys(filter(None, found)))
    yield from ((name, each) for each in distinct[:most])
    if len(distinct) > most:
        yield name, f"and {len(distinct) - most} more"


def grouped(collectives: Sequence[Collective]) -> list[Entry]:
    """Equal collectives together, the dearest first; those that send nobody knows how much before all others."""
    alike: dict[object, list[Collective]] = {}
    for each in collectives:
        alike.setdefault(_kind(each.row), []).append(each)
    entries = [Entry(tuple(found)) for found in alike.values()]
    return sorted(entries, key=lambda entry: (entry.sent is not None, -(entry.sent or 0), entry.first.number))


def _kind(row: CollectiveRow) -> object:
    """What alike collectives have in common: all but places in the source, and so loops by their names."""
    reasons = [(_unplaced(reason.asked_by), reason.rule, reason.alternative) for reason in row.reasons]
    often = row.repetition.times, row.repetition.parts, _unplaced(row.repetition.within)
    return row.kind, row.arguments, row.tensors, row.bytes_per_device, often, row.backward, tuple(reasons)


def _unplaced(text: str) -> str:
    return re.sub(r" at \S+:\d+:\d+", "", text)


def sent_by(rows: Iterable[CollectiveRow]) -> Fraction | None:
    """What a device sends for collectives, each as often as it runs; None where one of them is not known."""
    total = Fraction()
    for row in rows:
        if row.bytes_per_device is None:
            return None
        total += row.bytes_per_device * row.repetition.times
    return total


def sent_within(rows: Iterable[CollectiveRow]) -> dict[str, Fraction | None]:
    """The bytes of collectives in each part of a loop or a branch whose number of runs is unknown; the rest as ''."""
    parts: dict[str, list[CollectiveRow]] = {"": []}
    for row in rows:
        parts.setdefault(row.repetition.within, []).append(replace(row, repetition=row.repetition.known()))
    return {within: sent_by(found) for within, found in parts.items()}


def bytes_text(row: CollectiveRow) -> str:
    """The bytes of a collective with thousands separated, and how often they are sent."""
    sent = f"{'?' if row.plain_bytes is None else exact_bytes(row.plain_bytes)} bytes per device"
    if not row.plain_bytes:
        return sent
    times = f" x {row.repetition.times:,}" if row.repetition.times != 1 else ""
    return f"{sent}{times} {row.repetition.within}".rstrip()


def total_text(rows: Sequence[CollectiveRow]) -> str:
    """How many collectives there are, and what each device sends in all."""
    still = sum(row.plain_bytes == 0 for row in rows)
    noun = "collective" if len(rows) == 1 else "collectives"
    nothing = f" ({still} of them {'sends' if still == 1 else 'send'} nothing)" if still else ""
    parts = sent_within(rows)
    known = parts.pop("")
    texts = [_part_text(sent, within) for within, sent in parts.items() if sent != 0]
    sent = " + ".join(texts if known == 0 and texts else [_part_text(known, ""), *texts])
    return f"{len(rows)} {noun}{nothing}, {sent} sent per device"


def _part_text(sent: Fraction | None, within: str) -> str:
    figure = "an unknown number of" if sent is None else exact_bytes(plain_number(sent))
    return f"{figure} bytes {within}".rstrip()
