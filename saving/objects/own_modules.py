"""The modules that shardwright brings along: optimizers, metrics and layers, which come back as what they are."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from shardwright.frontends.training import metrics, optimizers
from shardwright.frontends.training.modules import Module

NAMESPACES = {"optimizers": optimizers, "metrics": metrics}


@cache
def _own() -> dict[str, type[Module]]:
    """The classes by the names by which users reach them."""
    found: dict[str, type[Module]] = {}
    for namespace, module in NAMESPACES.items():
        for name in module.__all__:
            item = getattr(module, name)
            if isinstance(item, type) and issubclass(item, Module):
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
