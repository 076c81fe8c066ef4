"""The engines: how generated code runs. Both take and return the bases of `runtime.ports`."""

from __future__ import annotations

import itertools
import math
import threading
from collections.abc import Sequence
from types import CodeType
from typing import Any, Protocol

import numpy as np

from shardwright.runtime.codegen import fused as codegen_numpy, plain as codegen
from shardwright.runtime.codegen.arena import arena
from shardwright.runtime.codegen.crew import Crew, blas_controller, product_link, scratch_arrays, shared_crew, tile_link
from shardwright.runtime.kernels.table import runtime_scope
from shardwright.runtime.ledger import Ledger
from shardwright.runtime.planning.plan import Held, held_by, make_plan
from shardwright.runtime.ports import Port
from shardwright.runtime.processes.communicator import Communicator
from shardwright.runtime.program import VIEWS, Program

GENERATED, SOURCE = "<shardwright: generated>", "__source__"
"""The file of generated functions, and the name under which their module has its text: for whoever watches a run."""


class Engine(Protocol):
    """Runs one program."""

    source: str
    peak_bytes: int
    largest: tuple[Held, ...]
    orders: list[tuple[int, ...]]
    """The orders of dims in which elements travel between processes, step by step."""

    def call(self, ledger: Ledger, bases: Sequence[Any], communicator: Communicator | None = None) -> list[Any]:
        """
        The bases of the results for the bases of the arguments; one process needs no communicator.

        Results lie where the engine's namespace has its arrays; arguments lie there or are NumPy's.
        """
        ...


class PlainEngine:
    """One array call for each step, in any namespace with NumPy's functions."""

    def __init__(self, program: Program, inputs: Sequence[Port], outputs: Sequence[Port], xp: Any) -> None:
        self._xp, self._inputs, self._outputs = xp, inputs, outputs
        emitted = codegen.generate(program)
        self.source, self.orders = emitted.source, emitted.orders
        self.peak_bytes = codegen.peak_bytes(program)
        self.largest = held_by(result for step in program.steps if step.kind not in VIEWS for result in step.results)
        owned = {  # arrays lie in the namespace's own memory
            name: xp.asarray(item) if isinstance(item, np.ndarray) else item for name, item in emitted.constants.items()
        }
        self._main = _load(_compiled(self.source), self.source, runtime_scope(xp) | owned)

    def call(self, ledger: Ledger, bases: Sequence[Any], communicator: Communicator | None = None) -> list[Any]:
        """See `Engine`."""
        stacked = [port.split(self._xp.asarray(base)) for base, port in zip(bases, self._inputs, strict=True)]
        made = self._main(ledger, communicator, *stacked)
        results = [port.merge(array) for array, port in zip(made, self._outputs, strict=True)]
        return [self._xp.array(array, order="C") for array in results]


class FusedEngine:
    """
    NumPy with planned buffers, fused blocks and a crew of threads; one run at a time.

    The memory of the buffers is taken by the first run: a program of any size can be compiled.
    """

    def __init__(self, program: Program, inputs: Sequence[Port], outputs: Sequence[Port], threads: int | None) -> None:
        self._crew = shared_crew(threads)
        windows = [port.window() for port in inputs], [port.window() for port in outputs]
        plan = make_plan(program, *windows, self._crew.size)
        emitted = codegen_numpy.generate(program, plan, [(port.base_shape, port.dtype) for port in outputs])
        self.source, self.orders = emitted.source, emitted.orders
        self.peak_bytes, self.largest = plan.peak_bytes, plan.largest
        self._blas = blas_controller()
        self._lock = threading.Lock()
        self._code = _compiled(self.source)
        self._constants = emitted.constants
        self._arena_bytes, self._scratch_bytes = plan.arena_bytes, emitted.scratch_bytes
        self._result_bytes = sum(math.prod(port.base_shape) * port.dtype.itemsize for port in outputs)
        self._main: Any = None

    def call(self, ledger: Ledger, bases: Sequence[Any], communicator: Communicator | None = None) -> list[Any]:
        """See `Engine`."""
        flat = [np.ascontiguousarray(base).reshape(-1).view(np.uint8) for base in bases]
        with self._lock, np.errstate(all="ignore"), self._blas.limit(limits=1, user_api="blas"):
            if self._main is None:
                self._main = self._loaded()
            return self._main(ledger, communicator, self._crew, *flat)

    def _loaded(self) -> Any:
        shared = {
            "arena": arena(self._arena_bytes, self._result_bytes),
            "scratch": [arena(self._scratch_bytes) for _ in range(self._crew.size)],
            "scratch_arrays": scratch_arrays,
            "alone": Crew(1),
            "count": itertools.count,
            "product_link": product_link,
            "tile_link": tile_link,
        }
        return _load(self._code, self.source, runtime_scope(np) | self._constants | shared)


def _compiled(source: str) -> CodeType:
    return compile(source, GENERATED, "exec")


def _load(code: CodeType, source: str, scope: dict[str, Any]) -> Any:
    """The function `main` of generated text. Only text that this package wrote is ever executed."""
    scope[SOURCE] = source
    exec(code, scope)
    return scope["main"]
