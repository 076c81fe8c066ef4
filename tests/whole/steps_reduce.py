"""Steps that combine elements: products, reductions of every kind, convolutions and windows."""

# pyright: reportUnknownLambdaType=false

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from whole.build import ELEMENTS, FLOATS, INTEGERS, SIGNED, Array, Builder, UnfitError, Value
from whole.reference import Convolution, Window, arg_extreme, reduce_window, select_and_scatter
from whole.registry import step

REAL = (*FLOATS, *INTEGERS)


@step("dot_general", weight=4)
def dot(build: Builder) -> None:
    value = build.some((*REAL, "complex<f32>"), (1, 2, 3))
    roles = [build.pick("bcf") for _ in value.shape]
    batching = [i for i, role in enumerate(roles) if role == "b"]
    contracting = [i for i, role in enumerate(roles) if role == "c"]
    sources = batching + contracting
    free = build.random.randint(0, 1)
    places = build.random.sample(range(len(sources) + free), len(sources) + free)
    shape = list(build.shape(len(places)))
    for source, place in zip(sources, places, strict=False):
        shape[place] = value.shape[source]
    other = _of_shape(build, tuple(shape), value.element)
    letters, others = "ijklnopq"[: value.rank], ["m"] * len(places)
    for source, place in zip(sources, places, strict=False):
        others[place] = letters[source]
    kept = [letters[i] for i in batching] + [letters[i] for i, role in enumerate(roles) if role == "f"] + ["m"] * free
    equation = f"{letters},{''.join(others)}->{''.join(kept)}"
    count = len(batching)
    batch_text = f"batching_dims = {batching} x {places[:count]}, " if batching else ""
    build.emit(
        f"stablehlo.dot_general {value.name}, {other.name}, {batch_text}"
        f"contracting_dims = {contracting} x {places[count : len(sources)]}"
        f" : ({value.type}, {other.type}) -> RESULT",
        [value, other],
        lambda a, b: np.einsum(equation, a, b),
        _wider(build, value.element),
        magnitude=lambda a, b: np.einsum(equation, abs(a), abs(b)) if a.dtype.kind in "fc" else 0.0,
    )


def _wider(build: Builder, element: str) -> str:
    """Now and then a product is asked for in a wider element type."""
    wider = {"bf16": "f32", "f16": "f32", "i8": "i32", "f32": "f32"}
    return wider.get(element, element) if build.chance(0.4) else element


def _of_shape(build: Builder, shape: tuple[int, ...], element: str) -> Value:
    """A value of a shape that is there, or a new argument."""
    same = [value for value in build.scope.values if (value.shape, value.element) == (shape, element)]
    return build.pick(same) if same and (build.closed or build.chance(0.4)) else build.argument(shape, element)


Reducer = tuple[str, tuple[str, ...], Callable[..., Any], float]
REDUCERS: tuple[Reducer, ...] = (
    ("add", (*REAL, "complex<f32>"), np.add, 0),
    ("add", (*REAL, "complex<f32>"), np.add, 0),
    ("add", REAL, np.add, 2),
    ("maximum", REAL, np.maximum, -100),
    ("minimum", REAL, np.minimum, 100),
    ("maximum", REAL, np.maximum, 1),
    ("multiply", INTEGERS, np.multiply, 1),
    ("and", ("i1", *INTEGERS), np.bitwise_and, 1),
    ("or", ("i1", *INTEGERS), np.bitwise_or, 0),
    ("xor", ("i1", "i32"), np.bitwise_xor, 0),
)


def _neutral(name: str, element: str, number: float) -> float:
    """Where a reduction starts: the neutral number where the element type has one that fits."""
    if element in INTEGERS:
        limits = np.iinfo(ELEMENTS[element])
        number = (
            {"maximum": limits.min, "minimum": limits.max, "and": -1 if element in SIGNED else limits.max}.get(
                name, number
            )
            if number in (-100, 100) or name == "and"
            else number
        )
        return int(min(max(number, limits.min), limits.max))
    return number


def _reduction(name: str, dims: Sequence[int]) -> Callable[..., Any]:
    ufunc: Any = {"add": np.add, "maximum": np.maximum, "minimum": np.minimum, "multiply": np.multiply}.get(
        name, {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}.get(name)
    )

    def run(array: Array, start: Array) -> Array:
        return ufunc.reduce(array, axis=tuple(dims), initial=start[()]).astype(array.dtype)

    return run


