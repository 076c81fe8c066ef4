"""Steps with regions: loops, branches, functions that are called, and programs written per device."""

# pyright: reportUnknownLambdaType=false

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from whole.build import FLOATS, INTEGERS, Array, Builder, Scope, UnfitError, Value, indented, tensor
from whole.registry import draw, step

ANY = (*FLOATS, *INTEGERS)
RANKS = (1, 2, 3)
MOST_DEEP = 2


def _fill(build: Builder, count: int) -> None:
    """Append a few ops to the block at hand."""
    for _ in range(count * 3):
        if len(build.scope.ops) >= count:
            return
        build.attempt(draw(build).make)


def _ending(build: Builder, scope: Scope, like: Value) -> Value:
    """The newest value of a type, made from what there is if nothing has it."""
    fitting = [v for v in scope.values if v.type == like.type and v.exact == like.exact]
    made = [v for v in fitting if any(v in op.results for op in scope.ops)]
    if made:
        return made[-1]
    if not fitting:
        raise UnfitError
    text = f"stablehlo.add {fitting[-1].name}, {fitting[-1].name} : RESULT"
    return build.emit(text, [fitting[-1], fitting[-1]], np.add)


@step("while", weight=1.2)
def loop(build: Builder) -> None:
    """A counted loop, with a few ops on what it carries; it may carry values that it only reads."""
    if build.depth >= MOST_DEEP:
        raise UnfitError
    carried = [build.some(ANY, RANKS) for _ in range(build.random.randint(1, 2))]
    turns = build.random.randint(0, 3)
    counter, limit, one = build.scalar(0, "i32"), turns, 1
    inner = [Value(build.name(), value.array, value.element, value.exact) for value in (counter, *carried)]
    with build.region(inner, closed=True) as scope:
        step_value = build.scalar(one, "i32")
        text = f"stablehlo.add {inner[0].name}, {step_value.name} : RESULT"
        following = build.emit(text, [inner[0], step_value], np.add)
        _fill(build, len(scope.ops) + build.random.randint(1, 3))
        results = [following]
        for value in inner[1:]:
            results.append(value if len(carried) > 1 and build.chance(0.3) else _ending(build, scope, value))

    def function(*arrays: Array) -> Any:
        state = list(arrays)
        for _ in range(turns):
            state = scope.run(inner, state, results)
        return tuple(state)

    types = ", ".join(value.type for value in inner)
    outer = (counter, *carried)
    pairs = ", ".join(f"{a.name} = {b.name}" for a, b in zip(inner, outer, strict=True))
    text = f"""stablehlo.while({pairs}) : {types}
cond {{
  %limit = stablehlo.constant dense<{limit}> : tensor<i32>
  %more = stablehlo.compare LT, {inner[0].name}, %limit, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.return %more : tensor<i1>
}} do {{
{indented(scope.lines("stablehlo.return", results), 2)}
}}"""
    exact = all(value.exact for value in results)
    build.emit_all(text, outer, function, [value.element for value in outer], exact=exact, helpers=scope.helpers)


@step("while", weight=0.6)
def data_dependent_loop(build: Builder) -> None:
    """Doubles until the sum over everything, which may be split, is large enough."""
    value = build.some(("i32",), (1, 2))
    bound = build.pick((5, 50))
    inner = Value(build.name(), value.array, "i32")
    dims = list(range(value.rank))

    def function(a: Array) -> Array:
        for _ in range(6):
            if not 0 < a.sum() < bound:
                break
            a = a + a
        return a

    if not (value.array.astype(np.int64).sum() <= 0 or value.array.astype(np.int64).sum() * 2**6 >= bound):
        raise UnfitError
    text = f"""stablehlo.while({inner.name} = {value.name}) : {value.type}
cond {{
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %bound = stablehlo.constant dense<{bound}> : tensor<i32>
  %sum = stablehlo.reduce({inner.name} init: %zero) applies stablehlo.add across dimensions = {dims} \
: ({value.type}, tensor<i32>) -> tensor<i32>
  %above = stablehlo.compare GT, %sum, %zero, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %below = stablehlo.compare LT, %sum, %bound, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %more = stablehlo.and %above, %below : tensor<i1>
  stablehlo.return %more : tensor<i1>
}} do {{
  %twice = stablehlo.add {inner.name}, {inner.name} : {value.type}
  stablehlo.return %twice : {value.type}
}}"""
    build.emit(text, [value], function)


def _branch(build: Builder, like: Value) -> tuple[Scope, Value]:
    """A block that may use what is outside, and gives a value like another."""
    with build.region([], closed=False) as scope:
        _fill(build, build.random.randint(1, 3))
        return scope, _ending(build, scope, like)


