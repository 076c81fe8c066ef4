"""Which code takes messages apart and puts them together: plain Python, or compiled code where that pays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec

from shardwright.serialization.riegeli.chunks.codecs import Buffer
from shardwright.serialization.riegeli.transposed import columns, machine, states

COMPILED = "shardwright.serialization.riegeli.transposed.compiled"

PATIENCE = 1 << 20
"""Bytes of records that plain Python transposes, in all, before the compiled code is loaded: about a second."""


@dataclass(frozen=True)
class Engine:
    """
    What both ways to do it have: `take` takes records apart, `pairs` counts steps that follow each other, `join`
    writes the transitions, and `run` does all of it backwards.
    """

    take: Callable[[bytes, Sequence[int]], columns.Taken]
    pairs: Callable[[Sequence[int]], states.Pairs]
    join: Callable[[Sequence[int], Sequence[bytes]], Buffer]
    run: Callable[[machine.Program, int, int], machine.Ran]


PLAIN = Engine(columns.take, states.pairs, states.join, machine.run)


class _Choice:
    engine = PLAIN
    patience = PATIENCE
    has_numba = find_spec("numba") is not None


def engine_for(size: int) -> Engine:
    """The engine for `size` more bytes of records: compiled once enough came by, if numba is installed."""
    if _Choice.engine is PLAIN and _Choice.has_numba:
        _Choice.patience -= size
        if _Choice.patience < 0:
            compiled = import_module(COMPILED)
            _Choice.engine = Engine(compiled.take, compiled.pairs, compiled.join, compiled.run)
    return _Choice.engine
