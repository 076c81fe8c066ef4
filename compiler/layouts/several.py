"""What is said of a program on several meshes: of each segment, and of what goes between them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from fractions import Fraction
from html import escape
from typing import Any

from shardwright.compiler.answers import Answer, Explanation, Proof
from shardwright.compiler.layouts.segments import Transfer
from shardwright.compiler.report import CollectiveRow, ValueRow
from shardwright.compiler.tracing.dtypes import brief
from shardwright.diagnostics import ShardwrightError
from shardwright.diagnostics.faults import value_error
from shardwright.diagnostics.figures import exact_bytes
from shardwright.dialects.text.locations import where
from shardwright.dialects.types import element_dtype
from shardwright.layout.planning.transfers import lacking_elements

__all__ = ["SegmentsExplanation", "SegmentsProof", "TransferRow", "total"]

_NOT_THERE = "SW0714"
"""What an explanation says of something that the program does not have."""


@dataclass(frozen=True)
class TransferRow:
    """A value that goes from one mesh to another, and what each device there receives of it, on average."""

    tensor: str
    source: str
    target: str
    bytes_per_device: Fraction
    place: str

    @classmethod
    def of(cls, transfer: Transfer) -> TransferRow:
        """The row of a transfer."""
        dtype = element_dtype(transfer.op.operand.type)
        received = lacking_elements(transfer.source, transfer.target, transfer.shape) * dtype.itemsize
        tensor = f"{brief(dtype)}{list(transfer.shape)}"
        return cls(tensor, repr(transfer.source), repr(transfer.target), received, str(where(transfer.op) or ""))

    def data(self) -> dict[str, Any]:
        """As JSON has it."""
        return asdict(self) | {"bytes_per_device": float(self.bytes_per_device)}

    def __str__(self) -> str:
        place = f", at {self.place}" if self.place else ""
        received = f"{exact_bytes(float(self.bytes_per_device))} bytes for each device there"
        return f"{self.tensor} goes from {self.source} to {self.target}: {received}{place}"


@dataclass(frozen=True)
class SegmentsProof:
    """The proofs of a program's segments: all of it is proved where each of them is."""

    segments: tuple[Proof, ...]

    @property
    def proved(self) -> bool:
        """Whether all of the program is proved."""
        return all(proof.proved for proof in self.segments)

    @property
    def faults(self) -> list[str]:
        """What is wrong."""
        return [fault for proof in self.segments for fault in proof.faults]

    @property
    def unproved(self) -> list[str]:
        """What could not be asked, and why."""
        return [each for proof in self.segments for each in proof.unproved]


@dataclass(frozen=True, repr=False)
class SegmentsExplanation:
    """What each segment sends, and what goes from mesh to mesh: `print` it, ask it, or take its `data()`."""

    segments: tuple[tuple[str, Explanation], ...]
    transfers: tuple[TransferRow, ...]

    @property
    def rows(self) -> list[CollectiveRow]:
        """What each collective sends, and for whom, segment after segment."""
        return [row for _, explanation in self.segments for row in explanation.rows]

    @property
    def arguments(self) -> list[ValueRow]:
        """What the segments take, each with its layout."""
        return [row for _, explanation in self.segments for row in explanation.arguments]

    def why(self, question: str) -> Answer:
        """
        What there is to say about a line, a value, or a collective of the first segment that has it.

        Raises `ShardwrightError` (SW0714) where none has.
        """
        unknown: ShardwrightError | None = None
        for _, explanation in self.segments:
            try:
                return explanation.why(question)
            except ShardwrightError as error:
                if error.diagnostics[0].code != _NOT_THERE:
                    raise
                unknown = unknown or error
        if unknown is not None:
            raise unknown
        raise value_error(_NOT_THERE, f"there is nothing called {question!r}: nothing is computed on any mesh")

    def text(self, *, all: bool = False, width: int | None = None, colour: bool = False) -> str:
        """For people: the segments in their order, then the transfers."""
        lines: list[str] = []
        for number, (mesh, explanation) in enumerate(self.segments, 1):
            lines += [f"segment {number} of {len(self.segments)}, on {mesh}"]
            lines += [explanation.text(all=all, width=width, colour=colour)]
        lines += [f"{len(self.transfers)} transfer{'' if len(self.transfers) == 1 else 's'} from mesh to mesh"]
        return "\n".join([*lines, *map(str, self.transfers)]) + "\n"

    def data(self) -> dict[str, Any]:
        """As JSON has it."""
        segments = [{"mesh": mesh, **explanation.data()} for mesh, explanation in self.segments]
        return {"segments": segments, "transfers": [row.data() for row in self.transfers]}

    def __str__(self) -> str:
        return self.text()

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self.text())}</pre>"


def total(sent: Iterable[Fraction | None]) -> Fraction | None:
    """The sum of bytes; None where some are unknown."""
    found = list(sent)
    known = [each for each in found if each is not None]
    return sum(known, Fraction(0)) if len(known) == len(found) else None
