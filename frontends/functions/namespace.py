"""
The array functions by name, for the operators of arrays and for NumPy's functions of them: `array_function` writes them
down here.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
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

    def numpy(self, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """What a function of NumPy gives, by a function here; TypeError (SW0503) where none does the same."""
        # Only who asks NumPy needs its names.
        from shardwright.frontends.functions.naming.numpy_names import by_our_function

        return by_our_function(self.module(), function, args, kwargs)


ARRAY_FUNCTIONS = ArrayFunctions()
