"""What gradient tapes are told of calls that run at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from shardwright.compiler.tracing.interface import is_traced
from shardwright.compiler.tracing.pytree import flatten, unflatten
from shardwright.compiler.tracing.reference import Reference

Holding = dict[Reference, Any]
"""Variables with the tensors that they held."""


@dataclass(frozen=True)
class Recorded:
    """
    One call that ran while a tape was open: what was called with what, and what it gave.

    `holding` are the tensors that the variables held which it used.
    """

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    results: list[Any]
    holding: Holding

    @property
    def leaves(self) -> list[Any]:
        """The arrays and numbers that it took, for variables what they held."""
        given = [leaf for leaf in flatten((self.args, self.kwargs), is_traced)[0] if not isinstance(leaf, Reference)]
        return [*given, *self.holding.values()]


class Tape(Protocol):
    """Takes note of calls."""

    @property
    def is_recording(self) -> bool:
        """Whether it does so now."""
        ...

    def take(self, call: Recorded) -> None:
        """Notes a call."""
        ...


OPEN: ContextVar[tuple[Tape, ...]] = ContextVar("shardwright_tapes", default=())
"""The tapes that are open, outermost first."""


def record(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], value: Any, holding: Holding
) -> None:
    """
    Notes a call that ran at once for all open tapes; `function` can be traced with the same arguments.

    What it gave cannot be written to any more, and of arrays of others copies are noted: a gradient is of what was.
    """
    if not is_recording():
        return
    results = flatten(value, is_traced)[0]
    for result in results:
        if isinstance(result, np.ndarray):
            result.flags.writeable = False
    leaves, tree = flatten((args, kwargs), is_traced)
    kept_args, kept_kwargs = unflatten(tree, [_kept(leaf) for leaf in leaves])
    for tape in OPEN.get():
        tape.take(Recorded(function, kept_args, kept_kwargs, results, holding))


def _kept(leaf: Any) -> Any:
    """An argument that nobody changes: of an array a copy, unless it is a tensor of ours that cannot be written to."""
    if not isinstance(leaf, np.ndarray) or (hasattr(leaf, "layout") and not leaf.flags.writeable):
        return leaf
    return leaf.copy()


def holding(arrays: Iterable[Any]) -> Holding:
    """What those of the arrays that are variables hold now, if a tape wants to know."""
    return {array: array.held for array in arrays if isinstance(array, Reference)} if is_recording() else {}


def is_recording() -> bool:
    """Whether a tape takes note of what runs now."""
    return any(tape.is_recording for tape in OPEN.get())
