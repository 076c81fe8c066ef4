"""What makes a Python function an array function: it traces inside of a traced function and runs at once outside."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any, ParamSpec, TypeVar

import numpy as np

from shardwright.compiler.tracing.interface import is_traced, positional_names
from shardwright.compiler.tracing.pytree import Static, flatten
from shardwright.compiler.tracing.reference import Reference, held
from shardwright.compiler.tracing.trace import current_trace
from shardwright.frontends.functions.function import Function
from shardwright.frontends.functions.namespace import ARRAY_FUNCTIONS
from shardwright.frontends.functions.recording import holding, is_recording, record

P = ParamSpec("P")
R = TypeVar("R")


def array_function(implementation: Callable[P, R]) -> Callable[P, R]:
    """
    The public form of a function that emits operations.

    In a traced function it calls `implementation`, whose operations all get the caller's location; elsewhere it runs
    `implementation` as a traced function of its array arguments. Everything that is no array (dims, types, Python
    numbers) is then part of the program; where no array is taken, NumPy's numbers are Python's.
    """
    program: Function[P, R] = Function(implementation)
    written: Callable[..., R] = implementation
    settings = _settings(implementation)

    @wraps(implementation)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        places = tuple([_plain(value) if place in settings else value for place, value in enumerate(args)])
        names = {name: _plain(value) if name in settings else value for name, value in kwargs.items()}
        trace = current_trace()
        if trace is None:
            return _run(program, places, names)
        outermost = trace.calling()
        try:
            return written(*places, **names)
        finally:
            if outermost:
                trace.returned()

    ARRAY_FUNCTIONS[implementation.__name__] = call
    return call


def named(name: str, doc: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """
    An inner function as an array function of this name and docstring: a member of a family, such as one for each
    number of dims.
    """

    def decorate(implementation: Callable[P, R]) -> Callable[P, R]:
        implementation.__name__ = implementation.__qualname__ = name
        implementation.__doc__ = doc
        return array_function(implementation)

    return decorate


def _settings(implementation: Callable[..., Any]) -> frozenset[int | str]:
    """The places and names of the arguments that are never arrays, by their annotations: dims, sizes, types."""
    parameters = signature(implementation).parameters
    names = {name for name, one in parameters.items() if not _ARRAYS.search(str(one.annotation))}
    places = enumerate(positional_names(parameters.values()))
    return frozenset(names.union(place for place, name in places if name in names))


_ARRAYS = re.compile("Array|Positions|Value|Any")


def _plain(value: Any) -> Any:
    """A setting in Python's own numbers, where it is given in NumPy's."""
    if isinstance(value, np.generic) or type(value) is np.ndarray:
        return value.tolist()
    return type(value)(map(_plain, value)) if type(value) in (list, tuple) else value


def _run(program: Function[..., R], args: tuple[Any, ...], kwargs: dict[str, Any]) -> R:
    given = {name: _numbers_static(kwargs[name]) for name in kwargs}
    compiled, leaves = program.prepared(tuple(map(_numbers_static, args)), given)
    if not is_recording():
        return compiled.run(leaves)
    variables = [leaf for leaf in flatten((args, kwargs), is_traced)[0] if isinstance(leaf, Reference)]
    held = holding([*variables, *compiled.interface.captured])
    value = compiled.run(leaves)
    record(program, args, kwargs, value, held)
    return value


def _numbers_static(value: Any) -> Any:
    """The value with all that is no array made static, also inside of lists and tuples; of variables what they hold."""
    if isinstance(value, list | tuple) and any(map(is_array, value)):
        return type(value)([_numbers_static(item) for item in value])
    if is_array(value):
        return held(value)
    return Static(value)


def is_array(value: Any) -> bool:
    """Whether a value has elements and a type of its own."""
    return type(value) not in (int, float, complex, bool) and is_traced(value)
