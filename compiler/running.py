"""What stages ask of what runs programs, and of what remembers those that ran before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from shardwright.compiler.tracing.interface import Interface
from shardwright.layout import Layout

if TYPE_CHECKING:
    from shardwright.compiler.answers import Ledger


class Executable(Protocol):
    """A local program that can run; the layer above says how."""

    @property
    def source(self) -> str:
        """The program as text."""
        ...

    @property
    def ledger(self) -> Ledger:
        """What the last run sent."""
        ...

    @property
    def peak_bytes(self) -> int:
        """The most bytes of results and intermediate values held at once."""
        ...

    def __call__(self, arguments: Sequence[Any]) -> list[Any]:
        """The results for arrays, each a distributed tensor of the right layout or a global array."""
        ...


class Remembered(Protocol):
    """What may be remembered of one program from an earlier time."""

    def recall(self) -> tuple[Executable, Sequence[Layout]] | None:
        """What runs it, with the layouts of its arguments, if that was kept."""
        ...

    def keep(self, executable: Executable, interface: Interface, seconds: float, /) -> None:
        """Keeps what runs it, if it took so long to make that this is worth while."""
        ...


class RememberedFile(Protocol):
    """What may be remembered of the program in a file, under the name of what the file holds."""

    @property
    def name(self) -> str:
        """The name."""
        ...

    def interface(self) -> Interface | None:
        """What the program takes and gives back, if it was compiled before."""
        ...

    def recall(self) -> tuple[Executable, Sequence[Layout]] | None:
        """What runs it, as of `Remembered`."""
        ...
