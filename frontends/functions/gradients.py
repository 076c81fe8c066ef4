"""Gradients of functions, and values that have none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import update_wrapper
from typing import Any

from shardwright.compiler.control.gradients import differentiated
from shardwright.compiler.tracing import emit
from shardwright.compiler.tracing.emit import Value
from shardwright.compiler.tracing.trace import Tracer
from shardwright.dialects.dtensor.gradients import StopGradientOp
from shardwright.frontends.functions.dispatch import array_function
from shardwright.frontends.functions.function import Function


def value_and_grad(function: Callable[..., Any], argnums: int | Sequence[int] = 0) -> Function:
    """
    Like `grad`, but the result is the function's value and its gradient.

    >>> import numpy, shardwright
    >>> shardwright.value_and_grad(lambda x: shardwright.sum(x * x))(numpy.array([1.0, 2.0]))
    (array(5.), array([2., 4.]))
    """
    return Function(differentiated(function, argnums))


def grad(function: Callable[..., Any], argnums: int | Sequence[int] = 0) -> Function:
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
def stop_gradient(x: Value) -> Tracer:
    """
    The value `x`, which counts as a constant for gradients.

    >>> import numpy, shardwright
    >>> shardwright.grad(lambda x: shardwright.sum(x * shardwright.stop_gradient(x)))(numpy.array([3.0]))
    array([3.])
    """
    return emit.trace_now().emit(StopGradientOp(emit.as_tracer(x).value))
