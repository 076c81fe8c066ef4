"""How objects are walked through: what a module or a container holds, and the paths to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shardwright.frontends.training.modules import Module

DEPTH = 64
"""How deep containers and modules may be nested."""


def parts_of(item: Any) -> list[tuple[Any, Any]]:
    """
    The keys and parts of a module or a container, as they are now; nothing for other objects.

    >>> parts_of({"w": 1}), parts_of((5, 6)), parts_of(7)
    ([('w', 1)], [(0, 5), (1, 6)], [])
    """
    if isinstance(item, Module):
        return list(vars(item).items())
    if isinstance(item, Mapping):
        return list(item.items())
    return list(enumerate(item)) if isinstance(item, list | tuple) else []


def joined(path: str, name: str) -> str:
    """
    A name below a path.

    >>> joined("", "layers"), joined("layers", "0")
    ('layers', 'layers/0')
    """
    return f"{path}/{name}" if path else name
