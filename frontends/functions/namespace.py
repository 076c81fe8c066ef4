"""The array functions by name, for the operators of arrays: `array_function` writes them down here."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any, NoReturn

from shardwright.frontends.functions.naming.suggestions import no_method


class ArrayFunctions(dict[str, Callable[..., Any]]):
    """The namespace of every array that this package makes."""

    def module(self) -> ModuleType:
        """The package: the standard wants the module that users call, which is there whenever one of its arrays is."""
        return sys.modules[__name__.partition(".")[0]]

    def refuse(self, kind: str, name: str, properties: list[str]) -> NoReturn:
        """AttributeError (SW0516) that says which function does what the attribute would do."""
        no_method(self.module(), kind, name, properties)


ARRAY_FUNCTIONS = ArrayFunctions()
