"""What would help where no layouts fit: found by doing it, so that its figures are those of what then runs."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import BlockArgument, SSAValue

from shardwright.compiler.layouts.trials import Tried
from shardwright.compiler.report import value_name
from shardwright.diagnostics import ShardwrightError
from shardwright.diagnostics.figures import exact_bytes, plain_number
from shardwright.dialects.building import returned
from shardwright.dialects.text.locations import fault
from shardwright.layout import Mesh
from shardwright.passes.collectives.holding import bytes_of
from shardwright.passes.program import entry_function

__all__ = ["Offer", "check_borders", "least_held", "nothing_fits"]

PLACES = 3
"""So many lines are named whose values would be computed again."""


@dataclass(frozen=True)
class Offer:
    """A way to hold less: the option that asks for it, what it does in a few words, and what comes of it."""

    option: str
    what: str
    tried: Tried

    def note(self, limit: float, without: Tried) -> str:
        """What it would hold, send and do, next to the best without it."""
        found = self.tried
        fits = "" if found.memory.peak <= limit else ", which is too much as well"
        sent = "" if found.sent is None else f", sends {exact_bytes(plain_number(found.sent))}"
        more = _more(found.operations, without.operations)
        return (
            f"with {self.option} ({self.what}) each device holds {found.memory.peak:,} bytes at most{fits}{sent} "
            f"and does {more} operations{_lines(found.again)}"
        )


def check_borders(module: ModuleOp, mesh: Mesh, limit: float) -> None:
    """Raises `ShardwrightError` (SW0469) where a device holds more than a limit, whatever else the program does."""
    least = least_held(module, mesh)
    largest = sorted(_borders(module), key=bytes_of, reverse=True)[:3]
    names = (value_name(each) or ("an argument" if isinstance(each, BlockArgument) else "a result") for each in largest)
    if least > limit:
        raise fault(
            "SW0469",
            f"no layouts fit: of the arguments and results alone each device holds {least:,} bytes however they are "
            f"split, and it may hold at most {limit:,}",
            entry_function(module),
            notes=tuple(f"{name} takes {bytes_of(each):,} bytes" for name, each in zip(names, largest, strict=True)),
            help="raise the limit, or use more devices",
        )


def least_held(module: ModuleOp, mesh: Mesh) -> int:
    """The bytes that each device holds as the program ends, at least, however arguments and results are split."""
    return math.ceil(sum(map(bytes_of, _borders(module))) / mesh.size)


def _borders(module: ModuleOp) -> list[SSAValue]:
    """What a program takes and gives."""
    block = entry_function(module).body.block
    return list(dict.fromkeys((*block.args, *returned(block))))


def nothing_fits(module: ModuleOp, limit: float, least: Tried, offers: Sequence[Offer]) -> ShardwrightError:
    """The error that says so, with the largest values, and with what would help."""
    good = [offer for offer in offers if offer.tried.memory.peak <= limit]
    largest = [f"{each.name} takes {exact_bytes(each.bytes)} bytes" for each in least.memory.largest[:3]]
    ways = [*(f"lay out with {offer.option}" for offer in good), "raise the limit", "use more devices"]
    return fault(
        "SW0469",
        f"no layouts were found with which each device holds at most {limit:,} bytes: the least was "
        f"{least.memory.peak:,}",
        entry_function(module),
        notes=(*largest, *(offer.note(limit, least) for offer in offers)),
        help=f"{', '.join(ways[:-1])}, or {ways[-1]}",
    )


def _more(operations: int, without: int) -> str:
    """How many more operations, next to how many there were."""
    if operations == without or not without:
        return "as many"
    share = 100 * abs(operations - without) / without
    return f"{share:.1f} % {'more' if operations > without else 'fewer'}"


def _lines(again: Counter[str]) -> str:
    """The lines of most of the operations that are done again: where `shardwright.checkpoint` would stand."""
    if not again:
        return ""
    named = sorted(again, key=lambda line: (-again[line], line))
    further = "" if len(named) <= PLACES else f" and {len(named) - PLACES} more lines"
    return f"; {again.total()} are done again, of {', '.join(named[:PLACES])}{further}"
