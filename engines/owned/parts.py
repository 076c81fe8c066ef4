"""Meshes whose devices somebody else has: what is asked of workers, of other processes, and of a GPU."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, NoReturn, Self

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from shardwright.diagnostics.faults import type_error
from shardwright.layout import Mesh
from shardwright.runtime.ledger import Ledger


class _Elsewhere:
    """What somebody else holds: copies share it, and no pickle has it."""

    __slots__ = ()

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __reduce__(self) -> NoReturn:
        raise type_error(
            "SW0537",
            "a tensor or a mesh whose devices somebody else holds cannot be pickled",
            "whoever reads the pickle has no connection to them",
            help="pickle numpy.asarray(x), or save a checkpoint, which is read into any layout on any mesh",
        )


class Parts(_Elsewhere, ABC):
    """
    A stacked array that is elsewhere, or will be once what was asked for is done.

    Its `shape` is that of the stacked form of all devices, or of this process's where others have some. Whoever holds
    the parts lets go of them with this object.
    """

    __slots__ = ("dtype", "shape")

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        self.shape = shape
        self.dtype = dtype

    @abstractmethod
    def here(self) -> np.ndarray[Any, Any]:
        """
        The array, brought here; waits until it is made.

        Raises `RuntimeError` where it cannot be made (SW0921), and where those who had it are gone (SW0922).
        """

    def __dlpack_device__(self) -> tuple[int, int]:
        return np.empty(0).__dlpack_device__()


class Program(ABC):
    """A program that somebody else runs."""

    @abstractmethod
    def run(self, inputs: Sequence[Parts]) -> list[Parts]:
        """Asks for a run, and does not wait for it."""

    @property
    @abstractmethod
    def source(self) -> str:
        """The Python function that runs there."""

    @property
    @abstractmethod
    def ledger(self) -> Ledger:
        """What the last run sent; waits for it."""

    @property
    @abstractmethod
    def peak_bytes(self) -> int:
        """The most bytes that a run holds at once, all devices together."""


class Owner(_Elsewhere, ABC):
    """Whoever holds the devices of a mesh; `takes_partial` says whether programs there take partial results."""

    takes_partial: ClassVar[bool] = True

    @abstractmethod
    def hold(self, stacked: np.ndarray[Any, Any], mesh: Mesh) -> Parts:
        """Gives each device its part of a stacked array, which may change afterwards."""

    @abstractmethod
    def program(self, module: ModuleOp, mesh: Mesh) -> Program:
        """What runs a local program there."""

    def held(self, module: ModuleOp) -> int:
        """The bytes that each device holds at the most while a local program runs; 0 if that is not known."""
        return 0
