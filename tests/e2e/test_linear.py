"""
Compile time grows with the program and no faster: along its depth, with the width of a step, with readers of a value.

What is counted are calls of Python functions from the traced program to the one that runs: they are the same on every
machine, and what is quadratic anywhere shows in them. What is decided for a layer is not worked out for another.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from types import FrameType

import pytest

import shardwright as sw
from shardwright.compiler.stages import Traced
from shardwright.passes.propagation.refinement import _Refiner
from shardwright.passes.propagation.spreading import _Offers
from shardwright.passes.propagation.strategy import Strategist
from shardwright.passes.propagation.structure import folding

MESH = sw.Mesh(data=4, model=2)
ROWS, COLUMNS = sw.Layout(["data"], MESH), sw.Layout([None, "model"], MESH)


def spec(layout: sw.Layout, *shape: int) -> sw.TensorSpec:
    return sw.TensorSpec(shape, "float32", layout=layout)


def deep(count: int) -> Traced:
    """A step of so many layers: forward, backward, update."""

    @sw.function
    def step(x: sw.Array, *weights: sw.Array) -> list[sw.Array]:
        with sw.GradientTape() as tape:
            for weight in weights:
                tape.watch(weight)
            for weight in weights:
                x = sw.tanh(x @ weight)
            loss = sw.sum(x * x)
        gradients = tape.gradient(loss, list(weights))
        return [weight - 0.1 * gradient for weight, gradient in zip(weights, gradients, strict=True)]

    return step.trace(spec(ROWS, 16, 8), *[spec(COLUMNS, 8, 8)] * count)


def wide(count: int) -> Traced:
    """So many updates that share one factor: they are computed together, block by block."""

    @sw.function
    def clip(scale: sw.Array, *gradients: sw.Array) -> list[sw.Array]:
        scale = sw.sqrt(scale) * 2
        return [gradient * gradient + scale for gradient in gradients]

    return clip.trace(spec(ROWS, 16, 8), *[spec(ROWS, 16, 8)] * count)


def read_often(count: int) -> Traced:
    """One value that so many ops read, in two layouts."""

    @sw.function
    def spread(x: sw.Array, y: sw.Array) -> list[sw.Array]:
        shared = sw.exp(x)
        return [sw.sum(shared * number + y, axis=number % 2) for number in range(count)]

    return spread.trace(spec(ROWS, 16, 8), spec(COLUMNS, 16, 8))


def calls(program: Callable[[int], Traced], count: int) -> int:
    traced, seen = program(count), 0

    def counting(frame: FrameType, event: str, what: object) -> None:
        nonlocal seen
        seen += event == "call"

    sys.setprofile(counting)
    try:
        traced.partition().compile()
    finally:
        sys.setprofile(None)
    return seen


@pytest.mark.parametrize("count", [24, pytest.param(40, marks=pytest.mark.slow)])
@pytest.mark.parametrize("program", [deep, wide, read_often])
def test_calls_grow_with_the_program(program: Callable[[int], Traced], count: int) -> None:
    calls(program, 2)  # what is loaded and remembered once
    assert calls(program, 2 * count) <= 2.1 * calls(program, count)


WORKED_OUT = [(_Offers, "_made"), (_Refiner, "_following"), (Strategist, "_enumerate"), (Strategist, "_moved_by_one")]
"""What propagation and refinement do once for equal ops with equal layouts around them."""


def counted(name: str, method: Callable[..., object], seen: Counter[str]) -> Callable[..., object]:
    """The method, and how often it was asked."""

    def counting(*arguments: object) -> object:
        seen[name] += 1
        return method(*arguments)

    return counting


def test_more_equal_layers_need_no_more_thought(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = Counter[str]()
    monkeypatch.setattr(folding, "SMALLEST", 1_000_000)  # each layer on its own
    for owner, name in WORKED_OUT:
        monkeypatch.setattr(owner, name, counted(name, getattr(owner, name), seen))
    found: list[Counter[str]] = []
    for count in (12, 24):
        seen.clear()
        deep(count).propagate()
        found.append(seen.copy())
    assert set(found[0]) == {name for _, name in WORKED_OUT}
    assert found[0] == found[1]
