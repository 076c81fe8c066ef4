"""The page itself: what there is to say about a program, put into the template."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from shardwright.compiler.layouts.memory import memory_of
from shardwright.compiler.report import CollectiveRow, value_name
from shardwright.compiler.stages import Compiled, Partitioned
from shardwright.diagnostics import ShardwrightError
from shardwright.diagnostics.figures import exact_bytes, plain_number, readable_bytes, readable_seconds
from shardwright.dialects.dtensor import layout_of, meshes
from shardwright.dialects.text.locations import source_locations
from shardwright.dialects.types import element_of, shape_of
from shardwright.layout.pictures.picture import Picture, picture
from shardwright.passes.program import entry_function
from shardwright.views.explanation.entries import sent_by, sent_within, total_text
from shardwright.views.explanation.explanation import Explanation
from shardwright.views.pricing import Price, price_of
from shardwright.views.report.changes import pass_changes
from shardwright.views.report.collectives import collective_table, script_data
from shardwright.views.report.memory import HEIGHT, WIDTH, points
from shardwright.views.report.program import Node, OpLine, cut, program_nodes
from shardwright.views.report.source import source_files

HERE = Path(__file__).parent

PICTURES = 24
"""How many layouts are drawn at most."""


@dataclass(frozen=True)
class Figures:
    """What is sent by one kind of collective over the same axes, as predicted and as the last run counted it."""

    label: str
    predicted: str
    measured: str
    share: float


@dataclass(frozen=True)
class Drawn:
    """A picture, and the arguments and results that are laid out so."""

    names: str
    picture: Picture


def report_page(stage: Partitioned, compiled: Compiled | None = None, texts: Mapping[str, str] | None = None) -> str:
    """
    One page of HTML about a program, which needs no network.

    `compiled` is the program that ran, if it did: what it sent stands beside what was predicted. `texts` are sources
    that are known already, by the names of their files.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    explanation = Explanation(stage.planned, stage.interface.name)
    nodes, operations = program_nodes(stage.planned)
    kept, listed = cut(nodes)
    pictures = _pictures(stage.planned)
    script = (HERE / "page.js").read_text("utf-8")
    environment = Environment(
        loader=FileSystemLoader(HERE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["bytes"] = readable_bytes
    environment.filters["seconds"] = readable_seconds
    price, memory = price_of(stage), memory_of(stage.module)
    return environment.get_template("page.html").render(
        stage=stage,
        total=total_text(explanation.rows),
        sent=_total(explanation.rows),
        measured=_measured(compiled),
        peak=None if compiled is None else compiled.peak_bytes,
        files=source_files(explanation.rows, texts or {}, _seconds_by_line(price)),
        price=price,
        nodes=kept,
        operations=operations,
        cut_off=listed < _count(nodes),
        is_op=_is_op,
        pictures=pictures[:PICTURES],
        more_pictures=max(len(pictures) - PICTURES, 0),
        data=script_data(collective_table(explanation.entries, explanation.file)),
        memory=memory,
        memory_line=points(memory),
        chart=(WIDTH, HEIGHT),
        figures=_figures(explanation.rows, compiled),
        changes=pass_changes(stage.traced.module),
        style=(HERE / "page.css").read_text("utf-8"),
        script=script,
        digest=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    )


def _seconds_by_line(price: Price) -> dict[tuple[str, int], float]:
    """What the ops that a line asked for take together."""
    found: dict[tuple[str, int], float] = {}
    for work in price.works:
        for place in source_locations(work.op.location)[:1]:
            found[place.file, place.line] = found.get((place.file, place.line), 0.0) + work.seconds
    return found


def _is_op(node: object) -> bool:
    return isinstance(node, OpLine)


def _count(nodes: Sequence[Node]) -> int:
    """How many operations are listed."""
    return sum(1 if isinstance(node, OpLine) else _count(node.inner) for node in nodes)


def _total(rows: Sequence[CollectiveRow]) -> str:
    """What each device sends in all, as far as the program's text says it."""
    parts = sent_within(rows)
    known = parts.pop("")
    if known is None:
        return "not known"
    more = " and more in loops or branches" if any(sent != 0 for sent in parts.values()) else ""
    return exact_bytes(plain_number(known)) + more


def _measured(compiled: Compiled | None) -> str:
    """What the last run sent; a run that sends nothing and none look alike."""
    ledger = _ledger(compiled)
    return "no run was counted" if ledger is None else exact_bytes(ledger["sent_bytes"])


def _ledger(compiled: Compiled | None) -> dict[str, Any] | None:
    """The figures of the last run, where one sent something and somebody counted."""
    if compiled is None:
        return None
    try:
        ledger = compiled.ledger
    except ShardwrightError:  # who runs the program does not count
        return None
    return ledger.as_dict() if ledger.messages else None


def _figures(rows: Sequence[CollectiveRow], compiled: Compiled | None) -> list[Figures]:
    """What is sent by kind and axes, the most first."""
    groups: dict[tuple[str, tuple[str, ...]], list[CollectiveRow]] = {}
    for row in rows:
        groups.setdefault((row.kind, row.axes), []).append(row)
    ledger = _ledger(compiled)
    counted = (
        {} if ledger is None else {(each["kind"], tuple(sorted(each["axes"]))): each for each in ledger["collectives"]}
    )
    found = {key: sent_by(group) for key, group in groups.items()}
    dearest = max((sent for sent in found.values() if sent), default=Fraction(1))
    shown: list[Figures] = []
    for (kind, axes), sent in sorted(found.items(), key=lambda item: -(item[1] or 0)):
        known = "not known" if sent is None else exact_bytes(plain_number(sent))
        if any(row.repetition.within for row in groups[kind, axes]):
            known += " in each round or branch"
        ran = counted.get((kind, tuple(sorted(axes))))
        label = f"{kind} over {', '.join(axes)}" if axes else kind
        shown.append(
            Figures(label, known, "" if ran is None else exact_bytes(ran["sent_bytes"]), float((sent or 0) / dearest))
        )
    return shown


def _pictures(planned: ModuleOp) -> list[Drawn]:
    """The layouts of arguments and results, each once, with the names of those that have it."""
    function = entry_function(planned)
    known = meshes(planned)
    returned = function.get_return_op()
    results = [] if returned is None else list(returned.operands)
    values = [(value_name(value), value) for value in function.args]
    values += [(f"result {number}", value) for number, value in enumerate(results)]
    names: dict[Picture, list[str]] = {}
    for name, value in values:
        found = _picture(value, known)
        if found is not None:
            names.setdefault(found, []).append(name)
    return [Drawn(_listed(found), drawn) for drawn, found in names.items()]


def _picture(value: SSAValue, known: Mapping[str, Any]) -> Picture | None:
    spec = layout_of(value)
    if spec is None or spec.mesh not in known:
        return None
    return picture(spec, known[spec.mesh].sizes, shape_of(value), str(element_of(value)))


def _listed(names: Sequence[str], most: int = 6) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
