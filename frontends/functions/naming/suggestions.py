"""What to write instead of a name that there is not: names of other libraries, and slips of the pen."""

from __future__ import annotations

from types import ModuleType
from typing import NoReturn

from shardwright.diagnostics.faults import attribute_error
from shardwright.diagnostics.suggestions import nearest
from shardwright.frontends.functions.naming.aliases import ELSEWHERE

HOMES = ("nn", "random", "linalg", "fft", "optimizers", "metrics", "distribute")
"""The modules of the package in which a name may be found."""

SHORT = 3
"""Letters of names of others that have to be met exactly: nearly everything short is one slip away from them."""


def instead_of(module: ModuleType, name: str) -> str | None:
    """
    What does what the name says, or is spelled nearly like it.

    >>> import shardwright
    >>> [instead_of(shardwright, name) for name in ("concatenate", "softmax", "sun")]
    ['shardwright.concat', 'shardwright.nn.softmax', 'shardwright.sum']
    """
    found = called_here(module, name)
    if found:
        return found
    inside = {other: home for home in HOMES for other in getattr(module, home).__all__}
    near = nearest(name, [*module.__all__, *inside, *(other for other in ELSEWHERE if len(other) > SHORT)])
    if near is None or near in module.__all__:
        return near and f"shardwright.{near}"
    return f"shardwright.{inside[near]}.{near}" if near in inside else ELSEWHERE[near]


def called_here(module: ModuleType, name: str) -> str | None:
    """
    What does what the name says: that and nothing near it.

    >>> import shardwright
    >>> [called_here(shardwright, name) for name in ("concatenate", "softmax", "sun")]
    ['shardwright.concat', 'shardwright.nn.softmax', None]
    """
    if name in module.__all__:
        return f"shardwright.{name}"
    home = _home(module, name)
    return f"shardwright.{home}.{name}" if home else ELSEWHERE.get(name)


def no_method(module: ModuleType, kind: str, name: str, properties: list[str]) -> NoReturn:
    """Refuses an attribute that an array does not have; AttributeError (SW0516)."""
    near = None if name in ELSEWHERE or _is_public(module, name) else nearest(name, properties)
    found = f"x.{near}" if near else instead_of(module, name)
    called = f"{found}(x, ...)" if _is_public(module, name) else found
    raise attribute_error(
        "SW0516",
        f"a {kind} has no attribute {name!r}",
        "what is done with arrays is a function of the module, as in the array API standard",
        help=f"use {called}" if called else "dir(shardwright) lists the functions",
    )


def no_function(module: ModuleType, name: str) -> NoReturn:
    """Refuses a name that the module does not have; AttributeError (SW0516)."""
    found = instead_of(module, name)
    raise attribute_error(
        "SW0516",
        f"module 'shardwright' has no attribute {name!r}",
        help=f"use {found}" if found else "dir(shardwright) lists the functions",
    )


def _is_public(module: ModuleType, name: str) -> bool:
    return name in module.__all__ or _home(module, name) is not None


def _home(module: ModuleType, name: str) -> str | None:
    """The module of the package that has a function of this name."""
    return next((home for home in HOMES if name in getattr(module, home).__all__), None)
