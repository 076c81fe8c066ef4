"""What the controller has of what its workers hold: handles of arrays and of programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from shardwright.diagnostics.caller import caller
from shardwright.engines.owned.parts import Parts, Program
from shardwright.engines.workers.figures import ledger_of
from shardwright.engines.workers.link import Link
from shardwright.layout import Mesh
from shardwright.layout.boxes import Box
from shardwright.runtime.executable import interface_of
from shardwright.runtime.ledger import Ledger
from shardwright.runtime.stacking import stacked_shape


class RemoteText:
    """The text of a program that the workers have, under a number."""

    __slots__ = ("__weakref__", "_link", "number")

    def __init__(self, link: Link) -> None:
        self._link = link
        self.number = link.number()

    def __del__(self) -> None:
        if hasattr(self, "number"):  # an interrupt may have kept it from having one
            self._link.freed.append(self.number)


class RemoteParts(Parts):
    """An array of which each worker holds its block, under a number."""

    __slots__ = ("_link", "_mesh", "number")

    def __init__(self, link: Link, mesh: Mesh, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        super().__init__(shape, dtype)
        self._link, self._mesh = link, mesh
        self.number = link.number()

    def __del__(self) -> None:
        if hasattr(self, "number"):  # an interrupt may have kept it from having one
            self._link.freed.append(self.number)

    def here(self) -> np.ndarray[Any, Any]:
        found = [*enumerate(blocks(self._mesh, self._link.count, self.shape))]
        places = {block: place for place, block in reversed(found)}  # of workers with the same, the first
        said = self._link.ask({"do": "give", "of": self.number}, list(places.values()))
        if len(places) == 1:
            ((_, arrays),) = said.values()
            return np.array(np.broadcast_to(arrays[0], self.shape))
        whole = np.empty(self.shape, self.dtype)
        for block, place in places.items():
            whole[index_of(block)] = said[place][1][0]
        return whole


class RemoteProgram(Program):
    """A program that the workers have, and what its results look like."""

    def __init__(self, link: Link, text: RemoteText, module: ModuleOp, mesh: Mesh) -> None:
        self._link, self._text, self._mesh = link, text, mesh
        interface = interface_of(module)
        self._results = [(stacked_shape(port.shape, port.spec, mesh), port.dtype) for port in interface.outputs]

    def run(self, inputs: Sequence[Parts]) -> list[Parts]:
        results = [RemoteParts(self._link, self._mesh, *kind) for kind in self._results]
        at = str(caller() or "")
        taken = [part.number for part in inputs if isinstance(part, RemoteParts)]
        given = [result.number for result in results]
        call = self._link.number()
        self._link.post({"do": "run", "program": self._text.number, "call": call, "in": taken, "out": given, "at": at})
        return [*results]

    @property
    def source(self) -> str:
        return self._figures([0])[0]["source"]

    @property
    def ledger(self) -> Ledger:
        return ledger_of(self._figures([0])[0]["ledger"])

    @property
    def peak_bytes(self) -> int:
        return sum(figures["peak_bytes"] for figures in self._figures(range(self._link.count)))

    def _figures(self, places: Sequence[int]) -> list[Any]:
        said = self._link.ask({"do": "tell", "of": self._text.number}, places)
        return [said[place][0]["figures"] for place in places]


def blocks(mesh: Mesh, count: int, shape: Sequence[int]) -> Iterator[Box]:
    """
    For each of so many workers the part of a stacked array that is its own; where it does not vary, all have the same.

    >>> list(blocks(Mesh(x=4), 2, (4, 3)))
    [((0, 2),), ((2, 4),)]
    """
    borders = mesh.client_borders(count)
    counts = [borders.get(name, 1) for name in mesh.axis_names]
    for place in product(*map(range, counts)):
        sizes = [size // parts for size, parts in zip(mesh.shape, counts, strict=True)]
        own = zip(place, sizes, shape, strict=False)
        yield tuple((at * size, (at + 1) * size) if extent > 1 else (0, 1) for at, size, extent in own)


def index_of(block: Box) -> tuple[slice, ...]:
    """A block as arrays take it."""
    return tuple(slice(*bounds) for bounds in block)
