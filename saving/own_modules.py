"""The modules that shardwright brings along: optimizers, metrics and layers, which come back as what they are."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Any

from shardwright.compiler.modules import Module

NAMESPACES = ("optimizers", "metrics")


@cache
def _own() -> dict[str, type[Module]]:
    """The classes by the names by which users reach them."""
    found: dict[str, type[Module]] = {}
    for namespace in NAMESPACES:
        module = import_module(f"shardwright.compiler.{namespace}")
        for name, item in vars(module).items():
            if isinstance(item, type) and issubclass(item, Module) and item.__module__ == module.__name__:
                found[f"{namespace}.{name}"] = item
    return found


def own_name(kind: type[Any]) -> str | None:
    """
    The name of one of our classes; None for a user's.

    >>> from shardwright import metrics
    >>> own_name(metrics.Mean), own_name(Module)
    ('metrics.Mean', None)
    """
    return next((name for name, item in _own().items() if item is kind), None)


def own_module(name: str, left_out: Mapping[str, str]) -> Module | None:
    """An object of one of our classes, without attributes yet; None for other names, and where attributes will lack."""
    kind = _own().get(name)
    return None if kind is None or left_out else kind.__new__(kind)
