"""The engines: how generated code runs. Both take and return the bases of `runtime.ports`."""

from __future__ import annotations

import functools
import itertools
import threading
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from shardwright.runtime.codegen.arena import arena
from shardwright.runtime.codegen.crew import Crew, one_blas_thread, product_link, scratch_arrays, tile_link
from shardwright.runtime.codegen.images import Image
from shardwright.runtime.codegen.native import native
from shardwright.runtime.kernels.table import runtime_scope
from shardwright.runtime.ledger import Ledger
from shardwright.runtime.processes.communicator import Communicator

SOURCE = "__source__"
"""The name under which the module of generated functions has its text: for whoever watches a run."""


class Engine(Protocol):
    """Runs one program."""

    def call(self, ledger: Ledger, bases: Sequence[Any], communicator: Communicator | None = None) -> list[Any]:
        """
        The bases of the results for the bases of the arguments; one process needs no communicator.

        Results lie where the engine's namespace has its arrays; arguments lie there or are NumPy's.
        """
        ...


class PlainEngine:
    """One array call for each step, in any namespace with NumPy's functions."""

    def __init__(self, image: Image, xp: Any) -> None:
        self._xp, self._inputs, self._outputs = xp, image.inputs, image.outputs
        owned = {  # arrays lie in the namespace's own memory
            name: xp.asarray(item) if isinstance(item, np.ndarray) else item for name, item in image.constants.items()
        }
        self._main = _load(image, runtime_scope(xp) | owned)

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

    def __init__(self, image: Image, crew: Crew) -> None:
        self._image, self._crew = image, crew
        self._lock = threading.Lock()
        self._main: Any = None

    def call(self, ledger: Ledger, bases: Sequence[Any], communicator: Communicator | None = None) -> list[Any]:
        """See `Engine`."""
        flat = [np.ascontiguousarray(base).reshape(-1).view(np.uint8) for base in bases]
        with self._lock, one_blas_thread():
            self._crew.finish()
            if self._main is None:
                self._main = self._loaded()
            return self._main(ledger, communicator, self._crew, *flat)

    def _loaded(self) -> Any:
        image = self._image
        shared = {
            "arena": arena(image.arena_bytes, image.result_bytes),
            "scratch": [arena(image.scratch_bytes) for _ in range(self._crew.size)],
            "scratch_arrays": scratch_arrays,
            "alone": Crew(1),
            "count": itertools.count,
            "native": native,
            "partial": functools.partial,
            "product_link": product_link,
            "tile_link": tile_link,
        }
        return _load(image, runtime_scope(np) | dict(image.constants) | shared)


def _load(image: Image, scope: dict[str, Any]) -> Any:
    """The function `main` of generated text. Only text that this package wrote is ever executed."""
    scope[SOURCE] = image.source
    exec(image.code, scope)
    return scope["main"]