@step("case", "if", weight=1.2, local=False)
def branches(build: Builder) -> None:
    if build.depth >= MOST_DEEP:
        raise UnfitError
    like = build.some(ANY, RANKS)
    name = build.pick(("case", "if"))
    count = 2 if name == "if" else build.random.randint(1, 3)
    made = [_branch(build, like) for _ in range(count)]
    number = build.pick((-1, 0, 1, 2, 5)) if name == "case" else build.random.randint(0, 1)
    kind = "i32" if name == "case" else "i1"
    chosen = build.argument((), kind, np.array(number).astype("int32" if name == "case" else "bool"))
    captured = {v.name: v for scope, result in made for v in scope.captured((), [result])}
    outside = list(captured.values())

    def function(index: Array, *arrays: Array) -> Any:
        number = 1 - int(index) if name == "if" else int(index)
        place = number if 0 <= number < count else count - 1
        scope, result = made[place]
        return scope.run(outside, [_as(array, v) for array, v in zip(arrays, outside, strict=True)], [result])[0]

    regions = ", ".join(f"{{\n{indented(scope.lines('stablehlo.return', [v]), 2)}\n}}" for scope, v in made)
    text = f'"stablehlo.{name}"({chosen.name}) ({regions}) : ({chosen.type}) -> RESULT'
    exact = all(v.exact for _, v in made)
    helpers = tuple(text for scope, _ in made for text in scope.helpers)
    build.emit(text, [chosen, *outside], function, like.element, exact=exact, helpers=helpers)


def _as(array: Array, value: Value) -> Array:
    return array.astype(value.array.dtype)


@step("func.call", weight=1)
def called(build: Builder) -> None:
    """A private function, called once or twice."""
    if build.depth >= MOST_DEEP:
        raise UnfitError
    value = build.some(ANY, RANKS)
    inner = [Value(build.name(), value.array, value.element, value.exact)]
    with build.region(inner, closed=True) as scope:
        _fill(build, build.random.randint(1, 3))
        result = _ending(build, scope, inner[0])
    if result.exact != value.exact:
        raise UnfitError
    symbol = f"@function_{build.name()[1:]}"
    helper = (
        f"func.func private {symbol}({inner[0].name}: {value.type}) -> {value.type} {{\n"
        f"{indented(scope.lines('return', [result]), 2)}\n}}"
    )
    function = lambda a: scope.run(inner, [_as(a, value)], [result])[0]  # noqa: E731
    for _ in range(build.random.randint(1, 2)):
        text = f"func.call {symbol}({value.name}) : ({value.type}) -> RESULT"
        value = build.emit(text, [value], function, helpers=(helper, *scope.helpers))


