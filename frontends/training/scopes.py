"""Where variables without a layout get one from: a scope that is entered around the code that makes them."""

from __future__ import annotations

from contextlib import AbstractContextManager
from contextvars import ContextVar
from typing import Any, Protocol

from shardwright.compiler.tracing.trace import setting
from shardwright.layout import Layout


class Scope(Protocol):
    """Gives layouts to variables, and sees the modules that are made."""

    def layout_of(self, variable: Any) -> Layout | None:
        """The layout of a variable that was given none; so far it has its name and nothing else."""
        ...

    def see(self, module: Any) -> None:
        """A module has been made, still without attributes."""
        ...


_entered: ContextVar[tuple[Scope, ...]] = ContextVar("shardwright_scopes", default=())


def entered(scope: Scope) -> AbstractContextManager[object]:
    """Variables and modules that are made in this context belong to the scope; the innermost scope counts."""
    return setting(_entered, (*_entered.get(), scope))


def scoped_layout(variable: Any) -> Layout | None:
    """The layout that the present scope gives to a variable."""
    scopes = _entered.get()
    return scopes[-1].layout_of(variable) if scopes else None


def seen(module: Any) -> None:
    """Tells the present scope about a new module."""
    scopes = _entered.get()
    if scopes:
        scopes[-1].see(module)