@step("reduce", weight=4)
def reduce(build: Builder) -> None:
    name, elements, _, number = build.pick(REDUCERS)
    value = build.some(elements, (1, 2, 3, 4))
    dims = sorted(build.random.sample(range(value.rank), build.random.randint(1, value.rank)))
    if number in (1, 2) and name != "multiply" and max(value.shape[dim] for dim in dims) <= 1:
        raise UnfitError  # nothing is combined: whether the start counts is left to implementations
    start = build.scalar(_neutral(name, value.element, number), value.element)
    text = (
        f"stablehlo.reduce({value.name} init: {start.name}) applies stablehlo.{name} across dimensions = {dims}"
        f" : ({value.type}, {start.type}) -> RESULT"
    )
    magnitude = (lambda a, b: abs(a).sum() + abs(b)) if value.element in (*FLOATS, "complex<f32>") else None
    build.emit(text, [value, start], _reduction(name, dims), magnitude=magnitude)


@step("reduce", weight=1.5)
def reduce_arg(build: Builder) -> None:
    """As `jnp.argmax` is exported: values and places, the first of equal ones."""
    value = build.some(("f32", "i32", "bf16", "f64"), (1, 2, 3), exact=True)
    dim = build.random.randrange(value.rank)
    if not value.array.size:
        raise UnfitError
    largest = build.chance(0.5)
    shape = [1] * value.rank
    shape[dim] = value.shape[dim]
    ramp = lambda: np.broadcast_to(np.arange(value.shape[dim]).reshape(shape), value.shape)  # noqa: E731
    places = build.emit(f"stablehlo.iota dim = {dim} : RESULT", [], ramp, "i32")
    if value.element == "i32":
        limits = np.iinfo(np.int32)
        start = build.scalar(limits.min if largest else limits.max, "i32")
    else:
        start = build.scalar(-(2.0**20) if largest else 2.0**20, value.element)
    zero = build.scalar(0, "i32")
    kind, element = ("SIGNED", "i32") if value.element == "i32" else ("FLOAT", value.element)
    v, pair = f"tensor<{element}>", f"(tensor<{element}>, tensor<{element}>) -> tensor<i1>"
    index = "(tensor<i32>, tensor<i32>) -> tensor<i1>"
    text = f"""stablehlo.reduce({value.name} init: {start.name}), ({places.name} init: {zero.name}) \
across dimensions = [{dim}] : ({value.type}, {places.type}, {v}, tensor<i32>) -> RESULT
 reducer(%a: {v}, %b: {v}) (%i: tensor<i32>, %j: tensor<i32>) {{
  %0 = stablehlo.compare {"GT" if largest else "LT"}, %a, %b, {kind} : {pair}
  %1 = stablehlo.compare NE, %a, %a, {kind} : {pair}
  %2 = stablehlo.or %0, %1 : tensor<i1>
  %3 = stablehlo.compare EQ, %a, %b, {kind} : {pair}
  %4 = stablehlo.compare LT, %i, %j, SIGNED : {index}
  %5 = stablehlo.and %3, %4 : tensor<i1>
  %6 = stablehlo.or %2, %5 : tensor<i1>
  %7 = stablehlo.select %2, %a, %b : tensor<i1>, {v}
  %8 = stablehlo.select %6, %i, %j : tensor<i1>, tensor<i32>
  stablehlo.return %7, %8 : {v}, tensor<i32>
 }}"""
    function = lambda a, _, s, z: arg_extreme(a, dim, largest=largest)  # noqa: E731
    build.emit_all(text, [value, places, start, zero], function, [value.element, "i32"])


@step("reduce", weight=0.7)
def reduce_two(build: Builder) -> None:
    """Two operands reduced together: a sum and a maximum."""
    value = build.some(("f32", "i32"), (1, 2, 3), exact=True)
    other = build.partner(value)
    if not other.exact:
        raise UnfitError
    dims = sorted(build.random.sample(range(value.rank), build.random.randint(1, value.rank)))
    zero, least = build.scalar(0, value.element), build.scalar(-1000, value.element)
    v = f"tensor<{value.element}>"
    text = f"""stablehlo.reduce({value.name} init: {zero.name}), ({other.name} init: {least.name}) \
across dimensions = {dims} : ({value.type}, {other.type}, {v}, {v}) -> RESULT
 reducer(%a: {v}, %b: {v}) (%c: {v}, %d: {v}) {{
  %0 = stablehlo.add %a, %b : {v}
  %1 = stablehlo.maximum %c, %d : {v}
  stablehlo.return %0, %1 : {v}, {v}
 }}"""
    add, largest = _reduction("add", dims), _reduction("maximum", dims)
    function = lambda a, b, s, t: (add(a, s), largest(b, t))  # noqa: E731
    build.emit_all(
        text, [value, other, zero, least], function, [value.element] * 2, magnitude=lambda a, *_: abs(a).sum()
    )


