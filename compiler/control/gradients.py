"""Gradients in traced functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import update_wrapper
from typing import Any, ParamSpec, TypeVar

from shardwright.compiler.control import regions
from shardwright.compiler.tracing import emit
from shardwright.compiler.tracing.dtypes import DType, brief, kind_of
from shardwright.compiler.tracing.interface import is_traced
from shardwright.compiler.tracing.pytree import Tree, flatten, unflatten
from shardwright.compiler.tracing.trace import Tracer, current_trace
from shardwright.diagnostics.faults import type_error, value_error
from shardwright.dialects.dtensor.gradients import CheckpointOp, GradientOp, WithGradientOp

P = ParamSpec("P")
R = TypeVar("R")


def is_differentiable(dtype: DType) -> bool:
    """Whether values of this type have gradients: real and complex floats."""
    return kind_of(dtype) in ("float", "complex")


def gradient_of(targets: Sequence[Tracer], seeds: Sequence[Tracer], sources: Sequence[Tracer]) -> list[Tracer]:
    """The gradients of traced values with respect to others, as values of the same trace."""
    trace = emit.trace_now()
    op = GradientOp(*([value.value for value in side] for side in (targets, seeds, sources)))
    if not sources:
        return []
    op.location = trace.location
    trace.block.add_op(op)
    for source, result in zip(sources, op.results, strict=True):
        if (home := trace.homes.get(source.value)) is not None:
            trace.homes[result] = home
    return [Tracer(trace, result) for result in op.results]


def differentiated(function: Callable[..., Any], argnums: int | Sequence[int]) -> Callable[..., Any]:
    """The traced function that gives the value of a scalar function, and its gradient by some arguments."""
    places = (argnums,) if isinstance(argnums, int) else tuple(argnums)

    def traced(*args: Any, **kwargs: Any) -> Any:
        parts = [flatten(_positional(args, place), is_traced) for place in places]
        sources = [[_source(leaf, place) for leaf in leaves] for place, (leaves, _) in zip(places, parts, strict=True)]
        given = list(args)
        for place, leaves, (_, tree) in zip(places, sources, parts, strict=True):
            given[place] = unflatten(tree, leaves)
        value = function(*given, **kwargs)
        target = _target(value)
        seed = emit.constant(1, target.dtype)
        found = iter(gradient_of([target], [seed], [leaf for leaves in sources for leaf in leaves]))
        gradients = tuple(
            unflatten(tree, [next(found) for _ in leaves]) for leaves, (_, tree) in zip(sources, parts, strict=True)
        )
        return value, gradients[0] if isinstance(argnums, int) else gradients

    return update_wrapper(traced, function)


def _positional(args: Sequence[Any], place: int) -> Any:
    if not -len(args) <= place < len(args):
        raise value_error(
            "SW0520",
            f"argnums names argument {place}, but {len(args)} positional arguments were given",
            help="pass the arguments to differentiate by position",
        )
    return args[place]


def _source(leaf: Any, place: int) -> Tracer:
    value = emit.as_tracer(leaf, "a gradient")
    if not is_differentiable(value.dtype):
        raise type_error(
            "SW0520",
            f"argument {place} is {brief(value.dtype)}{list(value.shape)}, which has no gradient",
            help="differentiate with respect to floating-point arguments, which argnums names",
        )
    return value


def _target(value: Any) -> Tracer:
    if not is_traced(value):
        raise type_error("SW0520", f"a gradient needs a scalar result, not {type(value).__name__}", help=_SCALARS)
    target = emit.as_tracer(value, "a gradient")
    if target.shape or kind_of(target.dtype) != "float":
        raise type_error(
            "SW0520",
            f"a gradient needs a real scalar result, not {brief(target.dtype)}{list(target.shape)}",
            help=_SCALARS,
        )
    return target


_SCALARS = "return one number, such as shardwright.sum(...) or shardwright.mean(...) of the losses"


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

    def call(*args: P.args, **kwargs: P.kwargs) -> Any:
        value, rule = function(*args, **kwargs)
        if current_trace() is None:
            return value
        leaves, _ = flatten(args, is_traced)
        inputs = [emit.as_tracer(leaf) for leaf in leaves]
        parts, tree = flatten(value, is_traced)
        outputs = [emit.as_tracer(part) for part in parts]

        def write(gradients: list[Tracer]) -> list[Tracer]:
            given: Any = unflatten(tree, gradients)
            found = rule(*given) if isinstance(given, tuple | list) else rule(given)
            return _one_each(found, inputs)

        region = regions.region_of(outputs, write)
        made = regions.put(WithGradientOp(regions.raw(outputs), regions.raw(inputs), region))
        return unflatten(tree, made)

    return update_wrapper(call, function)


def _one_each(found: Any, inputs: Sequence[Tracer]) -> list[Tracer]:
    """The gradients that a user's rule gives, one for each input and of its shape and type."""
    given = list(found) if isinstance(found, tuple | list) else [found]  # pyright: ignore[reportUnknownArgumentType]
    leaves = [leaf for item in given for leaf in ([None] if item is None else flatten(item, is_traced)[0])]
    if len(leaves) != len(inputs):
        raise type_error(
            "SW0520",
            f"a gradient function returns {len(leaves)} gradients for {len(inputs)} arguments",
            help="return one for each array among the positional arguments; None stands for zero",
        )
    return [
        emit.constant(0, due.dtype, due.shape) if leaf is None else emit.fit(leaf, due.dtype, due.shape)
        for leaf, due in zip(leaves, inputs, strict=True)
    ]


def checkpoint(function: Callable[P, R]) -> Callable[P, R]:
    """
    The function, whose intermediate values are computed again for the gradient instead of kept (rematerialisation).

    >>> import numpy, shardwright
    >>> layer = shardwright.checkpoint(lambda x: shardwright.exp(shardwright.sin(x)))
    >>> shardwright.grad(lambda x: shardwright.sum(layer(x)))(numpy.array([0.0]))
    array([1.])
    """

    def call(*args: P.args, **kwargs: P.kwargs) -> Any:
        if current_trace() is None:
            return function(*args, **kwargs)
        leaves, tree = flatten((args, kwargs), is_traced)
        inputs = [emit.as_tracer(leaf) for leaf in leaves]
        shapes: list[Tree] = []
        again: Callable[..., Any] = function

        def write(values: list[Tracer]) -> list[Tracer]:
            inner_args, inner_kwargs = unflatten(tree, values)
            parts, found = flatten(again(*inner_args, **inner_kwargs), is_traced)
            shapes[:] = [found]
            return [emit.as_tracer(part) for part in parts]

        region = regions.region_of(inputs, write)
        return unflatten(shapes[0], regions.put(CheckpointOp(regions.raw(inputs), region)))

    return update_wrapper(call, function)
