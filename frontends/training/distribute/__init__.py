"""Strategies and pipelines: `shardwright.distribute` gives variables, batches and stages their places."""

import typing as _typing
from importlib import import_module as _import_module

from shardwright.frontends.training.distribute._strategy import DTensorStrategy, InputContext, get_strategy

__all__ = ["DTensorStrategy", "InputContext", "Pipeline", "get_strategy"]

if _typing.TYPE_CHECKING:
    from shardwright.frontends.training.distribute._pipeline import Pipeline
else:

    def __getattr__(name: str) -> _typing.Any:
        if name != "Pipeline":
            raise AttributeError(f"module 'shardwright.distribute' has no attribute {name!r}")
        return _import_module(f"{__name__}._pipeline").Pipeline


def __dir__() -> list[str]:
    return __all__