def _window(build: Builder, shape: Sequence[int], whole: Sequence[int] = ()) -> Window:
    """A random window over some dims; those in `whole` are left alone."""
    sizes, strides, padding, base, window = [], [], list[tuple[int, int]](), [], []
    for dim, extent in enumerate(shape):
        slides = dim not in whole and extent > 1 and build.chance(0.8)
        sizes.append(build.pick((1, 2, 2, 3, extent)) if slides else 1)
        strides.append(build.pick((1, 1, 2, sizes[-1])) if slides else 1)
        base.append(build.pick((1, 1, 1, 2)) if slides else 1)
        window.append(build.pick((1, 1, 1, 2)) if slides else 1)
        padding.append((build.pick((0, 0, 1, 2)), build.pick((0, 0, 1, -1))) if slides else (0, 0))
    return Window(sizes, strides, padding, base, window)


def _pairs(padding: Sequence[tuple[int, int]]) -> str:
    return f"dense<{[list(pair) for pair in padding]}> : tensor<{len(padding)}x2xi64>"


def _array(numbers: Sequence[int]) -> str:
    return f"array<i64: {', '.join(map(str, numbers))}>"


@step("reduce_window", weight=2)
def windows(build: Builder) -> None:
    name, ufunc, start_at = build.pick(
        (("add", np.add, 0), ("maximum", np.maximum, -100), ("minimum", np.minimum, 100))
    )
    value = build.some(("f32", "i32", "bf16", "f64"), (1, 2, 3, 4))
    window = _window(build, value.shape)
    padded = window.padded(value.array, 0).shape
    if 0 in window.counts(padded) and not build.style.empty:
        raise UnfitError
    start = build.scalar(start_at, value.element)
    v = f"tensor<{value.element}>"
    text = f"""\"stablehlo.reduce_window\"({value.name}, {start.name}) <{{base_dilations = {_array(window.base)}, \
padding = {_pairs(window.padding)}, window_dilations = {_array(window.window)}, \
window_dimensions = {_array(window.sizes)}, window_strides = {_array(window.strides)}}}> ({{
^bb0(%a: {v}, %b: {v}):
  %0 = stablehlo.{name} %a, %b : {v}
  stablehlo.return %0 : {v}
}}) : ({value.type}, {v}) -> RESULT"""
    magnitude = (lambda a, _: abs(a).sum()) if value.element in FLOATS else None
    build.emit(text, [value, start], lambda a, s: reduce_window(a, s, window, ufunc), magnitude=magnitude)


@step("reduce_window", weight=1)
def cumulative(build: Builder) -> None:
    """As `jnp.cumsum` and its kin are exported."""
    name, ufunc, start_at = build.pick((("add", np.add, 0), ("maximum", np.maximum, -100), ("add", np.add, 0)))
    value = build.some(("f32", "i32"), (1, 2, 3))
    dim = build.random.randrange(value.rank)
    extent, backwards = value.shape[dim], build.chance(0.3)
    if not extent:
        raise UnfitError  # a window has at least one element
    ones = [1] * value.rank
    edge = (0, extent - 1) if backwards else (extent - 1, 0)
    padding = [edge if d == dim else (0, 0) for d in range(value.rank)]
    window = Window([extent if d == dim else 1 for d in range(value.rank)], ones, padding, ones, ones)
    start = build.scalar(start_at, value.element)
    v = f"tensor<{value.element}>"
    text = f"""\"stablehlo.reduce_window\"({value.name}, {start.name}) <{{base_dilations = {_array(ones)}, \
padding = {_pairs(padding)}, window_dilations = {_array(ones)}, \
window_dimensions = {_array(window.sizes)}, window_strides = {_array(ones)}}}> ({{
^bb0(%a: {v}, %b: {v}):
  %0 = stablehlo.{name} %a, %b : {v}
  stablehlo.return %0 : {v}
}}) : ({value.type}, {v}) -> RESULT"""
    magnitude = (lambda a, _: abs(a).sum()) if value.element in FLOATS else None
    build.emit(text, [value, start], lambda a, s: reduce_window(a, s, window, ufunc), magnitude=magnitude)


