"""`Module`: an object that has variables, its own and those of the modules in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Self, TypeVar, cast

from shardwright.frontends.training.scopes import seen
from shardwright.frontends.training.variables import Variable, name_scope

P = ParamSpec("P")
R = TypeVar("R")
M = TypeVar("M", bound="Module")


class Module:
    """
    An object that has variables (RFC: `tf.Module`).

    Variables and modules are found in its attributes, also inside of lists, tuples and dicts, in the order in which
    the attributes were first set; what is reached twice counts once. `__init__` need not be called by subclasses.

    >>> import shardwright
    >>> class Layer(shardwright.Module):
    ...     def __init__(self):
    ...         self.w = shardwright.Variable(shardwright.ones, shape=(2, 2), name="w")
    ...         self.steps = shardwright.Variable(0, trainable=False)
    >>> class Model(shardwright.Module):
    ...     def __init__(self):
    ...         self.layers = [Layer(), Layer()]
    >>> model = Model()
    >>> len(model.variables), len(model.trainable_variables), len(model.submodules)
    (4, 2, 2)
    >>> list(model.named_variables())
    ['layers/0/w', 'layers/0/steps', 'layers/1/w', 'layers/1/steps']
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        module = super().__new__(cls)
        seen(module)
        return module

    def __init__(self, name: str | None = None) -> None:
        if name is not None:
            self._name = name

    @property
    def name(self) -> str:
        """The name given, or that of the class in lower case: `TwoLayers` is `two_layers`."""
        given: str | None = getattr(self, "_name", None)
        return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", type(self).__name__).lower() if given is None else given

    @property
    def name_scope(self) -> AbstractContextManager[str]:
        """A context in which variables are named after the module (RFC: `tf.Module.name_scope`)."""
        return name_scope(self.name)

    @classmethod
    def with_name_scope(cls, method: Callable[Concatenate[M, P], R]) -> Callable[Concatenate[M, P], R]:
        """
        Lets a method run in the module's name scope.

        >>> import shardwright
        >>> class Layer(shardwright.Module):
        ...     @shardwright.Module.with_name_scope
        ...     def build(self):
        ...         return shardwright.Variable(0.0, name="w").name
        >>> Layer(name="first").build()
        'first/w'
        """

        @wraps(method)
        def scoped(self: M, *args: P.args, **kwargs: P.kwargs) -> R:
            with self.name_scope:
                return method(self, *args, **kwargs)

        return scoped

    def named_variables(self) -> dict[str, Variable]:
        """
        The variables by the path on which they are reached, attribute names and keys between slashes.

        Each variable remembers it as `path`, so `variable.set_layout(layout_map.get(variable))` goes by paths (RFC).
        """
        found = {path: item for path, item in _reached(self) if isinstance(item, Variable)}
        for path, variable in found.items():
            variable.reached_by(path)
        return found

    @property
    def variables(self) -> tuple[Variable, ...]:
        """All variables."""
        return tuple(self.named_variables().values())

    @property
    def trainable_variables(self) -> tuple[Variable, ...]:
        """The variables that were not made with `trainable=False`."""
        return tuple(variable for variable in self.variables if variable.trainable)

    @property
    def non_trainable_variables(self) -> tuple[Variable, ...]:
        """The variables that were made with `trainable=False`."""
        return tuple(variable for variable in self.variables if not variable.trainable)

    @property
    def submodules(self) -> tuple[Module, ...]:
        """The modules inside of this one, at any depth."""
        return tuple(item for _, item in _reached(self) if isinstance(item, Module) and item is not self)


def _reached(module: Module) -> Iterator[tuple[str, Variable | Module]]:
    """The variables and modules in a module, itself included, with the paths to them; each once."""
    seen: set[int] = set()
    waiting: list[tuple[str, Any]] = [("", module)]
    while waiting:
        path, item = waiting.pop()
        parts = _parts(item)
        if parts is None or id(item) in seen:
            continue
        seen.add(id(item))
        if isinstance(item, Variable | Module):
            yield path, item
        waiting += [(f"{path}/{name}" if path else str(name), part) for name, part in reversed(list(parts))]


def _parts(item: Any) -> list[tuple[Any, Any]] | None:
    """What an object is made of, as far as variables are looked for in it; None where they are not."""
    if isinstance(item, Variable):
        return []
    if isinstance(item, Module):
        return list(vars(item).items())
    if isinstance(item, Mapping):
        return list(cast("Mapping[Any, Any]", item).items())
    if isinstance(item, list | tuple):
        return list(enumerate(cast("list[Any]", item)))
    return None
