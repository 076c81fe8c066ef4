"""Gradients in traced functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import update_wrapper
from typing import Any, ParamSpec, TypeVar

from xdsl.ir import SSAValue

from shardwright.compiler.control import regions
from shardwright.compiler.control.sources import is_differentiable, source_of
from shardwright.compiler.tracing import emit
from shardwright.compiler.tracing.dtypes import brief, kind_of
from shardwright.compiler.tracing.interface import is_traced
from shardwright.compiler.tracing.pytree import Tree, flatten, unflatten
from shardwright.compiler.tracing.settings import settled
from shardwright.compiler.tracing.trace import Tracer, current_trace
from shardwright.diagnostics.faults import type_error, value_error
from shardwright.dialects.building import returned
from shardwright.dialects.dtensor.gradients import CheckpointOp, GradientOp, WithGradientOp

P = ParamSpec("P")
R = TypeVar("R")


def gradient_of(
    targets: Sequence[Tracer],
    seeds: Sequence[Tracer],
    sources: Sequence[Tracer],
    constants: Sequence[SSAValue] = (),
) -> list[Tracer]:
    """The gradients of traced values with respect to others, as values of the same trace; nothing goes by constants."""
    trace = emit.trace_now()
    if not sources:
        return []
    op = GradientOp(*([value.value for value in side] for side in (targets, seeds, sources)), constants=constants)
    op.location = trace.location
    trace.block.add_op(op)
    results = op.results[: len(sources)]
    trace.settle_like(results, regions.raw(sources))
    return [Tracer(trace, result) for result in results]


def differentiated(function: Callable[..., Any], argnums: int | Sequence[int], has_aux: bool) -> Callable[..., Any]:
    """
    The traced function that gives the value of a scalar function, and its gradient by some arguments.

    With `has_aux` the function gives a pair, of which the second is for whoever calls, and has no gradient.
    """
    places = tuple(argnums) if isinstance(argnums, Sequence) else (argnums,)

    def traced(*args: Any, **kwargs: Any) -> Any:
        _check_once(places, len(args))
        parts = [flatten(_positional(args, place), is_traced) for place in places]
        sources = [
            [source_of(leaf, place) for leaf in leaves] for place, (leaves, _) in zip(places, parts, strict=True)
        ]
        given = list(args)
        for place, leaves, (_, tree) in zip(places, sources, parts, strict=True):
            given[place] = unflatten(tree, [leaf.given for leaf in leaves])
        value = function(*given, **kwargs)
        target = _target(_scalar_of(value) if has_aux else value)
        seed = emit.constant(1, target.dtype)
        found = iter(gradient_of([target], [seed], [leaf.settled() for leaves in sources for leaf in leaves]))
        gradients = tuple(
            unflatten(tree, [next(found) for _ in leaves]) for leaves, (_, tree) in zip(sources, parts, strict=True)
        )
        return value, gradients if isinstance(argnums, Sequence) else gradients[0]

    return update_wrapper(traced, function)


def pushed(function: Callable[..., Any]) -> Callable[[Sequence[Any], Sequence[Any]], tuple[Any, Any]]:
    """
    The traced function of arguments and of directions that gives a function's value, and how it changes there.

    Gradients go backwards; a gradient is linear in its seeds, and the gradient of that by them goes forwards again.
    """

    def traced(primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        leaves, tree = flatten(tuple(primals), is_traced)
        given = [source_of(leaf, place) for place, leaf in enumerate(leaves)]
        value = function(*unflatten(tree, [source.given for source in given]))
        sources, numbers = [source.settled() for source in given], [source.is_number for source in given]
        directions = _seeds(tuple(tangents), sources, tree, "tangents", "arguments", numbers)
        targets, made = _targets(value)
        duals = [emit.constant(0, target.dtype, target.shape) for target in targets]
        changes = gradient_of(gradient_of(targets, duals, sources), directions, duals)
        return value, unflatten(made, changes)

    return traced


def pulled(function: Callable[..., Any]) -> Callable[[Sequence[Any], Any], tuple[Any, ...]]:
    """The traced function of arguments and of a gradient of a function's value that gives the arguments' gradients."""

    def traced(primals: Sequence[Any], cotangents: Any) -> tuple[Any, ...]:
        leaves, tree = flatten(tuple(primals), is_traced)
        given = [source_of(leaf, place) for place, leaf in enumerate(leaves)]
        targets, made = _targets(function(*unflatten(tree, [source.given for source in given])))
        sources = [source.settled() for source in given]
        return unflatten(tree, gradient_of(targets, _seeds(cotangents, targets, made, "seeds", "results"), sources))

    return traced


def _targets(value: Any) -> tuple[list[Tracer], Tree]:
    """The results of a function that is differentiated, all of which must be floats."""
    leaves, tree = flatten(value, is_traced)
    targets = [emit.as_tracer(leaf, "a gradient") for leaf in leaves]
    for target in targets:
        if not is_differentiable(target.dtype):
            text = f"a result is {brief(target.dtype)}{list(target.shape)}, which has no gradient"
            raise type_error("SW0520", text, help="return floating-point values only")
    return targets, tree


def _seeds(
    given: Any, values: Sequence[Tracer], tree: Tree, what: str, whose: str, numbers: Sequence[bool] = ()
) -> list[Tracer]:
    """What stands for each value: of its shape and type, in the same tree; for `numbers` of any type of floats."""
    leaves, found = flatten(given, is_traced)
    if found != tree:
        raise type_error(
            "SW0520", f"the {what} are not in the tree of the {whose}", help=f"give one for each of the {whose}"
        )
    seeds = [
        emit.fit(leaf, value.dtype, value.shape) if emit.weak_kind(leaf) else emit.as_tracer(leaf, what)
        for leaf, value in zip(leaves, values, strict=True)
    ]
    for place, (seed, value) in enumerate(zip(seeds, values, strict=True)):
        if any(numbers[place : place + 1]) and kind_of(seed.dtype) == kind_of(value.dtype):
            seeds[place] = emit.convert(seed, value.dtype)
    for seed, value in zip(seeds, values, strict=True):
        if (seed.shape, seed.dtype) != (value.shape, value.dtype):
            raise type_error(
                "SW0520",
                f"one of the {what} is {brief(seed.dtype)}{list(seed.shape)}, and what it stands for "
                f"{brief(value.dtype)}{list(value.shape)}",
                help="shapes and types must be equal",
            )
    return seeds


def rows_of(function: Callable[..., Any], argnum: int, each: Callable[..., Any]) -> Callable[..., Any]:
    """
    The traced function that gives the gradients of all elements of a function's results by one argument.

    `each` computes a function of 0, 1, 2 ... up to a number, and stacks what it gives.
    """

    def traced(*args: Any, **kwargs: Any) -> Any:
        leaves, tree = flatten(_positional(args, argnum), is_traced)
        anew = [source_of(leaf, argnum) for leaf in leaves]
        given = list(args)
        given[argnum] = unflatten(tree, [source.given for source in anew])
        targets, made = _targets(function(*given, **kwargs))
        sources = [source.settled() for source in anew]

        def rows(target: Tracer) -> Any:
            def row(number: Tracer) -> list[Tracer]:
                place = emit.iota(number.dtype, (target.size,), 0)
                hit = emit.compare("EQ", place, emit.broadcast(number, place.shape))
                return gradient_of([target], [emit.reshape(emit.convert(hit, target.dtype), target.shape)], sources)

            found = each(row, target.size)
            shapes = [(*target.shape, *source.shape) for source in sources]
            return unflatten(tree, [emit.reshape(part, shape) for part, shape in zip(found, shapes, strict=True)])

        return unflatten(made, [rows(target) for target in targets])

    return update_wrapper(traced, function)


def _check_once(places: Sequence[int], count: int) -> None:
    """ValueError (SW0520) for an argument that is named twice, which has one gradient."""
    found = [place + count if place < 0 else place for place in places]
    again = next((place for at, place in enumerate(found) if place in found[:at]), None)
    if again is not None:
        raise value_error("SW0520", f"argnums names argument {again} twice", help="name each argument once")


def _positional(args: Sequence[Any], place: int) -> Any:
    if not -len(args) <= place < len(args):
        raise value_error(
            "SW0520",
            f"argnums names argument {place}, but {len(args)} positional arguments were given",
            help="pass the arguments to differentiate by position",
        )
    return args[place]


def _scalar_of(pair: Any) -> Any:
    """What is differentiated of what a function gives."""
    if not isinstance(pair, tuple) or len(pair) != 2:  # pyright: ignore[reportUnknownArgumentType]
        given = type(pair).__name__
        raise type_error(
            "SW0520",
            f"with has_aux a function gives a pair, not {given}",
            help="return the scalar and what goes with it",
        )
    return pair[0]  # pyright: ignore[reportUnknownVariableType]


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


def ruled(function: Callable[P, tuple[R, Callable[..., Any]]]) -> Callable[P, R]:
    """The function of what one gives first, with the gradient that it gives second; at once it is just that value."""

    def call(*args: P.args, **kwargs: P.kwargs) -> Any:
        value, rule = _with_rule(function(*args, **kwargs))
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
        made = regions.put(WithGradientOp(regions.raw(outputs), regions.raw(inputs), region), regions.raw(outputs))
        return unflatten(tree, made)

    return update_wrapper(call, function)


def _with_rule(found: Any) -> tuple[Any, Callable[..., Any]]:
    """What a function with a gradient of its own returns, if it is that."""
    if not isinstance(found, tuple | list) or len(found) != 2 or not callable(found[1]):  # pyright: ignore[reportUnknownArgumentType]
        raise type_error(
            "SW0520",
            "a function with a gradient of its own returns no pair of its value and of a function",
            help="return value, gradient: the gradient is a function of that of the value",
        )
    return found[0], found[1]


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
        emit.constant(0, due.dtype, due.shape) if leaf is None else _fitting(leaf, due, place)
        for place, (leaf, due) in enumerate(zip(leaves, inputs, strict=True))
    ]


def _fitting(leaf: Any, due: Tracer, place: int) -> Tracer:
    """The gradient by an argument that a user's rule gives, in its shape and type; SW0505 on another mesh."""
    trace, gradient = emit.trace_now(), emit.fit(leaf, due.dtype, due.shape)
    found, wanted = (trace.homes.get(each.value) for each in (gradient, due))
    if found is not None and wanted is not None and found is not wanted:
        raise value_error(
            "SW0505",
            f"a gradient function gives for argument {place}, which is on {wanted!r}, a gradient on {found!r}",
            help="bring it there: shardwright.relayout_like(gradient, argument)",
        )
    return gradient


@settled
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
        # Numbers stay what they are: they take the type of the arrays that they meet, with all their digits.
        leaves, tree = flatten((args, kwargs), lambda leaf: is_traced(leaf) and emit.weak_kind(leaf) is None)
        inputs = [emit.as_tracer(leaf) for leaf in leaves]
        shapes: list[Tree] = []
        again: Callable[..., Any] = function

        def write(values: list[Tracer]) -> list[Tracer]:
            inner_args, inner_kwargs = unflatten(tree, values)
            parts, found = flatten(again(*inner_args, **inner_kwargs), is_traced)
            shapes[:] = [found]
            return [emit.as_tracer(part) for part in parts]

        region = regions.region_of(inputs, write)
        made = regions.put(CheckpointOp(regions.raw(inputs), region), returned(region.block))
        return unflatten(shapes[0], made)

    return update_wrapper(call, function)
