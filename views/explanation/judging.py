"""Whether a planned program keeps limits, and which collectives are to blame where it does not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from xdsl.dialects.builtin import ModuleOp

from shardwright.compiler.report import CollectiveRow
from shardwright.compiler.stages import PartitionedSegments
from shardwright.diagnostics import Diagnostic, SourceLocation
from shardwright.diagnostics.figures import exact_bytes, plain_number
from shardwright.views.explanation.entries import Collective, Entry, sent_within
from shardwright.views.explanation.explanation import Explanation
from shardwright.views.explanation.places import brief_places
from shardwright.views.limits import Limits

CULPRITS = 5
"""How many of the dearest collectives a refusal names."""


def is_implicit(row: CollectiveRow) -> bool:
    """Whether nobody wrote a collective that sends something."""
    sends = row.bytes_per_device is None or row.bytes_per_device > 0
    return sends and any(reason.rule and not reason.left_by for reason in row.reasons)


def broken(limits: Limits, planned: ModuleOp, name: str, peak_bytes: Callable[[], int]) -> list[Diagnostic]:
    """What a planned program does that it may not; SW0580 for bytes and memory, SW0581 for what nobody wrote."""
    explanation = Explanation(planned, name)
    found = list(_bytes(limits.max_bytes, explanation)) + list(_peak(limits.max_peak, peak_bytes))
    if limits.explicit:
        found += [_implicit(each, explanation.file) for each in explanation.collectives if is_implicit(each.row)]
    return found


def broken_on_several(limits: Limits, stage: PartitionedSegments, peak_bytes: Callable[[], int]) -> list[Diagnostic]:
    """The same of a program on several meshes: of all that is sent in segments and received in transfers."""
    found = list(_peak(limits.max_peak, peak_bytes))
    for segment in stage.segments:
        found += broken(Limits(explicit=limits.explicit), segment.planned, segment.interface.name, peak_bytes)
    sent = stage.predicted_bytes
    if limits.max_bytes is not None and (sent is None or sent > limits.max_bytes):
        figure = "bytes that depend on data" if sent is None else f"{exact_bytes(plain_number(sent))} bytes"
        message = f"devices send {figure} within meshes and between them, where {limits.max_bytes:,} are allowed"
        found.append(Diagnostic("SW0580", message, help="look at why: stage.explain()"))
    return found


def _bytes(limit: int | None, explanation: Explanation) -> Iterator[Diagnostic]:
    if limit is None:
        return
    sent = sent_within(explanation.rows)
    total = sent.pop("")
    known = total is not None and not any(found is None or found > 0 for found in sent.values())
    if known and total is not None and total <= limit:
        return
    figure = f"{exact_bytes(plain_number(total))} bytes" if known and total is not None else "bytes that depend on data"
    notes = tuple(_line(entry, explanation.file) for entry in explanation.entries[:CULPRITS])
    yield Diagnostic(
        "SW0580",
        f"each device sends {figure}, where {limit:,} are allowed",
        _place(explanation.entries),
        notes,
        "look at why: shardwright explain, or stage.explain()",
    )


def _peak(limit: int | None, peak_bytes: Callable[[], int]) -> Iterator[Diagnostic]:
    if limit is not None and (held := peak_bytes()) > limit:
        yield Diagnostic(
            "SW0580",
            f"all devices together hold {held:,} bytes at once, where {limit:,} are allowed",
            help="split what is large, or compute it again in the backward pass: shardwright.checkpoint",
        )


def _implicit(collective: Collective, file: str) -> Diagnostic:
    reason = next(reason for reason in collective.row.reasons if reason.rule and not reason.left_by)
    return Diagnostic(
        "SW0581",
        f"nobody wrote this: {_line(Entry((collective,)), file)}",
        collective.row.sources[0] if collective.row.sources else None,
        (f"the rule of {brief_places(reason.asked_by, file)} is {reason.rule}",),
        "write the change of layout where it shall happen: shardwright.relayout or with_sharding_constraint",
    )


def _line(entry: Entry, file: str) -> str:
    row = entry.first.row
    asked = f", asked by {row.reasons[0].asked_by}" if row.reasons else ""
    largest, *others = row.tensors
    more = f" and {len(others)} more" if others else ""
    return brief_places(f"#{entry.first.number} {entry.heading} of {largest}{more}{asked}", file)


def _place(entries: Sequence[Entry]) -> SourceLocation | None:
    sources = entries[0].first.row.sources if entries else ()
    return sources[0] if sources else None
