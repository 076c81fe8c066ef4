"""`budget` and `explicit`: limits that programs made inside of them must keep."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ContextDecorator
from contextvars import Token
from typing import Any, TypeVar, cast

from shardwright.frontends.functions.function import Function
from shardwright.views.limits import ACTIVE, Limits

Called = TypeVar("Called", bound=Callable[..., Any])


class _Limited(ContextDecorator):
    """A `with` block and a decorator: programs made inside keep the limits."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._tokens: list[Token[tuple[Limits, ...]]] = []

    def __enter__(self) -> None:
        self._tokens.append(ACTIVE.set((*ACTIVE.get(), self._limits)))

    def __exit__(self, *error: object) -> None:
        ACTIVE.reset(self._tokens.pop())

    def __call__(self, func: Called) -> Called:
        if isinstance(func, Function):
            func.limit(self._limits)
            return cast(Called, func)
        return cast(Called, super().__call__(func))


def budget(*, max_bytes: int | str | None = None, max_peak: int | str | None = None) -> _Limited:
    """
    What programs may send and hold, as a decorator of a traced function or as a `with` block.

    `max_bytes` is what each device may send in a run, `max_peak` what all devices together may hold at once besides
    arguments: numbers of bytes, or text such as `"2GB"` and `"512MiB"`. A program that would need more is refused
    before it runs: `ValueError` (SW0580), with the dearest collectives and their lines. So is one on several meshes, of
    which nobody knows it. What a program of `shardwright.jax.jit` holds is XLA's account. SW0582 for what is no number
    of bytes.

    >>> import numpy, shardwright
    >>> mesh = shardwright.Mesh(x=2)
    >>> x = shardwright.relayout(numpy.ones((4, 2), "float32"), shardwright.Layout(["x"], mesh))
    >>> @shardwright.budget(max_bytes="1kB")
    ... @shardwright.function
    ... def total(x):
    ...     return shardwright.sum(x)
    >>> float(total(x))
    8.0
    """
    from shardwright.diagnostics.figures import size_in_bytes  # only for who sets a limit

    sent, held = (None if size is None else size_in_bytes(size) for size in (max_bytes, max_peak))
    return _Limited(Limits(sent, held))


def explicit() -> _Limited:
    """
    No collective that nobody wrote, as a decorator of a traced function or as a `with` block.

    A program in which an op's rule needs a finished value in another layout is refused: `ValueError` (SW0581), at the
    op's line. What is written may move: relayouts, constraints, layouts of results, manual computations, and the sums
    and borders that split ops are made of.

    >>> import numpy, shardwright
    >>> mesh = shardwright.Mesh(x=2)
    >>> x = shardwright.relayout(numpy.ones((4, 2), "float32"), shardwright.Layout(["x"], mesh))
    >>> with shardwright.explicit():
    ...     whole = shardwright.relayout(x, shardwright.Layout.replicated(mesh, rank=2))
    """
    return _Limited(Limits(explicit=True))
