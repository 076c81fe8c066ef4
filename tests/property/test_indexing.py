"""Random gathers and scatters under random layouts of arguments and results, against their definitions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import numpy as np
import pytest
from harness import Array, run
from indexing_cases import Windows, draw_windows, elements, windows_shape

from shardwright.dialects.stablehlo import GatherDimensionsAttr, ScatterDimensions, ScatterDimensionsAttr

AXES = "xyz"
EXTENTS = (1, 2, 4, 6, 8)
INDICES = {"i8": np.int8, "ui8": np.uint8, "i32": np.int32, "ui32": np.uint32, "i64": np.int64}

BODIES: dict[str, tuple[str, Callable[[Any, Any], Any]]] = {
    "set": ("", lambda old, new: new),
    "add": ("%s = stablehlo.add %p, %q : tensor<f32>", np.add),
    "multiply": ("%s = stablehlo.multiply %p, %q : tensor<f32>", np.multiply),
    "maximum": ("%s = stablehlo.maximum %p, %q : tensor<f32>", np.maximum),
    "subtract": ("%s = stablehlo.subtract %p, %q : tensor<f32>", np.subtract),
    "last but new": ("%s = stablehlo.subtract %q, %p : tensor<f32>", lambda old, new: new - old),
}
"""How a scatter combines the old element and the new one: the op in its body, and the same in NumPy."""


def layout(random: Random, shape: Sequence[int]) -> str:
    """A random even layout on the mesh x=2, y=2, z=2."""
    left = list(shape)
    dims: list[list[str]] = [[] for _ in shape]
    for axis in random.sample(AXES, len(AXES)):
        even = [dim for dim, extent in enumerate(left) if extent % 2 == 0]
        if even and random.random() < 0.7:
            dim = random.choice(even)
            dims[dim].append(axis)
            left[dim] //= 2
    return "[" + ", ".join("{" + ", ".join(f'"{axis}"' for axis in axes) + "}" for axes in dims) + "]"


def program(random: Random, op: str, shapes: Sequence[tuple[int, ...]], kinds: Sequence[str]) -> str:
    """A program of one op on its arguments `%a`, `%b`, `%c`; shapes and elements of these, then of the result."""
    types = [f"tensor<{''.join(f'{n}x' for n in shape)}{kind}>" for shape, kind in zip(shapes, kinds, strict=True)]
    *arguments, result = [
        f"{type_} {{sdy.sharding = #sdy.sharding<@mesh, {layout(random, shape)}>}}"
        for type_, shape in zip(types, shapes, strict=True)
    ]
    named = ", ".join(f"%{letter}: {text}" for letter, text in zip("abc", arguments, strict=False))
    return (
        f'sdy.mesh @mesh = <["x"=2, "y"=2, "z"=2]>\nfunc.func public @main({named}) -> ({result}) {{\n'
        f"  %0 = {op} : ({', '.join(types[:-1])}) -> {types[-1]}\n  return %0 : {types[-1]}\n}}\n"
    )


def indices(random: Random, windows: Windows, kind: str) -> Array:
    """Numbers around the edges, and at the ends of the type."""
    limits = np.iinfo(INDICES[kind])
    count = int(np.prod(windows.indices))
    drawn = [random.choice([limits.min, limits.max, *range(max(-1, limits.min), 9)]) for _ in range(count)]
    return np.array(drawn, INDICES[kind]).reshape(windows.indices)


def numbers(random: Random, shape: tuple[int, ...]) -> Array:
    """Small whole numbers, so that sums and products are exact in any order."""
    return np.array([random.randint(-2, 3) for _ in range(int(np.prod(shape)))], np.float32).reshape(shape)


def check_gather(seed: int) -> None:
    """One gather."""
    random = Random(seed)
    windows = draw_windows(random, EXTENTS)
    kind = random.choice(list(INDICES))
    result = windows_shape(windows)
    sizes = f"array<i64: {', '.join(map(str, windows.sizes))}>"
    named = GatherDimensionsAttr(windows.numbers)
    op = f'"stablehlo.gather"(%a, %b) <{{dimension_numbers = {named}, slice_sizes = {sizes}}}>'
    text = program(random, op, [windows.operand, windows.indices, result], ["f32", kind, "f32"])
    operand, starts = numbers(random, windows.operand), indices(random, windows, kind)
    expected = np.zeros(result, np.float32)
    for place, source in elements(windows, starts, clamp=True):
        expected[place] = operand[source]
    np.testing.assert_array_equal(run(text, [operand, starts]).results[0], expected, text, strict=True)


def check_scatter(seed: int) -> None:
    """One scatter."""
    random = Random(seed)
    windows = draw_windows(random, EXTENTS)
    kind, (line, combine) = random.choice(list(INDICES)), random.choice(list(BODIES.values()))
    updates = windows_shape(windows)
    named = ScatterDimensionsAttr(ScatterDimensions(*(getattr(windows.numbers, name) for name in FIELDS)))
    body = f"^bb0(%p: tensor<f32>, %q: tensor<f32>):\n{line}\nstablehlo.return {'%s' if line else '%q'} : tensor<f32>"
    op = f'"stablehlo.scatter"(%a, %b, %c) <{{scatter_dimension_numbers = {named}}}> ({{\n{body}\n}})'
    shapes = [windows.operand, windows.indices, updates, windows.operand]
    text = program(random, op, shapes, ["f32", kind, "f32", "f32"])
    operand, new, starts = numbers(random, windows.operand), numbers(random, updates), indices(random, windows, kind)
    expected = operand.copy()
    for place, target in elements(windows, starts, clamp=False):
        expected[target] = combine(expected[target], new[place])
    np.testing.assert_array_equal(run(text, [operand, starts, new]).results[0], expected, text, strict=True)


FIELDS = (
    "offset_dims",
    "collapsed_slice_dims",
    "operand_batching_dims",
    "start_indices_batching_dims",
    "start_index_map",
    "index_vector_dim",
)
"""A gather's fields, in the order of a scatter's, which puts windows where the gather takes them from."""

DEFAULT, SLOW = range(8), range(8, 600)


@pytest.mark.parametrize("seed", DEFAULT)
def test_gather(seed: int) -> None:
    check_gather(seed)


@pytest.mark.parametrize("seed", DEFAULT)
def test_scatter(seed: int) -> None:
    check_scatter(seed)


@pytest.mark.slow
@pytest.mark.parametrize("check", [check_gather, check_scatter], ids=["gather", "scatter"])
def test_many(check: Callable[[int], None]) -> None:
    for seed in SLOW:
        check(seed)
