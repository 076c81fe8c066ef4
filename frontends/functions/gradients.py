"""Gradients of functions, and values that have none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import update_wrapper
from typing import Any, Concatenate, Literal, ParamSpec, TypeVar, overload

import numpy as np

from shardwright.compiler.control.gradients import differentiated, pulled, pushed, ruled
from shardwright.compiler.tracing import emit
from shardwright.compiler.tracing.array import Array, ArrayLike
from shardwright.compiler.tracing.interface import is_traced
from shardwright.compiler.tracing.pytree import flatten
from shardwright.compiler.tracing.settings import settled
from shardwright.compiler.tracing.trace import current_trace
from shardwright.diagnostics.faults import type_error
from shardwright.dialects.dtensor.gradients import StopGradientOp
from shardwright.frontends.functions.dispatch import array_function
from shardwright.frontends.functions.function import Function
from shardwright.frontends.functions.recording import is_recording

First = TypeVar("First")
P = ParamSpec("P")
R = TypeVar("R")


@overload
def value_and_grad(
    function: Callable[Concatenate[First, P], R], argnums: Literal[0] = 0, *, has_aux: bool = False
) -> Function[Concatenate[First, P], tuple[R, First]]: ...
@overload
def value_and_grad(function: Callable[P, R], argnums: int, *, has_aux: bool = False) -> Function[P, tuple[R, Any]]: ...
@overload
def value_and_grad(
    function: Callable[P, R], argnums: Sequence[int], *, has_aux: bool = False
) -> Function[P, tuple[R, tuple[Any, ...]]]: ...
@settled
def value_and_grad(
    function: Callable[..., Any], argnums: int | Sequence[int] = 0, *, has_aux: bool = False
) -> Function[..., Any]:
    """
    Like `grad`, but the result is what the function gives, a pair with `has_aux`, and its gradient.

    >>> import numpy, shardwright
    >>> shardwright.value_and_grad(lambda x: shardwright.sum(x * x))(numpy.array([1.0, 2.0]))
    (array(5.), array([2., 4.]))
    """
    return Function(differentiated(function, argnums, has_aux))


@overload
def grad(
    function: Callable[Concatenate[First, P], ArrayLike], argnums: Literal[0] = 0, *, has_aux: Literal[False] = False
) -> Function[Concatenate[First, P], First]: ...
@overload
def grad(
    function: Callable[Concatenate[First, P], tuple[ArrayLike, R]], argnums: Literal[0] = 0, *, has_aux: Literal[True]
) -> Function[Concatenate[First, P], tuple[First, R]]: ...
@overload
def grad(function: Callable[P, ArrayLike], argnums: int, *, has_aux: Literal[False] = False) -> Function[P, Any]: ...
@overload
def grad(
    function: Callable[P, ArrayLike], argnums: Sequence[int], *, has_aux: Literal[False] = False
) -> Function[P, tuple[Any, ...]]: ...
@overload
def grad(
    function: Callable[P, tuple[ArrayLike, R]], argnums: int | Sequence[int], *, has_aux: Literal[True]
) -> Function[P, tuple[Any, R]]: ...
@settled
def grad(
    function: Callable[..., Any], argnums: int | Sequence[int] = 0, *, has_aux: bool = False
) -> Function[..., Any]:
    """
    The function that computes the gradient of a scalar function with respect to some of its positional arguments.

    Each argument may be a tree of arrays; its gradient has its shape, and with several `argnums` the result is a tuple.
    With `has_aux` the function gives a pair, a scalar and anything else, and the result is the gradient and that (as
    `jax.grad`). Raises `TypeError` (SW0520) for a result that is no real scalar, with `has_aux` no such pair, and for
    arguments that are no floats.

    >>> import numpy, shardwright
    >>> shardwright.grad(lambda x: shardwright.sum(x * x))(numpy.array([1.0, 2.0]))
    array([2., 4.])
    >>> shardwright.grad(lambda x: (shardwright.sum(x * x), x + 1), has_aux=True)(numpy.array([1.0, 2.0]))
    (array([2., 4.]), array([2., 3.]))
    """
    both = differentiated(function, argnums, has_aux)

    def gradient(*args: Any, **kwargs: Any) -> Any:
        value, found = both(*args, **kwargs)
        return (found, value[1]) if has_aux else found

    return Function(update_wrapper(gradient, function))


def _in_tuples(function: Callable[P, R]) -> Callable[P, R]:
    """Refuses arrays in the place of lists of arrays (TypeError, SW0520), whose rows would be taken for the arrays."""

    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        for given in (*args[1:], *kwargs.values()):
            if isinstance(given, Array | np.ndarray):
                raise type_error(
                    "SW0520",
                    f"jvp takes the arguments and their tangents in tuples, and was given a {type(given).__name__}",
                    help="write jvp(f, (x,), (tangent,))",
                )
        return function(*args, **kwargs)

    return update_wrapper(call, function)


@_in_tuples
@settled
def jvp(function: Callable[..., R], primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[R, R]:
    """
    The value of a function, and how it changes when its arguments change by `tangents` (as `jax.jvp`).

    `primals` are the arguments, each an array or a tree of arrays, and `tangents` stand for them. The function may
    return a tree of floats. Raises `TypeError` (SW0520) for arguments and results that are no floats, and for tangents
    of other shapes and types.

    >>> import numpy, shardwright
    >>> shardwright.jvp(lambda x: x * x, (numpy.array([1.0, 2.0]),), (numpy.array([1.0, 10.0]),))
    (array([1., 4.]), array([ 2., 40.]))
    """
    forward: Callable[..., tuple[R, R]] = Function(pushed(function))
    return forward(tuple(primals), tuple(tangents))


@settled
def vjp(function: Callable[..., R], *primals: Any) -> tuple[R, Callable[[R], tuple[Any, ...]]]:
    """
    The value of a function, and the function from a gradient of that value to those of the arguments (as `jax.vjp`).

    Outside of traced functions each call of it computes the function again. Raises what `jvp` raises.

    >>> import numpy, shardwright
    >>> value, pull = shardwright.vjp(lambda x, y: x * y, numpy.array([1.0, 2.0]), numpy.array([3.0, 4.0]))
    >>> value, pull(numpy.array([1.0, 10.0]))
    (array([3., 8.]), (array([ 3., 40.]), array([ 1., 20.])))
    """
    backward: Callable[..., tuple[Any, ...]] = Function(pulled(function))
    return Function(function)(*primals), lambda cotangents: backward(primals, cotangents)


@array_function
def stop_gradient(x: ArrayLike) -> Array:
    """
    The value `x`, which counts as a constant for gradients.

    >>> import numpy, shardwright
    >>> shardwright.grad(lambda x: shardwright.sum(x * shardwright.stop_gradient(x)))(numpy.array([3.0]))
    array([3.])
    """
    return emit.trace_now().emit(StopGradientOp(emit.as_tracer(x).value))


@settled
def custom_gradient(function: Callable[P, tuple[R, Callable[..., Any]]]) -> Callable[P, R]:
    """
    Lets a function say its own gradient (RFC: `tf.custom_gradient`).

    The function returns its value and a function from the gradient of that value (one argument for each part of it) to
    the gradients of the positional arguments, in order; `None` stands for zero.

    >>> import numpy, shardwright
    >>> @shardwright.custom_gradient
    ... def clipped(x):
    ...     return x, lambda dy: shardwright.clip(dy, -1.0, 1.0)
    >>> shardwright.grad(lambda x: shardwright.sum(clipped(x) * 5.0))(numpy.array([1.0, 2.0]))
    array([1., 1.])
    """
    own = ruled(function)
    program = Function(own)

    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        # A tape has to see one call that has a gradient, not the operations in it.
        if current_trace() is None and is_recording() and _has_arrays(args, kwargs):
            return program(*args, **kwargs)
        return own(*args, **kwargs)

    return update_wrapper(call, function)


def _has_arrays(args: Any, kwargs: Any) -> bool:
    return any(isinstance(leaf, Array) for leaf in flatten((args, kwargs), is_traced)[0])