@step(
    "sdy.manual_computation",
    *("all_reduce", "all_gather", "reduce_scatter", "all_to_all", "collective_permute", "partition_id"),
    weight=1.2,
    local=False,
)
def manual(build: Builder) -> None:
    """A program written per device: one collective over an axis that splits a dim."""
    if build.depth:
        raise UnfitError
    split = [(name, size) for name, size in build.mesh.items() if size > 1]
    if not split:
        raise UnfitError
    axis, parts = build.pick(split)
    value = build.some(("f32", "i32", "bf16"), RANKS, exact=True)
    dims = [dim for dim, extent in enumerate(value.shape) if extent % parts == 0]
    if not dims:
        raise UnfitError
    dim = build.pick(dims)
    local = tuple(n // parts if d == dim else n for d, n in enumerate(value.shape))
    kind = build.pick(("psum", "all_gather", "reduce_scatter", "all_to_all", "permute", "local", "index"))
    body, result_dim, function = _collective(build, kind, local, value, (axis, parts, dim))
    outgoing = _spec(axis, result_dim, value.rank)
    others = "" if build.chance(0.7) or len(build.mesh) == 1 else axis
    names = ", ".join(f'"{name}"' for name in build.mesh if not others or name == axis)
    text = f"""sdy.manual_computation({value.name}) in_shardings=[<@mesh, {_spec(axis, dim, value.rank)}>] \
out_shardings=[<@mesh, {outgoing}>] manual_axes={{{names}}} (%x: {tensor(local, value.element)}) {{
{indented(body, 2)}
}} : ({value.type}) -> RESULT"""
    magnitude = (lambda a: abs(a).sum()) if value.element in FLOATS else None
    build.emit(text, [value], function, magnitude=magnitude)


def _spec(axis: str, dim: int | None, rank: int) -> str:
    return "[" + ", ".join(f'{{"{axis}"}}' if d == dim else "{}" for d in range(rank)) + "]"


def _groups(mesh: dict[str, int], axis: str) -> list[list[int]]:
    """The devices that differ in one axis only."""
    sizes = list(mesh.values())
    numbers = np.arange(math.prod(sizes)).reshape(sizes)
    moved = np.moveaxis(numbers, list(mesh).index(axis), -1)
    return moved.reshape(-1, sizes[list(mesh).index(axis)]).tolist()


def _collective(
    build: Builder, kind: str, local: Sequence[int], value: Value, where: tuple[str, int, int]
) -> tuple[str, int | None, Any]:
    """The body of a manual computation, the dim that its result is split in, and what it does to the whole value."""
    axis, parts, dim = where
    element, groups = value.element, _groups(build.mesh, axis)
    x, v = tensor(tuple(local), element), f"tensor<{element}>"
    listed = f"dense<{groups}> : tensor<{len(groups)}x{parts}xi64>"
    channel = "channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>"
    adds = f"^bb0(%a: {v}, %b: {v}):\n  %0 = stablehlo.add %a, %b : {v}\n  stablehlo.return %0 : {v}"
    chunks = lambda a: np.split(a, parts, dim)  # noqa: E731
    after = list(local)
    if kind == "psum":
        attributes = f"{channel}, replica_groups = {listed}, use_global_device_ids"
        line = f'"stablehlo.all_reduce"(%x) <{{{attributes}}}> ({{\n{adds}\n}})'
        return _body(line, x, x), None, lambda a: sum(chunks(a))
    if kind == "all_gather":
        after[dim] *= parts
        attributes = f"{channel}, replica_groups = {listed}, use_global_device_ids"
        line = f'"stablehlo.all_gather"(%x) <{{all_gather_dim = {dim} : i64, {attributes}}}>'
        return _body(line, x, tensor(tuple(after), element)), None, lambda a: a
    if kind == "reduce_scatter" and local[dim] % parts == 0:
        after[dim] //= parts
        line = (
            f'"stablehlo.reduce_scatter"(%x) <{{{channel}, replica_groups = {listed}, scatter_dimension = {dim} : i64, '
            f"use_global_device_ids}}> ({{\n{adds}\n}})"
        )
        return _body(line, x, tensor(tuple(after), element)), dim, lambda a: sum(chunks(a))
    target = next((d for d in range(value.rank) if d != dim and local[d] % parts == 0), None)
    if kind == "all_to_all" and target is not None:
        after[dim], after[target] = after[dim] * parts, after[target] // parts
        line = (
            f'"stablehlo.all_to_all"(%x) <{{{channel}, concat_dimension = {dim} : i64, replica_groups = {listed}, '
            f"split_count = {parts} : i64, split_dimension = {target} : i64}}>"
        )
        return _body(line, x, tensor(tuple(after), element)), target, lambda a: a
    if kind == "permute":
        return _permute(groups, x, channel, (parts, dim))
    if kind == "index":
        return _index(build, element, x, where)
    return f"%r = stablehlo.add %x, %x : {x}\nsdy.return %r : {x}", dim, lambda a: a + a


def _body(line: str, source: str, target: str) -> str:
    return f"%r = {line} : ({source}) -> {target}\nsdy.return %r : {target}"


def _permute(groups: Sequence[Sequence[int]], x: str, channel: str, where: tuple[int, int]) -> tuple[str, int, Any]:
    """Each device's part goes to the next one; the last one's goes nowhere."""
    parts, dim = where
    pairs = [[group[i], group[i + 1]] for group in groups for i in range(parts - 1)]
    listed = f"dense<{pairs}> : tensor<{len(pairs)}x2xi64>"
    line = f'"stablehlo.collective_permute"(%x) <{{{channel}, source_target_pairs = {listed}}}>'

    def function(a: Array) -> Array:
        chunks = np.split(a, parts, dim)
        return np.concatenate([np.zeros_like(chunks[0]), *chunks[:-1]], dim)

    return _body(line, x, x), dim, function


def _index(build: Builder, element: str, x: str, where: tuple[str, int, int]) -> tuple[str, int, Any]:
    """Each device adds its number along the axis, as `jax.lax.axis_index` is exported."""
    axis, parts, dim = where
    names = list(build.mesh)
    stride = math.prod(list(build.mesh.values())[names.index(axis) + 1 :])
    body = f"""%stride = stablehlo.constant dense<{stride}> : tensor<ui32>
%parts = stablehlo.constant dense<{parts}> : tensor<ui32>
%id = stablehlo.partition_id : tensor<ui32>
%0 = stablehlo.divide %id, %stride : tensor<ui32>
%1 = stablehlo.remainder %0, %parts : tensor<ui32>
%2 = stablehlo.convert %1 : (tensor<ui32>) -> tensor<{element}>
%3 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<{element}>) -> {x}
%r = stablehlo.add %x, %3 : {x}
sdy.return %r : {x}"""

    def function(a: Array) -> Array:
        return np.concatenate([chunk + i for i, chunk in enumerate(np.split(a, parts, dim))], dim)

    return body, dim, function
