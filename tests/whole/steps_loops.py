"""Loops with several carries and collectives: sums that may stay partial, values that are written row by row."""

# pyright: reportUnknownLambdaType=false

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from whole.build import Array, Builder, UnfitError, Value, indented
from whole.reference import dynamic_slice, dynamic_update_slice
from whole.registry import Make, draw

ELEMENTS = ("f32", "i32")

COMBINERS: dict[str, Callable[..., Any]] = {"add": np.add, "maximum": np.maximum, "minimum": np.minimum}


def counted_loop(
    build: Builder,
    starts: Sequence[Value],
    turns: int,
    body: Callable[[Value, list[Value]], list[Value]],
    captures: bool,
) -> list[Value]:
    """A loop over a counter; `body` appends ops for the counter and the carries, and says what the next round gets."""
    counter = build.scalar(0, "i32")
    inner = [Value(build.name(), value.array, value.element, value.exact) for value in (counter, *starts)]
    limit = build.name()
    more = build.name()
    with build.region(inner, closed=not captures) as scope:
        following = body(inner[0], inner[1:])
        one = build.scalar(1, "i32")
        text = f"stablehlo.add {inner[0].name}, {one.name} : RESULT"
        results = [build.emit(text, [inner[0], one], np.add), *following]
    outside = scope.captured(inner, results)

    def function(*arrays: Array) -> Any:
        state, rest = list(arrays[: len(inner)]), arrays[len(inner) :]
        known = [array.astype(value.array.dtype) for array, value in zip(rest, outside, strict=True)]
        for _ in range(turns):
            state = scope.run([*inner, *outside], [*state, *known], results)
        return tuple(state)

    types = ", ".join(value.type for value in inner)
    outer = (counter, *starts)
    pairs = ", ".join(f"{a.name} = {b.name}" for a, b in zip(inner, outer, strict=True))
    text = f"""stablehlo.while({pairs}) : {types}
cond {{
  {limit} = stablehlo.constant dense<{turns}> : tensor<i32>
  {more} = stablehlo.compare LT, {inner[0].name}, {limit}, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.return {more} : tensor<i1>
}} do {{
{indented(scope.lines("stablehlo.return", results), 2)}
}}"""
    exact = all(value.exact for value in results)
    elements = [value.element for value in outer]
    return build.emit_all(text, [*outer, *outside], function, elements, exact=exact, helpers=scope.helpers)[1:]


def summed(build: Builder, value: Value, dims: Sequence[int], name: str = "add") -> Value:
    """A value reduced over some dims."""
    start = build.scalar({"add": 0, "maximum": -1000, "minimum": 1000}[name], value.element)
    text = (
        f"stablehlo.reduce({value.name} init: {start.name}) applies stablehlo.{name} across dimensions = {list(dims)}"
        f" : ({value.type}, {start.type}) -> RESULT"
    )
    reduced = lambda a, s: COMBINERS[name].reduce(a, axis=tuple(dims), initial=s[()])  # noqa: E731
    return build.emit(text, [value, start], reduced, magnitude=lambda a, _: abs(a).sum())


def product(build: Builder, left: Value, right: Value, dims: tuple[int, int]) -> Value:
    """Two values contracted over one dim of each."""
    i, j = dims
    text = (
        f"stablehlo.dot_general {left.name}, {right.name}, contracting_dims = [{i}] x [{j}]"
        f" : ({left.type}, {right.type}) -> RESULT"
    )
    function = lambda a, b: np.tensordot(a, b, ((i,), (j,)))  # noqa: E731
    return build.emit(text, [left, right], function, magnitude=lambda a, b: function(abs(a), abs(b)))


def spread(build: Builder, value: Value, like: Value, dims: Sequence[int]) -> Value:
    """A value over some dims of another one's shape."""
    text = f"stablehlo.broadcast_in_dim {value.name}, dims = {list(dims)} : ({value.type}) -> RESULT"
    shape = [n if d in dims else 1 for d, n in enumerate(like.shape)]
    return build.emit(text, [value], lambda a: np.broadcast_to(a.reshape(shape), like.shape))


