"""Gradients of functions, and values that have none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import update_wrapper
from typing import Any, Concatenate, Literal, ParamSpec, TypeVar, overload

from shardwright.compiler.control.gradients import differentiated
from shardwright.compiler.tracing import emit
from shardwright.compiler.tracing.array import Array, ArrayLike
from shardwright.dialects.dtensor.gradients import StopGradientOp
from shardwright.frontends.functions.dispatch import array_function
from shardwright.frontends.functions.function import Function

First = TypeVar("First")
P = ParamSpec("P")
R = TypeVar("R")


@overload
def value_and_grad(
    function: Callable[Concatenate[First, P], R], argnums: Literal[0] = 0
) -> Function[Concatenate[First, P], tuple[R, First]]: ...
@overload
def value_and_grad(function: Callable[P, R], argnums: int) -> Function[P, tuple[R, Any]]: ...
@overload
def value_and_grad(function: Callable[P, R], argnums: Sequence[int]) -> Function[P, tuple[R, tuple[Any, ...]]]: ...
def value_and_grad(function: Callable[..., Any], argnums: int | Sequence[int] = 0) -> Function[..., Any]:
    """
    Like `grad`, but the result is the function's value and its gradient.

    >>> import numpy, shardwright
    >>> shardwright.value_and_grad(lambda x: shardwright.sum(x * x))(numpy.array([1.0, 2.0]))
    (array(5.), array([2., 4.]))
    """
    return Function(differentiated(function, argnums))


@overload
def grad(
    function: Callable[Concatenate[First, P], ArrayLike], argnums: Literal[0] = 0
) -> Function[Concatenate[First, P], First]: ...
@overload
def grad(function: Callable[P, ArrayLike], argnums: int) -> Function[P, Any]: ...
@overload
def grad(function: Callable[P, ArrayLike], argnums: Sequence[int]) -> Function[P, tuple[Any, ...]]: ...
def grad(function: Callable[..., Any], argnums: int | Sequence[int] = 0) -> Function[..., Any]:
    """
    The function that computes the gradient of a scalar function with respect to some of its positional arguments.

    Each argument may be a tree of arrays; its gradient has its shape, and with several `argnums` the result is a tuple.
    Raises `TypeError` (SW0520) for a result that is no real scalar, and for arguments that are no floats.

    >>> import numpy, shardwright
    >>> shardwright.grad(lambda x: shardwright.sum(x * x))(numpy.array([1.0, 2.0]))
    array([2., 4.])
    """
    both = differentiated(function, argnums)

    def gradient(*args: Any, **kwargs: Any) -> Any:
        return both(*args, **kwargs)[1]

    return Function(update_wrapper(gradient, function))


@array_function
def stop_gradient(x: ArrayLike) -> Array:
    """
    The value `x`, which counts as a constant for gradients.

    >>> import numpy, shardwright
    >>> shardwright.grad(lambda x: shardwright.sum(x * shardwright.stop_gradient(x)))(numpy.array([3.0]))
    array([3.])
    """
    return emit.trace_now().emit(StopGradientOp(emit.as_tracer(x).value))
