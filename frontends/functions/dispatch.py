"""What makes a Python function an array function: it traces inside of a traced function and runs at once outside."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from shardwright.compiler.tracing.interface import is_traced
from shardwright.compiler.tracing.pytree import Static, flatten
from shardwright.compiler.tracing.reference import Reference, held
from shardwright.compiler.tracing.settings import Settings
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
    numbers) is then part of the program; where no array is taken, arguments are of the kinds that annotations say.
    """
    program: Function[P, R] = Function(implementation)
    written: Callable[..., R] = implementation
    settings = Settings(implementation)

    @wraps(implementation)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        places, names = settings.read(args, kwargs)
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