def combined(build: Builder, name: str, left: Value, right: Value) -> Value:
    """Two values of one type, element by element."""
    function = {**COMBINERS, "subtract": np.subtract, "multiply": np.multiply}[name]
    return build.emit(f"stablehlo.{name} {left.name}, {right.name} : RESULT", [left, right], function)


def row(build: Builder, rows: Value, place: Value) -> Value:
    """One row of a value."""
    zero = build.scalar(0, "i32")
    sizes, rest = [1, *rows.shape[1:]], [zero] * (rows.rank - 1)
    names, types = ", ".join(v.name for v in (place, *rest)), ", ".join(["tensor<i32>"] * rows.rank)
    text = f"stablehlo.dynamic_slice {rows.name}, {names}, sizes = {sizes} : ({rows.type}, {types}) -> RESULT"
    operands = [rows, place, *rest]
    taken = build.emit(text, operands, lambda a, *at: dynamic_slice(a, [int(s) for s in at], sizes))
    text = f"stablehlo.reshape {taken.name} : ({taken.type}) -> RESULT"
    return build.emit(text, [taken], lambda a: a.reshape(sizes[1:]))


def with_row(build: Builder, rows: Value, new: Value, place: Value) -> Value:
    """A value with one row replaced."""
    zero = build.scalar(0, "i32")
    text = f"stablehlo.reshape {new.name} : ({new.type}) -> RESULT"
    one = build.emit(text, [new], lambda a: a.reshape(1, *a.shape))
    rest = [zero] * (rows.rank - 1)
    names, types = ", ".join(v.name for v in (place, *rest)), ", ".join(["tensor<i32>"] * rows.rank)
    text = (
        f"stablehlo.dynamic_update_slice {rows.name}, {one.name}, {names}"
        f" : ({rows.type}, {one.type}, {types}) -> RESULT"
    )
    function = lambda a, u, *at: dynamic_update_slice(a, u, [int(s) for s in at])  # noqa: E731
    return build.emit(text, [rows, one, place, *rest], function)


def constrained(build: Builder, value: Value) -> Value:
    """A value, now and then with a layout or through an op that finishes a partial sum."""
    if build.chance(0.75):
        return value
    if build.chance(0.5):
        text = f"sdy.sharding_constraint {value.name} <@mesh, {build.layout(value.shape)}> : RESULT"
        return build.emit(text, [value], lambda a: a)
    return combined(build, "maximum", value, build.splat(value.shape, value.element, -3))


def busy(build: Builder) -> None:
    """Two to five carries over one source: sums, extrema, rows written, products with weights, random others."""
    element = build.pick(ELEMENTS)
    source = build.fresh(build.shape(build.pick((2, 2, 3))), element)
    weights = build.fresh((source.shape[-1], source.shape[-1]), element)
    captures = build.chance(0.5)
    turns = build.pick((0, 1, 2, 2, 3))
    plans = [
        build.pick((_accumulated, _accumulated, _accumulated, _written, _mixed)) for _ in range(build.pick((1, 2, 3)))
    ]
    made = [plan(build, source, turns) for plan in plans]
    # Without captures, what the body reads is carried along.
    starts = [source, *(carry for carry, _ in made), *([] if captures else [weights])]

    def body(counter: Value, carried: list[Value]) -> list[Value]:
        known = weights if captures else carried[-1]
        current = carried[0]
        moved = _moved(build, current, known)
        following = [_source_step(build, current, moved)]
        for (_, step), value in zip(made, carried[1:], strict=False):
            following.append(step(moved, value, counter))
        return [*following, *carried[len(following) :]]

    counted_loop(build, starts, turns, body, captures)


