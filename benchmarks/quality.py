"""
How good plans are: bytes, seconds and memory, next to layouts by hand, other partitioners, and the least there is.

All of it is counted from plans; nothing runs, and no clock is read.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from shardwright.benchmarks import files
from shardwright.benchmarks.report import Cell, Report
from shardwright.compiler.layouts.automatic import Goal, chosen, least_sent_by_any
from shardwright.compiler.layouts.memory import memory_of
from shardwright.compiler.layouts.unsharded import strip_layouts
from shardwright.compiler.pipelines import ALIGN, IMPORT, LOCALIZE, PLAN, PROPAGATE, run_pipeline
from shardwright.compiler.report import collective_rows, predicted_bytes
from shardwright.diagnostics import ShardwrightError
from shardwright.dialects.dtensor import meshes
from shardwright.dialects.text.parsing import parse_module
from shardwright.layout.axes import Axis
from shardwright.layout.mesh import Mesh
from shardwright.layout.planning.planner import cost_share
from shardwright.layout.spec import LayoutSpec
from shardwright.passes.program import Axes
from shardwright.views.pricing import priced

DOES_NOT_FIT = "SW0469"
SIZE, F32 = 64, 4
"""Rows and columns of the matrices of a product, and bytes of an element."""


@dataclass(frozen=True)
class Figures:
    """What a plan costs a device: bytes that it sends (infinite where that depends on data) and holds, and seconds."""

    sent: float
    held: int
    seconds: float


def finished(module: ModuleOp) -> Figures:
    """The figures of a program whose layouts are given, as far as they are; it is used up."""
    run_pipeline(module, [*PROPAGATE, *ALIGN, *PLAN])
    sent, rows = predicted_bytes(module), collective_rows(module)
    run_pipeline(module, LOCALIZE)
    (mesh,) = meshes(module).values()
    price = priced(rows, module, mesh)
    return Figures(math.inf if sent is None else float(sent), memory_of(module).peak, price.seconds)


def _read(text: str, name: str) -> tuple[ModuleOp, ModuleOp]:
    """A program, and what it is without its layouts."""
    by_hand = parse_module(text, name)
    run_pipeline(by_hand, IMPORT)
    bare = by_hand.clone()
    strip_layouts(bare, keep_mesh=True)
    return by_hand, bare


def bound(text: str, name: str) -> float | None:
    """What no assignment of axes to named dims sends less than, with all devices at work; None if there is none."""
    return least_sent_by_any(_read(text, name)[1], None)


def both_ways(text: str, name: str, objective: Goal = "bytes") -> tuple[Figures, Figures | None]:
    """With its own layouts, and with layouts chosen for an objective in as much memory, if there are any that fit."""
    by_hand, bare = _read(text, name)
    own = finished(by_hand)
    try:
        return own, finished(chosen(bare, None, own.held, objective))
    except ShardwrightError as error:
        if error.diagnostics[0].code != DOES_NOT_FIT:
            raise
        return own, None


def quality(programs: Sequence[files.ProgramFile], most: int | None = None) -> Report:
    """Programs with their own layouts and with chosen ones, and products of two matrices in all layouts."""
    report = Report("quality", "plans: bytes that a device sends, seconds on machines of the usual kind, bytes held")
    counts: Counter[str] = Counter()
    for file in programs:
        own, automatic = both_ways(file.text, file.name)
        theirs = [(file.meta.get(peer) or {}).get("sent_bytes") for peer in ("xla", "shardy")]
        row: dict[str, Cell] = {"program": file.name, "sent": own.sent, "xla": theirs[0], "shardy": theirs[1]}
        row |= {"us": round(own.seconds * 1e6, 1), "held": own.held, "bound": bound(file.text, file.name)}
        if automatic is not None:
            row |= {"chosen sent": automatic.sent, "chosen us": round(automatic.seconds * 1e6, 1)}
            row |= {"chosen held": automatic.held}
        _, quickest = both_ways(file.text, file.name, "seconds")
        if quickest is not None:
            row |= {"quickest sent": quickest.sent, "quickest us": round(quickest.seconds * 1e6, 1)}
        report.add(row)
        counts["chosen layouts send no more" if automatic and automatic.sent <= own.sent else "chosen send more"] += 1
        counts[
            "quickest take no longer" if quickest and quickest.seconds <= own.seconds else "quickest take longer"
        ] += 1
    report.notes.append(
        "bound: no assignment of axes to named dims sends less with all devices at work; refinement and whole arguments"
        " go beyond such"
    )
    report.notes.append(", ".join(f"{what}: {count}" for what, count in sorted(counts.items())))
    report.parts.append(products(most))
    return report


def products(most: int | None = None) -> Report:
    """A product of two matrices, brought into a layout, from all layouts on two axes: next to the least there is."""
    mesh, layouts = Mesh(x=2, y=2), all_layouts()
    report = Report("products", f"relayout(a @ b) of {SIZE}x{SIZE} matrices, in all layouts of a, b and the result")
    ratios: list[float] = []
    for a, b, c in itertools.islice(itertools.product(layouts, repeat=3), most):
        sent, least = product_bytes(a, b, c), least_bytes(a, b, c, mesh)
        ratios.append(sent / least if least else 1.0 + sent)
    best = sum(ratio <= 1 for ratio in ratios)
    worst = round(max(ratios), 3)
    report.add({"products": len(ratios), "at the least": best, "worst, as a ratio": worst})
    return report


def all_layouts() -> list[tuple[Axes, Axes]]:
    """All layouts of a matrix on the axes x and y: each axis splits rows, columns or nothing, in both orders."""
    found: list[tuple[Axes, Axes]] = []
    for places in itertools.product((0, 1, None), repeat=2):
        split = [tuple(Axis(name) for name, at in zip("xy", places, strict=True) if at == dim) for dim in (0, 1)]
        found += [(rows, columns) for rows in _orders(split[0]) for columns in _orders(split[1])]
    return found


def _orders(axes: Axes) -> Iterator[Axes]:
    return itertools.permutations(axes)


def product_bytes(a: Sequence[Axes], b: Sequence[Axes], c: Sequence[Axes]) -> float:
    """What a device sends for a product of matrices in two layouts, brought into a third."""
    matrix = f"tensor<{SIZE}x{SIZE}xf32"
    left, right, result = (f"{matrix}, #dtensor.layout{LayoutSpec('mesh', tuple(dims))}>" for dims in (a, b, c))
    module = parse_module(
        f"""dtensor.mesh @mesh = <["x"=2, "y"=2]>
