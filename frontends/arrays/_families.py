"""Public functions that come in families: one for each number of dims, or for each number that fills an array."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from shardwright.frontends.functions.dispatch import array_function

P = ParamSpec("P")
R = TypeVar("R")


def named(name: str, doc: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """The array function that an inner function is, with the name and the docstring of this member of the family."""

    def decorate(implementation: Callable[P, R]) -> Callable[P, R]:
        implementation.__name__ = implementation.__qualname__ = name
        implementation.__doc__ = doc
        return array_function(implementation)

    return decorate
