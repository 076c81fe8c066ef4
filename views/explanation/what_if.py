"""What a program would send and hold if it were written otherwise, side by side with what it does."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from shardwright.compiler.pipelines import ALIGN, IMPORT, LOCALIZE, PLAN, PROPAGATE, run_pipeline
from shardwright.compiler.report import collective_rows
from shardwright.compiler.stages import Backend
from shardwright.diagnostics import Diagnostic, ShardwrightError
from shardwright.diagnostics.figures import exact_bytes, plain_number, readable_seconds
from shardwright.dialects.dtensor import meshes
from shardwright.layout import Mesh
from shardwright.passes.stages import verify_stage
from shardwright.views.explanation.changes import Change, changes
from shardwright.views.explanation.entries import sent_within
from shardwright.views.explanation.places import Place, brief_places
from shardwright.views.explanation.text import written
from shardwright.views.pricing import priced


@dataclass(frozen=True)
class Outcome:
    """
    What one way of writing a program comes to.

    `bytes_per_device` is what each device sends, None where that depends on the data; `peak_bytes` the most that all
    devices together hold at once; `seconds` its price on a mesh of the usual orders of magnitude (`Topology.of`).
    `refused` says why there is no such program.
    """

    label: str
    bytes_per_device: int | float | None = None
    collectives: int = 0
    peak_bytes: int = 0
    seconds: float = 0.0
    refused: str = ""


@dataclass(frozen=True)
class Comparison:
    """The program as it is, and each way that was asked about."""

    outcomes: tuple[Outcome, ...]

    def data(self) -> list[dict[str, Any]]:
        """As JSON has it."""
        return [asdict(outcome) for outcome in self.outcomes]

    def text(self, *, width: int | None = None, colour: bool = False) -> str:
        """A line for each way, with how it differs from the program as it is."""
        from rich import box
        from rich.table import Table

        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        for heading in ("", "bytes per device", "collectives", "held at once", "seconds"):
            table.add_column(heading, justify="right" if heading else "left", overflow="fold")
        first = self.outcomes[0]
        for outcome in self.outcomes:
            table.add_row(outcome.label, *_cells(outcome, first))
        text = io.StringIO()
        written(text, width, colour).print(table)
        lines = [line.rstrip() for line in text.getvalue().splitlines()]
        return "\n".join(line for line in lines if line) + "\n"

    def __str__(self) -> str:
        return self.text()

    __repr__ = __str__


def _cells(outcome: Outcome, first: Outcome) -> tuple[str, ...]:
    if outcome.refused:
        return (outcome.refused,)
    return (
        _figure(outcome.bytes_per_device, first.bytes_per_device),
        f"{outcome.collectives:,}",
        _figure(outcome.peak_bytes, first.peak_bytes),
        readable_seconds(outcome.seconds),
    )


def _figure(value: float | None, before: float | None) -> str:
    """
    A figure, and its difference to that of the program as it is.

    >>> _figure(96, 64), _figure(64, 64), _figure(None, 3)
    ('96 (+32)', '64', 'depends on data')
    """
    if value is None:
        return "depends on data"
    difference = 0 if before is None else value - before
    sign = "+" if difference > 0 else "-"
    return exact_bytes(value) + (f" ({sign}{exact_bytes(abs(difference))})" if difference else "")


def what_if(
    traced: ModuleOp,
    backend: Backend,
    without: Sequence[str] = (),
    layouts: Mapping[str, str] | None = None,
    mesh: Mapping[str, int] | None = None,
    file: str = "",
) -> Comparison:
    """
    A traced program, and what it comes to with each change (`Change`), and with all of them.

    Raises `ShardwrightError` (SW0729) for a change that names what the program does not have.
    """
    _check_kinds(without, layouts, mesh)
    asked = changes([_place(text, file) for text in without], layouts or {}, mesh or {})
    changed = [(brief_places(each.label, file), each.applied(traced)) for each in (Change("as it is"), *asked)]
    return Comparison(tuple(_outcome(label, module, backend) for label, module in changed))


def _check_kinds(without: object, layouts: object, mesh: object) -> None:
    """Refuses what is no list of lines, no dict of texts, and no dict of sizes."""
    faults = {
        f"without is a list of lines, not {without!r}": isinstance(without, str) or not isinstance(without, Sequence),
        f"layouts is a dict, not {layouts!r}": not isinstance(layouts, Mapping | None),
        f"mesh is a dict of the sizes of axes, not {mesh!r}": not isinstance(mesh, Mapping | None),
    }
    for each in without if isinstance(without, Sequence) else ():
        faults[f"{each!r} is no line"] = not isinstance(each, str)
    for name, text in layouts.items() if isinstance(layouts, Mapping) else ():
        faults[f"the layout of {name!r} is no text, but {text!r}"] = not isinstance(text, str)
        faults[f"no argument is called {name!r}"] = not isinstance(name, str)
    fault = next((fault for fault, is_so in faults.items() if is_so), None)
    if fault is not None:
        help_text = "write it as what_if(without=['model.py:18'], layouts={'w': 'data+model,-'}, mesh={'data': 2})"
        raise ShardwrightError(Diagnostic("SW0729", fault, help=help_text))


def _place(text: str, file: str) -> Place:
    place = Place.of(text, file)
    if place is None:
        raise ShardwrightError(
            Diagnostic("SW0729", f"'{text}' is no line", help="write the line's number, or FILE:LINE")
        )
    return place


def _outcome(label: str, module: ModuleOp, backend: Backend) -> Outcome:
    try:
        verify_stage(module, "traced")
        run_pipeline(module, [*IMPORT, *PROPAGATE, *ALIGN, *PLAN])
        rows = collective_rows(module)
        sent = sent_within(rows)
        known = sent.pop("")
        total = None if known is None or any(sent.values()) else plain_number(known)
        mesh = next(iter(meshes(module).values()), Mesh({}))
        run_pipeline(module, LOCALIZE)
        seconds = priced(rows, module, mesh).seconds
        return Outcome(label, total, len(rows), backend(module, ()).peak_bytes, seconds)
    except ShardwrightError as error:
        return Outcome(label, refused="; ".join(f"{item.code}: {item.message}" for item in error.diagnostics[:1]))
