"""
What a compiled XLA module sends: its collectives and the bytes of each, read from the optimised HLO text.

Bytes are sent per device per run with bandwidth-optimal algorithms, as `layout/planning/cost.py` counts ours.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
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
_HEADER = re.compile(r"^(ENTRY )?%?([\w.-]+) \(.*\{$")
_WHILE = re.compile(r"\bwhile\(.*condition=%?([\w.-]+), body=%?([\w.-]+)")
_TRIPS = re.compile(r'"known_trip_count":\{"n":"(\d+)"\}')
_BRANCHES = re.compile(r"branch_computations=\{([^}]*)\}|true_computation=%?([\w.-]+), false_computation=%?([\w.-]+)")
_CALL = re.compile(r"\bcall\(.*to_apply=%?([\w.-]+)")
_ENTRY = "ENTRY"


@dataclass(frozen=True)
class HloCollective:
    """One collective of a compiled module: its kind, the devices of a group, and the bytes that a device sends."""

    kind: str
    group_size: int
    sent_bytes: Fraction


def collectives(hlo: str, device_count: int, trips: Iterable[int] = ()) -> list[HloCollective]:
    """
    Every collective that a run of an optimised module performs: those in a loop as often as it turns.

    `trips` are the turns of the loops that depend on data and send something, in program order; a loop whose turns
    nobody knows is refused. Of the branches of a condition, the one that sends most counts.

    >>> line = "  %r = f32[8]{0} all-reduce(%x), replica_groups=[2,4]<=[8], to_apply=%add"
    >>> collectives(line, 8)
    [HloCollective(kind='all-reduce', group_size=4, sent_bytes=Fraction(48, 1))]
    """
    return list(_Counting(_computations(hlo), device_count, iter(trips)).run(_ENTRY))


@dataclass(frozen=True)
class _Counting:
    """Follows calls, loops and branches from the entry computation."""

    computations: dict[str, list[str]]
    device_count: int
    trips: Iterator[int]

    def run(self, name: str) -> list[HloCollective]:
        """The collectives of one run of a computation."""
        return [one for line in self.computations.get(name, ()) for one in self._line(line)]

    def _line(self, line: str) -> list[HloCollective]:
        if match := _INSTRUCTION.match(line):
            return [_collective(match, self.device_count)]
        if match := _WHILE.search(line):
            return self._loop(line, self.run(match[1]), self.run(match[2]))
        if match := _BRANCHES.search(line):
            names = re.findall(r"[\w.-]+", match[1] or f"{match[2]} {match[3]}")
            return max(map(self.run, names), key=lambda found: sum(one.sent_bytes for one in found))
        if match := _CALL.search(line):
            return self.run(match[1])
        return []

    def _loop(self, line: str, condition: list[HloCollective], body: list[HloCollective]) -> list[HloCollective]:
        if not condition and not body:
            return []
        known = _TRIPS.search(line)
        count = int(known[1]) if known else next(self.trips, None)
        if count is None:
            raise ValueError("a loop sends something, but its trip count is neither in the HLO text nor given")
        return body * count + condition * (count + 1)


def _computations(hlo: str) -> dict[str, list[str]]:
    """The lines of each computation; lines outside of all belong to the entry."""
    found: dict[str, list[str]] = {_ENTRY: []}
    current = _ENTRY
    for line in hlo.splitlines():
        if header := _HEADER.match(line):
            current = _ENTRY if header[1] else header[2]
        found.setdefault(current, []).append(re.sub(r"/\*index=\d+\*/", "", line))
    return found


def loops(hlo: str) -> int:
    """How many loops a module has at most."""
    return hlo.count("while(")


def summary(found: list[HloCollective]) -> dict[str, dict[str, float]]:
    """
    Count and bytes by kind, in the order of their first.

    >>> summary([HloCollective("all-gather", 2, Fraction(16)), HloCollective("all-gather", 4, Fraction(8))])
    {'all-gather': {'count': 2, 'sent_bytes': 24.0}}
    """
    kinds: dict[str, dict[str, float]] = {}
    for one in found:
        row = kinds.setdefault(one.kind, {"count": 0, "sent_bytes": 0.0})
        row["count"] += 1
        row["sent_bytes"] += float(one.sent_bytes)
    return kinds


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