@step("select_and_scatter", weight=1, local=False)
def scattered_windows(build: Builder) -> None:
    shape = build.shape(build.random.randint(1, 3))
    element = build.pick(("f32", "i32"))
    # No two elements are equal: which of them is selected is left to implementations.
    places = np.array(build.random.sample(range(int(np.prod(shape))), int(np.prod(shape))))
    value = build.argument(shape, element, places.reshape(shape).astype(ELEMENTS[element]))
    sizes = [build.pick((1, 2, 2, 3)) if extent > 2 else 1 for extent in value.shape]
    strides = [build.pick((1, size)) for size in sizes]
    ones = [1] * value.rank
    padding = [(build.pick((0, 0, size - 1)), build.pick((0, 0, size - 1))) for size in sizes]
    window = Window(sizes, strides, padding, ones, ones)
    counts = window.counts(window.padded(value.array, 0).shape)
    if 0 in counts and not build.style.empty:
        raise UnfitError
    source = _of_shape(build, tuple(counts), value.element)
    zero = build.scalar(0, value.element)
    v, kind = f"tensor<{value.element}>", "FLOAT" if value.element == "f32" else "SIGNED"
    text = f"""\"stablehlo.select_and_scatter\"({value.name}, {source.name}, {zero.name}) <{{\
padding = {_pairs(padding)}, window_dimensions = {_array(sizes)}, window_strides = {_array(strides)}}}> ({{
^bb0(%a: {v}, %b: {v}):
  %0 = stablehlo.compare GE, %a, %b, {kind} : ({v}, {v}) -> tensor<i1>
  stablehlo.return %0 : tensor<i1>
}}, {{
^bb0(%a: {v}, %b: {v}):
  %0 = stablehlo.add %a, %b : {v}
  stablehlo.return %0 : {v}
}}) : ({value.type}, {source.type}, {v}) -> RESULT"""
    function = lambda a, s, z: select_and_scatter(a, s, z, window)  # noqa: E731
    magnitude = (lambda _, s, z: abs(s).sum()) if value.element == "f32" else None
    build.emit(text, [value, source, zero], function, magnitude=magnitude)


@step("convolution", weight=2)
def convolution(build: Builder) -> None:
    """Any order of dims, strides, dilations, groups of features or of batches."""
    spatial = build.pick((1, 1, 2))
    groups = build.pick(((1, 1), (1, 1), (1, 1), (2, 1), (1, 2), (4, 1)))
    batch = build.pick((0, 1, 2) if build.style.empty else (1, 2, 4)) * groups[1]
    features, outputs = build.pick((1, 2, 4)) * groups[0], build.pick((1, 2, 4)) * groups[0] * groups[1]
    extents = [build.pick((3, 4, 6, 8)) for _ in range(spatial)]
    kernel_sizes = [build.pick((1, 2, 3)) for _ in range(spatial)]
    pick = lambda options: [build.pick(options) for _ in range(spatial)]  # noqa: E731
    strides, base, window = pick((1, 1, 1, 2)), pick((1, 1, 1, 2)), pick((1, 1, 2))
    padding = [(build.pick((0, 1, size - 1, -1)), build.pick((0, 1, size - 1))) for size in kernel_sizes]
    turned = [build.chance(0.2) for _ in range(spatial)]
    conv = Convolution(strides, padding, base, window, turned, *groups)
    orders = [build.random.sample(range(spatial + 2), spatial + 2) for _ in range(3)]
    element = build.pick(("f32", "f32", "i32", "bf16"))
    plain = (batch, features, *extents), (outputs, features // groups[0], *kernel_sizes)
    operand = _of_shape(build, _turned(plain[0], orders[0]), element)
    kernel = _of_shape(build, _turned(plain[1], orders[1]), element)

    def function(a: Array, k: Array) -> Array:
        a, k = a.transpose(np.argsort(orders[0])), k.transpose(np.argsort(orders[1]))
        return conv(a, k).transpose(orders[2])

    found = function(np.ones(operand.shape), np.ones(kernel.shape))
    if 0 in found.shape and not build.style.empty:
        raise UnfitError
    text = _convolution_text(conv, orders, (operand, kernel))
    magnitude = (lambda a, k: function(abs(a), abs(k))) if element in FLOATS else None
    build.emit(text, [operand, kernel], function, magnitude=magnitude)


def _turned(shape: Sequence[int], order: Sequence[int]) -> tuple[int, ...]:
    return tuple(shape[dim] for dim in order)


def _convolution_text(conv: Convolution, orders: Sequence[Sequence[int]], operands: Sequence[Value]) -> str:
    spatial = len(conv.strides)
    letters = [["b", "f"], ["o", "i"], ["b", "f"]]
    names = [[*first, *map(str, range(spatial))] for first in letters]
    sides = ["[" + ", ".join(name[dim] for dim in order) + "]" for name, order in zip(names, orders, strict=True)]
    first, second = operands
    turned = ["true" if flag else "false" for flag in conv.reverse]
    return (
        f"stablehlo.convolution({first.name}, {second.name}) dim_numbers = {sides[0]}x{sides[1]}->{sides[2]}, "
        f"window = {{stride = {list(conv.strides)}, pad = {[list(pair) for pair in conv.padding]}, "
        f"lhs_dilate = {list(conv.base)}, rhs_dilate = {list(conv.window)}, reverse = [{', '.join(turned)}]}} "
        f"{{batch_group_count = {conv.batch_groups} : i64, feature_group_count = {conv.feature_groups} : i64}}"
        f" : ({first.type}, {second.type}) -> RESULT"
    )
