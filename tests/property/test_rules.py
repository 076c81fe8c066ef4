"""Rows at random shapes: whatever the rule offers is right."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import given, strategies as st
from sampling import examples
from xdsl.dialects.builtin import ModuleOp

from shardwright.layout.mesh import Mesh
from shardwright.rules import check_op
from shardwright.rules.families.computed import _reshape_rule  # pyright: ignore[reportPrivateUsage]
from shardwright.runtime.executable import compile_module

MESHES = st.sampled_from([Mesh(x=2), Mesh(x=4), Mesh([("x", 2), ("y", 2)]), Mesh(x=3), Mesh(x=6)])
EXTENTS = st.sampled_from([1, 2, 3, 4, 6])
Shape = tuple[int, ...]


def compiled(module: ModuleOp) -> Callable[[Sequence[Any]], list[Any]]:
    """The runtime on one device."""
    return compile_module(module, namespace="plain_numpy").run


def tensor(shape: Sequence[int]) -> str:
    """A tensor type of floats."""
    return f"tensor<{''.join(f'{size}x' for size in shape)}f32>"


def faults(line: str, operands: Sequence[Shape], result: Sequence[int], mesh: Mesh) -> list[str]:
    """What is wrong with an op's rule, given the op without its types."""
    types = [tensor(shape) for shape in operands]
    arguments = ", ".join(f"%{letter}: {type_}" for letter, type_ in zip("abc", types, strict=False))
    text = f"func.func @main({arguments}) -> {tensor(result)} {{\n %r = {line} : ({', '.join(types)}) -> "
    return [
        str(fault)
        for fault in check_op(f"{text}{tensor(result)}\n return %r : {tensor(result)}\n}}", mesh, compiled, limit=12)
    ]


@st.composite
def reshapes(draw: st.DrawFn) -> tuple[Shape, Shape]:
    """Two shapes with as many elements, cut at any divisors."""
    source = tuple(draw(st.lists(EXTENTS, min_size=1, max_size=3)))
    left = math.prod(source)
    target: list[int] = []
    while left > 1 and len(target) < 3:
        target.append(draw(st.sampled_from([size for size in range(1, left + 1) if left % size == 0])))
        left //= target[-1]
    return source, (*target, left)


@examples(60)
@given(reshapes(), MESHES)
def test_reshapes(shapes: tuple[Shape, Shape], mesh: Mesh) -> None:
    source, target = shapes
    assert faults("stablehlo.reshape %a", [source], target, mesh) == []


@given(reshapes())
def test_reshapes_back_and_forth_share_the_same_factors(shapes: tuple[Shape, Shape]) -> None:
    source, target = shapes
    there, back = _reshape_rule(source, target), _reshape_rule(target, source)
    shared = [
        [size for size, kind in zip(rule.sizes, rule.kinds, strict=True) if kind == "pass"] for rule in (there, back)
    ]
    assert shared[0] == shared[1]


@examples(40)
@given(
    st.lists(EXTENTS, min_size=1, max_size=4).flatmap(
        lambda sizes: st.tuples(st.just(sizes), st.permutations(range(len(sizes))))
    ),
    MESHES,
)
def test_transposes(drawn: tuple[list[int], list[int]], mesh: Mesh) -> None:
    sizes, order = drawn
    target = [sizes[dim] for dim in order]
    assert faults(f"stablehlo.transpose %a, dims = {list(order)}", [tuple(sizes)], target, mesh) == []


@examples(40)
@given(st.lists(EXTENTS, min_size=1, max_size=3), st.data(), MESHES)
def test_slices(sizes: list[int], data: st.DataObject, mesh: Mesh) -> None:
    ranges: list[str] = []
    target: list[int] = []
    for size in sizes:
        start, limit = sorted((data.draw(st.integers(0, size)), data.draw(st.integers(0, size))))
        stride = data.draw(st.integers(1, 3))
        ranges.append(f"{start}:{limit}:{stride}")
        target.append(len(range(start, limit, stride)))
    assert faults(f"stablehlo.slice %a [{', '.join(ranges)}]", [tuple(sizes)], target, mesh) == []


@examples(40)
@given(st.lists(EXTENTS, min_size=1, max_size=3), st.data(), MESHES)
def test_broadcasts(sizes: list[int], data: st.DataObject, mesh: Mesh) -> None:
    rank = len(sizes) + data.draw(st.integers(0, 1))
    places = data.draw(st.permutations(range(rank)))[: len(sizes)]
    target = data.draw(st.lists(EXTENTS, min_size=rank, max_size=rank))
    for place, size in zip(places, sizes, strict=True):
        target[place] = size if size > 1 else target[place]
    assert faults(f"stablehlo.broadcast_in_dim %a, dims = {list(places)}", [tuple(sizes)], target, mesh) == []


@examples(40)
@given(
    st.lists(EXTENTS, min_size=1, max_size=3),
    st.lists(EXTENTS, max_size=2),
    st.lists(EXTENTS, max_size=2),
    st.data(),
    MESHES,
)
def test_products(inner: list[int], left: list[int], right: list[int], data: st.DataObject, mesh: Mesh) -> None:
    """Dims in common are batched or contracted, in any order, and stand anywhere among the others."""
    batched = data.draw(st.integers(0, min(2, len(inner))))
    sides: list[tuple[list[int], list[int]]] = []
    for free in (left, right):
        order = data.draw(st.permutations(range(len(inner) + len(free))))
        sizes = [*inner, *free]
        sides.append(([sizes[at] for at in order], [order.index(dim) for dim in range(len(inner))]))
    (lhs, ours), (rhs, theirs) = sides
    kept = [[size for at, size in enumerate(sizes) if at not in common] for sizes, common in sides]
    line = (
        f"stablehlo.dot_general %a, %b, batching_dims = {ours[:batched]} x {theirs[:batched]}, "
        f"contracting_dims = {ours[batched:]} x {theirs[batched:]}"
    )
    assert faults(line, [tuple(lhs), tuple(rhs)], [*inner[:batched], *kept[0], *kept[1]], mesh) == []