def _moved(build: Builder, current: Value, weights: Value) -> Value:
    """What the carries are made from: the source, a product with weights, or something random."""
    choice = build.random.randint(0, 3)
    if choice == 0:
        return current
    if choice == 1:
        return product(build, current, weights, (current.rank - 1, 0))
    if choice == 2:
        return combined(build, "subtract", current, build.splat(current.shape, current.element, 1))
    for _ in range(6):
        build.attempt(draw(build).make)
    same = [value for value in build.scope.values if value.type == current.type and value.exact]
    return same[-1] if same else current


def _source_step(build: Builder, current: Value, moved: Value) -> Value:
    """The source of the next round: the same, a clamped product, or turned round."""
    choice = build.random.randint(0, 2)
    if choice == 0:
        return current
    if choice == 1:
        return clamped(build, moved, -2, 2)
    dim = build.random.randrange(current.rank)
    text = f"stablehlo.reverse {current.name}, dims = [{dim}] : RESULT"
    return build.emit(text, [current], lambda a: np.flip(a, dim))


def clamped(build: Builder, value: Value, low: int, high: int) -> Value:
    """A value between two numbers."""
    bounds = [build.scalar(number, value.element) for number in (low, high)]
    text = (
        f"stablehlo.clamp {bounds[0].name}, {value.name}, {bounds[1].name}"
        f" : ({bounds[0].type}, {value.type}, {bounds[1].type}) -> RESULT"
    )
    return build.emit(text, [bounds[0], value, bounds[1]], lambda a, b, c: np.clip(b, a, c), value.element)


Plan = tuple[Value, Callable[[Value, Value, Value], Value]]
"""Where a carry starts, and what the next round gets: of the round's value, the carry and the counter."""


def _accumulated(build: Builder, source: Value, turns: int) -> Plan:
    """A reduction over some dims, added to or compared with what there is."""
    dims = sorted(build.random.sample(range(source.rank), build.random.randint(1, source.rank)))
    shape = tuple(n for d, n in enumerate(source.shape) if d not in dims)
    name = build.pick(("add", "add", "add", "subtract", "maximum", "minimum"))
    number = {"maximum": -1000, "minimum": 1000}.get(name, 0)
    start = build.splat(shape, source.element, number) if build.chance(0.7) else build.fresh(shape, source.element)
    twice, finish = build.chance(0.2), build.chance(0.2)

    def step(current: Value, carried: Value, counter: Value) -> Value:
        reduced = summed(build, current, dims, "add" if name == "subtract" else name)
        reduced = constrained(build, reduced) if finish else reduced
        found = combined(build, name, carried, reduced)
        found = combined(build, "add", found, reduced) if twice else found
        return constrained(build, found) if finish else found

    return start, step


def _written(build: Builder, source: Value, turns: int) -> Plan:
    """The sum over a dim, put into the row of the counter."""
    dim = build.random.randrange(source.rank)
    shape = tuple(n for d, n in enumerate(source.shape) if d != dim)
    start = build.splat((max(turns, 1), *shape), source.element, 0)
    return start, lambda current, carried, counter: with_row(build, carried, summed(build, current, [dim]), counter)


def _mixed(build: Builder, source: Value, turns: int) -> Plan:
    """A value of the source's shape to which sums over a dim are added back."""
    start = build.fresh(source.shape, source.element)
    dim = build.random.randrange(source.rank)
    rest = [d for d in range(source.rank) if d != dim]

    def step(current: Value, carried: Value, counter: Value) -> Value:
        reduced = constrained(build, summed(build, carried if build.chance(0.5) else current, [dim]))
        back = spread(build, reduced, source, rest)
        return clamped(build, combined(build, "add", combined(build, "add", carried, current), back), -50, 50)

    return start, step


def twice(build: Builder) -> None:
    """A loop, and another one over what the first one gave."""
    busy(build)
    if len(build.scope.values) < 3:
        raise UnfitError
    busy(build)


OPENINGS: tuple[Make, ...] = (busy, busy, twice)
