"""What is opened for a `with` block: closed after it, or, if it writes, committed or discarded."""

from __future__ import annotations

from abc import abstractmethod
from typing import Self

__all__ = ["Closing", "Committing"]


class Closing:
    """Something open that is closed after a `with` block."""

    @abstractmethod
    def close(self) -> None:
        """Let go of the file."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Committing:
    """Something that takes effect after a `with` block, unless that ends with an exception."""

    @abstractmethod
    def commit(self) -> None:
        """Put what was written in its place."""

    @abstractmethod
    def discard(self) -> None:
        """Leave nothing behind; what was there before stays."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.commit()
        else:
            self.discard()
