"""
What a compiled XLA module sends: its collectives and the bytes of each, read from the optimised HLO text.

Bytes are sent per device per run with bandwidth-optimal algorithms, as `layout/cost.py` counts ours.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

ELEMENT_BYTES = {
    "pred": 1, "s8": 1, "u8": 1, "s16": 2, "u16": 2, "f16": 2, "bf16": 2, "s32": 4, "u32": 4, "f32": 4,
    "s64": 8, "u64": 8, "f64": 8, "c64": 8, "c128": 16,
}  # fmt: skip

_INSTRUCTION = re.compile(
    r"^\s*(?:ROOT )?%?[\w.-]+ = (?P<type>\([^=]*?\)|\S+) "
    r"(?P<kind>all-reduce|all-gather|reduce-scatter|all-to-all|collective-permute)(?:-start)?\((?P<rest>.*)$"
)
_BUFFER = re.compile(r"([a-z]+\d*)\[([\d,]*)\]")
_LISTED_GROUPS = re.compile(r"replica_groups=\{\{([\d,]*)\}")
_IOTA_GROUPS = re.compile(r"replica_groups=\[\d+,(\d+)\]<=")
_MESH_GROUPS = re.compile(r"replica_groups=mesh\[([^\]]*)\](?:, device_ids=\([^)]*\)[^{]*)? \{([^}]*)\}")
_PAIRS = re.compile(r"source_target_pairs=\{(.*?)\}\}")


@dataclass(frozen=True)
class HloCollective:
    """One collective of a compiled module: its kind, the devices of a group, and the bytes that a device sends."""

    kind: str
    group_size: int
    sent_bytes: Fraction


def collectives(hlo: str, device_count: int) -> list[HloCollective]:
    """
    Read every collective of an optimised module; one inside a loop is refused, since trip counts are not read.

    >>> line = "  %r = f32[8]{0} all-reduce(%x), replica_groups=[2,4]<=[8], to_apply=%add"
    >>> collectives(line, 8)
    [HloCollective(kind='all-reduce', group_size=4, sent_bytes=Fraction(48, 1))]
    """
    found = [_collective(match, device_count) for match in _matches(hlo)]
    if found and re.search(r"\bwhile\(", hlo):
        raise ValueError("a module with both loops and collectives: trip counts are not read from HLO text")
    return found


def summary(found: list[HloCollective]) -> dict[str, dict[str, float]]:
    """
    Count and bytes by kind, as `meta.json` of a program has them.

    >>> summary([HloCollective("all-gather", 2, Fraction(16)), HloCollective("all-gather", 4, Fraction(8))])
    {'all-gather': {'count': 2, 'sent_bytes': 24.0}}
    """
    kinds: dict[str, dict[str, float]] = {}
    for one in found:
        row = kinds.setdefault(one.kind, {"count": 0, "sent_bytes": 0.0})
        row["count"] += 1
        row["sent_bytes"] += float(one.sent_bytes)
    return kinds


def _matches(hlo: str) -> Iterator[re.Match[str]]:
    for line in hlo.splitlines():
        match = _INSTRUCTION.match(re.sub(r"/\*index=\d+\*/", "", line))
        if match:
            yield match


def _collective(match: re.Match[str], device_count: int) -> HloCollective:
    kind, rest = match["kind"], match["rest"]
    size = _buffer_bytes(match["type"])
    if kind == "collective-permute":
        return HloCollective(kind, 2, size * _moving_share(rest, device_count))
    group = _group_size(rest, device_count)
    share = Fraction(group - 1, group)
    factor = {"all-reduce": 2 * share, "reduce-scatter": share * group}.get(kind, share)
    return HloCollective(kind, group, size * factor)


def _buffer_bytes(type_text: str) -> int:
    return sum(
        ELEMENT_BYTES[element] * math.prod(int(size) for size in dims.split(",") if size)
        for element, dims in _BUFFER.findall(type_text)
    )


def _moving_share(rest: str, device_count: int) -> Fraction:
    pairs = re.findall(r"(\d+),(\d+)", _required(_PAIRS, rest)[1])
    return Fraction(sum(source != target for source, target in pairs), device_count)


def _group_size(rest: str, device_count: int) -> int:
    if "replica_groups={}" in rest:
        return device_count
    if listed := _LISTED_GROUPS.search(rest):
        return len(listed[1].split(","))
    if iota := _IOTA_GROUPS.search(rest):
        return int(iota[1])
    sizes_text, used = _required(_MESH_GROUPS, rest).groups()
    sizes = {name: int(size) for name, size in re.findall(r"'([^']+)'=(\d+)", sizes_text)}
    return math.prod(_axis_size(sizes, axis) for axis in used.split(","))


def _axis_size(sizes: dict[str, int], axis: str) -> int:
    """The size of `'axis_0'`, or of the part of it that `'axis_0':(1)2` names."""
    name, _, part = axis.strip().partition(":")
    return int(part.rpartition(")")[2]) if part else sizes[name.strip("'")]


def _required(pattern: re.Pattern[str], text: str) -> re.Match[str]:
    match = pattern.search(text)
    if match is None:
        raise ValueError(f"the groups of a collective are in a form not known here: {text[:300]}")
    return match