func.func public @main(%a: {left}, %b: {right}) -> {result} {{
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : ({left}, {right}) -> {matrix}>
  %1 = dtensor.relayout %0 : {matrix}> -> {result}
  return %1 : {result}
}}""",
        "product.mlir",
    )
    run_pipeline(module, [*IMPORT, *PROPAGATE, *ALIGN, *PLAN])
    sent = predicted_bytes(module)
    assert sent is not None
    return float(sent)


def least_bytes(a: Sequence[Axes], b: Sequence[Axes], c: Sequence[Axes], mesh: Mesh) -> float:
    """
    The least of all ways to make the product in which no device does what another one does.

    Each axis splits rows, columns, or the sum, in some order; operands are brought there, and what comes out is
    finished into the wanted layout.
    """
    least = math.inf
    for places in itertools.product(range(3), repeat=2):
        split = [tuple(Axis(name) for name, at in zip("xy", places, strict=True) if at == dim) for dim in range(3)]
        for rows, columns, summed in itertools.product(*map(_orders, split)):
            made = LayoutSpec("mesh", (rows, columns), partial=summed, kind="sum" if summed else "")
            moves = (
                (LayoutSpec("mesh", tuple(a)), LayoutSpec("mesh", (rows, summed))),
                (LayoutSpec("mesh", tuple(b)), LayoutSpec("mesh", (summed, columns))),
                (made, LayoutSpec("mesh", tuple(c))),
            )
            shares = [cost_share(source, target, (SIZE, SIZE), mesh) for source, target in moves]
            least = min(least, sum(shares) * SIZE * SIZE * F32)
    return least
