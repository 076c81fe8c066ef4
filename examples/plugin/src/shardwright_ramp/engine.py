"""An engine: it holds tensors and runs programs in this process, and counts the runs."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from shardwright.engines import Owner, Parts, Program, add_engine
from shardwright.layout import Mesh
from shardwright.runtime.executable import compile_module
from shardwright.runtime.ledger import Ledger


class Held(Parts):
    """An array in stacked form: a leading dim for each axis of the mesh, then what a device holds."""

    def __init__(self, stacked: np.ndarray[Any, Any]) -> None:
        super().__init__(stacked.shape, stacked.dtype)
        self.stacked = stacked

    def here(self) -> np.ndarray[Any, Any]:
        """The array itself: it is in this process."""
        return self.stacked


class CountingEngine(Owner):
    """Counts the programs that it runs."""

    runs = 0

    def hold(self, stacked: np.ndarray[Any, Any], mesh: Mesh) -> Parts:
        """A copy, for the caller may write into its own."""
        return Held(stacked.copy())

    def program(self, module: ModuleOp, mesh: Mesh) -> Program:
        """A local program, compiled."""
        return CountedProgram(module, self)


class CountedProgram(Program):
    """A program whose runs are counted."""

    def __init__(self, module: ModuleOp, engine: CountingEngine) -> None:
        self.engine, self.executable = engine, compile_module(module)

    def run(self, inputs: Sequence[Parts]) -> list[Parts]:
        """Runs it at once."""
        self.engine.runs += 1
        return [Held(np.asarray(result)) for result in self.executable.run_stacked([each.here() for each in inputs])]

    @property
    def source(self) -> str:
        return self.executable.source

    @property
    def ledger(self) -> Ledger:
        return self.executable.ledger

    @property
    def peak_bytes(self) -> int:
        return self.executable.peak_bytes


ENGINE = CountingEngine()
add_engine("counting", ENGINE)
