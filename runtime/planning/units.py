"""What a plan is made of: units, each with the windows that it reads and writes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from shardwright.runtime.fusing.boxes import Cut, Paste, box_windows
from shardwright.runtime.fusing.chains import Chain
from shardwright.runtime.fusing.products import Batch, Product
from shardwright.runtime.fusing.tiles import Tile
from shardwright.runtime.ledger import Message
from shardwright.runtime.planning.storage import Buffer, Copy, Count, Window
from shardwright.runtime.program import Program, Step, Value


@dataclass(eq=False)
class Sum:
    """A reduction that joined no group."""

    kind: str
    source: Window
    dims: tuple[int, ...]
    target: Window
    location: str


@dataclass(eq=False)
class Kernel:
    """A call of a kernel of `runtime.kernels_shape`."""

    step: Step
    sources: list[Window]
    targets: list[Window]


@dataclass(eq=False)
class Tally:
    """An entry in the ledger. `sources` are the buffers' windows, or their shapes where no buffer was needed."""

    message: Message
    sources: list[Window | Value]
    location: str


@dataclass(eq=False)
class Test:
    """The end of the loop around it, unless the predicate holds somewhere."""

    predicate: Window


@dataclass(eq=False)
class Part:
    """
    The units of a loop's or a branch's program.

    `offsets` say where in the workspace its own buffers start; `hosted` which of them take the bytes of another.
    """

    units: list[Unit] = field(default_factory=list["Unit"])
    offsets: dict[Buffer, int] = field(default_factory=dict[Buffer, int])
    hosted: dict[Buffer, Buffer] = field(default_factory=dict[Buffer, Buffer])


@dataclass(eq=False)
class Loop:
    """
    A part run again and again, on values that lie in the same place in every round.

    `outside` are all windows that it touches outside of its workspace; `rounds` is how often it runs, where known;
    `program` is what counters of its rounds name.
    """

    part: Part
    outside: list[Window]
    workspace: Window
    name: str
    rounds: int | None
    program: Program
    location: str

    @property
    def parts(self) -> Sequence[Part]:
        """The one part."""
        return (self.part,)


@dataclass(eq=False)
class Branch:
    """One of several parts: the one at the index, or the last; `numbers` are those of the branches in the program."""

    index: Window
    parts: list[Part]
    outside: list[Window]
    workspace: Window
    name: str
    numbers: tuple[int, ...]
    location: str


Unit: TypeAlias = (
    "Tile | Product | Batch | Chain | Sum | Copy | Count | Cut | Paste | Kernel | Tally | Test | Loop | Branch"
)


def touched(unit: Unit) -> list[Window]:
    """All windows that a unit reads or writes."""
    # In one piece: a case for each kind of unit, and the type checker says which one is forgotten.
    match unit:
        case Tile():
            return [read.window for read in unit.reads] + [write.window for write in unit.writes]
        case Product():
            return [unit.lhs, unit.rhs, unit.out]
        case Batch():
            return [window for product in unit.products for window in touched(product)]
        case Chain():
            return [window for link, _ in unit.links for window in touched(link)]
        case Sum() | Copy():
            return [unit.source, unit.target]
        case Count():
            return [unit.target]
        case Cut() | Paste():
            return box_windows(unit)
        case Kernel():
            return [*unit.sources, *unit.targets]
        case Tally():
            return []
        case Test():
            return [unit.predicate]
        case Loop():
            return [*unit.outside, unit.workspace]
        case Branch():
            return [unit.index, *unit.outside, unit.workspace]


def inner_parts(units: Sequence[Unit]) -> Iterator[tuple[Loop | Branch, Part]]:
    """The parts of the loops and branches among these units."""
    for unit in units:
        if isinstance(unit, Loop | Branch):
            for part in unit.parts:
                yield unit, part
