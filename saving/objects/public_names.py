"""What shardwright brings along, by the names by which users reach it: functions, optimizers and metrics."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from types import FunctionType, ModuleType
from typing import Any

from shardwright.frontends import arrays, functions, training
from shardwright.frontends.arrays import fft, linalg, nn, random
from shardwright.frontends.training import metrics, optimizers
from shardwright.frontends.training.modules import Module

_FUNCTIONS = (("nn.", nn), ("linalg.", linalg), ("fft.", fft), ("random.", random))
_FUNCTIONS_OF_ALL = (("", arrays), ("", functions), ("", training))
_MODULES = (("optimizers.", optimizers), ("metrics.", metrics))


@cache
def public_functions() -> dict[str, Any]:
    """The functions of shardwright; one with two names is stored by its first."""
    return _named(
        (*_FUNCTIONS, *_FUNCTIONS_OF_ALL),
        lambda item: isinstance(item, FunctionType) and item.__module__.startswith("shardwright."),
    )


@cache
def _own_modules() -> dict[str, type[Module]]:
    return _named(_MODULES, lambda item: isinstance(item, type) and issubclass(item, Module))


def _named(namespaces: Iterable[tuple[str, ModuleType]], wanted: Callable[[Any], bool]) -> dict[str, Any]:
    pairs = [(prefix + name, getattr(module, name)) for prefix, module in namespaces for name in module.__all__]
    return {name: item for name, item in pairs if wanted(item)}


def public_name(item: Any) -> str | None:
    """
    The name of one of our functions or modules' classes; None for a user's.

    >>> from shardwright import metrics, nn
    >>> public_name(metrics.Mean), public_name(nn.relu), public_name(Module)
    ('metrics.Mean', 'nn.relu', None)
    """
    known = _own_modules() if isinstance(item, type) else public_functions()
    return next((name for name, other in known.items() if other is item), None)


def own_module(name: str, left_out: Mapping[str, str]) -> Module | None:
    """An object of one of our classes, without attributes yet; None for other names, and where attributes will lack."""
    kind = _own_modules().get(name)
    return None if kind is None or left_out else kind.__new__(kind)
